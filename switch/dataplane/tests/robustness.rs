//! Corrupt programs are refused, hostile frames are forwarded or dropped, and nothing panics or hangs.

use std::sync::LazyLock;

use crate::common::{Parts, tofino};
use p4sched_dataplane::{ActionCall, CloneSession, LoadError, MatchKey, Outcomes, Pipeline, Queueing};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A program that uses most of the language.
static RICH: LazyLock<String> = LazyLock::new(|| {
    let parts = Parts {
        types: "error { Odd }
            header e_t { bit<8> kind; bit<8> n; }
            header s_t { bit<7> value; bit<1> bottom; }
            header v_t { bit<8> x; varbit<64> v; }
            header w_t { bit<128> w; }
            struct headers_t { e_t e; s_t[4] s; v_t v; w_t w; }
            struct meta_t { @field_list(1) bit<8> kept; bit<8> n; bit<16> h; bit<32> r; }",
        parser: "value_set<bit<8>>(4) known;
            state start { p.extract(hdr.e); verify(hdr.e.kind != 0xee, error.Odd);
                transition select(hdr.e.kind) { 1: stack; 2: varies; 3: wide; 4 &&& 0x0c: skip; known: stack; default: accept; } }
            state stack { p.extract(hdr.s.next); transition select(hdr.s.last.bottom) { 0: stack; 1: accept; } }
            state varies { meta.n = p.lookahead<bit<8>>(); transition varies2; }
            state varies2 { p.extract(hdr.v, (bit<32>)meta.n); transition accept; }
            state wide { p.extract(hdr.w); transition accept; }
            state skip { p.advance((bit<32>)hdr.e.n * 8); transition stack; }",
        ingress: "register<bit<32>>(8) r; counter(8, CounterType.packets) c; meter(8, MeterType.packets) m;
            action a(bit<16> x) { meta.h = x; } action b() { hdr.s.push_front(1); hdr.s[0].setValid(); }
            table t { key = { hdr.e.kind: exact; } actions = { a; b; } }
            table u { key = { hdr.e.n: ternary; meta.h: range; } actions = { a; NoAction; } default_action = a(3); }
            table l { key = { hdr.w.w: lpm; } actions = { a; b; NoAction; } }",
        ingress_apply: "sm.egress_spec = (bit<9>)hdr.e.n; t.apply();
            if (u.apply().hit) { l.apply(); }
            r.read(meta.r, (bit<32>)hdr.e.kind); r.write((bit<32>)hdr.e.n, meta.r |+| 5);
            c.count((bit<32>)hdr.e.n); m.execute_meter((bit<32>)hdr.e.n, meta.n);
            hash(meta.h, HashAlgorithm.crc32, (bit<16>)0, { hdr.e.kind, hdr.w.w, hdr.v.x }, (bit<32>)meta.r);
            if (hdr.w.isValid() && hdr.w.w > 7) { hdr.w.w = hdr.w.w * 3 - (bit<128>)meta.h; }
            if (hdr.e.n == 7 && sm.instance_type == 0) { resubmit_preserving_field_list(1); }
            if (hdr.e.n == 8) { clone_preserving_field_list(CloneType.I2E, 1, 1); }
            if (hdr.e.n == 9) { sm.mcast_grp = 1; } if (hdr.e.n == 10) { truncate((bit<32>)hdr.e.kind); }",
        egress_apply: "if (hdr.e.n == 11 && sm.instance_type == 0) { hdr.e.n = 12; recirculate_preserving_field_list(1); }
            hdr.s.pop_front(1);",
        update: "update_checksum(hdr.e.isValid(), { hdr.e.kind, hdr.v.x }, meta.h, HashAlgorithm.csum16);",
        deparser: "p.emit(hdr.e); p.emit(hdr.s); p.emit(hdr.v); p.emit(hdr.w);",
        ..Parts::default()
    };
    parts.json()
});

