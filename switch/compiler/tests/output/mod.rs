//! The compiler's output: facts of the BMv2 JSON and of P4Info.

mod json;
mod lab;
mod p4info;
mod tofino;

/// A program with one of most things that BMv2 JSON and P4Info can tell of.
const ROUTER: &str = include_str!("router.p4");
