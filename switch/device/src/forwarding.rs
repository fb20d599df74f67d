//! One loaded program as P4Runtime sees it: its configuration and every entity that was written.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4sched_dataplane::{Nanos, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::update::Type;

use crate::Fault;
use crate::digest_lists::DigestLists;
use crate::entities::profiles::ProfileStore;
use crate::entities::table_entries::TableStore;
use crate::entities::{counters, digests, meters, profiles, registers, replication, table_entries, value_sets};
use crate::index::Index;

/// The control plane's side of a program. Every method takes the program's pipeline beside it.
#[derive(Debug)]
pub struct Forwarding {
    /// As it was set.
    pub config: p4rt::ForwardingPipelineConfig,
    /// P4Info by identifier.
    pub index: Arc<Index>,
    pub(crate) tables: BTreeMap<u32, TableStore>,
    pub(crate) profiles: BTreeMap<u32, ProfileStore>,
    pub(crate) multicast: BTreeMap<u32, p4rt::MulticastGroupEntry>,
    pub(crate) clones: BTreeMap<u32, p4rt::CloneSessionEntry>,
    pub(crate) value_sets: BTreeMap<u32, Vec<p4rt::ValueSetMember>>,
    pub(crate) digests: DigestLists,
}

impl Forwarding {
    /// The state of a program that was just loaded, with the entries that it came with.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if P4Info and program do not belong together, or the program breaks its own restrictions.
    pub fn new(config: p4rt::ForwardingPipelineConfig, pipeline: &Pipeline) -> Result<Forwarding, Fault> {
        let Some(p4info) = &config.p4info else {
            return Err(Fault::invalid("the pipeline configuration has no p4info"));
        };
        let index = Arc::new(Index::new(p4info, pipeline)?);
        let mut forwarding = Forwarding {
            config,
            tables: index.tables.keys().map(|&id| (id, TableStore::default())).collect(),
            profiles: index.profiles.keys().map(|&id| (id, ProfileStore::default())).collect(),
            index,
            multicast: BTreeMap::new(),
            clones: BTreeMap::new(),
            value_sets: BTreeMap::new(),
            digests: DigestLists::default(),
        };
        table_entries::adopt_initial(&mut forwarding, pipeline)?;
        Ok(forwarding)
    }

    /// Applies one update.
    ///
    /// # Errors
    /// The fault that the specification prescribes; nothing has changed then.
    pub fn write(&mut self, pipeline: &mut Pipeline, now: Nanos, update: &p4rt::Update) -> Result<(), Fault> {
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
            Entity::TableEntry(entry) => table_entries::write(self, pipeline, kind, entry),
            Entity::ActionProfileMember(member) => profiles::write_member(self, pipeline, kind, member),
            Entity::ActionProfileGroup(group) => profiles::write_group(self, pipeline, kind, group),
            Entity::CounterEntry(entry) => counters::write(self, pipeline, kind, entry),
            Entity::DirectCounterEntry(entry) => counters::write_direct(self, pipeline, kind, entry),
            Entity::MeterEntry(entry) => meters::write(self, pipeline, kind, entry),
            Entity::DirectMeterEntry(entry) => meters::write_direct(self, pipeline, kind, entry),
            Entity::RegisterEntry(entry) => registers::write(self, pipeline, kind, entry),
            Entity::PacketReplicationEngineEntry(entry) => match &entry.r#type {
                Some(Replication::MulticastGroupEntry(group)) => replication::write_group(self, pipeline, kind, group),
                Some(Replication::CloneSessionEntry(session)) => {
                    replication::write_session(self, pipeline, kind, session)
                }
                None => Err(Fault::invalid(
                    "a packet replication entry without a multicast group or clone session",
                )),
            },
            Entity::ValueSetEntry(entry) => value_sets::write(self, pipeline, kind, entry),
            Entity::DigestEntry(entry) => digests::write(self, now, kind, entry),
            Entity::ExternEntry(_) => Err(Fault::unimplemented("v1model has no externs beyond those of P4Runtime")),
        }
    }

    /// Reads the entities that a filter selects.
    ///
    /// # Errors
    /// The fault that the specification prescribes.
    pub fn read(&self, pipeline: &Pipeline, now: Nanos, filter: &p4rt::Entity) -> Result<Vec<Entity>, Fault> {
        let filter = filter.entity.as_ref();
        match filter.ok_or_else(|| Fault::invalid("a read of an entity without a kind"))? {
            Entity::TableEntry(entry) => table_entries::read(self, pipeline, now, entry),
            Entity::ActionProfileMember(member) => profiles::read_members(self, member),
            Entity::ActionProfileGroup(group) => profiles::read_groups(self, group),
            Entity::CounterEntry(entry) => counters::read(self, pipeline, entry),
            Entity::DirectCounterEntry(entry) => counters::read_direct(self, pipeline, entry),
            Entity::MeterEntry(entry) => meters::read(self, pipeline, entry),
            Entity::DirectMeterEntry(entry) => meters::read_direct(self, pipeline, entry),
            Entity::RegisterEntry(entry) => registers::read(self, pipeline, entry),
            Entity::PacketReplicationEngineEntry(entry) => Ok(replication::read(self, entry)),
            Entity::ValueSetEntry(entry) => value_sets::read(self, entry),
            Entity::DigestEntry(entry) => digests::read(self, entry),
            Entity::ExternEntry(filter) if filter.extern_type_id == 0 => Ok(Vec::new()),
            Entity::ExternEntry(_) => Err(Fault::unimplemented("v1model has no externs beyond those of P4Runtime")),
        }
    }
}
