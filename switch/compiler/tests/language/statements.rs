//! Statements: assignments, decisions, loops, `exit` and `return` (P4_16 specification, sections 11 and 12).

use super::check_with;
use crate::common::switch::{Parts, SMALL};

#[track_caller]
fn check(ingress: &str, apply: &str, rows: &[([u8; 4], [u8; 4])]) {
    check_with("", ingress, apply, rows);
}

#[test]
fn a_slice_is_assigned_without_the_bits_around_it() {
    check(
        "",
        "hdr.h.c[11:4] = 0xab; hdr.h.a[0:0] = 1; hdr.h.b[7:7] = 0;",
        &[([0, 0xff, 0x12, 0x34], [1, 0x7f, 0x1a, 0xb4])],
    );
}

#[test]
fn operators_with_assignment_use_the_old_value() {
    check(
        "",
        "hdr.h.a += 3; hdr.h.b |-|= 10; hdr.h.c <<= 4; hdr.h.c |= 1; hdr.h.c[15:12] ^= 0xf; hdr.h.a >>= 1;",
        &[([9, 4, 0x12, 0x34], [6, 0, 0xd3, 0x41])],
    );
}

#[test]
fn an_inner_variable_hides_the_outer_one() {
    check(
        "bit<8> x = 1;",
        "bit<8> y = x; { bit<8> x = 5; y = y + x; } hdr.h.a = y; hdr.h.b = x;",
        &[([0, 0, 0, 0], [6, 1, 0, 0])],
    );
}

#[test]
fn the_variables_of_a_control_start_anew_with_each_packet() {
    check(
        "bit<8> x = 1;",
        "hdr.h.a = x; x = 9;",
        &[([0, 0, 0, 0], [1, 0, 0, 0]), ([0, 0, 0, 0], [1, 0, 0, 0])],
    );
}

#[test]
fn structs_and_tuples_are_assigned_whole() {
    check(
        "",
        "tuple<bit<8>, bit<8>> pair = { hdr.h.b, hdr.h.a }; tuple<bit<8>, bit<8>> copy = pair;
         hdr.h.a = copy[0]; hdr.h.b = copy[1];",
        &[([1, 2, 0, 0], [2, 1, 0, 0])],
    );
}

#[test]
fn a_list_is_evaluated_before_anything_is_assigned() {
    check(
        "",
        "h_t old = hdr.h; hdr.h = { hdr.h.b, hdr.h.a, hdr.h.c }; if (old.a == 1) { hdr.h.c = 7; }",
        &[([1, 2, 0, 0], [2, 1, 0, 7])],
    );
}

#[test]
fn named_fields_may_stand_in_any_order_and_dots_give_the_rest_its_default() {
    check("", "hdr.h = { c = 5, a = 1, ... };", &[([9, 9, 9, 9], [1, 0, 0, 5])]);
}

#[test]
fn an_else_belongs_to_the_nearest_if() {
    check(
        "",
        "if (hdr.h.a > 1) if (hdr.h.a > 2) hdr.h.b = 3; else hdr.h.b = 2;",
        &[
            ([1, 0, 0, 0], [1, 0, 0, 0]),
            ([2, 0, 0, 0], [2, 2, 0, 0]),
            ([3, 0, 0, 0], [3, 3, 0, 0]),
        ],
    );
}

#[test]
fn a_switch_on_a_value_runs_one_block_and_labels_without_a_block_share_the_next() {
    check(
        "",
        "switch (hdr.h.a) { 1: { hdr.h.b = 1; } 2: 3: { hdr.h.b = 23; hdr.h.a = 1; } default: { hdr.h.b = 9; } }",
        &[
            ([1, 0, 0, 0], [1, 1, 0, 0]),
            ([2, 0, 0, 0], [1, 23, 0, 0]),
            ([3, 0, 0, 0], [1, 23, 0, 0]),
            ([4, 0, 0, 0], [4, 9, 0, 0]),
        ],
    );
}

