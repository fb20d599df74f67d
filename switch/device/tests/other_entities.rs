//! Counters, meters, registers, replication, value sets and digests.

use crate::fixture::{Bench, code, exact, frame};
use p4sched_device::{Code, Notification};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::p4_data::Data;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::replica::PortKind;
use p4sched_proto::p4::v1::update::Type;

#[test]
fn indirect_counters_count_by_index() {
    let mut bench = Bench::new();
    let id = bench.counter("arrivals");
    let cell = |index, packets, bytes| {
        Entity::CounterEntry(p4rt::CounterEntry {
            counter_id: id,
            index: Some(p4rt::Index { index }),
            data: Some(p4rt::CounterData {
                packet_count: packets,
                byte_count: bytes,
            }),
        })
    };
    bench.receive(2, &frame(1, 1, 0));
    bench.receive(2, &frame(1, 1, 0));
    assert_eq!(bench.read(cell(2, 0, 0)), Ok(vec![cell(2, 2, 120)]));
    bench.write(Type::Modify, cell(2, 9, 90)).expect("a cell can be set");
    let all = bench.read(Entity::CounterEntry(p4rt::CounterEntry {
        counter_id: id,
        ..Default::default()
    }));
    assert_eq!(
        all.map(|cells| (cells.len(), cells[2].clone())),
        Ok((8, cell(2, 9, 90)))
    );
    assert_eq!(
        bench
            .read(Entity::CounterEntry(Default::default()))
            .map(|cells| cells.len()),
        Ok(8),
        "all counters"
    );
    let everywhere = p4rt::CounterEntry {
        counter_id: id,
        index: None,
        data: Some(p4rt::CounterData::default()),
    };
    bench
        .write(Type::Modify, Entity::CounterEntry(everywhere))
        .expect("all cells can be set");
    assert_eq!(bench.read(cell(2, 0, 0)), Ok(vec![cell(2, 0, 0)]));
    assert_eq!(
        code(bench.write(Type::Insert, cell(1, 0, 0))),
        Err(Code::InvalidArgument)
    );
    assert_eq!(code(bench.read(cell(-1, 0, 0))), Err(Code::InvalidArgument));
    assert_eq!(code(bench.write(Type::Modify, cell(8, 0, 0))), Err(Code::OutOfRange));
}

#[test]
fn indirect_meters_are_green_until_configured() {
    let mut bench = Bench::new();
    let id = bench.meter("policer");
    let cell = |index, config| {
        Entity::MeterEntry(p4rt::MeterEntry {
            meter_id: id,
            index: Some(p4rt::Index { index }),
            config,
            counter_data: None,
        })
    };
    let config = p4rt::MeterConfig {
        cir: 1000,
        cburst: 2000,
        pir: 3000,
        pburst: 4000,
        eburst: 0,
    };
    assert_eq!(bench.read(cell(3, None)), Ok(vec![cell(3, None)]));
    bench
        .write(Type::Modify, cell(3, Some(config)))
        .expect("a cell can be configured");
    assert_eq!(bench.read(cell(3, None)), Ok(vec![cell(3, Some(config))]));
    bench.write(Type::Modify, cell(3, None)).expect("a cell can be reset");
    assert_eq!(bench.read(cell(3, None)), Ok(vec![cell(3, None)]));
    let negative = p4rt::MeterConfig { cir: -1, ..config };
    assert_eq!(
        code(bench.write(Type::Modify, cell(3, Some(negative)))),
        Err(Code::InvalidArgument)
    );
    assert_eq!(
        code(bench.write(Type::Delete, cell(3, None))),
        Err(Code::InvalidArgument)
    );
    assert_eq!(code(bench.read(cell(8, None))), Err(Code::OutOfRange));
}

