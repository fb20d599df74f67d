//! Requirements of the specification that no other test file covers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::server::fixture::{Bench, CPU_PORT, config, exact, frame, lpm, optional, range, ternary, update};
use crate::server::{Controller, Server, compiled, start};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::p4_data::Data;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::replica::PortKind;
use p4sched_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4sched_proto::p4::v1::stream_message_request::Update;
use p4sched_proto::p4::v1::stream_message_response::Update as Response;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;
use p4sched_proto::p4::v1::write_request::Atomicity;
use tonic::Code;

async fn connected() -> (Server, Controller, Bench) {
    let server = start().await;
    let controller = Controller::with_program(&server, config()).await;
    (server, controller, Bench::empty())
}

fn all_of(bench: &Bench, table: &str) -> Entity {
    Entity::TableEntry(p4rt::TableEntry {
        table_id: bench.table(table),
        ..Default::default()
    })
}

#[tokio::test]
async fn every_controller_reads_also_one_without_a_stream() {
    let (server, mut primary, bench) = connected().await;
    let entry = Entity::TableEntry(bench.host(1, 2));
    assert_eq!(primary.write_one(Type::Insert, entry.clone()).await, Ok(()));
    let mut backup = Controller::connect(&server, 0).await;
    assert_eq!(backup.arbitration().await, Code::AlreadyExists);
    assert_eq!(backup.read_one(all_of(&bench, "hosts")).await, Ok(vec![entry.clone()]));
    drop(backup.requests);
    let request = p4rt::ReadRequest {
        device_id: 1,
        role: "of nobody".to_owned(),
        entities: vec![p4rt::Entity {
            entity: Some(all_of(&bench, "hosts")),
        }],
    };
    let mut found = backup.client.read(request).await.expect("anybody reads").into_inner();
    let found = found.message().await.expect("no error").expect("an answer");
    assert_eq!(found.entities[0].entity, Some(entry));
}

#[tokio::test]
async fn identifiers_begin_with_the_number_of_their_kind() {
    let server = start().await;
    let mut controller = Controller::connect(&server, 1).await;
    controller.arbitration().await;
    let mut wrong = config();
    let info = wrong.p4info.as_mut().expect("P4Info");
    let kinds = [
        (
            1,
            info.actions.iter().map(|object| &object.preamble).collect::<Vec<_>>(),
        ),
        (2, info.tables.iter().map(|object| &object.preamble).collect()),
        (
            0x11,
            info.action_profiles.iter().map(|object| &object.preamble).collect(),
        ),
        (0x12, info.counters.iter().map(|object| &object.preamble).collect()),
        (
            0x13,
            info.direct_counters.iter().map(|object| &object.preamble).collect(),
        ),
        (0x14, info.meters.iter().map(|object| &object.preamble).collect()),
        (0x15, info.direct_meters.iter().map(|object| &object.preamble).collect()),
        (0x16, info.registers.iter().map(|object| &object.preamble).collect()),
        (0x17, info.digests.iter().map(|object| &object.preamble).collect()),
    ];
    for (kind, preambles) in &kinds {
        assert!(!preambles.is_empty(), "{kind:#x}");
        let kinds = preambles
            .iter()
            .map(|preamble| preamble.as_ref().map(|found| found.id >> 24));
        assert!(kinds.clone().all(|found| found == Some(*kind)), "{kind:#x}: {kinds:?}");
    }
    let preamble = info.counters[0].preamble.as_mut().expect("a preamble");
    preamble.id = 0x0200_0000 | preamble.id & 0x00ff_ffff;
    let refused = controller.set_pipeline(Action::Verify, Some(wrong)).await;
    assert_eq!(
        refused.expect_err("a counter with the number of a table").code(),
        Code::InvalidArgument
    );
}

