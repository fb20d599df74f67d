//! Programs for Tofino between queues and links: recirculation ports, mirrors, the ghost control. No packet is lost.

use crate::dataplane::tofino::{Program, Steps, assign, binary, eh, field, h, local, number, op, register, tm};
use p4sched_dataplane::CloneSession;
use p4sched_engine::{
    Balance, DigestMessage, Discipline, Engine, Frame, FrameSink, Nanos, Output, Port, PortConfig, PortSettings,
    QueueConfig,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const MILLISECOND: Nanos = 1_000_000;
const LATENCY: Nanos = 10_000;

const FORWARD: u8 = 0;
const MULTICAST: u8 = 1;
const COPY_TO_CPU: u8 = 2;
const DROP: u8 = 3;
const DROP_AT_EGRESS: u8 = 4;
const PASS_TWICE: u8 = 5;
const BYPASS: u8 = 6;
const NO_PORT: u8 = 7;
const MIRROR: u8 = 8;
const MIRROR_AT_EGRESS: u8 = 9;
const RESUBMIT: u8 = 10;
const RECIRCULATE: u8 = 11;
/// The kinds of a mirrored packet, and of a packet that egress mirrors again and again.
const MIRRORED: u8 = 12;
const MIRROR_MIRRORS: u8 = 13;

/// A program in which the header's `kind` decides the fate of a packet; `value` is its queue. Every packet brings back
/// the length that the ghost control saw of the queue `big`, and the lengths that egress saw of the packet's own queue:
/// packets before it and packets behind it.
fn program(t2na: bool) -> Program {
    let intrinsic = |name| field("egress.eg_intr_md", name);
    let recirculation = number(if t2na { 134 } else { 196 });
    let drop = |gress: &str| assign(field(&format!("{gress}_intr_md_for_dprsr"), "drop_ctl"), number(1));
    let mirror = |list: u64| op("mirror", &[number(5), number(list)]);
    let lengths = register("pipe.G.lengths");
    let kind = |kind: u8| u64::from(kind);
    let lists = |value: &str| json!([{"type": "hexstr", "value": value, "bitwidth": 64}]);
    Program {
        t2na,
        ingress: Steps::default()
            .always([
                assign(tm("ucast_egress_port"), h("port")),
                assign(tm("qid"), h("value")),
                op("register_read", &[h("big"), lengths.clone(), h("big")]),
            ])
            .when(
                h("kind"),
                kind(MULTICAST),
                [
                    assign(tm("mcast_grp_a"), number(1)),
                    assign(tm("mcast_grp_b"), number(9)),
                ],
            )
            .when(h("kind"), kind(COPY_TO_CPU), [assign(tm("copy_to_cpu"), number(1))])
            .when(h("kind"), kind(DROP), [drop("ig")])
            .when(h("kind"), kind(BYPASS), [assign(tm("bypass_egress"), number(1))])
            .when(
                h("kind"),
                kind(NO_PORT),
                [assign(tm("ucast_egress_port"), number(0x1ff))],
            )
            .when(
                h("kind"),
                kind(PASS_TWICE),
                [assign(tm("ucast_egress_port"), recirculation.clone())],
            )
            .when(
                h("kind"),
                kind(RECIRCULATE),
                [assign(tm("ucast_egress_port"), recirculation)],
            )
            .when(
                h("kind"),
                kind(RESUBMIT),
                [assign(h("value"), binary("+", h("value"), local("resubmitted")))],
            )
            .0,
        ingress_deparser: Steps::default()
            .when(h("kind"), kind(MIRROR), [mirror(2)])
            .when(h("kind"), kind(RESUBMIT), [op("resubmit", &[number(2)])])
            .0,
        egress: Steps::default()
            .always([assign(
                eh("big"),
                binary(
                    "|",
                    eh("big"),
                    binary(
                        "|",
                        binary("<<", intrinsic("enq_qdepth"), number(16)),
                        binary("<<", intrinsic("deq_qdepth"), number(8)),
                    ),
                ),
            )])
            .when(eh("kind"), kind(DROP_AT_EGRESS), [drop("eg")])
            .when(
                eh("kind"),
                kind(PASS_TWICE),
                [assign(eh("kind"), number(kind(FORWARD)))],
            )
            .0,
        egress_deparser: Steps::default()
            .when(eh("kind"), kind(MIRROR_AT_EGRESS), [mirror(2)])
            .when(eh("kind"), kind(MIRROR_MIRRORS), [mirror(0xffff)])
            .0,
        ghost: t2na.then(|| {
            let intrinsic = |name| field("gh_intr_md", name);
            vec![op("register_write", &[lengths, intrinsic("qid"), intrinsic("qlength")])]
        }),
        registers: json!([{"name": "pipe.G.lengths", "id": 0, "bitwidth": 32, "size": 2048}]),
        // The header of a mirrored packet: a kind without any action.
        field_lists: json!([{"id": 2, "name": "m", "elements": lists(&format!("{MIRRORED:#x}00000000000001"))}]),
        ..Program::default()
    }
}

#[derive(Default)]
struct Recorder {
    sent: Vec<(Port, Nanos, Vec<u8>)>,
    packets_in: Vec<Vec<u8>>,
}

impl FrameSink for Recorder {
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        self.sent.push((port, due, frame.to_vec()));
    }
}