#[test]
fn registers_are_read_and_written_but_queue_depths_are_the_switchs_own() {
    let mut bench = Bench::new();
    let cell = |bench: &Bench, name: &str, index, value: &[u8]| {
        Entity::RegisterEntry(p4rt::RegisterEntry {
            register_id: bench.register(name),
            index: Some(p4rt::Index { index }),
            data: Some(p4rt::P4Data {
                data: Some(Data::Bitstring(value.to_vec())),
            }),
        })
    };
    bench
        .write(Type::Modify, cell(&bench, "cells", 2, &[0, 1, 0]))
        .expect("a cell can be written");
    bench.receive(2, &frame(1, 1, 0));
    assert_eq!(
        bench.read(cell(&bench, "cells", 2, &[0])),
        Ok(vec![cell(&bench, "cells", 2, &[1, 1])]),
        "the program adds 1"
    );
    let wildcard = p4rt::RegisterEntry {
        register_id: bench.register("cells"),
        ..Default::default()
    };
    assert_eq!(
        bench.read(Entity::RegisterEntry(wildcard)).map(|cells| cells.len()),
        Ok(8)
    );
    assert_eq!(
        code(bench.write(Type::Modify, cell(&bench, "cells", 8, &[0]))),
        Err(Code::OutOfRange)
    );
    assert_eq!(
        code(bench.write(Type::Modify, cell(&bench, "cells", 0, &[1, 0, 0, 0, 0]))),
        Err(Code::OutOfRange)
    );
    let flag = p4rt::RegisterEntry {
        register_id: bench.register("cells"),
        index: Some(p4rt::Index { index: 0 }),
        data: Some(p4rt::P4Data {
            data: Some(Data::Bool(true)),
        }),
    };
    assert_eq!(
        code(bench.write(Type::Modify, Entity::RegisterEntry(flag))),
        Err(Code::InvalidArgument)
    );
    assert_eq!(
        code(bench.write(Type::Modify, cell(&bench, "queue_depths", 0, &[1]))),
        Err(Code::PermissionDenied)
    );
    assert_eq!(
        bench.read(cell(&bench, "queue_depths", 0, &[0])),
        Ok(vec![cell(&bench, "queue_depths", 0, &[0])])
    );
}

fn replica(port: u16, instance: u32) -> p4rt::Replica {
    let port = if port > 255 {
        port.to_be_bytes().to_vec()
    } else {
        vec![port as u8]
    };
    p4rt::Replica {
        port_kind: Some(PortKind::Port(port)),
        instance,
        ..Default::default()
    }
}

