//! The server as seen by its clients.

mod arbitration;
mod gnmi;
mod grpc;
mod liveness;
mod metrics;
mod references;
mod requirements;
mod resources;
mod roles;
mod server;
mod tls;
mod translation;
