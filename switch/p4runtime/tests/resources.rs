//! Counts of colours, excess bursts, direct resources of default actions, and parser value sets with masks and ranges.

use crate::server::fixture::{Bench, config, frame, ipv4, lpm, optional, range, ternary, update};
use crate::server::{Controller, Server, compiled, start};
use p4sched_proto::p4::config::v1::meter_spec;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;
use p4sched_proto::p4::v1::write_request::Atomicity;
use tonic::Code;

async fn connected() -> (Server, Controller, Bench) {
    let server = start().await;
    let controller = Controller::with_program(&server, config()).await;
    (server, controller, Bench::empty())
}

fn rates(cir: i64, cburst: i64, pburst: i64, eburst: i64) -> Option<p4rt::MeterConfig> {
    Some(p4rt::MeterConfig {
        cir,
        cburst,
        pir: cir,
        pburst,
        eburst,
    })
}

/// Counts of 60-byte packets, by colour.
fn colours(green: i64, yellow: i64, red: i64) -> Option<p4rt::MeterCounterData> {
    let count = |packet_count: i64| {
        Some(p4rt::CounterData {
            packet_count,
            byte_count: 60 * packet_count,
        })
    };
    Some(p4rt::MeterCounterData {
        green: count(green),
        yellow: count(yellow),
        red: count(red),
    })
}

fn policer(bench: &Bench, config: Option<p4rt::MeterConfig>, counter_data: Option<p4rt::MeterCounterData>) -> Entity {
    Entity::MeterEntry(p4rt::MeterEntry {
        meter_id: bench.meter("policer"),
        index: Some(p4rt::Index { index: 1 }),
        config,
        counter_data,
    })
}

#[tokio::test]
async fn a_meter_counts_what_it_marks_until_it_is_cleared() {
    let (server, mut controller, bench) = connected().await;
    server.receive(1, frame(9, 8, 0));
    let asked = policer(&bench, None, Some(Default::default()));
    assert_eq!(
        controller.read_one(asked.clone()).await,
        Ok(vec![policer(&bench, None, colours(1, 0, 0))])
    );
    assert_eq!(
        controller.read_one(policer(&bench, None, None)).await,
        Ok(vec![policer(&bench, None, None)])
    );
    let slow = rates(1, 120, 180, 0);
    assert_eq!(
        controller.write_one(Type::Modify, policer(&bench, slow, None)).await,
        Ok(())
    );
    for _ in 0..4 {
        server.receive(1, frame(9, 8, 0));
    }
    let read = controller.read_one(asked.clone()).await;
    assert_eq!(
        read,
        Ok(vec![policer(&bench, slow, colours(3, 1, 1))]),
        "new rates keep the counts"
    );
    let wrong = policer(&bench, slow, colours(1, 0, 0));
    assert_eq!(
        controller.write_one(Type::Modify, wrong).await,
        Err(Code::InvalidArgument),
        "only 0 can be set"
    );
    let cleared = policer(&bench, slow, Some(Default::default()));
    assert_eq!(controller.write_one(Type::Modify, cleared).await, Ok(()));
    assert_eq!(
        controller.read_one(asked).await,
        Ok(vec![policer(&bench, slow, colours(0, 0, 0))])
    );
}

#[tokio::test]
async fn a_batch_that_is_taken_back_gives_the_meter_and_its_counts_of_colours_back() {
    let (server, mut controller, bench) = connected().await;
    server.receive(1, frame(9, 8, 0));
    let request = p4rt::WriteRequest {
        device_id: 1,
        election_id: Some(controller.election_id),
        updates: vec![
            update(
                Type::Modify,
                policer(&bench, rates(1, 2, 2, 0), Some(Default::default())),
            ),
            update(Type::Delete, Entity::TableEntry(bench.host(1, 1))),
        ],
        atomicity: Atomicity::DataplaneAtomic.into(),
        ..Default::default()
    };
    controller.client.write(request).await.expect_err("the second fails");
    let asked = policer(&bench, None, Some(Default::default()));
    assert_eq!(
        controller.read_one(asked).await,
        Ok(vec![policer(&bench, None, colours(1, 0, 0))])
    );
}

