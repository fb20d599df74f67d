#!/usr/bin/env bash
# Installs what the lab needs: `setup.sh lab` to run it, `setup.sh demo` for no more than `make demo`, `setup.sh onos` to run it with
# ONOS as its controller, `setup.sh virtual` to run it in virtual time with Linux's own TCP, `setup.sh dev` for all tests and lints as
# well, and to build the documentation, `setup.sh dist` to build what users install.
# Knows apt-get, dnf, pacman and apk, and says elsewhere what is missing. Packages need root. Steps that are done already are
# skipped. `--dry-run` only prints the commands.
set -euo pipefail
cd "$(dirname "$0")"

# By Debian's names; those of other systems are in this table.
NAMES=controller/p4sched/packages.txt
LAB_PACKAGES=(bubblewrap ca-certificates ethtool gcc iperf3 iproute2 iputils-ping libc6-dev make mininet net-tools procps python3 python3-venv util-linux)
RUST_PACKAGES=(cargo-web rustc-web)
RUST_LINT_PACKAGES=(rust-web-clippy rustfmt-web)
KERNEL_PACKAGES=(bc bison flex patch xz-utils)
# The browser that tests of the live page drive.
BROWSER_PACKAGES=(chromium)
ONOS_PACKAGES=(maven default-jdk-headless)
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

# The package manager of this system, or nothing.
manager() {
  local name
  for name in apt-get dnf pacman apk; do
    if command -v "$name" >/dev/null; then echo "$name"; return; fi
  done
}

# column PACKAGE NUMBER: a column of the table, without its commas. Column 2 has the programs.
column() { awk -v package="$1" -v number="$2" '$1 == package { gsub(",", " ", $number); print $number }' "$NAMES"; }

# installed PACKAGE: whether the package manager has installed it.
installed() {
  case "$MANAGER" in
    apt-get) dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed' ;;
    dnf) rpm -q --whatprovides "$1" >/dev/null 2>&1 ;;
    pacman) pacman -Q "$1" >/dev/null 2>&1 ;;
    apk) apk info -e "$1" >/dev/null 2>&1 ;;
  esac
}

# install PACKAGE...
install() {
  case "$MANAGER" in
    apt-get)
      apt-get update -q >/dev/null
      DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "$@"
      ;;
    dnf) dnf install -yq "$@" ;;
    pacman) pacman -S --needed --noconfirm "$@" ;;
    apk) apk add --quiet "$@" ;;
  esac
}

# packages NAME...: installs packages, by Debian's names.
packages() {
  local missing=() absent=() name number program
  case "$MANAGER" in apt-get) number=1 ;; dnf) number=3 ;; pacman) number=4 ;; apk) number=5 ;; *) number=2 ;; esac
  for name in "$@"; do
    local here=$(column "$name" "$number")
    [ -n "$here" ] || die "$NAMES has no package $name"
    if [ -z "$MANAGER" ] || [ "$here" = - ]; then
      # nobody can install it here, so its programs decide
      for program in $(column "$name" 2); do
        [ "$program" = - ] || command -v "$program" >/dev/null || { absent+=("$name"); break; }
      done
    else
      for program in $here; do installed "$program" || missing+=("$program"); done
    fi
  done
  # Virtual time needs no Mininet.
  if [ "${absent[*]}" = mininet ]; then
    say "There is no package of Mininet here: experiments in Mininet need it from http://mininet.org/download"
  elif [ ${#absent[@]} -gt 0 ]; then
    die "knows no package manager of this system; please install what Debian calls: ${absent[*]}"
  fi
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$dry" ]; then echo "$MANAGER: ${missing[*]}"; return; fi
  [ "$(id -u)" = 0 ] || die "needs root to install packages: ${missing[*]}"
  say "Packages: ${missing[*]}"
  install "${missing[@]}" >"$stamps/packages.log" 2>&1 </dev/null ||
    { tail -n 20 "$stamps/packages.log" >&2; die "$MANAGER could not install: ${missing[*]}"; }
}

rust() {
  local version
  version=$(rustc --version 2>/dev/null | cut -d' ' -f2 || true)
  if [ -n "$version" ] && at_least "$RUST_MINIMUM" "$version" && command -v cargo >/dev/null; then
    return
  fi
  packages "${RUST_PACKAGES[@]}"
  [ "$dry" ] && return
  version=$(rustc --version | cut -d' ' -f2)
  at_least "$RUST_MINIMUM" "$version" || die "needs Rust $RUST_MINIMUM or later; found $version"
}

rust_lints() {
  cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1 || packages "${RUST_LINT_PACKAGES[@]}"
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
  if [ "$dry" ]; then echo "python3: $folder from $lock"; return; fi
  say "Python environment $folder"
  rm -rf "$folder"
  "$(interpreter)" -m venv "$folder"
  "$folder/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r "$lock"
  mark_done "${folder#.}" "$lock"
}

python_package() {
  local sources=(pyproject.toml switch/Cargo.toml switch/proto/p4sched/v1/traffic_manager.proto switch/proto/p4sched/v1/simulation.proto)
  done_already p4sched "${sources[@]}" && [ -x .venv/bin/p4sched ] && return
  .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
  .venv/bin/python -m p4sched.genproto
  mark_done p4sched "${sources[@]}"
}

# In the background; ends with this script.
switch_build() {
  say "Switch and compiler (the first build takes some minutes)"
  exec cargo build --locked --release --quiet --manifest-path switch/Cargo.toml "$@"
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

[ "$(uname -s)" = Linux ] || die "needs Linux; on other systems use a container (docker/README.md) or a virtual machine (docs/INSTRUCTORS.md)"
usage="usage: setup.sh lab|demo|onos|virtual|dev|dist [--dry-run]"
case "${1:-}" in
  lab | demo | onos | virtual | dev | dist) ;;
  *) die "$usage" ;;
esac
case "${2:-}" in
  "") dry= ;;
  --dry-run) dry=yes ;;
  *) die "$usage" ;;
esac
MANAGER=$(manager)
packages "${LAB_PACKAGES[@]}"
rust
case "$1" in
  dev)
    rust_lints
    packages "${ONOS_PACKAGES[@]}" "${BROWSER_PACKAGES[@]}"
    ;;
  onos) packages "${ONOS_PACKAGES[@]}" ;;
  virtual) packages "${KERNEL_PACKAGES[@]}" ;;
esac
if [ "$dry" ]; then
  environment .venv requirements.lock
  [ "$1" = demo ] || environment .venv-shell requirements-shell.lock
  echo "cargo: the switch and the compiler"
  exit
fi
# beside the Python environments, which wait for the network
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
# what users install has programs of its own
case "$1" in
  dist) ;;
  demo) switch_build -p p4sched-switch -p p4sched-compiler & ;;
  *) switch_build & ;;
esac
build=${!:-}
environment .venv requirements.lock
case "$1" in dist | demo) ;; *) environment .venv-shell requirements-shell.lock ;; esac
python_package
if [ "$1" = dist ]; then environment .venv-dist requirements-dist.lock; exit; fi
wait "$build"
[ "$1" = demo ] && exit
switch/target/release/p4sched-tools link
if [ "$1" = onos ]; then onos_build; fi
if [ "$1" = virtual ]; then switch/guest/kernel/build.sh; fi
