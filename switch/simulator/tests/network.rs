//! Whole networks: every byte is accounted for, no packet is faster than light, and a run can be repeated.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

use p4sched_schedulers::Nanos;
use p4sched_simulator::network::hosts::DeliveryObserver;
use p4sched_simulator::network::packets::Header;
use p4sched_simulator::network::results;
use p4sched_simulator::network::scenario::{self, Scenario};
use p4sched_simulator::network::setup::Setup;
use p4sched_simulator::network::warnings::warnings;
use p4sched_simulator::network::world::World;
use p4sched_transport::Segment;
use p4sched_world::routes::Routes;
use p4sched_world::topology::{Node, Topology};
use proptest::prelude::*;
use serde_json::{Value, json};

fn setup(scenario: &Value) -> Setup {
    let scenario: Scenario = serde_json::from_value(scenario.clone()).unwrap();
    scenario.setup(Path::new("")).unwrap()
}

fn cable(rate_bps: u64, delay_ns: Nanos) -> Value {
    json!({"rate_bps": rate_bps, "delay_ns": delay_ns})
}

fn shape() -> impl Strategy<Value = Value> {
    let cables = (20_u64..2000, 0_u64..100_000, 20_u64..2000, 0_u64..100_000);
    (0..4, 2_u32..5, 1_u32..4, cables).prop_map(|(shape, many, few, (access, near, fabric, far))| {
        let access = cable(access * 1_000_000, near);
        let fabric = cable(fabric * 1_000_000, far);
        match shape {
            0 => json!({"dumbbell": {"hosts": many, "access": access, "bottleneck": fabric}}),
            1 => json!({"incast": {"senders": many, "access": access, "bottleneck": fabric}}),
            2 => {
                json!({"leaf_spine": {"leaves": many, "spines": few, "hosts": few, "access": access, "fabric": fabric}})
            }
            _ => json!({"fat_tree": {"k": 2 * few.min(2), "access": access, "fabric": fabric}}),
        }
    })
}

const IDEALS: [&str; 5] = ["afq", "drr", "stfq", "calendar", "tree"];

/// A network with up to 12 flows, any scheme and any source of ranks.
fn scenario() -> impl Strategy<Value = Value> {
    let schemes = ["fifo", "pifo", "sp_pifo", "aifo", "rifo", "packs"];
    let scheme = prop::sample::select([&schemes[..], &IDEALS[..]].concat());
    let ranks = prop::sample::select(vec!["flow", "remaining", "to_end", "start_time"]);
    let flow = (
        0_u64..10_000_000,
        0_u32..2,
        0_u32..2,
        1_u64..300_000,
        0_u32..9,
        any::<bool>(),
    );
    let flows = prop::collection::vec(flow, 1..12);
    let sizes = (1_usize..5, 1_usize..20, any::<bool>());
    let events = prop::sample::select(vec!["planned", "netbench"]);
    (shape(), scheme, ranks, sizes, flows, events, any::<u64>()).prop_map(
        |(shape, scheme, ranks, (queues, queue_size, at_hosts), mut flows, events, seed)| {
            flows.sort_unstable();
            let listed = flows.into_iter().map(|(start_ns, source, towards, bytes, rank, udp)| {
                // The smallest of these networks has two hosts.
                let destination = if towards == source { 1 - source } else { towards };
                let transport = if udp { "udp" } else { "tcp" };
                json!({"start_ns": start_ns, "source": source, "destination": destination, "bytes": bytes,
                       "rank": rank, "transport": transport})
            });
            let mut ports = json!({"scheme": scheme, "queues": queues, "queue_size": queue_size, "mark_at_packets": 5});
            if IDEALS.contains(&scheme) {
                ports["calendar"] = json!({"place": "rank", "rank_width": 10_000, "turn_bytes": 3000});
                ports["tree"] = json!([{"discipline": "pifo"}, {"discipline": "drr"}, {"discipline": "stfq"}]);
            } else {
                ports["window"] = json!(16);
                ports["headroom_256"] = json!(26);
            }
            let mut scenario = json!({
                "seed": seed, "end_ns": 60_000_000, "topology": shape, "ports": ports, "ranks": ranks, "events": events,
                "transports": {"tcp": {"control": "new_reno"}, "udp": {"control": {"udp": {"rate_bps": 50_000_000}}}},
                "flows": {"list": listed.collect::<Vec<_>>()},
            });
            if scheme == "pifo" && seed % 2 == 0 {
                scenario["ports"]["variants"] = json!(["heap_order"]);
            }
            if at_hosts {
                scenario["hosts"] = scenario["ports"].clone();
            }
            scenario
        },
    )
}

