//! Action profile members, groups and one-shots (specification, section "ActionProfileMember & ActionProfileGroup").

use crate::fixture::{Bench, code, config, exact, ipv4};
use p4sched_device::{Code, Program};
use p4sched_proto::p4::config::v1::action_profile::{SelectorSizeSemantics, SumOfMembers};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;

fn member(bench: &Bench, profile: &str, member_id: u32, action: p4rt::Action) -> p4rt::ActionProfileMember {
    p4rt::ActionProfileMember {
        action_profile_id: bench.profile(profile),
        member_id,
        action: Some(action),
    }
}

fn group(bench: &Bench, group_id: u32, members: &[(u32, i32)]) -> p4rt::ActionProfileGroup {
    let members = members
        .iter()
        .map(|&(member_id, weight)| p4rt::action_profile_group::Member {
            member_id,
            weight,
            watch_kind: None,
        });
    let action_profile_id = bench.profile("paths_selector");
    p4rt::ActionProfileGroup {
        action_profile_id,
        group_id,
        members: members.collect(),
        max_size: 0,
    }
}

fn path(bench: &Bench, diffserv: u8, action: ActionKind) -> p4rt::TableEntry {
    p4rt::TableEntry {
        table_id: bench.table("paths"),
        r#match: vec![exact(1, &[diffserv])],
        action: Some(p4rt::TableAction { r#type: Some(action) }),
        ..Default::default()
    }
}

#[test]
fn groups_of_members_choose_the_port() {
    let mut bench = Bench::new();
    for (id, port) in [(1, 2), (2, 3)] {
        let forward = bench.action("forward", &[&[port]]);
        bench.insert(Entity::ActionProfileMember(member(
            &bench,
            "paths_selector",
            id,
            forward,
        )));
    }
    bench.insert(Entity::ActionProfileGroup(group(&bench, 7, &[(1, 1), (2, 1)])));
    bench.insert(Entity::TableEntry(path(&bench, 9, ActionKind::ActionProfileGroupId(7))));
    let mut used: Vec<u16> = (1..=32)
        .map(|source| bench.receive(1, &ipv4(9, source, 9, 6))[0].0)
        .collect();
    used.sort_unstable();
    used.dedup();
    assert_eq!(used, [2, 3], "the hash spreads sources over both members");

    let forward = bench.action("forward", &[&[1]]);
    let changed = member(&bench, "paths_selector", 2, forward);
    bench
        .write(Type::Modify, Entity::ActionProfileMember(changed.clone()))
        .expect("the member exists");
    bench
        .write(Type::Modify, Entity::ActionProfileGroup(group(&bench, 7, &[(2, 1)])))
        .expect("the group exists");
    assert_eq!(bench.receive(1, &ipv4(9, 1, 9, 6))[0].0, 1);

    let delete = |bench: &mut Bench, entity: Entity| code(bench.write(Type::Delete, entity));
    let used_group = Entity::ActionProfileGroup(group(&bench, 7, &[]));
    assert_eq!(
        delete(&mut bench, used_group.clone()),
        Err(Code::FailedPrecondition),
        "an entry uses the group"
    );
    let used_member = Entity::ActionProfileMember(changed);
    assert_eq!(
        delete(&mut bench, used_member.clone()),
        Err(Code::FailedPrecondition),
        "the group uses the member"
    );
    let entry = path(&bench, 9, ActionKind::ActionProfileGroupId(7));
    for unused in [Entity::TableEntry(entry), used_group, used_member] {
        assert_eq!(delete(&mut bench, unused), Ok(()));
    }
}

#[test]
fn wrong_members_and_groups_are_refused() {
    let mut bench = Bench::new();
    let forward = bench.action("forward", &[&[2]]);
    bench.insert(Entity::ActionProfileMember(member(
        &bench,
        "paths_selector",
        1,
        forward.clone(),
    )));
    bench.insert(Entity::ActionProfileGroup(group(&bench, 1, &[(1, 1)])));
    let set_user = bench.action("set_user", &[&[2]]);
    let members = [
        (
            "exists",
            member(&bench, "paths_selector", 1, forward.clone()),
            Code::AlreadyExists,
        ),
        (
            "id 0",
            member(&bench, "paths_selector", 0, forward.clone()),
            Code::InvalidArgument,
        ),
        (
            "another profile's action",
            member(&bench, "paths_selector", 2, set_user),
            Code::InvalidArgument,
        ),
        (
            "no action",
            p4rt::ActionProfileMember {
                action: None,
                ..member(&bench, "paths_selector", 2, forward)
            },
            Code::InvalidArgument,
        ),
    ];
    for (what, member, expected) in members {
        assert_eq!(
            code(bench.write(Type::Insert, Entity::ActionProfileMember(member))),
            Err(expected),
            "{what}"
        );
    }
    let groups = [
        ("exists", group(&bench, 1, &[(1, 1)]), Code::AlreadyExists),
        ("an unknown member", group(&bench, 2, &[(5, 1)]), Code::NotFound),
        (
            "a member twice",
            group(&bench, 2, &[(1, 1), (1, 1)]),
            Code::InvalidArgument,
        ),
        ("weight 0", group(&bench, 2, &[(1, 0)]), Code::InvalidArgument),
        ("too large", group(&bench, 2, &[(1, 70_000)]), Code::ResourceExhausted),
        (
            "no selector",
            p4rt::ActionProfileGroup {
                action_profile_id: bench.profile("classes_profile"),
                ..group(&bench, 2, &[])
            },
            Code::InvalidArgument,
        ),
    ];
    for (what, group, expected) in groups {
        assert_eq!(
            code(bench.write(Type::Insert, Entity::ActionProfileGroup(group))),
            Err(expected),
            "{what}"
        );
    }
    let larger = p4rt::ActionProfileGroup {
        max_size: 5,
        ..group(&bench, 1, &[(1, 1)])
    };
    assert_eq!(
        code(bench.write(Type::Modify, Entity::ActionProfileGroup(larger))),
        Err(Code::InvalidArgument),
        "max_size"
    );
    for action in [
        ActionKind::ActionProfileMemberId(9),
        ActionKind::ActionProfileGroupId(9),
    ] {
        let entry = path(&bench, 1, action);
        assert_eq!(
            code(bench.write(Type::Insert, Entity::TableEntry(entry))),
            Err(Code::NotFound)
        );
    }
}

#[test]
fn a_full_profile_is_exhausted() {
    let mut bench = Bench::new();
    for id in 1..=5 {
        let action = bench.action("set_user", &[&[1]]);
        let written = code(bench.write(
            Type::Insert,
            Entity::ActionProfileMember(member(&bench, "classes_profile", id, action)),
        ));
        assert_eq!(written, if id <= 4 { Ok(()) } else { Err(Code::ResourceExhausted) });
    }
}

/// A device whose selector has room for groups of this total size, counted in members if `in_members`. It has members 1
/// to 3.
fn bench_with_room(size: i64, in_members: bool) -> Bench {
    let mut program = config();
    let profiles = program.p4info.iter_mut().flat_map(|info| &mut info.action_profiles);
    for profile in profiles.filter(|profile| profile.with_selector) {
        profile.size = size;
        let members = SumOfMembers::default();
        profile.selector_size_semantics = in_members.then_some(SelectorSizeSemantics::SumOfMembers(members));
    }
    bench_of(program)
}

/// A device with this program and a selector with members 1 to 3.
fn bench_of(program: p4rt::ForwardingPipelineConfig) -> Bench {
    let mut bench = Bench::empty();
    let program = Program::new(program).expect("the program loads");
    bench.device.commit(program).expect("the switch takes it");
    for id in 1..=3 {
        let action = bench.action("forward", &[&[2]]);
        bench.insert(Entity::ActionProfileMember(member(
            &bench,
            "paths_selector",
            id,
            action,
        )));
    }
    bench
}

#[test]
fn the_groups_of_a_selector_share_its_size() {
    let full = Err(Code::ResourceExhausted);
    let write = |bench: &mut Bench, kind, id, members: &[(u32, i32)]| {
        let group = group(bench, id, members);
        code(bench.write(kind, Entity::ActionProfileGroup(group)))
    };
    let mut bench = bench_with_room(10, false);
    assert_eq!(write(&mut bench, Type::Insert, 1, &[(1, 4), (2, 3)]), Ok(()));
    assert_eq!(write(&mut bench, Type::Insert, 2, &[(1, 4)]), full);
    assert_eq!(write(&mut bench, Type::Insert, 2, &[(1, 3)]), Ok(()));
    assert_eq!(write(&mut bench, Type::Modify, 2, &[(1, 4)]), full);
    assert_eq!(write(&mut bench, Type::Modify, 1, &[(1, 4)]), Ok(()));
    assert_eq!(write(&mut bench, Type::Modify, 2, &[(1, 6)]), Ok(()));
    assert_eq!(write(&mut bench, Type::Delete, 1, &[]), Ok(()));
    assert_eq!(write(&mut bench, Type::Insert, 1, &[(1, 5)]), full);
    assert_eq!(write(&mut bench, Type::Insert, 1, &[(3, 4)]), Ok(()));

    let mut bench = bench_with_room(3, true);
    assert_eq!(write(&mut bench, Type::Insert, 1, &[(1, 40), (2, 40)]), Ok(()));
    assert_eq!(write(&mut bench, Type::Insert, 2, &[(1, 1), (2, 1)]), full);
    assert_eq!(write(&mut bench, Type::Insert, 2, &[(1, 40)]), Ok(()));
}

#[test]
fn a_group_that_names_no_size_may_be_as_large_as_p4info_says() {
    let mut program = config();
    for profile in program.p4info.iter_mut().flat_map(|info| &mut info.action_profiles) {
        profile.max_group_size = if profile.with_selector { 3 } else { 0 };
    }
    let mut bench = bench_of(program);
    let mut write = |kind, max_size, weight| {
        let group = p4rt::ActionProfileGroup {
            max_size,
            ..group(&bench, 1, &[(1, weight)])
        };
        code(bench.write(kind, Entity::ActionProfileGroup(group)))
    };
    let refused = Err(Code::InvalidArgument);
    assert_eq!(write(Type::Insert, 4, 1), refused);
    assert_eq!(write(Type::Insert, 0, 4), refused);
    assert_eq!(write(Type::Insert, 0, 3), Ok(()));
    assert_eq!(write(Type::Modify, 3, 2), refused, "as written, or not at all");
    assert_eq!(write(Type::Modify, 0, 4), refused);
    assert_eq!(write(Type::Modify, 0, 2), Ok(()));
}

#[test]
fn one_shots_share_the_size_of_their_selector_too() {
    let mut bench = bench_with_room(10, false);
    let mut write = |kind, diffserv, weight| {
        let choice = p4rt::ActionProfileAction {
            action: Some(bench.action("forward", &[&[2]])),
            weight,
            watch_kind: None,
        };
        let set = ActionKind::ActionProfileActionSet(p4rt::ActionProfileActionSet {
            action_profile_actions: vec![choice],
            ..Default::default()
        });
        let entry = path(&bench, diffserv, set);
        bench
            .write(kind, Entity::TableEntry(entry))
            .map_err(|fault| fault.message)
    };
    let full = "EverythingIngress.paths_selector: its groups would have weights of 11 together; P4Info allows 10";
    assert_eq!(write(Type::Insert, 1, 7), Ok(()));
    assert_eq!(write(Type::Insert, 2, 4), Err(full.to_owned()));
    assert_eq!(write(Type::Insert, 2, 3), Ok(()));
    assert_eq!(write(Type::Modify, 2, 4), Err(full.to_owned()));
    assert_eq!(write(Type::Modify, 1, 6), Ok(()));
    assert_eq!(write(Type::Modify, 2, 4), Ok(()));
    assert_eq!(write(Type::Delete, 1, 1), Ok(()));
    assert_eq!(write(Type::Modify, 2, 10), Ok(()));
}

#[test]
fn a_one_shot_reads_back_as_it_was_written_and_leaves_nothing_behind() {
    let mut bench = Bench::new();
    let choice = |bench: &Bench, port: u8, weight| p4rt::ActionProfileAction {
        action: Some(bench.action("forward", &[&[port]])),
        weight,
        watch_kind: None,
    };
    let set = |actions| {
        ActionKind::ActionProfileActionSet(p4rt::ActionProfileActionSet {
            action_profile_actions: actions,
            ..Default::default()
        })
    };
    let entry = path(&bench, 9, set(vec![choice(&bench, 2, 1), choice(&bench, 3, 2)]));
    bench.insert(Entity::TableEntry(entry.clone()));
    assert_eq!(bench.entries("paths"), [entry]);
    assert_eq!(
        bench.read(Entity::ActionProfileMember(Default::default())),
        Ok(vec![]),
        "its members are not the controller's"
    );
    let one = path(&bench, 9, set(vec![choice(&bench, 1, 1)]));
    bench
        .write(Type::Modify, Entity::TableEntry(one.clone()))
        .expect("the entry exists");
    assert_eq!(bench.receive(1, &ipv4(9, 1, 9, 6))[0].0, 1);
    for _ in 0..40 {
        bench
            .write(Type::Modify, Entity::TableEntry(one.clone()))
            .expect("replaced members make room");
    }
    bench
        .write(Type::Delete, Entity::TableEntry(one))
        .expect("the entry exists");
    let bad = path(&bench, 9, set(vec![choice(&bench, 1, 0)]));
    assert_eq!(
        code(bench.write(Type::Insert, Entity::TableEntry(bad))),
        Err(Code::InvalidArgument),
        "weight 0"
    );
}
