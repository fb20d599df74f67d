//! Paths of packets: copies, recirculation, the controller, drops. No packet is lost, and every run gives the same
//! result.

use crate::common::*;
use p4sched_dataplane::{ActionCall, CloneSession};
use p4sched_engine::{Discipline, Engine, NoCpuPort, PortConfig, PortSettings};
use proptest::prelude::*;

const ONE_A_MILLISECOND: u64 = 12_000_000;

fn request() -> impl Strategy<Value = Request> {
    (0..9u8, 0..5u8, 0..8u8, 0..4u8, 0..50u16, 29..1500usize).prop_map(|(op, port, priority, user, rank, bytes)| {
        Request {
            op,
            port,
            priority,
            user,
            rank,
            bytes,
        }
    })
}

/// A switch with ports of all kinds, copies and a controller.
fn busy_switch() -> Switch {
    let mut switch = Switch::new();
    for (port, discipline, rate_bps) in [
        (1, Discipline::Strict, 50_000_000),
        (2, Discipline::Drr, 30_000_000),
        (3, Discipline::Pifo, 20_000_000),
    ] {
        let mut settings = with_discipline(discipline, shaped(rate_bps));
        settings.config.buffer_packets = 6;
        settings.config.queues[3].size_packets = 2;
        settings.config.delay_ns = u64::from(port) * 400_000;
        switch.engine.set_port(port, settings).unwrap();
    }
    let program = switch.engine.pipeline_mut().unwrap();
    program.mcast_group_set(1, vec![(1, 0), (2, 1), (3, 2), (4, 3)]);
    program.mcast_group_set(2, vec![]);
    program.clone_session_set(
        5,
        CloneSession {
            replicas: vec![(3, 0), (4, 0)],
            ..Default::default()
        },
    );
    switch.engine.set_cpu_port(Some(4));
    switch.engine.set_recirculation_latency(100_000);
    switch
}

/// Drives a busy switch, and advances it at least every `nap` ns.
fn run(steps: &[(u64, Request)], nap: u64) -> Switch {
    let mut switch = busy_switch();
    let mut now = 0;
    for &(gap, request) in steps {
        let until = now + gap;
        while nap > 0 && now + nap < until {
            now += nap;
            switch.advance(now);
        }
        now = until;
        match request.user {
            3 => switch
                .engine
                .packet_out(now, &request.frame(), &mut switch.out)
                .unwrap(),
            _ => switch.receive(now, request),
        }
        switch.balance();
    }
    switch.advance(now + 20 * MILLISECOND);
    switch
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_packet_disappears_uncounted(steps in prop::collection::vec((0..400_000u64, request()), 1..300)) {
        let switch = run(&steps, 0);
        let balance = switch.balance();
        prop_assert_eq!(balance.received + balance.packets_out, steps.len() as u64);
        prop_assert_eq!(balance.transmitted as usize, switch.out.sent.len());
        prop_assert_eq!(balance.packets_in as usize, switch.out.packets_in.len());
        for port in 0..5 {
            prop_assert!(switch.engine.queue_stats(port).balanced());
        }
        let queued: u64 = (0..5).map(|port| switch.engine.queue_stats(port).total(|q| q.length).packets).sum();
        prop_assert_eq!(queued, balance.queued);
    }

    #[test]
    fn the_same_input_gives_the_same_output(steps in prop::collection::vec((0..400_000u64, request()), 1..200)) {
        prop_assert_eq!(run(&steps, 0).out, run(&steps, 0).out);
    }

    /// How often and how late the caller advances the switch does not matter, except for recirculation, whose limit is
    /// per call.
    #[test]
    fn a_late_caller_changes_nothing(
        steps in prop::collection::vec((0..400_000u64, request()), 1..200),
        nap in 1_000..100_000u64,
    ) {
        let steps: Vec<_> = steps.into_iter().filter(|(_, request)| request.op != RECIRCULATE).collect();
        prop_assert_eq!(run(&steps, 0).out, run(&steps, nap).out);
    }
}

#[test]
fn a_changed_default_action_takes_effect_between_two_packets_and_loses_none() {
    let mut switch = Switch::with_port(2, shaped(1_000_000_000));
    let mut expected = Vec::new();
    for number in 0..1000u64 {
        let now = number * 12_500;
        switch.receive(now, FULL);
        let value = 1 + number / 100;
        expected.push(value as u16);
        if number % 100 == 99 {
            switch.advance(now);
            let program = switch.engine.pipeline_mut().unwrap();
            let table = program.table("ProbeIngress.settings").unwrap();
            let action = program.table_action(table, "ProbeIngress.set").unwrap();
            let params = vec![(value as u16 + 1).to_be_bytes().to_vec()];
            program
                .table_set_default(table, Some(&ActionCall::Action { action, params }))
                .unwrap();
        }
    }
    switch.finish();
    let settings: Vec<_> = switch.out.sent.iter().map(|probe| probe.setting).collect();
    assert_eq!(settings, expected);
    assert_eq!(switch.balance().dropped(), 0);
}

