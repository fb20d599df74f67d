//! A handwritten Tofino program; each test writes the actions of its controls.
#![allow(dead_code)]

use super::queues;
use p4sched_dataplane::{Nanos, Outcomes, Pipeline, Port, Queueing};
use serde_json::{Value, json};

/// Code of a control, and its declarations.
#[derive(Clone, Default)]
pub struct Program {
    pub t2na: bool,
    pub parser_errors_read: bool,
    pub ingress: Vec<Value>,
    pub ingress_deparser: Vec<Value>,
    pub egress: Vec<Value>,
    pub egress_deparser: Vec<Value>,
    pub ghost: Option<Vec<Value>>,
    pub registers: Value,
    pub field_lists: Value,
    pub learn_lists: Value,
}

pub fn field(header: &str, name: &str) -> Value {
    json!({"type": "field", "value": [header, name]})
}

/// A field of the ingress header. The next ones: egress header, metadata of the traffic manager, a local.
pub fn h(name: &str) -> Value {
    field("h", name)
}

pub fn eh(name: &str) -> Value {
    field("egress.h", name)
}

pub fn tm(name: &str) -> Value {
    field("ig_intr_md_for_tm", name)
}

pub fn local(name: &str) -> Value {
    field("scalars", name)
}

pub fn number(value: u64) -> Value {
    json!({"type": "hexstr", "value": format!("{value:#x}")})
}

pub fn op(name: &str, parameters: &[Value]) -> Value {
    json!({"op": name, "parameters": parameters})
}

pub fn assign(to: Value, from: Value) -> Value {
    op("assign", &[to, from])
}

pub fn binary(op: &str, left: Value, right: Value) -> Value {
    json!({"type": "expression", "value": {"type": "expression", "value": {"op": op, "left": left, "right": right}}})
}

/// Skips the next `count` operations unless `a` equals `value`; `at` is the position of this operation.
pub fn unless_equal(at: usize, a: Value, value: u64, count: usize) -> Value {
    op(
        "_jump_if_zero",
        &[binary("==", a, number(value)), number((at + 1 + count) as u64)],
    )
}

pub fn register(name: &str) -> Value {
    json!({"type": "register_array", "value": name})
}

fn widths(fields: &[(&str, u32)]) -> Value {
    fields.iter().map(|(name, width)| json!([name, width, false])).collect()
}