/// Checks that no packet arrives before its last bit can have passed all wires of its path, one after another.
#[derive(Debug)]
struct Light {
    topology: Topology,
    routes: Routes,
}

impl Light {
    fn new(setup: &Setup) -> Light {
        Light {
            topology: setup.topology.clone(),
            routes: Routes::new(&setup.topology, setup.multipath).unwrap(),
        }
    }

    fn shortest(&self, header: &Header, source: u32) -> Nanos {
        let first = self
            .topology
            .wires
            .iter()
            .position(|wire| wire.from == Node::Host(source));
        let mut wire = first.unwrap();
        let mut time = 0;
        loop {
            let cable = self.topology.wires[wire].cable;
            time += u64::from(header.len) * 8_000_000_000 / cable.rate_bps + cable.delay_ns;
            match self.topology.wires[wire].to {
                Node::Host(_) => return time,
                Node::Switch(switch) => wire = self.routes.next(switch, header.destination, header.hash) as usize,
            }
        }
    }
}

/// Checks the packets of a run, and counts them.
#[derive(Debug)]
struct Checked {
    light: Light,
    setup: Setup,
    packets: Rc<Cell<u64>>,
}

impl DeliveryObserver for Checked {
    fn delivered(&mut self, now: Nanos, header: &Header, segment: &Segment) {
        let flow = &self.setup.flows[segment.flow as usize];
        let source = if segment.kind.is_from_sender() {
            flow.source
        } else {
            flow.destination
        };
        let shortest = self.light.shortest(header, source);
        assert!(
            now >= segment.sent_at + shortest,
            "{segment:?} came {} ns after it was sent, not {shortest}",
            now - segment.sent_at
        );
        self.packets.update(|packets| packets + 1);
    }
}

fn results(world: &World) -> (String, String) {
    (results::summary(world).to_string(), results::flows_csv(world))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 8 } else { 100 }))]

    #[test]
    fn at_every_instant_sent_is_delivered_and_dropped_and_in_flight(scenario in scenario()) {
        let mut world = World::new(setup(&scenario)).unwrap();
        while world.step() {
            let account = world.account();
            prop_assert!(account.balanced(), "at {} ns: {account:?}", world.now());
        }
        prop_assert!(world.account().sent > 0);
    }

    #[test]
    fn no_packet_is_faster_than_light(scenario in scenario()) {
        let setup = setup(&scenario);
        let packets = Rc::<Cell<u64>>::default();
        let mut world = World::new(setup.clone()).unwrap();
        world.watch(Box::new(Checked { light: Light::new(&setup), setup, packets: Rc::clone(&packets) }));
        world.run();
        prop_assert!(packets.get() > 0);
    }

    #[test]
    fn a_run_that_is_repeated_gives_the_same_bytes(scenario in scenario()) {
        let run = || {
            let mut world = World::new(setup(&scenario)).unwrap();
            world.run();
            results(&world)
        };
        prop_assert_eq!(run(), run());
    }
}

/// One switch between hosts `a` and `b`, with links of 1 Gbit/s and 100 Mbit/s.
fn two_hosts(flows: &Value) -> Value {
    json!({
        "end_ns": 1_000_000_000,
        "topology": {"described": {"hosts": ["a", "b"], "switches": ["s"], "links": [
            {"between": ["a", "s"], "rate_bps": 1_000_000_000, "delay_ns": 1000},
            {"between": ["b", "s"], "rate_bps": 100_000_000, "delay_ns": 1000},
        ]}},
        "ports": {"scheme": "fifo", "queues": 1, "queue_size": 20},
        "transports": {"udp": {"control": {"udp": {"rate_bps": 120_000_000}}}},
        "flows": {"list": flows},
    })
}

