//! The device on the network: P4Runtime and the traffic manager's own service over gRPC.
//!
//! Requests travel as [`Job`]s to the thread that owns the [`Device`](p4sched_device::Device) and run there between two
//! packets.

pub mod arbitration;
mod awake;
mod handle;
mod program;
mod server;
mod service;
mod status;
mod streams;
mod tls;
mod traffic_manager;

pub use handle::{DeviceHandle, Edit, Job, Shortcut};
pub use program::read_program;
pub use server::{NOTIFICATION_BACKLOG, serve, serve_streams};
pub use status::CLIENT_METADATA_BYTES;
pub use streams::{Said, Streams};
pub use tls::{Log, Tls, TlsFiles};
