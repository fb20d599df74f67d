#!/usr/bin/env bash
# Builds what a user installs, into dist/: `build.sh wheel`, `build.sh deb`, `build.sh archive`. `setup.sh dist` has
# installed what it needs. README.md says what each holds.
#
#   MACHINE=aarch64   for another machine than x86_64
set -euo pipefail
cd "$(dirname "$0")/.."

MACHINE=${MACHINE:-x86_64}
# The oldest C library that the programs run with.
GLIBC=2.28
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' switch/Cargo.toml | head -n 1)
TARGET=$MACHINE-unknown-linux-gnu
PROGRAMS=${CARGO_TARGET_DIR:-switch/target}/$TARGET/dist

die() { printf 'build: %s\n' "$*" >&2; exit 1; }

programs() {
  PATH=$PWD/.venv-dist/bin:$PATH PYO3_NO_PYTHON=1 cargo zigbuild --locked --quiet --manifest-path switch/Cargo.toml \
    --profile dist --target "$TARGET.$GLIBC" \
    -p p4sched-compiler -p p4sched-switch -p p4sched-tools -p p4sched-python
}

wheel() {
  P4SCHED_PROGRAMS=$(realpath "$PROGRAMS") P4SCHED_PLATFORM=manylinux_${GLIBC/./_}_$MACHINE \
    .venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
}

# Switch and compiler alone, with BMv2's and p4c's names.
archive() {
  local name=p4sched-switch-$VERSION-$MACHINE folder
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  mkdir -p "$folder/$name/bin" dist
  install -m 755 "$PROGRAMS"/p4sched-{p4c,switch} "$folder/$name/bin"
  ln -s p4sched-p4c "$folder/$name/bin/p4c"
  ln -s p4sched-p4c "$folder/$name/bin/p4c-bm2-ss"
  ln -s p4sched-switch "$folder/$name/bin/simple_switch"
  ln -s p4sched-switch "$folder/$name/bin/simple_switch_grpc"
  install -m 644 LICENSE docs/BMV2.md "$folder/$name"
  tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" \
    -czf "dist/$name.tar.gz" "$name"
}

case "${1:-}" in
  wheel | archive) ;;
  *) die "usage: build.sh wheel|archive" ;;
esac
programs
"$1"