/// Notes the flows of the packets that are delivered.
#[derive(Debug)]
struct Delivered(Rc<RefCell<Vec<u32>>>);

impl DeliveryObserver for Delivered {
    fn delivered(&mut self, _: Nanos, _: &Header, segment: &Segment) {
        self.0.borrow_mut().push(segment.flow);
    }
}

/// While flow 0 is sent at 8 Mbit/s, flow 1 waits behind it. A packet of flow 2 arrives when flow 0 ends. Netbench plans
/// that arrival later than the end, and so runs it first: the smaller rank of flow 2 goes before flow 1.
#[test]
fn in_netbench_an_arrival_comes_before_a_simultaneous_departure() {
    for (events, expected) in [("planned", [0, 1, 2]), ("netbench", [0, 2, 1])] {
        let flow = |host: &str, start_ns: Nanos, rank: u32| json!({"source": host, "destination": "receiver", "bytes": 1000, "start_ns": start_ns, "rank": rank});
        let cable = cable(8_000_000, 1000);
        let setup = setup(&json!({
            "end_ns": 20_000_000, "events": events,
            "topology": {"incast": {"senders": 3, "access": cable, "bottleneck": cable}},
            "ports": {"scheme": "pifo", "queues": 1, "queue_size": 20},
            "transports": {"udp": {"control": {"udp": {"rate_bps": 8_000_000}}}},
            // a frame of 1042 bytes takes 1042 us
            "flows": {"list": [flow("h1", 0, 5), flow("h2", 500_000, 9), flow("h3", 1_042_000, 1)]}
        }));
        let delivered = Rc::<RefCell<Vec<_>>>::default();
        let mut world = World::new(setup).unwrap();
        world.watch(Box::new(Delivered(Rc::clone(&delivered))));
        world.run();
        assert_eq!(delivered.take(), expected, "{events}");
    }
}

#[test]
fn a_datagram_takes_the_time_of_both_links() {
    let flows = json!([{"source": "a", "destination": "b", "bytes": 1448}]);
    let mut world = World::new(setup(&two_hosts(&flows))).unwrap();
    world.run();
    // 1490 bytes: 11.92 us at 1 Gbit/s, 119.2 us at 100 Mbit/s, and 2 us of delay.
    assert_eq!(world.record(0).received_ns, Some(11_920 + 119_200 + 2000));
}

#[test]
fn the_rate_of_datagrams_is_that_of_their_frames() {
    let flows = json!([{"source": "a", "destination": "b", "bytes": 144_800}]);
    let mut scenario = two_hosts(&flows);
    scenario["transports"] = json!({"udp": {"control": {"udp": {"rate_bps": 50_000_000}}}});
    let mut world = World::new(setup(&scenario)).unwrap();
    world.run();
    // 99 intervals of 1490 bytes at 50 Mbit/s, and the last frame's own time.
    let expected = 99 * 238_400 + 11_920 + 119_200 + 2000;
    let received = world.record(0).received_ns.unwrap();
    assert!(received.abs_diff(expected) <= 1, "{received}, not {expected}");
}

#[test]
fn the_sender_of_datagrams_never_knows_what_arrived() {
    let flows = json!([{"source": "a", "destination": "b", "bytes": 10_000_000}]);
    let mut world = World::new(setup(&two_hosts(&flows))).unwrap();
    world.run();
    let record = world.record(0);
    assert!(
        record.received_bytes > 8_000_000 && record.received_bytes < 10_000_000,
        "{record:?}"
    );
    assert_eq!((record.received_ns, record.acknowledged_ns), (None, None));
}