impl Output for Recorder {
    fn packet_in(&mut self, frame: &[u8]) {
        self.packets_in.push(frame.to_vec());
    }

    fn digest(&mut self, _digest: DigestMessage) {}
}

struct Switch {
    engine: Engine,
    out: Recorder,
}

/// Ports 1 to 3 are slow; port 4 leads to the controller.
fn switch(t2na: bool) -> Switch {
    let mut engine = Engine::new();
    engine.set_cpu_port(Some(4));
    let pipeline = p4sched_engine::Pipeline::from_json(program(t2na).json().to_string().as_bytes()).unwrap();
    engine.load(pipeline, &[]).unwrap();
    for (port, discipline) in [(1, Discipline::Strict), (2, Discipline::Fifo), (3, Discipline::Pifo)] {
        let settings = PortSettings {
            rank_field: Some("h.value".to_string()),
            ..shaped(8_000_000, discipline)
        };
        engine.set_port(port, settings).unwrap();
    }
    let pipeline = engine.pipeline_mut().unwrap();
    pipeline.mcast_group_set(1, vec![(1, 0), (2, 1), (4, 2)]);
    let replicas = vec![(3, 0), (5, 1)];
    pipeline.clone_session_set(
        5,
        CloneSession {
            replicas,
            ..CloneSession::default()
        },
    );
    Switch {
        engine,
        out: Recorder::default(),
    }
}

fn shaped(rate_bps: u64, discipline: Discipline) -> PortSettings {
    PortSettings {
        config: PortConfig {
            rate_bps,
            discipline,
            buffer_packets: 6,
            queues: [QueueConfig {
                size_packets: 4,
                rate_pps: 0,
            }; 8],
            ..PortConfig::default()
        },
        ..PortSettings::default()
    }
}

fn frame(kind: u8, port: u8, value: u16, cell: u32, bytes: usize) -> Vec<u8> {
    let mut frame = vec![kind, port];
    frame.extend(value.to_be_bytes());
    frame.extend(cell.to_be_bytes());
    frame.resize(bytes.max(8), 0);
    frame
}

impl Switch {
    fn receive(&mut self, now: Nanos, frame: &[u8]) {
        self.engine.receive(now, 7, frame, &mut self.out);
    }

    fn finish(&mut self) {
        while let Some(at) = self.engine.next_event() {
            self.engine.advance(at, &mut self.out);
        }
    }

    fn balance(&self) -> Balance {
        let balance = self.engine.balance();
        assert!(balance.balanced(), "{balance:?}");
        balance
    }

