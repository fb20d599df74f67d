//! Compiled programs at the ports of a network: they decide as the models do, and the runs have the same results.

use std::path::Path;

use p4sched_schedulers::{Scheme, Target};
use p4sched_simulator::network::results;
use p4sched_simulator::network::scenario::Scenario;
use p4sched_simulator::network::setup::{Installation, Setup};
use p4sched_simulator::network::world::World;
use p4sched_simulator::program::Program;
use serde_json::{Value, json};

fn program(scheme: Scheme, target: Target) -> Program {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(target.directory());
    Program::compile(&directory, scheme.p4().program, target).unwrap_or_else(|error| panic!("{error}"))
}

/// Three racks of two hosts below two spines. Each host sends to each host of the other racks, with TCP or UDP, more
/// than the links carry. FDPA's program has one rate per user for all ports of a switch. So with FDPA a host sends to
/// only one other host, over one spine. All rates and delays differ, so two events rarely have the same time.
fn scenario(scheme: Scheme, target: Target) -> Value {
    let one_way = scheme == Scheme::Fdpa;
    let mut links = Vec::new();
    let mut link = |one: String, other: String, rate_bps: u64| {
        let place = links.len() as u64;
        links.push(json!({"between": [one, other], "rate_bps": rate_bps + 977 * place, "delay_ns": 1000 + 17 * place}));
    };
    for host in 0..6 {
        link(format!("h{host}"), format!("leaf{}", host / 2), 100_000_000);
    }
    for leaf in 0..3 {
        for spine in 0..if one_way { 1 } else { 2 } {
            link(format!("leaf{leaf}"), format!("spine{spine}"), 60_000_000);
        }
    }
    let pairs = (0..6_u64).flat_map(|from| (0..6).filter(move |to| to / 2 != from / 2).map(move |to| (from, to)));
    let mut flows: Vec<(u64, Value)> = pairs
        .enumerate()
        .map(|(number, (from, to))| {
            let number = number as u64;
            let start = number * 7_919 % 24 * 100_003;
            let udp = number.is_multiple_of(3);
            let to = if one_way { (from + 2) % 6 } else { to };
            let flow = json!({"start_ns": start, "source": from, "destination": to, "bytes": 20_000 + 12_345 * (number % 5),
                              "transport": if udp { "udp" } else { "tcp" }});
            (start, flow)
        })
        .collect();
    flows.sort_by_key(|&(start, _)| start);
    let flows: Vec<Value> = flows.into_iter().map(|(_, flow)| flow).collect();
    let ports = match scheme {
        Scheme::Fdpa => json!({"scheme": "fdpa", "parameters": {
            "interval_us": 1024, "edge_1": 3000, "edge_2": 6000, "depth_1": 12, "depth_2": 12, "depth_3": 12}}),
        _ => json!({"scheme": scheme.name(), "queues": 4, "queue_size": 5, "window": 16, "headroom_256": 26}),
    };
    let mut scenario = json!({
        "end_ns": 60_000_000,
        "sample_ns": 1_000_000,
        "sample_ports": true,
        "topology": {"described": {
            "hosts": ["h0", "h1", "h2", "h3", "h4", "h5"],
            "switches": ["leaf0", "leaf1", "leaf2", "spine0", "spine1"],
            "links": links}},
        "ports": ports, "ranks": "remaining", "multipath": "buckets",
        "transports": {"tcp": {"control": "new_reno"}, "udp": {"control": {"udp": {"rate_bps": 40_000_000}}}},
        "flows": {"list": flows},
    });
    scenario["ports"]["target"] = json!(target.name());
    scenario
}

fn setup(scenario: &Value) -> Setup {
    let scenario: Scenario = serde_json::from_value(scenario.clone()).unwrap();
    scenario.setup(Path::new("")).unwrap()
}

fn run(setup: Setup) -> World {
    let mut world = World::new(setup).unwrap_or_else(|error| panic!("{error}"));
    while world.step() {
        assert_eq!(world.difference(), None);
        let account = world.account();
        assert!(account.balanced(), "at {} ns: {account:?}", world.now());
    }
    world
}

/// Packets lost at all ports.
fn lost(world: &World) -> u64 {
    let wires = 0..world.setup().topology.wires.len();
    wires
        .map(|wire| world.counts(wire))
        .map(|counts| counts.full + counts.refused + counts.pushed_out)
        .sum()
}

