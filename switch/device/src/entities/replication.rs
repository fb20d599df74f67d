//! The packet replication engine: multicast groups and clone sessions.

use std::collections::HashSet;

use p4sched_dataplane::{CloneSession, Pipeline, Port};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Kind;
use p4sched_proto::p4::v1::replica::PortKind;
use p4sched_proto::p4::v1::update::Type;

use crate::bytestring::full_width;
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::links::{Links, liveness};

/// The width of v1model's port numbers.
const PORT_BITS: u32 = 9;
/// The largest session number: BMv2 uses 15 bits.
const LAST_SESSION: u32 = 0x7fff;

fn port_of(what: &str, port: Option<&PortKind>) -> Result<Port, Fault> {
    match port {
        Some(PortKind::Port(port)) => {
            let port = full_width(&format_args!("{what}: port"), port, PORT_BITS)?;
            Ok(Port::from_be_bytes([port[0], port[1]]))
        }
        #[allow(deprecated, reason = "clients older than P4Runtime 1.4 send this form")]
        Some(PortKind::EgressPort(port)) => Port::try_from(*port)
            .ok()
            .filter(|port| *port < 1 << PORT_BITS)
            .ok_or_else(|| Fault::out_of_range(format!("{what}: port {port} needs more than {PORT_BITS} bits"))),
        None => Err(Fault::invalid(format!("{what}: a replica without a port"))),
    }
}

fn instance_of(what: &str, instance: u32) -> Result<u16, Fault> {
    u16::try_from(instance).map_err(|_| Fault::invalid(format!("{what}: instance {instance} above 65535")))
}

/// The port and instance of each replica, followed by those of its backups.
fn choices_of(what: &str, replicas: &[p4rt::Replica]) -> Result<Vec<Vec<(Port, u16)>>, Fault> {
    let mut found: Vec<Vec<(Port, u16)>> = Vec::with_capacity(replicas.len());
    let mut seen = HashSet::new();
    for replica in replicas {
        let mut choices = vec![(
            port_of(what, replica.port_kind.as_ref())?,
            instance_of(what, replica.instance)?,
        )];
        for backup in &replica.backup_replicas {
            let port = port_of(what, Some(&PortKind::Port(backup.port.clone())))?;
            if port == choices[0].0 {
                return Err(Fault::invalid(format!("{what}: port {port} is a backup of itself")));
            }
            choices.push((port, instance_of(what, backup.instance)?));
        }
        if let Some((port, instance)) = choices.iter().find(|choice| !seen.insert(**choice)) {
            return Err(Fault::invalid(format!(
                "{what}: port {port} with instance {instance} twice"
            )));
        }
        found.push(choices);
    }
    Ok(found)
}

/// The port and instance of each copy, with the present state of the links.
fn copies(links: &Links, choices: &[Vec<(Port, u16)>]) -> Vec<(Port, u16)> {
    let copies = choices.iter();
    copies
        .filter_map(|choices| liveness::first_alive(links, choices))
        .collect()
}

fn has_backups(replicas: &[p4rt::Replica]) -> bool {
    replicas.iter().any(|replica| !replica.backup_replicas.is_empty())
}

/// Updates groups and sessions with backups to the state of the links.
pub(crate) fn follow(forwarding: &Forwarding, pipeline: &mut Pipeline) {
    let links = &forwarding.links;
    for (&id, group) in forwarding
        .multicast
        .iter()
        .filter(|(_, group)| has_backups(&group.replicas))
    {
        if let Ok(choices) = choices_of("", &group.replicas) {
            pipeline.mcast_group_set(id as u16, copies(links, &choices));
        }
    }
    for (&id, session) in forwarding
        .clones
        .iter()
        .filter(|(_, session)| has_backups(&session.replicas))
    {
        if let (Ok(choices), Some(old)) = (choices_of("", &session.replicas), pipeline.clone_session(id as u16)) {
            let replicas = copies(links, &choices);
            let session = CloneSession {
                replicas,
                ..old.clone()
            };
            pipeline.clone_session_set(id as u16, session);
        }
    }
}

