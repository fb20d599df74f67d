//! BMv2 JSON: names, numbers and references (BMv2's docs/JSON_format.md).

use p4sched_compiler::{EmbeddedIncludes, IncludeResolver, Input, Options, compile, embedded};
use serde_json::{Value, json};

use super::ROUTER;
use crate::common::{compiled, switch::Parts};

fn json_of(text: &str) -> Value {
    without_places(serde_json::from_str(&compiled(text).json).expect("JSON"))
}

/// The same value without `source_info`.
fn without_places(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let rest = fields.into_iter().filter(|(name, _)| name != "source_info");
            Value::Object(rest.map(|(name, value)| (name, without_places(value))).collect())
        }
        Value::Array(list) => list.into_iter().map(without_places).collect(),
        other => other,
    }
}

/// The object with this name in a list.
#[track_caller]
fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let found = list.as_array().and_then(|list| list.iter().find(|o| o["name"] == name));
    found.unwrap_or_else(|| panic!("no {name} in {list}"))
}

/// A v1model.p4 whose standard metadata also has the queue.
struct WithQueue;

impl IncludeResolver for WithQueue {
    fn include(&self, path: &str, _from: &str, _angled: bool) -> Option<(String, String)> {
        let alias = |name: &str| format!("@alias(\"{name}\")");
        let priority = alias("intrinsic_metadata.priority");
        let queue = format!("{} bit<5> queue; {priority}", alias("queueing_metadata.qid"));
        Some((path.to_owned(), embedded(path)?.replace(&priority, &queue)))
    }
}

#[test]
fn aliases_are_those_of_the_annotations_in_the_architecture() {
    let aliases = |includes: &dyn IncludeResolver| {
        let input = Input {
            name: "router.p4",
            text: ROUTER,
        };
        let compiled = compile(&input, includes, &Options::default()).expect("the program is right");
        let json: Value = serde_json::from_str(&compiled.json).expect("JSON");
        json["field_aliases"].as_array().expect("a list").clone()
    };
    let ours = aliases(&EmbeddedIncludes);
    assert_eq!(ours.len(), 9);
    assert_eq!(
        ours[0],
        json!([
            "queueing_metadata.enq_timestamp",
            ["standard_metadata", "enq_timestamp"]
        ])
    );
    let mut expected = ours.clone();
    expected.insert(8, json!(["queueing_metadata.qid", ["standard_metadata", "queue"]]));
    assert_eq!(aliases(&WithQueue), expected);
}

#[test]
fn header_types_have_the_fields_with_their_widths() {
    let json = json_of(ROUTER);
    let fields = |name| named(&json["header_types"], name)["fields"].clone();
    assert_eq!(
        fields("eth_t"),
        json!([["dst", 48, false], ["src", 48, false], ["type", 16, false]])
    );
    assert_eq!(fields("opt_t"), json!([["len", 8, false], ["data", "*"]]));
    // The longest header: one byte, and 64 bits of the varbit field.
    assert_eq!(named(&json["header_types"], "opt_t")["max_length"], 9);
}

#[test]
fn variables_are_fields_of_one_metadata_header_filled_up_to_bytes() {
    let json = json_of(ROUTER);
    let scalars = named(&json["headers"], "scalars");
    assert_eq!(scalars["metadata"], true);
    let fields = &named(&json["header_types"], scalars["header_type"].as_str().expect("a name"))["fields"];
    assert_eq!(
        *fields,
        json!([
            ["userMetadata.class", 8, false],
            ["userMetadata.ok", 1, false],
            ["userMetadata.level", 4, true],
            ["I.n", 16, false],
            ["tmp", 8, false],
            ["tmp_0", 1, false],
            ["tmp_1", 4, true],
            ["_padding_0", 6, false]
        ])
    );
}

#[test]
fn a_stack_is_one_header_an_element() {
    let json = json_of(ROUTER);
    let stack = named(&json["header_stacks"], "tags");
    let ids: Vec<&Value> = ["tags[0]", "tags[1]"]
        .iter()
        .map(|n| &named(&json["headers"], n)["id"])
        .collect();
    assert_eq!((&stack["size"], &stack["header_type"]), (&json!(2), &json!("tag_t")));
    assert_eq!(stack["header_ids"], json!(ids));
}

#[test]
fn errors_are_numbered_in_the_order_of_their_declaration() {
    let json = json_of(ROUTER);
    assert_eq!(json["errors"][0], json!(["NoError", 0]));
    assert_eq!(json["errors"][6], json!(["ParserInvalidArgument", 6]));
    assert_eq!(json["errors"][7], json!(["Odd", 7]));
}

