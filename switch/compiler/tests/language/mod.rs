//! Behaviour of programs: each feature of the language is compiled, run on the data plane, and compared with the
//! specification.

use crate::common::switch::{Parts, SMALL};

mod arithmetic;
mod calls;
mod expressions;
mod externs;
mod headers;
mod operands;
mod parsers;
mod statements;
mod tables;
mod tofino;

/// Checks the output frame for each input frame of a program with these declarations and statements. Its header is `h_t
/// { bit<8> a; bit<8> b; bit<16> c; }`.
#[track_caller]
fn check_with(types: &str, ingress: &str, apply: &str, rows: &[([u8; 4], [u8; 4])]) {
    let types = format!("{SMALL} {types}");
    let apply = format!("sm.egress_spec = 2; {apply}");
    let mut switch = Parts {
        types: &types,
        ingress,
        ingress_apply: &apply,
        ..Parts::small()
    }
    .load();
    for (frame, expected) in rows {
        assert_eq!(switch.forward(frame).1, expected, "for {frame:?}");
    }
}
