//! Calls: copying of arguments in and out, functions, actions, and controls within controls (P4_16 specification,
//! sections 6.8, 10, 12 and 15).

use super::check_with as check;

#[test]
fn a_function_returns_from_any_place() {
    check(
        "bit<8> largest(in bit<8> x, in bit<8> y, in bit<8> z) {
            if (x >= y) { if (x >= z) { return x; } return z; }
            return y > z ? y : z;
        }",
        "",
        "hdr.h.c = (bit<16>)largest(hdr.h.a, hdr.h.b, 5);",
        &[
            ([9, 2, 0, 0], [9, 2, 0, 9]),
            ([2, 9, 0, 0], [2, 9, 0, 9]),
            ([1, 2, 0, 0], [1, 2, 0, 5]),
            ([2, 1, 0, 0], [2, 1, 0, 5]),
        ],
    );
}

#[test]
fn functions_of_one_name_differ_in_their_number_of_parameters() {
    check(
        "bit<8> sum(in bit<8> x) { return x; } bit<8> sum(in bit<8> x, in bit<8> y) { return x + y; }",
        "",
        "hdr.h.c = sum(hdr.h.a) ++ sum(hdr.h.a, hdr.h.b);",
        &[([3, 4, 0, 0], [3, 4, 3, 7])],
    );
}

#[test]
fn a_function_with_type_parameters_works_on_values_of_each_type() {
    check(
        "T other<T>(in bool one, in T x, in T y) { T kept = y; if (one) { return x; } return kept; }
        void turn<T, U>(inout T x, in U y) { x = other<T>((bit<1>)y == 1, ~x, x); }",
        "",
        "hdr.h.a = other(hdr.h.b == 1, hdr.h.a, 8w7); turn(hdr.h.c, hdr.h.b[0:0]); turn<bit<8>, bool>(hdr.h.b, true);",
        &[
            ([3, 1, 0xff, 0], [3, 0xfe, 0, 0xff]),
            ([3, 2, 0xff, 0], [7, 0xfd, 0xff, 0]),
        ],
    );
}

#[test]
fn arguments_may_be_named_and_left_out() {
    check(
        "bit<8> less(in bit<8> x, in bit<8> y = 1) { return x - y; }",
        "",
        "hdr.h.c = less(y = hdr.h.a, x = hdr.h.b) ++ less(hdr.h.b);",
        &[([3, 10, 0, 0], [3, 10, 7, 9])],
    );
}

#[test]
fn inout_arguments_are_copied_in_and_then_out_from_left_to_right() {
    check(
        "void both(inout bit<8> x, inout bit<8> y) { x = x + 1; y = y + 10; }",
        "",
        "hdr.h.b = hdr.h.a; both(hdr.h.a, hdr.h.a); both(hdr.h.b, hdr.h.b);",
        // Each parameter has a copy of the old value; the copy that is written back last stays.
        &[([5, 0, 0, 0], [15, 15, 0, 0])],
    );
}

#[test]
fn what_is_passed_in_does_not_change_while_the_call_runs() {
    check(
        "void move(in bit<8> old, inout bit<8> field, out bit<8> kept) { field = 99; kept = old; }",
        "",
        "move(hdr.h.a, hdr.h.a, hdr.h.b);",
        &[([5, 0, 0, 0], [99, 5, 0, 0])],
    );
}

#[test]
fn arguments_are_evaluated_from_left_to_right() {
    check(
        "bit<8> next(inout bit<8> n) { n = n + 1; return n; }
         bit<16> pair(in bit<8> x, in bit<8> y) { return x ++ y; }",
        "",
        "hdr.h.c = pair(next(hdr.h.a), next(hdr.h.a)); hdr.h.b = next(hdr.h.a) - next(hdr.h.a);",
        &[([0, 0, 0, 0], [4, 255, 1, 2])],
    );
}

#[test]
fn arguments_of_externs_are_evaluated_from_left_to_right_too() {
    check(
        "bit<8> next(inout bit<8> n) { n = n + 1; return n; }",
        "register<bit<8>>(8) cells;",
        "cells.write((bit<32>)hdr.h.a, next(hdr.h.a)); cells.read(hdr.h.b, 2); hdr.h.c = 0;",
        &[([2, 0, 0, 0], [3, 3, 0, 0])],
    );
}