fn check_existence(what: &str, kind: Type, exists: bool) -> Result<(), Fault> {
    match (kind, exists) {
        (Type::Insert, true) => Err(Fault::exists(format!("{what} exists"))),
        (Type::Modify | Type::Delete, false) => Err(Fault::not_found(format!("no {what}"))),
        _ => Ok(()),
    }
}

/// Inserts, modifies or deletes a multicast group.
pub(crate) fn write_group(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    group: &p4rt::MulticastGroupEntry,
) -> Result<(), Fault> {
    let id = group.multicast_group_id;
    let number = u16::try_from(id).ok().filter(|&id| id > 0);
    let number = number.ok_or_else(|| Fault::invalid(format!("multicast group {id}; groups are 1 to 65535")))?;
    let what = format!("multicast group {id}");
    check_existence(&what, kind, forwarding.multicast.contains_key(&id))?;
    if kind == Type::Delete {
        pipeline.mcast_group_delete(number);
        forwarding.multicast.remove(&id);
        forwarding.nodes.follow(id, &[]);
        return Ok(());
    }
    let choices = choices_of(&what, &group.replicas)?;
    let replicas = copies(&forwarding.links, &choices);
    forwarding.nodes.follow(id, &replicas);
    pipeline.mcast_group_set(number, replicas);
    forwarding.multicast.insert(id, group.clone());
    Ok(())
}

/// Inserts, modifies or deletes a clone session.
pub(crate) fn write_session(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    session: &p4rt::CloneSessionEntry,
) -> Result<(), Fault> {
    let id = session.session_id;
    if !(1..=LAST_SESSION).contains(&id) {
        return Err(Fault::invalid(format!(
            "clone session {id}; sessions are 1 to {LAST_SESSION}"
        )));
    }
    let (what, number) = (format!("clone session {id}"), id as u16);
    check_existence(&what, kind, forwarding.clones.contains_key(&id))?;
    if kind == Type::Delete {
        pipeline.clone_session_delete(number);
        forwarding.clones.remove(&id);
        return Ok(());
    }
    let class = u8::try_from(session.class_of_service).ok().filter(|&class| class < 8);
    let class_of_service = class.ok_or_else(|| {
        Fault::invalid(format!(
            "{what}: class of service {}; classes are 0 to 7",
            session.class_of_service
        ))
    })?;
    let length = u32::try_from(session.packet_length_bytes);
    let length = length.map_err(|_| Fault::invalid(format!("{what}: a negative packet length")))?;
    let config = CloneSession {
        replicas: copies(&forwarding.links, &choices_of(&what, &session.replicas)?),
        group: None,
        truncate_to: (length > 0).then_some(length),
        class_of_service,
    };
    pipeline.clone_session_set(number, config);
    forwarding.clones.insert(id, session.clone());
    Ok(())
}

/// Reads one or all multicast groups, or one or all clone sessions.
pub(crate) fn read(forwarding: &Forwarding, filter: &p4rt::PacketReplicationEngineEntry) -> Vec<Entity> {
    let mut found = Vec::new();
    let groups = |id: u32| {
        forwarding
            .multicast
            .iter()
            .filter(move |&(&key, _)| id == 0 || id == key)
    };
    let sessions = |id: u32| forwarding.clones.iter().filter(move |&(&key, _)| id == 0 || id == key);
    let (group_id, session_id) = match &filter.r#type {
        Some(Kind::MulticastGroupEntry(group)) => (Some(group.multicast_group_id), None),
        Some(Kind::CloneSessionEntry(session)) => (None, Some(session.session_id)),
        None => (Some(0), Some(0)),
    };
    found.extend(
        group_id
            .into_iter()
            .flat_map(groups)
            .map(|(_, group)| Kind::MulticastGroupEntry(group.clone())),
    );
    found.extend(
        session_id
            .into_iter()
            .flat_map(sessions)
            .map(|(_, session)| Kind::CloneSessionEntry(session.clone())),
    );
    let entry = |kind| Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry { r#type: Some(kind) });
    found.into_iter().map(entry).collect()
}
