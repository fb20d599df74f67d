#!/bin/bash
# Builds the images p4sched/NAME, with docker, podman or buildah, whichever is there: docker/build.sh [NAME...]
#
#   ENGINE              which of them, with options of its own (default: the first that works)
#   BUILD_OPTIONS       further options of its build
#   BASE, P4LANG, ONOS  other images to build on, as NAME:TAG@DIGEST
#   DEBIAN_SNAPSHOT     Debian's packages as they were then, as 20260623T000000Z (default: as they are now)
set -euo pipefail
cd "$(dirname "$0")/.."

die() { printf 'docker/build.sh: %s\n' "$*" >&2; exit 1; }

# A client without its daemon builds nothing.
works() { case $1 in docker | podman) "$1" info ;; buildah) buildah version ;; esac >/dev/null 2>&1; }

engine=${ENGINE-}
if [ -z "$engine" ]; then
  for candidate in docker podman buildah; do
    works "$candidate" && { engine=$candidate; break; }
  done
  [ -n "$engine" ] || die "needs docker (with its daemon), podman or buildah; Debian has all three"
fi

options=()
case $engine in
  docker) ;;
  # healthchecks are part of Docker's format only
  podman* | buildah*) options+=(--format docker) ;;
esac
for name in BASE P4LANG ONOS DEBIAN_SNAPSHOT; do
  [ -z "${!name-}" ] || options+=(--build-arg "$name=${!name}")
done
commit=$(git rev-parse --short=12 HEAD 2>/dev/null || true)
[ -z "$commit" ] || [ -z "$(git status --porcelain -uno)" ] || commit+=+changes
options+=(--build-arg "COMMIT=$commit")

names=("$@")
# each after those that it is built on
[ $# -gt 0 ] || names=(lab lab-onos bmv2 onos)
for name in "${names[@]}"; do
  [ -f "docker/$name/Dockerfile" ] || die "no image '$name'; there are: $(cd docker && echo */ | tr -d /)"
  printf '\033[1m==> p4sched/%s (%s)\033[0m\n' "$name" "${engine%% *}" >&2
  # both may be several words
  # shellcheck disable=SC2086
  $engine build ${BUILD_OPTIONS-} "${options[@]}" -f "docker/$name/Dockerfile" -t "p4sched/$name" .
done
