//! Match-action tables: the match kinds, priorities, defaults, const entries, limits, counters, action profiles.

use crate::common::{Parts, Switch};
use p4sched_dataplane::{ActionCall, Count, MatchKey, TableError};

fn exact(value: u8) -> MatchKey {
    MatchKey::Exact(vec![value])
}

fn ternary(value: u8, mask: u8) -> MatchKey {
    MatchKey::Ternary(vec![value], vec![mask])
}

/// A switch with a table `t` with these properties; its action writes a number into `h.c`.
fn with_table(properties: &str) -> Switch {
    let ingress = format!(
        "direct_counter(CounterType.packets_and_bytes) seen;
         action say(bit<16> n) {{ hdr.h.c = n; }}
         action quiet() {{ }}
         table t {{ {properties} }}"
    );
    Parts {
        ingress: &ingress,
        ingress_apply: "sm.egress_spec = 2; t.apply();",
        ..Parts::small()
    }
    .load()
}

fn answer(switch: &mut Switch, a: u8, b: u8) -> u8 {
    switch.forward(&[a, b, 0, 0]).1[3]
}

const ACTIONS: &str = "actions = { say; quiet; } default_action = quiet();";

#[test]
fn exact_entries_are_found_modified_and_deleted() {
    let mut switch = with_table(&format!(
        "key = {{ hdr.h.a: exact; hdr.h.b: exact; }} {ACTIONS} size = 2;"
    ));
    let table = switch.table("I.t");
    switch.insert("I.t", &[exact(1), exact(2)], 0, "say", &[&[7]]);
    switch.insert("I.t", &[exact(1), exact(3)], 0, "say", &[&[8]]);
    assert_eq!(
        [
            answer(&mut switch, 1, 2),
            answer(&mut switch, 1, 3),
            answer(&mut switch, 2, 2)
        ],
        [7, 8, 0]
    );

    let call = switch.call("I.t", "say", &[&[9]]);
    let full = switch.pipeline.table_insert(table, &[exact(5), exact(5)], 0, &call);
    assert_eq!(
        full,
        Err(TableError::Full {
            table: "I.t".into(),
            size: 2
        })
    );
    let twice = switch.pipeline.table_insert(table, &[exact(1), exact(2)], 0, &call);
    assert_eq!(twice, Err(TableError::Duplicate("I.t".into())));

    let entry = switch
        .pipeline
        .table_find(table, &[exact(1), exact(2)], 0)
        .expect("the first entry");
    switch.pipeline.table_modify(table, entry, &call).expect("to modify it");
    assert_eq!(answer(&mut switch, 1, 2), 9);
    switch.pipeline.table_delete(table, entry).expect("to delete it");
    assert_eq!(answer(&mut switch, 1, 2), 0);
    assert_eq!(
        switch.pipeline.table_delete(table, entry),
        Err(TableError::NoEntry("I.t".into()))
    );
    // The slot is reused; the old handle does not reach the new entry.
    switch.insert("I.t", &[exact(5), exact(5)], 0, "say", &[&[3]]);
    assert!(switch.pipeline.table_entry(table, entry).is_err());
    assert_eq!(switch.pipeline.table_entries(table).len(), 2);
}

#[test]
fn the_longest_prefix_wins() {
    let mut switch = with_table(&format!("key = {{ hdr.h.a: lpm; hdr.h.b: exact; }} {ACTIONS}"));
    let mut add = |value: u8, length, n| {
        switch.insert(
            "I.t",
            &[MatchKey::Lpm(vec![value], length), exact(0)],
            0,
            "say",
            &[&[n]],
        );
    };
    add(0x00, 0, 1);
    add(0x80, 1, 2);
    add(0xa0, 4, 3);
    add(0xa5, 8, 4);
    let answers: Vec<u8> = [0x01, 0x81, 0xa1, 0xa5]
        .iter()
        .map(|&a| answer(&mut switch, a, 0))
        .collect();
    assert_eq!(answers, [1, 2, 3, 4]);
    assert_eq!(answer(&mut switch, 0xa5, 1), 0);
    // Bits outside the prefix are ignored.
    let table = switch.table("I.t");
    let entry = switch
        .pipeline
        .table_find(table, &[MatchKey::Lpm(vec![0xaf], 4), exact(0)], 0)
        .expect("10/4");
    let view = switch.pipeline.table_entry(table, entry).expect("it exists");
    assert_eq!(view.key, [MatchKey::Lpm(vec![0xa0], 4), exact(0)]);
    switch.pipeline.table_delete(table, entry).expect("to delete it");
    assert_eq!(answer(&mut switch, 0xa1, 0), 2);
}