/// Lengths of all queues at each sample.
fn queues(world: &World) -> Vec<Value> {
    let mut summary = results::summary(world);
    let ports = summary["ports"].as_array_mut().unwrap().iter_mut();
    ports.map(|port| port["samples"]["queue_packets"].take()).collect()
}

/// Packets that no rule refused, and that were lost at all ports.
fn no_room(world: &World) -> u64 {
    let wires = 0..world.setup().topology.wires.len();
    wires
        .map(|wire| world.counts(wire))
        .map(|counts| counts.full + counts.pushed_out)
        .sum()
}

fn same_as_the_models(scheme: Scheme, target: Target) {
    let models = run(setup(&scenario(scheme, target)));
    assert!(lost(&models) > 50, "{scheme:?}: {} packets lost", lost(&models));
    // Only a model can say which packet a sorted queue pushed out.
    for check in [true, false] {
        if scheme == Scheme::Pifo && !check {
            continue;
        }
        let program = program(scheme, target);
        let decided = run(Setup {
            program: Some(Installation { program, check }),
            ..setup(&scenario(scheme, target))
        });
        assert_eq!(
            results::flows_csv(&decided),
            results::flows_csv(&models),
            "{scheme:?}, {check}"
        );
        assert_eq!(lost(&decided), lost(&models));
        assert_eq!(queues(&decided), queues(&models), "{scheme:?}, {check}");
    }
}

#[test]
fn every_v1model_program_gives_the_results_of_its_model() {
    for &scheme in Scheme::ALL {
        same_as_the_models(scheme, Target::V1model);
    }
}

#[test]
fn every_program_for_a_tofino_gives_the_results_of_its_model() {
    for target in [Target::Tna, Target::T2na] {
        for &scheme in Scheme::ALL {
            if scheme.targets().contains(&target) {
                same_as_the_models(scheme, target);
            }
        }
    }
}

#[test]
fn the_memory_of_a_switch_gives_programs_and_models_the_same_room() {
    for scheme in Scheme::ALL.iter().copied().filter(|scheme| scheme.shares_memory()) {
        for sharing in ["dynamic_thresholds", "abm"] {
            let mut scenario = scenario(scheme, Target::V1model);
            scenario["ports"]["queue_size"] = json!(50);
            let without = no_room(&run(setup(&scenario)));
            scenario["ports"]["memory"] = json!({"packets": 30, "sharing": sharing, "alpha_256": 200});
            let models = run(setup(&scenario));
            assert!(
                no_room(&models) > without + 50,
                "{scheme:?}, {sharing}: {} lost",
                no_room(&models)
            );
            let decided = run(Setup {
                program: Some(Installation {
                    program: program(scheme, Target::V1model),
                    check: true,
                }),
                ..setup(&scenario)
            });
            assert_eq!(
                results::flows_csv(&decided),
                results::flows_csv(&models),
                "{scheme:?}, {sharing}"
            );
        }
    }
}

#[test]
fn a_memory_that_programs_cannot_have_is_refused() {
    let mut scenario = scenario(Scheme::Fifo, Target::V1model);
    for memory in [
        json!({"packets": 30, "sharing": "occamy"}),
        json!({"packets": 30, "follow_every_ns": 0}),
    ] {
        scenario["ports"]["memory"] = memory;
        let refused = World::new(Setup {
            program: Some(Installation {
                program: program(Scheme::Fifo, Target::V1model),
                check: true,
            }),
            ..setup(&scenario)
        });
        let error = refused.unwrap_err().to_string();
        assert!(error.starts_with("memory: with programs"), "{error}");
    }
}

/// Three racks of four hosts below one spine, with equal rates and delays: many events have the same time.
fn simultaneous(scheme: Scheme, flows: u64) -> Value {
    let cable = json!({"rate_bps": 1_000_000_000, "delay_ns": 10_000});
    let flows: Vec<Value> = (0..flows)
        .map(|number| {
            let source = number * 5 % 12;
            let destination = (source + 1 + number * 7 % 11) % 12;
            // Several flows begin at the same time.
            json!({"start_ns": number / 6 * 300_000, "source": source, "destination": destination,
                   "bytes": 1448 * [3, 20, 60][number as usize % 3]})
        })
        .collect();
    json!({
        "end_ns": 100_000_000,
        "topology": {"leaf_spine": {"leaves": 3, "spines": 1, "hosts": 4, "access": cable, "fabric": cable}},
        "ports": {"scheme": scheme.name(), "queues": 4, "queue_size": 10, "window": 16, "headroom_256": 26},
        "ranks": "remaining", "multipath": "buckets",
        "transports": {"tcp": {"control": "new_reno"}},
        "flows": {"list": flows},
    })
}

