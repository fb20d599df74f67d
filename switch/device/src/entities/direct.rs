//! The entries that direct counters and meters belong to.

use p4sched_proto::p4::v1 as p4rt;

use crate::index::Table;
use crate::match_key::key_of;
use crate::store::Stored;
use crate::{Fault, Forwarding};

/// The stored entry that a direct resource belongs to.
///
/// # Errors
/// `INVALID_ARGUMENT` for a malformed key, `NOT_FOUND` if there is no such entry, `UNIMPLEMENTED` for default actions.
pub(crate) fn owner<'a>(
    forwarding: &'a Forwarding,
    table: &Table,
    entry: &p4rt::TableEntry,
) -> Result<&'a Stored, Fault> {
    if entry.is_default_action {
        let name = &table.name;
        return Err(Fault::unimplemented(format!(
            "{name}: the default action has no direct counter or meter, as in BMv2"
        )));
    }
    let key = key_of(table, entry)?;
    let stored = forwarding.tables.get(&table.id).and_then(|store| store.find(&key));
    stored.ok_or_else(|| Fault::not_found(format!("{}: no entry with this key and priority", table.name)))
}

/// The entries whose direct resources a read selects: one, all of a table, or all of the tables that `has` names.
///
/// # Errors
/// As [`owner`], and `INVALID_ARGUMENT` for a table that has no such resource.
pub(crate) fn owners<'a>(
    forwarding: &'a Forwarding,
    entry: Option<&p4rt::TableEntry>,
    what: &str,
    has: impl Fn(&Table) -> bool,
) -> Result<Vec<(&'a Table, &'a Stored)>, Fault> {
    let entry = entry.ok_or_else(|| Fault::invalid(format!("a read of a {what} without a table entry")))?;
    let tables = &forwarding.index.tables;
    if entry.table_id == 0 {
        let tables = tables.values().filter(|table| has(table));
        let stored = tables.filter_map(|table| forwarding.tables.get(&table.id).map(|store| (table, store)));
        return Ok(stored
            .flat_map(|(table, store)| store.iter().map(move |stored| (table, stored)))
            .collect());
    }
    let table = forwarding.index.table(entry.table_id)?;
    if !has(table) {
        return Err(Fault::invalid(format!("{}: the table has no {what}", table.name)));
    }
    let wildcard = entry.r#match.is_empty() && entry.priority == 0 && !entry.is_default_action;
    if wildcard {
        let store = forwarding.tables.get(&table.id);
        return Ok(store
            .into_iter()
            .flat_map(|store| store.iter().map(move |stored| (table, stored)))
            .collect());
    }
    Ok(vec![(table, owner(forwarding, table, entry)?)])
}

/// The part of an entry that identifies it.
pub(crate) fn key_part(stored: &Stored) -> p4rt::TableEntry {
    p4rt::TableEntry {
        table_id: stored.entry.table_id,
        r#match: stored.entry.r#match.clone(),
        priority: stored.entry.priority,
        ..p4rt::TableEntry::default()
    }
}
