//! Output formats.

pub mod json;
pub mod p4info;
