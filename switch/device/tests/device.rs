//! The device as a whole: programs, batches and packets.

use crate::fixture::{Bench, CPU_PORT, code, config, exact, frame, update};
use p4sched_device::{Code, Device, Notification, Program};
use p4sched_engine::Engine;
use p4sched_proto::p4::config::v1::{P4Info, Register};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::p4_data::Data;
use p4sched_proto::p4::v1::update::Type;
use p4sched_proto::p4::v1::write_request::Atomicity;
use p4sched_proto::p4sched::v1 as tm;

fn batch(atomicity: Atomicity, updates: Vec<p4rt::Update>) -> p4rt::WriteRequest {
    p4rt::WriteRequest {
        updates,
        atomicity: atomicity.into(),
        ..Default::default()
    }
}

#[test]
fn nothing_can_be_written_or_read_before_a_program_is_loaded() {
    let mut bench = Bench::empty();
    let written = bench
        .device
        .write(&[update(Type::Insert, Entity::TableEntry(bench.host(1, 1)))], 0);
    assert_eq!(code(written), Err(Code::FailedPrecondition));
    assert_eq!(code(bench.device.read(&[], 0)), Err(Code::FailedPrecondition));
    assert_eq!(bench.device.config(), None);
}

#[test]
fn a_program_may_come_in_the_message_that_bmv2_takes() {
    let plain = config();
    // Fields 1 (reassign = true) and 3 (device_data) of p4.tmp.P4DeviceConfig.
    let mut wrapped = vec![0x08, 1, 0x1a];
    prost::encode_length_delimiter(plain.p4_device_config.len(), &mut wrapped).expect("there is room");
    wrapped.extend(&plain.p4_device_config);
    let config = p4rt::ForwardingPipelineConfig {
        p4_device_config: wrapped,
        ..plain
    };
    let mut bench = Bench::new();
    bench
        .device
        .commit(Program::new(config.clone()).expect("it is a program"))
        .expect("it fits");
    assert_eq!(bench.device.config(), Some(&config), "as it was sent");
}

#[test]
fn a_broken_program_is_refused_with_its_place_and_the_old_one_stays() {
    let mut bench = Bench::new();
    bench.insert(Entity::TableEntry(bench.host(2, 3)));
    let broken = |change: &dyn Fn(&mut p4rt::ForwardingPipelineConfig)| {
        let mut config = config();
        change(&mut config);
        Program::new(config).map(|_| ()).expect_err("it is broken")
    };
    let rename = |config: &mut p4rt::ForwardingPipelineConfig, name: &str| {
        let tables = config
            .p4info
            .as_mut()
            .map(|info| &mut info.tables)
            .expect("there is P4Info");
        tables[0].preamble.as_mut().expect("tables have names").name = name.to_owned();
    };
    let cases = [
        (broken(&|config| config.p4_device_config.truncate(1000)), "BMv2 JSON"),
        (
            broken(&|config| config.p4_device_config = b"\xff\x00".to_vec()),
            "BMv2 JSON",
        ),
        (broken(&|config| config.p4_device_config = b"{}".to_vec()), "BMv2 JSON"),
        (broken(&|config| config.p4info = None), "no p4info"),
        (
            broken(&|config| rename(config, "Ingress.unknown")),
            "the program has no table 'Ingress.unknown'",
        ),
        (
            broken(&|config| config.p4info.as_mut().unwrap().tables[0].match_fields.clear()),
            "0 key fields in P4Info, 1 in the program",
        ),
        (
            broken(&|config| config.p4info.as_mut().unwrap().tables[0].match_fields[0].bitwidth = 32),
            "of 32 bits in P4Info",
        ),
        (
            broken(&|config| config.p4info.as_mut().unwrap().tables[0].preamble.as_mut().unwrap().id = 1),
            "start with 0x02",
        ),
        (
            broken(&|config| {
                let info = config.p4info.as_mut().unwrap();
                let id = info.tables[1].preamble.clone().unwrap().id;
                info.tables[0].preamble.as_mut().unwrap().id = id;
            }),
            "the same identifier",
        ),
        (
            broken(&|config| config.p4info.as_mut().unwrap().actions.clear()),
            "no action 0x",
        ),
        (
            broken(&|config| {
                config.p4info.as_mut().unwrap().registers[0]
                    .preamble
                    .as_mut()
                    .unwrap()
                    .name
                    .push('x')
            }),
            "the program has no register",
        ),
    ];
    for (fault, expected) in cases {
        assert_eq!(fault.code, Code::InvalidArgument);
        assert!(
            fault.message.contains(expected),
            "'{}' says '{expected}'",
            fault.message
        );
    }
    assert_eq!(
        bench.receive(1, &frame(2, 1, 0))[0].0,
        3,
        "the old program still forwards"
    );
}

