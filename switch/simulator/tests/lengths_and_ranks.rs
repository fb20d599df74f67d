//! Ports whose rule knows old lengths, and ranks of data that is sent again.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use p4sched_schedulers::{Nanos, Rank};
use p4sched_simulator::network::hosts::DeliveryObserver;
use p4sched_simulator::network::packets::Header;
use p4sched_simulator::network::scenario::Scenario;
use p4sched_simulator::network::world::World;
use p4sched_transport::{Kind, Segment};
use serde_json::{Value, json};

/// Eight senders of 64 kB at the same time.
fn incast(ports: &Value, retransmissions: &str) -> Value {
    let link = json!({"rate_bps": 1_000_000_000, "delay_ns": 10_000});
    let flow = |sender| json!({"source": format!("h{sender}"), "destination": "receiver", "bytes": 64_000});
    json!({
        "end_ns": 1_000_000_000,
        "topology": {"incast": {"senders": 8, "access": link, "bottleneck": link}},
        "ports": ports,
        "ranks": "to_end",
        "retransmissions": retransmissions,
        "transports": {"tcp": {"control": "new_reno", "preset": "data_centre"}},
        "flows": {"list": (1..=8).map(flow).collect::<Vec<_>>()},
    })
}

fn world(scenario: Value) -> Result<World, String> {
    let scenario: Scenario = serde_json::from_value(scenario).map_err(|error| error.to_string())?;
    let setup = scenario.setup(Path::new("")).map_err(|error| error.to_string())?;
    World::new(setup).map_err(|error| error.to_string())
}

/// Refused and full packets of a run.
fn lost(ports: &Value) -> (u64, u64) {
    let mut world = world(incast(ports, "own")).unwrap();
    world.run();
    let summary = p4sched_simulator::network::results::summary(&world);
    let ports = summary["ports"].as_array().unwrap();
    let sum = |name: &str| ports.iter().map(|port| port[name].as_u64().unwrap()).sum();
    assert!((0..8).all(|flow| world.record(flow).received_ns.is_some()));
    (sum("dropped_refused"), sum("dropped_full"))
}

#[test]
fn a_rule_that_knows_only_the_empty_queue_refuses_nothing() {
    for scheme in ["aifo", "rifo", "packs"] {
        let ports = json!({"scheme": scheme, "queues": 4, "queue_size": 5, "window": 20});
        let with = |name: &str, value: u64| {
            let mut ports = ports.clone();
            ports[name] = json!(value);
            lost(&ports)
        };
        let fresh = lost(&ports);
        assert!(fresh.0 > 0, "{scheme}: {fresh:?}");
        let (refused, full) = with("length_period_ns", 10_000_000_000);
        assert!(refused == 0 && full > 0, "{scheme}: {refused} refused, {full} full");
        // each frame takes one cell
        assert_eq!(with("cell_bytes", 1514), fresh, "{scheme}");
    }
}

#[derive(Debug)]
struct Ranks(Rc<RefCell<Vec<(u64, Rank)>>>);

impl DeliveryObserver for Ranks {
    fn delivered(&mut self, _now: Nanos, header: &Header, segment: &Segment) {
        if segment.kind == Kind::Data {
            self.0.borrow_mut().push((segment.seq, header.rank));
        }
    }
}

/// First bytes and ranks of the delivered data, and the number of segments that were sent again.
fn delivered(retransmissions: &str) -> (Vec<(u64, Rank)>, u64) {
    let ports = json!({"scheme": "pifo", "queues": 1, "queue_size": 20});
    let mut world = world(incast(&ports, retransmissions)).unwrap();
    let ranks = Rc::<RefCell<Vec<_>>>::default();
    world.watch(Box::new(Ranks(Rc::clone(&ranks))));
    world.run();
    let again = (0..8).map(|flow| world.record(flow).statistics.retransmitted).sum();
    (ranks.take(), again)
}

#[derive(Debug)]
struct Users(Rc<RefCell<Vec<(Kind, u32)>>>);

impl DeliveryObserver for Users {
    fn delivered(&mut self, _now: Nanos, header: &Header, segment: &Segment) {
        self.0.borrow_mut().push((segment.kind, header.user));
    }
}

#[test]
fn answers_have_the_user_of_their_flow_if_the_scenario_asks_for_it() {
    for charged in [false, true] {
        let mut scenario = incast(&json!({"scheme": "fifo"}), "own");
        scenario["charge_answers"] = json!(charged);
        let mut world = world(scenario).unwrap();
        let users = Rc::<RefCell<Vec<_>>>::default();
        world.watch(Box::new(Users(Rc::clone(&users))));
        world.run();
        let (data, answers): (Vec<_>, Vec<_>) = users.take().into_iter().partition(|(kind, _)| *kind == Kind::Data);
        assert!(!data.is_empty() && data.iter().all(|(_, user)| *user > 0));
        let acks: Vec<_> = answers.iter().filter(|(kind, _)| *kind == Kind::Ack).collect();
        assert!(!acks.is_empty() && acks.iter().all(|(_, user)| (*user > 0) == charged));
    }
}

#[test]
fn data_that_is_sent_again_has_the_rank_that_the_scenario_asks_for() {
    let own = |&(seq, rank): &(u64, Rank)| u64::from(rank) == 64_000 - seq - 1;
    let (ranks, again) = delivered("own");
    assert!(again > 0 && ranks.iter().all(own));
    let (ranks, again) = delivered("urgent");
    let changed: Vec<_> = ranks.iter().filter(|segment| !own(segment)).collect();
    assert!(!changed.is_empty() && changed.len() as u64 <= again);
    assert!(changed.iter().all(|(_, rank)| *rank == 0));
    let (ranks, again) = delivered("least");
    let changed: Vec<_> = ranks.iter().filter(|segment| !own(segment)).collect();
    assert!(!changed.is_empty() && changed.len() as u64 <= again);
    assert!(changed.iter().all(|&&(seq, rank)| u64::from(rank) < 64_000 - seq - 1));
}

#[test]
fn what_has_no_meaning_is_refused_with_a_sentence() {
    let refused = |ports: Value| world(incast(&ports, "own")).unwrap_err();
    assert_eq!(
        refused(json!({"scheme": "fifo", "length_period_ns": 5})),
        "ports: fifo has no length_period_ns or cell_bytes: its rule reads no lengths"
    );
    assert_eq!(
        refused(json!({"scheme": "drr", "cell_bytes": 80})),
        "ports: drr has no length_period_ns or cell_bytes: its rule reads no lengths"
    );
    assert_eq!(
        refused(json!({"scheme": "aifo", "target": "tna", "cell_bytes": 80})),
        "ports: length_period_ns and cell_bytes are for the models for v1model"
    );
    let mut scenario = incast(&json!({"scheme": "fifo"}), "urgent");
    scenario["ranks"] = json!("start_time");
    assert_eq!(
        world(scenario).unwrap_err(),
        "retransmissions: with ranks = start_time the ports give all ranks"
    );
}
