#!/usr/bin/env bash
# Installs what the lab needs on Debian 12: `setup.sh lab` to run it, `setup.sh onos` to run it with ONOS as its controller,
# `setup.sh virtual` to run it in virtual time with Linux's own TCP,
# `setup.sh dev` for all tests and lints as well, `setup.sh docs` to build the documentation, `setup.sh dist` to build what
# users install.
# Steps that are done already are skipped. Needs root for Debian packages.
set -euo pipefail
cd "$(dirname "$0")"

LAB_PACKAGES=(bubblewrap ca-certificates ethtool gcc iperf3 iproute2 iputils-ping libc6-dev make mininet procps python3 python3-venv)
RUST_PACKAGES=(cargo-web rustc-web)
RUST_LINT_PACKAGES=(rust-web-clippy rustfmt-web)
KERNEL_PACKAGES=(bc bison flex patch xz-utils)
# The browser that tests of the live page drive.
BROWSER_PACKAGES=(chromium)
ONOS_PACKAGES=(maven openjdk-17-jdk-headless)
# The oldest Rust that builds the workspace: rust-version in switch/Cargo.toml.
RUST_MINIMUM=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' switch/Cargo.toml)

stamps=build/setup
ONOS_JAR=controller/onos/embedded/target/p4sched-onos-embedded.jar
mkdir -p "$stamps"

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# done_already NAME FILE...: whether step NAME ran since these files last changed.
fingerprint() { cat "$@" setup.sh | sha256sum | cut -d' ' -f1; }
done_already() { local name=$1; shift; [ "$(cat "$stamps/$name" 2>/dev/null)" = "$(fingerprint "$@")" ]; }
mark_done() { local name=$1; shift; fingerprint "$@" >"$stamps/$name"; }

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

debian() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get >/dev/null || die "needs Debian 12 (no apt-get here); install by hand: ${missing[*]}"
  [ "$(id -u)" = 0 ] || die "needs root to install Debian packages: ${missing[*]}"
  say "Debian packages: ${missing[*]}"
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "${missing[@]}" >"$stamps/apt.log" 2>&1 </dev/null ||
    { tail -n 20 "$stamps/apt.log" >&2; die "apt-get could not install: ${missing[*]}"; }
}

rust() {
  local version
  version=$(rustc --version 2>/dev/null | cut -d' ' -f2 || true)
  if [ -n "$version" ] && at_least "$RUST_MINIMUM" "$version" && command -v cargo >/dev/null; then
    return
  fi
  debian "${RUST_PACKAGES[@]}"
  version=$(rustc --version | cut -d' ' -f2)
  at_least "$RUST_MINIMUM" "$version" || die "needs Rust $RUST_MINIMUM or later; found $version"
}

rust_lints() {
  cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1 || debian "${RUST_LINT_PACKAGES[@]}"
}

# The version of Python that the lock files were made for, or later.
interpreter() {
  local candidate
  for candidate in /usr/bin/python3 python3; do
    "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$candidate"; return; }
  done
  die "needs Python 3.11 or later with venv"
}

# environment FOLDER LOCK: a virtual environment that holds exactly what the lock file lists.
environment() {
  local folder=$1 lock=$2
  done_already "${folder#.}" "$lock" && [ -x "$folder/bin/python" ] && return
  say "Python environment $folder"
  rm -rf "$folder"
  "$(interpreter)" -m venv "$folder"
  "$folder/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r "$lock"
  mark_done "${folder#.}" "$lock"
}

python_package() {
  local sources=(pyproject.toml switch/proto/p4sched/v1/traffic_manager.proto switch/proto/p4sched/v1/simulation.proto)
  done_already p4sched "${sources[@]}" && [ -x .venv/bin/p4sched ] && return
  .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
  .venv/bin/python -m p4sched.genproto
  mark_done p4sched "${sources[@]}"
}

# In the background; ends with this script.
switch_build() {
  say "Switch and compiler (the first build takes some minutes)"
  exec cargo build --locked --release --quiet --manifest-path switch/Cargo.toml
}

# The application, and the ONOS that runs it in the lab. It holds the compiled programs of p4/ and tofino-port/.
onos_build() {
  local sources
  mapfile -t sources < <(find controller/onos p4 schedulers tofino-port -type f -not -path '*/target/*' | sort)
  sources+=(switch/target/release/p4sched-p4c)
  done_already onos "${sources[@]}" && [ -f "$ONOS_JAR" ] && return
  say "ONOS (the first build downloads its parts, which takes some minutes)"
  mvn --batch-mode --quiet --file controller/onos/pom.xml -DskipTests package >"$stamps/maven.log" 2>&1 </dev/null ||
    { tail -n 20 "$stamps/maven.log" >&2; die "Maven could not build ONOS; $stamps/maven.log has all that it said"; }
  mark_done onos "${sources[@]}"
}

[ "$(uname -s)" = Linux ] || die "needs Linux"
case "${1:-}" in
  lab | onos | virtual | dev | docs | dist) ;;
  *) die "usage: setup.sh lab|onos|virtual|dev|docs|dist" ;;
esac
debian "${LAB_PACKAGES[@]}"
rust
# beside the Python environments, which wait for the network
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
# what users install has programs of its own
if [ "$1" != dist ]; then switch_build & fi
build=${!:-}
environment .venv requirements.lock
[ "$1" = dist ] || environment .venv-shell requirements-shell.lock
python_package
[ "$1" = docs ] && environment .venv-docs requirements-docs.lock
case "$1" in
  dev)
    rust_lints
    debian "${ONOS_PACKAGES[@]}" "${BROWSER_PACKAGES[@]}"
    environment .venv-docker requirements-docker.lock
    ;;
  onos) debian "${ONOS_PACKAGES[@]}" ;;
  virtual) debian "${KERNEL_PACKAGES[@]}" ;;
  dist) environment .venv-dist requirements-dist.lock; exit ;;
esac
wait "$build"
switch/target/release/p4sched-tools link
if [ "$1" = onos ]; then onos_build; fi
if [ "$1" = virtual ]; then switch/guest/kernel/build.sh; fi
