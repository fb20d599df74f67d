//! Packets that leave a port out of order, and flows that keep their queue.

use std::path::Path;

use p4sched_simulator::network::results;
use p4sched_simulator::network::scenario::Scenario;
use p4sched_simulator::network::world::World;
use serde_json::{Value, json};

/// Eight senders of 64 kB at the same time, whose ranks fall.
fn incast(ports: &Value) -> Value {
    let link = json!({"rate_bps": 1_000_000_000, "delay_ns": 10_000});
    let flow = |sender| json!({"source": format!("h{sender}"), "destination": "receiver", "bytes": 64_000});
    json!({
        "end_ns": 1_000_000_000,
        "topology": {"incast": {"senders": 8, "access": link, "bottleneck": link}},
        "ports": ports,
        "count_inversions": true,
        "ranks": "to_end",
        "transports": {"tcp": {"control": "new_reno", "preset": "data_centre"}},
        "flows": {"list": (1..=8).map(flow).collect::<Vec<_>>()},
    })
}

fn world(scenario: &Value) -> Result<World, String> {
    let scenario: Scenario = serde_json::from_value(scenario.clone()).map_err(|error| error.to_string())?;
    let setup = scenario.setup(Path::new("")).map_err(|error| error.to_string())?;
    World::new(setup).map_err(|error| error.to_string())
}

/// The summary and the flows of a run.
fn run(scenario: &Value) -> (Value, String) {
    let mut world = world(scenario).unwrap();
    world.run();
    (results::summary(&world), results::flows_csv(&world))
}

fn sum(summary: &Value, name: &str) -> u64 {
    let ports = summary["ports"].as_array().unwrap().iter();
    ports.map(|port| port[name].as_u64().unwrap()).sum()
}

/// Inversions and overtakes at the switch, with four queues of ten packets.
fn out_of_order(scheme: &str, variants: &[&str], gap_ns: Option<u64>) -> (u64, u64) {
    let mut ports = json!({"scheme": scheme, "queues": 4, "queue_size": 10, "window": 20, "variants": variants});
    if let Some(gap_ns) = gap_ns {
        ports["flowlets"] = json!({"gap_ns": gap_ns});
    }
    let (mut summary, _) = run(&incast(&ports));
    let ports = summary["ports"].as_array_mut().unwrap();
    ports.retain(|port| !port["port"].is_null());
    (sum(&summary, "inversions"), sum(&summary, "overtakes"))
}

#[test]
fn a_fifo_inverts_ranks_and_keeps_flows_and_a_pifo_does_the_opposite() {
    let (inversions, overtakes) = out_of_order("fifo", &[], None);
    assert!(inversions > 100 && overtakes == 0, "{inversions}, {overtakes}");
    let (inversions, overtakes) = out_of_order("pifo", &[], None);
    assert!(inversions == 0 && overtakes > 100, "{inversions}, {overtakes}");
}

#[test]
fn a_flow_that_keeps_its_queue_is_in_order() {
    for scheme in ["sp_pifo", "packs"] {
        let (inversions, overtakes) = out_of_order(scheme, &[], None);
        assert!(
            inversions > 100 && overtakes > 100,
            "{scheme}: {inversions}, {overtakes}"
        );
        assert_eq!(out_of_order(scheme, &["flow_queue"], None).1, 0, "{scheme}");
        // no packet waits for 100 ms
        let (inversions, overtakes) = out_of_order(scheme, &["flowlet_queue"], Some(100_000_000));
        assert!(
            inversions > 100 && overtakes == 0,
            "{scheme}: {inversions}, {overtakes}"
        );
    }
}

#[test]
fn the_counts_change_nothing_else() {
    for scheme in ["fifo", "sp_pifo", "afq", "dual_pi2"] {
        let mut scenario = incast(&json!({"scheme": scheme, "queues": 4, "queue_size": 5}));
        let (mut counted, flows) = run(&scenario);
        scenario.as_object_mut().unwrap().remove("count_inversions");
        let (plain, plain_flows) = run(&scenario);
        for port in counted["ports"].as_array_mut().unwrap() {
            let port = port.as_object_mut().unwrap();
            assert!(port.remove("inversions").is_some() && port.remove("overtakes").is_some());
        }
        assert_eq!((counted, flows), (plain, plain_flows), "{scheme}");
    }
}

#[test]
fn the_count_is_that_of_drawn_ranks() {
    let mut scenario = incast(&json!({"scheme": "packs", "queues": 4, "queue_size": 5, "window": 20}));
    scenario["ranks"] = json!({"drawn": [2, 1, 0, 3]});
    let (summary, _) = run(&scenario);
    let ports = summary["ports"].as_array().unwrap().iter();
    let counts = ports.filter_map(|port| {
        let by_rank: Vec<u64> = serde_json::from_value(port["by_rank"]["inversions"].clone()).ok()?;
        Some((port["inversions"].as_u64().unwrap(), by_rank.iter().sum()))
    });
    let counts: Vec<(u64, u64)> = counts.collect();
    assert!(counts.iter().all(|(all, by_rank)| all == by_rank));
    assert!(counts.iter().any(|(all, _)| *all > 100), "{counts:?}");
}

