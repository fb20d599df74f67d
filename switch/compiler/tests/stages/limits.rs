//! Limits of actions, conditions and keys, each with its place, and cases just within the limit.

use p4sched_compiler::Arch;

use super::{COUNT, HERE, fits, messages, program, refused};

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
        "hdr.h.d = (bit<32>) hdr.h.c << 4; hdr.h.e = min(hdr.h.e, meta.x);",
    ));
    for (statement, message) in [
        ("hdr.h.d = hdr.h.d * hdr.h.e;", "'h.d * h.e' multiplies"),
        (
            "hdr.h.d = hdr.h.a == 1 ? hdr.h.e : 32w7;",
            "'h.a == 1 ? h.e : 7' chooses in an action",
        ),
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
    // An action called by the control has the same limits.
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
fn statements_that_feed_each_other_are_joined() {
    // The result of a statement is copied or matched, or an action comes between.
    for apply in [
        "meta.x = hdr.h.d + 5; hdr.h.e = meta.x + 7;",
        "meta.x = hdr.h.d & hdr.h.e; hdr.h.e = ~meta.x;",
        "meta.x = hdr.h.d + hdr.h.e; act(); hdr.h.d = meta.x |-| 5;",
        "hdr.h.d = hdr.h.d + hdr.h.e; hdr.h.d = hdr.h.d |-| 5;",
        "if (hdr.h.a == 1) { meta.x = hdr.h.d + hdr.h.e; } hdr.h.d = meta.x |-| 5;",
        "meta.x = hdr.h.d & 0xff; if (meta.x == 7) { hdr.h.a = 1; }",
    ] {
        fits(&program(Arch::Tna, "action act() { hdr.h.e = 1; }", apply));
    }
    for (apply, message) in [
        (
            "meta.x = hdr.h.d + hdr.h.e; /*!*/hdr.h.d = meta.x |-| 5;",
            "'h.d + h.e |-| 5' is computed by statements",
        ),
        (
            "meta.x = hdr.h.d + hdr.h.e; if (hdr.h.a == 1) { /*!*/hdr.h.d = meta.x |-| 5; }",
            "'h.d + h.e |-| 5' is computed by statements",
        ),
        (
            "meta.x = hdr.h.d + hdr.h.e; if (/*!*/meta.x == 0) { hdr.h.a = 1; }",
            "'h.d + h.e' is computed in a condition",
        ),
    ] {
        refused(&program(Arch::Tna, "", apply), message);
    }
    refused(
        &program(
            Arch::Tna,
            COUNT,
            "meta.s = hdr.h.c + 1; hdr.h.e = /*!*/up.execute(meta.s);",
        ),
        "'h.c + 1' is computed in an index",
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
