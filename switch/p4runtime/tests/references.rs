//! A program whose entries refer to others: `@refers_to`.

use std::sync::LazyLock;

use crate::server::fixture::{config, exact, optional, update};
use crate::server::{Controller, Server, compiled, error_codes, id_in, start};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;
use tonic::Code;

static PROGRAM: LazyLock<p4rt::ForwardingPipelineConfig> =
    LazyLock::new(|| compiled("references.p4", include_str!("programs/references.p4")));

fn id(name: &str) -> u32 {
    id_in(PROGRAM.p4info.as_ref().expect("P4Info"), name)
}

fn action(name: &str, value: u8) -> p4rt::Action {
    p4rt::Action {
        action_id: id(name),
        params: vec![p4rt::action::Param {
            param_id: 1,
            value: vec![value],
        }],
    }
}

fn entry(table: &str, r#match: Vec<p4rt::FieldMatch>, action: ActionKind) -> p4rt::TableEntry {
    p4rt::TableEntry {
        table_id: id(table),
        r#match,
        action: Some(p4rt::TableAction { r#type: Some(action) }),
        ..Default::default()
    }
}

fn neighbor(number: u8, port: u8) -> Entity {
    let key = vec![exact(1, &[number]), exact(2, &[port])];
    Entity::TableEntry(entry("neighbors", key, ActionKind::Action(action("set_port", port))))
}

/// An entry that sends the frames for a station to a neighbour.
fn route(station: u8, neighbor: u8) -> Entity {
    let action = ActionKind::Action(action("set_neighbor", neighbor));
    Entity::TableEntry(entry("routes", vec![exact(1, &[station])], action))
}

/// An entry that sends the frames for a station to a multicast group.
fn copies(station: u8, group: u8) -> Entity {
    let action = ActionKind::Action(action("copy", group));
    Entity::TableEntry(entry("routes", vec![exact(1, &[station])], action))
}

fn group(number: u32) -> Entity {
    Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry {
        r#type: Some(Replication::MulticastGroupEntry(p4rt::MulticastGroupEntry {
            multicast_group_id: number,
            ..Default::default()
        })),
    })
}

fn watched(neighbor: u8) -> Entity {
    let nothing = p4rt::Action {
        action_id: id("NoAction"),
        params: Vec::new(),
    };
    Entity::TableEntry(p4rt::TableEntry {
        priority: 1,
        ..entry("watched", vec![optional(1, &[neighbor])], ActionKind::Action(nothing))
    })
}

fn member(number: u32, neighbor: u8) -> Entity {
    Entity::ActionProfileMember(p4rt::ActionProfileMember {
        action_profile_id: id("paths"),
        member_id: number,
        action: Some(action("set_neighbor", neighbor)),
    })
}

fn one_shot(station: u8, neighbors: &[u8]) -> Entity {
    let choices = neighbors.iter().map(|&neighbor| p4rt::ActionProfileAction {
        action: Some(action("set_neighbor", neighbor)),
        weight: 1,
        ..Default::default()
    });
    let set = p4rt::ActionProfileActionSet {
        action_profile_actions: choices.collect(),
        ..Default::default()
    };
    let key = vec![exact(1, &[station])];
    Entity::TableEntry(entry("balanced", key, ActionKind::ActionProfileActionSet(set)))
}

async fn connected() -> (Server, Controller) {
    let server = start().await;
    let controller = Controller::with_program(&server, PROGRAM.clone()).await;
    (server, controller)
}

async fn refusal(controller: &mut Controller, kind: Type, entity: Entity) -> String {
    let written = controller.write(vec![update(kind, entity)]).await;
    let status = written.expect_err("it refers to nothing");
    assert_eq!(error_codes(&status), [Code::InvalidArgument as i32]);
    let (_, message) = status.message().split_once("InvalidArgument: ").expect("a message");
    message.to_owned()
}

#[tokio::test]
async fn a_parameter_names_an_entry_that_is_there() {
    let (_server, mut controller) = connected().await;
    assert_eq!(
        refusal(&mut controller, Type::Insert, route(1, 7)).await,
        "parameter 'neighbor' of 'ReferencesIngress.set_neighbor' refers to an entry of 'ReferencesIngress.neighbors' with \
         'neighbor_id' = 0x07, and there is none"
    );
    // Within a batch, the order matters.
    let batch = [neighbor(7, 1), route(1, 7), neighbor(7, 2)].map(|entity| update(Type::Insert, entity));
    assert!(controller.write(batch.to_vec()).await.is_ok());
    refusal(&mut controller, Type::Modify, route(1, 8)).await;
    assert_eq!(controller.write_one(Type::Modify, route(1, 7)).await, Ok(()));
    // It is enough that one of two entries has this value.
    assert_eq!(controller.write_one(Type::Delete, neighbor(7, 1)).await, Ok(()));
    assert_eq!(controller.write_one(Type::Insert, route(2, 7)).await, Ok(()));
    assert_eq!(controller.write_one(Type::Delete, neighbor(7, 2)).await, Ok(()));
    refusal(&mut controller, Type::Insert, route(3, 7)).await;
}