#[test]
fn a_pifo_of_start_times_makes_no_inversion() {
    let mut scenario = incast(&json!({"scheme": "pifo", "queues": 4, "queue_size": 5}));
    scenario["ranks"] = json!("start_time");
    assert_eq!(sum(&run(&scenario).0, "inversions"), 0);
    scenario["ports"]["scheme"] = json!("fifo");
    assert!(sum(&run(&scenario).0, "inversions") > 100);
}

#[test]
fn in_a_unit_that_no_flow_exceeds_all_start_times_are_equal_and_a_pifo_is_a_fifo() {
    let mut scenario = incast(&json!({"scheme": "pifo", "queues": 4, "queue_size": 5}));
    scenario["ranks"] = json!("start_time");
    let of_programs = run(&scenario);
    scenario["ports"]["start_time_bytes"] = json!(256);
    assert_eq!(run(&scenario), of_programs);
    scenario["ports"]["start_time_bytes"] = json!(1 << 20);
    let (_, equal) = run(&scenario);
    assert_ne!(equal, of_programs.1);
    let mut fifo = incast(&json!({"scheme": "fifo", "queues": 4, "queue_size": 5}));
    fifo["ranks"] = json!("start_time");
    assert_eq!(equal, run(&fifo).1);
    scenario["ports"]["start_time_bytes"] = json!(1);
    assert_eq!(sum(&run(&scenario).0, "inversions"), 0);
}

#[test]
fn units_of_start_times_that_cannot_be_are_refused_with_a_sentence() {
    let problem = |scheme: &str, bytes: u32| {
        let mut scenario = incast(&json!({"scheme": scheme, "queues": 4, "queue_size": 5, "start_time_bytes": bytes}));
        scenario["ranks"] = json!("start_time");
        world(&scenario).unwrap_err()
    };
    assert_eq!(problem("pifo", 0), "ports: start_time_bytes = 0: it is a power of two");
    assert_eq!(
        problem("pifo", 100),
        "ports: start_time_bytes = 100: it is a power of two"
    );
    assert_eq!(problem("drr", 1), "ports: drr has no start_time_bytes");
}

#[test]
fn a_flow_pays_for_dropped_packets_only_if_it_shall() {
    let mut scenario = incast(&json!({"scheme": "sp_pifo", "queues": 4, "queue_size": 5}));
    scenario["ports"]["charge_drops"] = json!(true);
    assert_eq!(
        world(&scenario).unwrap_err(),
        "ports: charge_drops: it goes with ranks = start_time"
    );
    scenario["ranks"] = json!("start_time");
    let charged = run(&scenario);
    scenario["ports"]["charge_drops"] = json!(false);
    let plain = run(&scenario);
    assert!(sum(&plain.0, "dropped_full") > 0, "there is something to charge");
    assert_ne!(charged.1, plain.1);
}

/// A frame has 1540 bytes, more than a round.
#[test]
fn a_calendar_that_wraps_keeps_more_packets_and_lets_some_overtake_their_flow() {
    let mut scenario = incast(&json!({"scheme": "afq", "queues": 2, "queue_size": 20, "bytes_per_round": 1500}));
    let (plain, _) = run(&scenario);
    scenario["ports"]["wraps"] = json!(true);
    let (wrapped, _) = run(&scenario);
    assert!(sum(&plain, "overtakes") == 0 && sum(&wrapped, "overtakes") > 0);
    assert!(sum(&wrapped, "dropped_refused") < sum(&plain, "dropped_refused"));
}

#[test]
fn packets_that_a_memory_takes_back_wait_no_more() {
    let memory = json!({"packets": 30, "sharing": "occamy"});
    let (summary, _) = run(&incast(
        &json!({"scheme": "fifo", "queues": 1, "queue_size": 40, "memory": memory}),
    ));
    assert!(sum(&summary, "overtakes") == 0 && sum(&summary, "inversions") > 100);
}

#[test]
fn a_gap_of_0_gives_the_run_of_the_papers_rule() {
    let ports = |variants: &[&str]| json!({"scheme": "packs", "queues": 4, "queue_size": 5, "window": 20, "variants": variants});
    let mut flowlets = ports(&["flowlet_queue"]);
    flowlets["flowlets"] = json!({"gap_ns": 0});
    assert_eq!(run(&incast(&flowlets)), run(&incast(&ports(&[]))));
    flowlets["flowlets"] = json!({"gap_ns": 100_000, "cells": 64});
    assert_ne!(run(&incast(&flowlets)).1, run(&incast(&ports(&[]))).1);
}

#[test]
fn flowlets_that_cannot_be_are_refused_with_a_sentence() {
    let refused = |ports: Value| world(&incast(&ports)).unwrap_err();
    assert_eq!(
        refused(json!({"scheme": "packs", "flowlets": {"gap_ns": 5}})),
        "ports: flowlets: it goes with the variant flowlet_queue"
    );
    assert_eq!(
        refused(json!({"scheme": "packs", "variants": ["flow_queue", "flowlet_queue"]})),
        "ports: flow_queue and flowlet_queue: use one of them"
    );
    assert_eq!(
        refused(json!({"scheme": "sp_pifo", "variants": ["flowlet_queue"], "flowlets": {"cells": 0}})),
        "ports: cells of flowlets = 0 is out of range: 1 to 1048576 cells"
    );
    assert_eq!(
        refused(json!({"scheme": "aifo", "variants": ["flowlet_queue"]})),
        "ports: aifo has no variant flowlet_queue: use compare_first, strictly_below, filling_window, own_window"
    );
}
