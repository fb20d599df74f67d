//! The entities of P4Runtime, one file for each kind: how they are written and read.

mod array;
mod counters;
mod digests;
mod direct;
pub(crate) mod link_changes;
pub(crate) mod meters;
pub(crate) mod one_shot;
pub(crate) mod profiles;
mod registers;
pub(crate) mod replication;
pub mod table_entries;
pub(crate) mod value_sets;

use p4sched_dataplane::{Nanos, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::update::Type;

use crate::fault::Fault;
use crate::forwarding::Forwarding;

/// Applies one update.
///
/// # Errors
/// The error that the specification prescribes. After an error, nothing has changed.
pub fn write(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    now: Nanos,
    update: &p4rt::Update,
) -> Result<(), Fault> {
    let kind = match update.r#type() {
        Type::Unspecified => {
            return Err(Fault::invalid(
                "an update without a type; it is INSERT, MODIFY or DELETE",
            ));
        }
        kind => kind,
    };
    let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
    match entity.ok_or_else(|| Fault::invalid("an update without an entity"))? {
        Entity::TableEntry(entry) => table_entries::write(forwarding, pipeline, kind, entry),
        Entity::ActionProfileMember(member) => profiles::write_member(forwarding, pipeline, kind, member),
        Entity::ActionProfileGroup(group) => profiles::write_group(forwarding, pipeline, kind, group),
        Entity::CounterEntry(entry) => counters::write(forwarding, pipeline, kind, entry),
        Entity::DirectCounterEntry(entry) => counters::write_direct(forwarding, pipeline, kind, entry),
        Entity::MeterEntry(entry) => meters::write(forwarding, pipeline, kind, entry),
        Entity::DirectMeterEntry(entry) => meters::write_direct(forwarding, pipeline, kind, entry),
        Entity::RegisterEntry(entry) => registers::write(forwarding, pipeline, kind, entry),
        Entity::PacketReplicationEngineEntry(entry) => match &entry.r#type {
            Some(Replication::MulticastGroupEntry(group)) => {
                replication::write_group(forwarding, pipeline, kind, group)
            }
            Some(Replication::CloneSessionEntry(session)) => {
                replication::write_session(forwarding, pipeline, kind, session)
            }
            None => Err(Fault::invalid(
                "a packet replication entry without a multicast group or clone session",
            )),
        },
        Entity::ValueSetEntry(entry) => value_sets::write(forwarding, pipeline, kind, entry),
        Entity::DigestEntry(entry) => digests::write(forwarding, now, kind, entry),
        Entity::ExternEntry(_) => Err(Fault::unimplemented("v1model has no externs beyond those of P4Runtime")),
    }
}

/// Reads the entities that a filter selects.
///
/// # Errors
/// The error that the specification prescribes.
pub fn read(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    now: Nanos,
    filter: &p4rt::Entity,
) -> Result<Vec<Entity>, Fault> {
    let filter = filter.entity.as_ref();
    match filter.ok_or_else(|| Fault::invalid("a read of an entity without a kind"))? {
        Entity::TableEntry(entry) => table_entries::read(forwarding, pipeline, now, entry),
        Entity::ActionProfileMember(member) => profiles::read_members(forwarding, member),
        Entity::ActionProfileGroup(group) => profiles::read_groups(forwarding, group),
        Entity::CounterEntry(entry) => counters::read(forwarding, pipeline, entry),
        Entity::DirectCounterEntry(entry) => counters::read_direct(forwarding, pipeline, entry),
        Entity::MeterEntry(entry) => meters::read(forwarding, pipeline, entry),
        Entity::DirectMeterEntry(entry) => meters::read_direct(forwarding, pipeline, entry),
        Entity::RegisterEntry(entry) => registers::read(forwarding, pipeline, entry),
        Entity::PacketReplicationEngineEntry(entry) => Ok(replication::read(forwarding, entry)),
        Entity::ValueSetEntry(entry) => value_sets::read(forwarding, entry),
        Entity::DigestEntry(entry) => digests::read(forwarding, entry),
        Entity::ExternEntry(filter) if filter.extern_type_id == 0 => Ok(Vec::new()),
        Entity::ExternEntry(_) => Err(Fault::unimplemented("v1model has no externs beyond those of P4Runtime")),
    }
}
