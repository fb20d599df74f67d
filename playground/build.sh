#!/usr/bin/env bash
# Builds build/playground/: the page, the program for WebAssembly, and the files of the lab. `build.sh program` builds only the
# program and the files.
set -euo pipefail
cd "$(dirname "$0")/.."

TARGET=wasm32-wasip1
OUT=build/playground

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() { printf 'playground: %s\n' "$*" >&2; exit 1; }

# Whether Rust has its library for the target.
has_library() { [ -d "$(rustc --print sysroot)/lib/rustlib/$TARGET/lib" ]; }

toolchain() {
  has_library && return
  command -v rustup >/dev/null || die "Rust has no library for $TARGET, and there is no rustup to get it: playground/README.md says where it is"
  say "Rust's library for $TARGET"
  rustup target add "$TARGET"
  has_library || die "rustup did not install the library for $TARGET"
}

program() {
  say "the program for WebAssembly (the first build takes some minutes)"
  local target=${CARGO_TARGET_DIR:-switch/target}
  nice cargo build --manifest-path switch/Cargo.toml \
    --locked --profile browser --target "$TARGET" --package p4sched-playground
  mkdir -p "$OUT"
  cp "$target/$TARGET/browser/p4sched-playground.wasm" "$OUT/program.wasm"
}

page() {
  say "the page"
  (cd playground/page && npm ci --silent && npm run --silent build)
}

for program in cargo node npm python3; do
  command -v "$program" >/dev/null || die "there is no $program: playground/README.md says what a build needs"
done
toolchain
program
node playground/files.mjs "$OUT/files.json"
PYTHONPATH=controller python3 -m playground.labs_archive "$OUT/labs.zip"
[ "${1:-}" = program ] || page
say "$OUT is complete; look at it: p4sched playground"
