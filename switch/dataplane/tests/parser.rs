//! The parser: extraction, short packets, errors, look-ahead, stacks, variable-length fields, value sets.

use crate::common::Parts;

/// Puts the parser error into `h.a` and the validity of `h` into `h.b`, and sends the packet to port 2.
const REPORT: &str = "
    bit<8> code = 0xff;
    if (sm.parser_error == error.NoError) { code = 0; }
    else if (sm.parser_error == error.PacketTooShort) { code = 1; }
    else if (sm.parser_error == error.StackOutOfBounds) { code = 3; }
    else if (sm.parser_error == error.HeaderTooShort) { code = 4; }
    else if (sm.parser_error == error.ParserInvalidArgument) { code = 6; }
    bit<8> valid = 0;
    if (hdr.h.isValid()) { valid = 1; }
    hdr.h.setValid();
    hdr.h.a = code;
    hdr.h.b = valid;
    sm.egress_spec = 2;
";

#[test]
fn a_frame_shorter_than_the_header_reaches_ingress_with_an_error_and_its_bytes() {
    let mut switch = Parts {
        ingress_apply: REPORT,
        ..Parts::small()
    }
    .load();
    let (port, frame) = switch.forward(&[9, 9, 9]);
    assert!(switch.out.parser_error);
    assert_eq!((port, frame), (2, vec![1, 0, 0, 0, 9, 9, 9]));
    let (_, frame) = switch.forward(&[9, 9, 9, 9, 5]);
    assert!(!switch.out.parser_error);
    assert_eq!(frame, [0, 1, 9, 9, 5]);
    assert_eq!(switch.forward(&[]).1, [1, 0, 0, 0]);
}

#[test]
fn verify_stops_the_parser_with_the_programs_own_error() {
    let types = format!("error {{ Odd }} {}", crate::common::SMALL);
    let parts = Parts {
        types: &types,
        parser: "state start { p.extract(hdr.h); verify(hdr.h.a & 1 == 0, error.Odd); meta.kept = 7; transition accept; }",
        ingress_apply: "if (sm.parser_error == error.Odd) { hdr.h.b = 0xee; } hdr.h.c = (bit<16>)meta.kept; sm.egress_spec = 2;",
        ..Parts::small()
    };
    let mut switch = parts.load();
    assert_eq!(switch.forward(&[1, 0, 0, 0]).1, [1, 0xee, 0, 0]);
    assert_eq!(switch.forward(&[2, 0, 0, 0]).1, [2, 0, 0, 7]);
}

#[test]
fn look_ahead_reads_what_is_not_extracted_and_needs_it_to_be_there() {
    let parts = Parts {
        parser: "state start { bit<12> next = p.lookahead<bit<12>>(); meta.kept = (bit<8>)next; transition body; }
                 state body { p.extract(hdr.h); transition accept; }",
        ingress_apply: "hdr.h.b = meta.kept; sm.egress_spec = 2;",
        ..Parts::small()
    };
    let mut switch = parts.load();
    assert_eq!(switch.forward(&[0xab, 0xcd, 0, 0]).1, [0xab, 0xbc, 0, 0]);
    switch.forward(&[0xab]);
    assert!(switch.out.parser_error);
}

const STACK: &str = "
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header s_t { bit<7> value; bit<1> bottom; }
struct headers_t { h_t h; s_t[3] s; }
struct meta_t { bit<8> count; }
";

fn stack() -> Parts<'static> {
    Parts {
        types: STACK,
        parser: "state start { p.extract(hdr.s.next); transition select(hdr.s.last.bottom) { 0: start; 1: body; } }
                 state body { p.extract(hdr.h); transition accept; }",
        deparser: "p.emit(hdr.h); p.emit(hdr.s);",
        ..Parts::default()
    }
}

