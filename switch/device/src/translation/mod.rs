//! Translated types: the controller and the data plane use different values. They have the annotation
//! `@p4runtime_translation` (specification, sections "User-defined types" and "PSA Metadata Translation").
//!
//! Messages are translated at the edge of the device. Everything inside, stored entities included, holds the data
//! plane's values.

mod dictionary;
mod lower;
mod mappings;
mod places;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use p4sched_dataplane::Pipeline;
use p4sched_proto::p4::config::v1 as p4info;
use p4sched_proto::p4::config::v1::p4_new_type_spec::Representation;
use p4sched_proto::p4::config::v1::p4_new_type_translation::SdnType;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

use crate::fault::{Code, Fault};
pub use dictionary::PortNames;
use dictionary::{Dictionary, Naming, Sdn};
use places::{PORT_TYPES, Part, Parts, Places, Visit};

/// The translated types of a program, and their values.
#[derive(Debug, Clone, Default)]
pub struct Translation {
    dictionaries: Vec<Dictionary>,
    places: Places,
    ports: PortNames,
}

fn is_of_ports(name: &str, uri: &str) -> bool {
    let last = uri.rsplit('/').next().unwrap_or_default();
    PORT_TYPES.contains(&name) || PORT_TYPES.contains(&last)
}

impl Translation {
    /// The translated types of P4Info, and P4Info without them.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for mappings that are malformed or contradict each other.
    pub fn new(info: &p4info::P4Info, pipeline: &Pipeline) -> Result<(Translation, p4info::P4Info), Fault> {
        let types = info.type_info.iter().flat_map(|types| &types.new_types);
        let translated = types.filter_map(|(name, spec)| match &spec.representation {
            Some(Representation::TranslatedType(translated)) => Some((name, spec, translated)),
            _ => None,
        });
        let mut translated: Vec<_> = translated.collect();
        if translated.is_empty() {
            return Ok((Translation::default(), info.clone()));
        }
        translated.sort_by_key(|(name, _, _)| *name);
        let names: HashSet<&str> = translated.iter().map(|(name, _, _)| name.as_str()).collect();
        let is_translated =
            |name: &Option<p4info::P4NamedType>| name.as_ref().is_some_and(|name| names.contains(name.name.as_str()));
        let widths = lower::widths(info, pipeline, &is_translated);
        let lowered = lower::lowered(info, &widths, &is_translated);
        let mut translation = Translation::default();
        for (name, spec, translated) in &translated {
            let (sdn, of_ports) = match &translated.sdn_type {
                Some(SdnType::SdnBitwidth(bits)) => {
                    (Sdn::Number(bits.unsigned_abs()), is_of_ports(name, &translated.uri))
                }
                Some(SdnType::SdnString(_)) => (Sdn::Text, is_of_ports(name, &translated.uri)),
                None => {
                    return Err(Fault::invalid(format!(
                        "P4Info: the type '{name}' is translated to nothing"
                    )));
                }
            };
            let mut pairs = Vec::new();
            for read in spec.annotations.iter().filter_map(|text| mappings::pairs(text)) {
                pairs.extend(read.map_err(|problem| Fault::invalid(format!("P4Info: the type '{name}': {problem}")))?);
            }
            // Numbers that are equal on both sides need no dictionary.
            if sdn == Sdn::Text || of_ports || !pairs.is_empty() {
                let width = widths.get(*name).copied();
                let width = width.unwrap_or(if let Sdn::Number(bits) = sdn { bits } else { u32::BITS });
                let dictionary = Dictionary::new(name, sdn, width, of_ports, &pairs)?;
                translation.dictionaries.push(dictionary);
            }
        }
        translation.places = Places::new(info, &translation.dictionaries);
        Ok((translation, lowered))
    }

    /// Whether no value is translated.
    pub fn is_empty(&self) -> bool {
        self.dictionaries.is_empty()
    }

