//! The path of a packet as text and as JSON lines, for every kind of event.

use std::collections::BTreeSet;

use p4sched_compiler::{EmbeddedIncludes, Input, Options, compile};
use p4sched_dataplane::{Event, Pipeline};
use p4sched_device::Program;
use p4sched_device::bmv2::{KeyParam, Mirror, Queues, RowAction};
use p4sched_engine::Engine;
use p4sched_packet_trace::Packet;
use p4sched_packet_trace::json;
use p4sched_packet_trace::text::{Detail, TextOptions, lines};
use p4sched_packet_trace::way::Bench;

const SOURCE: &str = include_str!("programs/ways.p4");

const FORWARD: u8 = 0;
const TAIL: u8 = 1;
const DROP: u8 = 2;
const MULTICAST: u8 = 3;
const CLONE: u8 = 4;
const RESUBMIT: u8 = 5;
const RECIRCULATE: u8 = 6;
const CLONE_AT_EGRESS: u8 = 7;
const DROP_AT_EGRESS: u8 = 8;
const REMEMBER: u8 = 9;
const REFUSED: u8 = 10;
const SHORT: u8 = 11;

const GROUP: u16 = 1;
const SESSION: u16 = 5;

const ALL: TextOptions = TextOptions {
    detail: Detail::Trace,
    data_bytes: 0,
};

fn program() -> Vec<u8> {
    let input = Input {
        name: "ways.p4",
        text: SOURCE,
    };
    match compile(&input, &EmbeddedIncludes, &Options::default()) {
        Ok(compiled) => compiled.json.into_bytes(),
        Err(diagnostics) => panic!("{diagnostics}"),
    }
}

/// A switch with a route to port 2, a group of three copies and a session.
fn bench() -> Bench {
    let program = Program::without_p4info(program()).expect("a program that loads");
    let mut bench = Bench::new(program).expect("it fits the switch");
    let (device, now) = bench.device();
    let mut runtime = device.runtime(now).expect("a program");
    let forward = RowAction::Action("I.forward".to_owned(), vec![vec![0, 2]]);
    let default_route = KeyParam::Lpm(vec![0], 0);
    let route = KeyParam::Lpm(vec![0x10], 4);
    runtime
        .add(
            "I.routes",
            &[default_route],
            &RowAction::Action("I.drop".to_owned(), vec![]),
            0,
        )
        .expect("a route");
    runtime.add("I.routes", &[route], &forward, 0).expect("a route");
    runtime.create_multicast_group(GROUP.into()).expect("a group");
    for rid in 0..3 {
        let node = runtime.create_node(rid, vec![2], vec![]).expect("a node");
        runtime
            .associate_node(GROUP.into(), node.try_into().expect("a small handle"))
            .expect("it exists");
    }
    let mirror = Mirror {
        port: Some(3),
        group: None,
    };
    runtime.set_mirror(SESSION.into(), mirror).expect("a session");
    bench
}

fn send(bench: &mut Bench, op: u8, port: u8, value: u16) -> Vec<Event> {
    let [high, low] = value.to_be_bytes();
    let frame = vec![op, port, high, low, 0, 0, 0xaa];
    let length = frame.len() as u32;
    let packet = Packet {
        time_ns: 0,
        frame,
        length,
    };
    let (events, ended) = bench.send(1, &packet);
    assert!(ended);
    events
}

fn text(events: &[Event], lines_of_text: TextOptions) -> Vec<String> {
    let lines = events.iter().flat_map(|event| {
        let lines = lines(event, lines_of_text);
        lines
            .into_iter()
            .map(|(_, text)| format!("[{}.{}] {text}", event.id.packet, event.id.copy))
    });
    lines.collect()
}

