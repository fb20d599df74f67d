//! Limits of stateful ALUs: registers, RegisterActions and accesses.

use p4sched_compiler::Arch;

use super::{COUNT, HERE, Program, fits, program, refused};

/// Checks a program with a register of one number and a RegisterAction with this body.
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

/// A body with `n` conditions.
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
    // The statements after a branch that returns run under the opposite condition.
    fits(&program(
        Arch::Tna,
        COUNT,
        "if (hdr.h.a == 1) { hdr.h.d = up.execute(0); return; }\nhdr.h.e = down.execute(0);",
    ));
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
