//! DualPI2 at a port: what RFC 9332 promises, with a Cubic and a Prague sender.

use std::path::Path;

use p4sched_simulator::network::results;
use p4sched_simulator::network::scenario::Scenario;
use p4sched_simulator::network::world::World;
use serde_json::{Value, json};

fn world(ports: &Value) -> Result<World, String> {
    let link = |host: &str, rate: u64| json!({"between": [host, "s"], "rate_bps": rate, "delay_ns": 5_000_000});
    let flow = |source: &str, transport: &str| json!({"source": source, "destination": "c", "bytes": 1_000_000_000, "transport": transport});
    let scenario = json!({
        "end_ns": 60_000_000_000_u64,
        "topology": {"described": {"hosts": ["a", "b", "c"], "switches": ["s"], "links": [
            link("a", 1_000_000_000), link("b", 1_000_000_000), link("c", 40_000_000)]}},
        "ports": ports,
        "transports": {"cubic": {"control": "cubic", "ecn": true}, "prague": {"control": "prague"}},
        "flows": {"list": [flow("a", "cubic"), flow("b", "prague")]},
    });
    let scenario: Scenario = serde_json::from_value(scenario).map_err(|error| error.to_string())?;
    let setup = scenario.setup(Path::new("")).map_err(|error| error.to_string())?;
    World::new(setup).map_err(|error| error.to_string())
}

/// Mbit/s of Cubic and of Prague, and the packets that the switch marked and lost.
fn run(ports: &Value) -> ([f64; 2], u64, u64) {
    let mut world = world(ports).unwrap();
    while world.step() {
        let account = world.account();
        assert!(account.balanced(), "at {} ns: {account:?}", world.now());
    }
    let rate = |flow: usize| world.record(flow).received_bytes as f64 * 8.0 / 60e6;
    let rates = [rate(0), rate(1)];
    let summary = results::summary(&world);
    let sum = |name: &str| -> u64 {
        let ports = summary["ports"].as_array().unwrap().iter();
        ports.map(|port| port[name].as_u64().unwrap()).sum()
    };
    (rates, sum("marked"), sum("dropped_refused") + sum("dropped_full"))
}

/// RFC 9332 Section 2.1: with k = 2 both kinds of senders get about the same rate at a round trip of the same length, where one
/// queue with DCTCP's threshold leaves Cubic little.
#[test]
fn cubic_and_prague_get_about_the_same() {
    let ([cubic, prague], marked, lost) = run(&json!({"scheme": "dual_pi2", "queues": 1, "queue_size": 1000}));
    let ([starved, greedy], ..) =
        run(&json!({"scheme": "fifo", "queues": 1, "queue_size": 1000, "mark_at_packets": 10}));
    assert!((0.4..2.5).contains(&(cubic / prague)), "{cubic} {prague}");
    assert!(starved < greedy / 4.0, "{starved} {greedy}");
    assert!(
        cubic + prague > 36.0 && marked > 100 && lost == 0,
        "{cubic} {prague} {marked} {lost}"
    );
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let refused = |ports: Value| world(&ports).unwrap_err();
    assert_eq!(
        refused(json!({"scheme": "dual_pi2", "mark_at_packets": 5})),
        "ports: mark_at_packets: dual_pi2 marks packets itself"
    );
    assert_eq!(
        refused(json!({"scheme": "fifo", "dual_pi2": {"target_ns": 1000}})),
        "ports: fifo has no dual_pi2"
    );
    assert_eq!(
        refused(json!({"scheme": "dual_pi2", "dual_pi2": {"coupling": 0}})),
        "ports: coupling = 0: it is 1 or more"
    );
    assert_eq!(
        refused(json!({"scheme": "dual_pi2", "quantum_bytes": 100})),
        "ports: dual_pi2 has queues, queue_size and dual_pi2 only"
    );
}