#[test]
fn multicast_and_clones_are_copies() {
    let mut switch = busy_switch();
    switch.receive(
        0,
        Request {
            op: MULTICAST,
            port: 1,
            ..FULL
        },
    );
    switch.receive(
        0,
        Request {
            op: CLONE_AT_INGRESS,
            ..FULL
        },
    );
    switch.finish();
    let mut ports: Vec<_> = switch.out.sent.iter().map(|probe| probe.port).collect();
    ports.sort_unstable();
    // The group's ports 1, 2, 3 and the CPU port 4; then port 2, and clones to ports 3 and 4.
    assert_eq!((ports, switch.out.packets_in.len()), (vec![1, 2, 2, 3, 3], 2));
    assert_eq!(switch.balance().copies, 5);
}

#[test]
fn a_group_without_members_drops_and_counts() {
    let mut switch = busy_switch();
    switch.receive(
        0,
        Request {
            op: MULTICAST,
            port: 2,
            ..FULL
        },
    );
    switch.receive(
        0,
        Request {
            op: MULTICAST,
            port: 200,
            ..FULL
        },
    );
    switch.receive(0, Request { op: DROP, ..FULL });
    switch.receive(
        0,
        Request {
            op: DROP_AT_EGRESS,
            ..FULL
        },
    );
    switch.finish();
    assert_eq!(
        (switch.balance().ingress_dropped, switch.balance().egress_dropped),
        (3, 1)
    );
}

#[test]
fn a_recirculated_packet_passes_the_program_again_a_latency_later() {
    let mut switch = Switch::new();
    switch.engine.set_recirculation_latency(2_000);
    switch.receive(500, Request { op: PASS_TWICE, ..FULL });
    switch.finish();
    let [probe] = &switch.out.sent[..] else {
        panic!("one frame expected")
    };
    assert_eq!((probe.passes, probe.due), (2, 2_500));
    assert_eq!(switch.balance().recirculations, 1);
}

#[test]
fn packets_that_recirculate_for_ever_leave_time_for_the_others() {
    let mut switch = Switch::with_port(3, shaped(ONE_A_MILLISECOND));
    for _ in 0..50 {
        switch.receive(
            0,
            Request {
                op: RECIRCULATE,
                ..FULL
            },
        );
    }
    for number in 0..100 {
        switch.receive(number * MILLISECOND, Request { port: 3, ..FULL });
    }
    switch.advance(SECOND);
    assert_eq!(switch.out.sent.len(), 100);
    let balance = switch.balance();
    assert_eq!(balance.recirculating + balance.queued, 50);
    // At most 64 passes per call, and one for every 4 µs.
    assert!(
        balance.recirculations <= 64 * 151 + SECOND / 4_000,
        "{}",
        balance.recirculations
    );
}

#[test]
fn too_many_recirculating_packets_are_dropped_and_counted() {
    let mut switch = Switch::new();
    switch.engine.set_recirculation_latency(SECOND);
    for _ in 0..Engine::MAX_RECIRCULATING + 10 {
        switch.receive(
            0,
            Request {
                op: RECIRCULATE,
                bytes: 64,
                ..FULL
            },
        );
    }
    switch.advance(0);
    assert_eq!(
        (switch.balance().recirculating, switch.balance().recirculation_dropped),
        (4096, 10)
    );
}

#[test]
fn a_clone_of_every_clone_ends() {
    let mut switch = Switch::new();
    let program = switch.engine.pipeline_mut().unwrap();
    program.clone_session_set(
        5,
        CloneSession {
            replicas: vec![(2, 0)],
            ..Default::default()
        },
    );
    switch.receive(0, Request { op: CLONE, ..FULL });
    switch.finish();
    let balance = switch.balance();
    assert_eq!(
        (balance.transmitted, balance.copies, balance.clone_depth_dropped),
        (17, 17, 1)
    );

    // Two clones of every clone: the queues limit the growth.
    let program = switch.engine.pipeline_mut().unwrap();
    program.clone_session_set(
        5,
        CloneSession {
            replicas: vec![(2, 0), (3, 0)],
            ..Default::default()
        },
    );
    switch.receive(0, Request { op: CLONE, ..FULL });
    switch.finish();
    assert!(switch.balance().queue_dropped > 0);
}

