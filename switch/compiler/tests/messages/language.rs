//! Messages on names, types and calls in whole programs.

use super::{apply_says, ingress_says, parser_says, parts_say, says, top_level_says};
use crate::common::switch::Parts;

#[test]
fn unknown_names() {
    apply_says("hdr.h.aa = 1;", &["no field 'aa' in h_t; did you mean 'a'?"]);
    apply_says("hdr.h.d = 1;", &["no field 'd' in h_t; did you mean 'a'?"]);
    apply_says("hdr.h.length = 1;", &["no field 'length' in h_t; it has a, b, c"]);
    apply_says("hrd.h.a = 1;", &["no name 'hrd' is declared here; did you mean 'hdr'?"]);
    apply_says(
        "hdr.h.isvalid();",
        &["no method 'isvalid' of h_t; did you mean 'isValid'?"],
    );
    apply_says(
        "mark_to_dorp(sm);",
        &["no function or action 'mark_to_dorp' is declared here; did you mean 'mark_to_drop'?"],
    );
    apply_says(
        "sm.egres_spec = 1;",
        &["no field 'egres_spec' in standard_metadata_t; did you mean 'egress_spec'?"],
    );
    apply_says("bit8 x;", &["no type 'bit8' is declared here"]);
    apply_says(
        "if (sm.parser_error == error.Nomatch) {}",
        &["no error 'Nomatch' is declared; did you mean 'NoMatch'?"],
    );
    top_level_says(
        "const int KEPT = 1; struct more_t { @field_list(KEBT) bit<8> a; }",
        &["no name 'KEBT' is declared here; did you mean 'KEPT'?"],
    );
    apply_says("bit<32> r; random(r, 0, 5, 6);", &["random takes 3 argument(s), not 4"]);
    top_level_says(
        "enum Colour { one, two } const Colour e = Colour.three;",
        &["no member 'three' in Colour; it has one, two"],
    );
    ingress_says(
        "register<bit<8>>(1) r; action f() { r.raed(hdr.h.a, 0); } table t { actions = { f; } }",
        &["no method 'raed' in extern register; did you mean 'read'?"],
    );
}

#[test]
fn names_declared_twice() {
    apply_says(
        "bit<8> x; bit<8> x;",
        &["'x' is declared twice; it is a variable at test.p4:10:99"],
    );
    ingress_says(
        "action f() {} action f() {}",
        &["'f' is declared twice; it is an action at test.p4:10:90"],
    );
    top_level_says(
        "header h_t { }",
        &["'h_t' is declared twice; it is a type at test.p4:4:8"],
    );
    top_level_says(
        "void f() {} void f() {}",
        &["'f' with 0 parameter(s) is declared twice"],
    );
    parser_says(
        "state start { transition accept; } state start { transition accept; }",
        &["the state 'start' is declared twice"],
    );
}

#[test]
fn tables() {
    ingress_says(
        "table t { key = { hdr.h.a: exactly; } actions = { NoAction; } }",
        &["no match kind 'exactly' is declared; did you mean 'exact'?"],
    );
    ingress_says(
        "table t { key = { hdr.h.a: exact; } }",
        &["the table 't' has no property 'actions'"],
    );
    ingress_says(
        "table t { key = { hdr.h.a: exact; } actions = { drop; } }",
        &["no action 'drop' is declared here"],
    );
    ingress_says(
        "action drop() {} table t { key = { hdr.h.a: exact; } actions = { drop; } default_action = NoAction(); }",
        &["the action 'NoAction' is not in the table's list of actions; it lists drop"],
    );
    ingress_says(
        "action set(bit<8> x) {} table t { key = { hdr.h.a: exact; } actions = { set; } default_action = set(); }",
        &["set takes 1 argument(s), not 0: 'x' is missing"],
    );
    ingress_says(
        "table t { key = { hdr.h.a: exact; } actions = { NoAction; } const entries = { (1, 2): NoAction; } }",
        &["the table has 1 key field(s), but the entry has 2"],
    );
    ingress_says(
        "table t { key = { hdr.h.a: exact; } actions = { NoAction; } const entries = { 1 .. 2: NoAction; } }",
        &["a key field of kind exact does not match this"],
    );
    ingress_says(
        "table t { actions = { NoAction; } const entries = { 1: NoAction; } }",
        &["a table without a key cannot have entries"],
    );
    ingress_says(
        "table t { key = { hdr.h: exact; } actions = { NoAction; } }",
        &["a key field is a number, bool, enum or error, not h_t"],
    );
    ingress_says(
        "table t { actions = { NoAction; } size = 1; size = 2; }",
        &["the property 'size' is given twice"],
    );
    ingress_says(
        "table t { actions = { NoAction; } siez = 1; }",
        &["the property 'siez' has no meaning in v1model and is ignored; did you mean 'size'?"],
    );
    ingress_says(
        "action f(bit<8> n, in bit<8> x) {} table t { actions = { f(hdr.h.a); } }",
        &["'x' has a direction; such parameters come before those that the control plane gives"],
    );
    ingress_says(
        "table t { actions = { NoAction; NoAction; } }",
        &["this action is listed twice"],
    );
    let ingress = "table t { actions = { NoAction; } }";
    let parts = |ingress_apply| Parts {
        ingress,
        ingress_apply,
        ..Parts::small()
    };
    parts_say(parts("t.aply();"), &["a table has only apply(), not 'aply'"]);
    parts_say(parts("t();"), &["a table is applied: t.apply()"]);
    parts_say(
        parts("if (t.apply()) {}"),
        &["the condition must be bool, not result of t.apply()"],
    );
    parts_say(
        parts("if (t.apply().hits) {}"),
        &["the result of apply() has no 'hits'; did you mean 'hit'?"],
    );
    parts_say(
        parts("switch (t.apply().action_run) { drop: {} }"),
        &["no action 'drop' in table t; it has NoAction"],
    );
    parts_say(parts("t.apply(1);"), &["a table's apply() takes no arguments"]);
}