/// A Tofino 2 program that uses all that the chip does around the P4 code.
static RICH_TOFINO: LazyLock<String> = LazyLock::new(|| {
    use tofino::{assign, binary, eh, field, h, local, number, op, register, tm, unless_equal};
    let cells = register("pipe.I.r");
    let program = tofino::Program {
        t2na: true,
        parser_errors_read: true,
        ingress: vec![
            assign(tm("ucast_egress_port"), h("port")),
            assign(tm("qid"), h("kind")),
            assign(tm("mcast_grp_a"), h("kind")),
            assign(tm("bypass_egress"), h("value")),
            assign(tm("copy_to_cpu"), binary(">>", h("kind"), number(2))),
            assign(
                field("ig_intr_md_for_dprsr", "drop_ctl"),
                binary(">>", h("kind"), number(3)),
            ),
            op("register_read", &[local("a"), cells.clone(), h("value")]),
            op(
                "register_write",
                &[cells.clone(), h("value"), binary("+", local("a"), number(1))],
            ),
            op(
                "modify_field_with_hash_based_offset",
                &[
                    h("big"),
                    number(0),
                    json!({"type": "calculation", "value": "crc"}),
                    number(1 << 32),
                ],
            ),
        ],
        ingress_deparser: vec![
            unless_equal(0, h("port"), 7, 3),
            op("mirror", &[number(1), number(4)]),
            op("resubmit", &[number(4)]),
            op("generate_digest", &[number(0), number(1)]),
        ],
        egress: vec![assign(field("eg_intr_md_for_dprsr", "drop_ctl"), eh("kind"))],
        egress_deparser: vec![op("mirror", &[eh("kind"), json!({"type": "hexstr", "value": "-0x1"})])],
        ghost: Some(vec![op(
            "register_write",
            &[cells, field("gh_intr_md", "qid"), field("gh_intr_md", "qlength")],
        )]),
        registers: json!([{"name": "pipe.I.r", "id": 0, "bitwidth": 64, "size": 6, "initial_value": "0x1"}]),
        field_lists: json!([{"id": 4, "name": "m", "elements": [
            {"type": "field", "value": ["h", "value"]}, {"type": "hexstr", "value": "0xab", "bitwidth": 8},
        ]}]),
        learn_lists: json!([{"id": 1, "name": "pipe.D.d", "elements": [{"type": "field", "value": ["h", "big"]}]}]),
    };
    let mut json = program.json();
    let parameters = json!({"width": 16, "coefficient": "0x1021", "reversed": true, "msb": false, "extended": true,
        "init": "0xffff", "xor": 0, "output_width": 32});
    json["calculations"] = json!([{"name": "crc", "id": 0, "algo": "crc_poly", "parameters": parameters,
        "input": [{"type": "field", "value": ["h", "port"]}]}]);
    json.to_string()
});

fn either() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(RICH.as_str()), Just(RICH_TOFINO.as_str())]
}

/// Sends frames; returns all results, and all counters and registers of the program.
fn exercise(pipeline: &mut Pipeline, frames: &[Vec<u8>]) -> String {
    let (mut out, mut story) = (Outcomes::default(), String::new());
    pipeline.set_cpu_port(Some(4));
    pipeline.mcast_group_set(1, vec![(1, 1), (2, 2)]);
    pipeline.clone_session_set(
        1,
        CloneSession {
            replicas: vec![(3, 0)],
            ..CloneSession::default()
        },
    );
    for (index, frame) in frames.iter().enumerate() {
        pipeline.ingress(index as u64 * 1000, 1, frame, &mut out);
        story += &format!("{out:?}\n");
        pipeline.ghost(index as u64 * 1000, 500, 7, u32::MAX);
        for _ in 0..20 {
            if let Some(packet) = out.enqueue.pop() {
                let queueing = Queueing {
                    port: packet.port,
                    ..Queueing::default()
                };
                pipeline.egress(index as u64 * 1000, packet.packet, queueing, &mut out);
                story += &format!("{out:?}\n");
            }
            if let Some(packet) = out.recirculate.pop() {
                pipeline.reingress(0, packet, &mut out);
                story += &format!("{out:?}\n");
            }
        }
        out.clear();
    }
    story += &format!("{} assertions failed\n", pipeline.failed_assertions());
    for register in ["I.r", "pipe.I.r"].iter().filter_map(|name| pipeline.register(name)) {
        let cells = 0..pipeline.register_size(register).min(16);
        cells.for_each(|cell| story += &format!("{:?}\n", pipeline.register_read(register, cell)));
    }
    for counter in ["I.c", "pipe.I.c"].iter().filter_map(|name| pipeline.counter(name)) {
        let cells = 0..pipeline.counter_size(counter).min(16);
        cells.for_each(|cell| story += &format!("{:?}\n", pipeline.counter_read(counter, cell)));
    }
    for table in pipeline.table_ids() {
        for entry in pipeline.table_entries(table) {
            let count = pipeline.direct_counter(table, entry.handle);
            story += &format!("{count:?} {:?}\n", pipeline.last_hit(table, entry.handle));
        }
    }
    story
}

