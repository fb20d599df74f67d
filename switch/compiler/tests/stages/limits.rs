//! Each refusal with its place, and what is just within the limit.

use p4sched_compiler::{Arch, Placed};

use crate::{HERE, Program, program};

fn messages(placed: &Placed) -> Vec<String> {
    let all = placed.messages.iter();
    let shown = all.map(|d| match &d.position {
        Some(p) => format!("{}:{}:{}: {}", p.file, p.line, p.column, d.message),
        None => d.message.clone(),
    });
    shown.collect()
}

/// The program is refused at the mark with a message that begins so, and nothing else is said.
#[track_caller]
fn refused(program: &Program, message: &str) {
    let source = program.source();
    let at = source.find(HERE).expect("a mark in the program") + HERE.len();
    let line = source[..at].lines().count();
    let column = source[..at].lines().last().unwrap_or("").chars().count() + 1;
    let said = messages(&program.place());
    let expected = format!("test.p4:{line}:{column}: {message}");
    assert!(
        said.len() == 1 && said[0].starts_with(&expected),
        "expected\n{expected}\nbut it says\n{}\nto\n{source}",
        said.join("\n")
    );
    // One sentence says what is wrong, and one what to do.
    let sentences = said[0].trim_end_matches('.').matches(". ").count() + 1;
    assert_eq!(sentences, 2, "{}", said[0]);
}

#[track_caller]
fn fits(program: &Program) {
    let said = messages(&program.place());
    assert!(said.is_empty(), "{}\nto\n{}", said.join("\n"), program.source());
}

/// A register of one number, a RegisterAction with a body, and its run.
fn with_body(arch: Arch, cell: &str, body: &str, check: impl FnOnce(&Program)) {
    let declarations = format!(
        "Register<{cell}, bit<16>>(1024) r;
RegisterAction<{cell}, bit<16>, bit<32>>(r) /*at*/run = {{
    void apply(inout {cell} value, out bit<32> rv) {{
        rv = 0;
        {body}
    }}
}};"
    );
    check(&program(
        arch,
        &declarations,
        "meta.x = run.execute(hdr.h.c); hdr.h.d = meta.x;",
    ));
}

#[track_caller]
fn body_refused(arch: Arch, cell: &str, body: &str, message: &str) {
    with_body(arch, cell, body, |p| refused(p, message));
}

#[track_caller]
fn body_fits(arch: Arch, cell: &str, body: &str) {
    with_body(arch, cell, body, fits);
}

const ONE: &str = "bit<32>";
const PAIR: &str = "pair_t";

#[test]
fn a_stateful_alu_computes_once_in_two_ways() {
    body_fits(Arch::Tna, ONE, "value = value + hdr.h.d; rv = value;");
    body_fits(Arch::Tna, ONE, "value = value |-| 1;");
    body_fits(Arch::Tna, ONE, "value = max(value, hdr.h.d);");
    body_fits(
        Arch::Tna,
        ONE,
        "if (value > 5) { value = 0; } else { value = value + 1; }",
    );
    body_fits(
        Arch::Tna,
        PAIR,
        "if (value.lo < hdr.h.d) { value.lo = value.lo + 1; value.hi = hdr.h.e; } rv = value.hi;",
    );
    body_refused(
        Arch::Tna,
        ONE,
        "/*!*/value = value + hdr.h.d + hdr.h.e;",
        "the stateful ALU has no room for 'value + hdr.h.d + hdr.h.e'"
            .replace("hdr.", "")
            .as_str(),
    );
    body_refused(
        Arch::Tna,
        ONE,
        "/*!*/value = value << 1;",
        "the stateful ALU has no room for",
    );
    body_refused(
        Arch::Tna,
        ONE,
        "/*!*/value = value * 3;",
        "the stateful ALU has no room for",
    );
    body_refused(
        Arch::Tna,
        PAIR,
        "/*!*/value.lo = value.lo + value.hi;",
        "'value.lo + value.hi' takes both numbers from the register",
    );
    body_refused(
        Arch::Tna,
        ONE,
        "/*!*/value = hdr.h.d + hdr.h.e;",
        "'h.d + h.e' takes both numbers from outside of the register",
    );
    body_refused(
        Arch::Tna,
        ONE,
        "if (value == 1) { value = 2; } else if (value == 2) { value = 3; } else { /*!*/value = 4; }",
        "the register's value becomes one of 3",
    );
}

