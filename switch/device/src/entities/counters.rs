//! Indirect and direct counters.

use p4sched_dataplane::{Count, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

use super::array::{cells, modify_only, selected};
use super::direct::{owner, owners};
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::index::unknown;

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
    let mut found = Vec::new();
    for (id, counter) in selected(&forwarding.index.counters, "counter", filter.counter_id)? {
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

/// Sets the direct counter of an entry or of the default action.
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
    let row = owner(forwarding, pipeline, table, of)?;
    let Some(count) = &entry.data else { return Ok(()) };
    pipeline.set_direct_counter(table.table, row, from_request(&table.name, count)?)?;
    Ok(())
}

/// Reads the direct counter of one entry, of a table's entries, or of all entries.
pub(crate) fn read_direct(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    filter: &p4rt::DirectCounterEntry,
) -> Result<Vec<Entity>, Fault> {
    let owners = owners(
        forwarding,
        pipeline,
        filter.table_entry.as_ref(),
        "direct counter",
        |table| table.direct_counter,
    )?;
    let entries = owners.into_iter().map(|owner| {
        let count = pipeline.direct_counter(owner.table.table, owner.row)?;
        Ok(Entity::DirectCounterEntry(p4rt::DirectCounterEntry {
            table_entry: Some(owner.entry),
            data: Some(to_response(count)),
        }))
    });
    entries.collect()
}