#[test]
fn the_largest_priority_wins_in_ternary_tables() {
    let mut switch = with_table(&format!("key = {{ hdr.h.a: ternary; hdr.h.b: optional; }} {ACTIONS}"));
    let any = MatchKey::Optional(None);
    switch.insert("I.t", &[ternary(0x10, 0xf0), any.clone()], 10, "say", &[&[1]]);
    switch.insert("I.t", &[ternary(0x12, 0xff), any.clone()], 5, "say", &[&[2]]);
    switch.insert(
        "I.t",
        &[ternary(0x12, 0xff), MatchKey::Optional(Some(vec![7]))],
        20,
        "say",
        &[&[3]],
    );
    switch.insert("I.t", &[ternary(0, 0), any.clone()], 1, "say", &[&[4]]);
    let answers: Vec<u8> = [(0x12, 0), (0x12, 7), (0x22, 7)]
        .iter()
        .map(|&(a, b)| answer(&mut switch, a, b))
        .collect();
    assert_eq!(answers, [1, 3, 4]);
    // The same key with another priority is another entry.
    let table = switch.table("I.t");
    let call = switch.call("I.t", "say", &[&[9]]);
    let key = [ternary(0x10, 0xf0), any];
    assert!(switch.pipeline.table_insert(table, &key, 10, &call).is_err());
    assert!(switch.pipeline.table_insert(table, &key, 11, &call).is_ok());
    assert_eq!(answer(&mut switch, 0x12, 0), 9);
}

#[test]
fn ranges_include_both_ends() {
    let mut switch = with_table(&format!("key = {{ hdr.h.a: range; hdr.h.b: exact; }} {ACTIONS}"));
    switch.insert("I.t", &[MatchKey::Range(vec![3], vec![5]), exact(0)], 1, "say", &[&[1]]);
    switch.insert("I.t", &[MatchKey::Range(vec![5], vec![9]), exact(0)], 2, "say", &[&[2]]);
    let answers: Vec<u8> = [2, 3, 4, 5, 9, 10].iter().map(|&a| answer(&mut switch, a, 0)).collect();
    assert_eq!(answers, [0, 1, 1, 2, 2, 0]);
    let table = switch.table("I.t");
    let call = switch.call("I.t", "say", &[&[1]]);
    let backwards = switch
        .pipeline
        .table_insert(table, &[MatchKey::Range(vec![5], vec![3]), exact(0)], 1, &call);
    assert!(matches!(backwards, Err(TableError::BadKey { .. })), "{backwards:?}");
}

#[test]
fn const_entries_match_in_their_order_and_cannot_be_changed() {
    let entries = "const entries = { (1, _): say(1); (0 &&& 0, 2): say(2); (1, 2): say(3); }";
    let mut switch = with_table(&format!(
        "key = {{ hdr.h.a: ternary; hdr.h.b: ternary; }} {ACTIONS} {entries}"
    ));
    assert_eq!(
        [
            answer(&mut switch, 1, 2),
            answer(&mut switch, 9, 2),
            answer(&mut switch, 9, 9)
        ],
        [1, 2, 0]
    );
    let table = switch.table("I.t");
    let call = switch.call("I.t", "quiet", &[]);
    let entries = switch.pipeline.table_entries(table);
    assert!(entries.iter().all(|entry| entry.is_const));
    assert_eq!(
        switch.pipeline.table_delete(table, entries[0].handle),
        Err(TableError::Const("I.t".into()))
    );
    assert!(
        switch
            .pipeline
            .table_insert(table, &[ternary(8, 8), ternary(0, 0)], 1, &call)
            .is_err()
    );
}

#[test]
fn a_default_action_is_replaced_whole_and_restored() {
    let mut switch = with_table("key = { hdr.h.a: exact; } actions = { say; quiet; } default_action = say(6);");
    let table = switch.table("I.t");
    assert_eq!(answer(&mut switch, 1, 1), 6);
    let call = switch.call("I.t", "say", &[&[1, 4]]);
    switch
        .pipeline
        .table_set_default(table, Some(&call))
        .expect("to replace it");
    assert_eq!(switch.forward(&[1, 1, 0, 0]).1, [1, 1, 1, 4]);
    let wide = switch.call("I.t", "say", &[&[1, 0, 0]]);
    assert!(matches!(
        switch.pipeline.table_set_default(table, Some(&wide)),
        Err(TableError::BadAction { .. })
    ));
    let none = switch.call("I.t", "say", &[]);
    assert!(matches!(
        switch.pipeline.table_set_default(table, Some(&none)),
        Err(TableError::BadAction { .. })
    ));
    assert_eq!(switch.pipeline.table_default(table), Some(call));
    switch.pipeline.table_set_default(table, None).expect("to restore it");
    assert_eq!(answer(&mut switch, 1, 1), 6);
}

