//! Table entries and default actions.

use std::collections::{BTreeMap, HashMap};

use p4sched_dataplane::{ActionCall, Count, EntryHandle, MatchKey, Nanos, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;

use super::{counters, meters, one_shot};
use crate::index::{Index, Table};
use crate::{Fault, Forwarding, action, match_key};

type Key = (Vec<MatchKey>, i32);

/// What was written into one table.
#[derive(Debug, Default)]
pub struct TableStore {
    by_key: HashMap<Key, u64>,
    /// In the order of insertion.
    entries: BTreeMap<u64, Stored>,
    next: u64,
    default: DefaultEntry,
}

/// An entry as it is read back, without its direct resources.
#[derive(Debug)]
pub(crate) struct Stored {
    pub handle: EntryHandle,
    pub entry: p4rt::TableEntry,
    one_shot: Option<one_shot::OneShot>,
    /// When the controller was last told that the entry is idle.
    pub idle_notice: Nanos,
}

/// What a controller attached to the default action.
#[derive(Debug, Default, Clone)]
struct DefaultEntry {
    controller_metadata: u64,
    metadata: Vec<u8>,
}

impl TableStore {
    /// The entry of this key and priority.
    pub(crate) fn find(&self, key: &Key) -> Option<&Stored> {
        self.by_key.get(key).and_then(|sequence| self.entries.get(sequence))
    }

    /// All entries in the order of insertion.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Stored> {
        self.entries.values()
    }

    /// All entries in the order of insertion.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stored> {
        self.entries.values_mut()
    }

    fn add(&mut self, key: Key, stored: Stored) {
        self.by_key.insert(key, self.next);
        self.entries.insert(self.next, stored);
        self.next += 1;
    }

    fn remove(&mut self, key: &Key) -> Option<Stored> {
        self.by_key
            .remove(key)
            .and_then(|sequence| self.entries.remove(&sequence))
    }

    fn find_mut(&mut self, key: &Key) -> Option<&mut Stored> {
        self.by_key.get(key).and_then(|sequence| self.entries.get_mut(sequence))
    }
}

/// Takes over the entries that the program came with.
pub(crate) fn adopt_initial(forwarding: &mut Forwarding, pipeline: &Pipeline) {
    for table in forwarding.index.tables.values() {
        let Some(store) = forwarding.tables.get_mut(&table.id) else {
            continue;
        };
        for view in pipeline.table_entries(table.table) {
            let ActionCall::Action { action, params } = &view.action else {
                continue;
            };
            let action = action::from_program(&forwarding.index, pipeline, table, *action, params);
            let priority = if table.needs_priority { view.priority } else { 0 };
            let entry = p4rt::TableEntry {
                table_id: table.id,
                r#match: match_key::to_response(&table.fields, &view.key),
                action: action.map(|action| p4rt::TableAction {
                    r#type: Some(ActionKind::Action(action)),
                }),
                priority,
                is_const: view.is_const || table.is_const,
                ..p4rt::TableEntry::default()
            };
            let stored = Stored {
                handle: view.handle,
                entry,
                one_shot: None,
                idle_notice: 0,
            };
            store.add((view.key, priority), stored);
        }
    }
}

/// Key and priority of the entry that a message names.
///
/// # Errors
/// `INVALID_ARGUMENT` for a malformed key or a priority where none is due (and the reverse).
pub(crate) fn key_of(table: &Table, entry: &p4rt::TableEntry) -> Result<Key, Fault> {
    let name = &table.name;
    let key = match_key::from_request(name, &table.fields, &entry.r#match)?;
    if table.needs_priority && entry.priority <= 0 {
        return Err(Fault::invalid(format!(
            "{name}: entries of this table need a priority above 0"
        )));
    }
    if !table.needs_priority && entry.priority != 0 {
        return Err(Fault::invalid(format!(
            "{name}: all matches are exact or lpm, the priority must be 0"
        )));
    }
    Ok((key, entry.priority))
}

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
    match kind {
        Type::Insert => insert(forwarding, pipeline, &index, table, key, entry),
        Type::Modify => modify(forwarding, pipeline, &index, table, &key, entry),
        _ => delete(forwarding, pipeline, table, &key),
    }
}

fn no_entry(table: &Table) -> Fault {
    Fault::not_found(format!("{}: no entry with this key and priority", table.name))
}

