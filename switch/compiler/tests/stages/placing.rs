//! Stages and memory of small programs.

use p4sched_compiler::{Arch, EmbeddedIncludes, Input, Options, place, stages::Report};

use super::program;
use crate::common::tofino::Chip;

#[track_caller]
fn placed(arch: Arch, declarations: &str, apply: &str) -> Report {
    let placed = program(arch, declarations, apply).place();
    assert!(placed.messages.is_empty(), "{}", placed.messages);
    placed.report.expect("a report")
}

#[track_caller]
fn takes(declarations: &str, apply: &str, stages: usize) {
    let report = placed(Arch::Tna, declarations, apply);
    assert_eq!(report.stages.len(), stages, "{report}");
}

const REGISTER: &str = "Register<bit<32>, bit<16>>(1024) r;
RegisterAction<bit<32>, bit<16>, bit<32>>(r) up = { void apply(inout bit<32> value, out bit<32> rv) { value = value + hdr.h.d; rv = value; } };";

#[test]
fn a_result_is_matched_and_computed_with_one_stage_later() {
    takes(REGISTER, "hdr.h.e = up.execute(hdr.h.c);", 1);
    takes(
        REGISTER,
        "meta.x = up.execute(hdr.h.c); if (meta.x == 5) { hdr.h.a = 1; }",
        2,
    );
    takes(REGISTER, "hdr.h.d = hdr.h.d + 1; hdr.h.e = up.execute(hdr.h.c);", 2);
}

#[test]
fn a_hash_is_an_index_in_its_own_stage() {
    let declarations = format!("{REGISTER}\nHash<bit<16>>(HashAlgorithm_t.CRC16) h;");
    takes(&declarations, "hdr.h.e = up.execute(h.get({ hdr.h.d, hdr.h.c }));", 1);
    takes(
        &declarations,
        "bit<16> i = h.get({ hdr.h.d, hdr.h.c }); hdr.h.e = up.execute(i);",
        1,
    );
}

#[test]
fn a_condition_on_a_tables_outcome_needs_no_stage() {
    let table = "action set(bit<32> v) { meta.x = v; }
table t { key = { hdr.h.d : exact; } actions = { set; NoAction; } default_action = NoAction(); size = 1024; }";
    takes(table, "if (t.apply().hit) { hdr.h.a = 1; } else { hdr.h.a = 2; }", 1);
    takes(table, "if (t.apply().hit) { hdr.h.e = meta.x; }", 2);
}

#[test]
fn what_nothing_reads_takes_nothing() {
    takes("", "meta.x = hdr.h.d + 1; meta.y = meta.x + 1; hdr.h.a = 1;", 1);
}

#[test]
fn an_action_that_apply_calls_is_a_table_of_its_own() {
    let action = format!("{REGISTER}\naction act() {{ meta.y = meta.x + 1; }}");
    let first = "meta.x = up.execute(hdr.h.c);";
    takes(&action, &format!("{first} act(); hdr.h.e = meta.y;"), 3);
    // A copy joins the statements before it.
    takes(REGISTER, &format!("{first} hdr.h.e = meta.x;"), 1);
    let report = placed(
        Arch::Tna,
        "action act() { hdr.h.a = 1; }",
        "hdr.h.b = 2; act(); hdr.h.c = 3;",
    );
    assert_eq!((report.stages.len(), report.total().tables), (1, 3), "{report}");
}

#[test]
fn parts_of_a_field_are_written_one_stage_after_the_other() {
    takes("", "hdr.h.c[15:8] = hdr.h.a; hdr.h.c[7:0] = hdr.h.b;", 2);
    takes(
        "action act() { hdr.h.c[15:8] = hdr.h.a; hdr.h.c[7:0] = hdr.h.b; }",
        "act();",
        1,
    );
}

#[test]
fn metadata_is_zero_on_the_first_chip() {
    let copy = "meta.s[15:8] = hdr.h.a; meta.s[7:0] = 0; hdr.h.c = meta.s;";
    for (arch, stages) in [(Arch::Tna, 2), (Arch::T2na, 3)] {
        assert_eq!(placed(arch, "", copy).stages.len(), stages);
    }
    // Writes of the other branch do not matter.
    let apply = "if (hdr.h.b == 1) { meta.s = 5; } else { meta.s[7:0] = 0; meta.s[15:8] = hdr.h.a; } hdr.h.c = meta.s;";
    takes("", apply, 2);
}

