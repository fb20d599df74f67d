//! The data plane: loads BMv2 JSON and executes packets with the semantics of BMv2's simple_switch.
//!
//! No I/O and no clock. [`Pipeline::from_json`] lowers a program to flat operations over fixed slots;
//! [`Pipeline::ingress`] and [`Pipeline::egress`] run it. The time is an argument.

#![cfg_attr(target_family = "wasm", allow(dead_code, reason = "only machine code uses it"))]

mod bits;
mod checksum;
#[cfg(not(target_family = "wasm"))]
mod compile;
mod control;
mod errors;
mod events;
mod frame;
mod ids;
#[cfg(target_family = "wasm")]
mod interpreted;
mod load;
mod packet;
mod run;
mod values;

pub use checksum::internet_checksum;
pub use errors::*;
pub use events::*;
pub use frame::Frame;
pub use ids::*;
pub use packet::*;
pub use run::pipeline::Pipeline;
pub use values::*;