/// Two flows of the same rate at a link for one of them.
#[test]
fn jitter_shares_a_link_between_flows_of_the_same_rate() {
    let run = |jitter: u64| {
        let udp = json!({"control": {"udp": {"rate_bps": 100_000_000, "jitter_ns": jitter}}});
        let flow = |source: &str| json!({"source": source, "destination": "receiver", "bytes": 5_000_000});
        let setup = setup(&json!({
            "end_ns": 400_000_000,
            "topology": {"incast": {
                "senders": 2, "access": cable(1_000_000_000, 0), "bottleneck": cable(100_000_000, 0)}},
            "ports": {"scheme": "fifo", "queues": 1, "queue_size": 20},
            "transports": {"udp": udp},
            "flows": {"list": [flow("h1"), flow("h2")]}
        }));
        let warned = warnings(&setup);
        let mut world = World::new(setup).unwrap();
        world.run();
        (warned, [0, 1].map(|flow| world.record(flow).received_bytes))
    };
    let (warned, locked) = run(0);
    assert!(
        warned[0].starts_with("flows 0 and 1 send datagrams at the same rate"),
        "{warned:?}"
    );
    assert!(
        locked.iter().max() > locked.iter().min().map(|least| 20 * least).as_ref(),
        "{locked:?}"
    );
    let (warned, shared) = run(119_200);
    assert!(warned.is_empty());
    let shares = shared.map(|bytes| bytes as f64 / shared.iter().sum::<u64>() as f64);
    assert!(shares.iter().all(|share| (0.4..0.6).contains(share)), "{shared:?}");
}

#[test]
fn hosts_of_a_data_centre_repeat_a_lost_segment_at_once() {
    let with = |transport: Value| {
        let mut scenario = two_hosts(&json!([{"source": "a", "destination": "b", "bytes": 1000}]));
        scenario["transports"] = json!({"it": transport});
        setup(&scenario).transports[0].config.clone()
    };
    let preset = with(json!({"control": "dctcp", "preset": "data_centre", "initial_window": 20}));
    assert_eq!(
        (preset.min_rto, preset.initial_rto, preset.delayed_ack, preset.handshake),
        (200_000, 1_000_000, None, false)
    );
    assert_eq!((preset.initial_window, preset.ecn), (20, true));
    assert_eq!(
        with(json!({"control": "dctcp", "preset": "linux"})),
        with(json!({"control": "dctcp"}))
    );
}

#[test]
fn a_constant_rate_above_that_of_the_link_loses_the_excess() {
    let flows = json!([{"source": "a", "destination": "b", "bytes": 1_000_000_000}]);
    let mut world = World::new(setup(&two_hosts(&flows))).unwrap();
    world.run();
    let account = world.account();
    let delivered_bps = account.delivered as f64 * 8.0;
    // The link is busy except in its first millisecond.
    assert!((delivered_bps / 100e6 - 1.0).abs() < 0.001, "{delivered_bps} bit/s");
    let summary = results::summary(&world);
    let port = summary["ports"]
        .as_array()
        .unwrap()
        .iter()
        .find(|port| port["node"] == "s" && port["to"] == "b");
    let queue = &port.unwrap()["queue_packets"];
    assert_eq!((&queue["median"], &queue["longest"]), (&json!(20), &json!(20)));
}

#[test]
fn drawn_ranks_are_counted_at_the_ports_of_switches() {
    let counts = |scheme: &str| {
        let mut scenario = two_hosts(&json!([{"source": "a", "destination": "b", "bytes": 1_000_000_000}]));
        scenario["ranks"] = json!({"drawn": [3, 0, 1]});
        scenario["ports"]["scheme"] = json!(scheme);
        let mut world = World::new(setup(&scenario)).unwrap();
        world.run();
        let ports = results::summary(&world)["ports"].clone();
        let mut ports = ports.as_array().unwrap().iter();
        let port = ports.find(|port| port["node"] == "s" && port["to"] == "b").unwrap();
        (port["by_rank"].clone(), port["sent_packets"].clone())
    };
    let sum = |list: &Value| list.as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>();
    let (fifo, sent) = counts("fifo");
    assert_eq!(json!(sum(&fifo["departures"])), sent);
    // no packet is of rank 1, and none of rank 0 is in front of a lower one
    assert_eq!([&fifo["departures"][1], &fifo["inversions"][0]], [&json!(0), &json!(0)]);
    // 20 packets wait, a quarter of rank 2: nearly always, one of rank 0 is among them
    assert!(fifo["inversions"][2].as_u64() > fifo["departures"][2].as_u64().map(|left| left * 9 / 10));
    assert!(fifo["behind_higher"][0].as_u64() > fifo["departures"][0].as_u64().map(|left| left * 9 / 10));
    let (pifo, _) = counts("pifo");
    assert_eq!(pifo["inversions"], json!([0, 0, 0]));
    assert!(pifo["drops"][2].as_u64() > fifo["drops"][2].as_u64());
}