#[test]
fn a_const_default_action_stays() {
    let mut switch = with_table("key = { hdr.h.a: exact; } actions = { say; quiet; } const default_action = say(6);");
    let table = switch.table("I.t");
    let call = switch.call("I.t", "quiet", &[]);
    assert!(matches!(
        switch.pipeline.table_set_default(table, Some(&call)),
        Err(TableError::Const(_))
    ));
    assert_eq!(answer(&mut switch, 1, 1), 6);
}

#[test]
fn direct_counters_count_hits_and_frame_bytes() {
    let mut switch = with_table(&format!("key = {{ hdr.h.a: exact; }} {ACTIONS} counters = seen;"));
    let table = switch.table("I.t");
    switch.insert("I.t", &[exact(1)], 0, "say", &[&[7]]);
    let entry = switch.pipeline.table_find(table, &[exact(1)], 0).expect("the entry");
    for length in [4, 60, 1500] {
        let mut frame = vec![0; length];
        frame[0] = 1;
        switch.send(1, &frame);
        switch.send(1, &[2, 0, 0, 0]);
    }
    let count = |switch: &Switch| switch.pipeline.direct_counter(table, entry).expect("it counts");
    assert_eq!(
        count(&switch),
        Count {
            packets: 3,
            bytes: 1564
        }
    );
    let call = switch.call("I.t", "quiet", &[]);
    switch.pipeline.table_modify(table, entry, &call).expect("to modify it");
    assert_eq!(count(&switch).packets, 3);
    switch
        .pipeline
        .set_direct_counter(table, entry, Count::default())
        .expect("to reset it");
    assert_eq!(count(&switch), Count::default());
}

#[test]
fn what_a_table_did_decides_where_the_program_goes_on() {
    let ingress = "action one() { } action two() { }
        table t { key = { hdr.h.a: exact; } actions = { one; two; NoAction; } default_action = NoAction; }";
    let apply = "sm.egress_spec = 2;
        if (t.apply().hit) { hdr.h.b = 1; } else { hdr.h.b = 2; }";
    let mut switch = Parts {
        ingress,
        ingress_apply: apply,
        ..Parts::small()
    }
    .load();
    switch.insert("I.t", &[exact(1)], 0, "one", &[]);
    assert_eq!(
        [switch.forward(&[1, 0, 0, 0]).1[1], switch.forward(&[3, 0, 0, 0]).1[1]],
        [1, 2]
    );

    let apply = "sm.egress_spec = 2;
        switch (t.apply().action_run) { one: { hdr.h.b = 5; } two: { hdr.h.b = 6; } default: { hdr.h.b = 7; } }";
    let mut switch = Parts {
        ingress,
        ingress_apply: apply,
        ..Parts::small()
    }
    .load();
    switch.insert("I.t", &[exact(1)], 0, "one", &[]);
    switch.insert("I.t", &[exact(2)], 0, "two", &[]);
    let answers: Vec<u8> = [1, 2, 3].iter().map(|&a| switch.forward(&[a, 0, 0, 0]).1[1]).collect();
    assert_eq!(answers, [5, 6, 7]);
}

fn with_selector() -> Switch {
    let ingress = "action_selector(HashAlgorithm.identity, 16, 8) ports;
        action say(bit<16> n) { hdr.h.c = n; }
        table t { key = { hdr.h.a: exact; hdr.h.b: selector; } actions = { say; } implementation = ports; }";
    Parts {
        ingress,
        ingress_apply: "sm.egress_spec = 2; t.apply();",
        ..Parts::small()
    }
    .load()
}

#[test]
fn a_group_spreads_packets_over_its_members() {
    let mut switch = with_selector();
    let profile = switch.pipeline.action_profile("I.ports").expect("the selector");
    let table = switch.table("I.t");
    let say = switch.pipeline.profile_action(profile, "I.say").expect("the action");
    for member in 1..=3 {
        switch
            .pipeline
            .member_insert(profile, member, say, &[vec![member as u8]])
            .expect("a member");
    }
    switch.pipeline.group_insert(profile, 7, &[1, 2, 3]).expect("a group");
    switch
        .pipeline
        .table_insert(table, &[exact(1)], 0, &ActionCall::Group(7))
        .expect("an entry");
    switch
        .pipeline
        .table_insert(table, &[exact(2)], 0, &ActionCall::Member(2))
        .expect("an entry");
    let answers: Vec<u8> = (0..6).map(|b| answer(&mut switch, 1, b)).collect();
    assert_eq!(answers, [1, 2, 3, 1, 2, 3]);
    assert_eq!(answer(&mut switch, 2, 0), 2);

    switch.pipeline.group_modify(profile, 7, &[3]).expect("to shrink it");
    assert_eq!(answer(&mut switch, 1, 1), 3);
    switch
        .pipeline
        .member_modify(profile, 3, say, &[vec![9]])
        .expect("to modify it");
    assert_eq!(answer(&mut switch, 1, 1), 9);
    switch.pipeline.group_modify(profile, 7, &[]).expect("to empty it");
    assert_eq!(answer(&mut switch, 1, 1), 0);
}

