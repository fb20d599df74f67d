//! Writing table entries and default actions.

use p4sched_dataplane::{ActionCall, Count, Pipeline, Row};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;

use crate::entities::one_shot::{self, Replaces};
use crate::entities::{counters, meters};
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::index::{Index, Table};
use crate::match_key::key_of;
use crate::store::{DefaultEntry, Key, StoredEntry};
use crate::{action, match_key};

/// Inserts, modifies or deletes an entry, or modifies the default action.
pub(crate) fn write(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    entry: &p4rt::TableEntry,
) -> Result<(), Fault> {
    let index = forwarding.index.clone();
    let table = index.table(entry.table_id)?;
    if entry.is_const {
        return Err(Fault::invalid(format!(
            "{}: is_const is set by the program, not by a request",
            table.name
        )));
    }
    if entry.time_since_last_hit.is_some() {
        // BMv2's exact message: tests of p4-guide compare it.
        return Err(Fault::invalid(
            "has_time_since_last_hit must not be set in WriteRequest",
        ));
    }
    if entry.is_default_action {
        return write_default(forwarding, pipeline, &index, table, kind, entry);
    }
    if table.is_const && kind != Type::Modify {
        return Err(Fault::denied(format!(
            "{}: the program's entries are const",
            table.name
        )));
    }
    if table.fields.is_empty() {
        return Err(Fault::invalid(format!(
            "{}: a table without a key has only its default action",
            table.name
        )));
    }
    let key = key_of(table, entry)?;
    if let (Type::Insert, Some(restriction)) = (kind, &table.restriction) {
        restriction.check_entry(&table.name, &table.fields, &key.0, key.1)?;
    }
    match kind {
        Type::Insert => insert(forwarding, pipeline, &index, table, key, entry),
        Type::Modify => modify(forwarding, pipeline, &index, table, &key, entry),
        _ => delete(forwarding, pipeline, table, &key),
    }
}

fn no_entry(table: &Table) -> Fault {
    Fault::not_found(format!("{}: no entry with this key and priority", table.name))
}

/// Checks the parts of an entry that can be checked without the data plane.
fn check_attachments(table: &Table, entry: &p4rt::TableEntry) -> Result<(), Fault> {
    let name = &table.name;
    if let Some(count) = &entry.counter_data {
        if !table.direct_counter {
            return Err(Fault::invalid(format!(
                "{name}: counter_data, but the table has no direct counter"
            )));
        }
        counters::from_request(name, count)?;
    }
    if let Some(config) = &entry.meter_config {
        let kind = table.direct_meter;
        let kind = kind.ok_or_else(|| Fault::invalid(format!("{name}: meter_config, but it has no direct meter")))?;
        meters::from_request(name, kind, config)?;
    }
    if meters::clears(name, entry.meter_counter_data.as_ref())? && table.direct_meter.is_none() {
        return Err(Fault::invalid(format!(
            "{name}: meter_counter_data, but it has no direct meter"
        )));
    }
    if entry.idle_timeout_ns < 0 {
        return Err(Fault::invalid(format!("{name}: idle_timeout_ns is negative")));
    }
    if entry.idle_timeout_ns > 0 && !table.notifies_idle {
        // BMv2's exact message: tests of p4-guide compare it.
        return Err(Fault::invalid(
            "idle_timeout_ns must be set to 0 for tables which do not support idle timeout",
        ));
    }
    Ok(())
}

/// Writes the direct meter of an entry or of the default action. Without a configuration, every packet is green.
fn set_meter(
    pipeline: &mut Pipeline,
    table: &Table,
    row: Row,
    config: Option<&p4rt::MeterConfig>,
) -> Result<(), Fault> {
    let Some(kind) = table.direct_meter else {
        return Ok(());
    };
    let config = config.map(|config| meters::from_request(&table.name, kind, config));
    Ok(pipeline.set_direct_meter(table.table, row, config.transpose()?)?)
}

/// Writes those counts of an entry or of the default action that the request gives.
fn set_counts(pipeline: &mut Pipeline, table: &Table, row: Row, entry: &p4rt::TableEntry) -> Result<(), Fault> {
    if entry.meter_counter_data.is_some() {
        pipeline.set_direct_meter_counts(table.table, row, [Count::default(); 3])?;
    }
    if let Some(count) = &entry.counter_data {
        let count = counters::from_request(&table.name, count)?;
        pipeline.set_direct_counter(table.table, row, count)?;
    }
    Ok(())
}