#[tokio::test]
async fn a_direct_meter_counts_colours_too() {
    let (server, mut controller, bench) = connected().await;
    let entry = bench.entry("acl", vec![optional(3, &[6])], 1, "permit", &[]);
    let limited = p4rt::TableEntry {
        meter_config: rates(1, 2, 2, 0),
        ..entry.clone()
    };
    let with = |counts| p4rt::TableEntry {
        meter_counter_data: counts,
        ..limited.clone()
    };
    let nonzero = Entity::TableEntry(with(colours(0, 0, 1)));
    assert_eq!(
        controller.write_one(Type::Insert, nonzero).await,
        Err(Code::InvalidArgument)
    );
    let inserted = Entity::TableEntry(with(Some(Default::default())));
    assert_eq!(controller.write_one(Type::Insert, inserted).await, Ok(()));
    for _ in 0..3 {
        server.receive(1, ipv4(9, 8, 0, 6));
    }
    let filter = Entity::TableEntry(p4rt::TableEntry {
        table_id: entry.table_id,
        meter_config: Some(Default::default()),
        meter_counter_data: Some(Default::default()),
        ..Default::default()
    });
    let read = |counts| Ok(vec![Entity::TableEntry(with(counts))]);
    assert_eq!(controller.read_one(filter.clone()).await, read(colours(2, 0, 1)));
    let direct = Entity::DirectMeterEntry(p4rt::DirectMeterEntry {
        table_entry: Some(p4rt::TableEntry {
            action: None,
            ..entry.clone()
        }),
        config: limited.meter_config,
        counter_data: Some(Default::default()),
    });
    let found = controller.read_one(direct.clone()).await.expect("the entry exists");
    let [Entity::DirectMeterEntry(found)] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(found.counter_data, colours(2, 0, 1));
    let unchanged = Entity::TableEntry(limited.clone());
    assert_eq!(controller.write_one(Type::Modify, unchanged).await, Ok(()));
    assert_eq!(
        controller.read_one(filter.clone()).await,
        read(colours(2, 0, 1)),
        "a MODIFY without counts keeps them"
    );
    assert_eq!(controller.write_one(Type::Modify, direct).await, Ok(()));
    assert_eq!(controller.read_one(filter).await, read(colours(0, 0, 0)));
    let without = p4rt::TableEntry {
        meter_counter_data: Some(Default::default()),
        ..bench.host(1, 1)
    };
    let written = controller.write_one(Type::Insert, Entity::TableEntry(without)).await;
    assert_eq!(written, Err(Code::InvalidArgument), "hosts has no direct meter");
}

#[tokio::test]
async fn a_meter_of_one_rate_and_three_colours_has_an_excess_burst() {
    let server = start().await;
    let bench = Bench::empty();
    let mut program = config();
    let meters = program.p4info.iter_mut().flat_map(|info| &mut info.meters);
    for meter in meters {
        meter
            .spec
            .get_or_insert_default()
            .set_type(meter_spec::Type::SingleRateThreeColor);
    }
    let mut controller = Controller::with_program(&server, program).await;
    let two_rates = policer(&bench, rates(1, 120, 180, 0), None);
    assert_eq!(
        controller.write_one(Type::Modify, two_rates).await,
        Err(Code::InvalidArgument)
    );
    let with_excess = rates(1, 120, 120, 60);
    assert_eq!(
        controller
            .write_one(Type::Modify, policer(&bench, with_excess, None))
            .await,
        Ok(())
    );
    for _ in 0..4 {
        server.receive(1, frame(9, 8, 0));
    }
    let asked = policer(&bench, None, Some(Default::default()));
    let read = controller.read_one(asked).await;
    assert_eq!(read, Ok(vec![policer(&bench, with_excess, colours(2, 1, 1))]));
}