#[test]
fn parser_states_extract_and_go_on_by_their_keys() {
    let json = json_of(ROUTER);
    let parser = &json["parsers"][0];
    assert_eq!(parser["init_state"], "start");
    let states = &parser["parse_states"];
    assert_eq!(
        *named(states, "start"),
        json!({
            "name": "start", "id": 0,
            "parser_ops": [{"op": "extract", "parameters": [{"type": "regular", "value": "eth"}]}],
            "transition_key": [{"type": "field", "value": ["eth", "type"]}],
            "transitions": [
                {"type": "hexstr", "value": "0x8100", "mask": null, "next_state": "tag"},
                {"type": "hexstr", "value": "0x1000", "mask": "0xf000", "next_state": "opt"},
                {"type": "parse_vset", "value": "P.tunnels", "mask": null, "next_state": "opt"},
                {"type": "default", "value": null, "mask": null, "next_state": null},
            ],
        })
    );
    // Two keys are joined, each in whole bytes; the mask of `_` is zero.
    let tag = named(states, "tag");
    assert_eq!(
        tag["parser_ops"][0],
        json!({"op": "extract", "parameters": [{"type": "stack", "value": "tags"}]})
    );
    assert_eq!(
        (&tag["transitions"][0]["value"], &tag["transitions"][0]["mask"]),
        (&json!("0x810000"), &json!("0xffff00"))
    );
    let ops: Vec<&Value> = named(states, "opt")["parser_ops"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|o| &o["op"])
        .collect();
    assert_eq!(ops, ["extract_VL", "verify", "set"]);
}

#[test]
fn tables_have_keys_actions_size_and_what_is_attached() {
    let json = json_of(ROUTER);
    let tables = &json["pipelines"][0]["tables"];
    let route = named(tables, "I.route");
    let key = |i: usize| {
        let k = &route["key"][i];
        (
            k["name"].as_str().expect("a name"),
            k["match_type"].as_str().expect("a kind"),
            k["target"].clone(),
        )
    };
    assert_eq!(key(0), ("hdr.eth.dst", "exact", json!(["eth", "dst"])));
    assert_eq!(key(1), ("hdr.eth.type", "ternary", json!(["eth", "type"])));
    assert_eq!(
        key(2),
        ("sm.ingress_port", "range", json!(["standard_metadata", "ingress_port"]))
    );
    assert_eq!(key(3), ("hdr.opt.$valid$", "exact", json!(["opt", "$valid$"])));
    assert_eq!(key(4), ("vlan", "lpm", json!(["tags[0]", "v"])));
    // The match kind of the table is the most general one of its keys.
    assert_eq!(route["match_type"], "range");
    assert_eq!(
        (&route["max_size"], &route["with_counters"]),
        (&json!(100), &json!(true))
    );
    assert_eq!(route["actions"], json!(["I.forward", "I.drop", "NoAction"]));
    let ids: Vec<&Value> = ["I.forward", "I.drop", "NoAction"]
        .iter()
        .map(|n| &named(&json["actions"], n)["id"])
        .collect();
    assert_eq!(route["action_ids"], json!(ids));
    assert_eq!(route["default_entry"]["action_id"], *ids[2]);
    assert_eq!(route["default_entry"]["action_const"], false);
}

#[test]
fn entries_of_the_program_come_in_order_with_their_values_in_hexadecimal() {
    let json = json_of(ROUTER);
    let table = named(&json["pipelines"][0]["tables"], "acl");
    let drop = named(&json["actions"], "I.drop2")["id"].clone();
    assert_eq!(
        table["entries"][0],
        json!({"match_key": [{"match_type": "ternary", "key": "0x01", "mask": "0xff"}],
               "action_entry": {"action_id": drop, "action_data": []}, "priority": 1})
    );
    assert_eq!(
        table["entries"][1]["match_key"],
        json!([{"match_type": "ternary", "key": "0x00", "mask": "0x00"}])
    );
    assert_eq!(table["default_entry"]["action_const"], true);
}

#[test]
fn actions_have_their_parameters_in_order() {
    let json = json_of(ROUTER);
    let forward = named(&json["actions"], "I.forward");
    assert_eq!(
        forward["runtime_data"],
        json!([{"name": "port", "bitwidth": 9}, {"name": "mac", "bitwidth": 48}])
    );
    assert_eq!(
        forward["primitives"][1],
        json!({"op": "assign", "parameters": [{"type": "field", "value": ["eth", "dst"]}, {"type": "runtime_data", "value": 1}]})
    );
}