#[test]
fn members_and_groups_in_use_cannot_be_deleted() {
    let mut switch = with_selector();
    let profile = switch.pipeline.action_profile("I.ports").expect("the selector");
    let table = switch.table("I.t");
    let say = switch.pipeline.profile_action(profile, "I.say").expect("the action");
    let missing = switch
        .pipeline
        .table_insert(table, &[exact(1)], 0, &ActionCall::Member(1));
    assert!(
        matches!(
            missing,
            Err(TableError::NoMember {
                kind: "member",
                id: 1,
                ..
            })
        ),
        "{missing:?}"
    );
    switch
        .pipeline
        .member_insert(profile, 1, say, &[vec![1]])
        .expect("a member");
    switch.pipeline.group_insert(profile, 2, &[1]).expect("a group");
    let entry = switch
        .pipeline
        .table_insert(table, &[exact(1)], 0, &ActionCall::Group(2))
        .expect("an entry");
    assert!(matches!(
        switch.pipeline.member_delete(profile, 1),
        Err(TableError::InUse { .. })
    ));
    assert!(matches!(
        switch.pipeline.group_delete(profile, 2),
        Err(TableError::InUse { .. })
    ));
    switch.pipeline.table_delete(table, entry).expect("to delete the entry");
    switch.pipeline.group_delete(profile, 2).expect("to delete the group");
    switch.pipeline.member_delete(profile, 1).expect("to delete the member");
    assert!(matches!(
        switch.pipeline.member_delete(profile, 1),
        Err(TableError::NoMember { .. })
    ));
}

#[test]
fn keys_that_do_not_fit_are_refused() {
    let mut switch = with_table(&format!(
        "key = {{ hdr.h.a: exact; sm.ingress_port: exact; }} {ACTIONS}"
    ));
    let table = switch.table("I.t");
    let call = switch.call("I.t", "quiet", &[]);
    let mut insert = |key: &[MatchKey]| switch.pipeline.table_insert(table, key, 0, &call).map(|_| ());
    assert!(matches!(insert(&[exact(1)]), Err(TableError::BadKey { .. })));
    assert!(matches!(
        insert(&[exact(1), MatchKey::Exact(vec![2, 0])]),
        Err(TableError::BadKey { .. })
    ));
    assert!(matches!(
        insert(&[exact(1), MatchKey::Lpm(vec![1], 8)]),
        Err(TableError::BadKey { .. })
    ));
    assert_eq!(insert(&[exact(1), MatchKey::Exact(vec![0, 1, 0xff])]), Ok(()));
}

#[test]
fn actions_too_long_to_be_copied_are_called_and_their_exit_ends_the_control() {
    let adds = |count| "hdr.h.c = hdr.h.c + 1; ".repeat(count);
    let action = |name: &str, count, end: &str| format!("action {name}() {{ {}{end} }}\n", adds(count));
    let table = |name: &str, action: &str| {
        format!(
            "table {name} {{ key = {{ hdr.h.a: exact; }} actions = {{ {action}; }} default_action = {action}(); }}\n"
        )
    };
    // One longer than any copied action, and one that would be copied too often.
    for (count, tables) in [(600, 1), (500, 70)] {
        let names: Vec<String> = (0..tables).map(|index| format!("t{index}")).collect();
        let declared: String = names.iter().map(|name| table(name, "long")).collect();
        let applied: String = names.iter().map(|name| format!("{name}.apply(); ")).collect();
        let ingress = action("long", count, "") + &action("last", count, "exit;") + &declared + &table("end", "last");
        let parts = Parts {
            ingress: &ingress,
            ingress_apply: &format!("sm.egress_spec = 2; {applied} end.apply(); hdr.h.b = 9;"),
            ..Parts::small()
        };
        let (_, frame) = parts.load().forward(&[1, 0, 0, 0]);
        let sum = ((count * (tables + 1)) as u16).to_be_bytes();
        assert_eq!(frame, [1, 0, sum[0], sum[1]], "{tables} tables");
    }
}
