//! The switch's control plane: P4Runtime and the traffic manager's own service.
//!
//! [`Device`] is pure: it owns the engine and everything that P4Runtime knows about the loaded program; time, frames and
//! requests are passed in. [`service`] puts it on the network: requests travel as [`Job`]s to the thread that owns the
//! device and run there between two packets.

mod action;
pub mod arbitration;
mod bits;
mod bytestring;
mod device;
mod digest_lists;
mod entities;
mod fault;
mod forwarding;
mod idle;
mod index;
mod match_key;
mod p4data;
mod packet_io;
mod ports;
mod restriction;
pub mod service;
mod traffic_manager;
mod undo;

pub use device::{Counts, Device, Notification, Program};
pub use fault::Fault;
pub use forwarding::Forwarding;
pub use index::Index;
pub use ports::{Fidelity, FrameSink, Job, PortCounts, Ports};
