//! Updates that undo an update, and updates that repeat everything that was written.

use p4sched_dataplane::{Count, Nanos, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::update::Type;

use crate::entities::{self, meters, table_entries};
use crate::fault::Fault;
use crate::forwarding::Forwarding;

fn update(kind: Type, entity: Entity) -> p4rt::Update {
    p4rt::Update {
        r#type: kind.into(),
        entity: Some(p4rt::Entity { entity: Some(entity) }),
    }
}

/// The inverse of an update.
pub struct Inverse {
    updates: Vec<p4rt::Update>,
    /// The counts of colours, which no update can set, with their owners.
    colours: Vec<(Entity, [Count; 3])>,
}

impl Inverse {
    /// The inverse of an update that is about to be applied.
    ///
    /// # Errors
    /// Those of reading the entity.
    pub fn of(
        forwarding: &Forwarding,
        pipeline: &Pipeline,
        now: Nanos,
        given: &p4rt::Update,
    ) -> Result<Inverse, Fault> {
        let entity = given.entity.as_ref().and_then(|entity| entity.entity.as_ref());
        let entity = entity.filter(|_| given.r#type() != Type::Insert);
        Ok(Inverse {
            updates: inverse(forwarding, pipeline, now, given)?,
            colours: entity.map_or_else(Vec::new, |entity| meters::counted(forwarding, pipeline, entity)),
        })
    }

    /// Undoes the update.
    pub fn apply(&self, forwarding: &mut Forwarding, pipeline: &mut Pipeline, now: Nanos) {
        for update in &self.updates {
            let undone = entities::write(forwarding, pipeline, now, update);
            debug_assert!(undone.is_ok(), "{update:?} takes back what succeeded: {undone:?}");
        }
        for (of, counts) in &self.colours {
            let undone = meters::count_again(forwarding, pipeline, of, *counts);
            debug_assert!(undone.is_ok(), "{of:?} was there before: {undone:?}");
        }
    }
}

/// The updates that restore what `given` is about to change. Empty if there is nothing to restore because the update
/// will fail.
fn inverse(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    now: Nanos,
    given: &p4rt::Update,
) -> Result<Vec<p4rt::Update>, Fault> {
    let Some(entity) = given.entity.as_ref().and_then(|entity| entity.entity.as_ref()) else {
        return Ok(Vec::new());
    };
    if given.r#type() == Type::Insert {
        return Ok(vec![update(Type::Delete, entity.clone())]);
    }
    let old: Vec<Entity> = match entity {
        Entity::TableEntry(entry) => table_entries::snapshot(forwarding, pipeline, now, entry)?
            .into_iter()
            .collect(),
        Entity::DirectCounterEntry(entry) => single(forwarding, pipeline, now, entry.table_entry.as_ref())?,
        Entity::DirectMeterEntry(entry) => single(forwarding, pipeline, now, entry.table_entry.as_ref())?,
        Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry { r#type: None })
        | Entity::ExternEntry(_) => Vec::new(),
        other => {
            let mut filter = other.clone();
            if let Entity::MeterEntry(entry) = &mut filter {
                // No update sets the counts of colours: they are restored separately.
                entry.counter_data = None;
            }
            entities::read(forwarding, pipeline, now, &p4rt::Entity { entity: Some(filter) })?
        }
    };
    let kind = if given.r#type() == Type::Delete {
        Type::Insert
    } else {
        Type::Modify
    };
    Ok(old.into_iter().map(|entity| update(kind, entity)).collect())
}

fn single(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    now: Nanos,
    entry: Option<&p4rt::TableEntry>,
) -> Result<Vec<Entity>, Fault> {
    let Some(entry) = entry else { return Ok(Vec::new()) };
    Ok(table_entries::snapshot(forwarding, pipeline, now, entry)?
        .into_iter()
        .collect())
}

/// The updates that bring `new`, a program in its initial state, to the state of the old one: every entity that was
/// written, with the values of counters and registers.
///
/// # Errors
/// Those of reading the entities.
pub fn everything(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    now: Nanos,
    new: &Forwarding,
) -> Result<Vec<p4rt::Update>, Fault> {
    let mut updates = Vec::new();
    let read = |entity: Entity| entities::read(forwarding, pipeline, now, &p4rt::Entity { entity: Some(entity) });
    let insert = |entities: Vec<Entity>, updates: &mut Vec<p4rt::Update>| {
        updates.extend(entities.into_iter().map(|entity| update(Type::Insert, entity)));
    };
    insert(read(Entity::ActionProfileMember(Default::default()))?, &mut updates);
    insert(read(Entity::ActionProfileGroup(Default::default()))?, &mut updates);
    insert(
        read(Entity::PacketReplicationEngineEntry(Default::default()))?,
        &mut updates,
    );
    insert(read(Entity::DigestEntry(Default::default()))?, &mut updates);
    updates.extend(
        table_entries::replay(forwarding, pipeline, now, new)?
            .into_iter()
            .map(|(kind, entry)| update(kind, entry)),
    );
    for entity in [
        Entity::ValueSetEntry(Default::default()),
        Entity::CounterEntry(Default::default()),
        Entity::MeterEntry(Default::default()),
        Entity::RegisterEntry(Default::default()),
    ] {
        let found = read(entity)?
            .into_iter()
            .filter(|entity| !untouched(forwarding, entity));
        updates.extend(found.map(|entity| update(Type::Modify, entity)));
    }
    Ok(updates)
}

/// Whether an entity has its initial state, or cannot be written by a controller.
fn untouched(forwarding: &Forwarding, entity: &Entity) -> bool {
    match entity {
        Entity::CounterEntry(entry) => entry.data == Some(p4rt::CounterData::default()),
        Entity::MeterEntry(entry) => entry.config.is_none(),
        Entity::ValueSetEntry(entry) => entry.members.is_empty(),
        Entity::RegisterEntry(entry) => {
            let register = forwarding.index.registers.get(&entry.register_id);
            register.is_some_and(|register| register.queue_depth)
        }
        Entity::PacketReplicationEngineEntry(entry) => !matches!(
            entry.r#type,
            Some(Replication::MulticastGroupEntry(_) | Replication::CloneSessionEntry(_))
        ),
        _ => false,
    }
}
