//! Updates, reads and packets with randomly changed bytes: the device accepts or refuses each one, and continues to
//! work.

use std::sync::LazyLock;

use crate::fixture::{Bench, exact, frame, ipv4, links, lpm, optional, range, ternary, update};
use p4sched_compiler::{EmbeddedIncludes, Input, Options, compile};
use p4sched_device::Program;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::action_profile_action::WatchKind;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::replica::PortKind;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;
use p4sched_proto::p4::v1::write_request::Atomicity;
use proptest::prelude::*;
use prost::Message as _;

fn counts() -> Option<p4rt::MeterCounterData> {
    Some(p4rt::MeterCounterData {
        green: Some(p4rt::CounterData::default()),
        ..Default::default()
    })
}

fn rates() -> Option<p4rt::MeterConfig> {
    Some(p4rt::MeterConfig {
        cir: 1,
        cburst: 2,
        pir: 3,
        pburst: 4,
        eburst: 0,
    })
}

fn copies(port: u8, backup: u8) -> Vec<p4rt::Replica> {
    vec![p4rt::Replica {
        port_kind: Some(PortKind::Port(vec![port])),
        instance: 1,
        backup_replicas: vec![p4rt::BackupReplica {
            port: vec![backup],
            instance: 2,
        }],
    }]
}

/// One entity of each kind, with every field that it can have.
fn entities(bench: &Bench) -> Vec<Entity> {
    let replication =
        |entry| Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry { r#type: Some(entry) });
    let index = Some(p4rt::Index { index: 3 });
    let acl = bench.entry(
        "acl",
        vec![ternary(1, &[10], &[0xff]), range(2, &[1], &[9]), optional(3, &[6])],
        7,
        "permit",
        &[],
    );
    let choice = p4rt::ActionProfileAction {
        action: Some(bench.action("forward", &[&[2]])),
        weight: 3,
        watch_kind: Some(WatchKind::WatchPort(vec![2])),
    };
    let set = p4rt::ActionProfileActionSet {
        action_profile_actions: vec![choice.clone(), choice],
        action_selection_mode: 2,
        size_semantics: 1,
    };
    let path = p4rt::TableEntry {
        action: Some(p4rt::TableAction {
            r#type: Some(ActionKind::ActionProfileActionSet(set)),
        }),
        ..bench.entry("paths", vec![exact(1, &[9])], 0, "drop", &[])
    };
    let selector = bench.profile("paths_selector");
    vec![
        Entity::TableEntry(bench.host(1, 2)),
        Entity::TableEntry(bench.entry("routes", vec![lpm(1, &[10, 0, 0, 0], 8)], 0, "forward", &[&[3]])),
        Entity::TableEntry(p4rt::TableEntry {
            counter_data: Some(p4rt::CounterData::default()),
            meter_config: rates(),
            meter_counter_data: counts(),
            ..acl.clone()
        }),
        Entity::TableEntry(p4rt::TableEntry {
            is_default_action: true,
            r#match: vec![],
            priority: 0,
            ..acl.clone()
        }),
        Entity::TableEntry(path),
        Entity::DirectCounterEntry(p4rt::DirectCounterEntry {
            table_entry: Some(acl.clone()),
            data: Some(p4rt::CounterData::default()),
        }),
        Entity::DirectMeterEntry(p4rt::DirectMeterEntry {
            table_entry: Some(acl),
            config: rates(),
            counter_data: counts(),
        }),
        Entity::MeterEntry(p4rt::MeterEntry {
            meter_id: bench.meter("policer"),
            index,
            config: rates(),
            counter_data: counts(),
        }),
        Entity::CounterEntry(p4rt::CounterEntry {
            counter_id: bench.counter("arrivals"),
            index,
            data: Some(p4rt::CounterData::default()),
        }),
        Entity::ActionProfileMember(p4rt::ActionProfileMember {
            action_profile_id: selector,
            member_id: 1,
            action: Some(bench.action("forward", &[&[2]])),
        }),
        Entity::ActionProfileGroup(p4rt::ActionProfileGroup {
            action_profile_id: selector,
            group_id: 1,
            members: vec![p4rt::action_profile_group::Member {
                member_id: 1,
                weight: 2,
                watch_kind: Some(p4rt::action_profile_group::member::WatchKind::WatchPort(vec![2])),
            }],
            max_size: 0,
        }),
        replication(Replication::MulticastGroupEntry(p4rt::MulticastGroupEntry {
            multicast_group_id: 1,
            replicas: copies(1, 2),
            ..Default::default()
        })),
        replication(Replication::CloneSessionEntry(p4rt::CloneSessionEntry {
            session_id: 1,
            replicas: copies(1, 2),
            ..Default::default()
        })),
        Entity::ValueSetEntry(p4rt::ValueSetEntry {
            value_set_id: bench.value_set(),
            members: vec![p4rt::ValueSetMember {
                r#match: vec![exact(1, &[0x12, 0x34])],
            }],
        }),
        Entity::DigestEntry(p4rt::DigestEntry {
            digest_id: bench.digest(),
            config: Some(p4rt::digest_entry::Config::default()),
        }),
    ]
}

/// Entities of a program with translated values.
fn named_entities(bench: &Bench) -> Vec<Entity> {
    let set = p4rt::ActionProfileActionSet {
        action_profile_actions: vec![p4rt::ActionProfileAction {
            action: Some(bench.action("forward", &[b"eth1"])),
            weight: 1,
            watch_kind: Some(WatchKind::WatchPort(b"eth1".to_vec())),
        }],
        ..Default::default()
    };
    let by_set = Some(p4rt::TableAction {
        r#type: Some(ActionKind::ActionProfileActionSet(set)),
    });
    let info = &bench.info;
    let first =
        |preamble: &Option<p4sched_proto::p4::config::v1::Preamble>| preamble.as_ref().map_or(0, |found| found.id);
    vec![
        Entity::TableEntry(bench.entry("vrfs", vec![exact(1, b"eth1")], 0, "set_vrf", &[b"red"])),
        Entity::TableEntry(bench.entry(
            "routes",
            vec![exact(1, b"red"), ternary(2, &[9], &[0xff]), optional(3, b"gold")],
            1,
            "forward",
            &[b"2"],
        )),
        Entity::TableEntry(p4rt::TableEntry {
            action: by_set,
            ..bench.entry("paths", vec![exact(1, b"blue")], 0, "NoAction", &[])
        }),
        Entity::RegisterEntry(p4rt::RegisterEntry {
            register_id: first(&info.registers[0].preamble),
            index: Some(p4rt::Index { index: 1 }),
            data: Some(p4rt::P4Data {
                data: Some(p4rt::p4_data::Data::Bitstring(b"red".to_vec())),
            }),
        }),
        Entity::ValueSetEntry(p4rt::ValueSetEntry {
            value_set_id: first(&info.value_sets[0].preamble),
            members: vec![p4rt::ValueSetMember {
                r#match: vec![exact(1, b"gold"), exact(2, &[0x12, 0x34])],
            }],
        }),
    ]
}

static TRANSLATED: LazyLock<p4rt::ForwardingPipelineConfig> = LazyLock::new(|| {
    let source = Input {
        name: "translated.p4",
        text: include_str!("../../p4runtime/tests/programs/translated.p4"),
    };
    let compiled = compile(&source, &EmbeddedIncludes, &Options::default()).unwrap_or_else(|errors| panic!("{errors}"));
    p4rt::ForwardingPipelineConfig {
        p4info: Some(compiled.p4info),
        p4_device_config: compiled.json.into_bytes(),
        cookie: None,
    }
});

fn translated() -> Bench {
    let config = TRANSLATED.clone();
    let mut bench = Bench::empty();
    bench.info = config.p4info.clone().expect("it has P4Info");
    let program = Program::new(config).unwrap_or_else(|fault| panic!("{}", fault.message));
    bench.device.commit(program).expect("the switch takes it");
    bench
}

/// A message of the list, and the changes to its bytes: positions with new values, and the number of bytes that are cut
/// off.
type Change = (prop::sample::Index, Vec<(prop::sample::Index, u8)>, usize, u8);

fn change() -> impl Strategy<Value = Change> {
    let byte = prop_oneof![Just(0), Just(1), Just(0x7f), Just(0x80), Just(0xff), any::<u8>()];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), byte), 0..4);
    (
        any::<prop::sample::Index>(),
        changes,
        prop_oneof![4 => Just(0), 1 => 0..20_usize],
        any::<u8>(),
    )
}

