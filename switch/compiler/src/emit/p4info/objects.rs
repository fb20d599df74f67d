//! Counters, meters, registers, action profiles, value sets, digests, controller headers.

use p4sched_proto::p4::config::v1::{
    self as pb, CounterSpec, MatchField, MeterSpec, action_profile::SelectorSizeSemantics, counter_spec, match_field,
    meter_spec,
};

use super::{
    Emitter, Kind, annotations,
    tables::{match_kind, size},
};
use crate::{
    ir::{Meter, Unit, no_annotations},
    syntax::ast::AnnotationBody,
    syntax::token::Tok,
    typed::types::{FieldDef, StructId, Type},
};

fn small(cells: u64) -> i32 {
    i32::try_from(cells).unwrap_or(i32::MAX)
}

impl Emitter<'_> {
    /// Writes the annotations of the package.
    pub(super) fn package(&mut self) {
        let Some(main) = self.program.main else { return };
        let instance = &self.program.instances[main.index()];
        let notes = &instance.annotations;
        let Some(info) = &mut self.info.pkg_info else { return };
        info.annotations = annotations::texts(notes, &["pkginfo", "platform_property"]);
        info.structured_annotations = annotations::structured(notes);
        info.doc = annotations::documentation(notes);
        for (key, value) in annotations::pairs(notes, "pkginfo") {
            let Tok::Str(value) = value else { continue };
            let slot = match &*key {
                "name" => &mut info.name,
                "version" => &mut info.version,
                "organization" => &mut info.organization,
                "contact" => &mut info.contact,
                "url" => &mut info.url,
                "arch" => &mut info.arch,
                _ => continue,
            };
            *slot = value.to_string();
        }
        for (key, value) in annotations::pairs(notes, "platform_property") {
            let Tok::Int(value) = value else { continue };
            let properties = info.platform_properties.get_or_insert_default();
            let slot = match &*key {
                "multicast_group_table_size" => &mut properties.multicast_group_table_size,
                "multicast_group_table_total_replicas" => &mut properties.multicast_group_table_total_replicas,
                "multicast_group_table_max_replicas_per_entry" => {
                    &mut properties.multicast_group_table_max_replicas_per_entry
                }
                _ => continue,
            };
            *slot = i32::try_from(&value.value).unwrap_or(i32::MAX);
        }
    }

    /// Counters or meters in order of declaration; direct ones in the order of their tables.
    fn in_order_of_tables<'m>(&self, list: &'m [Meter]) -> Vec<&'m Meter> {
        let place = |m: &&Meter| m.table.map(|t| self.ir.listed_tables.iter().position(|l| *l == t));
        let mut list: Vec<&Meter> = list.iter().collect();
        list.sort_by_key(place);
        list
    }

    pub(super) fn counters(&mut self) {
        let unit = |unit| CounterSpec {
            unit: match unit {
                Unit::Packets => counter_spec::Unit::Packets,
                Unit::Bytes => counter_spec::Unit::Bytes,
                Unit::Both => counter_spec::Unit::Both,
            }
            .into(),
        };
        for counter in self.in_order_of_tables(&self.ir.counters) {
            let spec = Some(unit(counter.unit));
            match counter.table {
                None if counter.direct => {}
                None => {
                    let preamble = self.preamble(Kind::Counter, &counter.name, &counter.annotations, &[]);
                    let index_type_name = self.type_name(&counter.index);
                    let size = size(counter.size);
                    self.info.counters.push(pb::Counter {
                        preamble,
                        spec,
                        size,
                        index_type_name,
                    });
                }
                Some(table) => {
                    let preamble = self.preamble(Kind::DirectCounter, &counter.name, &counter.annotations, &[]);
                    let direct_table_id = self.symbols.id(Kind::Table, &self.ir.tables[table].name);
                    self.info.direct_counters.push(pb::DirectCounter {
                        preamble,
                        spec,
                        direct_table_id,
                    });
                }
            }
        }
    }

    pub(super) fn meters(&mut self) {
        for meter in self.in_order_of_tables(&self.ir.meters) {
            let unit = if meter.unit == Unit::Packets {
                meter_spec::Unit::Packets
            } else {
                meter_spec::Unit::Bytes
            };
            let spec = Some(MeterSpec {
                unit: unit.into(),
                r#type: meter_spec::Type::TwoRateThreeColor.into(),
            });
            match meter.table {
                None if meter.direct => {}
                None => {
                    let preamble = self.preamble(Kind::Meter, &meter.name, &meter.annotations, &[]);
                    let index_type_name = self.type_name(&meter.index);
                    let size = size(meter.size);
                    self.info.meters.push(pb::Meter {
                        preamble,
                        spec,
                        size,
                        index_type_name,
                    });
                }
                Some(table) => {
                    let preamble = self.preamble(Kind::DirectMeter, &meter.name, &meter.annotations, &[]);
                    let direct_table_id = self.symbols.id(Kind::Table, &self.ir.tables[table].name);
                    self.info.direct_meters.push(pb::DirectMeter {
                        preamble,
                        spec,
                        direct_table_id,
                    });
                }
            }
        }
    }

    pub(super) fn registers(&mut self) {
        // P4Runtime has no registers that belong to a table.
        for register in self.ir.registers.iter().filter(|r| !r.direct) {
            let preamble = self.preamble(Kind::Register, &register.name, &register.annotations, &[]);
            let type_spec = Some(self.type_spec(&register.ty));
            let size = small(register.size);
            self.info.registers.push(pb::Register {
                preamble,
                type_spec,
                size,
                index_type_name: None,
            });
        }
    }

    pub(super) fn profiles(&mut self) {
        const SPECIAL: [&str; 3] = ["max_group_size", "selector_size_semantics", "max_member_weight"];
        for profile in &self.ir.profiles {
            let notes = &profile.annotations;
            let weight = annotations::number(notes, "max_member_weight").unwrap_or(0);
            let semantics = crate::typed::annotations::text_of(notes, "selector_size_semantics");
            let semantics = match semantics.map(|t| t.to_lowercase()).as_deref() {
                // Without a selector, an action profile has no groups.
                _ if profile.selector.is_none() => None,
                Some("sum_of_members") => Some(SelectorSizeSemantics::SumOfMembers(pb::action_profile::SumOfMembers {
                    max_member_weight: small(weight),
                })),
                Some("sum_of_weights") => {
                    Some(SelectorSizeSemantics::SumOfWeights(pb::action_profile::SumOfWeights {}))
                }
                _ => None,
            };
            let table = |t: &usize| self.symbols.id(Kind::Table, &self.ir.tables[*t].name);
            let made = pb::ActionProfile {
                preamble: self.preamble(Kind::ActionProfile, &profile.name, &profile.annotations, &SPECIAL),
                table_ids: profile.tables.iter().map(table).collect(),
                with_selector: profile.selector.is_some(),
                size: size(profile.size),
                max_group_size: if profile.selector.is_some() {
                    small(profile.max_group)
                } else {
                    0
                },
                selector_size_semantics: semantics,
                weights_disallowed: false,
            };
            self.info.action_profiles.push(made);
        }
    }

    pub(super) fn value_sets(&mut self) {
        for set in &self.ir.value_sets {
            let exact = match_field::Match::MatchType(match_field::MatchType::Exact.into());
            let mut fields = Vec::new();
            match &set.ty {
                Type::Struct(id) => {
                    let def = self.program.types.get(*id);
                    let ids = annotations::part_ids(def.fields.iter().map(|f| &f.annotations));
                    for (field, id) in def.fields.iter().zip(ids) {
                        fields.push(MatchField {
                            id,
                            name: field.name.to_string(),
                            annotations: annotations::texts(&field.annotations, &["match"]),
                            bitwidth: self.width(&field.ty),
                            r#match: Some(match_of(&field.annotations).unwrap_or_else(|| exact.clone())),
                            type_name: self.type_name(&field.ty),
                            ..Default::default()
                        });
                    }
                }
                ty => {
                    let bitwidth = self.width(ty);
                    fields.push(MatchField {
                        id: 1,
                        bitwidth,
                        r#match: Some(exact),
                        type_name: self.type_name(ty),
                        ..Default::default()
                    });
                }
            }
            let preamble = self.preamble(Kind::ValueSet, &set.name, &set.annotations, &[]);
            self.info.value_sets.push(pb::ValueSet {
                preamble,
                r#match: fields,
                size: small(set.size),
            });
        }
    }

    pub(super) fn digests(&mut self) {
        let mut seen = Vec::new();
        for digest in &self.ir.learn_lists {
            let Some(ty) = &digest.digest else { continue };
            if seen.contains(&&digest.name) {
                continue;
            }
            seen.push(&digest.name);
            let preamble = self.preamble(Kind::Digest, &digest.name, &no_annotations(), &[]);
            let type_spec = Some(self.type_spec(ty));
            self.info.digests.push(pb::Digest { preamble, type_spec });
        }
    }

    /// Fields of a header, with fields of nested structs named by their path.
    fn flat_fields(&self, id: StructId, prefix: &str, out: &mut Vec<(String, FieldDef)>) {
        for field in &self.program.types.get(id).fields {
            let own = crate::typed::annotations::name_of(&field.annotations).unwrap_or_else(|| field.name.to_string());
            let name = format!("{prefix}{own}");
            match field.ty {
                Type::Struct(inner) => self.flat_fields(inner, &format!("{name}."), out),
                _ => out.push((name, field.clone())),
            }
        }
    }

    pub(super) fn controller_headers(&mut self) {
        for (name, id) in &self.ir.controller_headers {
            let def = self.program.types.get(*id);
            let mut preamble = self.preamble(Kind::ControllerHeader, &def.name, &def.annotations, &[]);
            if let Some(preamble) = &mut preamble {
                // The name comes from the annotation, not from the type.
                (preamble.name, preamble.alias) = (name.clone(), name.clone());
            }
            let mut fields = Vec::new();
            self.flat_fields(*id, "", &mut fields);
            let ids = annotations::part_ids(fields.iter().map(|(_, f)| &f.annotations));
            let mut metadata = Vec::new();
            for ((name, field), id) in fields.iter().zip(ids) {
                let bitwidth = self.width(&field.ty);
                metadata.push(pb::controller_packet_metadata::Metadata {
                    id,
                    name: name.clone(),
                    annotations: annotations::texts(&field.annotations, &[]),
                    annotation_locations: Vec::new(),
                    bitwidth,
                    type_name: self.type_name(&field.ty),
                    structured_annotations: annotations::structured(&field.annotations),
                });
            }
            self.info
                .controller_packet_metadata
                .push(pb::ControllerPacketMetadata { preamble, metadata });
        }
    }
}

/// Match kind in `@match(kind)`.
fn match_of(notes: &crate::typed::tree::Annotations) -> Option<match_field::Match> {
    let AnnotationBody::Unstructured(tokens) = &notes.iter().find(|a| &*a.name == "match")?.body else {
        return None;
    };
    let Tok::Word(kind) = &tokens.first()?.tok else {
        return None;
    };
    Some(match_kind(kind))
}
