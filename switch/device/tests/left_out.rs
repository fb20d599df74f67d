//! P4Info that has more objects than the program: p4c leaves objects that do nothing out of the JSON.

use p4sched_compiler::{Compiled, EmbeddedIncludes, Input, Options, compile};
use p4sched_device::{Code, Fault, Program};
use p4sched_proto::p4::v1 as p4rt;

/// Compiles a program with these declarations and statements in ingress.
fn compiled(locals: &str, body: &str) -> Compiled {
    let text = format!(
        "#include <core.p4>
         #include <v1model.p4>
         header h_t {{ bit<8> a; bit<8> b; }}
         struct headers_t {{ h_t h; }}
         struct meta_t {{}}
         parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{
             state start {{ p.extract(hdr.h); transition accept; }}
         }}
         control C(inout headers_t hdr, inout meta_t meta) {{ apply {{}} }}
         control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{
             action forward() {{ sm.egress_spec = 1; }}
             {locals}
             apply {{ {body} }}
         }}
         control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{}} }}
         control D(packet_out p, in headers_t hdr) {{ apply {{ p.emit(hdr.h); }} }}
         V1Switch(P(), C(), I(), E(), C(), D()) main;"
    );
    let input = Input {
        name: "test.p4",
        text: &text,
    };
    match compile(&input, &EmbeddedIncludes, &Options::default()) {
        Ok(compiled) => compiled,
        Err(diagnostics) => panic!("{diagnostics}"),
    }
}

/// Loads the program of the first argument with the P4Info of the second.
fn load(json: &Compiled, p4info: &Compiled) -> Result<Program, Fault> {
    Program::new(p4rt::ForwardingPipelineConfig {
        p4info: Some(p4info.p4info.clone()),
        p4_device_config: json.json.clone().into_bytes(),
        cookie: None,
    })
}

const T: &str = "table t { key = { hdr.h.a: exact; } actions = { forward; } }";
const IDLE: &str = "action_selector(HashAlgorithm.crc16, 8, 8) s;
    direct_counter(CounterType.packets) c;
    table idle { key = { hdr.h.b: exact; } actions = { NoAction; } counters = c; }";

#[test]
fn a_table_that_does_nothing_may_be_left_out_of_the_json() {
    let json = compiled(T, "t.apply();");
    let all = compiled(&format!("{T} {IDLE}"), "t.apply(); idle.apply();");
    let program = load(&json, &all).unwrap();
    let mut device = crate::fixture::device(Box::new(|_| true));
    device.commit(program).unwrap();
    let id = |name: &str| {
        let tables = all.p4info.tables.iter().filter_map(|t| t.preamble.as_ref());
        tables.filter(|p| p.alias == name).map(|p| p.id).next().unwrap()
    };
    let mut read = |table| {
        let entity = p4rt::Entity {
            entity: Some(p4rt::entity::Entity::TableEntry(p4rt::TableEntry {
                table_id: table,
                ..Default::default()
            })),
        };
        device.read(&[entity], 0).unwrap().remove(0)
    };
    assert_eq!(read(id("t")).unwrap(), []);
    let fault = read(id("idle")).unwrap_err();
    assert_eq!(fault.code, Code::InvalidArgument);
    assert!(fault.message.contains("'I.idle' is not in the program"), "{fault}");
}

#[test]
fn p4info_of_another_program_is_refused() {
    let json = compiled(T, "t.apply();");
    let other = compiled(IDLE, "idle.apply();");
    let fault = load(&json, &other).unwrap_err();
    assert!(fault.message.contains("the program has no table 'I.idle'"), "{fault}");
}

#[test]
fn p4info_in_which_a_table_has_another_name_is_refused() {
    let json = compiled(&format!("{T} {IDLE}"), "t.apply(); idle.apply();");
    let renamed = IDLE.replace("table idle", "table gone");
    let other = compiled(&format!("{T} {renamed}"), "t.apply(); gone.apply();");
    let fault = load(&json, &other).unwrap_err();
    assert!(fault.message.contains("the program has no table 'I.gone'"), "{fault}");
}

#[test]
fn a_key_of_type_error_is_as_wide_as_in_the_program() {
    let table = "table t { key = { sm.parser_error: exact; } actions = { forward; } }";
    let program = compiled(table, "t.apply();");
    load(&program, &program).unwrap();
}