#[test]
fn a_forwarded_packet_is_told_from_port_to_port() {
    let mut bench = bench();
    let events = send(&mut bench, FORWARD, 0x12, 7);
    let lines_of_text = text(&events, ALL);
    let expected = "\
Processing packet received on port 1
Parser 'parser': start
Parser 'parser' entering state 'start'
Extracting header 'request'
* op    : 0x00
* port  : 0x12
* value : 0x0007
* sum   : 0x0000
Parser state 'start': key is 0x00
Bytes parsed: 6
Parser 'parser': end
Verifying checksum 'request.sum': false
Field 'standard_metadata.checksum_error': 0x0 -> 0x1
Pipeline 'ingress': start
ways.p4(83) Condition \"hdr.request.isValid()\" (node_0) is true
Applying table 'I.routes'
Looking up key:
* hdr.request.port : 0x12
Table 'I.routes': hit with handle 1
* 0x10/4
Action entry is I.forward - port: 0x002
Action I.forward
ways.p4(70) Primitive sm.egress_spec = port;
Field 'standard_metadata.egress_spec': 0x000 -> 0x002
ways.p4(71) Primitive hdr.request.value = hdr.request.value + 1;
Field 'request.value': 0x0007 -> 0x0008
Applying table 'tbl_ways86'
Table 'tbl_ways86': miss
Action entry is ways86 - 
Action ways86
ways.p4(86) Condition \"hdr.request.op == DROP\" is false";
    let lines_of_text: Vec<String> = lines_of_text.iter().map(|line| line.replace("[1.0] ", "")).collect();
    let lines_of_text = lines_of_text.join("\n");
    assert!(lines_of_text.starts_with(expected), "{lines_of_text}");
    let end = "\
Pipeline 'ingress': end
Egress port is 2: queue 0 holds 1 packet now
Leaving queue 0 of port 2 after 0.0 us: it holds 0 packets now
Pipeline 'egress': start";
    assert!(lines_of_text.contains(end), "{lines_of_text}");
    let end = "\
Pipeline 'egress': end
Field 'request.sum': 0x0000 -> 0xffe5
Deparser 'deparser': start
Deparsing header 'request'
Deparser 'deparser': end, 7 bytes
Transmitting packet of size 7 out of port 2";
    assert!(lines_of_text.ends_with(end), "{lines_of_text}");
}

#[test]
fn every_kind_of_event_has_its_line() {
    let mut bench = bench();
    let cases: [(u8, u8, u16, &[&str]); 14] = [
        (TAIL, 0x10, 0, &["[1.0] Extracting header 'tail'\n* n : 0xaa"]),
        (SHORT, 0x10, 0, &["[2.0] Going over 1 byte"]),
        (DROP, 0x10, 0, &["[3.0] Dropping packet at the end of ingress"]),
        (
            FORWARD,
            0x20,
            0,
            &[
                "[4.0] Table 'I.routes': hit with handle 0\n* 0x00/0",
                "[4.0] Action entry is I.drop - ",
            ],
        ),
        (
            MULTICAST,
            0x10,
            GROUP - 1,
            &[
                "[5.0] Multicast requested for packet, group 1",
                "[5.0] Replicating packet on port 2: copy 2, instance 1",
                "[5.1] Leaving queue 0 of port 2 after 0.0 us: it holds 2 packets now",
                "[5.3] Transmitting packet of size 7 out of port 2",
            ],
        ),
        (
            MULTICAST,
            0x10,
            7,
            &["[6.0] Dropping packet: the multicast group has no members"],
        ),
        (
            CLONE,
            0x10,
            SESSION - 1,
            &[
                "[7.0] Cloning packet at ingress, session 5",
                "[7.1] Transmitting packet of size 7 out of port 3",
                "[7.0] Transmitting packet of size 7 out of port 2",
            ],
        ),
        (
            CLONE,
            0x10,
            8,
            &["[8.0] Cloning packet at ingress: there is no session 9"],
        ),
        (
            RESUBMIT,
            0x10,
            0,
            &[
                "[9.0] Resubmitting packet",
                "[9.0] Transmitting packet of size 7 out of port 2",
            ],
        ),
        (
            RECIRCULATE,
            0x10,
            0,
            &[
                "[10.0] Recirculating packet",
                "[10.0] Processing recirculated packet",
                "[10.0] Transmitting packet of size 7 out of port 2",
            ],
        ),
        (
            CLONE_AT_EGRESS,
            0x10,
            0,
            &[
                "[11.0] Cloning packet at egress, session 5",
                "[11.1] Transmitting packet of size 7 out of port 3",
            ],
        ),
        (
            DROP_AT_EGRESS,
            0x10,
            0,
            &["[12.0] Dropping packet at the end of egress"],
        ),
        (
            REFUSED,
            0x10,
            0,
            &["[13.0] Exception while parsing: NoMatch", "[13.0] Bytes parsed: 6"],
        ),
        (
            REMEMBER,
            0x10,
            5,
            &[
                "[14.0] Read register 'I.last' at index 16 read value none: no such cell",
                "[14.0] Wrote register 'I.last' at index 16 with value none: no such cell",
                "[14.0] Updated counter 'I.seen' at index 16",
                "[14.0] before it was 0",
                "[14.0] Header 'tail' is valid",
            ],
        ),
    ];
    let mut kinds = BTreeSet::new();
    for (op, port, value, expected) in cases {
        let events = send(&mut bench, op, port, value);
        let lines_of_text = text(&events, ALL);
        for line in expected {
            assert!(
                lines_of_text.iter().any(|lines_of_text| lines_of_text == line),
                "{line}\n{lines_of_text:#?}"
            );
        }
        for event in &events {
            let line = json(event, 2);
            let object: serde_json::Value = serde_json::from_str(&line).expect(&line);
            assert_eq!(object["packet"], event.id.packet);
            assert_eq!(object["copy"], event.id.copy);
            assert_eq!(object["time_ns"], event.time_ns);
            kinds.insert(object["event"].as_str().expect(&line).to_owned());
            if object["event"] == "transmitted" {
                assert_eq!(object["data"].as_str().map(str::len), Some(4), "two bytes: {line}");
            }
        }
    }
    // The second packet finds a value in the register, so the assertion fails.
    send(&mut bench, REMEMBER, 2, 5);
    let events = send(&mut bench, REMEMBER, 2, 6);
    let lines_of_text = text(&events, ALL);
    for line in [
        "[16.0] Read register 'I.last' at index 2 read value 0x0005",
        "[16.0] Wrote register 'I.last' at index 2 with value 0x0006",
        "[16.0] Assert error: the condition does not hold",
        "[16.0] before it was 5",
    ] {
        assert!(
            lines_of_text.iter().any(|lines_of_text| lines_of_text == line),
            "{line}\n{lines_of_text:#?}"
        );
    }
    kinds.extend(events.iter().filter_map(|event| {
        let object: serde_json::Value = serde_json::from_str(&json(event, 0)).ok()?;
        Some(object["event"].as_str()?.to_owned())
    }));
    let all = "action advanced assertion_failed changed cloned condition control_ended control_started copied counted deparsed \
               dequeued digest dropped enqueued extracted log multicast parser_ended parser_failed parser_started received \
               recirculated reentered register_read register_written resubmitted selected state statement table transmitted \
               validity verified";
    assert_eq!(
        kinds.iter().map(String::as_str).collect::<Vec<_>>(),
        all.split_whitespace().collect::<Vec<_>>()
    );
}

