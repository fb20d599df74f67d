//! The compiler's output: BMv2 JSON and P4Info.

mod json;
mod lab;
mod p4info;
mod tofino;

/// A program with nearly every kind of object in BMv2 JSON and P4Info.
const ROUTER: &str = include_str!("router.p4");
