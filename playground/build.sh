#!/usr/bin/env bash
# Builds build/playground/: the page, the program for WebAssembly, and the files of the lab. `build.sh program` builds only the
# program and the files.
set -euo pipefail
cd "$(dirname "$0")/.."

TARGET=wasm32-wasip1
OUT=build/playground
# A system of Debian sid, whose Rust has a library for the target. That of Debian 12 and 13 has none.
SID=build/sid
SID_PACKAGES=ca-certificates,cargo,gcc,libc6-dev,libstd-rust-dev-wasm32,lld,rustc

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() { printf 'playground: %s\n' "$*" >&2; exit 1; }

# Whether this machine's Rust has its library for the target.
has_library() {
  command -v rustc >/dev/null && [ -d "$(rustc --print sysroot)/lib/rustlib/$TARGET/lib" ]
}

# Sets `cargo` to a command that can build for the target.
toolchain() {
  cargo=(cargo)
  if has_library; then return; fi
  if command -v rustup >/dev/null; then
    say "Rust's library for $TARGET"
    rustup target add "$TARGET"
  else
    sid
    cargo=(in_sid cargo)
  fi
}

sid() {
  [ -f "$SID/.complete" ] && return
  [ "$(id -u)" = 0 ] || die "this machine's Rust has no library for $TARGET; rustup has one, or run this as root, once"
  if ! command -v debootstrap >/dev/null || ! command -v bwrap >/dev/null; then
    apt-get install --yes --no-install-recommends bubblewrap debootstrap >&2
  fi
  say "Rust of Debian sid, in $SID (some minutes)"
  rm -rf "$SID"
  mkdir -p "$(dirname "$SID")"
  debootstrap --variant=minbase --include="$SID_PACKAGES" sid "$SID" >&2
  touch "$SID/.complete"
}

# in_sid COMMAND...: runs a command of that system, with this folder, cargo's downloads and the network.
in_sid() {
  local downloads=${CARGO_HOME:-$HOME/.cargo}
  mkdir -p "$downloads"
  bwrap --bind "$SID" / --bind "$PWD" "$PWD" --bind "$downloads" "$downloads" --ro-bind /etc/resolv.conf /etc/resolv.conf \
    --dev /dev --proc /proc --chdir "$PWD" --setenv PATH /usr/bin --setenv CARGO_HOME "$downloads" \
    --setenv CARGO_TARGET_DIR "$PWD/$SID.target" --setenv CARGO_TARGET_WASM32_WASIP1_LINKER wasm-ld "$@"
}

program() {
  say "the program for WebAssembly (the first build takes some minutes)"
  local target=${CARGO_TARGET_DIR:-switch/target}
  if [ "${cargo[0]}" = in_sid ]; then target=$SID.target; fi
  "${cargo[@]}" build --manifest-path switch/Cargo.toml --locked --profile browser --target "$TARGET" --package p4sched-playground
  mkdir -p "$OUT"
  install -m 644 "$target/$TARGET/browser/p4sched-playground.wasm" "$OUT/program.wasm"
}

page() {
  say "the page"
  (cd playground/page && npm ci --silent && npm run --silent build)
}

for name in node npm python3; do
  command -v "$name" >/dev/null || die "there is no $name: playground/README.md says what a build needs"
done
toolchain
program
node playground/files.mjs "$OUT/files.json"
PYTHONPATH=controller python3 -m playground.labs_archive "$OUT/labs.zip"
[ "${1:-}" = program ] || page
say "$OUT is complete; look at it: p4sched playground"
