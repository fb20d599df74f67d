//! Table entries and default actions (P4Runtime specification, section "TableEntry").

use crate::fixture::{Bench, code, exact, frame, ipv4, lpm, optional, range, ternary};
use p4sched_device::Code;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;

fn default_of(bench: &mut Bench, table: &str) -> p4rt::TableEntry {
    let filter = p4rt::TableEntry {
        table_id: bench.table(table),
        is_default_action: true,
        ..Default::default()
    };
    match bench
        .read(Entity::TableEntry(filter))
        .expect("a default action can be read")
        .as_slice()
    {
        [Entity::TableEntry(entry)] => entry.clone(),
        other => panic!("one default action per table, not {other:?}"),
    }
}

fn set_default(bench: &mut Bench, table: &str, action: Option<p4rt::Action>) -> Result<(), Code> {
    let entry = p4rt::TableEntry {
        table_id: bench.table(table),
        is_default_action: true,
        action: action.map(|action| p4rt::TableAction {
            r#type: Some(ActionKind::Action(action)),
        }),
        ..Default::default()
    };
    code(bench.write(Type::Modify, Entity::TableEntry(entry)))
}

#[test]
fn an_entry_forwards_counts_and_reads_back_canonically() {
    let mut bench = Bench::new();
    let mut entry = bench.host(2, 3);
    entry.metadata = b"cookie".to_vec();
    let mut padded = entry.clone();
    padded.r#match = vec![exact(1, &[0, 0, 0, 0, 0, 0, 2])];
    bench.insert(Entity::TableEntry(padded));
    let sent = bench.receive(1, &frame(2, 1, 0x1234));
    assert_eq!(sent, [(3, frame(2, 1, 0x1234))]);
    let counted = p4rt::CounterData {
        packet_count: 1,
        byte_count: 60,
    };
    assert_eq!(
        bench.entries("hosts"),
        [p4rt::TableEntry {
            counter_data: Some(counted),
            ..entry
        }]
    );
}

#[test]
fn modify_and_delete_change_what_happens_to_the_next_packet() {
    let mut bench = Bench::new();
    bench.insert(Entity::TableEntry(bench.host(2, 3)));
    bench
        .write(Type::Modify, Entity::TableEntry(bench.host(2, 1)))
        .expect("the entry exists");
    assert_eq!(bench.receive(1, &frame(2, 1, 0))[0].0, 1);
    let key_only = p4rt::TableEntry {
        action: None,
        metadata: b"nonsense".to_vec(),
        ..bench.host(2, 1)
    };
    bench
        .write(Type::Delete, Entity::TableEntry(key_only))
        .expect("only the key counts");
    assert!(bench.entries("hosts").is_empty());
    assert_eq!(
        code(bench.write(Type::Delete, Entity::TableEntry(bench.host(2, 1)))),
        Err(Code::NotFound)
    );
    assert_eq!(
        code(bench.write(Type::Modify, Entity::TableEntry(bench.host(2, 1)))),
        Err(Code::NotFound)
    );
}

#[test]
fn a_modify_without_action_keeps_the_action() {
    let mut bench = Bench::new();
    bench.insert(Entity::TableEntry(bench.host(2, 3)));
    let count = p4rt::CounterData {
        packet_count: 7,
        byte_count: 70,
    };
    let change = p4rt::TableEntry {
        action: None,
        counter_data: Some(count),
        ..bench.host(2, 3)
    };
    bench
        .write(Type::Modify, Entity::TableEntry(change))
        .expect("the entry exists");
    assert_eq!(
        bench.entries("hosts"),
        [p4rt::TableEntry {
            counter_data: Some(count),
            ..bench.host(2, 3)
        }]
    );
}