fn insert(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    index: &Index,
    table: &Table,
    key: Key,
    entry: &p4rt::TableEntry,
) -> Result<(), Fault> {
    let exists = forwarding
        .tables
        .get(&table.id)
        .is_some_and(|store| store.find(pipeline, table, &key).is_some());
    if exists {
        return Err(Fault::exists(format!(
            "{}: an entry with this key and priority exists",
            table.name
        )));
    }
    check_attachments(table, entry)?;
    let action = entry.action.as_ref().and_then(|action| action.r#type.as_ref());
    let action = action.ok_or_else(|| Fault::invalid(format!("{}: an entry without an action", table.name)))?;
    let prepared = one_shot::prepare(forwarding, pipeline, index, table, action, Replaces::Nothing)?;
    let inserted = pipeline.table_insert(table.table, &key.0, key.1, &prepared.call);
    let handle = match inserted {
        Ok(handle) => handle,
        Err(error) => {
            one_shot::discard(pipeline, index, table, prepared.one_shot);
            return Err(error.into());
        }
    };
    let row = Row::Entry(handle);
    if let Err(fault) = set_meter(pipeline, table, row, entry.meter_config.as_ref()) {
        pipeline.table_delete(table.table, handle)?;
        one_shot::discard(pipeline, index, table, prepared.one_shot);
        return Err(fault);
    }
    set_counts(pipeline, table, row, entry)?;
    if let Some(profile) = table.profile.and_then(|id| forwarding.profiles.get_mut(&id)) {
        profile.entry_added(prepared.one_shot.as_ref().map(|one_shot| one_shot.size));
    }
    let stored = StoredEntry {
        handle,
        entry: p4rt::TableEntry {
            table_id: table.id,
            r#match: match_key::to_response(&table.fields, &key.0),
            action: Some(p4rt::TableAction {
                r#type: Some(prepared.response),
            }),
            priority: key.1,
            #[allow(deprecated, reason = "controllers of older versions still read it back")]
            controller_metadata: entry.controller_metadata,
            metadata: entry.metadata.clone(),
            idle_timeout_ns: entry.idle_timeout_ns,
            ..p4rt::TableEntry::default()
        },
        one_shot: prepared.one_shot,
        idle_notice: 0,
    };
    forwarding.tables.entry(table.id).or_default().add(stored);
    Ok(())
}

fn modify(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    index: &Index,
    table: &Table,
    key: &Key,
    entry: &p4rt::TableEntry,
) -> Result<(), Fault> {
    let stored = forwarding
        .tables
        .get(&table.id)
        .and_then(|store| store.find(pipeline, table, key))
        .ok_or_else(|| no_entry(table))?;
    let (handle, is_const) = (stored.handle, stored.entry.is_const || table.is_const);
    let was = stored.one_shot.as_ref().map(|one_shot| one_shot.size);
    check_attachments(table, entry)?;
    let action = entry.action.as_ref().and_then(|action| action.r#type.as_ref());
    if is_const && action.is_some() {
        return Err(Fault::denied(format!(
            "{}: the entry is const, its action cannot change",
            table.name
        )));
    }
    let prepared = action
        .map(|action| one_shot::prepare(forwarding, pipeline, index, table, action, Replaces::entry(was)))
        .transpose()?;
    let old_meter = match table.direct_meter {
        Some(_) => pipeline.direct_meter(table.table, handle)?,
        None => None,
    };
    let row = Row::Entry(handle);
    let mut changed = set_meter(pipeline, table, row, entry.meter_config.as_ref());
    if let (Ok(()), Some(prepared)) = (&changed, &prepared) {
        changed = pipeline
            .table_modify(table.table, handle, &prepared.call)
            .map_err(Fault::from);
        if changed.is_err() && table.direct_meter.is_some() {
            pipeline.set_direct_meter(table.table, handle, old_meter)?;
        }
    }
    if let Err(fault) = changed {
        one_shot::discard(pipeline, index, table, prepared.and_then(|prepared| prepared.one_shot));
        return Err(fault);
    }
    set_counts(pipeline, table, row, entry)?;
    let Some(stored) = forwarding
        .tables
        .get_mut(&table.id)
        .and_then(|store| store.by_sequence_mut(handle.number()))
    else {
        return Err(no_entry(table));
    };
    if !is_const {
        #[allow(deprecated, reason = "controllers of older versions still read it back")]
        {
            stored.entry.controller_metadata = entry.controller_metadata;
        }
        stored.entry.metadata.clone_from(&entry.metadata);
        stored.entry.idle_timeout_ns = entry.idle_timeout_ns;
    }
    if let Some(prepared) = prepared {
        stored.entry.action = Some(p4rt::TableAction {
            r#type: Some(prepared.response),
        });
        let is = prepared.one_shot.as_ref().map(|one_shot| one_shot.size);
        let replaced = std::mem::replace(&mut stored.one_shot, prepared.one_shot);
        one_shot::discard(pipeline, index, table, replaced);
        if let Some(profile) = table.profile.and_then(|id| forwarding.profiles.get_mut(&id)) {
            profile.entry_removed(was);
            profile.entry_added(is);
        }
    }
    Ok(())
}

fn delete(forwarding: &mut Forwarding, pipeline: &mut Pipeline, table: &Table, key: &Key) -> Result<(), Fault> {
    let index = forwarding.index.clone();
    let store = forwarding.tables.entry(table.id).or_default();
    let stored = store.find(pipeline, table, key).ok_or_else(|| no_entry(table))?;
    if stored.entry.is_const {
        return Err(Fault::denied(format!("{}: the entry is const", table.name)));
    }
    let handle = stored.handle;
    pipeline.table_delete(table.table, handle)?;
    let removed = store.remove(handle).and_then(|stored| stored.one_shot);
    if let Some(profile) = table.profile.and_then(|id| forwarding.profiles.get_mut(&id)) {
        profile.entry_removed(removed.as_ref().map(|one_shot| one_shot.size));
    }
    one_shot::discard(pipeline, &index, table, removed);
    Ok(())
}

fn write_default(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    index: &Index,
    table: &Table,
    kind: Type,
    entry: &p4rt::TableEntry,
) -> Result<(), Fault> {
    let name = &table.name;
    if kind != Type::Modify {
        return Err(Fault::invalid(format!(
            "{name}: the default action always exists, it can only be modified"
        )));
    }
    if !entry.r#match.is_empty() || entry.priority != 0 {
        return Err(Fault::invalid(format!(
            "{name}: the default action has no match and no priority"
        )));
    }
    if entry.idle_timeout_ns != 0 {
        return Err(Fault::invalid(format!(
            "{name}: the default action has no idle timeout"
        )));
    }
    check_attachments(table, entry)?;
    let has_resources =
        entry.counter_data.is_some() || entry.meter_config.is_some() || entry.meter_counter_data.is_some();
    if table.const_default || table.profile.is_some() {
        if entry.action.is_none() && has_resources {
            return write_resources(pipeline, table, entry);
        }
        return Err(Fault::denied(match table.const_default {
            true => format!("{name}: the program's default action is const"),
            false => format!("{name}: the default action of a table with an action profile cannot change"),
        }));
    }
    let call = match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
        None => None,
        Some(ActionKind::Action(action)) => {
            let bound = action::bind_for_table(index, pipeline, table, action, true)?;
            Some(ActionCall::Action {
                action: bound.action,
                params: bound.params,
            })
        }
        Some(_) => return Err(Fault::invalid(format!("{name}: the default action must be an action"))),
    };
    let old = pipeline.table_default(table.table);
    pipeline.table_set_default(table.table, call.as_ref())?;
    if let Err(fault) = write_resources(pipeline, table, entry) {
        pipeline.table_set_default(table.table, old.as_ref())?;
        return Err(fault);
    }
    let default = &mut forwarding.tables.entry(table.id).or_default().default;
    *default = DefaultEntry::default();
    if call.is_some() {
        #[allow(deprecated, reason = "controllers of older versions still read it back")]
        {
            default.controller_metadata = entry.controller_metadata;
        }
        default.metadata.clone_from(&entry.metadata);
    }
    Ok(())
}

/// Writes the direct counter and meter of the default action.
fn write_resources(pipeline: &mut Pipeline, table: &Table, entry: &p4rt::TableEntry) -> Result<(), Fault> {
    set_meter(pipeline, table, Row::Default, entry.meter_config.as_ref())?;
    set_counts(pipeline, table, Row::Default, entry)
}
