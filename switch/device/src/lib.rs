//! A P4Runtime device: one switch and everything that a controller can see of it.
//!
//! [`Device`] is pure: it owns the engine and all P4Runtime state of the loaded program. Time, frames and requests are
//! arguments. It uses no gRPC, no threads and no clocks.

mod action;
mod annotation;
mod bits;
pub mod bmv2;
mod bytestring;
mod derived;
mod device;
mod digest_lists;
mod entities;
mod fault;
mod field;
mod forwarding;
mod idle;
mod index;
mod links;
mod match_key;
mod nodes;
mod p4data;
mod packet_io;
mod ports;
mod program;
mod references;
mod restriction;
mod roles;
mod snapshot;
mod store;
mod traffic_manager;
mod translated;
mod translation;
mod undo;
mod upcalls;

pub use device::{Device, TableFill, UpdateCounts};
pub use fault::{Code, Fault};
pub use links::{Link, Links};
pub use ports::{Fidelity, PortCounts, Ports};
pub use program::{Program, program_json};
pub use upcalls::{Counts, Notification, Notify};
