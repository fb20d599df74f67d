//! The work of a Tofino around the P4 code, according to the public headers of its architectures.

use crate::common::tofino::{
    Chip, Program, assign, binary, eh, field, h, local, number, op, register, tm, unless_equal,
};
use p4sched_dataplane::{ActionCall, CloneSession, MatchKey, Queueing};
use serde_json::json;

/// Forwards to the port in the header.
fn forward() -> Program {
    Program {
        ingress: vec![assign(tm("ucast_egress_port"), h("port"))],
        ..Program::default()
    }
}

const FRAME: [u8; 9] = [1, 7, 0, 0, 0, 0, 0, 0, 0xee];

#[test]
fn a_frame_goes_to_the_port_that_ingress_writes_and_nowhere_if_it_writes_none() {
    for t2na in [false, true] {
        let mut chip = Program { t2na, ..forward() }.load();
        assert_eq!(chip.send(3, &FRAME), [(7, 0, FRAME.to_vec())]);
        // Port 0 is an ordinary port.
        let zero = [1, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(chip.send(3, &zero), [(0, 0, zero.to_vec())]);
        let mut silent = Program {
            t2na,
            ..Program::default()
        }
        .load();
        assert_eq!(silent.send(3, &FRAME), []);
        assert!(silent.out.dropped);
        let taken_back = vec![
            assign(tm("ucast_egress_port"), h("port")),
            assign(tm("ucast_egress_port"), number(0x1ff)),
        ];
        let mut silent = Program {
            t2na,
            ingress: taken_back,
            ..Program::default()
        }
        .load();
        assert_eq!(silent.send(3, &FRAME), []);
    }
}

#[test]
fn ingress_reads_port_and_nanoseconds() {
    let mut program = forward();
    program.ingress.extend([
        assign(h("value"), field("ig_intr_md", "ingress_port")),
        assign(h("big"), field("ig_intr_md_from_prsr", "global_tstamp")),
    ]);
    let mut chip = program.load();
    chip.now = 0x1_2345_6789;
    assert_eq!(
        chip.send(0x155, &FRAME)[0].2[2..8],
        [0x01, 0x55, 0x23, 0x45, 0x67, 0x89]
    );
}

#[test]
fn egress_parses_the_bytes_that_ingress_made_and_reads_queue_and_length() {
    let mut program = forward();
    program.ingress.push(assign(h("kind"), number(9)));
    program.ingress.push(assign(tm("qid"), number(0x15)));
    let intrinsic = |name| field("egress.eg_intr_md", name);
    program.egress = vec![
        assign(eh("value"), intrinsic("enq_qdepth")),
        assign(
            eh("big"),
            binary(
                "+",
                binary("<<", intrinsic("deq_timedelta"), number(8)),
                intrinsic("egress_qid"),
            ),
        ),
        assign(eh("port"), intrinsic("pkt_length")),
    ];
    let mut chip = program.load();
    chip.queueing = Queueing {
        enq_ns: 999_000,
        enq_qdepth: 300,
        deq_qdepth: 4,
        ..Queueing::default()
    };
    let expected = vec![9, 9, 1, 44, 0, 3, 0xe8, 5, 0xee];
    // qid 0x15 is queue 5: its low three bits.
    assert_eq!(chip.send(3, &FRAME), [(7, 5, expected)]);
}

#[test]
fn a_packet_that_bypasses_egress_goes_out_as_ingress_made_it() {
    let mut program = forward();
    program.ingress.push(assign(tm("bypass_egress"), number(1)));
    program.egress = vec![assign(eh("value"), number(0xffff))];
    assert_eq!(program.load().send(3, &FRAME), [(7, 0, FRAME.to_vec())]);
    program.ingress.pop();
    assert_eq!(program.load().send(3, &FRAME)[0].2[2..4], [0xff, 0xff]);
}

/// Sets `drop_ctl` to the header's `kind` in one place.
fn dropping(gress: &str) -> Program {
    let mut program = forward();
    let kind = if gress == "ig" { h("kind") } else { eh("kind") };
    let drop = assign(field(&format!("{gress}_intr_md_for_dprsr"), "drop_ctl"), kind);
    program.field_lists =
        json!([{"id": 4, "name": "m", "elements": [{"type": "hexstr", "value": "0xa8", "bitwidth": 8}]}]);
    let mirror = op("mirror", &[number(5), number(4)]);
    if gress == "ig" {
        program.ingress.extend([assign(tm("copy_to_cpu"), number(1)), drop]);
        program.ingress_deparser = vec![mirror];
    } else {
        program.egress = vec![drop];
        // A mirrored packet is neither mirrored again nor dropped: its first byte is the header of the mirror.
        program.egress_deparser = vec![unless_equal(0, eh("kind"), 0xa8, 1), op("_jump", &[number(3)]), mirror];
    }
    program
}

fn ports(sent: &[(u16, u8, Vec<u8>)]) -> Vec<u16> {
    sent.iter().map(|(port, ..)| *port).collect()
}

#[test]
fn drop_ctl_drops_the_packet_the_copy_to_the_cpu_or_the_mirror() {
    let session = CloneSession {
        replicas: vec![(9, 0)],
        ..CloneSession::default()
    };
    let kinds = |gress: &str| {
        let mut chip = dropping(gress).load();
        chip.pipeline.set_cpu_port(Some(400));
        chip.pipeline.clone_session_set(5, session.clone());
        (0..8)
            .map(|kind| ports(&chip.send(3, &[kind, 7, 0, 0, 0, 0, 0, 0])))
            .collect::<Vec<_>>()
    };
    // Bit 2 has no meaning at ingress.
    let ingress = [vec![9, 400, 7], vec![9, 400], vec![9, 7], vec![9]];
    assert_eq!(kinds("ig"), [&ingress[..], &ingress].concat());
    // Bit 1 has no meaning at egress: there is no copy to the CPU.
    let egress = [
        vec![7, 9],
        vec![9],
        vec![7, 9],
        vec![9],
        vec![7],
        vec![],
        vec![7],
        vec![],
    ];
    assert_eq!(kinds("eg"), egress);
}

#[test]
fn without_a_cpu_port_there_is_no_copy_for_it() {
    let mut program = forward();
    program.ingress = vec![
        assign(tm("copy_to_cpu"), number(1)),
        assign(tm("icos_for_copy_to_cpu"), number(6)),
    ];
    let mut chip = program.load();
    assert_eq!(chip.send(3, &FRAME), []);
    assert!(chip.out.dropped);
    chip.pipeline.set_cpu_port(Some(2));
    assert_eq!(chip.send(3, &FRAME), [(2, 6, FRAME.to_vec())]);
}

#[test]
fn ingress_mirrors_the_frame_as_it_came_and_egress_the_frame_as_it_goes() {
    let mut program = forward();
    program.ingress.push(assign(h("value"), number(0x1111)));
    program.ingress_deparser = vec![unless_equal(0, h("kind"), 1, 1), op("mirror", &[number(5), number(4)])];
    program.egress = vec![assign(eh("big"), number(0x2222_2222))];
    program.egress_deparser = vec![unless_equal(0, eh("kind"), 2, 1), op("mirror", &[number(5), number(4)])];
    program.field_lists = json!([{"id": 4, "name": "m", "elements": [
        {"type": "field", "value": ["h", "value"]}, {"type": "hexstr", "value": "0x5", "bitwidth": 8},
    ]}]);
    let mut chip = program.load();
    // Without a session there is no copy.
    assert_eq!(chip.send(3, &FRAME).len(), 1);
    let session = CloneSession {
        replicas: vec![(9, 0), (10, 1)],
        class_of_service: 3,
        ..CloneSession::default()
    };
    chip.pipeline.clone_session_set(5, session.clone());
    let sent = chip.send(3, &FRAME);
    // The mirror's header takes a part of the bytes that egress parses as `h`, so egress changes the bytes after it.
    let mirrored = vec![0x11, 0x11, 5, 1, 0x22, 0x22, 0x22, 0x22, 0, 0, 0, 0xee];
    assert_eq!(sent[0], (9, 3, mirrored.clone()));
    assert_eq!(sent[1], (10, 3, mirrored));
    assert_eq!(sent[2].2, [1, 7, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22, 0xee]);
    let sent = chip.send(3, &[2, 7, 0, 0, 0, 0, 0, 0]);
    assert_eq!(sent[0].2, [2, 7, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22]);
    // At egress, the fields of ingress are those at the end of ingress.
    assert_eq!(sent[1].2[..3], [0x11, 0x11, 5]);
    assert_eq!(sent[1].2[8..], [0x22, 0x22, 0x22]);
    chip.pipeline.clone_session_set(
        5,
        CloneSession {
            truncate_to: Some(9),
            ..session
        },
    );
    assert_eq!(chip.send(3, &FRAME)[0].2.len(), 9);
}

#[test]
fn a_packet_is_resubmitted_once_with_its_data_in_front() {
    let mut program = forward();
    program.ingress.extend([
        assign(local("a"), number(0x4200)),
        assign(
            h("value"),
            binary("+", field("ig_intr_md", "resubmit_flag"), local("resubmitted")),
        ),
        assign(h("big"), number(3)),
    ]);
    program.ingress_deparser = vec![op("resubmit", &[number(6)])];
    program.field_lists = json!([{"id": 6, "name": "r", "elements": [
        {"type": "hexstr", "value": "0x42", "bitwidth": 8}, {"type": "field", "value": ["h", "big"]},
    ]}]);
    for t2na in [false, true] {
        let mut chip = Program {
            t2na,
            ..program.clone()
        }
        .load();
        assert_eq!(chip.send(3, &FRAME), [(7, 0, vec![1, 7, 0, 0x43, 0, 0, 0, 3, 0xee])]);
    }
    program
        .ingress
        .push(assign(field("ig_intr_md_for_dprsr", "drop_ctl"), number(1)));
    let mut chip = program.load();
    assert_eq!(chip.send(3, &FRAME), []);
    assert!(chip.out.dropped);
}

fn to_port(port: u16) -> CloneSession {
    CloneSession {
        replicas: vec![(port, 0)],
        ..CloneSession::default()
    }
}

#[test]
fn all_copies_of_a_packet_bypass_egress_and_its_mirror_does_not() {
    let mut program = forward();
    program.field_lists =
        json!([{"id": 4, "name": "m", "elements": [{"type": "hexstr", "value": "0xa8", "bitwidth": 8}]}]);
    program.ingress.extend([
        assign(tm("bypass_egress"), number(1)),
        assign(tm("copy_to_cpu"), number(1)),
        assign(tm("mcast_grp_a"), number(1)),
    ]);
    program.ingress_deparser = vec![op("mirror", &[number(5), number(4)])];
    program.egress = vec![assign(eh("value"), number(0xffff))];
    let mut chip = program.load();
    chip.pipeline.set_cpu_port(Some(64));
    chip.pipeline.mcast_group_set(1, vec![(10, 1)]);
    chip.pipeline.clone_session_set(5, to_port(20));
    let changed = |(port, _, frame): &(u16, u8, Vec<u8>)| (*port, frame.windows(2).any(|pair| pair == [0xff, 0xff]));
    let mut sent: Vec<_> = chip.send(3, &FRAME).iter().map(changed).collect();
    sent.sort_unstable();
    assert_eq!(sent, [(7, false), (10, false), (20, true), (64, false)]);
}

#[test]
fn nothing_else_is_made_of_a_packet_that_is_resubmitted() {
    let mut program = forward();
    program.field_lists =
        json!([{"id": 6, "name": "r", "elements": [{"type": "hexstr", "value": "0x01", "bitwidth": 64}]}]);
    program.ingress.push(assign(tm("copy_to_cpu"), number(1)));
    program.ingress_deparser = vec![op("mirror", &[number(5), number(6)]), op("resubmit", &[number(6)])];
    let mut chip = program.load();
    chip.pipeline.set_cpu_port(Some(64));
    chip.pipeline.clone_session_set(5, to_port(20));
    let mut ports: Vec<_> = chip.send(3, &FRAME).iter().map(|(port, ..)| *port).collect();
    ports.sort_unstable();
    assert_eq!(ports, [7, 20, 64], "one mirror and one copy, of the second pass");
}

#[test]
fn a_recirculation_port_leads_back_to_ingress() {
    let mut program = forward();
    program.ingress.extend([
        assign(h("value"), field("ig_intr_md", "ingress_port")),
        assign(h("big"), binary("+", h("big"), number(1))),
        unless_equal(3, field("ig_intr_md", "ingress_port"), 3, 1),
        assign(tm("ucast_egress_port"), number(324)),
    ]);
    let mut chip = program.load();
    assert_eq!(chip.send(3, &FRAME), [(7, 0, vec![1, 7, 1, 0x44, 0, 0, 0, 2, 0xee])]);
    assert!(chip.pipeline.recirculates(68) && !chip.pipeline.recirculates(7));
}

#[test]
fn both_multicast_groups_and_the_unicast_port_get_copies() {
    let mut program = forward();
    program.ingress.extend([
        assign(tm("mcast_grp_a"), number(1)),
        assign(tm("mcast_grp_b"), number(2)),
    ]);
    program.egress = vec![
        assign(eh("value"), field("egress.eg_intr_md", "egress_rid")),
        assign(eh("kind"), field("egress.eg_intr_md", "egress_rid_first")),
    ];
    let mut chip = program.load();
    chip.pipeline.mcast_group_set(1, vec![(10, 0x101), (11, 0x102)]);
    chip.pipeline.mcast_group_set(2, vec![(12, 0x103)]);
    let sent = chip.send(3, &FRAME);
    let seen: Vec<_> = sent
        .iter()
        .map(|(port, _, frame)| (*port, frame[0], frame[3]))
        .collect();
    assert_eq!(seen, [(10, 1, 1), (11, 0, 2), (12, 1, 3), (7, 0, 0)]);
}

#[test]
fn a_parser_error_drops_at_ingress_unless_the_program_looks_at_it() {
    let short = [1, 7, 0];
    let mut program = forward();
    let mut chip = program.load();
    assert_eq!(chip.send(3, &short), []);
    assert!(chip.out.dropped);
    program.parser_errors_read = true;
    program.ingress = vec![assign(
        tm("ucast_egress_port"),
        field("ig_intr_md_from_prsr", "parser_err"),
    )];
    // Bit 1: the packet ends within a header. At egress it is equally short, but continues.
    assert_eq!(program.load().send(3, &short), [(2, 0, short.to_vec())]);
}

#[test]
fn a_digest_is_sent_when_the_deparser_asks() {
    let mut program = forward();
    program.ingress_deparser = vec![
        unless_equal(0, h("kind"), 1, 1),
        op("generate_digest", &[number(0), number(1)]),
    ];
    program.learn_lists =
        json!([{"id": 1, "name": "pipe.D.digest", "elements": [{"type": "field", "value": ["h", "port"]}]}]);
    let mut chip = program.load();
    chip.out.clear();
    chip.pipeline.ingress(0, 3, &FRAME, &mut chip.out);
    assert_eq!(chip.out.digests[0].fields, [vec![7]]);
    assert_eq!(chip.pipeline.digest_name(chip.out.digests[0].digest), "pipe.D.digest");
    chip.out.clear();
    chip.pipeline.ingress(0, 3, &[2, 7, 0, 0, 0, 0, 0, 0], &mut chip.out);
    assert!(chip.out.digests.is_empty());
}

#[test]
fn an_index_wraps_at_a_power_of_two_and_beyond_the_register_reads_zero() {
    let mut program = forward();
    program.registers = json!([{"name": "pipe.I.r", "id": 0, "bitwidth": 32, "size": 5, "initial_value": "0x7"}]);
    program.ingress.extend([
        op("register_read", &[local("a"), register("pipe.I.r"), h("value")]),
        assign(h("big"), local("a")),
        assign(local("a"), binary("+", local("a"), number(1))),
        op("register_write", &[register("pipe.I.r"), h("value"), local("a")]),
    ]);
    let mut chip = program.load();
    let mut read = |index: u8| chip.send(3, &[1, 7, 0, index, 0, 0, 0, 0])[0].2[7];
    // Five cells: an index has three bits.
    assert_eq!(
        [read(1), read(9), read(4), read(5), read(5), read(13), read(1)],
        [7, 8, 7, 0, 0, 0, 9]
    );
}

#[test]
fn the_ghost_control_learns_lengths_and_ingress_reads_them() {
    let mut program = forward();
    program.t2na = true;
    program.registers = json!([{"name": "pipe.G.lengths", "id": 0, "bitwidth": 32, "size": 2048}]);
    let ghost = |name| field("gh_intr_md", name);
    program.ghost = Some(vec![
        op(
            "register_write",
            &[register("pipe.G.lengths"), ghost("qid"), ghost("qlength")],
        ),
        assign(local("b"), ghost("pipe_id")),
    ]);
    program
        .ingress
        .push(op("register_read", &[h("big"), register("pipe.G.lengths"), h("value")]));
    let mut chip = program.load();
    assert!(chip.pipeline.has_ghost());
    chip.pipeline.ghost(0, 5, 3, 77);
    let frame = [1, 7, 0, 5 << 3 | 3, 0, 0, 0, 0];
    assert_eq!(chip.send(3, &frame)[0].2[4..8], [0, 0, 0, 77]);
    // The number of a queue has eleven bits: ports that differ by 256 are the same.
    chip.pipeline.ghost(0, 5 + 256, 3, 1 << 18);
    assert_eq!(chip.send(3, &frame)[0].2[4..8], [0, 3, 0xff, 0xff]);
}

#[test]
fn metadata_of_ingress_is_there_for_the_queue_of_the_packet() {
    let mut program = forward();
    program.ingress.push(assign(local("userMetadata.user"), number(0x1234)));
    let mut chip = program.load();
    chip.pipeline.ingress(0, 3, &FRAME, &mut chip.out);
    let (user, kind) = (chip.pipeline.field("meta.user"), chip.pipeline.field("hdr.h.kind"));
    let packet = &chip.out.enqueue[0].packet;
    assert_eq!(chip.pipeline.read(packet, user.expect("the metadata")), 0x1234);
    assert_eq!(chip.pipeline.read(packet, kind.expect("the header")), 1);
}

#[test]
fn a_direct_register_has_a_cell_for_each_entry() {
    let mut program = forward();
    program.registers = json!([{"name": "pipe.I.seen", "id": 0, "bitwidth": 32, "size": 4, "is_direct": true, "initial_value": "0x64"}]);
    let seen = register("pipe.I.seen");
    program.ingress.extend([
        op("register_read", &[h("big"), seen.clone(), local("b")]),
        assign(h("big"), binary("+", h("big"), number(1))),
        op("register_write", &[seen, local("b"), h("big")]),
    ]);
    let mut json = program.json();
    json["actions"].as_array_mut().expect("actions").push(json!(
        {"name": "NoAction", "id": 9, "runtime_data": [], "primitives": []}
    ));
    json["pipelines"][0]["init_table"] = json!("pipe.I.t");
    json["pipelines"][0]["tables"] = json!([{
        "name": "pipe.I.t", "id": 0, "match_type": "exact", "type": "simple", "max_size": 4, "with_counters": false,
        "support_timeout": false, "key": [{"match_type": "exact", "name": "kind", "target": ["h", "kind"], "mask": null}],
        "actions": ["NoAction"], "action_ids": [9], "base_default_next": "call", "next_tables": {"NoAction": "call"},
        "default_entry": {"action_id": 9, "action_const": false, "action_data": [], "action_entry_const": false},
        "direct_registers": {"cell": ["scalars", "b"], "registers": ["pipe.I.seen"]},
    }]);
    let mut chip = Chip::new(&json);
    let table = chip.pipeline.table("pipe.I.t").expect("the table");
    let action = chip.pipeline.table_action(table, "NoAction").expect("the action");
    let call = ActionCall::Action {
        action,
        params: Vec::new(),
    };
    let insert = |chip: &mut Chip, kind: u8| {
        let key = [MatchKey::Exact(vec![kind])];
        chip.pipeline
            .table_insert(table, &key, 0, &call)
            .expect("room for an entry")
    };
    let first = insert(&mut chip, 1);
    insert(&mut chip, 2);
    let count = |chip: &mut Chip, kind: u8| chip.send(3, &[kind, 7, 0, 0, 0, 0, 0, 0])[0].2[7];
    // No entry matches kind 3: it reads 0 and writes nothing.
    let seen = [1, 1, 2, 1, 3, 3].map(|kind| count(&mut chip, kind));
    assert_eq!(seen, [101, 102, 101, 103, 1, 1]);
    chip.pipeline.table_delete(table, first).expect("the entry");
    insert(&mut chip, 3);
    assert_eq!(count(&mut chip, 3), 101);
}
