//! Builds the index and compares every object of P4Info with the program's.

use std::collections::BTreeSet;

use p4sched_dataplane::{MatchKind, Pipeline, TableId};
use p4sched_proto::p4::config::v1 as p4info;
use p4sched_proto::p4::config::v1::action_profile::SelectorSizeSemantics;
use p4sched_proto::p4::config::v1::match_field::{Match, MatchType};
use p4sched_proto::p4::config::v1::p4_ids::Prefix;
use p4sched_proto::p4::config::v1::table::IdleTimeoutBehavior;

use super::names::{Identifiers, mismatch, not_in_program};
use super::{
    Action, Array, Digest, Field, HeaderField, Index, Meter, Param, Profile, References, Register, Table, TableAction,
    ValueSet,
};
use crate::fault::Fault;
use crate::roles::Roles;
use crate::{p4data, restriction};

/// The annotation of a register that the traffic manager writes.
const QUEUE_DEPTH: &str = "@queue_depth";

impl Index {
    /// Checks that P4Info and the program belong together, and indexes P4Info.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`; the message names the object that does not fit.
    pub fn new(p4info: &p4info::P4Info, pipeline: &Pipeline) -> Result<Index, Fault> {
        let mut ids = Identifiers::default();
        let mut index = Index {
            types: p4info.type_info.clone().unwrap_or_default(),
            roles: Roles::new(p4info)?,
            ..Index::default()
        };
        for action in &p4info.actions {
            let (id, name) = ids.claim(Prefix::Action, action.preamble.as_ref())?;
            let params = params(action)?;
            let restriction = match &action.preamble {
                Some(preamble) => restriction::of_action(preamble, &params)?,
                None => None,
            };
            let action = Action {
                name,
                params,
                restriction,
            };
            index.actions.insert(id, action);
        }
        let belongs = belongs(p4info, pipeline);
        for table in &p4info.tables {
            let (id, name) = ids.claim(Prefix::Table, table.preamble.as_ref())?;
            if belongs && pipeline.table(&name).is_none() {
                index.left_out.insert(id, name);
                continue;
            }
            let table = table_of(table, id, name, &index, pipeline)?;
            index.tables.insert(id, table);
        }
        index.references = References::new(p4info, &index)?;
        profiles(p4info, pipeline, &mut ids, &mut index)?;
        direct_resources(p4info, pipeline, &mut ids, &mut index)?;
        arrays(p4info, pipeline, &mut ids, &mut index)?;
        value_sets_and_digests(p4info, pipeline, &mut ids, &mut index)?;
        for header in &p4info.controller_packet_metadata {
            let (_, name) = ids.claim(Prefix::ControllerHeader, header.preamble.as_ref())?;
            let fields = header.metadata.iter().map(|field| {
                Ok(HeaderField {
                    id: field.id,
                    name: field.name.clone(),
                    width: width("metadata", &field.name, field.bitwidth)?,
                })
            });
            let fields = fields.collect::<Result<Vec<_>, Fault>>()?;
            match name.as_str() {
                "packet_in" => index.packet_in = Some(fields),
                "packet_out" => index.packet_out = Some(fields),
                _ => {
                    return Err(Fault::invalid(format!(
                        "P4Info: controller header '{name}'; there are only 'packet_in' and 'packet_out'"
                    )));
                }
            }
        }
        Ok(index)
    }
}

/// Whether P4Info belongs to the program: P4Info must have each table of the program that has a key. The program may
/// have fewer tables: p4c leaves tables that do nothing out of the JSON. It may also have the tables that p4c makes
/// from a `switch`: they have a key and are not in P4Info.
fn belongs(p4info: &p4info::P4Info, pipeline: &Pipeline) -> bool {
    let preambles = p4info.tables.iter().flat_map(|table| &table.preamble);
    let names: BTreeSet<_> = preambles.map(|preamble| preamble.name.as_str()).collect();
    pipeline.table_ids().all(|table| {
        let name = pipeline.table_name(table);
        let (_, last) = name.rsplit_once('.').unwrap_or(("", name));
        let made = last.starts_with("switch_") && last.ends_with("_table");
        names.contains(name) || made || pipeline.table_key(table).is_empty()
    })
}