#[test]
fn a_stack_takes_elements_up_to_its_size() {
    let mut switch = Parts {
        ingress_apply: REPORT,
        ..stack()
    }
    .load();
    assert_eq!(
        switch.forward(&[0x02, 0x05, 9, 9, 9, 9, 7]).1,
        [0, 1, 9, 9, 0x02, 0x05, 7]
    );
    // Four elements do not fit into three.
    assert_eq!(
        switch.forward(&[2, 4, 6, 9, 1, 1, 1, 1]).1,
        [3, 0, 0, 0, 2, 4, 6, 9, 1, 1, 1, 1]
    );
}

#[test]
fn push_and_pop_move_the_elements_of_a_stack() {
    let apply = "hdr.s.push_front(1); hdr.s[0].setValid(); hdr.s[0].value = 0x7f; sm.egress_spec = 2;";
    let mut switch = Parts {
        ingress_apply: apply,
        ..stack()
    }
    .load();
    assert_eq!(
        switch.forward(&[0x02, 0x05, 0, 0, 0, 0]).1,
        [0, 0, 0, 0, 0xfe, 0x02, 0x05]
    );
    let apply = "hdr.s.pop_front(2); sm.egress_spec = 2;";
    let mut switch = Parts {
        ingress_apply: apply,
        ..stack()
    }
    .load();
    assert_eq!(switch.forward(&[2, 4, 9, 1, 1, 1, 1]).1, [1, 1, 1, 1, 9]);
}

#[test]
fn an_index_computed_at_run_time_addresses_a_stack() {
    let apply = "bit<8> i = hdr.h.a; if (i < 3) { hdr.s[i].value = hdr.s[i].value + 1; } sm.egress_spec = 2;";
    let mut switch = Parts {
        ingress_apply: apply,
        ..stack()
    }
    .load();
    assert_eq!(switch.forward(&[2, 4, 7, 1, 0, 0, 0]).1, [1, 0, 0, 0, 2, 6, 7]);
    assert_eq!(switch.forward(&[2, 4, 7, 9, 0, 0, 0]).1, [9, 0, 0, 0, 2, 4, 7]);
}

#[test]
fn a_variable_length_field_is_as_long_as_the_program_says() {
    let parts = Parts {
        types: "header h_t { bit<8> a; bit<8> b; bit<16> c; varbit<32> v; }
                struct headers_t { h_t h; } struct meta_t { bit<8> n; }",
        parser: "state start { meta.n = p.lookahead<bit<8>>(); transition body; }
                 state body { p.extract(hdr.h, (bit<32>)meta.n); transition accept; }",
        ingress_apply: REPORT,
        deparser: "p.emit(hdr.h);",
        ..Parts::default()
    };
    let mut switch = parts.load();
    assert_eq!(switch.forward(&[16, 0, 1, 2, 3, 4, 5]).1, [0, 1, 1, 2, 3, 4, 5]);
    assert_eq!(switch.forward(&[0, 0, 1, 2, 3]).1, [0, 1, 1, 2, 3]);
    // Not a whole number of bytes; longer than the packet; longer than the field.
    assert_eq!(switch.forward(&[9, 0, 1, 2, 3, 4]).1[0], 6);
    assert_eq!(switch.forward(&[24, 0, 1, 2, 3]).1[0], 1);
    assert_eq!(switch.forward(&[40, 0, 1, 2, 3, 4, 5, 6, 7]).1[0], 4);
}

#[test]
fn a_select_takes_the_first_case_that_matches() {
    let parts = Parts {
        parser: "state start { p.extract(hdr.h); transition select(hdr.h.a, hdr.h.b) {
                    (1, 2): one; (0x10 &&& 0xf0, _): two; (3 .. 5, 7): three; default: accept; } }
                 state one { meta.kept = 1; transition accept; }
                 state two { meta.kept = 2; transition accept; }
                 state three { meta.kept = 3; transition accept; }",
        ingress_apply: "hdr.h.c = (bit<16>)meta.kept; sm.egress_spec = 2;",
        ..Parts::small()
    };
    let mut switch = parts.load();
    let mut chosen = |a, b| switch.forward(&[a, b, 0, 0]).1[3];
    assert_eq!(
        [chosen(1, 2), chosen(1, 3), chosen(0x1f, 9), chosen(4, 7), chosen(6, 7)],
        [1, 0, 2, 3, 0]
    );
}

