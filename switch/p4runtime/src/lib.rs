//! The device on the network: gRPC services for P4Runtime, gNMI and the traffic manager, and metrics over HTTP.
//!
//! Requests are sent as [`Job`]s to the thread that owns the [`Device`](p4sched_device::Device). They run there between
//! two packets.

pub mod arbitration;
mod awake;
pub mod gnmi;
mod handle;
mod metrics;
mod program;
mod server;
mod service;
mod status;
mod streams;
mod tls;
mod traffic_manager;

pub use handle::{DeviceHandle, Edit, Job, Shortcut};
pub use metrics::serve_metrics;
pub use program::read_program;
pub use server::{Endpoint, NOTIFICATION_BACKLOG, serve, serve_streams};
pub use status::CLIENT_METADATA_BYTES;
pub use streams::{MessageCounts, Streams};
pub use tls::{Log, Tls, TlsFiles};