#[tokio::test]
async fn a_default_action_has_a_direct_counter_and_a_direct_meter() {
    let (server, mut controller, bench) = connected().await;
    let of_acl = p4rt::TableEntry {
        table_id: bench.table("acl"),
        is_default_action: true,
        ..Default::default()
    };
    let limited = p4rt::TableEntry {
        meter_config: rates(1, 1, 1, 0),
        ..of_acl.clone()
    };
    let modified = controller.write_one(Type::Modify, Entity::TableEntry(limited)).await;
    assert_eq!(modified, Ok(()), "a const default action has a meter as well");
    for _ in 0..2 {
        server.receive(1, ipv4(9, 8, 0, 6));
    }
    let asked = Entity::TableEntry(p4rt::TableEntry {
        counter_data: Some(Default::default()),
        meter_config: Some(Default::default()),
        meter_counter_data: Some(Default::default()),
        ..of_acl.clone()
    });
    let found = controller.read_one(asked).await.expect("the table is known");
    let [Entity::TableEntry(found)] = found.as_slice() else {
        panic!("{found:?}")
    };
    let twice = Some(p4rt::CounterData {
        packet_count: 2,
        byte_count: 120,
    });
    assert_eq!((found.counter_data, found.meter_config), (twice, rates(1, 1, 1, 0)));
    assert_eq!(found.meter_counter_data, colours(1, 0, 1));
    let counter = |data| {
        Entity::DirectCounterEntry(p4rt::DirectCounterEntry {
            table_entry: Some(of_acl.clone()),
            data,
        })
    };
    assert_eq!(controller.read_one(counter(None)).await, Ok(vec![counter(twice)]));
    let fresh = Some(p4rt::CounterData::default());
    assert_eq!(controller.write_one(Type::Modify, counter(fresh)).await, Ok(()));
    assert_eq!(controller.read_one(counter(None)).await, Ok(vec![counter(fresh)]));
    let meter = |config| {
        Entity::DirectMeterEntry(p4rt::DirectMeterEntry {
            table_entry: Some(of_acl.clone()),
            config,
            counter_data: None,
        })
    };
    assert_eq!(controller.write_one(Type::Modify, meter(None)).await, Ok(()));
    assert_eq!(controller.read_one(meter(None)).await, Ok(vec![meter(None)]));
    let with_match = p4rt::TableEntry {
        r#match: vec![optional(3, &[6])],
        ..of_acl.clone()
    };
    let entry = Entity::DirectCounterEntry(p4rt::DirectCounterEntry {
        table_entry: Some(with_match),
        data: fresh,
    });
    assert_eq!(
        controller.write_one(Type::Modify, entry).await,
        Err(Code::InvalidArgument)
    );
}

#[tokio::test]
async fn reconciliation_keeps_the_resources_of_default_actions() {
    let (server, mut controller, bench) = connected().await;
    server.receive(1, frame(9, 8, 0));
    let kept = controller
        .set_pipeline(
            p4rt::set_forwarding_pipeline_config_request::Action::ReconcileAndCommit,
            Some(config()),
        )
        .await;
    kept.expect("the same program");
    let asked = Entity::DirectCounterEntry(p4rt::DirectCounterEntry {
        table_entry: Some(p4rt::TableEntry {
            table_id: bench.table("hosts"),
            is_default_action: true,
            ..Default::default()
        }),
        data: None,
    });
    let found = controller.read_one(asked).await.expect("the table is known");
    let [Entity::DirectCounterEntry(found)] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(found.data.map(|count| count.packet_count), Some(1));
}

#[tokio::test]
async fn reconciliation_keeps_the_counts_of_colours() {
    let (server, mut controller, bench) = connected().await;
    let entry = p4rt::TableEntry {
        meter_config: rates(1, 2, 2, 0),
        ..bench.entry("acl", vec![optional(3, &[6])], 1, "permit", &[])
    };
    let default = p4rt::TableEntry {
        table_id: entry.table_id,
        is_default_action: true,
        ..Default::default()
    };
    let of_default = p4rt::TableEntry {
        meter_config: rates(1, 2, 2, 0),
        ..default.clone()
    };
    for (kind, entry) in [(Type::Insert, &entry), (Type::Modify, &of_default)] {
        let entity = Entity::TableEntry(entry.clone());
        assert_eq!(controller.write_one(kind, entity).await, Ok(()));
    }
    for _ in 0..3 {
        server.receive(1, ipv4(9, 8, 0, 6));
    }
    server.receive(1, ipv4(9, 8, 0, 7));
    let direct = |of: p4rt::TableEntry| {
        Entity::DirectMeterEntry(p4rt::DirectMeterEntry {
            table_entry: Some(of),
            counter_data: Some(Default::default()),
            ..Default::default()
        })
    };
    let asked = [
        policer(&bench, None, Some(Default::default())),
        direct(entry),
        direct(default),
    ];
    let mut before = Vec::new();
    for filter in &asked {
        before.push(controller.read_one(filter.clone()).await.expect("they are known"));
    }
    let counts = before.iter().flatten().map(|entity| match entity {
        Entity::MeterEntry(entry) => entry.counter_data,
        Entity::DirectMeterEntry(entry) => entry.counter_data,
        other => panic!("{other:?}"),
    });
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [colours(4, 0, 0), colours(2, 0, 1), colours(1, 0, 0)]
    );
    let action = p4rt::set_forwarding_pipeline_config_request::Action::ReconcileAndCommit;
    controller
        .set_pipeline(action, Some(config()))
        .await
        .expect("the same program");
    for (filter, before) in asked.iter().zip(before) {
        assert_eq!(controller.read_one(filter.clone()).await, Ok(before));
    }
}

