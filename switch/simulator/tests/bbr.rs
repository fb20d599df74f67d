//! BBR flows that share a link.

use std::path::Path;

use p4sched_simulator::network::scenario::Scenario;
use p4sched_simulator::network::world::World;
use serde_json::{Value, json};

const SECOND: u64 = 1_000_000_000;
/// Packets that fill the path of 100 Mbit/s and 10 ms.
const PRODUCT: u64 = 83;

/// A dumbbell of 100 Mbit/s and 10 ms with a FIFO, and flows from different hosts with these controls and starts in ns.
fn world(flows: &[(&str, u64)], queue_packets: u64, end_ns: u64) -> World {
    let listed: Vec<Value> = (1..)
        .zip(flows)
        .map(|(host, (control, start_ns))| {
            json!({"source": format!("u{host}"), "destination": "server", "bytes": 1_u64 << 40,
                "start_ns": start_ns, "transport": control})
        })
        .collect();
    let scenario: Scenario = serde_json::from_value(json!({
        "end_ns": end_ns,
        "topology": {"dumbbell": {
            "hosts": flows.len(),
            "access": {"rate_bps": 10_000_000_000_u64, "delay_ns": 1000},
            "bottleneck": {"rate_bps": 100_000_000, "delay_ns": 4_999_000}}},
        "ports": {"scheme": "fifo", "queues": 1, "queue_size": queue_packets},
        "transports": {"bbr": {"control": "bbr"}, "cubic": {"control": "cubic"}},
        "flows": {"list": listed},
    }))
    .unwrap();
    World::new(scenario.setup(Path::new("")).unwrap()).unwrap()
}

/// Shares of the link that the flows got between `from` and `to`.
fn shares(flows: &[(&str, u64)], queue_packets: u64, from: u64, to: u64) -> Vec<f64> {
    let mut world = world(flows, queue_packets, to);
    let received =
        |world: &World| -> Vec<u64> { (0..flows.len()).map(|flow| world.record(flow).received_bytes).collect() };
    while world.now() < from && world.step() {}
    let early = received(&world);
    world.run();
    let bits = |(late, early): (&u64, &u64)| (late - early) as f64 * 8.0;
    let seconds = (to - from) as f64 / SECOND as f64;
    received(&world)
        .iter()
        .zip(&early)
        .map(bits)
        .map(|bits| bits / seconds / 100e6)
        .collect()
}

/// Both flows measure the round trip at about the same time, with an empty queue, and then probe for the same
/// bandwidth.
#[test]
fn flows_that_start_apart_get_about_the_same() {
    for apart in [1, 2, 3, 5, 8] {
        let flows = [("bbr", 0), ("bbr", apart * SECOND)];
        let shares = shares(&flows, 8 * PRODUCT, 40 * SECOND, 80 * SECOND);
        println!("{apart} {shares:?}");
        // 94.8 % of a frame are payload.
        assert!(shares.iter().sum::<f64>() > 0.9, "{shares:?}");
        assert!(shares.iter().all(|share| *share > 0.3), "{shares:?}");
    }
}
