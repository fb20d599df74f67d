//! Tables with their entries in the program (P4_16 specification, section 14.2).

use super::check_with;

/// Sends frames through a table `t`, and checks the output.
#[track_caller]
fn check(declare: &str, apply: &str, rows: &[([u8; 4], [u8; 4])]) {
    let ingress = format!(
        "action set(bit<8> x) {{ hdr.h.b = x; }} action add(inout bit<8> to, in bit<8> n, bit<8> m) {{ to = to + n + m; }}
         {declare}"
    );
    check_with("", &ingress, apply, rows);
}

#[test]
fn a_table_without_a_key_does_its_default_action() {
    check(
        "table t { actions = { set; } default_action = set(9); }",
        "t.apply();",
        &[([1, 0, 0, 0], [1, 9, 0, 0])],
    );
}

#[test]
fn exact_entries_match_all_bits() {
    check(
        "table t { key = { hdr.h.a: exact; hdr.h.c: exact; } actions = { set; NoAction; }
            const entries = { (1, 5): set(10); (1, 6): set(11); } default_action = NoAction; }",
        "t.apply();",
        &[
            ([1, 0, 0, 5], [1, 10, 0, 5]),
            ([1, 0, 0, 6], [1, 11, 0, 6]),
            ([1, 0, 1, 5], [1, 0, 1, 5]),
        ],
    );
}

#[test]
fn the_longest_prefix_wins() {
    check(
        "table t { key = { hdr.h.c: lpm; } actions = { set; } default_action = set(0);
            const entries = { 0x1000 &&& 0xf000: set(4); 0x1200 &&& 0xff00: set(8); 0x1234: set(16); _: set(1); } }",
        "t.apply();",
        &[
            ([0, 0, 0x12, 0x34], [0, 16, 0x12, 0x34]),
            ([0, 0, 0x12, 0x35], [0, 8, 0x12, 0x35]),
            ([0, 0, 0x1f, 0], [0, 4, 0x1f, 0]),
            ([0, 0, 0x20, 0], [0, 1, 0x20, 0]),
        ],
    );
}

#[test]
fn ternary_and_range_entries_match_in_their_order() {
    check(
        "table t { key = { hdr.h.a: ternary; hdr.h.c: range; } actions = { set; } default_action = set(0);
            const entries = { (0x80 &&& 0x80, 10 .. 20): set(1); (_, 15 .. 30): set(2); (3, _): set(3); } }",
        "t.apply();",
        &[
            ([0xff, 0, 0, 10], [0xff, 1, 0, 10]),
            ([0xff, 0, 0, 20], [0xff, 1, 0, 20]),
            ([0xff, 0, 0, 21], [0xff, 2, 0, 21]),
            ([3, 0, 0, 15], [3, 2, 0, 15]),
            ([3, 0, 0, 31], [3, 3, 0, 31]),
            ([4, 0, 0, 31], [4, 0, 0, 31]),
        ],
    );
}

#[test]
fn optional_keys_are_exact_or_anything() {
    check(
        "table t { key = { hdr.h.a: optional; } actions = { set; } default_action = set(0);
            const entries = { 5: set(1); _: set(2); } }",
        "t.apply();",
        &[([5, 0, 0, 0], [5, 1, 0, 0]), ([6, 0, 0, 0], [6, 2, 0, 0])],
    );
}

#[test]
fn priorities_of_entries_decide_before_their_order() {
    check(
        "table t { key = { hdr.h.a: ternary; } actions = { set; } default_action = set(0); largest_priority_wins = true;
            const entries = { priority = 1: 1 &&& 1: set(1); priority = 5: 2 &&& 2: set(2); } }",
        "t.apply();",
        &[([3, 0, 0, 0], [3, 2, 0, 0]), ([1, 0, 0, 0], [1, 1, 0, 0])],
    );
}

#[test]
fn keys_may_be_expressions() {
    check(
        "table t { key = { hdr.h.a & 0x0f: exact @name(\"low\"); hdr.h.c + 1: exact @name(\"next\"); hdr.h.isValid(): exact; }
            actions = { set; } default_action = set(0); const entries = { (3, 0, true): set(7); } }",
        "t.apply();",
        &[
            ([0x53, 0, 0xff, 0xff], [0x53, 7, 0xff, 0xff]),
            ([0x54, 1, 0xff, 0xff], [0x54, 0, 0xff, 0xff]),
        ],
    );
}

