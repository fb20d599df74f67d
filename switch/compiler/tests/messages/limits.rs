//! Every entry of `LIMITATIONS.md`: a program and its message.

use super::{apply_says, ingress_says, parser_says, parts_say, top_level_says};
use crate::common::switch::Parts;

#[test]
fn overloads_by_type() {
    top_level_says(
        "void f(in bit<8> x) {} void f(in bit<16> x) {}",
        &["'f' with 1 parameter(s) is declared twice"],
    );
}

#[test]
fn types_declared_in_a_typedef() {
    top_level_says(
        "typedef struct x_t { bit<8> x; } y_t;",
        &["declare the type first, then give it another name"],
    );
}

#[test]
fn division_by_variables_and_of_signed_values() {
    apply_says(
        "hdr.h.a = hdr.h.b / hdr.h.a;",
        &["'/' divides by a value that is not known when compiling; only constants can divide"],
    );
    apply_says("hdr.h.a = 0 / hdr.h.b; hdr.h.c = 0 % hdr.h.c;", &[]);
    apply_says(
        "int<8> x = (int<8>)hdr.h.a; hdr.h.a = (bit<8>)(x / 2);",
        &["'/' is not defined for signed values"],
    );
}

#[test]
fn a_control_applied_directly_at_two_places() {
    let types = format!(
        "{}control Sub(inout headers_t hdr) {{ table t {{ key = {{ hdr.h.a: exact; }} actions = {{ NoAction; }} }} apply {{ t.apply(); }} }}",
        crate::common::switch::SMALL
    );
    let parts = |ingress_apply| Parts {
        types: &types,
        ingress_apply,
        ..Parts::small()
    };
    parts_say(parts("Sub.apply(hdr);"), &[]);
    parts_say(
        parts("Sub.apply(hdr); Sub.apply(hdr);"),
        &[
            "two tables have the name 'I.Sub.t' for the control plane; a control that is applied directly has one name at each place: declare an instance for each",
        ],
    );
}

#[test]
fn default_actions_of_tables_with_an_action_profile() {
    let table = |default: &str| {
        format!(
            "action f() {{}} table t {{ key = {{ hdr.h.a: exact; }} actions = {{ f; NoAction; }} {default} implementation = action_profile(8); }}"
        )
    };
    ingress_says(&table(""), &[]);
    ingress_says(&table("default_action = NoAction();"), &[]);
    ingress_says(
        &table("default_action = f();"),
        &["a table with an action profile has no default action on this target; this one is dropped"],
    );
}

#[test]
fn headers_of_broken_bytes() {
    let types = "header h_t { bit<4> a; } struct headers_t { h_t h; } struct meta_t { bit<8> x; }";
    parts_say(
        Parts {
            types,
            ..Parts::small()
        },
        &["the header h_t has 4 bits; BMv2 takes headers whose bits are a multiple of 8, so 4 more are needed"],
    );
}

#[test]
fn tables() {
    ingress_says(
        "table t { key = { hdr.h.a: lpm; hdr.h.b: lpm; } actions = { NoAction; } }",
        &["BMv2 takes at most one key field of kind lpm in a table; use ternary for the others"],
    );
    let ingress = "table t { key = { hdr.h.a: exact; } actions = { NoAction; } }";
    let parts = |ingress_apply| Parts {
        ingress,
        ingress_apply,
        ..Parts::small()
    };
    parts_say(
        parts("for (bit<8> i = 0; i < hdr.h.a; i = i + 1) { t.apply(); }"),
        &["BMv2 cannot apply tables in a loop"],
    );
    parts_say(
        parts("t.apply(); hdr.h.b = 1; t.apply();"),
        &[
            "the table 'I.t' is applied more than once, and not the same follows each time; the switch's JSON cannot say that. Give each its own table",
        ],
    );
    let types = format!(
        "{} control Sub(in bit<8> x) {{ table t {{ key = {{ x: exact; }} actions = {{ NoAction; }} }} apply {{ t.apply(); }} }}",
        crate::common::switch::SMALL
    );
    parts_say(
        Parts {
            types: &types,
            ingress: "Sub() sub;",
            ingress_apply: "if (hdr.h.c == 1) { sub.apply(hdr.h.a); } else { sub.apply(hdr.h.b); }",
            ..Parts::small()
        },
        &["the table 't' is applied twice with different keys"],
    );
}

#[test]
fn arrays_that_the_switch_has_no_memory_for() {
    super::ingress_says("register<bit<64>>(0x4000000) fits;", &[]);
    super::ingress_says(
        "register<bit<64>>(0x3fffffe) most; counter(2, CounterType.bytes) too_many;",
        &["registers and counters take more than 512 MiB with this one"],
    );
    super::ingress_says(
        "register<bit<65>>(0x80000000) huge;",
        &["registers and counters take more than 512 MiB with this one"],
    );
    super::ingress_says(
        "meter(0x400000, MeterType.bytes) fits; meter(1, MeterType.bytes) too_many;",
        &["there are more than 4194304 meters with these"],
    );
}

#[test]
fn conditions_in_the_deparser() {
    parts_say(
        Parts {
            deparser: "if (hdr.h.isValid()) { p.emit(hdr.h); }",
            ..Parts::small()
        },
        &["BMv2's deparser takes no conditions: invalid headers are skipped anyway"],
    );
}

