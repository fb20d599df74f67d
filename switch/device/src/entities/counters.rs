//! Indirect and direct counters.

use p4sched_dataplane::{Count, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

use super::table_entries::{Stored, key_of};
use super::{cells, modify_only};
use crate::index::{Table, unknown};
use crate::{Fault, Forwarding};

/// A counter's value from a request.
///
/// # Errors
/// `INVALID_ARGUMENT` for negative counts.
pub(crate) fn from_request(name: &str, count: &p4rt::CounterData) -> Result<Count, Fault> {
    match (u64::try_from(count.packet_count), u64::try_from(count.byte_count)) {
        (Ok(packets), Ok(bytes)) => Ok(Count { packets, bytes }),
        _ => Err(Fault::invalid(format!("{name}: a negative count"))),
    }
}

/// A counter's value for a response.
pub(crate) fn to_response(count: Count) -> p4rt::CounterData {
    let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    p4rt::CounterData {
        packet_count: signed(count.packets),
        byte_count: signed(count.bytes),
    }
}

/// Sets one cell of an indirect counter, or all of them.
pub(crate) fn write(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    entry: &p4rt::CounterEntry,
) -> Result<(), Fault> {
    modify_only("the cells of a counter", kind)?;
    let counters = &forwarding.index.counters;
    let counter = counters
        .get(&entry.counter_id)
        .ok_or_else(|| unknown("counter", entry.counter_id))?;
    let cells = cells(&counter.name, counter.size, entry.index.as_ref())?;
    let Some(count) = &entry.data else { return Ok(()) };
    let count = from_request(&counter.name, count)?;
    for cell in cells {
        pipeline.counter_write(counter.array, cell, count)?;
    }
    Ok(())
}

/// Reads one cell, all cells of a counter, or all counters.
pub(crate) fn read(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    filter: &p4rt::CounterEntry,
) -> Result<Vec<Entity>, Fault> {
    let counters = &forwarding.index.counters;
    if filter.counter_id != 0 && !counters.contains_key(&filter.counter_id) {
        return Err(unknown("counter", filter.counter_id));
    }
    let mut found = Vec::new();
    for (&id, counter) in counters
        .iter()
        .filter(|&(&id, _)| filter.counter_id == 0 || filter.counter_id == id)
    {
        let index = filter.index.as_ref().filter(|_| filter.counter_id != 0);
        for cell in cells(&counter.name, counter.size, index)? {
            let count = pipeline.counter_read(counter.array, cell)?;
            found.push(Entity::CounterEntry(p4rt::CounterEntry {
                counter_id: id,
                index: Some(p4rt::Index { index: cell as i64 }),
                data: Some(to_response(count)),
            }));
        }
    }
    Ok(found)
}

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

/// The entries whose direct resources a read is about: one, all of a table, or all of the tables that `has` selects.
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

/// Sets the direct counter of an entry.
pub(crate) fn write_direct(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    entry: &p4rt::DirectCounterEntry,
) -> Result<(), Fault> {
    modify_only("direct counters", kind)?;
    let of = entry
        .table_entry
        .as_ref()
        .ok_or_else(|| Fault::invalid("a direct counter without a table entry"))?;
    let table = forwarding.index.table(of.table_id)?;
    if !table.direct_counter {
        return Err(Fault::invalid(format!(
            "{}: the table has no direct counter",
            table.name
        )));
    }
    let handle = owner(forwarding, table, of)?.handle;
    let Some(count) = &entry.data else { return Ok(()) };
    pipeline.set_direct_counter(table.table, handle, from_request(&table.name, count)?)?;
    Ok(())
}

/// Reads the direct counter of one entry, of a table's entries, or of all entries.
pub(crate) fn read_direct(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    filter: &p4rt::DirectCounterEntry,
) -> Result<Vec<Entity>, Fault> {
    let owners = owners(forwarding, filter.table_entry.as_ref(), "direct counter", |table| {
        table.direct_counter
    })?;
    let entries = owners.into_iter().map(|(table, stored)| {
        let count = pipeline.direct_counter(table.table, stored.handle)?;
        let data = Some(to_response(count));
        Ok(Entity::DirectCounterEntry(p4rt::DirectCounterEntry {
            table_entry: Some(key_part(stored)),
            data,
        }))
    });
    entries.collect()
}
