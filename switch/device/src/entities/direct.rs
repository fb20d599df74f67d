//! The entries and default actions that direct counters and meters belong to.

use p4sched_dataplane::{Pipeline, Row};
use p4sched_proto::p4::v1 as p4rt;

use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::index::Table;
use crate::match_key::key_of;

/// The owner of a direct resource: an entry or the default action.
///
/// # Errors
/// `INVALID_ARGUMENT` for a malformed key, `NOT_FOUND` if there is no such entry.
pub(crate) fn owner(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    table: &Table,
    entry: &p4rt::TableEntry,
) -> Result<Row, Fault> {
    if entry.is_default_action {
        if !entry.r#match.is_empty() || entry.priority != 0 {
            let name = &table.name;
            return Err(Fault::invalid(format!(
                "{name}: the default action has no match and no priority"
            )));
        }
        return Ok(Row::Default);
    }
    let key = key_of(table, entry)?;
    let store = forwarding.tables.get(&table.id);
    let stored = store.and_then(|store| store.find(pipeline, table, &key));
    let stored =
        stored.ok_or_else(|| Fault::not_found(format!("{}: no entry with this key and priority", table.name)))?;
    Ok(Row::Entry(stored.handle))
}

/// The owner of a direct resource, and the part of its entry that identifies it.
pub(crate) struct Owner<'a> {
    pub table: &'a Table,
    pub row: Row,
    pub entry: p4rt::TableEntry,
}

/// The owners of direct resources that a read selects: one, all entries or the default action of a table, or those of
/// all tables for which `has` is true.
///
/// # Errors
/// Those of [`owner`], and `INVALID_ARGUMENT` for a table that has no such resource.
pub(crate) fn owners<'a>(
    forwarding: &'a Forwarding,
    pipeline: &Pipeline,
    entry: Option<&p4rt::TableEntry>,
    what: &str,
    has: impl Fn(&Table) -> bool,
) -> Result<Vec<Owner<'a>>, Fault> {
    let entry = entry.ok_or_else(|| Fault::invalid(format!("a read of a {what} without a table entry")))?;
    let tables: Vec<&Table> = match entry.table_id {
        0 => forwarding.index.tables.values().filter(|table| has(table)).collect(),
        id => {
            let table = forwarding.index.table(id)?;
            if !has(table) {
                return Err(Fault::invalid(format!("{}: the table has no {what}", table.name)));
            }
            vec![table]
        }
    };
    let one = entry.table_id != 0 && (!entry.r#match.is_empty() || entry.priority != 0);
    if one || entry.is_default_action {
        let owner = |table| {
            let row = owner(forwarding, pipeline, table, entry)?;
            Ok(Owner {
                table,
                row,
                entry: key_part(&p4rt::TableEntry {
                    table_id: table.id,
                    ..entry.clone()
                }),
            })
        };
        return tables.into_iter().map(owner).collect();
    }
    let all = tables.into_iter().flat_map(|table| {
        let stored = forwarding
            .tables
            .get(&table.id)
            .into_iter()
            .flat_map(|store| store.iter());
        stored.map(move |stored| Owner {
            table,
            row: Row::Entry(stored.handle),
            entry: key_part(&stored.entry),
        })
    });
    Ok(all.collect())
}

/// The part of an entry that identifies it.
fn key_part(entry: &p4rt::TableEntry) -> p4rt::TableEntry {
    p4rt::TableEntry {
        table_id: entry.table_id,
        r#match: entry.r#match.clone(),
        priority: entry.priority,
        is_default_action: entry.is_default_action,
        ..p4rt::TableEntry::default()
    }
}
