//! Generates the Rust types and gRPC stubs from the `.proto` files of this folder, without `protoc`.

use std::{env, fs, path::PathBuf};

use prost::Message as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = ["p4/v1/p4runtime.proto", "p4sched/v1/traffic_manager.proto"];
    println!("cargo::rerun-if-changed=p4");
    println!("cargo::rerun-if-changed=p4sched");
    println!("cargo::rerun-if-changed=google");
    let descriptors = protox::compile(files, ["."])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
