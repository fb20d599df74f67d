//! Messages of P4Runtime (specification 1.4/1.5), P4Info, gNMI, and the project's own services: the traffic manager's and
//! that of a network in virtual time. With the feature `services` also gRPC clients and servers. And the numbers of the
//! programs.

#![allow(clippy::all, reason = "generated from .proto files")]

use std::sync::LazyLock;

pub mod constants;

pub mod google {
    pub mod rpc {
        include!(concat!(env!("OUT_DIR"), "/google.rpc.rs"));
    }
}

pub mod p4 {
    pub mod v1 {
        include!(concat!(env!("OUT_DIR"), "/p4.v1.rs"));
    }
    pub mod config {
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/p4.config.v1.rs"));
        }
    }
}

pub mod p4sched {
    pub mod v1 {
        include!(concat!(env!("OUT_DIR"), "/p4sched.v1.rs"));
    }
}

pub mod gnmi {
    include!(concat!(env!("OUT_DIR"), "/gnmi.rs"));
}

pub mod gnoi {
    pub mod system {
        include!(concat!(env!("OUT_DIR"), "/gnoi.system.rs"));
    }
}

/// Descriptors of every message of this crate, for the protobuf text format.
pub static DESCRIPTORS: LazyLock<prost_reflect::DescriptorPool> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
    prost_reflect::DescriptorPool::decode(bytes).expect("the descriptors were written by this crate's build")
});