#[tokio::test]
async fn zero_is_a_value_like_any_other() {
    let (_server, mut controller, bench) = connected().await;
    let entry = Entity::TableEntry(bench.entry("hosts", vec![exact(1, &[0])], 0, "forward_as", &[&[0], &[0]]));
    assert_eq!(controller.write_one(Type::Insert, entry.clone()).await, Ok(()));
    assert_eq!(controller.read_one(all_of(&bench, "hosts")).await, Ok(vec![entry]));
}

#[tokio::test]
async fn what_was_written_is_read_back() {
    let (_server, mut controller, bench) = connected().await;
    let selector = bench.profile("paths_selector");
    let replicas = vec![p4rt::Replica {
        port_kind: Some(PortKind::Port(vec![3])),
        instance: 7,
        ..Default::default()
    }];
    let replication =
        |entry| Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry { r#type: Some(entry) });
    let index = Some(p4rt::Index { index: 2 });
    let member = Entity::ActionProfileMember(p4rt::ActionProfileMember {
        action_profile_id: selector,
        member_id: 4,
        action: Some(bench.action("forward", &[&[2]])),
    });
    let group = Entity::ActionProfileGroup(p4rt::ActionProfileGroup {
        action_profile_id: selector,
        group_id: 5,
        members: vec![p4rt::action_profile_group::Member {
            member_id: 4,
            weight: 3,
            watch_kind: None,
        }],
        max_size: 9,
    });
    let inserted = [
        Entity::TableEntry(p4rt::TableEntry {
            metadata: b"what the controller likes".to_vec(),
            ..bench.entry("routes", vec![lpm(1, &[10, 1, 0, 0], 16)], 0, "forward", &[&[3]])
        }),
        Entity::TableEntry(bench.entry(
            "acl",
            vec![ternary(1, &[10], &[0xff]), range(2, &[1], &[9]), optional(3, &[6])],
            7,
            "permit",
            &[],
        )),
        member,
        group,
        replication(Replication::MulticastGroupEntry(p4rt::MulticastGroupEntry {
            multicast_group_id: 3,
            replicas: replicas.clone(),
            metadata: b"mine".to_vec(),
        })),
        replication(Replication::CloneSessionEntry(p4rt::CloneSessionEntry {
            session_id: 4,
            replicas,
            class_of_service: 2,
            packet_length_bytes: 100,
        })),
        Entity::DigestEntry(p4rt::DigestEntry {
            digest_id: bench.digest(),
            config: Some(p4rt::digest_entry::Config {
                max_timeout_ns: 1,
                max_list_size: 2,
                ack_timeout_ns: 3,
            }),
        }),
    ];
    let modified = [
        Entity::RegisterEntry(p4rt::RegisterEntry {
            register_id: bench.register("cells"),
            index,
            data: Some(p4rt::P4Data {
                data: Some(Data::Bitstring(vec![1, 0])),
            }),
        }),
        Entity::CounterEntry(p4rt::CounterEntry {
            counter_id: bench.counter("arrivals"),
            index,
            data: Some(p4rt::CounterData {
                byte_count: 1,
                packet_count: 2,
            }),
        }),
        Entity::ValueSetEntry(p4rt::ValueSetEntry {
            value_set_id: bench.value_set(),
            members: vec![p4rt::ValueSetMember {
                r#match: vec![exact(1, &[0x88, 0xf7])],
            }],
        }),
    ];
    let written = (inserted.iter().map(|entity| (Type::Insert, entity)))
        .chain(modified.iter().map(|entity| (Type::Modify, entity)));
    for (kind, entity) in written {
        assert_eq!(controller.write_one(kind, entity.clone()).await, Ok(()), "{entity:?}");
        assert_eq!(controller.read_one(entity.clone()).await, Ok(vec![entity.clone()]));
    }
    // A filter without identifiers asks for all entities of a kind.
    let kinds = [
        Entity::ActionProfileMember(Default::default()),
        Entity::ActionProfileGroup(Default::default()),
        Entity::PacketReplicationEngineEntry(Default::default()),
        Entity::DigestEntry(Default::default()),
    ];
    let (found, result) = controller.read(kinds.to_vec()).await;
    assert!(result.is_ok());
    assert_eq!(found, inserted[2..]);
}

#[tokio::test]
async fn a_group_may_be_empty_and_a_modify_replaces_its_members() {
    let (server, mut controller, bench) = connected().await;
    let selector = bench.profile("paths_selector");
    for (member_id, port) in [(1, 2), (2, 3)] {
        let member = Entity::ActionProfileMember(p4rt::ActionProfileMember {
            action_profile_id: selector,
            member_id,
            action: Some(bench.action("forward", &[&[port]])),
        });
        assert_eq!(controller.write_one(Type::Insert, member).await, Ok(()));
    }
    let group = |members: &[u32]| {
        let members = members.iter().map(|&member_id| p4rt::action_profile_group::Member {
            member_id,
            weight: 1,
            watch_kind: None,
        });
        Entity::ActionProfileGroup(p4rt::ActionProfileGroup {
            action_profile_id: selector,
            group_id: 1,
            members: members.collect(),
            max_size: 0,
        })
    };
    let path = Entity::TableEntry(p4rt::TableEntry {
        table_id: bench.table("paths"),
        r#match: vec![exact(1, &[9])],
        action: Some(p4rt::TableAction {
            r#type: Some(ActionKind::ActionProfileGroupId(1)),
        }),
        ..Default::default()
    });
    assert_eq!(
        controller.write_one(Type::Modify, group(&[])).await,
        Err(Code::NotFound)
    );
    assert_eq!(controller.write_one(Type::Insert, group(&[])).await, Ok(()));
    assert_eq!(controller.write_one(Type::Insert, path).await, Ok(()));
    let port = || {
        server
            .receive(1, crate::server::fixture::ipv4(9, 5, 9, 6))
            .first()
            .map(|(port, _)| *port)
    };
    assert_eq!(port(), Some(0), "no action sets a port");
    for (members, expected) in [(&[1][..], Some(2)), (&[2], Some(3)), (&[], Some(0))] {
        assert_eq!(controller.write_one(Type::Modify, group(members)).await, Ok(()));
        assert_eq!(controller.read_one(group(&[])).await, Ok(vec![group(members)]));
        assert_eq!(port(), expected);
    }
}

#[tokio::test]
async fn who_asks_for_nothing_gets_nothing() {
    let (_server, mut controller, bench) = connected().await;
    let (found, result) = controller.read(vec![]).await;
    assert_eq!((found, result.is_ok()), (vec![], true));
    assert_eq!(
        controller.read_one(all_of(&bench, "hosts")).await,
        Ok(vec![]),
        "a table without entries"
    );
    assert!(controller.write(vec![]).await.is_ok());
}

#[tokio::test]
async fn what_p4info_does_not_have_is_invalid() {
    let (_server, mut controller, bench) = connected().await;
    let unknown = [
        Entity::TableEntry(p4rt::TableEntry {
            table_id: 0x0200_0001,
            ..bench.host(1, 2)
        }),
        Entity::ActionProfileMember(p4rt::ActionProfileMember {
            action_profile_id: 0x1100_0001,
            member_id: 1,
            action: None,
        }),
        Entity::ActionProfileGroup(p4rt::ActionProfileGroup {
            action_profile_id: 0x1100_0001,
            group_id: 1,
            ..Default::default()
        }),
        Entity::CounterEntry(p4rt::CounterEntry {
            counter_id: 0x1200_0001,
            ..Default::default()
        }),
        Entity::MeterEntry(p4rt::MeterEntry {
            meter_id: 0x1400_0001,
            ..Default::default()
        }),
        Entity::RegisterEntry(p4rt::RegisterEntry {
            register_id: 0x1600_0001,
            ..Default::default()
        }),
        Entity::ValueSetEntry(p4rt::ValueSetEntry {
            value_set_id: 0x0300_0001,
            ..Default::default()
        }),
        Entity::DigestEntry(p4rt::DigestEntry {
            digest_id: 0x1700_0001,
            ..Default::default()
        }),
    ];
    for entity in unknown {
        for kind in [Type::Insert, Type::Modify, Type::Delete] {
            let written = controller.write_one(kind, entity.clone()).await;
            assert_eq!(written, Err(Code::InvalidArgument), "{kind:?} {entity:?}");
        }
        assert_eq!(
            controller.read_one(entity.clone()).await,
            Err(Code::InvalidArgument),
            "{entity:?}"
        );
    }
    let nothing = controller
        .write(vec![p4rt::Update::default()])
        .await
        .expect_err("no type, no entity");
    assert_eq!(crate::server::error_codes(&nothing), [Code::InvalidArgument as i32]);
}

#[tokio::test]
async fn an_unknown_action_or_parameter_is_invalid_in_entries_and_members() {
    let (_server, mut controller, bench) = connected().await;
    let param = |param_id, value: &[u8]| p4rt::action::Param {
        param_id,
        value: value.to_vec(),
    };
    let forward = |params| p4rt::Action {
        params,
        ..bench.action("forward", &[])
    };
    let unknown = p4rt::Action {
        action_id: 0x0100_0001,
        params: vec![],
    };
    let actions = [
        (unknown, Code::InvalidArgument),
        (forward(vec![]), Code::InvalidArgument),
        (forward(vec![param(2, &[1])]), Code::InvalidArgument),
        (forward(vec![param(1, &[1]), param(1, &[1])]), Code::InvalidArgument),
        (forward(vec![param(1, &[2, 0])]), Code::OutOfRange),
    ];
    for (action, expected) in actions {
        let entry = p4rt::TableEntry {
            action: Some(p4rt::TableAction {
                r#type: Some(ActionKind::Action(action.clone())),
            }),
            ..bench.host(1, 2)
        };
        let written = controller.write_one(Type::Insert, Entity::TableEntry(entry)).await;
        assert_eq!(written, Err(expected), "{action:?}");
        let member = p4rt::ActionProfileMember {
            action_profile_id: bench.profile("paths_selector"),
            member_id: 1,
            action: Some(action.clone()),
        };
        let written = controller
            .write_one(Type::Insert, Entity::ActionProfileMember(member))
            .await;
        assert_eq!(written, Err(expected), "{action:?}");
    }
}

#[tokio::test]
async fn groups_and_sessions_exist_or_not() {
    let (_server, mut controller, _) = connected().await;
    let replication =
        |entry| Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry { r#type: Some(entry) });
    let group = replication(Replication::MulticastGroupEntry(p4rt::MulticastGroupEntry {
        multicast_group_id: 3,
        ..Default::default()
    }));
    let session = replication(Replication::CloneSessionEntry(p4rt::CloneSessionEntry {
        session_id: 3,
        ..Default::default()
    }));
    for entity in [group, session] {
        for kind in [Type::Modify, Type::Delete] {
            assert_eq!(controller.write_one(kind, entity.clone()).await, Err(Code::NotFound));
        }
        assert_eq!(controller.write_one(Type::Insert, entity.clone()).await, Ok(()));
        assert_eq!(
            controller.write_one(Type::Insert, entity.clone()).await,
            Err(Code::AlreadyExists)
        );
        assert_eq!(controller.write_one(Type::Delete, entity.clone()).await, Ok(()));
        assert_eq!(controller.read_one(entity).await, Ok(vec![]));
    }
}

#[tokio::test]
async fn only_the_primary_sets_the_program() {
    let (server, primary, _) = connected().await;
    let mut backup = Controller::connect(&server, 0).await;
    assert_eq!(backup.arbitration().await, Code::AlreadyExists);
    let refused = backup.set_pipeline(Action::VerifyAndCommit, Some(config())).await;
    assert_eq!(refused.expect_err("it is backup").code(), Code::PermissionDenied);
    drop(primary);
}

#[tokio::test]
async fn cells_exist_from_the_start() {
    let (_server, mut controller, bench) = connected().await;
    let index = Some(p4rt::Index { index: 1 });
    let cells = [
        Entity::RegisterEntry(p4rt::RegisterEntry {
            register_id: bench.register("cells"),
            index,
            data: None,
        }),
        Entity::CounterEntry(p4rt::CounterEntry {
            counter_id: bench.counter("arrivals"),
            index,
            data: None,
        }),
        Entity::MeterEntry(p4rt::MeterEntry {
            meter_id: bench.meter("policer"),
            index,
            ..Default::default()
        }),
        Entity::ValueSetEntry(p4rt::ValueSetEntry {
            value_set_id: bench.value_set(),
            members: vec![],
        }),
    ];
    for cell in cells {
        for kind in [Type::Insert, Type::Delete] {
            assert_eq!(
                controller.write_one(kind, cell.clone()).await,
                Err(Code::InvalidArgument),
                "{cell:?}"
            );
        }
    }
    let register = Entity::RegisterEntry(p4rt::RegisterEntry {
        register_id: bench.register("cells"),
        ..Default::default()
    });
    let found = controller.read_one(register).await.expect("all cells");
    let zero = Some(Data::Bitstring(vec![0]));
    let zeros = found.iter().filter(|cell| match cell {
        Entity::RegisterEntry(cell) => cell.data.as_ref().map(|data| data.data.clone()) == Some(zero.clone()),
        _ => false,
    });
    assert_eq!(zeros.count(), 8, "never written");
}

#[tokio::test]
async fn a_batch_is_applied_in_its_order_and_a_read_may_ask_for_several_kinds() {
    let (_server, mut controller, bench) = connected().await;
    let selector = bench.profile("paths_selector");
    let member = Entity::ActionProfileMember(p4rt::ActionProfileMember {
        action_profile_id: selector,
        member_id: 1,
        action: Some(bench.action("forward", &[&[2]])),
    });
    let group = Entity::ActionProfileGroup(p4rt::ActionProfileGroup {
        action_profile_id: selector,
        group_id: 1,
        members: vec![p4rt::action_profile_group::Member {
            member_id: 1,
            weight: 1,
            watch_kind: None,
        }],
        max_size: 0,
    });
    let path = Entity::TableEntry(p4rt::TableEntry {
        table_id: bench.table("paths"),
        r#match: vec![exact(1, &[9])],
        action: Some(p4rt::TableAction {
            r#type: Some(ActionKind::ActionProfileGroupId(1)),
        }),
        ..Default::default()
    });
    let in_order = [member.clone(), group.clone(), path.clone()];
    let updates = in_order.clone().map(|entity| update(Type::Insert, entity));
    controller
        .write(updates.to_vec())
        .await
        .expect("each needs the one before");
    let (found, result) = controller.read(in_order.iter().rev().cloned().collect()).await;
    assert!(result.is_ok());
    assert_eq!(found, [path, group, member]);
    let backwards = in_order.map(|entity| update(Type::Delete, entity));
    let status = controller
        .write(backwards.to_vec())
        .await
        .expect_err("the first two are used");
    let used = Code::FailedPrecondition as i32;
    assert_eq!(crate::server::error_codes(&status), [used, used, 0]);
}

#[tokio::test]
async fn messages_of_no_known_kind_are_answered_with_an_error() {
    let (_server, mut controller, _) = connected().await;
    let other = prost_types::Any {
        type_url: "type.googleapis.com/what.ever".to_owned(),
        value: vec![1, 2, 3],
    };
    controller.send(Update::Other(other.clone())).await;
    let Ok(Response::Error(error)) = controller.next().await else {
        panic!("an error is reported")
    };
    let details = p4rt::stream_error::Details::Other(p4rt::StreamOtherError { other: Some(other) });
    assert_eq!(
        (error.canonical_code, error.details),
        (Code::Unimplemented as i32, Some(details))
    );
}

const PLAIN: &str = r#"
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst_addr; bit<48> src_addr; bit<16> ether_type; }
struct headers_t { ethernet_t ethernet; }
struct metadata_t { }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.ethernet); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action forward(bit<9> port) { standard_metadata.egress_spec = port; }
    table hosts {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { forward; NoAction; }
        default_action = NoAction();
    }
    apply { hosts.apply(); }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