#[test]
fn ingress_and_ghost_have_a_copy_of_a_register_each() {
    let both = |egress_apply: &str| {
        let chip = Chip {
            arch: Arch::T2na,
            types: "Register<bit<32>, bit<11>>(2048) lengths;",
            ingress: "RegisterAction<bit<32>, bit<11>, bit<8>>(lengths) read = {
                void apply(inout bit<32> value, out bit<8> now) { now = value[7:0]; } };",
            ingress_apply: "hdr.h.a = read.execute(0);",
            egress: "RegisterAction<bit<32>, bit<11>, bit<8>>(lengths) look = {
                void apply(inout bit<32> value, out bit<8> now) { now = value[7:0]; } };",
            egress_apply,
            ghost: "RegisterAction<bit<32>, bit<11>, bit<32>>(lengths) keep = {
                void apply(inout bit<32> value) { value = 1; } };
                apply { keep.execute(gh.qid); }",
            ..Chip::default()
        };
        let text = chip.source();
        let input = Input {
            name: "test.p4",
            text: &text,
        };
        let options = Options {
            arch: Arch::T2na,
            ..Options::default()
        };
        let placed = place(&input, &EmbeddedIncludes, &options);
        placed
            .report
            .unwrap_or_else(|| panic!("{}", placed.messages))
            .total()
            .stateful
    };
    assert_eq!(both(""), 2);
    // Egress does not take turns, only ingress and ghost do.
    assert_eq!(both("hdr.h.a = look.execute(0);"), 1);
}

#[test]
fn the_report_counts_in_percent_of_the_chip() {
    let report = placed(Arch::Tna, REGISTER, "hdr.h.e = up.execute(hdr.h.c);");
    let text = report.to_string();
    assert!(
        text.starts_with("test.p4: 1 of the 12 stages of Tofino 1 (ingress 1)\n"),
        "{text}"
    );
    // 1 of 48 stateful ALUs, 2 of 960 blocks of SRAM.
    let percent = text
        .lines()
        .find(|l| l.starts_with("percent"))
        .expect("a row of percents");
    let columns: Vec<&str> = percent.split_whitespace().collect();
    assert_eq!((columns[3], columns[5]), ("2.1%", "0.2%"), "{text}");
    assert!(text.contains("register pipe.I.r"), "{text}");
}

#[test]
fn the_second_chip_has_twenty_stages() {
    let sums: String = (0..13)
        .map(|_| "meta.x = meta.x + hdr.h.d; meta.y = meta.y ^ meta.x; ")
        .collect();
    let apply = format!("{sums} hdr.h.e = meta.y;");
    let first = program(Arch::Tna, "", &apply).place();
    assert!(first.messages.has_errors(), "{}", first.report.expect("a report"));
    // The report exists anyway, and shows the stages.
    assert!(first.report.is_some());
    let second = placed(Arch::T2na, "", &apply);
    assert!((12..=20).contains(&second.stages.len()), "{second}");
}

#[test]
fn a_program_with_errors_gives_the_compilers_errors() {
    let placed = program(Arch::Tna, "", "hdr.h.q = 1;").place();
    assert!(placed.report.is_none());
    let said = placed.messages.to_string();
    assert!(said.contains("no field 'q'") || said.contains("'q'"), "{said}");
}

#[test]
fn a_tables_key_may_be_a_headers_validity() {
    let table = "action set(bit<32> v) { hdr.h.d = v; }
table t { key = { hdr.h.isValid() : exact; hdr.h.c : exact; } actions = { set; } size = 1024; }";
    takes(table, "t.apply();", 1);
}

#[test]
fn a_meter_gives_its_colour_in_the_stage_of_its_table() {
    let table = |meter: &str, index: &str| {
        format!(
            "Meter<bit<8>>(64, MeterType_t.BYTES) indexed;
DirectMeter(MeterType_t.PACKETS) direct;
action set(bit<8> i) {{ hdr.h.a = {meter}.execute({index}); }}
table t {{ key = {{ hdr.h.c : exact; }} actions = {{ set; }} size = 1024; meters = direct; }}"
        )
    };
    takes(&table("indexed", "i"), "t.apply();", 1);
    takes(&table("direct", ""), "t.apply();", 1);
}

#[test]
fn joined_sources_are_put_side_by_side_in_one_action() {
    let table = |value: &str| {
        format!(
            "Hash<bit<16>>(HashAlgorithm_t.IDENTITY) join;
action set() {{ hdr.h.e = (bit<32>) {value}; }}
table t {{ key = {{ hdr.h.c : exact; }} actions = {{ set; }} size = 1024; }}"
        )
    };
    takes(&table("(16w0x1234 ++ hdr.h.a ++ hdr.h.b)"), "t.apply();", 1);
    takes(&table("join.get({ hdr.h.d, 8w255 })"), "t.apply();", 1);
}