fn width(kind: &str, name: &str, bitwidth: i32) -> Result<u32, Fault> {
    match u32::try_from(bitwidth) {
        Ok(width) if width > 0 => Ok(width),
        _ => Err(Fault::invalid(format!(
            "P4Info: {kind} '{name}' has a width of {bitwidth} bits"
        ))),
    }
}

fn params(action: &p4info::Action) -> Result<Vec<Param>, Fault> {
    let params = action.params.iter();
    params
        .map(|param| {
            Ok(Param {
                id: param.id,
                name: param.name.clone(),
                width: width("parameter", &param.name, param.bitwidth)?,
            })
        })
        .collect()
}

fn fields(owner: &str, fields: &[p4info::MatchField]) -> Result<Vec<Field>, Fault> {
    let field = |field: &p4info::MatchField| {
        let kind = match &field.r#match {
            Some(Match::MatchType(kind)) => match MatchType::try_from(*kind) {
                Ok(MatchType::Exact) => Some(MatchKind::Exact),
                Ok(MatchType::Lpm) => Some(MatchKind::Lpm),
                Ok(MatchType::Ternary) => Some(MatchKind::Ternary),
                Ok(MatchType::Range) => Some(MatchKind::Range),
                Ok(MatchType::Optional) => Some(MatchKind::Optional),
                _ => None,
            },
            _ => None,
        };
        let Some(kind) = kind else {
            return Err(Fault::invalid(format!(
                "P4Info: '{owner}': key field '{}' has no match type that this switch knows (exact, lpm, ternary, range, \
                 optional)",
                field.name
            )));
        };
        Ok(Field {
            id: field.id,
            name: field.name.clone(),
            kind,
            in_program: kind,
            // A field of type `error` has no width in P4Info; the program's width is used.
            width: match (field.bitwidth, &field.type_name) {
                (0, None) => 0,
                (bits, _) => width("key field", &field.name, bits)?,
            },
        })
    };
    fields.iter().map(field).collect()
}

fn table_of(info: &p4info::Table, id: u32, name: String, index: &Index, pipeline: &Pipeline) -> Result<Table, Fault> {
    let table = pipeline.table(&name).ok_or_else(|| not_in_program("table", &name))?;
    let mut fields = fields(&name, &info.match_fields)?;
    check_key(&name, &mut fields, table, pipeline)?;
    let restriction = match &info.preamble {
        Some(preamble) => restriction::of_table(preamble, &fields)?,
        None => None,
    };
    let mut actions = Vec::with_capacity(info.action_refs.len());
    for reference in &info.action_refs {
        let action = index
            .action(reference.id)
            .map_err(|fault| mismatch("table", &name, fault.message))?;
        let place = pipeline.table_action(table, &action.name).ok_or_else(|| {
            mismatch(
                "table",
                &name,
                format!("the program's table has no action '{}'", action.name),
            )
        })?;
        let widths = pipeline.action_params(place);
        if widths.len() != action.params.len() {
            let problem = format!(
                "{} parameters in P4Info, {} in the program",
                action.params.len(),
                widths.len()
            );
            return Err(mismatch("action", &action.name, problem));
        }
        for (param, (_, program_width)) in action.params.iter().zip(widths) {
            if param.width < *program_width {
                let problem = format!(
                    "'{}' has {} bits in P4Info, {program_width} in the program",
                    param.name, param.width
                );
                return Err(mismatch("action", &action.name, problem));
            }
        }
        actions.push(TableAction {
            id: reference.id,
            action: place,
            scope: reference.scope(),
        });
    }
    let needs_priority = fields
        .iter()
        .any(|field| matches!(field.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional));
    Ok(Table {
        id,
        name,
        table,
        fields,
        actions,
        const_default: info.const_default_action_id != 0,
        is_const: info.is_const_table,
        profile: (info.implementation_id != 0).then_some(info.implementation_id),
        direct_counter: false,
        direct_meter: None,
        needs_priority,
        notifies_idle: info.idle_timeout_behavior() == IdleTimeoutBehavior::NotifyControl,
        restriction,
    })
}

