//! AIFO as in the paper's Tofino build: recirculating worker packets bring the length of the queue to ingress (AIFO
//! 4.4), so ingress learns it late.

use std::path::Path;

use p4sched_dataplane::Port;
use p4sched_schedulers::aifo::AifoConfig;
use p4sched_schedulers::window::WindowConfig;
use p4sched_schedulers::{Config, Headroom, Nanos, Rank, Scheme, Target};
use p4sched_simulator::frames::Datagram;
use p4sched_simulator::parameters::Parameters;
use p4sched_simulator::program::Program;
use p4sched_simulator::switch::{Sent, Switch};
use p4sched_simulator::workload::seeded;
use rand::Rng;

const PORT: Port = 1;
/// The worker packet visits ports 0 and 1.
const PORTS: u16 = 2;
/// A frame of 1375 bytes takes 1100 ns at 10 Gbit/s.
const RATE_BPS: u64 = 10_000_000_000;
const SERVICE: Nanos = 1100;
/// C, the target length, which is also the size of the queue, in packets.
const TARGET: usize = 40;
const MICROSECOND: Nanos = 1000;

/// The targets whose AIFO supports worker packets.
const TARGETS: [Target; 2] = [Target::V1model, Target::Tna];

/// AIFO with these macros, on a link of 10 Gbit/s.
fn aifo(target: Target, macros: &[&str]) -> Switch {
    let p4 = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(target.directory());
    let program = Program::compile_with(&p4, "aifo", target, macros).unwrap_or_else(|error| panic!("{error}"));
    let mut switch = Switch::new(&program, Scheme::Aifo).unwrap();
    switch.route_ranked(PORT);
    let config = Config::Aifo(AifoConfig {
        target: TARGET,
        capacity: TARGET,
        headroom: Headroom::new(0, 8).unwrap(),
        window: WindowConfig::unsampled(32),
        on: Target::V1model,
    });
    let parameters = Parameters::new(config, target);
    switch.set_port(PORT, &parameters, true, RATE_BPS);
    switch
}

fn frame(id: u64, rank: Rank) -> Vec<u8> {
    let mut frame = Vec::new();
    Datagram::ranked(id, rank, 1375).write(&mut frame);
    frame
}

fn length(switch: &Switch) -> u64 {
    switch.counts(PORT).lengths[0]
}

/// The longest queue, in packets, while a packet with a random rank arrives every 1000 ns: 11 Gbit/s over 10 Gbit/s.
fn longest_queue(mut switch: Switch, pass: Option<Nanos>) -> u64 {
    let (mut sent, mut random) = (Sent::default(), seeded(1));
    if let Some(pass) = pass {
        switch.start_worker(PORTS, pass, &mut sent);
    }
    let mut longest = 0;
    for id in 0..20_000 {
        let frame = frame(id, random.random_range(0..100));
        switch.receive(id * MICROSECOND, &frame, &mut sent);
        longest = longest.max(length(&switch));
    }
    longest
}

#[test]
fn a_worker_tells_ingress_what_the_last_departure_left_behind_one_round_later() {
    for target in TARGETS {
        let mut switch = aifo(target, &["WORKER_PACKETS"]);
        let mut sent = Sent::default();
        let pass = 100;
        switch.start_worker(PORTS, pass, &mut sent);
        let known = |switch: &Switch| switch.register("queue_length_ingress", usize::from(PORT));
        // The first packet leaves immediately, with no packet behind it. Each later packet leaves one packet fewer
        // behind.
        for id in 0..10 {
            switch.receive(0, &frame(id, 1), &mut sent);
        }
        let round = u64::from(PORTS) * pass;
        switch.advance(round, &mut sent);
        assert_eq!((length(&switch), known(&switch)), (9, 0), "{target:?}");
        for departure in 1..10 {
            let at = departure * SERVICE;
            switch.advance(at - 1, &mut sent);
            let before = known(&switch);
            switch.advance(at, &mut sent);
            assert_eq!(
                known(&switch),
                before,
                "{target:?}: no worker can have come by in no time"
            );
            switch.advance(at + round, &mut sent);
            let left = 9 - departure;
            assert_eq!((length(&switch), known(&switch)), (left, left), "{target:?}");
        }
    }
}

#[test]
fn without_a_worker_ingress_takes_the_queue_for_empty() {
    // No packet is refused: all packets that the link has not started to send by the last arrival are waiting.
    let begun = 19_999 * MICROSECOND / SERVICE + 1;
    for target in TARGETS {
        let longest = longest_queue(aifo(target, &["WORKER_PACKETS"]), None);
        assert_eq!(longest, 20_000 - begun, "{target:?}");
    }
}

#[test]
fn the_slower_the_worker_the_further_the_queue_overshoots_its_target() {
    for target in TARGETS {
        // On Tofino 1, departures report the length instead. Two packets may arrive between two departures.
        let (built, late) = (aifo(target, &[]), u64::from(target == Target::Tna) * 2);
        let without = longest_queue(built, None);
        assert!(without <= TARGET as u64 + late, "{target:?}: {without}");
        // With a round of 200 ns, no further packets are admitted.
        let fast = longest_queue(aifo(target, &["WORKER_PACKETS"]), Some(100));
        assert!(fast <= TARGET as u64 + 2, "{target:?}: {fast}");
        // During a round of 1 ms, 1000 packets arrive and 909 leave.
        let slow = longest_queue(aifo(target, &["WORKER_PACKETS"]), Some(500 * MICROSECOND));
        assert!(
            slow > TARGET as u64 + 20 && slow <= TARGET as u64 + 92,
            "{target:?}: {slow}"
        );
    }
}

#[test]
fn the_other_programs_say_that_they_are_not_written_for_worker_packets() {
    let folder = |target: Target| {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        project.join(target.directory())
    };
    for (scheme, target) in [
        (Scheme::Fifo, Target::V1model),
        (Scheme::Rifo, Target::V1model),
        (Scheme::Packs, Target::V1model),
        (Scheme::Fifo, Target::Tna),
        (Scheme::Rifo, Target::Tna),
        (Scheme::Fdpa, Target::Tna),
        (Scheme::Aifo, Target::T2na),
    ] {
        let built = Program::compile_with(&folder(target), scheme.p4().program, target, &["WORKER_PACKETS"]);
        let said = built.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("only aifo.p4 is"), "{scheme:?} for {target:?}: '{said}'");
    }
}

#[test]
fn a_worker_that_a_host_sends_is_dropped() {
    for target in TARGETS {
        let mut switch = aifo(target, &["WORKER_PACKETS"]);
        let mut sent = Sent::default();
        let mut forged = vec![0; 22];
        forged[12..14].copy_from_slice(&[0x88, 0xb5]);
        forged[14..].copy_from_slice(&[0, 2, 0, 1, 0, 0, 0, 99]);
        switch.receive(0, &forged, &mut sent);
        switch.advance(1_000_000, &mut sent);
        assert_eq!(switch.register("queue_length_ingress", usize::from(PORT)), 0);
        assert!(sent.frames.is_empty() && switch.next_event().is_none());
    }
}