#[test]
fn the_value_is_old_in_computations_and_new_in_results() {
    body_fits(Arch::Tna, ONE, "rv = value; value = value + 1;");
    body_refused(
        Arch::Tna,
        ONE,
        "value = value + 1; /*!*/rv = value + hdr.h.d;",
        "the register's value is used after it is changed",
    );
    body_refused(
        Arch::Tna,
        ONE,
        "value = hdr.h.d; if (hdr.h.e == 1) { /*!*/value = 3; }",
        "the register's value is assigned twice on one path",
    );
}

#[test]
fn a_comparison_takes_a_number_of_the_cell_one_field_and_a_constant() {
    body_fits(
        Arch::Tna,
        PAIR,
        "if (value.lo - hdr.h.d < 100 && value.hi == 0) { rv = 1; }",
    );
    body_fits(
        Arch::Tna,
        ONE,
        "if (value < hdr.h.d) { rv = 1; } else if (value >= hdr.h.d) { rv = 1; }",
    );
    body_refused(
        Arch::Tna,
        PAIR,
        "if (/*!*/value.lo < value.hi) { rv = 1; }",
        "'value.lo < value.hi' compares two numbers of the register",
    );
    body_refused(
        Arch::Tna,
        ONE,
        "if (/*!*/hdr.h.d < hdr.h.e) { value = 1; }",
        "'h.d < h.e' compares two fields from outside of the register",
    );
    body_refused(
        Arch::Tna,
        ONE,
        "if (/*!*/value << 1 < hdr.h.e) { value = 1; }",
        "'value << 1 < h.e' computes too much for a comparison",
    );
}

/// A body with so many conditions.
fn conditions(n: usize) -> String {
    let all: Vec<String> = (1..=n).map(|i| format!("value == {i}")).collect();
    format!("if ({}) {{ rv = 1; }}", all.join(" || "))
}

fn at_action(arch: Arch, body: &str, message: &str) {
    with_body(arch, ONE, body, |p| {
        let declarations = p.declarations.replace("/*at*/", HERE);
        refused(
            &Program {
                declarations: &declarations,
                ..*p
            },
            message,
        );
    });
}

#[test]
fn a_stateful_alu_has_two_or_four_comparisons() {
    body_fits(Arch::Tna, ONE, &conditions(2));
    at_action(Arch::Tna, &conditions(3), "the RegisterAction has 3 conditions");
    body_fits(Arch::T2na, ONE, &conditions(4));
    at_action(Arch::T2na, &conditions(5), "the RegisterAction has 5 conditions");
}

#[test]
fn a_stateful_alu_takes_two_fields() {
    body_fits(Arch::Tna, ONE, "if (value == hdr.h.d) { value = hdr.h.e; }");
    at_action(
        Arch::Tna,
        "if (value == hdr.h.d) { value = hdr.h.e; } else { value = meta.y; }",
        "the RegisterAction uses 'h.d', 'h.e', 'meta.y'",
    );
}

#[test]
fn a_result_is_of_the_cell_or_computed_by_the_half_that_is_free() {
    body_fits(Arch::Tna, ONE, "rv = value - hdr.h.d;");
    body_fits(Arch::Tna, PAIR, "if (value.lo == 0) { rv = value.hi; }");
    body_fits(Arch::Tna, PAIR, "if (value.lo == 0) { rv = 4; }");
    body_refused(
        Arch::Tna,
        PAIR,
        "/*!*/rv = value.lo - hdr.h.d;",
        "what is returned must be computed",
    );
    body_refused(
        Arch::Tna,
        PAIR,
        "if (value.lo == 0) { /*!*/rv = value.lo; } else { rv = value.hi; }",
        "what is returned must be computed, or differs between branches",
    );
}

#[test]
fn cells_are_one_number_or_a_pair() {
    let declares = |ty: &str| {
        format!(
            "Register<{ty}, bit<16>>(16) {HERE}r;\nRegisterAction<{ty}, bit<16>, {ty}>(r) run = {{ void apply(inout {ty} value, out {ty} rv) {{ rv = value; }} }};"
        )
    };
    refused(
        &program(
            Arch::Tna,
            &declares("bit<24>"),
            "meta.x[23:0] = run.execute(hdr.h.c); hdr.h.d = meta.x;",
        ),
        "a cell of 'pipe.I.r' has numbers of 24 bits",
    );
    fits(&program(Arch::Tna, &declares("bit<16>"), "hdr.h.c = run.execute(0);"));
}