#[test]
fn the_graph_joins_tables_conditions_and_hidden_tables() {
    let json = json_of(ROUTER);
    let ingress = &json["pipelines"][0];
    assert_eq!(ingress["init_table"], "I.route");
    let route = named(&ingress["tables"], "I.route");
    let node = route["next_tables"]["__MISS__"].as_str().expect("a node");
    let condition = named(&ingress["conditionals"], node);
    assert_eq!(
        (&condition["true_next"], &condition["false_next"]),
        (&json!("acl"), &json!("I.spread"))
    );
    // Both branches continue at the statements after the decision, which end the pipeline.
    let rest = named(&ingress["tables"], "acl")["base_default_next"]
        .as_str()
        .expect("a table");
    assert_eq!(named(&ingress["tables"], "I.spread")["base_default_next"], rest);
    assert_eq!(named(&ingress["tables"], rest)["base_default_next"], Value::Null);
    assert_eq!(json["pipelines"][1]["init_table"], Value::Null);
}

#[test]
fn decisions_between_tables_become_jumps_in_one_action() {
    let text = Parts {
        ingress_apply: "if (hdr.h.a == 1) { hdr.h.b = 2; } else { hdr.h.b = 3; } hdr.h.c = 4;",
        ..Parts::small()
    }
    .source();
    let json = json_of(&text);
    assert_eq!(json["pipelines"][0]["conditionals"], json!([]));
    let primitives = json["actions"][0]["primitives"].as_array().expect("a list").clone();
    let ops: Vec<&Value> = primitives.iter().map(|p| &p["op"]).collect();
    assert_eq!(ops, ["_jump_if_zero", "assign", "_jump", "assign", "assign"]);
    // To the other branch, and past it.
    assert_eq!(primitives[0]["parameters"][1]["value"], "0x3");
    assert_eq!(primitives[2]["parameters"][0]["value"], "0x4");
}

#[test]
fn externs_have_sizes_and_widths() {
    let json = json_of(ROUTER);
    let register = named(&json["register_arrays"], "I.depths");
    assert_eq!((&register["size"], &register["bitwidth"]), (&json!(64), &json!(16)));
    let counter = named(&json["counter_arrays"], "I.seen");
    assert_eq!((&counter["size"], &counter["is_direct"]), (&json!(512), &json!(false)));
    let direct = named(&json["counter_arrays"], "I.hits");
    assert_eq!(
        (&direct["is_direct"], &direct["binding"]),
        (&json!(true), &json!("I.route"))
    );
    let selector = named(&json["pipelines"][0]["action_profiles"], "I.members");
    assert_eq!(selector["max_size"], 32);
    assert_eq!(
        selector["selector"],
        json!({"algo": "crc16", "input": [{"type": "field", "value": ["eth", "src"]}]})
    );
    let set = named(&json["parse_vsets"], "P.tunnels");
    assert_eq!((&set["compressed_bitwidth"], &set["max_size"]), (&json!(16), &json!(8)));
}

#[test]
fn checksums_name_their_calculation_and_condition() {
    let json = json_of(ROUTER);
    let (verify, update) = (&json["checksums"][0], &json["checksums"][1]);
    assert_eq!((&verify["verify"], &verify["update"]), (&json!(true), &json!(false)));
    assert_eq!((&update["verify"], &update["update"]), (&json!(false), &json!(true)));
    let calculation = named(&json["calculations"], verify["calculation"].as_str().expect("a name"));
    assert_eq!(calculation["algo"], "csum16");
    assert_eq!(
        calculation["input"],
        json!([{"type": "field", "value": ["eth", "dst"]}, {"type": "field", "value": ["eth", "src"]}])
    );
}

#[test]
fn the_deparser_lists_headers_in_the_order_of_emission() {
    assert_eq!(
        json_of(ROUTER)["deparsers"][0]["order"],
        json!(["eth", "tags[0]", "tags[1]", "opt"])
    );
}

#[test]
fn digests_list_variables_that_keep_the_values_of_the_call() {
    let json = json_of(ROUTER);
    let fields = ["tmp", "tmp_0", "tmp_1"];
    let elements: Vec<Value> = fields
        .iter()
        .map(|f| json!({"type": "field", "value": ["scalars", f]}))
        .collect();
    assert_eq!(named(&json["learn_lists"], "meta_t")["elements"], json!(elements));
}

#[test]
fn field_lists_keep_the_annotated_fields() {
    let text = Parts {
        ingress_apply: "clone_preserving_field_list(CloneType.I2E, 5, 1);",
        ..Parts::small()
    }
    .source();
    let json = json_of(&text);
    assert_eq!(
        json["field_lists"][0]["elements"],
        json!([{"type": "field", "value": ["scalars", "userMetadata.kept"]}])
    );
}

