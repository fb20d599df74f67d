//! The server as seen by its clients.

mod arbitration;
mod grpc;
mod liveness;
mod references;
mod requirements;
mod resources;
mod roles;
mod server;
mod tls;
mod translation;