#[test]
fn a_full_queue_is_reported() {
    let mut bench = bench();
    let all = Queues {
        port: None,
        priority: None,
    };
    bench.device().0.set_queue_sizes(all, 1);
    let lines_of_text = text(&send(&mut bench, MULTICAST, 0x10, GROUP - 1), ALL);
    let full = |line: &&String| line.ends_with("Dropping packet: the queue is full");
    assert_eq!(
        lines_of_text.iter().filter(full).collect::<Vec<_>>(),
        [
            "[1.2] Dropping packet: the queue is full",
            "[1.3] Dropping packet: the queue is full"
        ]
    );
}

#[test]
fn debug_leaves_statements_and_changes_out() {
    let mut bench = bench();
    let events = send(&mut bench, FORWARD, 0x12, 7);
    let debug = text(
        &events,
        TextOptions {
            detail: Detail::Debug,
            data_bytes: 3,
        },
    );
    assert_eq!(debug[0], "[1.0] Processing packet received on port 1\n* 001200");
    assert!(debug.contains(&"[1.0] Table 'I.routes': hit with handle 1".to_owned()));
    assert!(debug.contains(&"[1.0] Extracting header 'request'".to_owned()));
    assert!(
        !debug
            .iter()
            .any(|line| line.contains("Primitive") || line.contains("Field '"))
    );
}

#[test]
fn without_a_trace_there_is_no_event_and_the_program_stays_compiled() {
    let load = || {
        let mut pipeline = Pipeline::from_json(&program()).expect("a program that loads");
        assert!(pipeline.compile(), "no code for this processor");
        pipeline
    };
    let mut engine = Engine::new();
    engine.load(load(), &[]).expect("it fits");
    assert!(engine.pipeline().is_some_and(Pipeline::is_compiled));
    assert_eq!(engine.pipeline_mut().map(|pipeline| pipeline.events().count()), Some(0));
    engine.trace(Box::new(|_| {}));
    assert!(!engine.pipeline().is_some_and(Pipeline::is_compiled));
    assert!(!engine.pipeline_mut().is_some_and(Pipeline::compile));
}