#[test]
fn numbers_of_field_lists_may_be_constants() {
    let text = Parts {
        ingress_apply: "clone_preserving_field_list(CloneType.I2E, 5, KEPT);",
        ..Parts::small()
    };
    let constants = "const int FIRST = 4; const bit<8> KEPT = FIRST + 3;\nstruct meta_t";
    let text = text.source().replacen("struct meta_t", constants, 1);
    let text = text.replacen("@field_list(1)", "@field_list(2, KEPT)", 1);
    let json = json_of(&text);
    assert_eq!(
        json["field_lists"][0]["elements"],
        json!([{"type": "field", "value": ["scalars", "userMetadata.kept"]}])
    );
}

#[test]
fn places_in_the_source_are_kept_for_the_log() {
    let json: Value = serde_json::from_str(&compiled(ROUTER).json).expect("JSON");
    let line = ROUTER.lines().position(|l| l.contains("table route")).expect("a line") + 1;
    let info = &named(&json["pipelines"][0]["tables"], "I.route")["source_info"];
    assert_eq!(
        *info,
        json!({"filename": "test.p4", "line": line, "column": 10, "source_fragment": "route"})
    );
}

/// Nesting depth of a value.
fn depth(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        _ => 1,
    }
}

#[test]
fn long_expressions_do_not_nest_deeper_than_readers_of_json_take() {
    let sum = |n: usize| vec!["one"; n].join(" + ");
    let condition = (0..200)
        .map(|i| format!("hdr.h.c == {i}"))
        .collect::<Vec<_>>()
        .join(" || ");
    let choice: String = (0..100).map(|i| format!("hdr.h.b == {i} ? 8w{i} : ")).collect();
    let apply = format!(
        "sm.egress_spec = 2; bit<8> one = hdr.h.a; if ({condition}) {{ hdr.h.a = {}; }} else {{ hdr.h.a = {choice} 7; }}",
        sum(3000)
    );
    let parts = Parts {
        ingress_apply: &apply,
        ..Parts::small()
    };
    let json: Value = serde_json::from_str(&parts.json()).expect("readable JSON");
    assert!(depth(&json) < 128, "{}", depth(&json));
    let mut switch = parts.load();
    // 3000 mod 256 = 184
    assert_eq!(switch.forward(&[1, 0, 0, 199]).1, [184, 0, 0, 199]);
    assert_eq!(switch.forward(&[1, 99, 0, 200]).1, [99, 99, 0, 200]);
    assert_eq!(switch.forward(&[1, 100, 0, 200]).1, [7, 100, 0, 200]);
}

#[test]
fn large_headers_are_compared_without_deep_nesting() {
    let fields: String = (0..120).map(|i| format!("bit<8> f{i}; ")).collect();
    let types = format!("header h_t {{ {fields} }} struct headers_t {{ h_t h; h_t i; }} struct meta_t {{ bit<8> x; }}");
    let mut switch = Parts {
        types: &types,
        parser: "state start { p.extract(hdr.h); p.extract(hdr.i); transition accept; }",
        ingress_apply: "sm.egress_spec = 2; if (hdr.h == hdr.i) { sm.egress_spec = 3; }",
        deparser: "p.emit(hdr.h);",
        ..Parts::default()
    }
    .load();
    let mut frame = [5; 240];
    assert_eq!(switch.forward(&frame).0, 3);
    frame[239] = 6;
    assert_eq!(switch.forward(&frame).0, 2);
}

/// True if an expression contains a lookahead, which BMv2 does not accept there.
fn looks_ahead_within(value: &Value, inside: bool) -> bool {
    match value {
        Value::Object(fields) if inside && fields.get("type") == Some(&json!("lookahead")) => true,
        Value::Object(fields) => {
            let inside = inside || fields.get("type") == Some(&json!("expression"));
            fields.values().any(|v| looks_ahead_within(v, inside))
        }
        Value::Array(list) => list.iter().any(|v| looks_ahead_within(v, inside)),
        _ => false,
    }
}

#[test]
fn a_look_ahead_is_never_part_of_an_expression() {
    let types = "header h_t { bit<8> a; varbit<64> v; } struct headers_t { h_t h; } struct meta_t { bit<8> kept; }";
    let text = Parts {
        types,
        parser: "state start { p.extract(hdr.h, (bit<32>)(p.lookahead<bit<8>>() & 7) * 8);
            meta.kept = p.lookahead<bit<16>>()[7:0] + 1; p.advance((bit<32>)p.lookahead<bit<8>>());
            verify(p.lookahead<bit<8>>() != 3, error.NoMatch);
            transition select(p.lookahead<bit<8>>() + 1, p.lookahead<bit<8>>()) { (1, 2): accept; default: reject; } }",
        ..Parts::small()
    }
    .source();
    let json = json_of(&text);
    assert!(json.to_string().contains("lookahead"));
    assert!(!looks_ahead_within(&json, false), "{json}");
}
