//! JSON and P4Info of Tofino programs.

use p4sched_compiler::{Arch, Compiled, p4info_text};
use serde_json::{Value, json};

use crate::common::tofino::{Chip, compiled_for};

fn json_of(compiled: &Compiled) -> Value {
    serde_json::from_str(&compiled.json).expect("JSON")
}

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list").iter();
    list.map(|o| o["name"].as_str().expect("a name")).collect()
}

/// A table, a register with an action, a counter and a digest.
const COUNTING: Chip = Chip {
    arch: Arch::Tna,
    types: "struct pair_t { bit<32> low; bit<32> high; } Register<bit<16>, bit<4>>(16) shared;",
    metadata: "bit<8> user;",
    parser_locals: "",
    parser: crate::common::tofino::PLAIN,
    ingress: "
        Register<pair_t, bit<8>>(256) cells;
        RegisterAction<pair_t, bit<8>, bit<32>>(cells) grow = {
            void apply(inout pair_t value, out bit<32> low) { value.low = value.low + 1; low = value.low; }
        };
        DirectCounter<bit<64>>(CounterType_t.PACKETS) hits;
        action go(PortId_t port) { tm.ucast_egress_port = port; hits.count(); grow.execute(hdr.h.a); }
        table ports {
            key = { hdr.h.a: exact; }
            actions = { go; NoAction; }
            const default_action = NoAction();
            counters = hits;
            size = 16;
        }",
    ingress_apply: "ports.apply();",
    deparser_locals: "Digest<pair_t>() seen;",
    deparser: "if (dprsr.digest_type == 1) { seen.pack({ 1, 2 }); }",
    egress: "",
    egress_apply: "",
    egress_deparser_locals: "",
    egress_deparser: "",
    ghost: "",
};

#[test]
fn blocks_and_storage_have_the_names_of_their_side() {
    let json = json_of(&COUNTING.compiled());
    assert_eq!(json["__meta__"]["arch"], "tna");
    assert_eq!(names(&json["parsers"]), ["ingress_parser", "egress_parser"]);
    assert_eq!(names(&json["deparsers"]), ["ingress_deparser", "egress_deparser"]);
    assert_eq!(
        names(&json["pipelines"]),
        ["ingress", "ingress_deparser", "egress", "egress_deparser"]
    );
    let headers = names(&json["headers"]);
    for wanted in [
        "h",
        "egress.h",
        "ig_intr_md",
        "eg_intr_md",
        "ig_intr_md_for_tm",
        "eg_intr_md_for_oport",
    ] {
        assert!(headers.contains(&wanted), "{headers:?}");
    }
    let scalars = json["header_types"][0]["fields"].as_array().expect("fields");
    assert!(scalars.contains(&json!(["userMetadata.user", 8, false])), "{scalars:?}");
    assert_eq!(json["pipelines"][3]["init_table"], Value::Null);
    let ghost = Chip {
        arch: Arch::T2na,
        ghost: "apply {}",
        ..Chip::default()
    };
    let json = json_of(&ghost.compiled());
    assert_eq!(json["__meta__"]["arch"], "t2na");
    assert_eq!(names(&json["pipelines"])[4], "ghost");
    assert!(names(&json["headers"]).contains(&"gh_intr_md"));
}

#[test]
fn tables_and_externs_begin_with_the_pipe_and_actions_do_not() {
    let compiled = COUNTING.compiled();
    let json = json_of(&compiled);
    assert_eq!(names(&json["register_arrays"]), ["pipe.shared", "pipe.I.cells"]);
    let info = &compiled.p4info;
    assert_eq!(info.pkg_info.as_ref().expect("a package").arch, "tna");
    let name = |preamble: &Option<p4sched_proto::p4::config::v1::Preamble>| {
        let preamble = preamble.as_ref().expect("a preamble");
        (preamble.name.clone(), preamble.alias.clone())
    };
    let pair = |name: &str, alias: &str| (name.to_owned(), alias.to_owned());
    assert_eq!(name(&info.tables[0].preamble), pair("pipe.I.ports", "ports"));
    assert_eq!(name(&info.actions[1].preamble), pair("I.go", "go"));
    assert_eq!(name(&info.direct_counters[0].preamble), pair("pipe.I.hits", "hits"));
    assert_eq!(name(&info.registers[1].preamble), pair("pipe.I.cells", "cells"));
    assert_eq!(name(&info.digests[0].preamble), pair("pipe.ID.seen", "seen"));
    let text = p4info_text(info);
    assert!(text.contains("struct {\n      name: \"pair_t\""), "{text}");
}

#[test]
fn a_pipe_without_a_name_is_the_first() {
    let text = COUNTING.source();
    let pipe = text.find("Pipeline(IP()").expect("the pipe");
    let end = text.find("Switch(pipe)").expect("the switch");
    let anonymous = text[pipe..end].trim().trim_end_matches("pipe;").trim().to_owned();
    let text = format!("{}Switch({anonymous}) main;", &text[..pipe]);
    let compiled = compiled_for(Arch::Tna, &text);
    assert_eq!(names(&json_of(&compiled)["register_arrays"])[1], "pipe0.I.cells");
}

