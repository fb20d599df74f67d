//! A FIFO with a size and a threshold in bytes, as Netbench's tail drop has them.

use std::path::Path;

use p4sched_simulator::network::results;
use p4sched_simulator::network::scenario::Scenario;
use p4sched_simulator::network::world::World;
use serde_json::{Value, json};

const HEADERS: u64 = 100;

fn world(ports: &Value, frame_bytes: u64, transport: &str) -> Result<World, String> {
    let link = |host: &str, rate: u64| json!({"between": [host, "s"], "rate_bps": rate, "delay_ns": 5000});
    let scenario = json!({
        "end_ns": 100_000_000,
        "topology": {"described": {"hosts": ["a", "b"], "switches": ["s"], "links": [
            link("a", 1_000_000_000), link("b", 10_000_000)]}},
        "ports": ports,
        "overhead_bytes": HEADERS,
        "transports": {"udp": {"mss": frame_bytes - HEADERS, "control": {"udp": {"rate_bps": 100_000_000}}},
                       "dctcp": {"mss": frame_bytes - HEADERS, "control": "dctcp"}},
        "flows": {"list": [{"source": "a", "destination": "b", "bytes": 1_000_000, "transport": transport}]},
    });
    let scenario: Scenario = serde_json::from_value(scenario).map_err(|error| error.to_string())?;
    let setup = scenario.setup(Path::new("")).map_err(|error| error.to_string())?;
    World::new(setup).map_err(|error| error.to_string())
}

fn ran(ports: &Value, frame_bytes: u64, transport: &str) -> Value {
    let mut world = world(ports, frame_bytes, transport).unwrap();
    while world.step() {
        let account = world.account();
        assert!(account.balanced(), "at {} ns: {account:?}", world.now());
    }
    results::summary(&world)["ports"].clone()
}

/// Packets that wait at the slow port when a flow of datagrams has filled it.
fn waiting(ports: &Value, frame_bytes: u64) -> u64 {
    let ran = ran(ports, frame_bytes, "udp");
    let lengths = ran
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|port| port["queue_packets"]["p99"].as_u64());
    lengths.max().unwrap()
}

/// Packets that the ports mark for DCTCP.
fn marked(ports: &Value) -> u64 {
    let ran = ran(ports, 1500, "dctcp");
    ran.as_array()
        .unwrap()
        .iter()
        .map(|port| port["marked"].as_u64().unwrap())
        .sum()
}

#[test]
fn as_many_packets_wait_as_fit_into_the_bytes() {
    let ports = json!({"scheme": "fifo", "buffer_bytes": 6000});
    assert_eq!(waiting(&ports, 1500), 4);
    assert_eq!(waiting(&ports, 1501), 3);
    assert_eq!(waiting(&ports, 200), 30);
    assert_eq!(
        waiting(&json!({"scheme": "fifo", "queues": 1, "queue_size": 4}), 200),
        4
    );
}

/// All frames but acknowledgements, which meet no queue, have 1500 bytes.
#[test]
fn bytes_mark_as_that_many_packets_do() {
    let packets = json!({"scheme": "fifo", "queues": 1, "queue_size": 100, "mark_at_packets": 4});
    let bytes = |threshold| json!({"scheme": "fifo", "queues": 1, "queue_size": 100, "mark_at_bytes": threshold});
    assert!(marked(&packets) > 0);
    assert_eq!(marked(&bytes(4500 + 1)), marked(&packets));
    assert_eq!(marked(&bytes(6000)), marked(&packets));
    assert_ne!(marked(&bytes(6000 + 1)), marked(&packets));
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let refused = |ports: Value| world(&ports, 1500, "udp").unwrap_err();
    assert_eq!(
        refused(json!({"scheme": "pifo", "buffer_bytes": 6000})),
        "ports: buffer_bytes: pifo has a size in packets only"
    );
    assert_eq!(
        refused(json!({"scheme": "fifo", "buffer_bytes": 6000, "queue_size": 5})),
        "ports: buffer_bytes stands in place of queues, queue_size, parameters and memory"
    );
    assert_eq!(
        refused(json!({"scheme": "fifo", "buffer_bytes": 0})),
        "ports: buffer_bytes: 0 bytes hold no packet"
    );
    assert_eq!(
        refused(json!({"scheme": "fifo", "mark_at_bytes": 5, "mark_at_packets": 5})),
        "ports: mark_at_bytes stands in place of mark_at_packets"
    );
    assert_eq!(
        refused(json!({"scheme": "dual_pi2", "mark_at_bytes": 5})),
        "ports: mark_at_bytes: dual_pi2 marks packets itself"
    );
}