fn changed(originals: &[Entity], (which, changes, cut, kind): &Change) -> Option<p4rt::Update> {
    let kinds = [Type::Insert, Type::Modify, Type::Delete, Type::Insert];
    let original = update(kinds[usize::from(*kind) % 4], which.get(originals).clone());
    let mut bytes = original.encode_to_vec();
    for (place, byte) in changes {
        let place = place.index(bytes.len());
        bytes[place] = *byte;
    }
    bytes.truncate(bytes.len().saturating_sub(*cut));
    p4rt::Update::decode(bytes.as_slice()).ok()
}

fn survives(mut bench: Bench, originals: &[Entity], batches: &[(Vec<Change>, bool)]) {
    for (number, (batch, atomic)) in batches.iter().enumerate() {
        let updates: Vec<p4rt::Update> = batch.iter().filter_map(|change| changed(originals, change)).collect();
        bench.device.set_links(links(if number % 2 == 0 { &[2] } else { &[] }));
        let atomicity = if *atomic {
            Atomicity::RollbackOnError
        } else {
            Atomicity::ContinueOnError
        };
        let request = p4rt::WriteRequest {
            updates: updates.clone(),
            atomicity: atomicity.into(),
            ..Default::default()
        };
        let written = bench.device.write_request(&request, bench.now);
        assert_eq!(written.expect("a program is loaded").len(), updates.len());
        let filters: Vec<p4rt::Entity> = updates.into_iter().filter_map(|update| update.entity).collect();
        bench.device.read(&filters, bench.now).expect("a program is loaded");
        bench.receive(1, &ipv4(9, 5, 9, 6));
        bench.receive(2, &frame(1, 2, 0x1234));
    }
    for entity in originals {
        assert!(
            bench.read(entity.clone()).is_ok()
                || matches!(entity, Entity::DirectCounterEntry(_) | Entity::DirectMeterEntry(_))
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn changed_messages_are_done_or_refused(
        batches in prop::collection::vec((prop::collection::vec(change(), 1..6), any::<bool>()), 1..8)
    ) {
        let bench = Bench::new();
        let originals = entities(&bench);
        survives(bench, &originals, &batches);
    }

    #[test]
    fn changed_messages_with_names_are_done_or_refused(
        batches in prop::collection::vec((prop::collection::vec(change(), 1..6), any::<bool>()), 1..8)
    ) {
        let bench = translated();
        let originals = named_entities(&bench);
        survives(bench, &originals, &batches);
    }
}
