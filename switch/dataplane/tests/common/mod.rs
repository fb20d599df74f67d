//! A program around the parts under test, and a switch without queues to run it.
#![allow(dead_code)]

mod queues;
pub mod tofino;

use p4sched_compiler::{EmbeddedIncludes, Input, Options, compile};
use p4sched_dataplane::{ActionCall, MatchKey, Nanos, Outcomes, Pipeline, Port, Queueing, TableId};

/// The parts of a v1model program; an empty part does nothing.
#[derive(Clone, Copy, Default)]
pub struct Parts<'a> {
    /// Types, constants and errors before the parser. Must declare `headers_t` and `meta_t`.
    pub types: &'a str,
    pub parser: &'a str,
    pub verify: &'a str,
    /// Declarations of the ingress control.
    pub ingress: &'a str,
    pub ingress_apply: &'a str,
    pub egress: &'a str,
    pub egress_apply: &'a str,
    pub update: &'a str,
    pub deparser: &'a str,
}

/// A header of four bytes, like Ethernet's, and user metadata.
pub const SMALL: &str = "
header h_t { bit<8> a; bit<8> b; bit<16> c; }
struct headers_t { h_t h; }
struct meta_t { @field_list(1) bit<8> kept; bit<8> lost; }
";

impl<'a> Parts<'a> {
    /// A program about the header `h` of [`SMALL`].
    pub fn small() -> Self {
        Parts {
            types: SMALL,
            parser: "state start { p.extract(hdr.h); transition accept; }",
            deparser: "p.emit(hdr.h);",
            ..Parts::default()
        }
    }

    pub fn source(&self) -> String {
        format!(
            "#include <core.p4>
#include <v1model.p4>
{}
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ {} }}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ {} }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ {} apply {{ {} }} }}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ {} apply {{ {} }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ {} }} }}
control D(packet_out p, in headers_t hdr) {{ apply {{ {} }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
",
            self.types,
            self.parser,
            self.verify,
            self.ingress,
            self.ingress_apply,
            self.egress,
            self.egress_apply,
            self.update,
            self.deparser
        )
    }

    pub fn json(&self) -> String {
        let text = self.source();
        let input = Input {
            name: "test.p4",
            text: &text,
        };
        match compile(&input, &EmbeddedIncludes, &Options::default()) {
            Ok(compiled) => compiled.json,
            Err(diagnostics) => panic!("{diagnostics}\n{text}"),
        }
    }

    pub fn load(&self) -> Switch {
        Switch::new(&self.json())
    }
}

/// Loads a program: compiled, or interpreted if the environment has `P4SCHED_INTERPRET`. `make test` runs the tests
/// both ways.
pub fn load(json: &str) -> Pipeline {
    match Pipeline::from_json(json.as_bytes()) {
        Ok(mut pipeline) => {
            if std::env::var_os("P4SCHED_INTERPRET").is_none() {
                assert!(pipeline.compile(), "no code for this processor");
            }
            pipeline
        }
        Err(error) => panic!("{error}\n{json}"),
    }
}

/// A pipeline without queueing: every packet goes from ingress straight to egress.
pub struct Switch {
    pub pipeline: Pipeline,
    pub now: Nanos,
    pub out: Outcomes,
    /// Queue lengths that egress gets.
    pub queueing: Queueing,
}

impl Switch {
    pub fn new(json: &str) -> Switch {
        Switch {
            pipeline: load(json),
            now: 1_000_000,
            out: Outcomes::default(),
            queueing: Queueing::default(),
        }
    }

    /// Sends a frame in, and returns all frames that come out, in order. Recirculated frames come out after another
    /// pass.
    pub fn send(&mut self, port: Port, frame: &[u8]) -> Vec<(Port, Vec<u8>)> {
        let queueing = Queueing {
            enq_ns: self.now,
            ..self.queueing
        };
        let sent = queues::send(&mut self.pipeline, self.now, queueing, (port, frame), &mut self.out);
        sent.into_iter().map(|(port, _, frame)| (port, frame)).collect()
    }

    /// The one frame that comes out.
    pub fn forward(&mut self, frame: &[u8]) -> (Port, Vec<u8>) {
        let mut sent = self.send(1, frame);
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.remove(0)
    }

    pub fn table(&self, name: &str) -> TableId {
        self.pipeline.table(name).unwrap_or_else(|| panic!("no table {name}"))
    }

    /// An action of a table, by its name without the control.
    pub fn call(&self, table: &str, action: &str, params: &[&[u8]]) -> ActionCall {
        let table = self.table(table);
        let full = format!("I.{action}");
        let action = self
            .pipeline
            .table_action(table, &full)
            .or(self.pipeline.table_action(table, action));
        let action = action.unwrap_or_else(|| panic!("no action {full}"));
        ActionCall::Action {
            action,
            params: params.iter().map(|p| p.to_vec()).collect(),
        }
    }

    pub fn insert(&mut self, table: &str, key: &[MatchKey], priority: i32, action: &str, params: &[&[u8]]) {
        let call = self.call(table, action, params);
        let table = self.table(table);
        self.pipeline
            .table_insert(table, key, priority, &call)
            .expect("room for an entry");
    }
}
