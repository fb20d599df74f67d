//! Randomly changed programs: the compiler neither panics nor overflows its stack, and the data plane loads all
//! compiled programs.

use std::sync::LazyLock;

use crate::common::{Lab, lab_program};
use p4sched_compiler::{Arch, EmbeddedIncludes, Input, Options, compile, place, preprocess};
use p4sched_dataplane::Pipeline;
use proptest::prelude::*;

/// Compiles a program after the files of the architecture. If it compiles, it must load.
fn exercise(text: &str) -> Result<(), TestCaseError> {
    exercise_for(Arch::V1model, text)
}

fn exercise_for(arch: Arch, text: &str) -> Result<(), TestCaseError> {
    let text = &format!("#include <core.p4>\n#include <{}.p4>\n{text}", arch.name());
    let input = Input { name: "test.p4", text };
    let options = Options {
        arch,
        ..Options::default()
    };
    match compile(&input, &EmbeddedIncludes, &options) {
        Ok(compiled) => {
            let loaded = Pipeline::from_json(compiled.json.as_bytes());
            prop_assert!(
                loaded.is_ok(),
                "{}\n{text}",
                loaded.err().map_or(String::new(), |e| e.to_string())
            );
        }
        Err(diagnostics) => {
            prop_assert!(diagnostics.has_errors(), "refused without an error\n{text}");
            // Messages can be printed, whatever text they quote.
            prop_assert!(!diagnostics.to_string().is_empty());
        }
    }
    Ok(())
}

/// A program that uses much of the language.
const MIXED: &str = "
error { Odd }
enum bit<8> Kind { one = 1, two = 2 }
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header o_t { bit<8> n; varbit<64> data; }
header_union u_t { h_t h; o_t o; }
struct headers_t { h_t h; h_t[3] s; u_t u; }
struct meta_t { @field_list(1) bit<8> kept; tuple<bit<4>, bit<4>> pair; Kind kind; }
bit<8> twice(in bit<8> x) { if (x == 0) { return 1; } return x + x; }
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    value_set<bit<8>>(4) known;
    state start { p.extract(hdr.h); verify(hdr.h.a != 9, error.Odd); transition select(hdr.h.a, hdr.h.b) {
        (1, 2 .. 5): more; (_, 8w4 &&& 8w0xc): accept; default: more; } }
    state more { p.extract(hdr.s.next); transition select(hdr.s.last.a) { known: accept; 0: rest; default: more; } }
    state rest { p.extract(hdr.u.o, (bit<32>)p.lookahead<bit<8>>() << 3); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { verify_checksum(true, { hdr.h.a, hdr.h.b }, hdr.h.c, HashAlgorithm.csum16); } }
