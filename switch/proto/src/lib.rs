//! Wire types and gRPC stubs: P4Runtime (specification 1.4/1.5), P4Info, and the traffic manager's own service.

#![allow(missing_docs, clippy::all, reason = "generated from .proto files")]

use std::sync::LazyLock;

pub mod google {
    pub mod rpc {
        tonic::include_proto!("google.rpc");
    }
}

pub mod p4 {
    pub mod v1 {
        tonic::include_proto!("p4.v1");
    }
    pub mod config {
        pub mod v1 {
            tonic::include_proto!("p4.config.v1");
        }
    }
}

pub mod p4sched {
    pub mod v1 {
        tonic::include_proto!("p4sched.v1");
    }
}

/// Descriptors of every message of this crate, for the protobuf text format.
pub static DESCRIPTORS: LazyLock<prost_reflect::DescriptorPool> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
    prost_reflect::DescriptorPool::decode(bytes).expect("the descriptors were written by this crate's build")
});
