//! The roles that tables belong to: `@p4runtime_role("NAME")`, as in SAI P4 and smolkaj/4ward.
//!
//! The role that owns an object, and the default role, may write and read it. A table without the annotation belongs to
//! the default role only. The direct resources and the action profile of a table have the same owner as the table.
//! Every other object without the annotation belongs to all roles. In a program without the annotation there are no
//! limits.

use std::collections::{BTreeMap, BTreeSet};

use p4sched_proto::p4::config::v1 as p4info;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;

use crate::annotation::{body, unquoted};
use crate::fault::Fault;

const ROLE: &str = "p4runtime_role";

/// The objects with an owner, by identifier.
#[derive(Debug, Default)]
pub struct Roles {
    owned: BTreeMap<u32, Owned>,
}

#[derive(Debug)]
struct Owned {
    name: String,
    /// The roles that own the object, besides the default role.
    roles: BTreeSet<String>,
}

/// The role in an object's annotation.
fn role_of(preamble: &p4info::Preamble) -> Result<Option<String>, Fault> {
    let wrong = |problem: &str| Fault::invalid(format!("P4Info: '{}': @{ROLE}: {problem}", preamble.name));
    if preamble.structured_annotations.iter().any(|given| given.name == ROLE) {
        return Err(wrong("its name stands in parentheses, (\"...\"), not in brackets"));
    }
    let mut bodies = preamble.annotations.iter().filter_map(|text| body(text, ROLE));
    let Some(first) = bodies.next() else { return Ok(None) };
    if bodies.next().is_some() {
        return Err(wrong("given twice; an object has one role"));
    }
    let role = unquoted(first).filter(|role| !role.is_empty());
    role.map(Some)
        .ok_or_else(|| wrong("it takes the name of a role, (\"...\")"))
}

impl Roles {
    /// The owners that P4Info declares.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an annotation that does not name exactly one role.
    pub fn new(p4info: &p4info::P4Info) -> Result<Roles, Fault> {
        let mut owned = BTreeMap::new();
        for table in &p4info.tables {
            if let Some(preamble) = &table.preamble {
                owned.insert(preamble.id, Owned::of(preamble)?);
            }
        }
        for profile in &p4info.action_profiles {
            if let Some(preamble) = &profile.preamble {
                let mut found = Owned::of(preamble)?;
                let tables = profile.table_ids.iter().filter_map(|id| owned.get(id));
                found.roles.extend(tables.flat_map(|table: &Owned| table.roles.clone()));
                owned.insert(preamble.id, found);
            }
        }
        let counters = p4info.counters.iter().map(|object| &object.preamble);
        let meters = p4info.meters.iter().map(|object| &object.preamble);
        let registers = p4info.registers.iter().map(|object| &object.preamble);
        let value_sets = p4info.value_sets.iter().map(|object| &object.preamble);
        let digests = p4info.digests.iter().map(|object| &object.preamble);
        let others = counters.chain(meters).chain(registers).chain(value_sets).chain(digests);
        for preamble in others.flatten() {
            let found = Owned::of(preamble)?;
            if !found.roles.is_empty() {
                owned.insert(preamble.id, found);
            }
        }
        if owned.values().all(|owned| owned.roles.is_empty()) {
            owned.clear();
        }
        Ok(Roles { owned })
    }

    /// Refuses with `PERMISSION_DENIED` if a role may not write or read an entity. Every role may ask for all entities
    /// of a kind, which only reads do.
    pub fn check(&self, role: &str, entity: &p4rt::Entity) -> Result<(), Fault> {
        match entity.entity.as_ref().and_then(|entity| self.denies(role, entity)) {
            None => Ok(()),
            Some(owned) => Err(Fault::denied(format!(
                "{} belongs to {}, not to the role '{role}'",
                owned.name,
                owned.owner()
            ))),
        }
    }

    /// Whether a role may read an entity that a read found.
    pub fn permits(&self, role: &str, entity: &Entity) -> bool {
        self.denies(role, entity).is_none()
    }

    /// The object that an entity belongs to, if this role does not own it.
    fn denies(&self, role: &str, entity: &Entity) -> Option<&Owned> {
        if role.is_empty() || self.owned.is_empty() {
            return None;
        }
        let owned = self.owned.get(&object_of(entity)?)?;
        (!owned.roles.contains(role)).then_some(owned)
    }
}

impl Owned {
    fn of(preamble: &p4info::Preamble) -> Result<Owned, Fault> {
        Ok(Owned {
            name: preamble.name.clone(),
            roles: role_of(preamble)?.into_iter().collect(),
        })
    }

    fn owner(&self) -> String {
        let roles: Vec<String> = self.roles.iter().map(|role| format!("'{role}'")).collect();
        match roles.len() {
            0 => "the default role".to_owned(),
            1 => format!("the role {}", roles[0]),
            _ => format!("the roles {}", roles.join(", ")),
        }
    }
}

/// The object of P4Info that an entity belongs to; 0 means all objects of a kind.
fn object_of(entity: &Entity) -> Option<u32> {
    match entity {
        Entity::TableEntry(entry) => Some(entry.table_id),
        Entity::DirectCounterEntry(entry) => entry.table_entry.as_ref().map(|entry| entry.table_id),
        Entity::DirectMeterEntry(entry) => entry.table_entry.as_ref().map(|entry| entry.table_id),
        Entity::ActionProfileMember(member) => Some(member.action_profile_id),
        Entity::ActionProfileGroup(group) => Some(group.action_profile_id),
        Entity::CounterEntry(entry) => Some(entry.counter_id),
        Entity::MeterEntry(entry) => Some(entry.meter_id),
        Entity::RegisterEntry(entry) => Some(entry.register_id),
        Entity::ValueSetEntry(entry) => Some(entry.value_set_id),
        Entity::DigestEntry(entry) => Some(entry.digest_id),
        Entity::PacketReplicationEngineEntry(_) | Entity::ExternEntry(_) => None,
    }
}