#[test]
fn the_controller_sends_and_receives_by_the_cpu_port() {
    let mut switch = Switch::new();
    let to_port_2 = FULL.frame();
    assert_eq!(switch.engine.packet_out(0, &to_port_2, &mut switch.out), Err(NoCpuPort));
    switch.engine.set_cpu_port(Some(255));
    switch.engine.packet_out(0, &to_port_2, &mut switch.out).unwrap();
    switch.receive(
        10,
        Request {
            port: 255,
            user: 9,
            ..FULL
        },
    );
    switch.finish();
    assert_eq!((switch.out.sent.len(), switch.out.packets_in.len()), (1, 1));
    assert_eq!(switch.out.packets_in[0].user, 9);
    let balance = switch.balance();
    assert_eq!(
        (
            balance.received,
            balance.packets_out,
            balance.packets_in,
            balance.transmitted
        ),
        (1, 1, 1, 1)
    );
}

#[test]
fn digests_reach_the_controller() {
    let mut switch = Switch::new();
    switch.receive(
        0,
        Request {
            op: DIGEST,
            user: 7,
            rank: 0x0102,
            ..FULL
        },
    );
    assert_eq!(switch.out.digests.len(), 1);
    assert_eq!(switch.out.digests[0].fields, [vec![7], vec![1, 2]]);
}

#[test]
fn without_a_program_frames_are_dropped_and_counted() {
    let mut switch = Switch {
        engine: Engine::new(),
        out: Recorder::default(),
    };
    switch.receive(0, FULL);
    assert_eq!((switch.balance().no_program, switch.engine.next_event()), (1, None));
    assert_eq!(switch.engine.traffic(1).received.bytes, 1500);
}

#[test]
fn another_program_flushes_the_queues_but_not_the_links() {
    let mut settings = shaped(ONE_A_MILLISECOND);
    settings.config.delay_ns = 10 * MILLISECOND;
    let mut switch = Switch::with_port(2, settings.clone());
    for _ in 0..5 {
        switch.receive(0, FULL);
    }
    switch.receive(
        0,
        Request {
            op: RECIRCULATE,
            port: 3,
            ..FULL
        },
    );
    switch.advance(MILLISECOND);
    switch.engine.load(probe_program(), &["depths".to_string()]).unwrap();
    assert_eq!((switch.balance().flushed, switch.balance().delayed), (4, 2));
    assert_eq!((switch.depth_cell(2, 0), switch.engine.port(2)), (0, settings));
    switch.receive(2 * MILLISECOND, FULL);
    switch.finish();
    assert_eq!(switch.balance().transmitted, 3);
}

#[test]
fn programs_replaced_under_traffic_compiled_and_interpreted_in_turn_lose_no_packet() {
    let run = |replace: bool| {
        let config = PortConfig {
            delay_ns: MILLISECOND,
            ..PortConfig::default()
        };
        let settings = PortSettings {
            config,
            ..PortSettings::default()
        };
        let mut switch = Switch::with_port(2, settings);
        for number in 0..1000 {
            let now = u64::from(number) * 10_000;
            switch.advance(now);
            if replace && number % 10 == 0 {
                let mut program = probe_program();
                assert!(number % 20 == 0 || program.compile(), "no code for this processor");
                switch.engine.load(program, &["depths".to_string()]).unwrap();
            }
            switch.receive(now, Request { rank: number, ..FULL });
        }
        switch.finish();
        assert_eq!((switch.balance().flushed, switch.out.sent.len()), (0, 1000));
        switch.out
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn time_does_not_go_back() {
    let mut switch = Switch::with_port(2, shaped(ONE_A_MILLISECOND));
    switch.advance(5 * MILLISECOND);
    switch.receive(3 * MILLISECOND, FULL);
    switch.finish();
    assert_eq!(switch.out.sent[0].due, 6 * MILLISECOND);
}

#[test]
fn any_bytes_are_a_frame() {
    let mut switch = Switch::new();
    for length in 0..40 {
        switch.engine.receive(0, 1, &vec![0xff; length], &mut switch.out);
        switch.engine.receive(0, 600, &vec![1; length], &mut switch.out);
    }
    switch.finish();
    assert_eq!(switch.balance().received, 80);
    assert!(switch.balance().parser_errors >= 58);
}