#[test]
fn a_committed_program_starts_in_its_initial_state() {
    let mut bench = Bench::new();
    bench.insert(Entity::TableEntry(bench.host(2, 3)));
    bench
        .device
        .commit(Program::new(config()).expect("the program loads"))
        .expect("the switch takes it");
    assert!(bench.entries("hosts").is_empty());
    assert_eq!(bench.device.config(), Some(&config()));
}

#[test]
fn a_saved_program_takes_writes_and_works_once_committed() {
    let mut bench = Bench::new();
    assert_eq!(code(bench.device.commit_saved()), Err(Code::NotFound));
    bench.insert(Entity::TableEntry(bench.host(2, 3)));
    bench.device.save(Program::new(config()).expect("the program loads"));
    assert!(bench.entries("hosts").is_empty(), "reads are about the saved program");
    bench.insert(Entity::TableEntry(bench.host(2, 1)));
    assert_eq!(
        bench.receive(3, &frame(2, 1, 0))[0].0,
        3,
        "the active program still forwards"
    );
    bench.device.commit_saved().expect("a program was saved");
    assert_eq!(bench.receive(3, &frame(2, 1, 0))[0].0, 1);
}

#[test]
fn reconciliation_keeps_everything_written() {
    let mut bench = Bench::new();
    let hosts = [bench.host(2, 3), bench.host(4, 1)];
    for host in &hosts {
        bench.insert(Entity::TableEntry(host.clone()));
    }
    let cell = p4rt::RegisterEntry {
        register_id: bench.register("cells"),
        index: Some(p4rt::Index { index: 5 }),
        data: Some(p4rt::P4Data {
            data: Some(Data::Bitstring(vec![99])),
        }),
    };
    bench
        .write(Type::Modify, Entity::RegisterEntry(cell.clone()))
        .expect("a cell can be written");
    bench.receive(1, &frame(2, 1, 0));
    let before = bench.entries("hosts");
    let program = Program::new(config()).expect("the program loads");
    bench
        .device
        .reconcile_and_commit(program, bench.now)
        .expect("it is the same program");
    assert_eq!(bench.entries("hosts"), before, "with their counters");
    assert_eq!(
        bench.read(Entity::RegisterEntry(cell.clone())),
        Ok(vec![Entity::RegisterEntry(cell)])
    );

    let mut smaller = config();
    let info = smaller.p4info.as_mut().expect("there is P4Info");
    info.tables
        .retain(|table| table.preamble.as_ref().is_none_or(|preamble| preamble.alias != "hosts"));
    info.direct_counters
        .retain(|counter| counter.direct_table_id != before[0].table_id);
    let program = Program::new(smaller).expect("P4Info may leave tables out");
    let refused = bench.device.reconcile_and_commit(program, bench.now);
    assert_eq!(
        code(refused),
        Err(Code::InvalidArgument),
        "entries of a table that is gone"
    );
    assert_eq!(bench.entries("hosts"), before);
}

#[test]
fn a_batch_goes_on_after_an_error_unless_asked_otherwise() {
    let mut bench = Bench::new();
    let insert = |bench: &Bench, address| update(Type::Insert, Entity::TableEntry(bench.host(address, 1)));
    let updates = vec![insert(&bench, 1), insert(&bench, 1), insert(&bench, 2)];
    let results = bench
        .device
        .write_request(&batch(Atomicity::ContinueOnError, updates), 0)
        .expect("a program is loaded");
    let codes: Vec<_> = results.into_iter().map(code).collect();
    assert_eq!(codes, [Ok(()), Err(Code::AlreadyExists), Ok(())]);
    assert_eq!(bench.entries("hosts").len(), 2);
}

