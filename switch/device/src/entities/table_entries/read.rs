//! Reading table entries and default actions.

use std::collections::HashSet;

use p4sched_dataplane::{ActionCall, MatchKey, Nanos, Pipeline, Row};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;

use crate::entities::{counters, meters};
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::index::Table;
use crate::match_key::key_of;
use crate::store::{StoredEntry, TableStore};
use crate::{action, match_key};

/// Reads the entries or the default actions that a filter selects.
pub(crate) fn read(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    now: Nanos,
    filter: &p4rt::TableEntry,
) -> Result<Vec<Entity>, Fault> {
    let index = &forwarding.index;
    let mut found = Vec::new();
    if filter.table_id == 0 {
        for table in index.tables.values() {
            read_table(forwarding, pipeline, now, table, filter, None, &mut found)?;
        }
        return Ok(found);
    }
    let table = index.table(filter.table_id)?;
    let timeless = filter.is_default_action || !table.notifies_idle;
    if filter.time_since_last_hit.is_some() && timeless {
        return Err(Fault::invalid(format!(
            "{}: time_since_last_hit, but it does not support idle timeouts",
            table.name
        )));
    }
    let key = if filter.r#match.is_empty() || filter.is_default_action {
        None
    } else {
        Some(match_key::from_request(&table.name, &table.fields, &filter.r#match)?)
    };
    read_table(forwarding, pipeline, now, table, filter, key, &mut found)?;
    Ok(found)
}

fn read_table(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    now: Nanos,
    table: &Table,
    filter: &p4rt::TableEntry,
    key: Option<Vec<MatchKey>>,
    found: &mut Vec<Entity>,
) -> Result<(), Fault> {
    let Some(store) = forwarding.tables.get(&table.id) else {
        return Ok(());
    };
    if filter.is_default_action {
        let mut entry = default_entry(forwarding, pipeline, table, store);
        add_resources(pipeline, table, Row::Default, filter, &mut entry)?;
        found.push(Entity::TableEntry(entry));
        return Ok(());
    }
    let filtered = filter.table_id != 0;
    if let Some(key) = key.as_ref()
        && (filter.priority != 0 || !table.needs_priority)
    {
        if let Some(stored) = store.find(pipeline, table, &(key.clone(), filter.priority))
            && passes(filter, stored)
        {
            found.push(Entity::TableEntry(with_resources(
                pipeline, now, table, stored, filter,
            )?));
        }
        return Ok(());
    }
    let wanted = key.map(|key| match_key::to_response(&table.fields, &key));
    for stored in store.iter() {
        let same_key = wanted.as_ref().is_none_or(|wanted| *wanted == stored.entry.r#match);
        if !filtered || (same_key && passes(filter, stored)) {
            found.push(Entity::TableEntry(with_resources(
                pipeline, now, table, stored, filter,
            )?));
        }
    }
    Ok(())
}

/// The entry or default action that a message names, with its direct resources; `None` if there is none.
pub(crate) fn snapshot(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    now: Nanos,
    entry: &p4rt::TableEntry,
) -> Result<Option<Entity>, Fault> {
    let table = forwarding.index.table(entry.table_id)?;
    let Some(store) = forwarding.tables.get(&table.id) else {
        return Ok(None);
    };
    if entry.is_default_action {
        let default = writable_default(forwarding, pipeline, table, store)?;
        return Ok(Some(Entity::TableEntry(default)));
    }
    let Some(stored) = store.find(pipeline, table, &key_of(table, entry)?) else {
        return Ok(None);
    };
    Ok(Some(Entity::TableEntry(writable(pipeline, now, table, stored)?)))
}

/// A filter that asks for everything that can be written.
fn with_all() -> p4rt::TableEntry {
    p4rt::TableEntry {
        counter_data: Some(p4rt::CounterData::default()),
        meter_config: Some(p4rt::MeterConfig::default()),
        ..p4rt::TableEntry::default()
    }
}

/// The default action with its direct resources, in a form that can be written again.
fn writable_default(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    table: &Table,
    store: &TableStore,
) -> Result<p4rt::TableEntry, Fault> {
    let mut entry = default_entry(forwarding, pipeline, table, store);
    add_resources(pipeline, table, Row::Default, &with_all(), &mut entry)?;
    entry.is_const = false;
    if table.const_default || table.profile.is_some() {
        entry.action = None;
    }
    Ok(entry)
}

/// An entry with its direct resources, in a form that can be written again.
fn writable(pipeline: &Pipeline, now: Nanos, table: &Table, stored: &StoredEntry) -> Result<p4rt::TableEntry, Fault> {
    let mut entry = with_resources(pipeline, now, table, stored, &with_all())?;
    if std::mem::take(&mut entry.is_const) {
        entry.action = None;
    }
    Ok(entry)
}

/// The updates that bring the tables of `new` to the state of these: modify or delete the entries that `new` already
/// has, insert the others, and set the default actions.
pub(crate) fn replay(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    now: Nanos,
    new: &Forwarding,
) -> Result<Vec<(Type, Entity)>, Fault> {
    let mut updates = Vec::new();
    for table in forwarding.index.tables.values() {
        let Some(store) = forwarding.tables.get(&table.id) else {
            continue;
        };
        let initial = new.tables.get(&table.id).into_iter().flat_map(TableStore::iter);
        let mut initial_keys = HashSet::new();
        for stored in initial {
            let key = key_of(table, &stored.entry).ok();
            let stays = key
                .as_ref()
                .is_some_and(|key| store.find(pipeline, table, key).is_some());
            if !stored.entry.is_const && !stays {
                updates.push((Type::Delete, Entity::TableEntry(stored.entry.clone())));
            }
            initial_keys.extend(key);
        }
        for stored in store.iter() {
            let exists = initial_keys.contains(&key_of(table, &stored.entry)?);
            let kind = if exists { Type::Modify } else { Type::Insert };
            updates.push((kind, Entity::TableEntry(writable(pipeline, now, table, stored)?)));
        }
        let default = writable_default(forwarding, pipeline, table, store)?;
        let counted = default
            .counter_data
            .is_some_and(|count| count != p4rt::CounterData::default());
        if default.action.is_some() || counted || default.meter_config.is_some() {
            updates.push((Type::Modify, Entity::TableEntry(default)));
        }
    }
    Ok(updates)
}

fn passes(filter: &p4rt::TableEntry, stored: &StoredEntry) -> bool {
    let action_id = |action: &Option<p4rt::TableAction>| match action.as_ref().and_then(|action| action.r#type.as_ref())
    {
        Some(ActionKind::Action(action)) => Some(action.action_id),
        _ => None,
    };
    let wanted = action_id(&filter.action);
    #[allow(deprecated, reason = "controllers of older versions still filter by it")]
    let same_cookie = filter.controller_metadata == 0 || filter.controller_metadata == stored.entry.controller_metadata;
    same_cookie
        && (filter.priority == 0 || filter.priority == stored.entry.priority)
        && (filter.metadata.is_empty() || filter.metadata == stored.entry.metadata)
        && (wanted.is_none() || wanted == action_id(&stored.entry.action))
}

fn with_resources(
    pipeline: &Pipeline,
    now: Nanos,
    table: &Table,
    stored: &StoredEntry,
    filter: &p4rt::TableEntry,
) -> Result<p4rt::TableEntry, Fault> {
    let mut entry = stored.entry.clone();
    add_resources(pipeline, table, Row::Entry(stored.handle), filter, &mut entry)?;
    if filter.time_since_last_hit.is_some() && table.notifies_idle {
        let last = pipeline.last_hit(table.table, stored.handle)?;
        let elapsed = i64::try_from(now.saturating_sub(last)).unwrap_or(i64::MAX);
        entry.time_since_last_hit = Some(p4rt::table_entry::IdleTimeout { elapsed_ns: elapsed });
    }
    Ok(entry)
}

/// Adds the direct resources that a filter asks for.
fn add_resources(
    pipeline: &Pipeline,
    table: &Table,
    row: Row,
    filter: &p4rt::TableEntry,
    entry: &mut p4rt::TableEntry,
) -> Result<(), Fault> {
    if filter.counter_data.is_some() && table.direct_counter {
        let count = pipeline.direct_counter(table.table, row)?;
        entry.counter_data = Some(counters::to_response(count));
    }
    if table.direct_meter.is_none() {
        return Ok(());
    }
    if filter.meter_config.is_some() {
        entry.meter_config = pipeline.direct_meter(table.table, row)?.map(meters::to_response);
    }
    if filter.meter_counter_data.is_some() {
        let counts = pipeline.direct_meter_counts(table.table, row)?;
        entry.meter_counter_data = Some(meters::colours(counts));
    }
    Ok(())
}

fn default_entry(forwarding: &Forwarding, pipeline: &Pipeline, table: &Table, store: &TableStore) -> p4rt::TableEntry {
    let action = match pipeline.table_default(table.table) {
        Some(ActionCall::Action { action, params }) => {
            action::from_program(&forwarding.index, pipeline, table, action, &params)
        }
        _ => {
            let no_action = forwarding
                .index
                .action_id("NoAction")
                .filter(|&id| table.action(id).is_some());
            no_action.map(|action_id| p4rt::Action {
                action_id,
                params: Vec::new(),
            })
        }
    };
    p4rt::TableEntry {
        table_id: table.id,
        action: action.map(|action| p4rt::TableAction {
            r#type: Some(ActionKind::Action(action)),
        }),
        is_default_action: true,
        is_const: table.const_default,
        #[allow(deprecated, reason = "controllers of older versions still read it back")]
        controller_metadata: store.default.controller_metadata,
        metadata: store.default.metadata.clone(),
        ..p4rt::TableEntry::default()
    }
}
