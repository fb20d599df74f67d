//! BMv2's runtime interface over Thrift: the services `standard`, `simple_pre_lag` and `simple_switch`, which
//! `simple_switch_CLI` and p4-utils use.
//!
//! Facts come from behavioral-model's `.thrift` files and `docs/runtime_CLI.md`. [`p4sched_device::bmv2`] executes the
//! requests. This crate has the protocol, the sockets, and the names and numbers of the methods.

pub mod answer;
pub mod protocol;
mod server;
mod services;
pub mod value;

pub use server::{Identity, Log, serve};
pub use services::call;
