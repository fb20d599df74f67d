//! Limits of the parser.

use p4sched_compiler::Arch;

use super::{Program, fits, program, refused};

#[test]
fn the_parser_selects_by_32_bits_and_fills_the_containers() {
    let with = |states: &str| -> String { states.to_owned() };
    let wide = with(
        "    state /*!*/parse_h { p.extract(hdr.h); transition select(hdr.h.d, hdr.h.a) { (1, 1) : accept; default : accept; } }",
    );
    refused(
        &Program {
            states: &wide,
            ..program(Arch::Tna, "", "")
        },
        "the state 'parse_h' selects by 40 bits",
    );
}

/// A program that reads `meta.n` and a header that the parser extracts; `states` follow the first state.
fn with_states<'a>(arch: Arch, states: &'a str) -> Program<'a> {
    Program {
        states,
        ..program(arch, "", "if (meta.n == 2) { hdr.h.b = 1; }")
    }
}

#[test]
fn the_parser_of_the_first_chip_ors_what_it_writes_again() {
    let two = |first: &str, transition: &str, second: &str| {
        format!(
            "    state parse_h {{ p.extract(hdr.h); {first} transition {transition} }}
    state /*!*/more {{ {second} transition accept; }}"
        )
    };
    let perhaps = "select(hdr.h.a) { 1: more; default: accept; }";
    for (first, transition, second) in [
        // The field is zero before, or has only bits that stay set.
        ("meta.n = 0;", perhaps, "meta.n = 2;"),
        ("meta.n = 1;", perhaps, "meta.n = 3;"),
        ("meta.n = 2;", perhaps, "meta.n = 2;"),
        ("meta.n = hdr.h.b;", perhaps, "meta.n = 0xff;"),
        // The states become one, and the last write counts.
        ("meta.n = 1;", "more;", "meta.n = 2;"),
        ("meta.n = 1; meta.n = 2;", perhaps, ""),
        // Nothing reads it.
        ("meta.s = 1;", perhaps, "meta.s = 2;"),
    ] {
        fits(&with_states(Arch::Tna, &two(first, transition, second)));
    }
    for (first, second) in [
        ("meta.n = 1;", "meta.n = 2;"),
        ("meta.n = 2;", "meta.n = 0;"),
        ("meta.n = hdr.h.b;", "meta.n = 2;"),
        ("meta.n = hdr.h.b;", "meta.n = hdr.h.r1;"),
    ] {
        let states = two(first, perhaps, second);
        refused(
            &with_states(Arch::Tna, &states),
            "the state 'more' writes 'meta.n', which the state 'parse_h' wrote before",
        );
        fits(&with_states(Arch::T2na, &states));
    }
    // Two paths with one write each.
    fits(&with_states(
        Arch::Tna,
        "    state parse_h { p.extract(hdr.h); transition select(hdr.h.a) { 1: one; default: other; } }
    state one { meta.n = 1; transition accept; }
    state other { meta.n = 2; transition accept; }",
    ));
    refused(
        &with_states(
            Arch::Tna,
            "    state /*!*/parse_h { p.extract(hdr.h); transition select(hdr.h.b) { 1: parse_h; default: accept; } }",
        ),
        "the state 'parse_h' writes 'h.a', which it wrote when the packet came by before",
    );
}