#[test]
fn wrong_entries_are_refused_with_the_codes_of_the_specification() {
    let mut bench = Bench::new();
    bench.insert(Entity::TableEntry(bench.host(2, 3)));
    let host =
        |bench: &Bench, action: &str, params: &[&[u8]]| bench.entry("hosts", vec![exact(1, &[9])], 0, action, params);
    let cases = [
        ("the same key again", bench.host(2, 1), Code::AlreadyExists),
        (
            "no action",
            p4rt::TableEntry {
                action: None,
                ..bench.host(9, 1)
            },
            Code::InvalidArgument,
        ),
        (
            "is_const",
            p4rt::TableEntry {
                is_const: true,
                ..bench.host(9, 1)
            },
            Code::InvalidArgument,
        ),
        (
            "a priority without need",
            p4rt::TableEntry {
                priority: 1,
                ..bench.host(9, 1)
            },
            Code::InvalidArgument,
        ),
        (
            "an unknown table",
            p4rt::TableEntry {
                table_id: 0x0200_0001,
                ..bench.host(9, 1)
            },
            Code::InvalidArgument,
        ),
        (
            "another table's action",
            host(&bench, "set_user", &[&[1]]),
            Code::InvalidArgument,
        ),
        (
            "a default-only action",
            host(&bench, "learn", &[]),
            Code::PermissionDenied,
        ),
        (
            "a missing parameter",
            host(&bench, "forward", &[]),
            Code::InvalidArgument,
        ),
        (
            "a parameter too many",
            host(&bench, "forward", &[&[1], &[1]]),
            Code::InvalidArgument,
        ),
        (
            "a parameter too wide",
            host(&bench, "forward", &[&[2, 0]]),
            Code::OutOfRange,
        ),
        ("an empty parameter", host(&bench, "forward", &[&[]]), Code::OutOfRange),
        (
            "a key too wide",
            bench.entry("hosts", vec![exact(1, &[1; 7])], 0, "drop", &[]),
            Code::OutOfRange,
        ),
        (
            "no key",
            bench.entry("hosts", vec![], 0, "drop", &[]),
            Code::InvalidArgument,
        ),
        (
            "a key for a keyless table",
            bench.entry("parameters", vec![], 0, "set_user", &[&[1]]),
            Code::InvalidArgument,
        ),
        (
            "ternary without priority",
            bench.entry("acl", vec![], 0, "drop", &[]),
            Code::InvalidArgument,
        ),
        (
            "a negative priority",
            bench.entry("acl", vec![], -1, "drop", &[]),
            Code::InvalidArgument,
        ),
        (
            "a timeout without support",
            p4rt::TableEntry {
                idle_timeout_ns: 1,
                ..bench.host(9, 1)
            },
            Code::InvalidArgument,
        ),
        (
            "a time since the last hit",
            p4rt::TableEntry {
                time_since_last_hit: Some(p4rt::table_entry::IdleTimeout::default()),
                ..bench.host(9, 1)
            },
            Code::InvalidArgument,
        ),
        (
            "an action instead of a member",
            bench.entry("paths", vec![exact(1, &[1])], 0, "drop", &[]),
            Code::InvalidArgument,
        ),
    ];
    for (what, entry, expected) in cases {
        assert_eq!(
            code(bench.write(Type::Insert, Entity::TableEntry(entry))),
            Err(expected),
            "{what}"
        );
    }
    let member = p4rt::TableAction {
        r#type: Some(ActionKind::ActionProfileMemberId(1)),
    };
    let with_member = p4rt::TableEntry {
        action: Some(member),
        ..bench.host(9, 1)
    };
    assert_eq!(
        code(bench.write(Type::Insert, Entity::TableEntry(with_member))),
        Err(Code::InvalidArgument)
    );
    let without_counter = p4rt::TableEntry {
        counter_data: Some(p4rt::CounterData::default()),
        ..bench.entry("routes", vec![lpm(1, &[10, 0, 0, 0], 8)], 0, "drop", &[])
    };
    assert_eq!(
        code(bench.write(Type::Insert, Entity::TableEntry(without_counter))),
        Err(Code::InvalidArgument)
    );
    assert_eq!(bench.entries("hosts").len(), 1, "nothing of this was inserted");
    assert_eq!(
        code(bench.write(Type::Unspecified, Entity::TableEntry(bench.host(9, 1)))),
        Err(Code::InvalidArgument)
    );
}

#[test]
fn a_full_table_is_exhausted() {
    let mut bench = Bench::new();
    for address in 0..16 {
        bench.insert(Entity::TableEntry(bench.host(address, 1)));
    }
    assert_eq!(
        code(bench.write(Type::Insert, Entity::TableEntry(bench.host(16, 1)))),
        Err(Code::ResourceExhausted)
    );
}

#[test]
fn the_higher_priority_wins() {
    let mut bench = Bench::new();
    bench.insert(Entity::TableEntry(bench.host(2, 3)));
    let all = bench.entry(
        "acl",
        vec![ternary(1, &[10, 0, 0, 0], &[255, 0, 0, 0])],
        5,
        "permit",
        &[],
    );
    let udp = bench.entry("acl", vec![range(2, &[40], &[50]), optional(3, &[17])], 10, "drop", &[]);
    bench.insert(Entity::TableEntry(all.clone()));
    bench.insert(Entity::TableEntry(udp.clone()));
    assert!(bench.receive(1, &ipv4(2, 1, 0, 17)).is_empty(), "UDP is dropped");
    assert_eq!(bench.receive(1, &ipv4(2, 1, 0, 6)).len(), 1, "TCP is permitted");
    let with_count = |entry: &p4rt::TableEntry| {
        let count = p4rt::CounterData {
            packet_count: 1,
            byte_count: 60,
        };
        p4rt::TableEntry {
            counter_data: Some(count),
            ..entry.clone()
        }
    };
    assert_eq!(bench.entries("acl"), [with_count(&all), with_count(&udp)]);
}