#[test]
fn an_action_is_called_like_a_function() {
    check(
        "",
        "action add(inout bit<8> to, bit<8> n) { to = to + n; } action twice(bit<8> n) { add(hdr.h.a, n); add(hdr.h.b, n); }",
        "twice(3); add(hdr.h.a, 1);",
        &[([1, 2, 0, 0], [5, 5, 0, 0])],
    );
}

#[test]
fn exit_in_an_action_still_copies_out() {
    check(
        "",
        "action leave(inout bit<8> x) { x = 7; exit; }",
        "leave(hdr.h.a); hdr.h.b = 1;",
        &[([0, 0, 0, 0], [7, 0, 0, 0])],
    );
}

#[test]
fn exit_in_an_action_of_a_table_still_copies_out() {
    check(
        "",
        "action leave(inout bit<8> x) { x = x + 7; exit; }
         table t { actions = { leave(hdr.h.a); } const default_action = leave(hdr.h.a); }",
        "t.apply(); hdr.h.b = 1;",
        &[([1, 0, 0, 0], [8, 0, 0, 0])],
    );
}

#[test]
fn an_out_parameter_of_a_table_action_begins_without_valid_headers() {
    check(
        "",
        "bit<8> seen = 0;
         action ask(out h_t h) { if (h.isValid()) { seen = 1; } h.setValid(); h.a = 3; h.b = 0; h.c = 0; }
         table t { actions = { ask(hdr.h); } const default_action = ask(hdr.h); }",
        "t.apply(); hdr.h.b = seen;",
        &[([1, 2, 3, 4], [3, 0, 0, 0])],
    );
}

#[test]
fn instances_of_one_control_have_constructor_arguments_and_state_of_their_own() {
    check(
        "control Count(inout bit<8> x)(bit<8> step) {
            register<bit<8>>(1) total;
            apply { bit<8> n; total.read(n, 0); n = n + step; total.write(0, n); x = n; }
        }",
        "Count(1) ones; Count(5) fives;",
        "ones.apply(hdr.h.a); fives.apply(hdr.h.b);",
        &[([0, 0, 0, 0], [1, 5, 0, 0]), ([0, 0, 0, 0], [2, 10, 0, 0])],
    );
}

#[test]
fn a_control_is_applied_by_its_type_too() {
    check(
        "control Add(inout bit<8> x, in bit<8> n) { apply { if (n == 0) { return; } x = x + n; } }",
        "",
        "Add.apply(hdr.h.a, 4); Add.apply(hdr.h.b, hdr.h.a); Add.apply(hdr.h.a, 0); hdr.h.c = 1;",
        &[([1, 2, 0, 0], [5, 7, 0, 1])],
    );
}

#[test]
fn controls_nest_and_exit_ends_them_all() {
    check(
        "control Inner(inout h_t h) { apply { h.b = 1; if (h.a == 1) { exit; } h.b = 2; } }
         control Outer(inout h_t h) { Inner() inner; apply { inner.apply(h); h.c = 3; } }",
        "Outer() outer;",
        "outer.apply(hdr.h); hdr.h.a = 9;",
        &[([1, 0, 0, 0], [1, 1, 0, 0]), ([2, 0, 0, 0], [9, 2, 0, 3])],
    );
}

#[test]
fn a_name_with_a_leading_dot_is_that_of_the_top_level() {
    check(
        "const bit<8> n = 4; action set(inout bit<8> x) { x = 1; }",
        "action set(inout bit<8> x) { x = 2; }",
        "bit<8> n = 6; hdr.h.a = .n; hdr.h.b = n; bit<8> one; bit<8> two; .set(one); set(two); hdr.h.c = one ++ two;",
        &[([0, 0, 0, 0], [4, 6, 1, 2])],
    );
}

#[test]
fn a_call_beside_a_division_of_zero_is_made() {
    check(
        "bit<8> next(inout bit<8> n) { n = n + 1; return n; }",
        "",
        "hdr.h.a = 0 / next(hdr.h.b); hdr.h.a = hdr.h.a + 0 % next(hdr.h.b);",
        &[([5, 0, 0, 0], [0, 2, 0, 0])],
    );
}

#[test]
fn a_hidden_table_that_does_one_thing_may_stand_in_a_loop() {
    check(
        "",
        "@hidden action once() { hdr.h.b = hdr.h.b + 1; }
         @hidden table tbl_once { actions = { once; } const default_action = once(); }",
        "for (bit<8> i = 0; i < hdr.h.a; i = i + 1) { tbl_once.apply(); }",
        &[([5, 0, 0, 0], [5, 5, 0, 0])],
    );
}
