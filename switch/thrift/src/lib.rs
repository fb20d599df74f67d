//! BMv2's runtime interface over Thrift: the services `standard`, `simple_pre_lag` and `simple_switch` that `simple_switch_CLI`
//! and p4-utils call.
//!
//! Facts come from behavioral-model's `.thrift` files and `docs/runtime_CLI.md`. What is asked for is done by
//! [`p4sched_device::bmv2`]; this crate has the protocol, the sockets, and the names and numbers of the methods.

pub mod answer;
pub mod protocol;
mod server;
mod services;
pub mod value;

pub use server::{Identity, Log, serve};
pub use services::call;