#[test]
fn registers_of_structs() {
    ingress_says(
        "register<h_t>(4) r;",
        &["a register of BMv2 holds numbers, not h_t; use a register for each field"],
    );
}

#[test]
fn other_packages_than_v1switch() {
    let source = "package Other(Parser<headers_t, meta_t> p); Other(P()) main;";
    let whole = Parts::small().source();
    let text = whole.replace("V1Switch(P(), V(), I(), E(), C(), D()) main;", source);
    super::says(&text, &["14:56: 'main' must be an instance of V1Switch, not of Other"]);
}

#[test]
fn externs_of_other_architectures() {
    top_level_says("extern void cipher(inout bit<8> x);", &[]);
    let types = format!("{} extern void cipher(inout bit<8> x);", crate::common::switch::SMALL);
    parts_say(
        Parts {
            types: &types,
            ingress_apply: "cipher(hdr.h.a);",
            ..Parts::small()
        },
        &["the extern function 'cipher' is not known to BMv2's simple_switch"],
    );
    let types = format!("{} extern Box {{ Box(); }}", crate::common::switch::SMALL);
    parts_say(
        Parts {
            types: &types,
            ingress: "Box() box;",
            ..Parts::small()
        },
        &["the extern Box is not supported by BMv2's simple_switch"],
    );
}

#[test]
fn the_length_of_a_packet() {
    parser_says(
        "state start { bit<32> n = p.length(); transition accept; }",
        &["'length' is not supported by BMv2; standard_metadata.packet_length is"],
    );
}

#[test]
fn value_sets_within_a_case() {
    parser_says(
        "value_set<bit<8>>(4) known; state start { p.extract(hdr.h); transition select(hdr.h.a, hdr.h.b) { (known, 1): accept; default: reject; } }",
        &["BMv2 takes a value set only as the whole of a case"],
    );
}

#[test]
fn long_loops_over_known_ranges() {
    apply_says(
        "for (bit<16> i in 1 .. 5000) { hdr.h.c = hdr.h.c + i; }",
        &["the loop runs 5000 times; at most 1024 are allowed"],
    );
}

#[test]
fn stacks_in_unions_and_dynamic_union_indexes() {
    let types = "header h_t { bit<8> a; bit<8> b; bit<16> c; } header one_t { bit<8> v; } header two_t { bit<16> v; }
        header_union u_t { one_t one; two_t two; } struct headers_t { h_t h; u_t[2] u; } struct meta_t { bit<8> kept; }";
    parts_say(
        Parts {
            types,
            ingress_apply: "if (hdr.u[hdr.h.a].isValid()) { hdr.h.b = 1; }",
            ..Parts::small()
        },
        &["this index is not supported by BMv2"],
    );
}

#[test]
fn programs_that_inlining_makes_too_large() {
    let mut declarations = String::from("void f0(inout bit<8> x) { x = x + 1; x = x * 3; }");
    for i in 1..40 {
        declarations += &format!("void f{i}(inout bit<8> x) {{ f{0}(x); f{0}(x); }}", i - 1);
    }
    let types = format!("{}{declarations}", crate::common::switch::SMALL);
    parts_say(
        Parts {
            types: &types,
            ingress_apply: "f39(hdr.h.a);",
            ..Parts::small()
        },
        &["the program becomes too large when its controls and functions are inlined"],
    );
}

#[test]
fn structs_with_very_many_fields() {
    let mut declarations = String::from("struct s0 { bit<8> a; bit<8> b; }");
    for i in 1..40 {
        declarations += &format!("struct s{i} {{ s{0} a; s{0} b; }}", i - 1);
    }
    top_level_says(
        &declarations,
        &["'s16' has 131072 fields with those of its fields; at most 100000 are allowed"],
    );
}

#[test]
fn the_next_element_of_a_stack() {
    let types = "header h_t { bit<8> a; } struct headers_t { h_t[2] s; } struct meta_t { bit<8> x; }";
    for use_of_next in ["hdr.s.next.a = 1;", "hdr.s.next = { 1 };", "hdr.s.next.setValid();"] {
        parts_say(
            Parts {
                types,
                parser: &format!("state start {{ {use_of_next} p.extract(hdr.s.next); transition accept; }}"),
                deparser: "p.emit(hdr.s);",
                ..Parts::default()
            },
            &["BMv2 extracts to the next element of a stack, and can do nothing else with it"],
        );
    }
}

#[test]
fn direct_meters_whose_colour_goes_nowhere() {
    let table = |action: &str, meters: &str| {
        format!(
            "direct_meter<bit<2>>(MeterType.packets) m; action f() {{ {action} }}
             table t {{ key = {{ hdr.h.a: exact; }} actions = {{ f; }} {meters} }}"
        )
    };
    ingress_says(&table("bit<2> colour; m.read(colour);", "meters = m;"), &[]);
    ingress_says(
        &table("", "meters = m;"),
        &["no action of 'I.t' reads its direct meter 'I.m'"],
    );
    ingress_says(&table("", ""), &[]);
    ingress_says(
        &table("bit<2> colour; m.read(colour);", ""),
        &["no table has the direct meter 'I.m' as its 'meters'"],
    );
}
