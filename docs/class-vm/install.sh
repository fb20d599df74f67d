#!/bin/sh
# Installs p4sched for all users of a Debian machine, as root: the release that this checkout belongs to, from PyPI, in a minute; if
# there is none, a build of the checkout. DESTDIR is a folder in place of the root.
set -eu
cd "$(dirname "$0")/../.."

version=$(sed -n 's/^version = "\(.*\)"/\1/p' switch/Cargo.toml)
release=${DESTDIR:-}/opt/p4sched-release
programs=${DESTDIR:-}/usr/local/bin

apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends bubblewrap ca-certificates ethtool iperf3 iproute2 \
  iputils-ping make mininet net-tools procps python3 python3-venv
mkdir -p "$programs"
python3 -m venv "$release"
if "$release/bin/pip" install --quiet "p4sched[dask,notebook,prove]==$version"; then
  ln -sf "$release/bin/p4sched" "$programs/p4sched"
else
  echo "There is no release $version for this machine; building it takes some ten minutes" >&2
  rm -rf "$release"
  ./setup.sh lab
  ln -sf "$PWD/.venv/bin/p4sched" "$programs/p4sched"
  # Programs are compiled below build/, and results are written below results/, whoever the user is.
  install -d -m 1777 build build/p4 results
fi
