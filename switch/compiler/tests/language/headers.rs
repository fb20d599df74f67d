//! Headers, header stacks and header unions (P4_16 specification, sections 8.17 to 8.20).

use crate::common::switch::{Parts, SMALL, Switch};

fn with_apply(types: &str, apply: &str) -> Switch {
    let apply = format!("sm.egress_spec = 2; {apply}");
    Parts {
        types,
        ingress_apply: &apply,
        ..Parts::small()
    }
    .load()
}

#[test]
fn an_invalid_header_is_not_emitted_and_keeps_no_value() {
    let apply = "if (hdr.h.a == 1) { hdr.h.setInvalid(); } hdr.h.b = 5; if (!hdr.h.isValid()) { sm.egress_spec = 3; }";
    let mut switch = with_apply(SMALL, apply);
    assert_eq!(switch.forward(&[1, 2, 3, 4, 77]), (3, vec![77]));
    assert_eq!(switch.forward(&[2, 2, 3, 4, 77]), (2, vec![2, 5, 3, 4, 77]));
}

#[test]
fn a_copied_header_is_as_valid_as_the_original() {
    let types =
        "header h_t { bit<8> a; bit<8> b; bit<16> c; } struct headers_t { h_t h; h_t i; } struct meta_t { bit<8> x; }";
    let apply = "h_t none; hdr.i = hdr.h; hdr.i.a = 9; if (hdr.h.a == 1) { hdr.i = none; } if (hdr.i == hdr.h) { hdr.h.b = 1; }";
    let mut switch = Parts {
        types,
        ingress_apply: &format!("sm.egress_spec = 2; {apply}"),
        deparser: "p.emit(hdr.h); p.emit(hdr.i);",
        ..Parts::small()
    }
    .load();
    assert_eq!(switch.forward(&[1, 0, 0, 0]).1, [1, 0, 0, 0]);
    assert_eq!(switch.forward(&[2, 0, 0, 0]).1, [2, 0, 0, 0, 9, 0, 0, 0]);
    assert_eq!(switch.forward(&[9, 0, 0, 0]).1, [9, 1, 0, 0, 9, 0, 0, 0]);
}

#[test]
fn a_header_assigned_a_list_becomes_valid() {
    let types =
        "header h_t { bit<8> a; bit<8> b; bit<16> c; } struct headers_t { h_t h; h_t i; } struct meta_t { bit<8> x; }";
    let mut switch = Parts {
        types,
        ingress_apply: "sm.egress_spec = 2; hdr.i = { 1, hdr.h.a, 3 }; hdr.h = (h_t){#};",
        deparser: "p.emit(hdr.h); p.emit(hdr.i);",
        ..Parts::small()
    }
    .load();
    assert_eq!(switch.forward(&[8, 0, 0, 0]).1, [1, 8, 0, 3]);
}

const STACK: &str = "header h_t { bit<8> a; bit<8> b; bit<16> c; } header s_t { bit<8> v; }
    struct headers_t { h_t h; s_t[3] s; } struct meta_t { bit<8> x; }";

fn with_stack(apply: &str) -> Switch {
    Parts {
        types: STACK,
        parser: "state start { p.extract(hdr.h); transition select(hdr.h.a) { 0: accept; default: more; } }
                 state more { p.extract(hdr.s.next); transition select(hdr.s.last.v) { 0: accept; default: more; } }",
        ingress_apply: &format!("sm.egress_spec = 2; {apply}"),
        deparser: "p.emit(hdr.h); p.emit(hdr.s);",
        ..Parts::default()
    }
    .load()
}

#[test]
fn pushing_shifts_elements_towards_the_end_and_leaves_invalid_ones_in_front() {
    let mut switch = with_stack("hdr.s.push_front(2); hdr.s[1].setValid(); hdr.s[1].v = 0x55;");
    assert_eq!(switch.forward(&[1, 0, 0, 0, 7, 0]).1, [1, 0, 0, 0, 0x55, 7]);
}

#[test]
fn popping_shifts_elements_towards_the_front() {
    let mut switch = with_stack("hdr.s.pop_front(1); if (!hdr.s[2].isValid()) { hdr.h.b = 1; }");
    assert_eq!(switch.forward(&[1, 0, 0, 0, 7, 8, 0]).1, [1, 1, 0, 0, 8, 0]);
}

#[test]
fn an_index_may_be_computed() {
    let mut switch = with_stack("hdr.s[hdr.h.b].v = hdr.s[hdr.h.c[7:0]].v + 1; hdr.h.c = (bit<16>)hdr.s.size;");
    assert_eq!(switch.forward(&[1, 2, 0, 1, 7, 8, 0]).1, [1, 2, 0, 3, 7, 8, 9]);
}

const UNION: &str =
    "header h_t { bit<8> a; bit<8> b; bit<16> c; } header one_t { bit<8> v; } header two_t { bit<16> v; }
    header_union either_t { one_t one; two_t two; }
    struct headers_t { h_t h; either_t u; } struct meta_t { bit<8> x; }";

#[test]
fn at_most_one_member_of_a_union_is_valid() {
    let mut switch = Parts {
        types: UNION,
        parser: "state start { p.extract(hdr.h); transition select(hdr.h.a) { 1: one; 2: two; default: accept; } }
                 state one { p.extract(hdr.u.one); transition accept; }
                 state two { p.extract(hdr.u.two); transition accept; }",
        ingress_apply: "sm.egress_spec = 2; if (hdr.u.isValid()) { hdr.h.b = 1; }
            if (hdr.u.one.isValid()) { hdr.u.two.setValid(); hdr.u.two.v = 0x1234; }
            if (hdr.u.one.isValid()) { hdr.h.b = 99; }",
        deparser: "p.emit(hdr.h); p.emit(hdr.u);",
        ..Parts::default()
    }
    .load();
    assert_eq!(switch.forward(&[0, 0, 0, 0, 5]).1, [0, 0, 0, 0, 5]);
    assert_eq!(switch.forward(&[1, 0, 0, 0, 5]).1, [1, 1, 0, 0, 0x12, 0x34]);
    assert_eq!(switch.forward(&[2, 0, 0, 0, 5, 6]).1, [2, 1, 0, 0, 5, 6]);
}

#[test]
fn sizes_of_types_are_known_when_compiling() {
    let mut switch = with_apply(
        SMALL,
        "hdr.h.a = (bit<8>)hdr.h.minSizeInBits(); hdr.h.b = (bit<8>)h_t.minSizeInBytes(); hdr.h.c = 0;",
    );
    assert_eq!(switch.forward(&[0, 0, 0, 0]).1, [32, 4, 0, 0]);
}
