//! The server as its clients see it.

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
