//! Table entries and default actions: what was written, and how it is found again.

mod read;
mod write;

use std::collections::{BTreeMap, HashMap};

use p4sched_dataplane::{ActionCall, EntryHandle, MatchKey, Nanos, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;

use super::one_shot;
use crate::index::Table;
use crate::{Fault, Forwarding, action, match_key};

pub(crate) use read::{read, replay, snapshot};
pub(crate) use write::write;

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
///
/// # Errors
/// `INVALID_ARGUMENT` for an entry or default action that breaks a restriction of the program itself: what is in force
/// could not be written again.
pub(crate) fn adopt_initial(forwarding: &mut Forwarding, pipeline: &Pipeline) -> Result<(), Fault> {
    for table in forwarding.index.tables.values() {
        let Some(store) = forwarding.tables.get_mut(&table.id) else {
            continue;
        };
        if let Some(ActionCall::Action { action, params }) = pipeline.table_default(table.table) {
            action::check_initial(&forwarding.index, pipeline, table, action, &params)?;
        }
        for view in pipeline.table_entries(table.table) {
            let ActionCall::Action { action, params } = &view.action else {
                continue;
            };
            action::check_initial(&forwarding.index, pipeline, table, *action, params)?;
            if let Some(restriction) = &table.restriction {
                restriction
                    .check_entry(&table.name, &table.fields, &view.key, view.priority)
                    .map_err(action::own_restriction)?;
            }
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
    Ok(())
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