#[test]
fn simultaneous_events_have_the_same_order_with_programs_and_models() {
    for &scheme in Scheme::ALL {
        // FDPA has no sizes.
        if scheme == Scheme::Fdpa {
            continue;
        }
        let scenario = simultaneous(scheme, 300);
        let models = run(setup(&scenario));
        assert!(lost(&models) > 50, "{scheme:?}: {} packets lost", lost(&models));
        for check in [true, false] {
            if scheme == Scheme::Pifo && !check {
                continue;
            }
            let program = program(scheme, Target::V1model);
            let decided = run(Setup {
                program: Some(Installation { program, check }),
                ..setup(&scenario)
            });
            let flows = [&decided, &models].map(results::flows_csv);
            assert!(flows[0] == flows[1], "{scheme:?}, {check}: the flows differ");
            // Drops and lengths of queues too.
            let ports = [&decided, &models].map(|world| results::summary(world)["ports"].clone());
            assert_eq!(ports[0], ports[1], "{scheme:?}, {check}");
        }
    }
}

#[test]
fn programs_reach_more_hosts_than_they_have_routes() {
    let cable = json!({"rate_bps": 1_000_000_000, "delay_ns": 1000});
    let flows: Vec<Value> = (0..100)
        .map(|number| json!({"source": number * 12, "destination": 1199 - number * 11, "bytes": 10_000}))
        .collect();
    let scenario = json!({
        "end_ns": 20_000_000,
        "topology": {"leaf_spine": {"leaves": 30, "spines": 2, "hosts": 40, "access": cable, "fabric": cable}},
        "ports": {"scheme": "fifo", "queues": 1, "queue_size": 40},
        "multipath": "buckets",
        "transports": {"tcp": {"control": "new_reno"}},
        "flows": {"list": flows},
    });
    let models = run(setup(&scenario));
    let program = Some(Installation {
        program: program(Scheme::Fifo, Target::V1model),
        check: false,
    });
    let decided = run(Setup {
        program,
        ..setup(&scenario)
    });
    assert!((0..100).all(|flow| decided.record(flow).received_ns.is_some()));
    assert_eq!(results::flows_csv(&decided), results::flows_csv(&models));
}

/// Runs until program and model differ.
fn difference(setup: Setup, program: Program) -> String {
    let program = Some(Installation { program, check: true });
    let mut world = World::new(Setup { program, ..setup }).unwrap();
    while world.step() {}
    world.difference().expect("it went unnoticed").to_owned()
}

#[test]
fn a_program_with_another_rule_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let p4 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
    for part in ["include", "shared"] {
        std::fs::create_dir(folder.path().join(part)).unwrap();
        for file in std::fs::read_dir(p4.join(part)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.path().join(part).join(file.file_name())).unwrap();
        }
    }
    std::fs::copy(p4.join("fifo.p4"), folder.path().join("fifo.p4")).unwrap();
    // The changed rule admits one packet more than its queue holds.
    let rule = folder.path().join("include/queue_length.p4");
    let text = std::fs::read_to_string(&rule).unwrap();
    let wrong = text.replace("length >= (bit<32>) size", "length > (bit<32>) size");
    assert_ne!(wrong, text);
    std::fs::write(&rule, wrong).unwrap();

    let program = Program::compile(folder.path(), "fifo", Target::V1model).unwrap();
    let report = difference(setup(&scenario(Scheme::Fifo, Target::V1model)), program);
    assert!(
        report.contains("the model says Full, the program Some(Queued"),
        "{report}"
    );
}

#[test]
fn a_user_at_two_ports_of_a_switch_cannot_be_compared() {
    let mut scenario = scenario(Scheme::Fifo, Target::V1model);
    scenario["ports"] = self::scenario(Scheme::Fdpa, Target::V1model)["ports"].clone();
    let report = difference(setup(&scenario), program(Scheme::Fdpa, Target::V1model));
    assert!(report.contains(" leaves switch leaf"), "{report}");
}

