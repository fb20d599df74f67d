//! A program whose tables belong to roles.

use std::sync::LazyLock;

use crate::server::fixture::{config, exact, update};
use crate::server::{Controller, Server, compiled, error_codes, id_in, start};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;
use tonic::Code;

static PROGRAM: LazyLock<p4rt::ForwardingPipelineConfig> =
    LazyLock::new(|| compiled("roles.p4", include_str!("programs/roles.p4")));

fn id(name: &str) -> u32 {
    id_in(PROGRAM.p4info.as_ref().expect("P4Info"), name)
}

fn action(name: &str, params: &[u8]) -> p4rt::Action {
    let params = params.iter().zip(1..).map(|(&value, param_id)| p4rt::action::Param {
        param_id,
        value: vec![value],
    });
    p4rt::Action {
        action_id: id(name),
        params: params.collect(),
    }
}

fn entry(table: &str, key: u8, action: ActionKind) -> Entity {
    Entity::TableEntry(p4rt::TableEntry {
        table_id: id(table),
        r#match: vec![exact(1, &[key])],
        action: Some(p4rt::TableAction { r#type: Some(action) }),
        ..Default::default()
    })
}

fn refuse(station: u8) -> Entity {
    entry("acl", station, ActionKind::Action(action("drop", &[])))
}

fn by_default(port: u8) -> Entity {
    entry("defaults", port, ActionKind::Action(action("forward", &[1])))
}

fn route(station: u8) -> Entity {
    entry("routes", station, ActionKind::ActionProfileMemberId(1))
}

fn member(port: u8) -> Entity {
    Entity::ActionProfileMember(p4rt::ActionProfileMember {
        action_profile_id: id("paths"),
        member_id: 1,
        action: Some(action("forward", &[port])),
    })
}

fn refused(station: u8) -> Entity {
    let Entity::TableEntry(entry) = refuse(station) else {
        unreachable!("it is an entry")
    };
    Entity::DirectCounterEntry(p4rt::DirectCounterEntry {
        table_entry: Some(p4rt::TableEntry { action: None, ..entry }),
        data: Some(p4rt::CounterData::default()),
    })
}

fn note(value: u8) -> Entity {
    Entity::RegisterEntry(p4rt::RegisterEntry {
        register_id: id("notes"),
        index: Some(p4rt::Index { index: 1 }),
        data: Some(p4rt::P4Data {
            data: Some(p4rt::p4_data::Data::Bitstring(vec![value])),
        }),
    })
}

fn seen(packets: i64) -> Entity {
    Entity::CounterEntry(p4rt::CounterEntry {
        counter_id: id("seen"),
        index: Some(p4rt::Index { index: 1 }),
        data: Some(p4rt::CounterData {
            packet_count: packets,
            ..Default::default()
        }),
    })
}

/// A filter for all entries of all tables.
fn all_entries() -> Entity {
    Entity::TableEntry(p4rt::TableEntry::default())
}

fn all_of(table: &str) -> Entity {
    Entity::TableEntry(p4rt::TableEntry {
        table_id: id(table),
        ..Default::default()
    })
}

/// The primary controllers of the default role and of two other roles.
async fn controllers() -> (Server, [Controller; 3]) {
    let server = start().await;
    let admin = Controller::with_program(&server, PROGRAM.clone()).await;
    let mut forwarding = Controller::connect_as(&server, 1, "forwarding").await;
    let mut policy = Controller::connect_as(&server, 1, "policy").await;
    assert_eq!(forwarding.arbitration().await, Code::Ok);
    assert_eq!(policy.arbitration().await, Code::Ok);
    (server, [admin, forwarding, policy])
}

#[tokio::test]
async fn a_role_writes_only_what_is_its_own() {
    let (_server, [mut admin, mut forwarding, mut policy]) = controllers().await;
    for own in [member(1), route(1)] {
        assert_eq!(
            policy.write_one(Type::Insert, own.clone()).await,
            Err(Code::PermissionDenied)
        );
        assert_eq!(forwarding.write_one(Type::Insert, own).await, Ok(()));
    }
    assert_eq!(
        forwarding.write_one(Type::Insert, refuse(1)).await,
        Err(Code::PermissionDenied)
    );
    assert_eq!(policy.write_one(Type::Insert, refuse(1)).await, Ok(()));
    for own in [refused(1), note(7)] {
        assert_eq!(
            forwarding.write_one(Type::Modify, own.clone()).await,
            Err(Code::PermissionDenied)
        );
        assert_eq!(policy.write_one(Type::Modify, own).await, Ok(()));
    }
    // A table without the annotation belongs to the default role, any other object to all roles.
    assert_eq!(
        policy.write_one(Type::Insert, by_default(1)).await,
        Err(Code::PermissionDenied)
    );
    assert_eq!(policy.write_one(Type::Modify, seen(3)).await, Ok(()));
    assert_eq!(forwarding.write_one(Type::Modify, seen(4)).await, Ok(()));
    // The default role may write everything.
    for all in [by_default(1), route(2), refuse(2)] {
        assert_eq!(admin.write_one(Type::Insert, all).await, Ok(()));
    }
}

#[tokio::test]
async fn a_refusal_says_whose_it_is_and_the_rest_of_the_batch_is_written() {
    let (_server, [_admin, mut forwarding, mut policy]) = controllers().await;
    let updates = [refuse(1), member(1), by_default(1)].map(|entity| update(Type::Insert, entity));
    let status = forwarding
        .write(updates.to_vec())
        .await
        .expect_err("two are not its own");
    assert_eq!(error_codes(&status), [7, 0, 7]);
    assert!(
        status
            .message()
            .ends_with("RolesIngress.acl belongs to the role 'policy', not to the role 'forwarding'"),
        "{}",
        status.message()
    );
    let status = policy.write(vec![update(Type::Insert, by_default(1))]).await;
    let status = status.expect_err("not its own");
    assert!(
        status
            .message()
            .ends_with("RolesIngress.defaults belongs to the default role, not to the role 'policy'"),
        "{}",
        status.message()
    );
}

#[tokio::test]
async fn a_role_reads_only_what_is_its_own() {
    let (_server, [mut admin, mut forwarding, mut policy]) = controllers().await;
    let entries = [member(1), route(1), refuse(1), by_default(1)];
    for entity in &entries {
        assert_eq!(admin.write_one(Type::Insert, entity.clone()).await, Ok(()));
    }
    assert_eq!(forwarding.read_one(all_entries()).await, Ok(vec![route(1)]));
    assert_eq!(policy.read_one(all_entries()).await, Ok(vec![refuse(1)]));
    assert_eq!(admin.read_one(all_entries()).await.map(|found| found.len()), Ok(3));
    let members = Entity::ActionProfileMember(Default::default());
    assert_eq!(forwarding.read_one(members.clone()).await, Ok(vec![member(1)]));
    assert_eq!(policy.read_one(members).await, Ok(vec![]));
    let registers = Entity::RegisterEntry(Default::default());
    assert_eq!(forwarding.read_one(registers.clone()).await, Ok(vec![]));
    assert_eq!(policy.read_one(registers).await.map(|found| found.len()), Ok(4));
    for other in [all_of("acl"), all_of("defaults"), refused(1), note(0)] {
        assert_eq!(forwarding.read_one(other).await, Err(Code::PermissionDenied));
    }
    assert_eq!(policy.read_one(refused(1)).await, Ok(vec![refused(1)]));
}

#[tokio::test]
async fn a_program_without_roles_is_everybodys() {
    let (_server, [mut admin, mut forwarding, _]) = controllers().await;
    let mut free = PROGRAM.clone();
    let info = free.p4info.as_mut().expect("P4Info");
    for table in &mut info.tables {
        table.preamble.as_mut().expect("a preamble").annotations.clear();
    }
    info.registers[0]
        .preamble
        .as_mut()
        .expect("a preamble")
        .annotations
        .clear();
    let set = admin.set_pipeline(Action::VerifyAndCommit, Some(free)).await;
    set.expect("the program loads");
    for entity in [refuse(1), by_default(1)] {
        assert_eq!(forwarding.write_one(Type::Insert, entity).await, Ok(()));
    }
    assert_eq!(forwarding.read_one(all_entries()).await.map(|found| found.len()), Ok(2));
}

#[tokio::test]
async fn an_annotation_that_names_no_role_is_refused_with_the_program() {
    let server = start().await;
    let mut controller = Controller::with_program(&server, config()).await;
    for (annotations, problem) in [
        (vec!["@p4runtime_role()"], "it takes the name of a role, (\"...\")"),
        (vec!["@p4runtime_role(\"\")"], "it takes the name of a role, (\"...\")"),
        (
            vec!["@p4runtime_role(\"a\")", "@p4runtime_role(\"b\")"],
            "given twice; an object has one role",
        ),
    ] {
        let mut wrong = PROGRAM.clone();
        let table = &mut wrong.p4info.as_mut().expect("P4Info").tables[1];
        let preamble = table.preamble.as_mut().expect("a preamble");
        preamble.annotations = annotations.into_iter().map(str::to_owned).collect();
        let expected = format!("P4Info: '{}': @p4runtime_role: {problem}", preamble.name);
        let refused = controller.set_pipeline(Action::VerifyAndCommit, Some(wrong)).await;
        let refused = refused.expect_err("it names no role");
        assert_eq!(
            (refused.code(), refused.message()),
            (Code::InvalidArgument, expected.as_str())
        );
    }
}
