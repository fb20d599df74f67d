//! Runs a loaded program on packets.

pub(crate) mod calculation;
pub(crate) mod code;
pub(crate) mod core;
pub(crate) mod entries;
pub(crate) mod exact;
pub(crate) mod expr;
pub(crate) mod filter;
pub(crate) mod hash;
pub(crate) mod header_ops;
pub(crate) mod intervals;
pub(crate) mod intrinsic;
pub(crate) mod key;
pub(crate) mod layout;
pub(crate) mod machine;
pub(crate) mod meter;
pub(crate) mod native;
pub(crate) mod ops;
pub(crate) mod parser;
pub(crate) mod pipeline;
pub(crate) mod profile;
pub(crate) mod program;
mod replication;
pub(crate) mod state;
pub(crate) mod table;
pub(crate) mod tna;
pub(crate) mod v1model;
pub(crate) mod wire;
