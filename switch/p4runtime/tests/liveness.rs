//! Links that go down: groups with watch ports, and one-shots with their choices and sizes.

use std::collections::BTreeSet;

use crate::server::fixture::{Bench, config, exact, frame, ipv4, links};
use crate::server::{Controller, Server, start};
use p4sched_proto::p4::config::v1 as p4info;
use p4sched_proto::p4::config::v1::action_profile::SelectorSizeSemantics;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::action_profile_action_set::{ActionSelectionMode, SizeSemantics};
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::replica::PortKind;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;
use p4sched_proto::p4::v1::{action_profile_action, action_profile_group};
use tonic::Code;

async fn connected() -> (Server, Controller, Bench) {
    let server = start().await;
    let controller = Controller::with_program(&server, config()).await;
    (server, controller, Bench::empty())
}

impl Server {
    fn links_down(&self, down: &'static [u16]) {
        self.with(|device, _| device.set_links(links(down)));
    }

    /// The output ports of frames from many stations.
    fn ports_used(&self) -> BTreeSet<u16> {
        let sent = (1..=32).flat_map(|source| self.receive(1, ipv4(9, source, 9, 6)));
        sent.map(|(port, _)| port).collect()
    }
}

fn path(bench: &Bench, diffserv: u8, action: ActionKind) -> Entity {
    Entity::TableEntry(p4rt::TableEntry {
        table_id: bench.table("paths"),
        r#match: vec![exact(1, &[diffserv])],
        action: Some(p4rt::TableAction { r#type: Some(action) }),
        ..Default::default()
    })
}

fn choice(bench: &Bench, port: u8, weight: i32, watched: &[u8]) -> p4rt::ActionProfileAction {
    p4rt::ActionProfileAction {
        action: Some(bench.action("forward", &[&[port]])),
        weight,
        watch_kind: Some(action_profile_action::WatchKind::WatchPort(watched.to_vec())),
    }
}

fn one_shot(set: p4rt::ActionProfileActionSet) -> ActionKind {
    ActionKind::ActionProfileActionSet(set)
}

fn set_of(choices: Vec<p4rt::ActionProfileAction>) -> p4rt::ActionProfileActionSet {
    p4rt::ActionProfileActionSet {
        action_profile_actions: choices,
        ..Default::default()
    }
}

fn member(bench: &Bench, member_id: u32, port: u8) -> Entity {
    Entity::ActionProfileMember(p4rt::ActionProfileMember {
        action_profile_id: bench.profile("paths_selector"),
        member_id,
        action: Some(bench.action("forward", &[&[port]])),
    })
}

fn group(bench: &Bench, watched: &[(u32, &[u8])]) -> Entity {
    use action_profile_group::member::WatchKind;
    let member = |&(member_id, port): &(u32, &[u8])| action_profile_group::Member {
        member_id,
        weight: 1,
        watch_kind: Some(WatchKind::WatchPort(port.to_vec())),
    };
    Entity::ActionProfileGroup(p4rt::ActionProfileGroup {
        action_profile_id: bench.profile("paths_selector"),
        group_id: 7,
        members: watched.iter().map(member).collect(),
        max_size: 0,
    })
}

#[tokio::test]
async fn a_member_whose_watch_port_is_down_is_not_chosen() {
    let (server, mut controller, bench) = connected().await;
    for (id, port) in [(1, 2), (2, 3)] {
        assert_eq!(
            controller.write_one(Type::Insert, member(&bench, id, port)).await,
            Ok(())
        );
    }
    let watching = group(&bench, &[(1, &[2]), (2, &[3])]);
    assert_eq!(controller.write_one(Type::Insert, watching.clone()).await, Ok(()));
    let entry = path(&bench, 9, ActionKind::ActionProfileGroupId(7));
    assert_eq!(controller.write_one(Type::Insert, entry).await, Ok(()));
    assert_eq!(server.ports_used(), [2, 3].into());
    server.links_down(&[2]);
    assert_eq!(server.ports_used(), [3].into());
    assert_eq!(
        controller.read_one(watching.clone()).await,
        Ok(vec![watching.clone()]),
        "nobody has changed it"
    );
    let used = member(&bench, 1, 2);
    assert_eq!(
        controller.write_one(Type::Delete, used).await,
        Err(Code::FailedPrecondition),
        "it is still a member"
    );
    assert_eq!(controller.write_one(Type::Modify, watching).await, Ok(()));
    assert_eq!(server.ports_used(), [3].into(), "also of a group that is written now");
    server.links_down(&[2, 3]);
    assert_eq!(
        server.ports_used(),
        [0].into(),
        "no member is left: no action sets a port"
    );
    server.links_down(&[]);
    assert_eq!(server.ports_used(), [2, 3].into());
}

#[tokio::test]
async fn a_port_that_does_not_exist_cannot_be_watched() {
    let (_server, mut controller, bench) = connected().await;
    assert_eq!(controller.write_one(Type::Insert, member(&bench, 1, 2)).await, Ok(()));
    for port in [&[9][..], &[2, 0], &[0, 0, 0, 9]] {
        let written = controller.write_one(Type::Insert, group(&bench, &[(1, port)])).await;
        assert_eq!(written, Err(Code::InvalidArgument), "{port:?}");
        let entry = path(&bench, 9, one_shot(set_of(vec![choice(&bench, 2, 1, port)])));
        assert_eq!(
            controller.write_one(Type::Insert, entry).await,
            Err(Code::InvalidArgument),
            "{port:?}"
        );
    }
    let empty = group(&bench, &[(1, &[])]);
    assert_eq!(
        controller.write_one(Type::Insert, empty).await,
        Ok(()),
        "it watches no port"
    );
}

#[tokio::test]
async fn one_shots_watch_ports_and_choose_by_chance_if_asked() {
    let (server, mut controller, bench) = connected().await;
    let set = p4rt::ActionProfileActionSet {
        action_selection_mode: ActionSelectionMode::Random.into(),
        ..set_of(vec![choice(&bench, 2, 1, &[2]), choice(&bench, 3, 1, &[3])])
    };
    let entry = path(&bench, 9, one_shot(set.clone()));
    assert_eq!(controller.write_one(Type::Insert, entry.clone()).await, Ok(()));
    let all = Entity::TableEntry(p4rt::TableEntry {
        table_id: bench.table("paths"),
        ..Default::default()
    });
    assert_eq!(controller.read_one(all).await, Ok(vec![entry]));
    let of_one_flow = |server: &Server| -> BTreeSet<u16> {
        let sent = (0..64).flat_map(|_| server.receive(1, ipv4(9, 5, 9, 6)));
        sent.map(|(port, _)| port).collect()
    };
    assert_eq!(of_one_flow(&server), [2, 3].into(), "frames of one flow take both ways");
    server.links_down(&[3]);
    assert_eq!(of_one_flow(&server), [2].into());
    server.links_down(&[]);
    for mode in [
        ActionSelectionMode::Hash,
        ActionSelectionMode::DefaultModeDeterminedByActionSelector,
    ] {
        let set = p4rt::ActionProfileActionSet {
            action_selection_mode: mode.into(),
            ..set.clone()
        };
        let entry = path(&bench, 9, one_shot(set));
        assert_eq!(controller.write_one(Type::Modify, entry).await, Ok(()));
        assert_eq!(of_one_flow(&server).len(), 1, "{mode:?}");
    }
}

#[tokio::test]
async fn a_one_shots_size_is_what_it_says_or_what_p4info_says() {
    let server = start().await;
    let bench = Bench::empty();
    let mut program = config();
    let info = program.p4info.as_mut().expect("P4Info");
    let profiles = info.action_profiles.iter_mut();
    for profile in profiles.filter(|profile| profile.with_selector) {
        profile.max_group_size = 3;
        let members = p4info::action_profile::SumOfMembers { max_member_weight: 4 };
        profile.selector_size_semantics = Some(SelectorSizeSemantics::SumOfMembers(members));
    }
    let mut controller = Controller::with_program(&server, program).await;
    let default = SizeSemantics::DefaultSizeDeterminedByActionSelector;
    let cases: [(&[i32], SizeSemantics, Result<(), Code>); 9] = [
        (&[4, 4, 4], default, Ok(())),
        (&[1, 1, 1, 1], default, Err(Code::InvalidArgument)),
        (&[5], default, Err(Code::InvalidArgument)),
        (&[4, 4, 4], SizeSemantics::SumOfMembers, Ok(())),
        (&[1, 1, 1, 1], SizeSemantics::SumOfMembers, Err(Code::InvalidArgument)),
        (&[1, 2], SizeSemantics::SumOfWeights, Ok(())),
        (&[4], SizeSemantics::SumOfWeights, Err(Code::InvalidArgument)),
        (&[2, 2], SizeSemantics::SumOfWeights, Err(Code::InvalidArgument)),
        (&[0], SizeSemantics::SumOfWeights, Err(Code::InvalidArgument)),
    ];
    for (number, (weights, semantics, expected)) in cases.into_iter().enumerate() {
        let choices = weights.iter().map(|&weight| choice(&bench, 2, weight, &[])).collect();
        let set = p4rt::ActionProfileActionSet {
            size_semantics: semantics.into(),
            ..set_of(choices)
        };
        let entry = path(&bench, number as u8, one_shot(set));
        assert_eq!(
            controller.write_one(Type::Insert, entry).await,
            expected,
            "{weights:?} {semantics:?}"
        );
    }
    for (mode, semantics) in [(3, 0), (0, 3), (-1, -1)] {
        let set = p4rt::ActionProfileActionSet {
            action_selection_mode: mode,
            size_semantics: semantics,
            ..set_of(vec![choice(&bench, 2, 1, &[])])
        };
        let entry = path(&bench, 99, one_shot(set));
        assert_eq!(
            controller.write_one(Type::Insert, entry).await,
            Err(Code::InvalidArgument)
        );
    }
}

#[tokio::test]
async fn a_selector_has_one_shots_or_groups_not_both() {
    let (_server, mut controller, bench) = connected().await;
    assert_eq!(controller.write_one(Type::Insert, member(&bench, 1, 2)).await, Ok(()));
    let by_member = |diffserv| path(&bench, diffserv, ActionKind::ActionProfileMemberId(1));
    let in_one_shot = |diffserv| path(&bench, diffserv, one_shot(set_of(vec![choice(&bench, 2, 1, &[])])));
    assert_eq!(controller.write_one(Type::Insert, by_member(1)).await, Ok(()));
    assert_eq!(
        controller.write_one(Type::Insert, in_one_shot(2)).await,
        Err(Code::InvalidArgument)
    );
    assert_eq!(
        controller.write_one(Type::Modify, in_one_shot(1)).await,
        Ok(()),
        "there is no other entry"
    );
    assert_eq!(
        controller.write_one(Type::Insert, by_member(2)).await,
        Err(Code::InvalidArgument)
    );
    assert_eq!(controller.write_one(Type::Insert, in_one_shot(2)).await, Ok(()));
    assert_eq!(
        controller.write_one(Type::Modify, by_member(1)).await,
        Err(Code::InvalidArgument)
    );
    assert_eq!(controller.write_one(Type::Delete, by_member(2)).await, Ok(()));
    assert_eq!(controller.write_one(Type::Modify, by_member(1)).await, Ok(()));
}

fn replica(choices: &[(u8, u32)]) -> p4rt::Replica {
    let backup = |&(port, instance): &(u8, u32)| p4rt::BackupReplica {
        port: vec![port],
        instance,
    };
    p4rt::Replica {
        port_kind: Some(PortKind::Port(vec![choices[0].0])),
        instance: choices[0].1,
        backup_replicas: choices[1..].iter().map(backup).collect(),
    }
}

fn multicast(replicas: Vec<p4rt::Replica>) -> Entity {
    Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry {
        r#type: Some(Replication::MulticastGroupEntry(p4rt::MulticastGroupEntry {
            multicast_group_id: 5,
            replicas,
            ..Default::default()
        })),
    })
}