/// Compares a key with the program's. A field of a translated type may be wider in P4Info; then the program's width is
/// used.
fn check_key(name: &str, fields: &mut [Field], table: TableId, pipeline: &Pipeline) -> Result<(), Fault> {
    let key = pipeline.table_key(table);
    if key.len() != fields.len() {
        let problem = format!("{} key fields in P4Info, {} in the program", fields.len(), key.len());
        return Err(mismatch("table", name, problem));
    }
    for (field, in_program) in fields.iter_mut().zip(key) {
        let same_kind = field.kind == in_program.kind
            || matches!(
                (field.kind, in_program.kind),
                (MatchKind::Exact, MatchKind::Valid) | (MatchKind::Optional, MatchKind::Ternary)
            );
        let too_narrow = field.width != 0 && field.width < in_program.width;
        if !same_kind || too_narrow {
            let problem = format!(
                "key field '{}' is {:?} of {} bits in P4Info, {:?} of {} bits in the program",
                field.name, field.kind, field.width, in_program.kind, in_program.width
            );
            return Err(mismatch("table", name, problem));
        }
        field.in_program = in_program.kind;
        field.width = in_program.width;
    }
    Ok(())
}

fn profiles(
    p4info: &p4info::P4Info,
    pipeline: &Pipeline,
    ids: &mut Identifiers,
    index: &mut Index,
) -> Result<(), Fault> {
    for info in &p4info.action_profiles {
        let (id, name) = ids.claim(Prefix::ActionProfile, info.preamble.as_ref())?;
        let left_out = |table: &u32| index.left_out.contains_key(table);
        let unknown = |table: &&u32| !index.tables.contains_key(*table) && !left_out(table);
        let missing = info.table_ids.iter().find(unknown);
        let profile = match pipeline.action_profile(&name) {
            Some(profile) => profile,
            // No table of the program uses it.
            None if info.table_ids.iter().all(left_out) => {
                index.left_out.insert(id, name);
                continue;
            }
            None => return Err(not_in_program("action profile", &name)),
        };
        if let Some(missing) = missing {
            return Err(Fault::invalid(format!(
                "P4Info: action profile '{name}' names the unknown table {missing:#010x}"
            )));
        }
        let size_in_members = match &info.selector_size_semantics {
            Some(SelectorSizeSemantics::SumOfMembers(members)) => Some(members.max_member_weight),
            _ => None,
        };
        let profile = Profile {
            id,
            name,
            profile,
            with_selector: info.with_selector,
            max_group_size: info.max_group_size,
            weights_disallowed: info.weights_disallowed,
            size_in_members,
            size: info.size,
        };
        index.profiles.insert(id, profile);
    }
    for table in index.tables.values() {
        if let Some(id) = table.profile.filter(|id| !index.profiles.contains_key(id)) {
            return Err(mismatch(
                "table",
                &table.name,
                format!("P4Info has no action profile {id:#010x}"),
            ));
        }
        if table.profile.is_some() != pipeline.table_profile(table.table).is_some() {
            return Err(mismatch(
                "table",
                &table.name,
                "P4Info and program disagree whether it has an action profile",
            ));
        }
    }
    Ok(())
}