#[test]
fn parsers() {
    parser_says(
        "state first { transition accept; }",
        &["the parser 'P' has no state 'start'"],
    );
    parser_says(
        "state start { transition strat; }",
        &["no state 'strat' in this parser; did you mean 'start'?"],
    );
    parser_says(
        "state start { p.extract(hdr); transition accept; }",
        &["BMv2 extracts to a header, or to the next element of a stack"],
    );
    parser_says(
        "state start { p.extract(hdr.h, 8); transition accept; }",
        &["extract takes a size only for headers with a varbit field"],
    );
    parser_says(
        "state start { p.extrat(hdr.h); transition accept; }",
        &["no method 'extrat' in extern packet_in; did you mean 'extract'?"],
    );
    parser_says("state start { return; }", &["'return' does not stand in parsers"]);
    parser_says(
        "state start { transition select(meta.kept) { 256: accept; } }",
        &["256 does not fit in bit<8>; it becomes 0"],
    );
    parser_says(
        "state start { transition select(1) { 1: accept; } }",
        &["a select key needs a width, as in 8w1"],
    );
    apply_says("hdr.h.a = hdr.h.next;", &["no field 'next' in h_t; it has a, b, c"]);
}

#[test]
fn places() {
    apply_says("break;", &["'break' and 'continue' stand in loops only"]);
    apply_says("return 1;", &["nothing can be returned here"]);
    apply_says("1 = hdr.h.a;", &["a statement expected, not 1"]);
    apply_says(
        "sm = hdr.h;",
        &["the assigned value must be standard_metadata_t, not h_t"],
    );
    top_level_says(
        "const bit<8> one = 1; action f() { one = 2; }",
        &["this cannot be written: it is a value, not a variable or field"],
    );
    ingress_says(
        "action f(bit<8> x) { x = 1; } table t { actions = { f; } }",
        &["'x' cannot be written: it is a parameter without direction"],
    );
    top_level_says(
        "bit<8> f() { mark(); return 1; }",
        &["no function or action 'mark' is declared here"],
    );
    top_level_says(
        "action f() {} void g() { f(); }",
        &["actions can be called in controls and actions only"],
    );
    parser_says("state start { exit; }", &["'exit' stands in controls and actions only"]);
}

#[test]
fn packages() {
    says(
        "#include <core.p4>\n#include <v1model.p4>\n",
        &["2:22: no instance 'main' of a package: V1Switch(...) main;"],
    );
    let source = Parts::small().source();
    says(
        &source.replace(
            "V1Switch(P(), V(), I(), E(), C(), D()) main;",
            "V1Switch(P(), V(), I(), E(), C()) main;",
        ),
        &["14:35: V1Switch takes 6 argument(s), not 5: 'dep' is missing"],
    );
    says(
        &source.replace("I(), E()", "I(), C()"),
        &[
            "14:25: the argument 'eg' of V1Switch must have the parameters (inout headers_t, inout meta_t, inout standard_metadata_t), but C has (inout headers_t, inout meta_t)",
        ],
    );
    says(
        &source.replace("control V(inout headers_t hdr,", "control V(in headers_t hdr,"),
        &[
            "14:15: the argument 'vr' of V1Switch must have the parameters (inout headers_t, inout meta_t), but V has (in headers_t, inout meta_t)",
        ],
    );
    says(
        &source.replace("V1Switch(P()", "V2Switch(P()"),
        &["14:1: no type 'V2Switch' is declared here; did you mean 'V1Switch'?"],
    );
}