#[test]
fn a_value_set_is_filled_by_the_controller() {
    let parts = Parts {
        parser: "value_set<bit<8>>(4) known;
                 state start { p.extract(hdr.h); transition select(hdr.h.a) { known: found; default: accept; } }
                 state found { meta.kept = 1; transition accept; }",
        ingress_apply: "hdr.h.b = meta.kept; sm.egress_spec = 2;",
        ..Parts::small()
    };
    let mut switch = parts.load();
    let set = switch.pipeline.value_set("P.known").expect("the value set");
    assert_eq!(switch.pipeline.value_set_width(set), 8);
    assert_eq!(switch.forward(&[5, 0, 0, 0]).1[1], 0);
    switch
        .pipeline
        .value_set_write(set, &[vec![5], vec![9]])
        .expect("two members");
    assert_eq!(switch.forward(&[5, 0, 0, 0]).1[1], 1);
    assert_eq!(switch.forward(&[6, 0, 0, 0]).1[1], 0);
    assert!(switch.pipeline.value_set_write(set, &[vec![1, 0]]).is_err());
}

#[test]
fn a_parser_loop_that_reads_nothing_ends_with_an_error() {
    let parts = Parts {
        parser: "state start { p.extract(hdr.h); transition spin; }
                 state spin { meta.kept = meta.kept + 1; transition select(hdr.h.a) { 0: accept; default: spin; } }",
        ingress_apply: "sm.egress_spec = 2;",
        ..Parts::small()
    };
    let mut switch = parts.load();
    switch.forward(&[1, 0, 0, 0]);
    assert!(switch.out.parser_error);
    switch.forward(&[0, 0, 0, 0]);
    assert!(!switch.out.parser_error);
}

/// BMv2's `exit` in a parser: the parser continues, but the control after it ends before it starts.
#[test]
fn an_exit_in_a_parser_state_skips_ingress_but_not_egress() {
    let parts = Parts {
        parser: "state start { p.extract(hdr.h); transition select(hdr.h.a) { 1: leaving; default: accept; } }
                 state leaving { hdr.h.b = 5; transition last; }
                 state last { hdr.h.c = 0x700; transition accept; }",
        ingress: "action leave() { exit; }
                  table t { key = { hdr.h.b: exact; } actions = { leave; } default_action = leave(); }",
        ingress_apply: "sm.egress_spec = 2; hdr.h.b = 9; t.apply(); hdr.h.b = 1;",
        egress_apply: "hdr.h.c = hdr.h.c + 1;",
        ..Parts::small()
    };
    // A P4 parser has no `exit`; only JSON can have one.
    let mut program: serde_json::Value = serde_json::from_str(&parts.json()).expect("JSON");
    let states = program["parsers"][0]["parse_states"].as_array_mut().expect("states");
    let leaving = states.iter_mut().find(|state| state["name"] == "leaving");
    let ops = leaving.expect("the state")["parser_ops"]
        .as_array_mut()
        .expect("operations");
    ops.push(serde_json::json!({"op": "primitive", "parameters": [{"op": "exit", "parameters": []}]}));
    let mut switch = crate::common::Switch::new(&program.to_string());
    // Port 0: no table has chosen a port.
    assert_eq!(switch.forward(&[1, 0, 0, 0]), (0, vec![1, 5, 7, 1]));
    // The next packet runs its control again.
    assert_eq!(switch.forward(&[2, 0, 0, 0]), (2, vec![2, 9, 0, 1]));
}