#[test]
fn samples_hold_the_received_bytes_and_change_nothing() {
    let mut scenario = two_hosts(&json!([{"source": "a", "destination": "b", "bytes": 1_000_000_000}]));
    let run = |scenario: &Value| {
        let mut world = World::new(setup(scenario)).unwrap();
        world.run();
        (results::flows_csv(&world), results::summary(&world))
    };
    let (flows, without) = run(&scenario);
    scenario["sample_ns"] = json!(250_000_000);
    let (sampled_flows, mut with) = run(&scenario);
    let samples = with.as_object_mut().unwrap().remove("received_bytes").unwrap();
    assert_eq!((sampled_flows, with), (flows, without));
    let samples: Vec<u64> = samples
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|sample| sample[0].as_u64())
        .collect();
    // 1448 of 1490 bytes of a frame, at 100 Mbit/s
    let in_a_quarter = 0.25 * 100e6 / 8.0 * 1448.0 / 1490.0;
    assert_eq!(samples.len(), 4);
    for pair in samples.windows(2) {
        assert!(
            ((pair[1] - pair[0]) as f64 - in_a_quarter).abs() < 1448.0,
            "{samples:?}"
        );
    }
    for every in [0, 99] {
        scenario["sample_ns"] = json!(every);
        let scenario: Scenario = serde_json::from_value(scenario.clone()).unwrap();
        let error = scenario.setup(Path::new("")).unwrap_err().to_string();
        assert!(error.starts_with("sample_ns: it is above 0"), "{error}");
    }
}

#[test]
fn samples_of_ports_have_queues_and_counters_and_change_nothing() {
    // 1.2 times the rate of the link into a queue of 20 packets
    let mut scenario = two_hosts(&json!([{"source": "a", "destination": "b", "bytes": 1_000_000_000}]));
    let run = |scenario: &Value| {
        let mut world = World::new(setup(scenario)).unwrap();
        world.run();
        results::summary(&world)
    };
    let without = run(&scenario);
    scenario["sample_ns"] = json!(250_000_000);
    scenario["sample_ports"] = json!(true);
    let mut with = run(&scenario);
    with.as_object_mut().unwrap().remove("received_bytes");
    let ports = with["ports"].as_array_mut().unwrap().iter_mut();
    let samples: Vec<Value> = ports
        .filter_map(|port| port.as_object_mut().unwrap().remove("samples"))
        .collect();
    assert_eq!(with, without);
    assert_eq!(samples.len(), 2, "the switch has two ports");
    let to_b = without["ports"]
        .as_array()
        .unwrap()
        .iter()
        .position(|port| port["to"] == "b");
    let (port, sampled) = (&without["ports"][to_b.unwrap()], samples.last().unwrap());
    for queues in sampled["queue_packets"].as_array().unwrap() {
        let queues: Vec<u64> = serde_json::from_value(queues.clone()).unwrap();
        assert!(
            (19..=20).contains(&queues[0]) && queues[1..].iter().all(|&length| length == 0),
            "{queues:?}"
        );
    }
    for name in ["sent_bytes", "dropped_full", "dropped_refused", "pushed_out"] {
        assert_eq!(
            sampled[name][3], port[name],
            "{name}: the last sample is at the end of the run"
        );
    }
    assert!(sampled.get("bounds").is_none(), "a FIFO has no bounds");
    for (scheme, window) in [("sp_pifo", Value::Null), ("packs", json!(20))] {
        let mut bounded = scenario.clone();
        bounded["ports"] = json!({"scheme": scheme, "queues": 2, "queue_size": 10, "window": window});
        let bounds: Vec<Vec<u32>> =
            serde_json::from_value(run(&bounded)["ports"][to_b.unwrap()]["samples"]["bounds"].clone()).unwrap();
        assert!(
            bounds.len() == 4 && bounds.iter().all(|of| of.len() == 2 && of[0] <= of[1]),
            "{bounds:?}"
        );
    }
    scenario.as_object_mut().unwrap().remove("sample_ns");
    let scenario: Scenario = serde_json::from_value(scenario).unwrap();
    let error = scenario.setup(Path::new("")).unwrap_err().to_string();
    assert_eq!(error, "sample_ports: it needs sample_ns");
}

