//! Generates the Rust types and gRPC stubs from the `.proto` files of this folder, without `protoc`.

use std::{env, fs, path::PathBuf};

use prost::Message as _;

/// Condition on services: a crate that needs only messages has no gRPC.
const SERVICES: &str = "#[cfg(feature = \"services\")]";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = [
        "p4/v1/p4runtime.proto",
        "p4sched/v1/traffic_manager.proto",
        "p4sched/v1/simulation.proto",
        "gnmi/gnmi.proto",
        "gnoi/system.proto",
    ];
    println!("cargo::rerun-if-changed=p4");
    println!("cargo::rerun-if-changed=p4sched");
    println!("cargo::rerun-if-changed=google");
    println!("cargo::rerun-if-changed=gnmi");
    println!("cargo::rerun-if-changed=gnoi");
    let descriptors = protox::compile(files, ["."])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    let mut build = tonic_prost_build::configure();
    for package in ["p4.v1", "p4sched.v1", "gnmi", "gnoi.system"] {
        build = build
            .client_mod_attribute(package, SERVICES)
            .server_mod_attribute(package, SERVICES);
    }
    build.compile_fds(descriptors)?;
    Ok(())
}