#[tokio::test]
async fn a_key_field_names_an_entry_that_is_there() {
    let (_server, mut controller) = connected().await;
    assert_eq!(
        refusal(&mut controller, Type::Insert, watched(7)).await,
        "ReferencesIngress.watched: key field 'meta.neighbor' refers to an entry of 'ReferencesIngress.neighbors' with \
         'neighbor_id' = 0x07, and there is none"
    );
    assert_eq!(controller.write_one(Type::Insert, neighbor(7, 1)).await, Ok(()));
    assert_eq!(controller.write_one(Type::Insert, watched(7)).await, Ok(()));
    assert_eq!(controller.write_one(Type::Delete, neighbor(7, 1)).await, Ok(()));
    refusal(&mut controller, Type::Modify, watched(7)).await;
}

#[tokio::test]
async fn members_and_one_shots_name_entries_that_are_there() {
    let (_server, mut controller) = connected().await;
    assert_eq!(controller.write_one(Type::Insert, neighbor(7, 1)).await, Ok(()));
    refusal(&mut controller, Type::Insert, member(1, 8)).await;
    assert_eq!(controller.write_one(Type::Insert, member(1, 7)).await, Ok(()));
    refusal(&mut controller, Type::Modify, member(1, 8)).await;
    refusal(&mut controller, Type::Insert, one_shot(1, &[7, 8])).await;
    assert_eq!(controller.write_one(Type::Insert, one_shot(1, &[7])).await, Ok(()));
}

#[tokio::test]
async fn a_parameter_names_a_multicast_group_that_is_there() {
    let (_server, mut controller) = connected().await;
    assert_eq!(
        refusal(&mut controller, Type::Insert, copies(1, 42)).await,
        "parameter 'group' of 'ReferencesIngress.copy' refers to multicast group 42, and there is none"
    );
    assert_eq!(controller.write_one(Type::Insert, group(42)).await, Ok(()));
    assert_eq!(controller.write_one(Type::Insert, copies(1, 42)).await, Ok(()));
}

#[tokio::test]
async fn a_deletion_looks_at_no_references_and_what_stays_is_reconciled_and_restored() {
    let (_server, mut controller) = connected().await;
    for entity in [neighbor(7, 1), route(1, 7)] {
        assert_eq!(controller.write_one(Type::Insert, entity).await, Ok(()));
    }
    assert_eq!(controller.write_one(Type::Delete, neighbor(7, 1)).await, Ok(()));
    let set = controller
        .set_pipeline(Action::ReconcileAndCommit, Some(PROGRAM.clone()))
        .await;
    set.expect("what was written is kept");
    let routes = Entity::TableEntry(p4rt::TableEntry {
        table_id: id("routes"),
        ..Default::default()
    });
    assert_eq!(controller.read_one(routes.clone()).await, Ok(vec![route(1, 7)]));
    // A batch that fails restores the entry, although the entries that it refers to are gone.
    let request = p4rt::WriteRequest {
        device_id: 1,
        election_id: Some(controller.election_id),
        updates: vec![update(Type::Delete, route(1, 7)), update(Type::Insert, route(1, 7))],
        atomicity: p4rt::write_request::Atomicity::RollbackOnError.into(),
        ..Default::default()
    };
    controller
        .client
        .write(request)
        .await
        .expect_err("it refers to nothing");
    assert_eq!(controller.read_one(routes).await, Ok(vec![route(1, 7)]));
    assert_eq!(controller.write_one(Type::Delete, route(1, 7)).await, Ok(()));
}

#[tokio::test]
async fn an_annotation_that_names_no_field_is_refused_with_the_program() {
    let server = start().await;
    let mut controller = Controller::with_program(&server, config()).await;
    for (annotation, problem) in [
        (
            "@refers_to(neighbors)",
            Some("it takes a table and its key field, (TABLE, FIELD)"),
        ),
        (
            "@refers_to(neighbors, id)",
            Some("'neighbors' has no key field 'id'; it has neighbor_id, port"),
        ),
        (
            "@refers_to(watched, meta.neighbor)",
            None, // An optional field has a value.
        ),
        ("@refers_to(of_another_program, id)", None),
    ] {
        let mut program = PROGRAM.clone();
        let info = program.p4info.as_mut().expect("P4Info");
        let table = info
            .tables
            .iter_mut()
            .find(|table| !table.match_fields[0].annotations.is_empty());
        table.expect("one has references").match_fields[0].annotations = vec![annotation.to_owned()];
        let set = controller.set_pipeline(Action::VerifyAndCommit, Some(program)).await;
        let refused = set.err().map(|status| (status.code(), status.message().to_owned()));
        let expected = problem.map(|problem| {
            let place = "P4Info: 'ReferencesIngress.watched': key field 'meta.neighbor': @refers_to";
            (Code::InvalidArgument, format!("{place}: {problem}"))
        });
        assert_eq!(refused, expected, "{annotation}");
    }
}
