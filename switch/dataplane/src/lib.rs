//! The data plane: loads BMv2 JSON and executes packets with the semantics of BMv2's simple_switch.
//!
//! Pure: no I/O, no clock. [`Pipeline::from_json`] lowers a program to flat operations over fixed slots;
//! [`Pipeline::ingress`] and [`Pipeline::egress`] run it with the time passed in.

mod actions;
mod bits;
mod calculation;
mod code;
mod control;
mod control_cells;
mod control_tables;
mod entries;
mod expr;
mod flow;
mod hash;
mod header_ops;
mod json;
mod layout;
mod linear;
mod lower;
#[cfg(test)]
mod lower_test;
mod machine;
mod meter;
mod packet;
mod parser;
mod pipeline;
mod primitive;
mod profile;
mod program;
mod range;
mod replication;
mod state;
mod table_key;
mod wide;
mod wire;

pub use control::*;
pub use packet::*;
pub use pipeline::Pipeline;