/// Runs a program interpreted, compiled, and with a trace. All three must have the same results.
fn exercise_both(prepared: impl Fn() -> Pipeline, frames: &[Vec<u8>]) -> Result<(), TestCaseError> {
    let (mut interpreted, mut compiled, mut traced) = (prepared(), prepared(), prepared());
    prop_assert!(compiled.compile());
    let story = exercise(&mut interpreted, frames);
    prop_assert_eq!(&story, &exercise(&mut compiled, frames));
    traced.trace(0);
    prop_assert_eq!(story, without_numbers(&exercise(&mut traced, frames)));
    prop_assert!(traced.events().count() >= frames.len());
    Ok(())
}

/// Replaces all packet numbers by those of a run without a trace.
fn without_numbers(story: &str) -> String {
    const BEGIN: &str = "PacketId { ";
    let mut parts = story.split(BEGIN);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, behind) = part.split_once('}').unwrap_or_default();
        plain += &format!("{BEGIN}packet: 0, copy: 0 }}{behind}");
    }
    plain
}

/// Number of nodes in a JSON value.
fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(members) => members.values().map(nodes).sum(),
        _ => 0,
    }
}

/// Changes node n, in the order of a walk.
fn mutate(value: &mut Value, n: &mut usize, change: &mut dyn FnMut(&mut Value)) {
    if *n == 0 {
        change(value);
        *n = usize::MAX;
        return;
    }
    *n -= 1;
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| {
            if *n != usize::MAX {
                mutate(item, n, change);
            }
        }),
        Value::Object(members) => members.values_mut().for_each(|member| {
            if *n != usize::MAX {
                mutate(member, n, change);
            }
        }),
        _ => {}
    }
}

fn replacement() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        Just(None),
        Just(Some(Value::Null)),
        Just(Some(json!([]))),
        Just(Some(json!({}))),
        Just(Some(json!(true))),
        Just(Some(json!(-1))),
        Just(Some(json!(u64::MAX))),
        Just(Some(json!(4_000_000_000u32))),
        (0u32..300).prop_map(|n| Some(json!(n))),
        Just(Some(json!("0x"))),
        Just(Some(json!("-0x1"))),
        Just(Some(json!("0xffffffffffffffffffffffffffffffffffffffff"))),
        prop::sample::select(vec![
            "e",
            "scalars",
            "standard_metadata",
            "expression",
            "field",
            "header_stack",
            "lookahead",
            "*",
            "+",
            "<<",
            "usat_cast",
            "?",
            "extract_VL",
            "stack",
            "assign",
            "_jump",
            "I.r",
            "ternary",
            "lpm",
            "range",
            "indirect",
            "h",
            "egress.h",
            "ig_intr_md_for_tm",
            "ucast_egress_port",
            "pipe.I.r",
            "mirror",
            "resubmit",
            "crc_poly",
            "ghost",
            "tna",
            "v1model",
        ])
        .prop_map(|text| Some(json!(text))),
    ]
}