    pub fn set_ports(&mut self, ports: PortNames) {
        self.ports = ports;
    }

    /// The filters that read all entities with translated values, except registers.
    pub fn written() -> [Entity; 4] {
        let defaults = p4rt::TableEntry {
            is_default_action: true,
            ..p4rt::TableEntry::default()
        };
        [
            Entity::TableEntry(p4rt::TableEntry::default()),
            Entity::TableEntry(defaults),
            Entity::ActionProfileMember(p4rt::ActionProfileMember::default()),
            Entity::ValueSetEntry(p4rt::ValueSetEntry::default()),
        ]
    }

    /// The filters that read the registers with translated cells.
    fn registers(&self) -> Vec<Entity> {
        let register = |(&register_id, _): (&u32, &p4info::P4DataTypeSpec)| {
            Entity::RegisterEntry(p4rt::RegisterEntry {
                register_id,
                ..p4rt::RegisterEntry::default()
            })
        };
        let translated = self
            .places
            .cells
            .iter()
            .filter(|(_, spec)| self.places.is_translated(spec));
        translated.map(register).collect()
    }

    /// Records the names under which the controller reads the values of the program's own entries and default actions.
    pub fn keep(&mut self, entity: &mut Entity) {
        let all = Parts {
            content: true,
            strict: false,
        };
        let Translation {
            dictionaries, places, ..
        } = self;
        let visited = places.entity(entity, all, &mut |kind, _, value| {
            dictionaries[kind].keep(value);
            Ok(())
        });
        debug_assert!(visited.is_ok(), "the program's own values: {visited:?}");
    }

    /// An update with the data plane's values. New names get values.
    ///
    /// # Errors
    /// Those of [`Dictionary::value`]: `NOT_FOUND` for an unknown name in a key, `RESOURCE_EXHAUSTED` if a type has no
    /// free value, `INVALID_ARGUMENT` or `OUT_OF_RANGE` for something that is not a value of the type.
    pub fn update(&mut self, update: &p4rt::Update) -> Result<p4rt::Update, Fault> {
        let mut update = update.clone();
        let kind = update.r#type();
        if let Some(entity) = update.entity.as_mut().and_then(|entity| entity.entity.as_mut()) {
            let parts = Parts {
                content: kind != Type::Delete,
                strict: true,
            };
            let of_key = if kind == Type::Insert {
                Naming::New
            } else {
                Naming::Known
            };
            let Translation {
                dictionaries,
                places,
                ports,
            } = self;
            places.entity(entity, parts, &mut |kind, part, value| {
                let naming = if part == Part::Key { of_key } else { Naming::New };
                *value = dictionaries[kind].value(value, naming, ports)?;
                Ok(())
            })?;
        }
        Ok(update)
    }

    /// The filter of a read with the data plane's values; `None` if it has an unknown name.
    ///
    /// # Errors
    /// Those of [`Translation::update`].
    pub fn filter(&mut self, filter: &p4rt::Entity) -> Result<Option<p4rt::Entity>, Fault> {
        let mut filter = filter.clone();
        let Some(entity) = &mut filter.entity else {
            return Ok(Some(filter));
        };
        let parts = Parts {
            content: false,
            strict: true,
        };
        let Translation {
            dictionaries,
            places,
            ports,
        } = self;
        let visited = places.entity(entity, parts, &mut |kind, _, value| {
            *value = dictionaries[kind].value(value, Naming::Known, ports)?;
            Ok(())
        });
        match visited {
            Err(fault) if fault.code == Code::NotFound && matches!(entity, Entity::TableEntry(_)) => Ok(None),
            Err(fault) => Err(fault),
            Ok(()) => Ok(Some(filter)),
        }
    }