#[test]
fn what_programs_cannot_do_is_said() {
    let refused = |scheme: Scheme, place: &str, value: Value| {
        let mut scenario = scenario(scheme, Target::V1model);
        if place == "start_time_bytes" {
            scenario["ranks"] = json!("start_time");
        }
        scenario["ports"][place] = value;
        let program = Some(Installation {
            program: program(scheme, Target::V1model),
            check: false,
        });
        let setup = setup(&scenario);
        World::new(Setup { program, ..setup }).unwrap_err().to_string()
    };
    assert_eq!(
        refused(Scheme::Aifo, "window", json!(33)),
        "a window of 33 ranks: the programs were compiled for 1 to 32"
    );
    assert_eq!(
        refused(Scheme::SpPifo, "queue_size", json!(70_000)),
        "set_sp_pifo: size_1 = 70000 does not fit its 16 bits"
    );
    assert_eq!(
        refused(Scheme::Fifo, "mark_at_packets", json!(5)),
        "mark_at_packets and mark_at_bytes: the programs give no congestion marks"
    );
    assert_eq!(
        refused(Scheme::Fifo, "mark_at_bytes", json!(5)),
        "mark_at_packets and mark_at_bytes: the programs give no congestion marks"
    );
    assert_eq!(
        refused(Scheme::Aifo, "variants", json!(["compare_first"])),
        "variants and hold_us: the programs have the rules of the papers' text; use the models"
    );
    assert_eq!(
        refused(Scheme::Aifo, "start_time_bytes", json!(1)),
        "start_time_bytes and charge_drops: the programs count start times in units of 256 bytes, and for packets that \
         are queued; use the models"
    );
    assert_eq!(
        refused(Scheme::Aifo, "cell_bytes", json!(80)),
        "length_period_ns and cell_bytes: the programs see their queues; use the models"
    );
    assert_eq!(
        refused(Scheme::Pifo, "queues", json!(1)),
        "only a model can say which packet a sorted queue pushed out: compare with the models (--check)"
    );
    let of_models = [
        (
            "charge_answers",
            json!(true),
            "charge_answers: the programs know users by the addresses of senders; use the models",
        ),
        (
            "count_inversions",
            json!(true),
            "count_inversions: the models count, and not the programs; use the models",
        ),
        (
            "events",
            json!("netbench"),
            "events: a program's departures come before simultaneous arrivals; use the models",
        ),
    ];
    for (option, value, message) in of_models {
        let mut scenario = scenario(Scheme::Fifo, Target::V1model);
        scenario[option] = value;
        let setup = Setup {
            program: Some(Installation {
                program: program(Scheme::Fifo, Target::V1model),
                check: false,
            }),
            ..setup(&scenario)
        };
        assert_eq!(World::new(setup).unwrap_err().to_string(), message);
    }
    let mut afq = scenario(Scheme::Fifo, Target::V1model);
    afq["ports"] = json!({"scheme": "afq"});
    let setup = Setup {
        program: Some(Installation {
            program: program(Scheme::Fifo, Target::V1model),
            check: false,
        }),
        ..setup(&afq)
    };
    assert_eq!(World::new(setup).unwrap_err().to_string(), "afq has no P4 program");
}

#[test]
fn a_program_without_routes_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
    for from in ["", "include", "shared"] {
        std::fs::create_dir_all(folder.path().join(from)).unwrap();
        for file in std::fs::read_dir(programs.join(from)).unwrap().map(Result::unwrap) {
            if file.path().extension().is_some_and(|end| end == "p4") {
                let text = std::fs::read_to_string(file.path()).unwrap();
                let text = text.replace("ipv4_routes", "neighbours");
                std::fs::write(folder.path().join(from).join(file.file_name()), text).unwrap();
            }
        }
    }
    let program = Program::compile(folder.path(), "fifo", Target::V1model).unwrap();
    let mut setup = setup(&scenario(Scheme::Fifo, Target::V1model));
    setup.program = Some(Installation { program, check: false });
    assert_eq!(
        World::new(setup).err().unwrap().to_string(),
        "fifo.p4 has no FifoIngress.forwarding.ipv4_routes, which the programs of this project have"
    );
}
