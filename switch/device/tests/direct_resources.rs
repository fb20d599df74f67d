//! Direct counters, direct meters and idle timeouts (specification, section "Direct Resources").

use crate::fixture::{Bench, code, exact, frame, optional};
use p4sched_device::Code;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

#[test]
fn direct_counters_are_set_and_read_by_themselves() {
    let mut bench = Bench::new();
    bench.insert(Entity::TableEntry(bench.host(2, 3)));
    let key = p4rt::TableEntry {
        action: None,
        ..bench.host(2, 3)
    };
    let data = Some(p4rt::CounterData {
        packet_count: 5,
        byte_count: 500,
    });
    let entry = p4rt::DirectCounterEntry {
        table_entry: Some(key.clone()),
        data,
    };
    bench
        .write(Type::Modify, Entity::DirectCounterEntry(entry.clone()))
        .expect("the entry exists");
    bench.receive(1, &frame(2, 1, 0));
    let counted = p4rt::DirectCounterEntry {
        data: Some(p4rt::CounterData {
            packet_count: 6,
            byte_count: 560,
        }),
        ..entry.clone()
    };
    let one = p4rt::DirectCounterEntry {
        data: None,
        ..entry.clone()
    };
    assert_eq!(
        bench.read(Entity::DirectCounterEntry(one)),
        Ok(vec![Entity::DirectCounterEntry(counted.clone())])
    );
    let table = p4rt::TableEntry {
        table_id: bench.table("hosts"),
        ..Default::default()
    };
    let whole_table = p4rt::DirectCounterEntry {
        table_entry: Some(table),
        data: None,
    };
    assert_eq!(
        bench.read(Entity::DirectCounterEntry(whole_table)),
        Ok(vec![Entity::DirectCounterEntry(counted)])
    );

    assert_eq!(
        code(bench.write(Type::Insert, Entity::DirectCounterEntry(entry))),
        Err(Code::InvalidArgument)
    );
    let of = |entry| {
        Entity::DirectCounterEntry(p4rt::DirectCounterEntry {
            table_entry: entry,
            data: None,
        })
    };
    let missing = p4rt::TableEntry {
        action: None,
        ..bench.host(9, 3)
    };
    let without = p4rt::TableEntry {
        table_id: bench.table("routes"),
        ..Default::default()
    };
    assert_eq!(code(bench.read(of(Some(missing)))), Err(Code::NotFound));
    assert_eq!(code(bench.read(of(Some(without)))), Err(Code::InvalidArgument));
    assert_eq!(code(bench.read(of(None))), Err(Code::InvalidArgument));
}

#[test]
fn direct_meters_are_configured_with_their_entry_or_by_themselves() {
    let mut bench = Bench::new();
    let config = p4rt::MeterConfig {
        cir: 10,
        cburst: 20,
        pir: 30,
        pburst: 40,
        eburst: 0,
    };
    let plain = bench.entry("acl", vec![optional(3, &[17])], 1, "permit", &[]);
    bench.insert(Entity::TableEntry(p4rt::TableEntry {
        meter_config: Some(config),
        ..plain.clone()
    }));
    let key = p4rt::TableEntry {
        action: None,
        ..plain.clone()
    };
    let read = |bench: &mut Bench| match bench
        .read(Entity::DirectMeterEntry(p4rt::DirectMeterEntry {
            table_entry: Some(key.clone()),
            ..Default::default()
        }))
        .expect("the entry exists")
        .as_slice()
    {
        [Entity::DirectMeterEntry(entry)] => entry.config,
        other => panic!("one meter, not {other:?}"),
    };
    assert_eq!(read(&mut bench), Some(config));
    bench
        .write(Type::Modify, Entity::TableEntry(plain))
        .expect("the entry exists");
    assert_eq!(read(&mut bench), None, "a MODIFY without a meter resets it");
    let entry = p4rt::DirectMeterEntry {
        table_entry: Some(key.clone()),
        config: Some(config),
        counter_data: None,
    };
    bench
        .write(Type::Modify, Entity::DirectMeterEntry(entry))
        .expect("the entry exists");
    assert_eq!(read(&mut bench), Some(config));
    let contradiction = p4rt::MeterConfig { pir: 1, ..config };
    for (kind, proto) in [(Type::Insert, 17 + 1), (Type::Modify, 17)] {
        let plain = bench.entry("acl", vec![optional(3, &[proto])], 1, "drop", &[]);
        let entry = p4rt::TableEntry {
            meter_config: Some(contradiction),
            ..plain
        };
        let written = code(bench.write(kind, Entity::TableEntry(entry)));
        assert_eq!(
            written,
            Err(Code::InvalidArgument),
            "{kind:?} with a peak rate below the committed one"
        );
    }
    assert_eq!(bench.entries("acl").len(), 1);
    assert_eq!(read(&mut bench), Some(config), "a refused MODIFY changes nothing");
    let two_rates_and_excess = p4rt::MeterConfig { eburst: 1, ..config };
    let entry = p4rt::DirectMeterEntry {
        table_entry: Some(key),
        config: Some(two_rates_and_excess),
        counter_data: None,
    };
    assert_eq!(
        code(bench.write(Type::Modify, Entity::DirectMeterEntry(entry))),
        Err(Code::InvalidArgument)
    );
}

#[test]
fn idle_entries_are_reported_once_per_timeout() {
    let mut bench = Bench::new();
    let timeout = 100_000_000;
    let entry = bench.entry("aging", vec![exact(1, &[1])], 0, "NoAction", &[]);
    bench.insert(Entity::TableEntry(p4rt::TableEntry {
        idle_timeout_ns: timeout,
        ..entry
    }));
    bench.receive(1, &frame(2, 1, 0));
    let hit = bench.now;
    let mut notices = Vec::new();
    while let Some(next) = bench.device.next_event().filter(|&next| next < hit + 260_000_000) {
        bench.device.advance(next, &mut bench.wires);
        if let Ok(fixture_notice) = bench.notified.try_recv() {
            notices.push((next - hit, fixture_notice));
        }
    }
    let times: Vec<u64> = notices.iter().map(|(after, _)| after / 50_000_000).collect();
    assert_eq!(
        times.len(),
        2,
        "after 100 and after 200 ms, within a scan of 50 ms: {times:?}"
    );
    let p4rt::stream_message_response::Update::IdleTimeoutNotification(notice) = &notices[0].1 else {
        panic!("not an idle notice: {notices:?}");
    };
    assert_eq!(notice.table_entry[0].r#match, [exact(1, &[1])]);
    assert_eq!(notice.table_entry[0].idle_timeout_ns, timeout);
}