#[test]
fn an_atomic_batch_leaves_no_trace_of_a_failure() {
    let mut bench = Bench::new();
    bench.insert(Entity::TableEntry(bench.host(1, 1)));
    bench.insert(Entity::TableEntry(bench.host(2, 1)));
    bench.receive(1, &frame(1, 9, 0));
    let before = bench.entries("hosts");
    let default = p4rt::TableEntry {
        table_id: bench.table("parameters"),
        is_default_action: true,
        action: bench.entry("parameters", vec![], 0, "set_user", &[&[5]]).action,
        ..Default::default()
    };
    let default_before = bench.read(Entity::TableEntry(default.clone()));
    let cell = |packets| p4rt::CounterEntry {
        counter_id: 0,
        index: Some(p4rt::Index { index: 1 }),
        data: Some(p4rt::CounterData {
            packet_count: packets,
            byte_count: 0,
        }),
    };
    let counter = Entity::CounterEntry(p4rt::CounterEntry {
        counter_id: bench.counter("arrivals"),
        ..cell(77)
    });
    let counter_before = bench.read(counter.clone());
    let updates = vec![
        update(Type::Insert, Entity::TableEntry(bench.host(3, 1))),
        update(Type::Modify, Entity::TableEntry(bench.host(1, 3))),
        update(Type::Delete, Entity::TableEntry(bench.host(2, 1))),
        update(Type::Modify, Entity::TableEntry(default.clone())),
        update(Type::Modify, counter.clone()),
        update(Type::Insert, Entity::TableEntry(bench.host(1, 2))),
    ];
    for atomicity in [Atomicity::RollbackOnError, Atomicity::DataplaneAtomic] {
        let results = bench
            .device
            .write_request(&batch(atomicity, updates.clone()), 0)
            .expect("a program is loaded");
        let codes: Vec<_> = results.into_iter().map(code).collect();
        assert_eq!(codes[..5], [Err(Code::Aborted); 5]);
        assert_eq!(codes[5], Err(Code::AlreadyExists));
        let mut after = bench.entries("hosts");
        after.sort_by_key(|entry| format!("{:?}", entry.r#match));
        assert_eq!(after, before, "with their counters");
        assert_eq!(bench.read(Entity::TableEntry(default.clone())), default_before);
        assert_eq!(bench.read(counter.clone()), counter_before);
    }
    let results = bench
        .device
        .write_request(&batch(Atomicity::DataplaneAtomic, updates[..5].to_vec()), 0);
    assert_eq!(results, Ok(vec![Ok(()); 5]));
    assert_eq!(bench.receive(2, &frame(1, 9, 0))[0].0, 3);
}

#[test]
fn packets_reach_the_controller_and_come_from_it_with_their_metadata() {
    let mut bench = Bench::new();
    let to_cpu = bench.entry("hosts", vec![exact(1, &[2])], 0, "forward", &[&CPU_PORT.to_be_bytes()]);
    bench.insert(Entity::TableEntry(to_cpu));
    bench.receive(3, &frame(2, 1, 0));
    let Ok(Notification::Packet(packet)) = bench.notified.try_recv() else {
        panic!("a packet for the controller")
    };
    let metadata = |metadata_id, value: &[u8]| p4rt::PacketMetadata {
        metadata_id,
        value: value.to_vec(),
    };
    assert_eq!(
        packet,
        p4rt::PacketIn {
            payload: frame(2, 1, 0),
            metadata: vec![metadata(1, &[3]), metadata(2, &[5])]
        }
    );

    let out = p4rt::PacketOut {
        payload: frame(7, 8, 0),
        metadata: vec![metadata(1, &[2]), metadata(2, &[0])],
    };
    bench
        .device
        .packet_out(&out, 5000, &mut bench.wires)
        .expect("the metadata is complete");
    bench.device.advance(6000, &mut bench.wires);
    let last = bench.wires.sent.last().map(|(port, bytes, _)| (*port, bytes.clone()));
    assert_eq!(last, Some((2, frame(7, 8, 0))));
    let incomplete = p4rt::PacketOut {
        metadata: vec![metadata(1, &[2])],
        ..out
    };
    assert_eq!(
        code(bench.device.packet_out(&incomplete, 5000, &mut bench.wires)),
        Err(Code::InvalidArgument)
    );
}

#[test]
fn without_a_cpu_port_there_is_no_packet_out() {
    let mut device = Device::new(1, Engine::new(), Box::new(|_| false));
    device
        .commit(Program::new(config()).expect("the program loads"))
        .expect("the switch takes it");
    let metadata = [1, 2]
        .map(|metadata_id| p4rt::PacketMetadata {
            metadata_id,
            value: vec![0],
        })
        .to_vec();
    let packet = p4rt::PacketOut {
        payload: frame(1, 1, 0),
        metadata,
    };
    let sent = device.packet_out(&packet, 0, &mut crate::fixture::Wires::default());
    assert_eq!(code(sent), Err(Code::FailedPrecondition));
}

#[test]
fn a_controller_that_does_not_read_costs_packets_not_time() {
    let mut bench = Bench::new();
    let to_cpu = bench.entry("hosts", vec![exact(1, &[2])], 0, "forward", &[&CPU_PORT.to_be_bytes()]);
    bench.insert(Entity::TableEntry(to_cpu));
    for _ in 0..100 {
        bench.receive(3, &frame(2, 1, 0));
    }
    let mut delivered = 0;
    while bench.notified.try_recv().is_ok() {
        delivered += 1;
    }
    assert_eq!((delivered, bench.device.counts().notifications_dropped), (64, 36));
}

#[test]
fn the_settings_of_disciplines_are_read_as_they_were_set_and_wrong_ones_are_refused() {
    let mut bench = Bench::new();
    let calendar = tm::Calendar {
        queues: Some(12),
        bytes_per_round: Some(1514),
        queue_packets: Some(3),
        turn_bytes: Some(0),
        turn_ns: Some(7),
        place: Some(tm::CalendarPlace::Rank.into()),
        rank_width: Some(5),
        levels: Some(3),
        burst_rounds: Some(6),
        whole_sets: Some(false),
    };
    let node = |discipline: tm::Discipline, buffer_packets| tm::TreeNode {
        discipline: discipline.into(),
        buffer_packets,
        scale: 256,
        ..Default::default()
    };
    let (root, leaf) = (node(tm::Discipline::Pifo, 0), node(tm::Discipline::Drr, 9));
    let tree = tm::Tree {
        nodes: vec![root, leaf, leaf],
        leaf_field: "meta.user".to_owned(),
        rank_fields: Vec::new(),
    };
    let scrr = tm::Scrr {
        flow_packets: Some(4),
        version: Some(2),
    };
    let port = |discipline: tm::Discipline, calendar, tree| tm::PortConfig {
        port: 2,
        discipline: Some(discipline.into()),
        user_field: Some("meta.user".to_owned()),
        rank_field: Some("meta.user".to_owned()),
        calendar,
        tree,
        scrr: Some(scrr),
        ..Default::default()
    };
    for discipline in [
        tm::Discipline::Calendar,
        tm::Discipline::Tree,
        tm::Discipline::Gearbox,
        tm::Discipline::Scrr,
    ] {
        let ports = vec![port(discipline, Some(calendar), Some(tree.clone()))];
        let set = bench
            .device
            .set_ports(&tm::SetPortsRequest { ports, memory: None }, &bench.wires);
        assert_eq!(code(set), Ok(()));
        let request = tm::GetPortsRequest { ports: vec![2] };
        let found = bench.device.get_ports(&request, &bench.wires).expect("port 2 exists");
        let [found] = &found.ports[..] else { panic!("one port") };
        assert_eq!(
            (found.discipline(), found.calendar, found.tree.as_ref(), found.scrr),
            (discipline, Some(calendar), Some(&tree), Some(scrr))
        );
    }
    let both = tm::Calendar {
        turn_bytes: Some(1),
        ..calendar
    };
    let strict = tm::Tree {
        nodes: vec![node(tm::Discipline::Strict, 0)],
        ..Default::default()
    };
    let no_place = tm::Calendar {
        place: Some(77),
        ..calendar
    };
    let too_many_levels = tm::Calendar {
        levels: Some(9),
        ..calendar
    };
    let no_version = tm::PortConfig {
        scrr: Some(tm::Scrr {
            version: Some(6),
            ..scrr
        }),
        ..port(tm::Discipline::Scrr, None, None)
    };
    for wrong in [
        no_version,
        port(tm::Discipline::Gearbox, Some(too_many_levels), None),
        port(tm::Discipline::Calendar, Some(both), None),
        port(tm::Discipline::Calendar, Some(no_place), None),
        port(tm::Discipline::Tree, None, Some(strict)),
        port(tm::Discipline::Tree, None, Some(tm::Tree::default())),
    ] {
        let set = bench.device.set_ports(
            &tm::SetPortsRequest {
                ports: vec![wrong],
                memory: None,
            },
            &bench.wires,
        );
        assert_eq!(code(set), Err(Code::InvalidArgument));
    }
}

#[test]
fn port_settings_change_all_together_or_not_at_all() {
    let mut bench = Bench::new();
    let port = |port, rate_bps| tm::PortConfig {
        port,
        rate_bps: Some(rate_bps),
        ..Default::default()
    };
    let set = |bench: &mut Bench, ports: Vec<tm::PortConfig>| {
        code(
            bench
                .device
                .set_ports(&tm::SetPortsRequest { ports, memory: None }, &bench.wires),
        )
    };
    let queues = vec![tm::QueueConfig {
        queue: 7,
        depth_packets: Some(9),
        rate_pps: None,
    }];
    let drr = tm::PortConfig {
        discipline: Some(tm::Discipline::Drr.into()),
        user_field: Some("meta.user".to_owned()),
        calendar: Some(tm::Calendar {
            queues: Some(12),
            ..Default::default()
        }),
        queues,
        ..port(2, 8_000_000)
    };
    assert_eq!(set(&mut bench, vec![drr]), Ok(()));
    let get = |bench: &Bench| {
        bench
            .device
            .get_ports(&tm::GetPortsRequest { ports: vec![2] }, &bench.wires)
            .expect("port 2 exists")
    };
    let settings = get(&bench).ports.remove(0);
    assert_eq!(
        (settings.rate_bps, settings.discipline()),
        (Some(8_000_000), tm::Discipline::Drr)
    );
    assert_eq!(settings.queues[7].depth_packets, Some(9));
    assert_eq!(
        set(&mut bench, vec![port(510, 1000)]),
        Ok(()),
        "packets that recirculate are paced"
    );
    let calendar = settings.calendar.unwrap_or_default();
    assert_eq!((calendar.queues, calendar.bytes_per_round), (Some(12), Some(1514)));
    let cases = [
        (vec![port(1, 1000), port(9, 1000)], Code::NotFound),
        (vec![port(1, 1000), port(2, 1)], Code::InvalidArgument),
        (
            vec![
                port(1, 1000),
                tm::PortConfig {
                    user_field: Some("meta.nobody".to_owned()),
                    ..port(2, 1000)
                },
            ],
            Code::InvalidArgument,
        ),
        (
            vec![tm::PortConfig {
                discipline: Some(tm::Discipline::Afq.into()),
                user_field: Some("meta.user".to_owned()),
                calendar: Some(tm::Calendar {
                    queues: Some(7),
                    bytes_per_round: Some(200),
                    ..Default::default()
                }),
                ..port(1, 1000)
            }],
            Code::InvalidArgument,
        ),
        (
            vec![tm::PortConfig {
                discipline: Some(0),
                ..port(1, 1000)
            }],
            Code::InvalidArgument,
        ),
        (
            vec![tm::PortConfig {
                queues: vec![tm::QueueConfig {
                    queue: 8,
                    ..Default::default()
                }],
                ..port(1, 1000)
            }],
            Code::InvalidArgument,
        ),
    ];
    for (ports, expected) in cases {
        assert_eq!(set(&mut bench, ports.clone()), Err(expected), "{ports:?}");
    }
    let all = bench
        .device
        .get_ports(&tm::GetPortsRequest::default(), &bench.wires)
        .expect("all ports");
    assert_eq!(
        all.ports.iter().map(|port| port.rate_bps).collect::<Vec<_>>(),
        [Some(0), Some(8_000_000), Some(0)]
    );
}

/// Sends five frames to port 3: one is on the wire, two wait, and two are dropped.
fn fill_a_slow_port(bench: &mut Bench) {
    bench.insert(Entity::TableEntry(bench.host(2, 3)));
    let slow = tm::PortConfig {
        port: 3,
        rate_bps: Some(1_000_000),
        queues: vec![tm::QueueConfig {
            queue: 0,
            depth_packets: Some(2),
            rate_pps: None,
        }],
        ..Default::default()
    };
    bench
        .device
        .set_ports(
            &tm::SetPortsRequest {
                ports: vec![slow],
                memory: None,
            },
            &bench.wires,
        )
        .expect("port 3 exists");
    for _ in 0..5 {
        bench.receive(1, &frame(2, 1, 0));
    }
}

#[test]
fn statistics_tell_what_the_queues_did() {
    let mut bench = Bench::new();
    fill_a_slow_port(&mut bench);
    let request = tm::GetStatsRequest { ports: vec![3] };
    let stats = bench
        .device
        .get_stats(&request, bench.now, &mut bench.wires)
        .expect("port 3 exists");
    let port = &stats.ports[0];
    assert_eq!((port.interface.as_str(), port.up), ("eth3", true));
    let queue = &port.queues[0];
    assert_eq!(
        (queue.enqueued_packets, queue.dequeued_packets, queue.depth_packets),
        (3, 1, 2)
    );
    assert_eq!(
        (queue.dropped_packets, queue.dropped_bytes, queue.max_depth_packets),
        (2, 120, 2)
    );
}

#[test]
fn a_snapshot_tells_the_ports_and_cells_that_were_asked_for_in_this_order() {
    let mut bench = Bench::new();
    fill_a_slow_port(&mut bench);
    bench.receive(2, &frame(2, 1, 0));
    let cells = p4rt::RegisterEntry {
        register_id: bench.register("cells"),
        index: Some(p4rt::Index { index: 7 }),
        data: Some(p4rt::P4Data {
            data: Some(Data::Bitstring(vec![1, 2, 3])),
        }),
    };
    bench
        .write(Type::Modify, Entity::RegisterEntry(cells))
        .expect("a cell can be set");
    let of = |id, cells: &[u32]| tm::Cells {
        id,
        cells: cells.to_vec(),
    };
    let mut request = tm::WatchRequest {
        interval_ns: 0,
        ports: vec![3, 1],
        counters: vec![of(bench.counter("arrivals"), &[2, 1, 7])],
        registers: vec![of(bench.register("cells"), &[7, 0])],
    };
    let now = bench.now;
    let found = bench
        .device
        .snapshot(&request, now, &mut bench.wires)
        .expect("all of it exists");
    assert_eq!(
        found,
        tm::Snapshot {
            now_ns: now,
            lengths: [[2, 0, 0, 0, 0, 0, 0, 0], [0; 8]].concat(),
            sent_bytes: vec![0, 0],
            lost_packets: vec![3, 0],
            packets: vec![1, 5, 0],
            bytes: vec![60, 300, 0],
            values: vec![0x01_02_03, 0],
        }
    );
    request.counters[0].cells.push(8);
    let refused = bench.device.snapshot(&request, now, &mut bench.wires);
    assert_eq!(
        refused.expect_err("there is no cell 8").message,
        "EverythingIngress.arrivals: no cell 8, it has 8"
    );
}

#[test]
fn arrays_of_another_size_in_p4info_are_refused() {
    let with = |change: fn(&mut P4Info)| {
        let mut config = config();
        change(config.p4info.as_mut().expect("it has P4Info"));
        Program::new(config).expect_err("the sizes differ").message
    };
    let refused =
        |array: &str| format!("P4Info does not belong to the program: {array} cells in P4Info, 8 in the program");
    assert_eq!(
        with(|info| info.counters[0].size = 9),
        refused("counter 'EverythingIngress.arrivals': 9")
    );
    assert_eq!(
        with(|info| info.meters[0].size = 0),
        refused("meter 'EverythingIngress.policer': 0")
    );
    let cells = |info: &mut P4Info| {
        let named = |register: &&mut Register| {
            register
                .preamble
                .as_ref()
                .is_some_and(|preamble| preamble.alias == "cells")
        };
        info.registers.iter_mut().find(named).expect("it has cells").size = 4096;
    };
    assert_eq!(with(cells), refused("register 'EverythingIngress.cells': 4096"));
}