fn replication(entry: Replication) -> Entity {
    Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry { r#type: Some(entry) })
}

#[test]
fn multicast_groups_copy_packets() {
    let mut bench = Bench::new();
    let group = |id, replicas: Vec<p4rt::Replica>| {
        replication(Replication::MulticastGroupEntry(p4rt::MulticastGroupEntry {
            multicast_group_id: id,
            replicas,
            metadata: b"m".to_vec(),
        }))
    };
    let two = group(5, vec![replica(2, 0), replica(3, 1)]);
    bench.insert(two.clone());
    bench.insert(Entity::TableEntry(bench.entry(
        "hosts",
        vec![exact(1, &[9])],
        0,
        "multicast",
        &[&[5]],
    )));
    let ports: Vec<u16> = bench
        .receive(1, &frame(9, 1, 0))
        .iter()
        .map(|(port, _)| *port)
        .collect();
    assert_eq!(ports, [2, 3]);
    assert_eq!(bench.read(group(0, vec![])), Ok(vec![two.clone()]), "wildcard");
    bench
        .write(Type::Modify, group(5, vec![replica(1, 0)]))
        .expect("the group exists");
    assert_eq!(bench.receive(1, &frame(9, 1, 0)).len(), 1);
    bench.write(Type::Delete, group(5, vec![])).expect("the group exists");
    assert!(bench.receive(1, &frame(9, 1, 0)).is_empty());
    let cases = [
        (Type::Insert, group(0, vec![]), Code::InvalidArgument),
        (Type::Modify, group(6, vec![]), Code::NotFound),
        (
            Type::Insert,
            group(6, vec![replica(2, 0), replica(2, 0)]),
            Code::InvalidArgument,
        ),
        (Type::Insert, group(6, vec![replica(2, 65_536)]), Code::InvalidArgument),
        (Type::Insert, group(6, vec![replica(512, 0)]), Code::OutOfRange),
        (
            Type::Insert,
            group(6, vec![p4rt::Replica::default()]),
            Code::InvalidArgument,
        ),
        (
            Type::Insert,
            group(
                6,
                vec![p4rt::Replica {
                    backup_replicas: vec![Default::default()],
                    ..replica(1, 0)
                }],
            ),
            Code::OutOfRange,
        ),
    ];
    for (kind, entity, expected) in cases {
        assert_eq!(code(bench.write(kind, entity.clone())), Err(expected), "{entity:?}");
    }
}

#[test]
fn clone_sessions_mirror_packets() {
    let mut bench = Bench::new();
    let session = |id, class, length| p4rt::CloneSessionEntry {
        session_id: id,
        replicas: vec![replica(3, 1)],
        class_of_service: class,
        packet_length_bytes: length,
    };
    let entity = |session| replication(Replication::CloneSessionEntry(session));
    bench.insert(entity(session(100, 2, 20)));
    bench.insert(Entity::TableEntry(bench.entry(
        "hosts",
        vec![exact(1, &[9])],
        0,
        "mirror",
        &[&[100]],
    )));
    let sent = bench.receive(1, &frame(9, 1, 0));
    assert!(
        sent.contains(&(3, frame(9, 1, 0)[..20].to_vec())),
        "a truncated copy leaves by port 3: {sent:?}"
    );
    assert_eq!(
        bench.read(entity(session(0, 0, 0))),
        Ok(vec![entity(session(100, 2, 20))])
    );
    let cases = [
        (Type::Insert, session(0, 0, 0), Code::InvalidArgument),
        (Type::Insert, session(100, 0, 0), Code::AlreadyExists),
        (Type::Insert, session(7, 8, 0), Code::InvalidArgument),
        (Type::Insert, session(7, 0, -1), Code::InvalidArgument),
        (Type::Delete, session(7, 0, 0), Code::NotFound),
    ];
    for (kind, session, expected) in cases {
        assert_eq!(
            code(bench.write(kind, entity(session.clone()))),
            Err(expected),
            "{session:?}"
        );
    }
    bench
        .write(Type::Delete, entity(session(100, 0, 0)))
        .expect("the session exists");
    assert!(bench.receive(1, &frame(9, 1, 0)).iter().all(|(port, _)| *port != 3));
}

#[test]
fn value_sets_steer_the_parser() {
    let mut bench = Bench::new();
    let id = bench.value_set();
    let set = |types: &[u16]| {
        let members = types.iter().map(|ether_type| p4rt::ValueSetMember {
            r#match: vec![exact(1, &ether_type.to_be_bytes())],
        });
        Entity::ValueSetEntry(p4rt::ValueSetEntry {
            value_set_id: id,
            members: members.collect(),
        })
    };
    assert!(
        bench
            .receive(1, &frame(1, 1, 0x88b5))
            .iter()
            .all(|(port, _)| *port != 3)
    );
    bench
        .write(Type::Modify, set(&[0x88b5, 0x88b6]))
        .expect("two members fit");
    assert_eq!(bench.receive(1, &frame(1, 1, 0x88b5))[0].0, 3);
    assert_eq!(bench.read(set(&[])), Ok(vec![set(&[0x88b5, 0x88b6])]));
    assert_eq!(
        code(bench.write(Type::Modify, set(&[1 << 8, 2 << 8, 3 << 8]))),
        Err(Code::ResourceExhausted)
    );
    assert_eq!(
        code(bench.write(Type::Modify, set(&[1 << 8, 1 << 8]))),
        Err(Code::AlreadyExists)
    );
    assert_eq!(code(bench.write(Type::Insert, set(&[]))), Err(Code::InvalidArgument));
    bench.write(Type::Modify, set(&[])).expect("it can be emptied");
    assert!(
        bench
            .receive(1, &frame(1, 1, 0x88b5))
            .iter()
            .all(|(port, _)| *port != 3)
    );
}

#[test]
fn digests_are_sent_once_until_acknowledged() {
    let mut bench = Bench::new();
    let digest_id = bench.digest();
    let config = p4rt::digest_entry::Config {
        max_timeout_ns: 0,
        max_list_size: 1,
        ack_timeout_ns: 1_000_000_000,
    };
    let entry = Entity::DigestEntry(p4rt::DigestEntry {
        digest_id,
        config: Some(config),
    });
    bench.receive(1, &frame(9, 5, 0));
    assert!(bench.notified.try_recv().is_err(), "nothing before it is enabled");
    assert_eq!(code(bench.write(Type::Modify, entry.clone())), Err(Code::NotFound));
    bench.insert(entry.clone());
    assert_eq!(code(bench.write(Type::Insert, entry.clone())), Err(Code::AlreadyExists));
    assert_eq!(
        bench.read(Entity::DigestEntry(Default::default())),
        Ok(vec![entry.clone()])
    );
    bench.receive(1, &frame(9, 5, 0));
    let Ok(Notification::Digest(list)) = bench.notified.try_recv() else {
        panic!("a digest is sent at once")
    };
    let learnt = |address: u8, port: u8| {
        let bits = |value| p4rt::P4Data {
            data: Some(Data::Bitstring(vec![value])),
        };
        let members = vec![bits(address), bits(port)];
        vec![p4rt::P4Data {
            data: Some(Data::Struct(p4rt::P4StructLike { members })),
        }]
    };
    assert_eq!((list.digest_id, list.data), (digest_id, learnt(5, 1)));
    bench.receive(1, &frame(9, 5, 0));
    assert!(bench.notified.try_recv().is_err(), "the same again, not acknowledged");
    let ack = p4rt::DigestListAck {
        digest_id,
        list_id: list.list_id,
    };
    bench.device.acknowledge_digests(ack).expect("the digest is known");
    bench.receive(1, &frame(9, 5, 0));
    assert!(bench.notified.try_recv().is_ok(), "the same again, acknowledged");
    let unknown = p4rt::DigestListAck {
        digest_id: 1,
        list_id: 1,
    };
    assert_eq!(
        code(bench.device.acknowledge_digests(unknown)),
        Err(Code::InvalidArgument)
    );
}
