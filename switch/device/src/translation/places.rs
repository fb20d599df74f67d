//! The places of translated values in P4Runtime's messages.

use std::collections::HashMap;

use p4sched_proto::p4::config::v1 as p4info;
use p4sched_proto::p4::config::v1::action::Param;
use p4sched_proto::p4::config::v1::controller_packet_metadata::Metadata;
use p4sched_proto::p4::config::v1::p4_data_type_spec::TypeSpec;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::field_match::FieldMatchType;
use p4sched_proto::p4::v1::p4_data::Data;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::replica::PortKind;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::{action_profile_action, action_profile_group};

use super::dictionary::{Dictionary, Sdn};
use crate::bytestring::canonical;
use crate::fault::Fault;
use crate::match_key::ones;

/// Names of port types: those of PSA and of SAI P4.
pub const PORT_TYPES: [&str; 3] = ["PortId_t", "PortIdInHeader_t", "port_id_t"];

/// A translated type, by its position in P4Info.
pub type TypeId = usize;

fn id(preamble: &Option<p4info::Preamble>) -> u32 {
    preamble.as_ref().map_or(0, |preamble| preamble.id)
}

/// The part of an entity that a value belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// It identifies the entry.
    Key,
    /// Everything else.
    Content,
}

/// The function that is called with each value.
pub type Visit<'a> = &'a mut dyn FnMut(TypeId, Part, &mut Vec<u8>) -> Result<(), Fault>;

/// The values of a message to visit.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    /// Visit actions, cells, members and replicas, besides keys and indices.
    pub content: bool,
    /// Refuse a mask over a value without bits for the controller.
    pub strict: bool,
}

/// The properties of a type that its places need.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The controller's representation.
    pub sdn: Sdn,
    /// Whether it has numbers whose bits mean the same on both sides.
    pub plain: bool,
    /// Width in the data plane, in bits.
    pub width: u32,
}

impl Kind {
    /// The width of the controller's value in bits.
    fn sdn_bits(&self, value: &[u8]) -> u32 {
        match self.sdn {
            Sdn::Text => 8 * value.len() as u32,
            Sdn::Number(bits) => bits,
        }
    }
}

/// The translated types in use, by identifiers of P4Info.
#[derive(Debug, Clone, Default)]
pub struct Places {
    pub types: Vec<Kind>,
    /// Indexed by table or value set, and field.
    pub fields: HashMap<(u32, u32), TypeId>,
    /// Indexed by action and parameter.
    pub params: HashMap<(u32, u32), TypeId>,
    /// Metadata of packet-ins.
    pub packet_in: HashMap<u32, TypeId>,
    /// Metadata of packet-outs.
    pub packet_out: HashMap<u32, TypeId>,
    /// Indices of counters, meters and registers.
    pub indices: HashMap<u32, TypeId>,
    /// Cells of registers and messages of digests.
    pub cells: HashMap<u32, p4info::P4DataTypeSpec>,
    /// Named types.
    pub named: HashMap<String, TypeId>,
    /// Structs of P4Info.
    pub structs: HashMap<String, Vec<p4info::P4DataTypeSpec>>,
    /// The type of the ports in replicas and of watch ports.
    pub port: Option<TypeId>,
}

impl Places {
    /// Collects the places of these types.
    pub fn new(info: &p4info::P4Info, dictionaries: &[Dictionary]) -> Places {
        let named = dictionaries.iter().enumerate();
        let named: HashMap<String, TypeId> = named.map(|(kind, types)| (types.type_name.clone(), kind)).collect();
        let kind_of = |types: &Dictionary| Kind {
            sdn: types.sdn,
            plain: types.is_plain(),
            width: types.width,
        };
        let port = PORT_TYPES.iter().find_map(|name| named.get(*name)).copied();
        let mut places = Places {
            types: dictionaries.iter().map(kind_of).collect(),
            port: port.or_else(|| dictionaries.iter().position(Dictionary::is_of_ports)),
            named,
            ..Places::default()
        };
        places.add_fields(info);
        places.add_arrays(info);
        for header in &info.controller_packet_metadata {
            let of = |field: &Metadata| Some((field.id, places.kind(&field.type_name)?));
            let kinds = header.metadata.iter().filter_map(of).collect();
            match header.preamble.as_ref().map(|preamble| preamble.name.as_str()) {
                Some("packet_in") => places.packet_in = kinds,
                _ => places.packet_out = kinds,
            }
        }
        places
    }