    /// Value of the program's register for a queue.
    fn reported_length(&self, port: usize, queue: usize) -> u8 {
        let program = self.engine.pipeline().unwrap();
        let register = program.register("pipe.G.lengths").unwrap();
        program.register_read(register, port << 3 | queue).unwrap()[3]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_packet_is_accounted_for(
        t2na in any::<bool>(),
        steps in prop::collection::vec((0..300_000u64, 0..=MIRROR_MIRRORS, 0..5u8, 0..10u16, 0..1500usize, 0..12u8), 1..200),
    ) {
        let mut switch = switch(t2na);
        let mut now = 0;
        for &(gap, kind, port, value, bytes, short) in &steps {
            now += gap;
            // Endless recirculation has its own test.
            let kind = if kind == RECIRCULATE { FORWARD } else { kind };
            let mut frame = frame(kind, port, value, 0, bytes);
            if short == 0 {
                frame.truncate(5);
            }
            match short {
                1 => switch.engine.packet_out(now, &frame, &mut switch.out).unwrap(),
                _ => switch.receive(now, &frame),
            }
            switch.balance();
        }
        switch.finish();
        let balance = switch.balance();
        prop_assert_eq!(balance.inside(), 0);
        prop_assert_eq!(balance.transmitted, switch.out.sent.len() as u64);
        prop_assert_eq!(balance.packets_in, switch.out.packets_in.len() as u64);
        prop_assert_eq!(balance.received + balance.packets_out, steps.len() as u64);
    }
}

#[test]
fn a_recirculated_packet_takes_its_time_on_the_link_of_the_recirculation_port() {
    let mut switch = switch(false);
    let settings = PortSettings {
        config: PortConfig {
            delay_ns: 300_000,
            ..shaped(1_000_000, Discipline::Strict).config
        },
        ..PortSettings::default()
    };
    switch.engine.set_port(196, settings).unwrap();
    // 125 bytes at 1 Mbit/s take 1 ms. The second packet waits for the first.
    for value in [0, 0] {
        switch.receive(0, &frame(PASS_TWICE, 9, value, 0, 125));
    }
    switch.finish();
    let back = |sent: u64| sent * MILLISECOND + 300_000 + LATENCY;
    let due: Vec<_> = switch.out.sent.iter().map(|(port, due, _)| (*port, *due)).collect();
    assert_eq!(due, [(9, back(1)), (9, back(2))]);
    let (balance, traffic) = (switch.balance(), switch.engine.traffic(196));
    assert_eq!(
        (balance.received, balance.transmitted, balance.recirculations),
        (2, 2, 2)
    );
    assert_eq!((traffic.transmitted.packets, traffic.received.packets), (2, 2));
}

#[test]
fn packets_of_a_fast_recirculation_port_do_not_wait_for_those_of_a_slow_one() {
    let mut program = program(false);
    program.ingress = Steps::default()
        .always([
            assign(tm("ucast_egress_port"), h("value")),
            assign(h("value"), number(9)),
        ])
        .0;
    let pipeline = p4sched_engine::Pipeline::from_json(program.json().to_string().as_bytes()).unwrap();
    let mut switch = switch(false);
    switch.engine.load(pipeline, &[]).unwrap();
    switch
        .engine
        .set_port(68, shaped(1_000_000, Discipline::Strict))
        .unwrap();
    switch.receive(0, &frame(FORWARD, 1, 68, 0, 125));
    switch.receive(0, &frame(FORWARD, 2, 196, 0, 125));
    switch.finish();
    let sent: Vec<_> = switch.out.sent.iter().map(|(_, due, frame)| (frame[1], *due)).collect();
    assert_eq!(sent, [(2, LATENCY), (1, MILLISECOND + LATENCY)]);
}

#[test]
fn packets_that_recirculate_or_mirror_for_ever_do_not_stop_time() {
    let mut switch = switch(false);
    let endless: Vec<Value> = vec![op("mirror", &[number(6), number(0xffff)])];
    let mut program = program(false);
    program.egress_deparser = Steps::default().when(eh("kind"), u64::from(RECIRCULATE), endless).0;
    let pipeline = p4sched_engine::Pipeline::from_json(program.json().to_string().as_bytes()).unwrap();
    switch.engine.load(pipeline, &[]).unwrap();
    // Each pass of each packet creates another packet that recirculates.
    let replicas = vec![(196, 0)];
    let session = CloneSession {
        replicas,
        ..CloneSession::default()
    };
    switch.engine.pipeline_mut().unwrap().clone_session_set(6, session);
    switch.receive(0, &frame(RECIRCULATE, 9, 0, 0, 100));
    for now in 1..20 {
        switch.engine.advance(now * MILLISECOND, &mut switch.out);
    }
    switch.receive(20 * MILLISECOND, &frame(FORWARD, 9, 0, 0, 100));
    switch.engine.advance(21 * MILLISECOND, &mut switch.out);
    assert_eq!(switch.out.sent.len(), 1);
    let balance = switch.balance();
    assert!(balance.recirculating <= Engine::MAX_RECIRCULATING as u64);
    assert!(balance.recirculations < 10_000, "{balance:?}");

    // A mirror of a mirror of a mirror takes no time.
    let mut switch = self::switch(false);
    let session = CloneSession {
        replicas: vec![(9, 0)],
        ..CloneSession::default()
    };
    switch.engine.pipeline_mut().unwrap().clone_session_set(5, session);
    switch.receive(0, &frame(MIRROR_MIRRORS, 9, 0, 0, 100));
    switch.finish();
    let balance = switch.balance();
    assert_eq!(
        (balance.clone_depth_dropped, balance.transmitted),
        (1, u64::from(Engine::MAX_CLONE_DEPTH) + 1)
    );
}

#[test]
fn the_ghost_control_hears_of_every_enqueue_and_dequeue() {
    let mut switch = switch(true);
    // 1000 bytes at 8 Mbit/s take 1 ms. The first packet is on the link; the others wait.
    for waiting in [0, 1, 2, 3, 4] {
        switch.receive(0, &frame(FORWARD, 1, 5, 1 << 3 | 5, 1000));
        switch.engine.advance(0, &mut switch.out);
        assert_eq!(
            (switch.reported_length(1, 5), switch.reported_length(1, 0)),
            (waiting, 0)
        );
    }
    switch.engine.advance(MILLISECOND, &mut switch.out);
    assert_eq!(switch.reported_length(1, 5), 3);
    switch.finish();
    assert_eq!(switch.reported_length(1, 5), 0);
    // The length that ingress read, the packets before it at enqueue, and behind it at dequeue. When the second packet
    // arrived, the first was still in its queue: the link takes it later at the same instant.
    let seen: Vec<_> = switch
        .out
        .sent
        .iter()
        .map(|(_, _, frame)| (frame[7], frame[5], frame[6]))
        .collect();
    assert_eq!(seen, [(0, 0, 0), (0, 0, 3), (1, 1, 2), (2, 2, 1), (3, 3, 0)]);
}

#[test]
fn one_buffer_is_one_queue_to_the_ghost_control() {
    let mut switch = switch(true);
    for queue in [0, 3, 7] {
        switch.receive(0, &frame(FORWARD, 2, queue, 0, 1000));
        switch.engine.advance(0, &mut switch.out);
    }
    assert_eq!(
        (
            switch.reported_length(2, 0),
            switch.reported_length(2, 3),
            switch.reported_length(2, 7)
        ),
        (2, 0, 0)
    );
    // Each of eight queues has its own packets. With one buffer again, they are one queue.
    switch
        .engine
        .set_port(2, shaped(8_000_000, Discipline::Strict))
        .unwrap();
    assert_eq!(
        (
            switch.reported_length(2, 0),
            switch.reported_length(2, 3),
            switch.reported_length(2, 7)
        ),
        (0, 1, 1)
    );
    switch.engine.set_port(2, shaped(8_000_000, Discipline::Fifo)).unwrap();
    assert_eq!(
        (
            switch.reported_length(2, 0),
            switch.reported_length(2, 3),
            switch.reported_length(2, 7)
        ),
        (2, 0, 0)
    );
}

#[test]
fn the_rank_of_ingress_orders_the_packets_of_a_port() {
    let mut switch = switch(false);
    for rank in [9, 5, 7, 1, 3] {
        switch.receive(0, &frame(FORWARD, 3, rank, 0, 1000));
    }
    switch.finish();
    let ranks: Vec<_> = switch.out.sent.iter().map(|(_, _, frame)| frame[3]).collect();
    assert_eq!(ranks, [9, 1, 3, 5, 7]);
    let mut settings = switch.engine.port(3);
    settings.rank_field = Some("hdr.nothing".to_string());
    assert!(switch.engine.set_port(3, settings).is_err());
}

#[test]
fn queue_and_priority_come_from_qid() {
    let mut switch = switch(false);
    for qid in [0, 1, 9, 7] {
        switch.receive(0, &frame(FORWARD, 1, qid, 0, 1000));
    }
    switch.finish();
    let qids: Vec<_> = switch.out.sent.iter().map(|(_, _, frame)| frame[3]).collect();
    assert_eq!(qids, [0, 7, 1, 9]);
    assert_eq!(switch.engine.queue_stats(1).queues[1].enqueued.packets, 2);
}
