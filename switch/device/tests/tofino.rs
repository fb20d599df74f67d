//! A program for Tofino over P4Runtime: writes, reads and notifications.

use crate::fixture::{Bench, CPU_PORT, exact, frame};
use p4sched_compiler::{Arch, EmbeddedIncludes, Input, Options, compile};
use p4sched_device::{Notification, Program};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::p4_data::Data;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::update::Type;
use p4sched_proto::p4sched::v1 as tm;

fn bench() -> Bench {
    let source = Input {
        name: "tofino.p4",
        text: include_str!("programs/tofino.p4"),
    };
    let options = Options {
        arch: Arch::Tna,
        ..Options::default()
    };
    let compiled = compile(&source, &EmbeddedIncludes, &options).unwrap_or_else(|errors| panic!("{errors}"));
    let config = p4rt::ForwardingPipelineConfig {
        p4info: Some(compiled.p4info.clone()),
        p4_device_config: compiled.json.into_bytes(),
        cookie: None,
    };
    let mut bench = Bench::empty();
    bench.info = compiled.p4info;
    let program = Program::new(config).unwrap_or_else(|fault| panic!("{}", fault.message));
    bench.device.commit(program).expect("the switch takes it");
    bench
}

/// Adds an entry for the frames to a station.
fn add(bench: &mut Bench, station: u8, action: &str, params: &[&[u8]]) {
    let entry = bench.entry("hosts", vec![exact(1, &[station])], 0, action, params);
    bench.insert(Entity::TableEntry(entry));
}

fn bits(value: &[u8]) -> p4rt::P4Data {
    p4rt::P4Data {
        data: Some(Data::Bitstring(value.to_vec())),
    }
}

fn pair(first: &[u8], second: &[u8]) -> p4rt::P4Data {
    let members = vec![bits(first), bits(second)];
    p4rt::P4Data {
        data: Some(Data::Struct(p4rt::P4StructLike { members })),
    }
}

fn replicas(ports: &[u32]) -> Vec<p4rt::Replica> {
    let replica = |&port: &u32| p4rt::Replica {
        instance: 1,
        port_kind: Some(p4rt::replica::PortKind::Port(port.to_be_bytes().to_vec())),
        ..p4rt::Replica::default()
    };
    ports.iter().map(replica).collect()
}

