//! The stack of the program in WebAssembly: the compiler needs more than the usual megabyte.

/// Bytes.
const STACK: usize = 8 << 20;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-bins=-zstack-size={STACK}");
    }
}