fn direct_resources(
    p4info: &p4info::P4Info,
    pipeline: &Pipeline,
    ids: &mut Identifiers,
    index: &mut Index,
) -> Result<(), Fault> {
    for info in &p4info.direct_counters {
        let (_, name) = ids.claim(Prefix::DirectCounter, info.preamble.as_ref())?;
        if index.left_out.contains_key(&info.direct_table_id) {
            continue;
        }
        let table = index.tables.get_mut(&info.direct_table_id);
        let table = table.ok_or_else(|| mismatch("direct counter", &name, "its table is not in P4Info"))?;
        if !pipeline.has_direct_counter(table.table) {
            return Err(mismatch(
                "table",
                &table.name,
                format!("the program gives it no direct counter, P4Info '{name}'"),
            ));
        }
        table.direct_counter = true;
    }
    for info in &p4info.direct_meters {
        let (_, name) = ids.claim(Prefix::DirectMeter, info.preamble.as_ref())?;
        if index.left_out.contains_key(&info.direct_table_id) {
            continue;
        }
        let table = index.tables.get_mut(&info.direct_table_id);
        let table = table.ok_or_else(|| mismatch("direct meter", &name, "its table is not in P4Info"))?;
        if !pipeline.has_direct_meter(table.table) {
            return Err(mismatch(
                "table",
                &table.name,
                format!("the program gives it no direct meter, P4Info '{name}'"),
            ));
        }
        table.direct_meter = Some(info.spec.unwrap_or_default().r#type());
    }
    Ok(())
}

/// The number of cells of an array; P4Info and the program must have the same number.
fn array_size(kind: &str, name: &str, in_p4info: i64, in_program: usize) -> Result<usize, Fault> {
    if i64::try_from(in_program) == Ok(in_p4info) {
        return Ok(in_program);
    }
    let problem = format!("{in_p4info} cells in P4Info, {in_program} in the program");
    Err(mismatch(kind, name, problem))
}

fn arrays(p4info: &p4info::P4Info, pipeline: &Pipeline, ids: &mut Identifiers, index: &mut Index) -> Result<(), Fault> {
    for info in &p4info.counters {
        let (id, name) = ids.claim(Prefix::Counter, info.preamble.as_ref())?;
        let array = pipeline
            .counter(&name)
            .ok_or_else(|| not_in_program("counter", &name))?;
        let size = array_size("counter", &name, info.size, pipeline.counter_size(array))?;
        index.counters.insert(id, Array { name, array, size });
    }
    for info in &p4info.meters {
        let (id, name) = ids.claim(Prefix::Meter, info.preamble.as_ref())?;
        let array = pipeline.meter(&name).ok_or_else(|| not_in_program("meter", &name))?;
        let kind = info.spec.unwrap_or_default().r#type();
        let size = array_size("meter", &name, info.size, pipeline.meter_size(array))?;
        let array = Array { name, array, size };
        index.meters.insert(id, Meter { array, kind });
    }
    for info in &p4info.registers {
        let (id, name) = ids.claim(Prefix::Register, info.preamble.as_ref())?;
        let array = pipeline
            .register(&name)
            .ok_or_else(|| not_in_program("register", &name))?;
        let annotations = info.preamble.iter().flat_map(|preamble| &preamble.annotations);
        let queue_depth = annotations
            .into_iter()
            .any(|annotation| annotation.starts_with(QUEUE_DEPTH));
        if queue_depth {
            index.queue_depth_registers.push(name.clone());
        }
        let size = array_size("register", &name, info.size.into(), pipeline.register_size(array))?;
        let cell = info.type_spec.clone().unwrap_or_default();
        let in_program = pipeline.register_width(array);
        let widths = p4data::widths(&index.types, &cell).unwrap_or_else(|| vec![in_program]);
        if widths.len() > 1 && widths.iter().sum::<u32>() != in_program {
            let problem = format!("fields of {widths:?} bits in P4Info, cells of {in_program} bits in the program");
            return Err(mismatch("register", &name, problem));
        }
        let array = Array { name, array, size };
        let register = Register {
            array,
            cell,
            widths,
            queue_depth,
        };
        index.registers.insert(id, register);
    }
    Ok(())
}

fn value_sets_and_digests(
    p4info: &p4info::P4Info,
    pipeline: &Pipeline,
    ids: &mut Identifiers,
    index: &mut Index,
) -> Result<(), Fault> {
    for info in &p4info.value_sets {
        let (id, name) = ids.claim(Prefix::ValueSet, info.preamble.as_ref())?;
        let set = pipeline
            .value_set(&name)
            .ok_or_else(|| not_in_program("parser value set", &name))?;
        let fields = fields(&name, &info.r#match)?;
        let width: u32 = fields.iter().map(|field| field.width).sum();
        if width != pipeline.value_set_width(set) {
            let problem = format!(
                "{width} bits in P4Info, {} in the program",
                pipeline.value_set_width(set)
            );
            return Err(mismatch("parser value set", &name, problem));
        }
        let size = usize::try_from(info.size).unwrap_or(0);
        index.value_sets.insert(
            id,
            ValueSet {
                name,
                set,
                fields,
                size,
            },
        );
    }
    for info in &p4info.digests {
        let (id, name) = ids.claim(Prefix::Digest, info.preamble.as_ref())?;
        index.digests.insert(
            id,
            Digest {
                name,
                message: info.type_spec.clone().unwrap_or_default(),
            },
        );
    }
    Ok(())
}