    fn kind(&self, name: &Option<p4info::P4NamedType>) -> Option<TypeId> {
        self.named.get(&name.as_ref()?.name).copied()
    }

    /// Fields of tables and value sets, and parameters of actions.
    fn add_fields(&mut self, info: &p4info::P4Info) {
        let tables = info.tables.iter().map(|table| (&table.preamble, &table.match_fields));
        let sets = info.value_sets.iter().map(|set| (&set.preamble, &set.r#match));
        for (owner, fields) in tables.chain(sets) {
            let of = |field: &p4info::MatchField| Some(((id(owner), field.id), self.kind(&field.type_name)?));
            let found: Vec<_> = fields.iter().filter_map(of).collect();
            self.fields.extend(found);
        }
        for action in &info.actions {
            let owner = id(&action.preamble);
            let of = |param: &Param| Some(((owner, param.id), self.kind(&param.type_name)?));
            let found: Vec<_> = action.params.iter().filter_map(of).collect();
            self.params.extend(found);
        }
    }

    /// Indices and cells of counters, meters and registers, messages of digests, and their structs.
    fn add_arrays(&mut self, info: &p4info::P4Info) {
        let counters = info
            .counters
            .iter()
            .map(|array| (&array.preamble, &array.index_type_name));
        let meters = info
            .meters
            .iter()
            .map(|array| (&array.preamble, &array.index_type_name));
        let registers = info
            .registers
            .iter()
            .map(|array| (&array.preamble, &array.index_type_name));
        let indices = counters.chain(meters).chain(registers);
        self.indices = indices
            .filter_map(|(array, name)| Some((id(array), self.kind(name)?)))
            .collect();
        let registers = info.registers.iter().map(|array| (&array.preamble, &array.type_spec));
        let digests = info.digests.iter().map(|digest| (&digest.preamble, &digest.type_spec));
        let cells = registers.chain(digests);
        self.cells = cells
            .filter_map(|(array, spec)| Some((id(array), spec.clone()?)))
            .collect();
        let members = |spec: &p4info::P4StructTypeSpec| {
            let specs = spec.members.iter().map(|member| member.type_spec.clone());
            specs.map(Option::unwrap_or_default).collect()
        };
        let structs = info.type_info.iter().flat_map(|types| &types.structs);
        self.structs = structs.map(|(name, spec)| (name.clone(), members(spec))).collect();
    }

    /// Visits the values of an entity.
    ///
    /// # Errors
    /// Those of `visit`, and `INVALID_ARGUMENT` for masks over values without bits.
    pub fn entity(&self, entity: &mut Entity, parts: Parts, visit: Visit) -> Result<(), Fault> {
        match entity {
            Entity::TableEntry(entry) => self.table_entry(entry, parts, visit),
            Entity::DirectCounterEntry(p4rt::DirectCounterEntry { table_entry, .. })
            | Entity::DirectMeterEntry(p4rt::DirectMeterEntry { table_entry, .. }) => match table_entry {
                Some(entry) => self.table_entry(
                    entry,
                    Parts {
                        content: false,
                        ..parts
                    },
                    visit,
                ),
                None => Ok(()),
            },
            Entity::ActionProfileMember(member) if parts.content => self.action(member.action.as_mut(), visit),
            Entity::ActionProfileGroup(group) if parts.content => group.members.iter_mut().try_for_each(|member| {
                use action_profile_group::member::WatchKind;
                match &mut member.watch_kind {
                    Some(WatchKind::WatchPort(port)) => self.port(port, visit),
                    _ => Ok(()),
                }
            }),
            Entity::CounterEntry(entry) => self.index(entry.counter_id, entry.index.as_mut(), visit),
            Entity::MeterEntry(entry) => self.index(entry.meter_id, entry.index.as_mut(), visit),
            Entity::RegisterEntry(entry) => {
                self.index(entry.register_id, entry.index.as_mut(), visit)?;
                match (self.cells.get(&entry.register_id), &mut entry.data) {
                    (Some(spec), Some(data)) if parts.content => self.data(spec, data, visit),
                    _ => Ok(()),
                }
            }
            Entity::ValueSetEntry(entry) if parts.content => {
                let id = entry.value_set_id;
                let members = entry.members.iter_mut();
                members
                    .flat_map(|member| &mut member.r#match)
                    .try_for_each(|field| self.field(id, field, Part::Content, parts.strict, visit))
            }
            Entity::PacketReplicationEngineEntry(entry) if parts.content => match &mut entry.r#type {
                Some(Replication::MulticastGroupEntry(group)) => self.replicas(&mut group.replicas, visit),
                Some(Replication::CloneSessionEntry(session)) => self.replicas(&mut session.replicas, visit),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Visits the values of an entry.
    ///
    /// # Errors
    /// Those of [`Places::entity`].
    pub fn table_entry(&self, entry: &mut p4rt::TableEntry, parts: Parts, visit: Visit) -> Result<(), Fault> {
        let id = entry.table_id;
        for field in &mut entry.r#match {
            self.field(id, field, Part::Key, parts.strict, visit)?;
        }
        let action = entry.action.as_mut().and_then(|action| action.r#type.as_mut());
        match action.filter(|_| parts.content) {
            Some(ActionKind::Action(action)) => self.action(Some(action), visit),
            Some(ActionKind::ActionProfileActionSet(set)) => {
                set.action_profile_actions.iter_mut().try_for_each(|choice| {
                    if let Some(action_profile_action::WatchKind::WatchPort(port)) = &mut choice.watch_kind {
                        self.port(port, visit)?;
                    }
                    self.action(choice.action.as_mut(), visit)
                })
            }
            _ => Ok(()),
        }
    }

    fn action(&self, action: Option<&mut p4rt::Action>, visit: Visit) -> Result<(), Fault> {
        let Some(action) = action else { return Ok(()) };
        let id = action.action_id;
        action
            .params
            .iter_mut()
            .try_for_each(|param| match self.params.get(&(id, param.param_id)) {
                Some(&kind) => visit(kind, Part::Content, &mut param.value),
                None => Ok(()),
            })
    }

    /// Visits a port; an empty one has no value.
    fn port(&self, port: &mut Vec<u8>, visit: Visit) -> Result<(), Fault> {
        match self.port {
            Some(kind) if !port.is_empty() => visit(kind, Part::Content, port),
            _ => Ok(()),
        }
    }

    /// Visits a port in the form of older clients: a number.
    fn numbered_port(&self, port: &mut u32, visit: Visit) -> Result<(), Fault> {
        let Some(kind) = self.port else { return Ok(()) };
        if self.types[kind].sdn == Sdn::Text {
            return Err(Fault::invalid(format!(
                "egress_port {port}: ports of this program have names; they stand in 'port'"
            )));
        }
        let mut value = canonical(&port.to_be_bytes());
        visit(kind, Part::Content, &mut value)?;
        *port = value.iter().fold(0, |number, &byte| number << 8 | u32::from(byte));
        Ok(())
    }

    fn replicas(&self, replicas: &mut [p4rt::Replica], visit: Visit) -> Result<(), Fault> {
        for replica in replicas {
            match &mut replica.port_kind {
                Some(PortKind::Port(port)) => self.port(port, visit)?,
                #[allow(deprecated, reason = "clients older than P4Runtime 1.4 send this form")]
                Some(PortKind::EgressPort(port)) => self.numbered_port(port, visit)?,
                None => {}
            }
            for backup in &mut replica.backup_replicas {
                self.port(&mut backup.port, visit)?;
            }
        }
        Ok(())
    }

    fn index(&self, id: u32, index: Option<&mut p4rt::Index>, visit: Visit) -> Result<(), Fault> {
        let (Some(&kind), Some(index)) = (self.indices.get(&id), index) else {
            return Ok(());
        };
        if self.types[kind].sdn == Sdn::Text || index.index < 0 {
            return Ok(());
        }
        let mut value = index.index.to_be_bytes().to_vec();
        visit(kind, Part::Key, &mut value)?;
        index.index = value.iter().fold(0, |number, &byte| number << 8 | i64::from(byte));
        Ok(())
    }

    fn field(
        &self,
        owner: u32,
        field: &mut p4rt::FieldMatch,
        part: Part,
        strict: bool,
        visit: Visit,
    ) -> Result<(), Fault> {
        let Some(&kind) = self.fields.get(&(owner, field.field_id)) else {
            return Ok(());
        };
        let types = &self.types[kind];
        let one_value = || {
            let right = match types.sdn {
                Sdn::Text => "a mask or prefix of as many bytes 0xff as the string has".to_owned(),
                Sdn::Number(bits) => format!("a mask or prefix of all {bits} bits"),
            };
            Err(Fault::invalid(format!(
                "key field {}: its type is translated, so it matches one value ({right}), or is left out",
                field.field_id
            )))
        };
        // Values change from the controller's to the data plane's, or back.
        let bits = |value: &[u8], of_controller: bool| match of_controller {
            true => types.sdn_bits(value),
            false => types.width,
        };
        match &mut field.field_match_type {
            Some(FieldMatchType::Exact(exact)) => visit(kind, part, &mut exact.value),
            Some(FieldMatchType::Optional(optional)) => visit(kind, part, &mut optional.value),
            Some(FieldMatchType::Range(range)) if range.low == range.high => {
                visit(kind, part, &mut range.low)?;
                range.high.clone_from(&range.low);
                Ok(())
            }
            Some(FieldMatchType::Ternary(ternary)) => {
                let whole = canonical(&ones(bits(&ternary.value, strict)));
                let mask = canonical(&ternary.mask);
                if !ternary.value.is_empty() && mask == whole {
                    visit(kind, part, &mut ternary.value)?;
                    ternary.mask = canonical(&ones(bits(&ternary.value, !strict)));
                    return Ok(());
                }
                // A read would return it as the mask of all bits of the controller's value.
                let ambiguous = mask == canonical(&ones(types.width));
                if strict && (!types.plain || ambiguous) {
                    one_value()
                } else {
                    Ok(())
                }
            }
            Some(FieldMatchType::Lpm(lpm)) => {
                if u32::try_from(lpm.prefix_len) == Ok(bits(&lpm.value, strict)) && !lpm.value.is_empty() {
                    visit(kind, part, &mut lpm.value)?;
                    lpm.prefix_len = bits(&lpm.value, !strict).cast_signed();
                    return Ok(());
                }
                let ambiguous = u32::try_from(lpm.prefix_len) == Ok(types.width);
                if strict && (!types.plain || ambiguous) {
                    one_value()
                } else {
                    Ok(())
                }
            }
            Some(FieldMatchType::Range(_)) if strict && !types.plain => one_value(),
            _ => Ok(()),
        }
    }

    /// Whether a cell has translated values.
    pub fn is_translated(&self, spec: &p4info::P4DataTypeSpec) -> bool {
        match &spec.type_spec {
            Some(TypeSpec::NewType(name)) => self.named.contains_key(&name.name),
            Some(TypeSpec::Struct(name)) => {
                let specs = self.structs.get(&name.name);
                specs.is_some_and(|specs| specs.iter().any(|spec| self.is_translated(spec)))
            }
            Some(TypeSpec::Tuple(tuple)) => tuple.members.iter().any(|spec| self.is_translated(spec)),
            _ => false,
        }
    }

    /// Visits the values in a cell or digest message.
    ///
    /// # Errors
    /// Those of `visit`.
    pub fn data(&self, spec: &p4info::P4DataTypeSpec, data: &mut p4rt::P4Data, visit: Visit) -> Result<(), Fault> {
        let both = |specs: &[p4info::P4DataTypeSpec], members: &mut [p4rt::P4Data], visit: Visit| {
            let mut both = specs.iter().zip(members);
            both.try_for_each(|(spec, data)| self.data(spec, data, visit))
        };
        match (&spec.type_spec, &mut data.data) {
            (Some(TypeSpec::NewType(name)), Some(Data::Bitstring(value))) => match self.named.get(&name.name) {
                Some(&kind) => visit(kind, Part::Content, value),
                None => Ok(()),
            },
            (Some(TypeSpec::Struct(name)), Some(Data::Struct(value))) => match self.structs.get(&name.name) {
                Some(specs) => both(specs, &mut value.members, visit),
                None => Ok(()),
            },
            (Some(TypeSpec::Tuple(tuple)), Some(Data::Tuple(value))) => both(&tuple.members, &mut value.members, visit),
            _ => Ok(()),
        }
    }

    /// Visits the metadata of a packet-in or packet-out.
    ///
    /// # Errors
    /// Those of `visit`.
    pub fn metadata(
        kinds: &HashMap<u32, TypeId>,
        metadata: &mut [p4rt::PacketMetadata],
        visit: Visit,
    ) -> Result<(), Fault> {
        metadata
            .iter_mut()
            .try_for_each(|given| match kinds.get(&given.metadata_id) {
                Some(&kind) => visit(kind, Part::Content, &mut given.value),
                None => Ok(()),
            })
    }
}