#[tokio::test]
async fn a_replica_whose_port_is_down_is_replaced_by_its_first_backup_that_is_up() {
    let (server, mut controller, bench) = connected().await;
    let group = multicast(vec![replica(&[(1, 1), (2, 1), (3, 1)]), replica(&[(3, 2)])]);
    assert_eq!(controller.write_one(Type::Insert, group.clone()).await, Ok(()));
    let all = bench.entry("hosts", vec![exact(1, &[9])], 0, "multicast", &[&[5]]);
    assert_eq!(
        controller.write_one(Type::Insert, Entity::TableEntry(all)).await,
        Ok(())
    );
    let ports = |server: &Server| -> Vec<u16> {
        let mut sent: Vec<u16> = server
            .receive(1, frame(9, 8, 0))
            .into_iter()
            .map(|(port, _)| port)
            .collect();
        sent.sort_unstable();
        sent
    };
    assert_eq!(ports(&server), [1, 3]);
    for (down, expected) in [
        (&[1][..], [2, 3]),
        (&[1, 2], [3, 3]),
        (&[2], [1, 3]),
        (&[1, 2, 3], [1, 3]),
        (&[], [1, 3]),
    ] {
        server.links_down(down);
        assert_eq!(ports(&server), expected, "{down:?}");
    }
    assert_eq!(controller.read_one(group.clone()).await, Ok(vec![group]));
}

#[tokio::test]
async fn backups_are_on_other_ports_and_every_copy_is_there_once() {
    let (_server, mut controller, _) = connected().await;
    let wrong = [
        vec![replica(&[(1, 1), (1, 2)])],
        vec![replica(&[(1, 1), (2, 1), (2, 1)])],
        vec![replica(&[(1, 1), (2, 1)]), replica(&[(2, 1)])],
        vec![replica(&[(1, 1), (2, 70_000)])],
    ];
    for replicas in wrong {
        let written = controller.write_one(Type::Insert, multicast(replicas.clone())).await;
        assert_eq!(written, Err(Code::InvalidArgument), "{replicas:?}");
    }
    let twice_with_other_instances = vec![replica(&[(1, 1), (2, 1)]), replica(&[(2, 2), (1, 2)])];
    assert_eq!(
        controller
            .write_one(Type::Insert, multicast(twice_with_other_instances))
            .await,
        Ok(())
    );
}