#[test]
fn a_register_has_four_actions() {
    let action = |i: usize, mark: &str| {
        format!(
            "RegisterAction<bit<32>, bit<16>, bit<32>>(r) {mark}run{i} = {{ void apply(inout bit<32> value, out bit<32> rv) {{ rv = value; \
             value = {i}; }} }};\n"
        )
    };
    let declares = |n: usize| {
        let list: String = (0..n).map(|i| action(i, if i == 4 { HERE } else { "" })).collect();
        format!("Register<bit<32>, bit<16>>(16) r;\n{list}")
    };
    let body = |n: usize| {
        let cases: String = (0..n)
            .map(|i| format!("if (hdr.h.a == {i}) {{ hdr.h.d = run{i}.execute(0); }} else "))
            .collect();
        format!("{cases} {{ hdr.h.d = 0; }}")
    };
    fits(&program(Arch::Tna, &declares(4), &body(4)));
    refused(
        &program(Arch::Tna, &declares(5), &body(5)),
        "the register 'pipe.I.r' has 5 RegisterActions",
    );
}

const COUNT: &str = "Register<bit<32>, bit<16>>(1024) r;
RegisterAction<bit<32>, bit<16>, bit<32>>(r) up = { void apply(inout bit<32> value, out bit<32> rv) { value = value + 1; rv = value; } };
RegisterAction<bit<32>, bit<16>, bit<32>>(r) down = { void apply(inout bit<32> value, out bit<32> rv) { value = value - 1; rv = value; } };";

#[test]
fn a_register_is_accessed_once_on_a_path() {
    fits(&program(
        Arch::Tna,
        COUNT,
        "if (hdr.h.a == 1) { hdr.h.d = up.execute(0); } else { hdr.h.d = down.execute(hdr.h.c); }",
    ));
    refused(
        &program(
            Arch::Tna,
            COUNT,
            "if (hdr.h.a == 1) { hdr.h.d = up.execute(0); }\nhdr.h.e = /*!*/down.execute(0);",
        ),
        "the register 'pipe.I.r' is accessed twice on one path",
    );
    // What follows a branch that returns is its opposite.
    fits(&program(
        Arch::Tna,
        COUNT,
        "if (hdr.h.a == 1) { hdr.h.d = up.execute(0); return; }\nhdr.h.e = down.execute(0);",
    ));
}

#[test]
fn one_row_of_a_condition_looks_at_44_bits() {
    let asks = |condition: &str| format!("if (/*!*/{condition}) {{ hdr.h.r1 = 1; }}");
    for (condition, bits) in [
        ("hdr.h.mac == 5", 48),
        ("hdr.h.d == 7 && hdr.h.e == 8", 64),
        ("hdr.h.d == hdr.h.e && hdr.h.c == 1", 48),
    ] {
        let expected = format!("looks at {bits} bits at once");
        let apply = asks(condition);
        let said = messages(&program(Arch::Tna, "", &apply).place());
        assert!(said.len() == 1 && said[0].contains(&expected), "{condition}: {said:?}");
    }
    for condition in [
        "hdr.h.mac[43:0] == 5",
        "hdr.h.d == 7 || hdr.h.e == 8",
        "hdr.h.d != 7 && hdr.h.e != 8",
        "hdr.h.d != 7 && hdr.h.e == 8",
        "hdr.h.d == 7 && hdr.h.a == 3 && hdr.h.b[3:0] == 2",
        "hdr.h.d == hdr.h.e && hdr.h.a == 5",
    ] {
        fits(&program(Arch::Tna, "", &asks(condition)));
    }
}

#[test]
fn a_condition_compares_by_size_with_constants_on_12_bits() {
    fits(&program(Arch::Tna, "", "if (hdr.h.d == hdr.h.e) { hdr.h.a = 1; }"));
    fits(&program(
        Arch::Tna,
        "",
        "if (hdr.h.a < 100 && hdr.h.d == 5) { hdr.h.b = 1; }",
    ));
    fits(&program(Arch::Tna, "", "if (hdr.h.d < 0x10000) { hdr.h.b = 1; }"));
    refused(
        &program(Arch::Tna, "", "if (/*!*/hdr.h.d < hdr.h.e) { hdr.h.a = 1; }"),
        "'h.d' and 'h.e' are compared by size outside of a register",
    );
    refused(
        &program(Arch::Tna, "", "if (/*!*/hdr.h.d < 1001) { hdr.h.a = 1; }"),
        "'h.d < 1001' compares by size on 32 bits",
    );
    refused(
        &program(Arch::Tna, "", "if (/*!*/hdr.h.d - hdr.h.e == 0) { hdr.h.a = 1; }"),
        "'h.d - h.e' is computed in a condition",
    );
}