fn frames() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let frame = (0u8..16, 0u8..16, prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(kind, n, rest)| {
        let mut frame = vec![kind, n];
        frame.extend(rest);
        frame
    });
    prop::collection::vec(prop_oneof![frame, prop::collection::vec(any::<u8>(), 0..4)], 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_frames_never_panic_and_compiled_code_treats_them_the_same(frames in frames()) {
        let prepared = || {
            let mut pipeline = Pipeline::from_json(RICH.as_bytes()).expect("a valid program");
            let table = pipeline.table("I.t").expect("the table");
            let action = pipeline.table_action(table, "I.b").expect("the action");
            let call = ActionCall::Action { action, params: Vec::new() };
            for kind in [1, 2, 3] {
                pipeline.table_insert(table, &[MatchKey::Exact(vec![kind])], 0, &call).expect("an entry");
            }
            pipeline
        };
        exercise_both(prepared, &frames)?;
    }

    #[test]
    fn a_mutated_program_is_refused_or_does_the_same_compiled(
        text in either(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), replacement()), 1..4),
        frames in frames(),
    ) {
        let mut program: Value = serde_json::from_str(text).expect("JSON");
        for (place, replacement) in changes {
            let mut n = place.index(nodes(&program));
            mutate(&mut program, &mut n, &mut |value| match &replacement {
                Some(other) => *value = other.clone(),
                // Repeats all items: duplicates.
                None => if let Value::Array(items) = value {
                    items.extend(items.clone());
                },
            });
        }
        let text = program.to_string();
        if Pipeline::from_json(text.as_bytes()).is_ok() {
            exercise_both(|| Pipeline::from_json(text.as_bytes()).expect("it loads"), &frames)?;
        }
    }

    #[test]
    fn random_frames_never_panic_on_a_tofino_and_compiled_code_treats_them_the_same(frames in frames()) {
        exercise_both(|| Pipeline::from_json(RICH_TOFINO.as_bytes()).expect("a valid program"), &frames)?;
    }

    #[test]
    fn cut_or_damaged_text_is_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = RICH.as_bytes().to_vec();
        let at = at.index(text.len() - 1);
        prop_assert!(Pipeline::from_json(&text[..at]).is_err());
        text[at] = byte;
        let _ = Pipeline::from_json(&text);
    }
}