/// Checks the parts of an entry that can be wrong without touching the data plane.
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
    if entry.meter_counter_data.is_some() {
        return Err(Fault::unimplemented(format!(
            "{name}: the meters of this switch do not count colours"
        )));
    }
    if entry.idle_timeout_ns != 0 && (!table.notifies_idle || entry.idle_timeout_ns < 0) {
        return Err(Fault::invalid(format!(
            "{name}: idle_timeout_ns, but the table does not support idle timeouts"
        )));
    }
    Ok(())
}

fn set_attachments(
    pipeline: &mut Pipeline,
    table: &Table,
    handle: EntryHandle,
    entry: &p4rt::TableEntry,
) -> Result<(), Fault> {
    if let Some(count) = &entry.counter_data {
        pipeline.set_direct_counter(table.table, handle, counters::from_request(&table.name, count)?)?;
    }
    if let Some(kind) = table.direct_meter {
        let config = entry
            .meter_config
            .as_ref()
            .map(|config| meters::from_request(&table.name, kind, config));
        pipeline.set_direct_meter(table.table, handle, config.transpose()?)?;
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
        .is_some_and(|store| store.find(&key).is_some());
    if exists {
        return Err(Fault::exists(format!(
            "{}: an entry with this key and priority exists",
            table.name
        )));
    }
    check_attachments(table, entry)?;
    let action = entry.action.as_ref().and_then(|action| action.r#type.as_ref());
    let action = action.ok_or_else(|| Fault::invalid(format!("{}: an entry without an action", table.name)))?;
    let prepared = one_shot::prepare(forwarding, pipeline, index, table, action)?;
    let inserted = pipeline.table_insert(table.table, &key.0, key.1, &prepared.call);
    let handle = match inserted {
        Ok(handle) => handle,
        Err(error) => {
            one_shot::discard(pipeline, index, table, prepared.one_shot);
            return Err(error.into());
        }
    };
    set_attachments(pipeline, table, handle, entry)?;
    let stored = Stored {
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
    forwarding.tables.entry(table.id).or_default().add(key, stored);
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
        .and_then(|store| store.find(key))
        .ok_or_else(|| no_entry(table))?;
    let (handle, is_const) = (stored.handle, stored.entry.is_const || table.is_const);
    check_attachments(table, entry)?;
    let action = entry.action.as_ref().and_then(|action| action.r#type.as_ref());
    if is_const && action.is_some() {
        return Err(Fault::denied(format!(
            "{}: the entry is const, its action cannot change",
            table.name
        )));
    }
    let prepared = action
        .map(|action| one_shot::prepare(forwarding, pipeline, index, table, action))
        .transpose()?;
    if let Some(prepared) = &prepared
        && let Err(error) = pipeline.table_modify(table.table, handle, &prepared.call)
    {
        one_shot::discard(pipeline, index, table, prepared.one_shot.clone());
        return Err(error.into());
    }
    set_attachments(pipeline, table, handle, entry)?;
    let Some(stored) = forwarding
        .tables
        .get_mut(&table.id)
        .and_then(|store| store.find_mut(key))
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
        let replaced = std::mem::replace(&mut stored.one_shot, prepared.one_shot);
        one_shot::discard(pipeline, index, table, replaced);
    }
    Ok(())
}

fn delete(forwarding: &mut Forwarding, pipeline: &mut Pipeline, table: &Table, key: &Key) -> Result<(), Fault> {
    let index = forwarding.index.clone();
    let store = forwarding.tables.entry(table.id).or_default();
    let stored = store.find(key).ok_or_else(|| no_entry(table))?;
    if stored.entry.is_const {
        return Err(Fault::denied(format!("{}: the entry is const", table.name)));
    }
    pipeline.table_delete(table.table, stored.handle)?;
    let removed = store.remove(key).and_then(|stored| stored.one_shot);
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
    if table.const_default {
        return Err(Fault::denied(format!("{name}: the program's default action is const")));
    }
    if table.profile.is_some() {
        return Err(Fault::denied(format!(
            "{name}: the default action of a table with an action profile cannot change"
        )));
    }
    if entry.counter_data.is_some() || entry.meter_config.is_some() || entry.meter_counter_data.is_some() {
        return Err(Fault::unimplemented(format!(
            "{name}: the default action has no direct counter or meter, as in BMv2"
        )));
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
    pipeline.table_set_default(table.table, call.as_ref())?;
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

/// Reads the entries, or the default actions, that a filter selects.
pub(crate) fn read(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    now: Nanos,
    filter: &p4rt::TableEntry,
) -> Result<Vec<Entity>, Fault> {
    let index = &forwarding.index;
    if filter.meter_counter_data.is_some() {
        return Err(Fault::unimplemented("the meters of this switch do not count colours"));
    }
    let mut found = Vec::new();
    if filter.table_id == 0 {
        for table in index.tables.values() {
            read_table(forwarding, pipeline, now, table, filter, None, &mut found)?;
        }
        return Ok(found);
    }
    let table = index.table(filter.table_id)?;
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
        found.push(Entity::TableEntry(default_entry(forwarding, pipeline, table, store)));
        return Ok(());
    }
    let filtered = filter.table_id != 0;
    if let Some(key) = key.as_ref()
        && (filter.priority != 0 || !table.needs_priority)
    {
        if let Some(stored) = store.find(&(key.clone(), filter.priority))
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

/// The entry, or default action, that a message names, with its direct resources; `None` if there is none.
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
        let default = default_entry(forwarding, pipeline, table, store);
        return Ok(Some(Entity::TableEntry(p4rt::TableEntry {
            is_const: false,
            ..default
        })));
    }
    let Some(stored) = store.find(&key_of(table, entry)?) else {
        return Ok(None);
    };
    Ok(Some(Entity::TableEntry(writable(pipeline, now, table, stored)?)))
}

/// An entry with its direct resources, as it can be written again.
fn writable(pipeline: &Pipeline, now: Nanos, table: &Table, stored: &Stored) -> Result<p4rt::TableEntry, Fault> {
    let with_all = p4rt::TableEntry {
        counter_data: Some(p4rt::CounterData::default()),
        meter_config: Some(p4rt::MeterConfig::default()),
        ..p4rt::TableEntry::default()
    };
    let mut entry = with_resources(pipeline, now, table, stored, &with_all)?;
    if std::mem::take(&mut entry.is_const) {
        entry.action = None;
    }
    Ok(entry)
}

/// The updates that bring the tables of `new` to the state of these: entries that `new` came with are modified or
/// deleted, others inserted, default actions set.
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
        let initial = new.tables.get(&table.id);
        for stored in initial
            .into_iter()
            .flat_map(TableStore::iter)
            .filter(|stored| !stored.entry.is_const)
        {
            let key = key_of(table, &stored.entry).ok();
            if key.is_none_or(|key| store.find(&key).is_none()) {
                updates.push((Type::Delete, Entity::TableEntry(stored.entry.clone())));
            }
        }
        for stored in store.iter() {
            let key = key_of(table, &stored.entry)?;
            let exists = initial.is_some_and(|initial| initial.find(&key).is_some());
            let kind = if exists { Type::Modify } else { Type::Insert };
            updates.push((kind, Entity::TableEntry(writable(pipeline, now, table, stored)?)));
        }
        if !table.const_default && table.profile.is_none() {
            let default = default_entry(forwarding, pipeline, table, store);
            updates.push((Type::Modify, Entity::TableEntry(default)));
        }
    }
    Ok(updates)
}

fn passes(filter: &p4rt::TableEntry, stored: &Stored) -> bool {
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
    stored: &Stored,
    filter: &p4rt::TableEntry,
) -> Result<p4rt::TableEntry, Fault> {
    let mut entry = stored.entry.clone();
    if filter.counter_data.is_some() && table.direct_counter {
        let count: Count = pipeline.direct_counter(table.table, stored.handle)?;
        entry.counter_data = Some(counters::to_response(count));
    }
    if filter.meter_config.is_some() && table.direct_meter.is_some() {
        entry.meter_config = pipeline
            .direct_meter(table.table, stored.handle)?
            .map(meters::to_response);
    }
    if filter.time_since_last_hit.is_some() && table.notifies_idle {
        let last = pipeline.last_hit(table.table, stored.handle)?;
        let elapsed = i64::try_from(now.saturating_sub(last)).unwrap_or(i64::MAX);
        entry.time_since_last_hit = Some(p4rt::table_entry::IdleTimeout { elapsed_ns: elapsed });
    }
    Ok(entry)
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