#[test]
fn wrong_weights_of_ranks_are_refused() {
    for (weights, problem) in [
        (json!([]), "it has 1 to 65536 numbers"),
        (json!([1, -1]), "no number is below 0"),
        (json!([0, 0]), "a number must be above 0"),
    ] {
        let mut scenario = two_hosts(&json!([]));
        scenario["ranks"] = json!({"drawn": weights});
        let scenario: Scenario = serde_json::from_value(scenario).unwrap();
        let error = scenario.setup(Path::new("")).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn another_seed_is_another_run_where_flows_have_a_choice() {
    let listed: Vec<Value> = (0..30)
        .map(|flow| json!({"source": flow % 4, "destination": 4 + flow % 4, "bytes": 200_000}))
        .collect();
    let run = |seed: u64| {
        let cable = cable(1_000_000_000, 500);
        let mut world = World::new(setup(&json!({
            "seed": seed, "end_ns": 1_000_000_000,
            "topology": {"leaf_spine": {"leaves": 2, "spines": 4, "hosts": 4, "access": cable, "fabric": cable}},
            "ports": {"scheme": "fifo", "queues": 1, "queue_size": 50},
            "transports": {"tcp": {"control": "new_reno"}},
            "flows": {"list": listed},
        })))
        .unwrap();
        world.run();
        results::flows_csv(&world)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn afq_keeps_a_flow_that_sends_too_much_to_its_share() {
    let udp = |rate: u64| json!({"control": {"udp": {"rate_bps": rate}}});
    let scenario = json!({
        "end_ns": 20_000_000,
        "topology": {"incast": {"senders": 2, "access": cable(1_000_000_000, 0), "bottleneck": cable(100_000_000, 0)}},
        "ports": {"scheme": "afq", "queues": 32, "queue_size": 10},
        "transports": {"much": udp(400_000_000), "enough": udp(45_000_000)},
        "flows": {"list": [
            {"source": "h1", "destination": "receiver", "bytes": 5_000_000, "transport": "much"},
            {"source": "h2", "destination": "receiver", "bytes": 5_000_000, "transport": "enough"}]}
    });
    let mut world = World::new(setup(&scenario)).unwrap();
    world.run();
    let got = [0, 1].map(|flow| world.record(flow).received_bytes as f64 * 8.0 / 0.02);
    assert!((got[1] / 45e6 - 1.0).abs() < 0.05, "all of it: {got:?}");
    assert!(got[0] > 45e6 && got[0] < 56e6, "the rest: {got:?}");
}

#[test]
fn a_discipline_that_is_fair_among_users_gives_the_flows_of_a_user_one_share() {
    let udp = json!({"control": {"udp": {"rate_bps": 200_000_000, "jitter_ns": 60_000}}});
    let flow = |source: &str, user: u32| json!({"source": source, "destination": "receiver", "bytes": 50_000_000, "user": user});
    for (scheme, fair_among, fair) in [
        ("drr", "flows", [1.0 / 3.0; 3]),
        ("drr", "users", [0.25, 0.25, 0.5]),
        ("afq", "users", [0.25, 0.25, 0.5]),
        ("stfq", "users", [0.25, 0.25, 0.5]),
    ] {
        let scenario = json!({
            "end_ns": 100_000_000,
            "topology": {"incast": {"senders": 3, "access": cable(1_000_000_000, 0), "bottleneck": cable(100_000_000, 0)}},
            "ports": {"scheme": scheme, "queues": 8, "queue_size": 10, "fair_among": fair_among},
            "transports": {"udp": udp},
            "flows": {"list": [flow("h1", 1), flow("h2", 1), flow("h3", 2)]}
        });
        let mut world = World::new(setup(&scenario)).unwrap();
        world.run();
        let shares = [0, 1, 2].map(|flow| world.record(flow).received_bytes as f64 * 8.0 / 0.1 / 1e8);
        for (share, fair) in shares.into_iter().zip(fair) {
            assert!(
                (share / fair - 1.0).abs() < 0.12,
                "{scheme} among {fair_among}: {shares:?}"
            );
        }
    }
}

#[test]
fn a_tree_shares_between_its_leaves_and_then_between_the_flows_of_each() {
    let udp = json!({"control": {"udp": {"rate_bps": 200_000_000}}});
    let flow = |source: &str, user: u32| json!({"source": source, "destination": "receiver", "bytes": 50_000_000, "user": user});
    let scenario = json!({
        "end_ns": 100_000_000,
        "topology": {"incast": {"senders": 3, "access": cable(1_000_000_000, 0), "bottleneck": cable(100_000_000, 0)}},
        "ports": {"scheme": "tree", "queues": 1, "queue_size": 60, "tree": [
            {"discipline": "stfq"},
            {"parent": 0, "discipline": "drr", "queue_size": 20},
            {"parent": 0, "discipline": "fifo", "queue_size": 20}]},
        "transports": {"udp": udp},
        "flows": {"list": [flow("h1", 1), flow("h2", 1), flow("h3", 2)]}
    });
    let mut world = World::new(setup(&scenario)).unwrap();
    world.run();
    let shares = [0, 1, 2].map(|flow| world.record(flow).received_bytes as f64 * 8.0 / 0.1 / 1e8);
    for (share, fair) in shares.into_iter().zip([0.25, 0.25, 0.5]) {
        assert!((share / fair - 1.0).abs() < 0.1, "{shares:?}");
    }
}

#[test]
fn pfabric_has_its_own_timers_with_a_round_trip_time() {
    let with = |transport: Value| {
        let mut scenario = two_hosts(&json!([{"source": "a", "destination": "b", "bytes": 1000}]));
        scenario["transports"] = json!({"it": transport});
        scenario
    };
    let config = |transport: Value| setup(&with(transport)).transports[0].config.clone();
    let own = config(json!({"control": "pfabric", "round_trip_ns": 20_000, "initial_window": 12, "mss": 1000}));
    assert_eq!(
        (own.min_rto, own.max_rto, own.initial_window, own.mss),
        (60_000, 60_000, 12, 1000)
    );
    assert!(!own.handshake);
    assert_eq!(config(json!({"control": "pfabric"})).min_rto, 200_000_000);
    assert!(refused(&with(json!({"control": "pfabric", "round_trip_ns": 5}))).contains("together with initial_window"));
    assert!(refused(&with(json!({"control": "cubic", "round_trip_ns": 5}))).contains("a setting of pfabric alone"));
}

fn refused(scenario: &Value) -> String {
    let scenario: Result<Scenario, _> = serde_json::from_value(scenario.clone());
    match scenario {
        Err(error) => error.to_string(),
        Ok(scenario) => scenario.setup(Path::new("/nowhere")).unwrap_err().to_string(),
    }
}

#[test]
fn text_after_a_scenario_is_refused() {
    let flows = json!([{"source": "a", "destination": "b", "bytes": 1}]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenario.json");
    let load = |rest: &str| {
        std::fs::write(&file, format!("{}{rest}", two_hosts(&flows))).unwrap();
        scenario::load(&file).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(load(" \n"), Ok(()));
    let more = load("\n{}").unwrap_err();
    assert!(
        more.ends_with("scenario.json: trailing characters at line 2 column 1"),
        "{more}"
    );
}

#[test]
fn a_scenario_that_cannot_be_says_why() {
    let flows = json!([{"source": "a", "destination": "b", "bytes": 1}]);
    let with = |place: &str, value: Value| {
        let mut scenario = two_hosts(&flows);
        *scenario.pointer_mut(place).unwrap() = value;
        refused(&scenario)
    };
    assert_eq!(with("/end_ns", json!(0)), "end_ns = 0: it is 1 to 4611686018427387904");
    assert_eq!(
        with("/end_ns", json!(u64::MAX)),
        "end_ns = 18446744073709551615: it is 1 to 4611686018427387904"
    );
    assert_eq!(
        with("/ports/scheme", json!("wfq")),
        "there is no scheme wfq: use one of fifo, pifo, sp_pifo, aifo, rifo, packs, fdpa, drr, afq, stfq, calendar, tree, dual_pi2"
    );
    let fdpa = with("/ports/scheme", json!("fdpa"));
    assert!(
        fdpa.contains(r#"give fdpa "parameters" in place of sizes, by name: interval_us, edge_1"#),
        "{fdpa}"
    );
    assert_eq!(
        with("/ports/queue_size", json!(0)),
        "ports: queue size C = 0 is out of range: 1 to 16777216 packets"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "rifo", "parameters": {"window_ranks": 1}})),
        "ports: rifo has no parameter window_ranks: it has capacity_packets, headroom_256, tracking_packets"
    );
    assert_eq!(
        with(
            "/ports",
            json!({"scheme": "aifo", "parameters": {"target_packets": 20, "capacity_packets": 20}})
        ),
        "ports: window |W| = 0 is out of range: 1 to 65536 ranks"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "afq", "parameters": {"window_ranks": 20}})),
        "ports: afq has queues, queue_size, bytes_per_round, log_bytes_per_round, wraps, quantum_bytes, calendar and tree only"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "aifo", "variants": ["max_alone"]})),
        "ports: aifo has no variant max_alone: use compare_first, strictly_below, filling_window, own_window"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "afq", "variants": ["max_alone"]})),
        "ports: afq has no variants"
    );
    assert_eq!(
        with(
            "/ports",
            json!({"scheme": "rifo", "target": "tna", "variants": ["max_alone"]})
        ),
        "ports: variants are rules of the models for v1model"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "aifo", "hold_us": 5})),
        "ports: aifo has no hold_us; only FDPA has it"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "pifo", "start_time_bytes": 1})),
        "ports: start_time_bytes: it goes with ranks = start_time"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "fifo", "fair_among": "users"})),
        "ports: fifo has no fair_among"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "afq", "queues": 5000})),
        "ports: the calendar has 5000 queues; use 1 to 4096"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "calendar", "calendar": {"turn_ns": 5}})),
        "ports: calendar: turn_ns: a port of a scenario sends whenever something waits"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "tree"})),
        "ports: tree: 0 nodes; use 1 to 256, the root first"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "packs", "tree": [{"discipline": "fifo"}]})),
        "ports: packs has no quantum_bytes, calendar or tree"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "fifo", "bytes_per_round": 2000})),
        "ports: fifo has no bytes_per_round; only AFQ has it"
    );
    for scheme in ["fifo", "drr"] {
        assert_eq!(
            with("/ports", json!({"scheme": scheme, "wraps": true})),
            format!("ports: {scheme} has no wraps; only AFQ has it")
        );
    }
    assert_eq!(
        with(
            "/ports",
            json!({"scheme": "afq", "bytes_per_round": 2000, "log_bytes_per_round": 11})
        ),
        "ports: bytes_per_round stands in place of log_bytes_per_round"
    );
    assert_eq!(
        with("/ports", json!({"scheme": "fifo", "log_bytes_per_round": 11})),
        "ports: fifo has no log_bytes_per_round; only AFQ has it"
    );
    assert_eq!(
        with("/flows", json!({"file": "none.csv"})),
        "cannot read /nowhere/none.csv: No such file or directory (os error 2)"
    );
    assert_eq!(
        with("/transports", json!({})),
        "transport list: it is empty: flows need one"
    );
    let reno = with("/transports/udp", json!({"control": "reno"}));
    assert!(
        reno.starts_with("transport udp: control: unknown variant `reno`"),
        "{reno}"
    );
    let udp = with("/transports/udp", json!({"control": "udp"}));
    assert!(udp.contains(r#""control": {"udp": {"rate_bps": 10000000}}"#), "{udp}");
    let preset = with("/transports/udp", json!({"control": "cubic", "preset": "lan"}));
    assert_eq!(preset, "transport udp: preset: it is linux or data_centre");
    let mtu = with("/transports/udp", json!({"control": "new_reno", "mtu": 9000}));
    assert!(mtu.starts_with("transport udp: mtu: unknown field `mtu`"), "{mtu}");
    assert_eq!(
        with("/transports/udp", json!({"control": "new_reno", "mss": 0})),
        "transport udp: mss is 0; it must be at least 1"
    );
}