#[test]
fn a_switch_takes_members_of_an_enum() {
    let types = "enum Colour { red, green, blue } enum bit<8> Code { one = 1, two = 2 }
        header h_t { bit<8> a; bit<8> b; bit<16> c; } struct headers_t { h_t h; } struct meta_t { Colour colour; }";
    let mut switch = Parts {
        types,
        ingress_apply: "sm.egress_spec = 2;
            if ((Code)hdr.h.a == Code.two) { meta.colour = Colour.green; } else { meta.colour = Colour.blue; }
            switch (meta.colour) { Colour.red: { hdr.h.b = 1; } Colour.green: { hdr.h.b = 2; } default: { hdr.h.b = 3; } }",
        ..Parts::small()
    }
    .load();
    assert_eq!(switch.forward(&[2, 0, 0, 0]).1, [2, 2, 0, 0]);
    assert_eq!(switch.forward(&[1, 0, 0, 0]).1, [1, 3, 0, 0]);
}

#[test]
fn a_loop_over_a_known_range_includes_both_ends() {
    check(
        "",
        "for (bit<8> i in 1 .. 4) { hdr.h.a = hdr.h.a + i; } for (bit<8> i in { 10, 20 }) { hdr.h.b = hdr.h.b + i; }",
        &[([0, 0, 0, 0], [10, 30, 0, 0])],
    );
}

#[test]
fn a_loop_runs_as_often_as_the_packet_says() {
    check(
        "",
        "for (bit<8> i = 0; i < hdr.h.a; i = i + 1) { hdr.h.c = hdr.h.c + 2; }
         for (bit<8> i in 254 .. hdr.h.b) { hdr.h.c = hdr.h.c + 100; }",
        &[([3, 0, 0, 1], [3, 0, 0, 7]), ([0, 255, 0, 0], [0, 255, 0, 200])],
    );
}

#[test]
fn break_ends_a_loop_and_continue_its_round() {
    check(
        "",
        "for (bit<8> i in 1 .. 9) { if (i == 2) { continue; } if (i == hdr.h.a) { break; } hdr.h.b = hdr.h.b + i; }",
        &[([5, 0, 0, 0], [5, 8, 0, 0]), ([1, 0, 0, 0], [1, 0, 0, 0])],
    );
}

#[test]
fn loops_nest() {
    check(
        "",
        "for (bit<8> i = 0; i < hdr.h.a; i = i + 1) {
            for (bit<8> j = 0; true; j = j + 1) { if (j == i) { break; } hdr.h.b = hdr.h.b + 1; }
         }",
        &[([4, 0, 0, 0], [4, 6, 0, 0])],
    );
}

#[test]
fn return_leaves_a_control_and_exit_leaves_ingress() {
    check(
        "action leave() { exit; } action stop(bit<8> x) { hdr.h.b = x; return; }",
        "if (hdr.h.a == 1) { stop(7); hdr.h.c = 1; return; } if (hdr.h.a == 2) { leave(); } hdr.h.c = 3;",
        &[
            ([1, 0, 0, 0], [1, 7, 0, 1]),
            ([2, 0, 0, 0], [2, 0, 0, 0]),
            ([3, 0, 0, 0], [3, 0, 0, 3]),
        ],
    );
}

#[test]
fn the_right_side_of_and_and_or_is_evaluated_only_if_it_decides() {
    let types =
        format!("{SMALL} bool odd(in bit<8> x, inout bit<8> calls) {{ calls = calls + 1; return x[0:0] == 1; }}");
    let mut switch = Parts {
        types: &types,
        ingress: "bit<8> calls = 0;",
        ingress_apply: "sm.egress_spec = 2;
            bool both = odd(hdr.h.a, calls) && odd(hdr.h.b, calls); bit<8> first = calls;
            bool either = odd(hdr.h.a, calls) || odd(hdr.h.b, calls);
            hdr.h.c = first ++ calls; hdr.h.a = both ? 8w1 : 0; hdr.h.b = either ? 8w1 : 0;",
        ..Parts::small()
    }
    .load();
    assert_eq!(switch.forward(&[1, 1, 0, 0]).1, [1, 1, 2, 3]);
    assert_eq!(switch.forward(&[2, 1, 0, 0]).1, [0, 1, 1, 3]);
    assert_eq!(switch.forward(&[1, 2, 0, 0]).1, [0, 1, 2, 3]);
    assert_eq!(switch.forward(&[2, 2, 0, 0]).1, [0, 0, 1, 3]);
}