#[test]
fn an_action_in_the_list_has_its_directed_arguments_bound_there() {
    check(
        "table t { key = { hdr.h.a: exact; } actions = { add(hdr.h.b, hdr.h.a); } default_action = add(hdr.h.b, hdr.h.a, 1);
            const entries = { 4: add(hdr.h.b, hdr.h.a, 100); } }",
        "t.apply();",
        &[([4, 2, 0, 0], [4, 106, 0, 0]), ([5, 2, 0, 0], [5, 8, 0, 0])],
    );
}

const HIT: &str = "table t { key = { hdr.h.a: exact; } actions = { set; NoAction; } default_action = NoAction;
    const entries = { 1: set(1); 2: NoAction; } }";

#[test]
fn the_outcome_of_a_table_decides_what_follows() {
    check(
        HIT,
        "if (t.apply().hit) { hdr.h.c = 1; } else { hdr.h.c = 2; }",
        &[([1, 0, 0, 0], [1, 1, 0, 1]), ([3, 0, 0, 0], [3, 0, 0, 2])],
    );
    check(
        HIT,
        "if (!t.apply().miss) { hdr.h.c = 1; }",
        &[([2, 0, 0, 0], [2, 0, 0, 1]), ([3, 0, 0, 0], [3, 0, 0, 0])],
    );
    check(
        HIT,
        "bool found = t.apply().hit; hdr.h.c = found ? 16w1 : 2;",
        &[([2, 0, 0, 0], [2, 0, 0, 1]), ([3, 0, 0, 0], [3, 0, 0, 2])],
    );
    check(
        HIT,
        "if (hdr.h.b == 0 && t.apply().hit) { hdr.h.c = 1; }",
        &[
            ([1, 0, 0, 0], [1, 1, 0, 1]),
            ([1, 9, 0, 0], [1, 9, 0, 0]),
            ([3, 0, 0, 0], [3, 0, 0, 0]),
        ],
    );
}

#[test]
fn a_switch_on_the_action_runs_the_block_of_the_one_that_ran() {
    check(
        HIT,
        "switch (t.apply().action_run) { set: { hdr.h.c = 1; } NoAction: { hdr.h.c = 2; } }",
        &[
            ([1, 0, 0, 0], [1, 1, 0, 1]),
            ([2, 0, 0, 0], [2, 0, 0, 2]),
            ([3, 0, 0, 0], [3, 0, 0, 2]),
        ],
    );
    check(
        HIT,
        "switch (t.apply().action_run) { set: { hdr.h.c = 1; } default: { hdr.h.c = 9; } }",
        &[([1, 0, 0, 0], [1, 1, 0, 1]), ([3, 0, 0, 0], [3, 0, 0, 9])],
    );
}

#[test]
fn tables_follow_each_other_through_decisions() {
    check(
        "table first { key = { hdr.h.a: exact; } actions = { set; } default_action = set(0); const entries = { 1: set(10); } }
         table second { key = { hdr.h.b: exact; } actions = { set; } default_action = set(99); const entries = { 10: set(20); 0: set(30); } }",
        "if (hdr.h.c < 100) { first.apply(); if (hdr.h.b == 10) { second.apply(); } else { hdr.h.c = 7; } } else { second.apply(); }",
        &[
            ([1, 0, 0, 0], [1, 20, 0, 0]),
            ([2, 0, 0, 0], [2, 0, 0, 7]),
            ([1, 0, 0, 200], [1, 30, 0, 200]),
            ([1, 5, 0, 200], [1, 99, 0, 200]),
        ],
    );
}

#[test]
fn the_keys_of_an_entry_may_stand_in_braces() {
    check(
        "table t { key = { hdr.h.a: exact; } actions = { set; } const default_action = set(0); const entries = { {1}: set(10); } }",
        "t.apply();",
        &[([1, 0, 0, 0], [1, 10, 0, 0]), ([2, 9, 0, 0], [2, 0, 0, 0])],
    );
}