#[test]
fn reads_filter_by_key_priority_action_and_metadata() {
    let mut bench = Bench::new();
    for (address, cookie) in [(1, "a"), (2, "b"), (3, "b")] {
        let entry = p4rt::TableEntry {
            metadata: cookie.into(),
            ..bench.host(address, 1)
        };
        bench.insert(Entity::TableEntry(entry));
    }
    bench.insert(Entity::TableEntry(bench.entry(
        "hosts",
        vec![exact(1, &[4])],
        0,
        "drop",
        &[],
    )));
    let all = p4rt::TableEntry {
        table_id: bench.table("hosts"),
        ..Default::default()
    };
    let drop = bench.entry("hosts", vec![], 0, "drop", &[]);
    let cases = [
        ("all", all.clone(), 4),
        (
            "metadata",
            p4rt::TableEntry {
                metadata: b"b".to_vec(),
                ..all.clone()
            },
            2,
        ),
        ("action", drop, 1),
        (
            "key",
            p4rt::TableEntry {
                r#match: vec![exact(1, &[2])],
                ..all.clone()
            },
            1,
        ),
        (
            "key of no entry",
            p4rt::TableEntry {
                r#match: vec![exact(1, &[9])],
                ..all
            },
            0,
        ),
        ("all tables", p4rt::TableEntry::default(), 4 + 2),
    ];
    for (what, filter, expected) in cases {
        let found = bench.read(Entity::TableEntry(filter)).expect("the filter is valid");
        assert_eq!(found.len(), expected, "{what}");
    }
}

#[test]
fn default_actions_are_modified_and_reset() {
    let mut bench = Bench::new();
    let initial = default_of(&mut bench, "parameters");
    let set = |bench: &Bench, user: u8| Some(bench.action("set_user", &[&[user]]));
    let nine = set(&bench, 9);
    assert_eq!(set_default(&mut bench, "parameters", nine), Ok(()));
    let changed = default_of(&mut bench, "parameters");
    let expected = ActionKind::Action(bench.action("set_user", &[&[9]]));
    assert_eq!(changed.action, Some(p4rt::TableAction { r#type: Some(expected) }));
    assert_eq!(set_default(&mut bench, "parameters", None), Ok(()));
    assert_eq!(default_of(&mut bench, "parameters"), initial);
}

#[test]
fn default_actions_are_protected() {
    let mut bench = Bench::new();
    let drop = Some(bench.action("drop", &[]));
    let mirror = Some(bench.action("mirror", &[&[1]]));
    assert_eq!(
        set_default(&mut bench, "acl", drop.clone()),
        Err(Code::PermissionDenied),
        "const default"
    );
    assert_eq!(
        set_default(&mut bench, "hosts", mirror),
        Err(Code::PermissionDenied),
        "table-only action"
    );
    assert_eq!(
        set_default(&mut bench, "paths", drop),
        Err(Code::PermissionDenied),
        "indirect table"
    );
    let default = p4rt::TableEntry {
        is_default_action: true,
        r#match: vec![],
        ..bench.host(1, 1)
    };
    for kind in [Type::Insert, Type::Delete] {
        assert_eq!(
            code(bench.write(kind, Entity::TableEntry(default.clone()))),
            Err(Code::InvalidArgument),
            "{kind:?}"
        );
    }
    let with_key = p4rt::TableEntry {
        is_default_action: true,
        ..bench.host(1, 1)
    };
    assert_eq!(
        code(bench.write(Type::Modify, Entity::TableEntry(with_key))),
        Err(Code::InvalidArgument)
    );
}

#[test]
fn const_entries_are_read_and_never_written() {
    let mut bench = Bench::new();
    let entries = bench.entries("fixed_users");
    assert_eq!(entries.len(), 2);
    assert!(entries.iter().all(|entry| entry.is_const));
    let first = bench.entry("fixed_users", vec![exact(1, &[6])], 0, "set_user", &[&[2, 88]]);
    assert_eq!(
        entries[0],
        p4rt::TableEntry {
            is_const: true,
            ..first.clone()
        }
    );
    let other = bench.entry("fixed_users", vec![exact(1, &[1])], 0, "set_user", &[&[1]]);
    assert_eq!(
        code(bench.write(Type::Insert, Entity::TableEntry(other))),
        Err(Code::PermissionDenied)
    );
    assert_eq!(
        code(bench.write(Type::Delete, Entity::TableEntry(first.clone()))),
        Err(Code::PermissionDenied)
    );
    assert_eq!(
        code(bench.write(Type::Modify, Entity::TableEntry(first))),
        Err(Code::PermissionDenied)
    );
}