fn problem(program: &Value) -> String {
    match Pipeline::from_json(program.to_string().as_bytes()) {
        Ok(_) => panic!("it loads"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_error_names_the_place_and_the_problem() {
    let program: Value = serde_json::from_str(
        &Parts {
            ingress_apply: "sm.egress_spec = 2;",
            ..Parts::small()
        }
        .json(),
    )
    .expect("JSON");
    let action = program["actions"]
        .as_array()
        .expect("actions")
        .iter()
        .position(|a| a["primitives"] != json!([]));
    let action = action.expect("the assignment");
    let changed = |pointer: &str, value: Value| {
        let mut program = program.clone();
        *program.pointer_mut(pointer).expect("a place") = value;
        problem(&program)
    };
    let message = changed(&format!("/actions/{action}/primitives/0/op"), json!("launch"));
    assert_eq!(
        message,
        format!("actions[{action}].primitives[0]: primitive 'launch' is not supported")
    );
    let message = changed("/headers/0/header_type", json!("nothing"));
    assert_eq!(message, "headers[0].header_type: no header type 'nothing'");
    let message = changed("/__meta__/version", json!([3, 0]));
    assert_eq!(
        message,
        "__meta__.version: format version 3 is not supported; version 2 is"
    );
    let message = changed("/parsers", json!([]));
    assert_eq!(message, "parsers: no 'parser', which simple_switch needs");
    assert!(matches!(Pipeline::from_json(b"{"), Err(LoadError::Syntax(_))));
    assert_eq!(
        problem(&json!([])),
        "the program: should be a JSON object, as p4c-bm2-ss writes it"
    );
}

#[test]
fn what_a_program_for_tofino_lacks_is_named() {
    let program: Value = serde_json::from_str(&RICH_TOFINO).expect("JSON");
    let without = |list: &str, name: &str| {
        let mut program = program.clone();
        let items = program[list].as_array_mut().expect("a list");
        items.retain(|item| item["name"] != name);
        problem(&program)
    };
    let cases = [
        (
            "parsers",
            "egress_parser",
            "parsers: no 'egress_parser', which t2na needs",
        ),
        (
            "deparsers",
            "ingress_deparser",
            "deparsers: no 'ingress_deparser', which t2na needs",
        ),
        (
            "pipelines",
            "egress_deparser",
            "pipelines: no 'egress_deparser', which t2na needs",
        ),
    ];
    for (list, name, expected) in cases {
        assert_eq!(without(list, name), expected);
    }
    let changed = |pointer: &str, value: Value| {
        let mut program = program.clone();
        *program.pointer_mut(pointer).expect("a place") = value;
        problem(&program)
    };
    let arch = |name| changed("/__meta__/arch", json!(name));
    assert_eq!(
        arch("psa"),
        "__meta__.arch: no architecture 'psa'; there are v1model, tna and t2na"
    );
    assert_eq!(arch("tna"), "pipelines: 'ghost': only t2na has a ghost control");
    assert!(arch("v1model").ends_with("primitive 'mirror' is not supported"));
    let types = program["header_types"].as_array().expect("types");
    let tm = types.iter().position(|kind| kind["name"] == "tm_t").expect("the type");
    assert_eq!(
        changed(&format!("/header_types/{tm}/fields/0/1"), json!(64)),
        "the program: no field 'ig_intr_md_for_tm.ucast_egress_port' of at most 63 bits, which t2na needs"
    );
    assert_eq!(
        changed("/field_lists/0/elements/1/bitwidth", json!(7)),
        "field_lists[0].elements: 23 bits are not a whole number of bytes"
    );
    assert_eq!(
        changed("/register_arrays/0/bitwidth", json!(0)),
        "register_arrays[0].initial_value: does not fit into 0 bits"
    );
    assert_eq!(
        changed("/calculations/0/parameters/width", json!(65)),
        "calculations[0].parameters.width: should be an integer from 0 to 64"
    );
}

#[test]
fn control_flow_in_a_circle_is_refused() {
    let parts = Parts {
        ingress: "action say() { hdr.h.b = 2; } table t { key = { hdr.h.a: exact; } actions = { say; } }
                  table u { key = { hdr.h.a: exact; } actions = { say; } }",
        ingress_apply: "t.apply(); u.apply();",
        ..Parts::small()
    };
    let mut program: Value = serde_json::from_str(&parts.json()).expect("JSON");
    let pipelines = program["pipelines"].as_array_mut().expect("pipelines");
    let ingress = pipelines.iter_mut().find(|p| p["name"] == "ingress").expect("ingress");
    let tables = ingress["tables"].as_array_mut().expect("tables");
    let second = tables
        .iter_mut()
        .find(|t| t["name"] == "I.u")
        .expect("the second table");
    for next in second["next_tables"].as_object_mut().expect("next tables").values_mut() {
        *next = json!("I.t");
    }
    assert!(problem(&program).ends_with("its tables and conditions form a cycle"));
}

#[test]
fn huge_sizes_are_refused_without_being_allocated() {
    let parts = Parts {
        ingress: "register<bit<32>>(4) r;",
        ingress_apply: "r.write(0, 1);",
        ..Parts::small()
    };
    let mut program: Value = serde_json::from_str(&parts.json()).expect("JSON");
    program["register_arrays"][0]["size"] = json!(1u64 << 40);
    assert!(problem(&program).contains("register_arrays[0]"));
    program["register_arrays"][0]["size"] = json!(1u64 << 26);
    program["register_arrays"][0]["bitwidth"] = json!(128);
    assert!(problem(&program).ends_with("take too much memory"));
}

#[test]
fn a_byte_order_mark_before_the_program_is_skipped_as_bmv2_does() {
    let marked = format!("\u{feff}{}", *RICH);
    assert!(Pipeline::from_json(marked.as_bytes()).is_ok());
    let within = RICH.replacen('{', "{\u{feff}", 1);
    assert!(matches!(
        Pipeline::from_json(within.as_bytes()),
        Err(LoadError::Syntax(_))
    ));
}