    fn named<T>(&self, mut message: T, visit: impl FnOnce(&Places, &mut T, Visit) -> Result<(), Fault>) -> T {
        let visited = visit(&self.places, &mut message, &mut |kind, _, value| {
            *value = self.dictionaries[kind].name(value, &self.ports);
            Ok(())
        });
        debug_assert!(visited.is_ok(), "a name never fails: {visited:?}");
        message
    }

    /// An entity with the controller's values.
    pub fn entity(&self, entity: Entity) -> Entity {
        let all = Parts {
            content: true,
            strict: false,
        };
        self.named(entity, |places, entity, visit| places.entity(entity, all, visit))
    }

    /// An entry with the controller's values.
    pub fn table_entry(&self, entry: p4rt::TableEntry) -> p4rt::TableEntry {
        let all = Parts {
            content: true,
            strict: false,
        };
        self.named(entry, |places, entry, visit| places.table_entry(entry, all, visit))
    }

    /// A message of a digest with the controller's values.
    pub fn digest(&self, digest: u32, data: p4rt::P4Data) -> p4rt::P4Data {
        match self.places.cells.get(&digest) {
            Some(spec) => self.named(data, |places, data, visit| places.data(spec, data, visit)),
            None => data,
        }
    }

    /// A packet-in with the controller's values.
    pub fn packet_in(&self, packet: p4rt::PacketIn) -> p4rt::PacketIn {
        self.named(packet, |places, packet, visit| {
            Places::metadata(&places.packet_in, &mut packet.metadata, visit)
        })
    }

    /// A packet-out with the data plane's values.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unknown name, and those of [`Translation::update`].
    pub fn packet_out(&mut self, packet: &p4rt::PacketOut) -> Result<p4rt::PacketOut, Fault> {
        let mut packet = packet.clone();
        let Translation {
            dictionaries,
            places,
            ports,
        } = self;
        Places::metadata(&places.packet_out, &mut packet.metadata, &mut |kind, _, value| {
            let found = dictionaries[kind].value(value, Naming::Known, ports);
            *value = found.map_err(|fault| match fault.code {
                Code::NotFound => Fault::invalid(format!("packet-out: {}", fault.message)),
                _ => fault,
            })?;
            Ok(())
        })?;
        Ok(packet)
    }

    /// Whether so many names exist that [`Translation::sweep`] should forget unused ones.
    pub fn wants_sweep(&self) -> bool {
        self.dictionaries.iter().any(Dictionary::wants_sweep)
    }

    /// Forgets unused names. `read` answers a filter with the data plane's values.
    pub fn sweep(&mut self, read: impl Fn(Entity) -> Vec<Entity>) {
        let mut used: Vec<HashSet<Vec<u8>>> = vec![HashSet::new(); self.dictionaries.len()];
        let all = Parts {
            content: true,
            strict: false,
        };
        let filters = Translation::written().into_iter().chain(self.registers());
        for mut entity in filters.flat_map(read) {
            let visited = self.places.entity(&mut entity, all, &mut |kind, _, value| {
                used[kind].insert(crate::bytestring::canonical(value));
                Ok(())
            });
            debug_assert!(visited.is_ok(), "only looked at: {visited:?}");
        }
        for (dictionary, used) in self.dictionaries.iter_mut().zip(&used) {
            dictionary.sweep(used);
        }
    }

    /// Takes over the names of a program whose entries are kept.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a type that has changed, or a name that means another value.
    pub fn take_over(&mut self, old: &Translation) -> Result<(), Fault> {
        for dictionary in old.dictionaries.iter().filter(|old| old.assigned().next().is_some()) {
            let name = &dictionary.type_name;
            let kind = self.places.named.get(name).copied();
            match kind.filter(|&kind| self.dictionaries[kind].same_kind(dictionary)) {
                Some(kind) => self.dictionaries[kind].take_over(dictionary)?,
                None => {
                    return Err(Fault::invalid(format!(
                        "the type '{name}' is not the same in the new program"
                    )));
                }
            }
        }
        Ok(())
    }
}