#[tokio::test]
async fn packet_outs_pass_the_tables_and_keep_their_order() {
    let server = start().await;
    let program = compiled("plain.p4", PLAIN);
    let info = program.p4info.clone().expect("P4Info");
    let mut bench = Bench::empty();
    bench.info = info;
    let mut controller = Controller::with_program(&server, program).await;
    let port = CPU_PORT.to_be_bytes();
    let back = Entity::TableEntry(bench.entry("hosts", vec![exact(1, &[9])], 0, "forward", &[&port]));
    assert_eq!(controller.write_one(Type::Insert, back).await, Ok(()));
    for source in 0..10 {
        let payload = frame(9, source, 0x1234);
        controller
            .send(Update::Packet(p4rt::PacketOut {
                payload,
                metadata: vec![],
            }))
            .await;
    }
    for source in 0..10 {
        let Ok(Response::Packet(packet)) = controller.next().await else {
            panic!("it comes back")
        };
        assert_eq!(packet.payload, frame(9, source, 0x1234));
    }
}

/// One task changes all entries in batches while another one reads them all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_never_sees_half_of_an_atomic_batch() {
    let (server, mut writer, bench) = connected().await;
    let mut reader = Controller::connect(&server, 0).await;
    let batch = |kind, port| -> Vec<p4rt::Update> {
        let entries = (1..=16).map(|address| Entity::TableEntry(bench.host(address, port)));
        entries.map(|entity| update(kind, entity)).collect()
    };
    writer.write(batch(Type::Insert, 1)).await.expect("there is room");
    let done = Arc::new(AtomicBool::new(false));
    let (hosts, ended) = (all_of(&bench, "hosts"), Arc::clone(&done));
    let reading = tokio::spawn(async move {
        let mut reads = 0;
        while !ended.load(Ordering::Relaxed) {
            let found = reader.read_one(hosts.clone()).await.expect("the table is known");
            let actions: Vec<_> = found.iter().map(action_of).collect();
            assert_eq!(actions.len(), 16);
            assert!(actions.windows(2).all(|pair| pair[0] == pair[1]), "{actions:?}");
            reads += 1;
        }
        reads
    });
    for round in 0..50 {
        let request = p4rt::WriteRequest {
            device_id: 1,
            election_id: Some(writer.election_id),
            updates: batch(Type::Modify, 1 + round % 3),
            atomicity: Atomicity::DataplaneAtomic.into(),
            ..Default::default()
        };
        writer.client.write(request).await.expect("the entries exist");
    }
    done.store(true, Ordering::Relaxed);
    assert!(reading.await.expect("every read was whole") > 0);
}

fn action_of(entity: &Entity) -> Option<p4rt::TableAction> {
    match entity {
        Entity::TableEntry(entry) => entry.action.clone(),
        _ => None,
    }
}

#[tokio::test]
async fn externs_of_other_architectures_are_refused() {
    let (_server, mut controller, _) = connected().await;
    let of_none = Entity::ExternEntry(p4rt::ExternEntry {
        extern_type_id: 0x8100_0001,
        extern_id: 1,
        entry: None,
    });
    for kind in [Type::Insert, Type::Modify, Type::Delete] {
        let written = controller.write_one(kind, of_none.clone()).await;
        assert_eq!(written, Err(Code::Unimplemented));
    }
    assert_eq!(controller.read_one(of_none).await, Err(Code::Unimplemented));
    let all = Entity::ExternEntry(p4rt::ExternEntry::default());
    assert_eq!(controller.read_one(all).await, Ok(vec![]), "there are none");
}
