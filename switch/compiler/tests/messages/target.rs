//! Valid P4 that BMv2's simple_switch cannot do.

use super::{apply_says, ingress_says, parser_says, parts_say, top_level_says};
use crate::common::switch::Parts;

#[test]
fn headers() {
    let types = "header h_t { bit<8> a; } struct headers_t { h_t h; bit<8> x; } struct meta_t { bit<8> x; }";
    parts_say(
        Parts {
            types,
            ..Parts::small()
        },
        &["headers_t is used for the packet's headers, so its field 'x' must be a header, not bit<8>"],
    );
}

#[test]
fn tables() {
    ingress_says(
        "table t { key = { hdr.h.a + 1: exact; } actions = { NoAction; } }",
        &["a key that is an expression needs a name for the control plane: @name(\"...\")"],
    );
    ingress_says(
        "table t { key = { hdr.h.c: lpm; } actions = { NoAction; } const entries = { 1 &&& 0x0f: NoAction; } }",
        &["the mask 15 is not a prefix"],
    );
    ingress_says(
        "table t { key = { hdr.h.c: range; } actions = { NoAction; } const entries = { 3 .. 2: NoAction; } }",
        &["the range ends before it begins: 3 is more than 2"],
    );
    ingress_says(
        "counter(8, CounterType.packets) c; table t { actions = { NoAction; } counters = c; }",
        &["the property 'counters' must be a direct_counter"],
    );
}

#[test]
fn places() {
    apply_says("resubmit_preserving_field_list(1);", &[]);
    apply_says(
        "recirculate_preserving_field_list(1);",
        &["'recirculate_preserving_field_list' can be called in egress only"],
    );
    apply_says(
        "verify(true, error.NoError);",
        &["'verify' can be called in parsers only"],
    );
    apply_says(
        "update_checksum(true, { hdr.h.a }, hdr.h.c, HashAlgorithm.csum16);",
        &["'update_checksum' can be called in the checksum update control only"],
    );
    parts_say(
        Parts {
            egress_apply: "resubmit_preserving_field_list(1);",
            ..Parts::small()
        },
        &["'resubmit_preserving_field_list' can be called in ingress only"],
    );
    parts_say(
        Parts {
            update: "if (hdr.h.a == 1) { update_checksum(true, { hdr.h.a }, hdr.h.c, HashAlgorithm.csum16); }",
            ..Parts::small()
        },
        &[],
    );
    parts_say(
        Parts {
            update: "hdr.h.a = 1;",
            ..Parts::small()
        },
        &[
            "in checksum controls BMv2 takes only verify_checksum and update_checksum, of fields and constants, and 'if' around them",
        ],
    );
}

#[test]
fn checksums() {
    let says = |update: &str| {
        parts_say(
            Parts {
                update,
                ..Parts::small()
            },
            &[
                "in checksum controls BMv2 takes only verify_checksum and update_checksum, of fields and constants, and 'if' around them",
            ],
        );
    };
    says("switch (hdr.h.a) { 1: { update_checksum(true, { hdr.h.b }, hdr.h.c, HashAlgorithm.csum16); } }");
    says("if (hdr.h.a == 1) { return; } update_checksum(true, { hdr.h.b }, hdr.h.c, HashAlgorithm.csum16);");
    says("update_checksum(true, { hdr.h.b + 1 }, hdr.h.c, HashAlgorithm.csum16);");
}

#[test]
fn known_when_compiling() {
    apply_says(
        "hash(hdr.h.c, HashAlgorithm.crc61, 16w0, { hdr.h.a }, 16w10);",
        &["no member 'crc61' in HashAlgorithm; did you mean 'crc16'?"],
    );
    top_level_says("control Sub()(bit<8> n) { apply {} } ", &[]);
    ingress_says(
        "register<bit<8>>(4294967396) r;",
        &["4294967396 does not fit in bit<32>; it becomes 100"],
    );
}

#[test]
fn calls_of_themselves() {
    top_level_says(
        "bit<8> f(in bit<8> x) { return f(x); }",
        &["no function or action 'f' is declared here"],
    );
    parser_says(
        "state start { transition select(sm.ingress_port) { 1: start; default: accept; } }",
        &[],
    );
}