/// The primitives of the action with this name.
fn code<'a>(json: &'a Value, action: &str) -> Vec<&'a str> {
    let list = json["actions"].as_array().expect("actions");
    let action = list.iter().find(|a| a["name"] == action).expect("the action");
    let list = action["primitives"].as_array().expect("primitives").iter();
    list.map(|p| p["op"].as_str().expect("a name")).collect()
}

#[test]
fn a_register_action_stands_in_place() {
    let json = json_of(&COUNTING.compiled());
    let go = code(&json, "I.go");
    assert_eq!(
        (go[0], go[2], go[go.len() - 1]),
        ("assign", "register_read", "register_write")
    );
    assert!(!json.to_string().contains("execute_register_action"));
    let cells = &json["register_arrays"][1];
    assert_eq!((&cells["bitwidth"], &cells["size"]), (&json!(64), &json!(256)));
}

#[test]
fn jumps_count_the_primitives_of_register_actions() {
    let chip = Chip {
        ingress: "
            Register<bit<8>, bit<1>>(1) cell;
            RegisterAction<bit<8>, bit<1>, bit<8>>(cell) step = {
                void apply(inout bit<8> value) { if (value < 9) { value = value + 1; } }
            };",
        ingress_apply: "if (hdr.h.a == 1) { step.execute(0); } else { hdr.h.b = 1; } hdr.h.c = 2;",
        ..Chip::default()
    };
    let json = json_of(&chip.compiled());
    let action = &json["actions"][0]["primitives"];
    let list = action.as_array().expect("primitives");
    let target = |p: &Value| -> usize {
        let last = p["parameters"].as_array().and_then(|a| a.last()).expect("a target");
        usize::from_str_radix(&last["value"].as_str().expect("a number")[2..], 16).expect("a number")
    };
    let jumps: Vec<(usize, usize)> = list
        .iter()
        .enumerate()
        .filter(|(_, p)| p["op"].as_str().expect("a name").starts_with("_jump"))
        .map(|(i, p)| (i, target(p)))
        .collect();
    // The jumps go to the other branch, over one step of the register action, and over the other branch.
    let write = list.iter().position(|p| p["op"] == "register_write").expect("a write");
    assert_eq!(jumps.len(), 3);
    assert_eq!(jumps[1].1, write);
    assert_eq!((jumps[0].1, jumps[2].1), (jumps[2].0 + 1, list.len() - 1));
}

#[test]
fn a_cells_first_value_and_the_registers_of_a_table_are_reported() {
    let chip = Chip {
        types: "struct pair_t { bit<8> high; bit<8> low; }",
        ingress: "
            Register<pair_t, bit<1>>(1, { 1, 2 }) cell;
            DirectRegister<bit<8>>() of_table;
            DirectRegisterAction<bit<8>, bit<8>>(of_table) hit = { void apply(inout bit<8> value) { value = 1; } };
            action note() { hit.execute(); }
            table t { key = { hdr.h.a: exact; } actions = { note; } registers = of_table; size = 8; }",
        ingress_apply: "t.apply(); pair_t now = cell.read(0); hdr.h.b = now.low;",
        ..Chip::default()
    };
    let compiled = chip.compiled();
    let json = json_of(&compiled);
    let registers = json["register_arrays"].as_array().expect("registers");
    assert_eq!(registers[0]["initial_value"], "0x0102");
    assert_eq!(
        (&registers[1]["is_direct"], &registers[1]["size"]),
        (&json!(true), &json!(8))
    );
    let tables = json["pipelines"][0]["tables"].as_array().expect("tables").iter();
    let told: Vec<&Value> = tables
        .map(|t| &t["direct_registers"])
        .filter(|t| !t.is_null())
        .collect();
    let wanted = json!({"cell": ["scalars", "entry_cell"], "registers": ["pipe.I.of_table"]});
    assert_eq!(told, [&wanted]);
    // P4Runtime has no direct registers.
    assert_eq!(compiled.p4info.registers.len(), 1);
}

#[test]
fn a_selector_is_its_profile_for_the_control_plane() {
    let chip = Chip {
        ingress: "
            ActionProfile(64) members;
            Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
            ActionSelector(members, hash, SelectorMode_t.FAIR, 8, 4) chosen;
            action go(PortId_t port) { tm.ucast_egress_port = port; }
            table t {
                key = { hdr.h.a: exact; hdr.h.c: selector; }
                actions = { go; }
                implementation = chosen;
            }",
        ingress_apply: "t.apply();",
        ..Chip::default()
    };
    let compiled = chip.compiled();
    let profile = &compiled.p4info.action_profiles[0];
    assert_eq!(profile.preamble.as_ref().expect("a preamble").name, "pipe.I.members");
    assert_eq!(
        (profile.with_selector, profile.size, profile.max_group_size),
        (true, 64, 8)
    );
    let json = json_of(&compiled);
    assert_eq!(json["pipelines"][0]["action_profiles"][0]["selector"]["algo"], "crc16");
}

#[test]
fn a_parser_says_whether_its_errors_are_read() {
    let read = |apply: &str| {
        let chip = Chip {
            ingress_apply: apply,
            ..Chip::default()
        };
        json_of(&chip.compiled())["parsers"][0]["parser_errors_read"].clone()
    };
    assert_eq!(read(""), Value::Null);
    assert_eq!(read("if (from.parser_err != 0) { hdr.h.a = 1; }"), true);
    assert_eq!(read("hdr.h.c = from.parser_err;"), true);
}
