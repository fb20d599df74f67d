//! Ports that share the memory of their switch, with models.

use std::path::Path;

use p4sched_simulator::network::results;
use p4sched_simulator::network::scenario::Scenario;
use p4sched_simulator::network::world::World;
use serde_json::{Value, json};

/// Two incasts of four senders at one switch, the second one 100 us after the first.
fn world(ports: &Value) -> Result<World, String> {
    let link = |host: &str| json!({"between": [host, "s1"], "rate_bps": 1_000_000_000, "delay_ns": 10_000});
    let hosts: Vec<String> = (0..10).map(|host| format!("h{host}")).collect();
    let flow = |sender: u64| {
        let start = if sender < 4 { 0 } else { 100_000 };
        json!({"source": sender, "destination": 8 + sender / 4, "bytes": 64_000, "start_ns": start})
    };
    let scenario = json!({
        "end_ns": 1_000_000_000,
        "topology": {"described": {
            "hosts": hosts, "switches": ["s1"], "links": hosts.iter().map(|host| link(host)).collect::<Vec<_>>()}},
        "ports": ports,
        "ranks": "remaining",
        "transports": {"tcp": {"control": "new_reno", "preset": "data_centre"}},
        "flows": {"list": (0..8).map(flow).collect::<Vec<_>>()},
    });
    let scenario: Scenario = serde_json::from_value(scenario).map_err(|error| error.to_string())?;
    let setup = scenario.setup(Path::new("")).map_err(|error| error.to_string())?;
    World::new(setup).map_err(|error| error.to_string())
}

/// Packets that the ports refused, had no room for, and pushed out; and the most bytes that the switch held.
fn run(ports: &Value) -> ([u64; 3], u64) {
    let mut world = world(ports).unwrap();
    let mut most = 0;
    while world.step() {
        let account = world.account();
        assert!(account.balanced(), "at {} ns: {account:?}", world.now());
        most = most.max(account.in_switches);
    }
    assert!((0..8).all(|flow| world.record(flow).received_ns.is_some()));
    let summary = results::summary(&world);
    let ports = summary["ports"].as_array().unwrap();
    let sum = |name: &str| ports.iter().map(|port| port[name].as_u64().unwrap()).sum();
    ([sum("dropped_refused"), sum("dropped_full"), sum("pushed_out")], most)
}

fn ports(scheme: &str, memory: &Value) -> Value {
    json!({"scheme": scheme, "queues": 4, "queue_size": 100, "window": 20, "headroom_256": 26, "memory": memory})
}

#[test]
fn a_switch_never_holds_more_than_its_memory() {
    for scheme in ["fifo", "pifo", "sp_pifo", "aifo", "rifo", "packs"] {
        for sharing in ["dynamic_thresholds", "abm", "occamy"] {
            let memory = json!({"packets": 40, "sharing": sharing, "alpha_256": 2048});
            let ([refused, full, pushed_out], most) = run(&ports(scheme, &memory));
            assert!(refused + full + pushed_out > 0, "{scheme}, {sharing}");
            // 40 packets wait, and each of 10 links carries one and, in its delay, one more
            assert!(most <= (40 + 20) * 1514, "{scheme}, {sharing}: {most} bytes");
            assert_eq!(
                pushed_out > 0,
                sharing == "occamy" || scheme == "pifo",
                "{scheme}, {sharing}"
            );
        }
    }
}

#[test]
fn a_rule_that_follows_the_memory_refuses_and_a_rule_with_a_large_size_leaves_it_to_the_memory() {
    for scheme in ["aifo", "rifo", "packs"] {
        let memory = json!({"packets": 40, "alpha_256": 256});
        let ([refused, full, _], _) = run(&ports(scheme, &memory));
        assert!(refused < full, "{scheme}: {refused} refused, {full} full");
        for every in [0, 100_000] {
            let memory = json!({"packets": 40, "alpha_256": 256, "follow_every_ns": every});
            let ([follows, _, _], _) = run(&ports(scheme, &memory));
            assert!(
                follows > refused,
                "{scheme}, {every}: {follows} refused, without {refused}"
            );
        }
    }
}

#[test]
fn what_has_no_meaning_is_refused_with_a_sentence() {
    let refused = |scheme: &str, memory: &Value| world(&ports(scheme, memory)).unwrap_err();
    assert_eq!(
        refused("drr", &json!({"packets": 40})),
        "ports: memory: the queues of drr cannot share one"
    );
    assert_eq!(
        refused("fifo", &json!({"packets": 0})),
        "ports: memory: packets = 0: it is 1 or more"
    );
    assert_eq!(
        refused("fifo", &json!({"packets": 40, "alpha_256": 0})),
        "ports: memory: alpha_256 is 0, so no queue could take a packet; use 1 or more, and 256 for an alpha of 1"
    );
}