fn replication(entry: Replication) -> Entity {
    Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry { r#type: Some(entry) })
}

fn ports(sent: &[(u16, Vec<u8>)]) -> Vec<u16> {
    sent.iter().map(|(port, _)| *port).collect()
}

#[test]
fn entries_direct_counters_and_counters() {
    let mut bench = bench();
    add(&mut bench, 9, "forward", &[&[3], &[5]]);
    assert_eq!(ports(&bench.receive(1, &frame(9, 5, 0x1234))), [3]);
    assert_eq!(bench.receive(1, &frame(8, 5, 0x1234)), []);
    let counted = bench.entries("hosts")[0].counter_data.expect("it has a direct counter");
    assert_eq!(counted.packet_count, 1);
    let filter = p4rt::CounterEntry {
        counter_id: bench.counter("arrivals"),
        index: Some(p4rt::Index { index: 1 }),
        data: None,
    };
    let found = bench
        .read(Entity::CounterEntry(filter))
        .expect("the counter can be read");
    let [Entity::CounterEntry(cell)] = found.as_slice() else {
        panic!("one cell: {found:?}")
    };
    let data = cell.data.expect("it has counted");
    assert_eq!((data.packet_count, data.byte_count), (2, 120));
}

#[test]
fn a_register_of_pairs_is_read_and_written_as_a_struct() {
    let mut bench = bench();
    let cell = |data| {
        Entity::RegisterEntry(p4rt::RegisterEntry {
            register_id: bench.register("seen"),
            index: Some(p4rt::Index { index: 1 }),
            data,
        })
    };
    let written = cell(Some(pair(&[1, 0], &[2])));
    let (filter, counted) = (cell(None), cell(Some(pair(&[1, 1], &[0x12, 0x34]))));
    bench
        .write(Type::Modify, written.clone())
        .expect("the value is of the type");
    assert_eq!(bench.read(filter.clone()), Ok(vec![written]));
    bench.receive(1, &frame(9, 5, 0x1234));
    assert_eq!(bench.read(filter), Ok(vec![counted]));
    let wrong = Entity::RegisterEntry(p4rt::RegisterEntry {
        register_id: bench.register("seen"),
        index: None,
        data: Some(bits(&[1])),
    });
    assert!(bench.write(Type::Modify, wrong).is_err());
}

#[test]
fn a_meter_colours_green_yellow_and_red_as_the_chip_numbers_them() {
    let mut bench = bench();
    add(&mut bench, 9, "forward", &[&[3], &[0]]);
    let config = p4rt::MeterConfig {
        cir: 1,
        cburst: 1,
        pir: 1,
        pburst: 2,
        ..p4rt::MeterConfig::default()
    };
    let entry = Entity::MeterEntry(p4rt::MeterEntry {
        meter_id: bench.meter("pace"),
        index: Some(p4rt::Index { index: 1 }),
        config: Some(config),
        counter_data: None,
    });
    bench.write(Type::Modify, entry).expect("the meter can be set");
    let colours: Vec<u8> = (0..3).map(|_| bench.receive(1, &frame(9, 5, 0))[0].1[11]).collect();
    assert_eq!(colours, [0, 1, 3]);
}

#[test]
fn groups_and_sessions_make_copies() {
    let mut bench = bench();
    add(&mut bench, 8, "replicate", &[&[4]]);
    add(&mut bench, 9, "mirror", &[&[7]]);
    let group = p4rt::MulticastGroupEntry {
        multicast_group_id: 4,
        replicas: replicas(&[1, 2]),
        ..p4rt::MulticastGroupEntry::default()
    };
    bench.insert(replication(Replication::MulticastGroupEntry(group)));
    let session = p4rt::CloneSessionEntry {
        session_id: 7,
        replicas: replicas(&[3]),
        packet_length_bytes: 20,
        ..p4rt::CloneSessionEntry::default()
    };
    bench.insert(replication(Replication::CloneSessionEntry(session)));
    assert_eq!(ports(&bench.receive(1, &frame(8, 5, 0))), [1, 2]);
    let mirrored = bench.receive(1, &frame(9, 5, 0));
    assert_eq!(mirrored, [(3, frame(9, 5, 0)[..20].to_vec())]);
}

#[test]
fn digests_packet_ins_and_packet_outs_reach_the_other_side() {
    let mut bench = bench();
    add(&mut bench, 8, "learn", &[]);
    add(&mut bench, 9, "to_controller", &[]);
    let digest_id = bench.info.digests[0].preamble.as_ref().expect("a name").id;
    let config = p4rt::digest_entry::Config {
        max_list_size: 1,
        ..p4rt::digest_entry::Config::default()
    };
    bench.insert(Entity::DigestEntry(p4rt::DigestEntry {
        digest_id,
        config: Some(config),
    }));
    bench.receive(2, &frame(8, 0, 0));
    let Ok(Notification::Digest(list)) = bench.notified.try_recv() else {
        panic!("a digest is sent at once")
    };
    assert_eq!((list.digest_id, list.data), (digest_id, vec![pair(&[0], &[2])]));

    bench.receive(2, &frame(9, 0, 0));
    let Ok(Notification::Packet(packet)) = bench.notified.try_recv() else {
        panic!("a packet-in is sent at once")
    };
    assert_eq!(packet.payload, frame(9, 0, 0));
    assert_eq!(packet.metadata[0].value, [2]);

    let metadata = |metadata_id, value: u8| p4rt::PacketMetadata {
        metadata_id,
        value: vec![value],
    };
    let packet = p4rt::PacketOut {
        payload: frame(1, 0, 0),
        metadata: vec![metadata(1, 3), metadata(2, 0)],
    };
    bench.wires.sent.clear();
    bench
        .device
        .packet_out(&packet, bench.now, &mut bench.wires)
        .expect("there is a CPU port");
    bench.device.advance(bench.now, &mut bench.wires);
    let sent = &bench.wires.sent[0];
    assert_eq!((sent.0, &sent.1), (3, &frame(1, 0, 0)));
    assert_eq!(bench.device.engine().cpu_port(), Some(CPU_PORT));
}

#[test]
fn recirculation_ports_are_set_up_like_ports_with_an_interface() {
    let mut bench = bench();
    let set = |bench: &mut Bench, port| {
        let port = tm::PortConfig {
            port,
            rate_bps: Some(1_000_000),
            ..tm::PortConfig::default()
        };
        let request = tm::SetPortsRequest {
            ports: vec![port],
            memory: None,
        };
        bench.device.set_ports(&request, &bench.wires)
    };
    for port in [68, 196, 324, 452] {
        set(&mut bench, port).expect("a port that leads back");
        assert_eq!(bench.device.engine().port(port as u16).config.rate_bps, 1_000_000);
    }
    assert!(set(&mut bench, 6).is_err(), "a recirculation port of Tofino 2 alone");
}