impl Program {
    pub fn json(&self) -> Value {
        let (qid, time, mirror, tail) = if self.t2na { (7, 32, 4, 8) } else { (5, 18, 3, 0) };
        let mut egress_intrinsic = vec![
            ("_pad0", 7),
            ("egress_port", 9),
            ("_pad1", 5),
            ("enq_qdepth", 19),
            ("_pad2", 6),
            ("enq_congest_stat", 2),
            ("_pad3", 32 - time),
            ("enq_tstamp", time),
            ("_pad4", 5),
            ("deq_qdepth", 19),
            ("_pad5", 6),
            ("deq_congest_stat", 2),
            ("app_pool_congest_stat", 8),
            ("_pad6", 32 - time),
            ("deq_timedelta", time),
            ("egress_rid", 16),
            ("_pad7", 7),
            ("egress_rid_first", 1),
            ("_pad8", 8 - qid),
            ("egress_qid", qid),
            ("_pad9", 5),
            ("egress_cos", 3),
            ("_pad10", 7),
            ("deflection_flag", 1),
            ("pkt_length", 16),
            ("_pad11", tail),
        ];
        egress_intrinsic.retain(|(_, width)| *width > 0);
        let from_parser = [("global_tstamp", 48), ("global_ver", 32), ("parser_err", 16)];
        let types = [
            ("h_t", vec![("kind", 8), ("port", 8), ("value", 16), ("big", 32)]),
            (
                "ig_intr_t",
                vec![
                    ("resubmit_flag", 1),
                    ("_pad1", 1),
                    ("packet_version", 2),
                    ("_pad2", 3),
                    ("ingress_port", 9),
                    ("ingress_mac_tstamp", 48),
                ],
            ),
            ("eg_intr_t", egress_intrinsic),
            ("prsr_t", from_parser.to_vec()),
            (
                "ig_dprsr_t",
                vec![
                    ("drop_ctl", 3),
                    ("digest_type", 3),
                    ("resubmit_type", 3),
                    ("mirror_type", mirror),
                ],
            ),
            ("eg_dprsr_t", vec![("drop_ctl", 3), ("mirror_type", mirror)]),
            ("oport_t", vec![("capture_tstamp_on_tx", 1)]),
            (
                "tm_t",
                vec![
                    ("ucast_egress_port", 9),
                    ("bypass_egress", 1),
                    ("ingress_cos", 3),
                    ("qid", qid),
                    ("icos_for_copy_to_cpu", 3),
                    ("copy_to_cpu", 1),
                    ("mcast_grp_a", 16),
                    ("mcast_grp_b", 16),
                    ("rid", 16),
                ],
            ),
            (
                "gh_t",
                vec![("ping_pong", 1), ("qlength", 18), ("qid", 11), ("pipe_id", 2)],
            ),
            (
                "scalars_t",
                vec![
                    ("a", 32),
                    ("b", 32),
                    ("resubmitted", 8),
                    ("userMetadata.user", 16),
                    ("_padding", 3),
                ],
            ),
        ];
        let types: Vec<Value> = types
            .iter()
            .enumerate()
            .map(|(id, (name, fields))| json!({"name": name, "id": id, "fields": widths(fields)}))
            .collect();
        let headers = [
            ("scalars", "scalars_t", true),
            ("h", "h_t", false),
            ("egress.h", "h_t", false),
            ("ig_intr_md", "ig_intr_t", false),
            ("egress.eg_intr_md", "eg_intr_t", false),
            ("ig_intr_md_from_prsr", "prsr_t", true),
            ("eg_intr_md_from_prsr", "prsr_t", true),
            ("ig_intr_md_for_dprsr", "ig_dprsr_t", true),
            ("eg_intr_md_for_dprsr", "eg_dprsr_t", true),
            ("eg_intr_md_for_oport", "oport_t", true),
            ("ig_intr_md_for_tm", "tm_t", true),
            ("gh_intr_md", "gh_t", true),
        ];
        let headers: Vec<Value> = headers.iter().enumerate().map(|(id, (name, kind, metadata))| {
            json!({"name": name, "id": id, "header_type": kind, "metadata": metadata, "pi_omit": true})
        }).collect();
        let extract = |header: &str| json!({"op": "extract", "parameters": [{"type": "regular", "value": header}]});
        let advance = json!({"op": "advance", "parameters": [number(if self.t2na { 192 } else { 64 })]});
        let peek = json!({"op": "set", "parameters": [local("resubmitted"), {"type": "lookahead", "value": [0, 8]}]});
        let to = |next: Option<&str>| json!([{"type": "default", "value": null, "mask": null, "next_state": next}]);
        let state = |id: u32, name: &str, ops: Value, next: Option<&str>| json!({"name": name, "id": id, "parser_ops": ops, "transitions": to(next), "transition_key": []});
        let mut start = state(0, "start", json!([extract("ig_intr_md")]), Some("normal"));
        start["transition_key"] = json!([field("ig_intr_md", "resubmit_flag")]);
        start["transitions"] = json!([
            {"type": "hexstr", "value": "0x01", "mask": null, "next_state": "again"},
            {"type": "default", "value": null, "mask": null, "next_state": "normal"},
        ]);
        let parsers = json!([
            {"name": "ingress_parser", "id": 0, "init_state": "start", "parser_errors_read": self.parser_errors_read,
             "parse_states": [start, state(1, "again", json!([peek]), Some("normal")),
                state(2, "normal", json!([advance, extract("h")]), None)]},
            {"name": "egress_parser", "id": 1, "init_state": "start",
             "parse_states": [state(3, "start", json!([extract("egress.eg_intr_md"), extract("egress.h")]), None)]},
        ]);
        let mut controls = vec![
            ("ingress", self.ingress.clone()),
            ("ingress_deparser", self.ingress_deparser.clone()),
            ("egress", self.egress.clone()),
            ("egress_deparser", self.egress_deparser.clone()),
        ];
        if let Some(ghost) = &self.ghost {
            controls.push(("ghost", ghost.clone()));
        }
        let actions: Vec<Value> = controls.iter().enumerate().map(|(id, (name, primitives))| {
            json!({"name": name, "id": id, "runtime_data": [], "primitives": primitives})
        }).collect();
        let pipelines: Vec<Value> = controls.iter().enumerate().map(|(id, (name, _))| {
            json!({"name": name, "id": id, "init_table": "call", "tables": [], "action_profiles": [], "conditionals": [],
                   "action_calls": [{"name": "call", "id": id, "action_id": id, "next_node": null}]})
        }).collect();
        json!({
            "__meta__": {"version": [2, 23], "compiler": "by hand", "arch": if self.t2na { "t2na" } else { "tna" }},
            "header_types": types, "headers": headers, "header_stacks": [], "parsers": parsers,
            "deparsers": [{"name": "ingress_deparser", "id": 0, "order": ["h"]},
                          {"name": "egress_deparser", "id": 1, "order": ["egress.h"]}],
            "actions": actions, "pipelines": pipelines, "register_arrays": self.registers, "field_lists": self.field_lists,
            "learn_lists": self.learn_lists, "counter_arrays": [], "meter_arrays": [], "calculations": [], "checksums": [],
            "errors": [["NoError", 0], ["PacketTooShort", 1], ["NoMatch", 2], ["StackOutOfBounds", 3],
                       ["HeaderTooShort", 4], ["ParserTimeout", 5], ["ParserInvalidArgument", 6]],
        })
    }

    pub fn load(&self) -> Chip {
        Chip::new(&self.json())
    }
}

/// A pipeline without queueing.
pub struct Chip {
    pub pipeline: Pipeline,
    pub now: Nanos,
    pub out: Outcomes,
    pub queueing: Queueing,
}

impl Chip {
    pub fn new(json: &Value) -> Chip {
        Chip {
            pipeline: super::load(&json.to_string()),
            now: 1_000_000,
            out: Outcomes::default(),
            queueing: Queueing::default(),
        }
    }

    /// Sends a frame in, and returns the frames that come out, with their ports and queues.
    pub fn send(&mut self, port: Port, frame: &[u8]) -> Vec<(Port, u8, Vec<u8>)> {
        queues::send(
            &mut self.pipeline,
            self.now,
            self.queueing,
            (port, frame),
            &mut self.out,
        )
    }
}

/// Code of a control, with conditions.
#[derive(Default)]
pub struct Steps(pub Vec<Value>);

impl Steps {
    pub fn always(mut self, ops: impl IntoIterator<Item = Value>) -> Steps {
        self.0.extend(ops);
        self
    }

    /// Runs `ops` for packets whose field has this value.
    pub fn when(mut self, field: Value, value: u64, ops: impl IntoIterator<Item = Value>) -> Steps {
        let ops: Vec<Value> = ops.into_iter().collect();
        self.0.push(unless_equal(self.0.len(), field, value, ops.len()));
        self.0.extend(ops);
        self
    }
}