#[tokio::test]
async fn default_actions_and_tables_without_timeouts_have_no_idle_time() {
    let (_server, mut controller, bench) = connected().await;
    let elapsed = Some(p4rt::table_entry::IdleTimeout::default());
    let of = |table: &str, is_default_action| {
        Entity::TableEntry(p4rt::TableEntry {
            table_id: bench.table(table),
            is_default_action,
            time_since_last_hit: elapsed,
            ..Default::default()
        })
    };
    assert_eq!(controller.read_one(of("aging", false)).await, Ok(vec![]));
    assert_eq!(controller.read_one(of("aging", true)).await, Err(Code::InvalidArgument));
    assert_eq!(
        controller.read_one(of("hosts", false)).await,
        Err(Code::InvalidArgument)
    );
    let default = p4rt::TableEntry {
        is_default_action: true,
        idle_timeout_ns: 1,
        ..bench.entry("parameters", vec![], 0, "set_user", &[&[1]])
    };
    assert_eq!(
        controller.write_one(Type::Modify, Entity::TableEntry(default)).await,
        Err(Code::InvalidArgument)
    );
}

const SETS: &str = r#"
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst_addr; bit<48> src_addr; bit<16> ether_type; }
struct headers_t { ethernet_t ethernet; }
struct metadata_t { bit<1> special; }
struct kind_t {
    @match(lpm)      bit<48> dst_addr;
    @match(ternary)  bit<48> src_addr;
    @match(range)    bit<16> ether_type;
    @match(optional) bit<9>  port;
}
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    value_set<kind_t>(4) kinds;
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.dst_addr, hdr.ethernet.src_addr, hdr.ethernet.ether_type,
                          standard_metadata.ingress_port) {
            kinds: special;
            default: accept;
        }
    }
    state special { meta.special = 1; transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { standard_metadata.egress_spec = 2 + (bit<9>) meta.special; }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

#[tokio::test]
async fn a_parser_value_set_matches_prefixes_masks_ranges_and_anything() {
    let server = start().await;
    let program = compiled("sets.p4", SETS);
    let info = program.p4info.as_ref().expect("P4Info");
    let id = info.value_sets[0].preamble.as_ref().expect("a preamble").id;
    let mut controller = Controller::with_program(&server, program).await;
    let set = |members: Vec<Vec<p4rt::FieldMatch>>| {
        let members = members
            .into_iter()
            .map(|fields| p4rt::ValueSetMember { r#match: fields });
        Entity::ValueSetEntry(p4rt::ValueSetEntry {
            value_set_id: id,
            members: members.collect(),
        })
    };
    let members = vec![
        vec![range(3, &[0x10, 0x05], &[0x20, 0x01]), optional(4, &[1])],
        vec![lpm(1, &[4], 46), ternary(2, &[0x80], &[0x81])],
    ];
    assert_eq!(controller.write_one(Type::Modify, set(members.clone())).await, Ok(()));
    assert_eq!(controller.read_one(set(vec![])).await, Ok(vec![set(members.clone())]));
    let special = |port, destination, source, ether_type| {
        let sent = server.receive(port, frame(destination, source, ether_type));
        sent[0].0 == 3
    };
    let by_range = [0x1004, 0x1005, 0x1006, 0x1fff, 0x2000, 0x2001, 0x2002].map(|kind| special(1, 9, 0, kind));
    assert_eq!(by_range, [false, true, true, true, true, true, false]);
    assert!(!special(2, 9, 0, 0x1005), "another port");
    let by_prefix = [3, 4, 5, 7, 8].map(|destination| special(2, destination, 0xf2, 0));
    assert_eq!(by_prefix, [false, true, true, true, false]);
    assert!(!special(2, 4, 0xf3, 0), "a bit that the mask wants to be 0");
    let twice = set(vec![members[0].clone(), members[0].clone()]);
    assert_eq!(
        controller.write_one(Type::Modify, twice).await,
        Err(Code::AlreadyExists)
    );
    let backwards = set(vec![vec![range(3, &[2], &[1])]]);
    assert_eq!(
        controller.write_one(Type::Modify, backwards).await,
        Err(Code::InvalidArgument)
    );
    let anything = set(vec![vec![]]);
    assert_eq!(controller.write_one(Type::Modify, anything).await, Ok(()));
    assert!(special(2, 200, 200, 0xffff));
    assert_eq!(controller.write_one(Type::Modify, set(vec![])).await, Ok(()));
    assert!(!special(1, 9, 0, 0x1005), "an empty set");
}