control Sub(inout bit<8> x)(bit<8> step) { register<bit<8>>(4) r; apply { bit<8> n; r.read(n, 0); x = n |+| step; r.write(0, x); } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    Sub(3) sub;
    direct_counter(CounterType.packets) hits;
    action set(inout bit<8> x, bit<9> port) { sm.egress_spec = port; x = 1; hits.count(); }
    action drop() { mark_to_drop(sm); exit; }
    @name(\"first\") table t {
        key = { hdr.h.a: exact; hdr.h.c: ternary; hdr.h.b & 0xf: exact @name(\"low\"); }
        actions = { set(meta.kept); drop; NoAction; }
        const default_action = NoAction;
        counters = hits;
        const entries = { (1, _, 2): drop(); (2, 0x10 &&& 0xf0, 3): drop; }
    }
    apply {
        bit<8> n = 0;
        for (bit<8> i in 1 .. 3) { if (i == hdr.h.a) { continue; } n += twice(i); }
        switch (t.apply().action_run) { drop: { hdr.h.b = 1; } default: { sub.apply(hdr.h.b); } }
        hdr.h.c[7:4] = (bit<4>)n; hdr.s[hdr.h.a[1:0]].b = n > 3 ? hdr.h.a : -hdr.h.b;
        if (!hdr.u.isValid() && hdr.s[0].isValid()) { hdr.s.push_front(1); hdr.s[0] = { 1, n, (bit<16>)(int<16>)(int<8>)n }; }
        hash(hdr.h.c, HashAlgorithm.crc16, 16w0, { hdr.h.a, meta.kept }, 16w100);
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { clone_preserving_field_list(CloneType.E2E, 3, 1); } }
control C(inout headers_t hdr, inout meta_t meta) { apply { update_checksum(hdr.h.isValid(), { hdr.h.a }, hdr.h.c, HashAlgorithm.csum16); } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// A program that uses most externs of Tofino 1.
const CHIP: &str = "
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header front_t { bit<8> kind; bit<16> c; }
struct headers_t { front_t front; h_t h; }
struct pair_t { bit<16> low; bit<16> high; }
struct meta_t { bit<8> kept; bool wrong; bit<16> rest; front_t front; }
Register<bit<32>, bit<8>>(20, 7) shared;
parser IP(packet_in p, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t ig) {
    Checksum() sum;
    ParserCounter() left;
    state start { p.extract(ig); transition select(ig.resubmit_flag) { 1: again; default: port; } }
    state again { p.advance(PORT_METADATA_SIZE); transition headers; }
    state port { meta.rest = port_metadata_unpack<bit<16>>(p); transition headers; }
    state headers { p.extract(hdr.h); sum.add(hdr.h); meta.wrong = sum.verify(); sum.subtract({ hdr.h.c });
        left.set(hdr.h.a, 7, 0, 3, 1); transition select(hdr.h.b, left.is_zero()) { (1, false): accept; (2 .. 9, _): reject; } }
}
control Counted(inout headers_t hdr, in bit<8> index)(bit<16> step) {
    Register<pair_t, bit<8>>(64, { 1, 2 }) cells;
    MathUnit<bit<16>>(MathOp_t.SQRT, 3, 2) root;
    RegisterAction<pair_t, bit<8>, bit<16>>(cells) grow = {
        void apply(inout pair_t value, out bit<16> result) {
            if (value.low < hdr.h.c || value.high == 3) { value.low = value.low + step; } else { value.high = root.execute(value.low); }
            result = this.predicate(hdr.h.a == 1, hdr.h.b > 2);
        }
    };
    apply { hdr.h.c = grow.execute(index); }
}
control I(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t ig,
          in ingress_intrinsic_metadata_from_parser_t from, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Counted(5) counted;
    CRCPolynomial<bit<16>>(0x1021, false, false, false, 0xffff, 0) coefficients;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, coefficients) custom;
    Hash<bit<8>>(HashAlgorithm_t.IDENTITY) same;
    Random<bit<4>>() random;
    Counter<bit<32>, bit<8>>(8, CounterType_t.BYTES) counter;
    Meter<bit<8>>(8, MeterType_t.PACKETS) meter;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) hits;
    DirectRegister<bit<16>>(3) of_entry;
    @lpf_spec(1000, 2000, 1) DirectLpf<bit<16>>() low;
    @wred_spec(1000, 10, 90, 50) Wred<bit<16>, bit<8>>(8, 1, 0) red;
    DirectRegisterAction<bit<16>, bit<16>>(of_entry) step = { void apply(inout bit<16> value, out bit<16> r) { r = value; value = max(value, hdr.h.c) - 1; } };
    RegisterAction<bit<32>, bit<8>, bit<32>>(shared) put = { void apply(inout bit<32> value) { value = (bit<32>) hdr.h.a; } };
    ActionProfile(16) members;
    ActionSelector(members, custom, SelectorMode_t.FAIR, 4, 4) chosen;
    action go(PortId_t port) { tm.ucast_egress_port = port; hits.count(); }
    action note() { hdr.h.c = low.execute(step.execute()); put.execute(hdr.h.a); }
    action pick(bit<3> q) { tm.qid = (bit<5>) q; }
    table ports {
        key = { hdr.h.a: exact; hdr.h.c: ternary; hdr.h.b[3:0]: range @name(\"low\"); }
        actions = { go; note; NoAction; }
        const default_action = NoAction;
        counters = hits;
        registers = of_entry;
        filters = low;
        const entries = { (1, _, 2): go(3); (2, 0x10 &&& 0xf0, 1 .. 3): note(); }
    }
    table choose { key = { hdr.h.a: exact; hdr.h.c: selector; } actions = { pick; } implementation = chosen; }
    apply {
        if (!meta.wrong && from.parser_err == 0) { ports.apply(); } else { dprsr.drop_ctl = 1; }
        if (choose.apply().hit) { hdr.h.b = same.get({ hdr.h.c, hdr.h.a }); }
        if (red.execute(hdr.h.c, hdr.h.a) == 1) { dprsr.drop_ctl = 1; }
        hdr.h.c[7:4] = random.get(); counter.count(hdr.h.a); meta.kept = meter.execute(hdr.h.b);
        if (shared.read(3) == 7) { shared.write(4, 1); invalidate(tm.ucast_egress_port); }
        counted.apply(hdr, meta.kept);
        meta.rest = custom.get({ hdr.h.a, meta.rest }); dprsr.mirror_type = 1; meta.front = { 1, meta.rest }; hdr.front.setValid();
    }
}
control ID(packet_out p, inout headers_t hdr, in meta_t meta, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror; Resubmit() resubmit; Digest<pair_t>(2) digest; Checksum() sum;
    apply {
        hdr.h.c = sum.update({ hdr.h.a, hdr.h.b, meta.rest }, true);
        if (dprsr.mirror_type == 1) { mirror.emit<front_t>(5, { 1, hdr.h.c }); } else if (dprsr.resubmit_type == 2) { resubmit.emit<front_t>(meta.front); }
        digest.pack({ meta.rest, hdr.h.c }); p.emit(hdr);
    }
}
parser EP(packet_in p, out headers_t hdr, out meta_t meta, out egress_intrinsic_metadata_t eg) {
    state start { p.extract(eg); transition select(p.lookahead<bit<8>>()) { 1: front; default: rest; } }
    state front { p.extract(hdr.front); transition rest; }
    state rest { p.extract(hdr.h); transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in egress_intrinsic_metadata_t eg) { apply { hdr.h.b = eg.enq_qdepth[7:0]; hdr.front.setInvalid(); } }
control ED(packet_out p, inout headers_t hdr, in meta_t meta) { apply { p.emit(hdr.h); } }
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
";

/// Programs to change: the mixed one, and those of `p4/` with their included files.
static PROGRAMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut list = vec![MIXED.to_owned()];
    let includes = Lab {
        with_architecture: false,
    };
    for name in ["fdpa", "packs", "rifo"] {
        let (file, text) = lab_program(name);
        let input = Input {
            name: &file,
            text: &text,
        };
        list.push(preprocess(&input, &includes, &Options::default()).expect("a program that compiles"));
    }
    list
});

/// A Tofino program that uses most resources of a chip's stages.
const TOFINO: &str = include_str!("stages/mixed.p4");

/// Places a program after the files of the architecture. There must be a message or a report.
fn exercise_stages(arch: Arch, text: &str) -> Result<(), TestCaseError> {
    let text = &format!("#include <core.p4>\n#include <{}.p4>\n{text}", arch.name());
    let input = Input { name: "test.p4", text };
    let options = Options {
        arch,
        ..Options::default()
    };
    let placed = place(&input, &EmbeddedIncludes, &options);
    match &placed.report {
        Some(report) => prop_assert!(!report.to_string().is_empty()),
        None => prop_assert!(placed.messages.has_errors(), "neither placed nor refused\n{text}"),
    }
    Ok(())
}

/// The pieces of a program: words, numbers, blanks, single characters.
fn pieces(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut list = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (i, c) in text.char_indices() {
        let kind = class(c);
        if before.is_some_and(|b| b != kind || kind == 0) {
            list.push(&text[start..i]);
            start = i;
        }
        before = Some(kind);
    }
    list.push(&text[start..]);
    list
}

/// Texts that replace a piece.
const STRANGE: [&str; 36] = [
    "",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    ";",
    ",",
    ".",
    ":",
    "@",
    "#",
    "\"",
    "/*",
    "0",
    "1",
    "-1",
    "8w300",
    "0xffffffffffffffffffff",
    "bit<0>",
    "bit<65535>",
    "int<1>",
    "bool",
    "varbit<8>",
    "hdr",
    "start",
    "accept",
    "default",
    "_",
    "...",
    "exit;",
    "return;",
    "\\\n",
    "&&&",
    "é",
];

#[derive(Clone, Debug)]
enum Change {
    Delete(usize, usize),
    Copy(usize, usize, usize),
    Replace(usize, &'static str),
    Insert(usize, &'static str),
    Other(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<usize>();
    prop_oneof![
        (at, 1..20usize).prop_map(|(at, n)| Change::Delete(at, n)),
        (at, at, 1..40usize).prop_map(|(from, to, n)| Change::Copy(from, to, n)),
        (at, prop::sample::select(&STRANGE[..])).prop_map(|(at, text)| Change::Replace(at, text)),
        (at, prop::sample::select(&STRANGE[..])).prop_map(|(at, text)| Change::Insert(at, text)),
        (at, at).prop_map(|(at, other)| Change::Other(at, other)),
    ]
}

fn changed(text: &str, changes: &[Change]) -> String {
    let mut list = pieces(text);
    for change in changes {
        let n = list.len().max(1);
        match *change {
            Change::Delete(at, count) => drop(list.drain(at % n..(at % n + count).min(n))),
            Change::Copy(from, to, count) => {
                let copied: Vec<&str> = list.iter().skip(from % n).take(count).copied().collect();
                list.splice(to % n..to % n, copied);
            }
            Change::Replace(at, text) => list[at % n] = text,
            Change::Insert(at, text) => list.insert(at % n, text),
            // Replacing a word by another keeps most programs well formed.
            Change::Other(at, other) => {
                let is_word = |p: &&str| p.starts_with(|c: char| c.is_alphanumeric());
                let words: Vec<usize> = (0..n).filter(|i| is_word(&list[*i])).collect();
                if let [_, ..] = words[..] {
                    list[words[at % words.len()]] = list[words[other % words.len()]];
                }
            }
        }
        if list.is_empty() {
            list.push("");
        }
    }
    list.concat()
}

#[test]
fn the_programs_to_change_are_right() {
    for text in PROGRAMS.iter() {
        assert!(exercise(text).is_ok());
        assert_eq!(
            crate::common::messages(&format!("#include <core.p4>\n#include <v1model.p4>\n{text}")),
            ""
        );
    }
    let text = format!("#include <core.p4>\n#include <tna.p4>\n{TOFINO}");
    let input = Input {
        name: "test.p4",
        text: &text,
    };
    let options = Options {
        arch: Arch::Tna,
        ..Options::default()
    };
    let placed = place(&input, &EmbeddedIncludes, &options);
    assert_eq!(placed.messages.to_string(), "");
}

#[test]
fn the_program_for_tofino_is_right() {
    let said = crate::common::messages_for(Arch::Tna, &format!("#include <core.p4>\n#include <tna.p4>\n{CHIP}"));
    assert_eq!(said, "");
    assert!(exercise_for(Arch::Tna, CHIP).is_ok());
}

/// Number of changed programs in each test, unless `PROPTEST_CASES` sets it.
fn cases() -> u32 {
    let given = std::env::var("PROPTEST_CASES").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(600)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_program_gets_a_message_or_loads(
        program in 0..2 * PROGRAMS.len(),
        changes in prop::collection::vec(change(), 1..4),
    ) {
        // The mixed program is the shortest, and is changed most often.
        let text = PROGRAMS.get(program).unwrap_or(&PROGRAMS[0]);
        exercise(&changed(text, &changes))?;
    }

    #[test]
    fn words_in_place_of_others_get_a_message_or_load(swaps in prop::collection::vec((any::<usize>(), any::<usize>()), 1..3)) {
        let changes: Vec<Change> = swaps.into_iter().map(|(at, other)| Change::Other(at, other)).collect();
        exercise(&changed(&PROGRAMS[0], &changes))?;
    }

    #[test]
    fn a_changed_program_for_tofino_gets_a_message_or_loads(changes in prop::collection::vec(change(), 1..4)) {
        exercise_for(Arch::Tna, &changed(CHIP, &changes))?;
    }

    #[test]
    fn words_in_place_of_others_get_a_message_or_load_for_tofino(
        swaps in prop::collection::vec((any::<usize>(), any::<usize>()), 1..3)
    ) {
        let changes: Vec<Change> = swaps.into_iter().map(|(at, other)| Change::Other(at, other)).collect();
        exercise_for(Arch::Tna, &changed(CHIP, &changes))?;
    }

    #[test]
    fn a_changed_program_is_placed_or_gets_a_message(
        second in any::<bool>(),
        changes in prop::collection::vec(change(), 1..4),
    ) {
        let arch = if second { Arch::T2na } else { Arch::Tna };
        exercise_stages(arch, &changed(TOFINO, &changes))?;
    }

    #[test]
    fn words_in_place_of_others_are_placed_or_get_a_message(swaps in prop::collection::vec((any::<usize>(), any::<usize>()), 1..3)) {
        let changes: Vec<Change> = swaps.into_iter().map(|(at, other)| Change::Other(at, other)).collect();
        exercise_stages(Arch::Tna, &changed(TOFINO, &changes))?;
    }

    #[test]
    fn bytes_get_a_message(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn pieces_in_any_order_get_a_message(pieces in prop::collection::vec(prop::sample::select(&STRANGE[..]), 0..60)) {
        exercise(&pieces.join(" "))?;
        let text = format!("control C() {{ apply {{ {} }} }}", pieces.join(" "));
        exercise(&text)?;
    }
}

/// A program with these statements in `apply`.
fn in_apply(statements: &str) -> String {
    let apply = "apply {\n        bit<8> n = 0;";
    PROGRAMS[0].replace(apply, &format!("{apply}\n{statements}"))
}

#[test]
fn deep_nesting_gets_a_message_or_loads() {
    for n in [30, 150, 190, 250, 4000] {
        let nest = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(n), close.repeat(n));
        let expressions = [
            nest("(", "n", ")"),
            nest("-", "n", ""),
            nest("~(n + ", "n", ")"),
            nest("n + ", "n", ""),
            nest("n - (", "n", ")"),
            nest("(bit<8>)", "n", ""),
            nest("twice(", "n", ")"),
            nest("n > 1 ? n : ", "n", ""),
            nest("n > 1 ? ", "n", " : n"),
            nest("(bit<8>)(n ++ ", "n", ")"),
            nest("", "n", "[7:0]"),
        ];
        for e in &expressions {
            assert!(exercise(&in_apply(&format!("n = {e};"))).is_ok(), "{e}");
            assert!(
                exercise(&in_apply(&format!("if ({e} == 1) {{ n = 2; }}"))).is_ok(),
                "{e}"
            );
            assert!(
                exercise(&in_apply(&format!("const bit<8> k = 1; n = {};", e.replace('n', "k")))).is_ok(),
                "{e}"
            );
        }
        let statements = [
            nest("{ ", "n = 1;", " }"),
            nest("if (n == 1) { ", "n = 2;", " }"),
            nest("if (n == 1) n = 2; else ", "n = 3;", ""),
            nest("for (bit<8> i in 1 .. 2) { ", "n = i;", " }"),
            nest("for (bit<8> i = 0; i < n; i = i + 1) { ", "n = i;", " }"),
            nest("switch (n) { 1: { ", "n = 1;", " } default: { n = 2; } }"),
        ];
        for s in &statements {
            assert!(exercise(&in_apply(s)).is_ok(), "{s}");
        }
    }
}

#[test]
fn very_many_variables_and_states_are_no_trouble() {
    let round = "bit<8> x = twice(n); bit<8> y = twice(x); bool z = x > y; if (z) { n = x; } else { n = y; }";
    let loops = format!("for (bit<16> i in 1 .. 1000) {{ {round} }}");
    assert!(exercise(&in_apply(&loops)).is_ok());
    let start = "state start {";
    let states = "for (bit<16> i in 1 .. 1000) { if (meta.kept == 1) { meta.kept = 2; } else { meta.kept = 3; } }";
    assert!(exercise(&PROGRAMS[0].replace(start, &format!("{start} {states}"))).is_ok());
}

#[test]
fn deep_types_and_declarations_get_a_message() {
    for n in [30, 150, 250, 4000] {
        let nest = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(n), close.repeat(n));
        for ty in [
            nest("tuple<", "bit<8>", ">"),
            nest("list<", "bit<8>", ">"),
            nest("", "bit<8>", "[2]"),
            nest("bit<(", "8", ")>"),
        ] {
            assert!(
                exercise(&format!("{}\nstruct deep_t {{ {ty} x; }}", PROGRAMS[0])).is_ok(),
                "{ty}"
            );
        }
        let mut chain = PROGRAMS[0].clone();
        chain += "struct d0 { bit<8> x; }";
        for i in 1..n {
            chain += &format!("struct d{i} {{ d{} x; }}", i - 1);
        }
        assert!(exercise(&chain).is_ok());
        let mut chain = PROGRAMS[0].replace("V1Switch(P()", "// V1Switch(P()");
        chain += "control c0(inout bit<8> x) { apply { x = 1; } }";
        for i in 1..n {
            chain += &format!(
                "control c{i}(inout bit<8> x) {{ c{0}() c; apply {{ c.apply(x); }} }}",
                i - 1
            );
        }
        assert!(exercise(&chain).is_ok());
        let defines: String = (1..n).map(|i| format!("#define M{i} (M{})\n", i - 1)).collect();
        assert!(exercise(&format!("#define M0 1\n{defines}const int x = M{};", n - 1)).is_ok());
        let conditions = format!("{}{}", "#if 1\n".repeat(n), "#endif\n".repeat(n));
        assert!(exercise(&conditions).is_ok());
    }
}