#[test]
fn an_alu_does_one_operation_on_a_field() {
    fits(&program(
        Arch::Tna,
        "",
        "hdr.h.d = hdr.h.d + hdr.h.e; hdr.h.a[3:0] = hdr.h.b[7:4];",
    ));
    fits(&program(
        Arch::Tna,
        "",
        "hdr.h.d = (bit<32>) hdr.h.c << 4; hdr.h.e = min(hdr.h.d, meta.x);",
    ));
    for (statement, message) in [
        ("hdr.h.d = hdr.h.d * hdr.h.e;", "'h.d * h.e' multiplies"),
        ("hdr.h.d = hdr.h.d << hdr.h.a;", "'h.d << h.a' shifts by a field"),
        (
            "hdr.h.d = hdr.h.d + hdr.h.e + 1;",
            "'h.d + h.e + 1' takes more than one operation",
        ),
        (
            "hdr.h.d = (hdr.h.d & hdr.h.e) << 2;",
            "'h.d & h.e << 2' takes more than one operation",
        ),
    ] {
        refused(&program(Arch::Tna, "", &format!("{HERE}{statement}")), message);
    }
}

#[test]
fn an_action_reads_what_was_there_before() {
    let table = |body: &str| {
        format!(
            "action act(bit<32> p) {{ {body} }}\ntable t {{ key = {{ hdr.h.c : exact; }} actions = {{ act; }} default_action = act(0); size = 16; }}"
        )
    };
    fits(&program(
        Arch::Tna,
        &table("meta.x = p; hdr.h.d = meta.x; hdr.h.e = hdr.h.e + p;"),
        "t.apply();",
    ));
    refused(
        &program(
            Arch::Tna,
            &table("meta.x = hdr.h.d + p; /*!*/hdr.h.e = meta.x;"),
            "t.apply();",
        ),
        "'meta.x' is computed and used in one action",
    );
    refused(
        &program(
            Arch::Tna,
            &table("if (/*!*/hdr.h.a == 1) { hdr.h.d = p; }"),
            "t.apply();",
        ),
        "an action has an 'if'",
    );
    // An action that the control calls is no other.
    refused(
        &program(
            Arch::Tna,
            "action act() { if (/*!*/hdr.h.a == 1) { hdr.h.d = 1; } }",
            "act();",
        ),
        "an action has an 'if'",
    );
    refused(
        &program(
            Arch::Tna,
            "action act() { meta.x = hdr.h.d + 1; /*!*/hdr.h.e = meta.x - 2; }",
            "act();",
        ),
        "'meta.x' is computed and used in one action",
    );
}

#[test]
fn keys_are_as_wide_as_the_crossbar() {
    let table = |key: &str| {
        format!(
            "action act() {{ hdr.h.a = 1; }}\ntable {HERE}t {{ key = {{ {key} }} actions = {{ act; }} default_action = act(); size = 16; }}"
        )
    };
    fits(&program(
        Arch::Tna,
        &table("hdr.h.c : range;").replace(HERE, ""),
        "t.apply();",
    ));
    refused(
        &program(Arch::Tna, &table("hdr.h.d : range;"), "t.apply();"),
        "the key 'hdr.h.d' of kind range has 32 bits",
    );
}

#[test]
fn the_programs_own_entries_need_another_key_than_lpm() {
    let table = |key: &str, entries: &str| {
        format!(
            "action act() {{ hdr.h.a = 1; }}\ntable {HERE}t {{ key = {{ hdr.h.d : {key}; }} actions = {{ act; }} default_action = act(); {entries} }}"
        )
    };
    let entries = "const entries = { 0x100 &&& 0xffffff00: act(); }";
    for fitting in [table("lpm", ""), table("ternary", entries)] {
        fits(&program(Arch::Tna, &fitting.replace(HERE, ""), "t.apply();"));
    }
    refused(
        &program(Arch::Tna, &table("lpm", entries), "t.apply();"),
        "the key 'hdr.h.d' of kind lpm",
    );
}

#[test]
fn a_register_fits_a_stage() {
    let declares = |cells: u64| {
        format!(
            "Register<bit<32>, bit<32>>({cells}) r;
RegisterAction<bit<32>, bit<32>, bit<32>>(r) up = {{ void apply(inout bit<32> value, out bit<32> rv) {{ value = value + 1; rv = value; }} }};"
        )
    };
    fits(&program(
        Arch::Tna,
        &declares(131_072),
        "hdr.h.d = up.execute(hdr.h.e);",
    ));
    refused(
        &program(Arch::Tna, &declares(1 << 20), "hdr.h.d = /*!*/up.execute(hdr.h.e);"),
        "'test.p4:24' takes 257 SRAM blocks",
    );
}

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