#[test]
fn actions_of_a_table_that_it_may_not_use_so() {
    let table = |rest: &str| {
        format!(
            "action f() {{}} action g() {{}}
             table t {{ key = {{ hdr.h.a: exact; }} actions = {{ @tableonly f; @defaultonly g; }} {rest} }}"
        )
    };
    ingress_says(&table("default_action = g; const entries = { 1: f; }"), &[]);
    ingress_says(
        &table("default_action = f;"),
        &["the action 'f' is listed as @tableonly"],
    );
    ingress_says(
        &table("default_action = g; const entries = { 1: g; }"),
        &["the action 'g' is listed as @defaultonly"],
    );
}

#[test]
fn priorities_of_entries() {
    let table = |kind: &str, entries: &str| {
        format!("table t {{ key = {{ hdr.h.a: {kind}; }} actions = {{ NoAction; }} {entries} }}")
    };
    let two = "entries = { priority = 10: 1: NoAction; 2: NoAction; }";
    ingress_says(&table("ternary", two), &[]);
    ingress_says(
        &table("exact", two),
        &["entries have no priority in a table whose keys are all exact or lpm"],
    );
    ingress_says(
        &table("ternary", "entries = { 1: NoAction; priority = 10: 2: NoAction; }"),
        &["the first entry needs a priority, as others have one"],
    );
    ingress_says(
        &table(
            "ternary",
            "priority_delta = 20; entries = { priority = 10: 1: NoAction; 2: NoAction; }",
        ),
        &["the priority of this entry would be -10; it must be from 0 to 2147483647"],
    );
    ingress_says(
        &table("optional", "const entries = { 1 &&& 3: NoAction; }"),
        &["a key field of kind optional does not match this"],
    );
}

#[test]
fn what_may_not_stand_there() {
    top_level_says(
        "control Inner() { apply {} } Inner() one;",
        &["a parser or control is not declared at the top level; an argument of a package is"],
    );
    top_level_says(
        "bit<8> f(in int x) { return 1; }",
        &["a parameter of type int has no direction"],
    );
    let types = format!("{}bit<8> one() {{ return 1; }}", crate::common::switch::SMALL);
    parts_say(
        Parts {
            types: &types,
            parser: "state start { p.extract(hdr.h); transition select(hdr.h.a) { one(): reject; default: accept; } }",
            ..Parts::small()
        },
        &["a set to match calls nothing; give its value a name first"],
    );
    top_level_says(
        "@p4runtime_translation(\"x\", bit<32>) type bit<8> a_t; @p4runtime_translation(\"\", string) type bit<8> b_t;",
        &[],
    );
    let wrong = "a translation is @p4runtime_translation(\"uri\", bit<N>), or a number of bits or string in its place";
    top_level_says("@p4runtime_translation(\"x\", bool) type bit<8> t_t;", &[wrong]);
    top_level_says(
        "bit<8> f() { return 1; } @values[1, f()] struct s_t { bit<8> x; }",
        &["a value in an annotation must be a number, bool or string known when compiling"],
    );
}

#[test]
fn parsers_without_an_end() {
    parser_says(
        "state start { transition more; } state more { transition select(sm.ingress_port) { 1: start; default: more; } }",
        &["the parser 'P' never reaches accept or reject"],
    );
    // It is possible that no case matches: then the packet is rejected.
    parser_says(
        "state start { p.extract(hdr.h); transition select(hdr.h.a) { 1: start; } }",
        &[],
    );
}

#[test]
fn actions_of_one_name_for_the_control_plane() {
    ingress_says(
        "@name(\".f\") action f() {} @name(\".f\") action g() {} table t { actions = { f; g; } }",
        &["two actions have the name 'f' for the control plane"],
    );
}

#[test]
fn functions_with_type_parameters() {
    let says = |function: &str, call: &str, expected: &[&str]| {
        let types = format!("{}{function}", crate::common::switch::SMALL);
        let parts = Parts {
            types: &types,
            ingress_apply: call,
            ..Parts::small()
        };
        parts_say(parts, expected);
    };
    says(
        "T any<T>() { T x; return x; }",
        "hdr.h.a = any();",
        &["the arguments do not say the type T; write it in <>"],
    );
    says("T any<T>() { T x; return x; }", "hdr.h.a = any<bit<8>>();", &[]);
    says(
        "T same<T>(in T x, in T y) { return x; }",
        "hdr.h.a = same(hdr.h.a, true);",
        &["the argument 'y' of same must be bit<8>, not bool"],
    );
    says(
        "T again<T>(in T x) { return again(x); }",
        "hdr.h.a = again(hdr.h.a);",
        &["'again' calls itself"],
    );
    says(
        "T more<T>(in T x) { return x + 1; }",
        "bool b = more(true);",
        &["'+' takes bit<N> or int<N>, not bool; '&&' and '||' take bool"],
    );
    says("T never<T>(in T x) { }", "", &[]);
}
