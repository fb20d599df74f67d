//! Checks that counters, meters and registers share.

use std::collections::BTreeMap;

use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::update::Type;

use crate::fault::Fault;
use crate::index::unknown;

/// The cells of an array that a request selects: one, or all of them if it gives no index.
///
/// # Errors
/// `INVALID_ARGUMENT` for a negative index, `OUT_OF_RANGE` for one past the end.
pub(crate) fn cells(name: &str, size: usize, index: Option<&p4rt::Index>) -> Result<std::ops::Range<usize>, Fault> {
    let Some(index) = index else { return Ok(0..size) };
    let cell = usize::try_from(index.index)
        .map_err(|_| Fault::invalid(format!("{name}: the index {} is negative", index.index)))?;
    if cell >= size {
        return Err(Fault::out_of_range(format!("{name}: no cell {cell}, it has {size}")));
    }
    Ok(cell..cell + 1)
}

/// Refuses all updates except MODIFY, with `INVALID_ARGUMENT`.
pub(crate) fn modify_only(what: &str, kind: Type) -> Result<(), Fault> {
    if kind == Type::Modify {
        return Ok(());
    }
    Err(Fault::invalid(format!(
        "{what} exist from the start: they can be modified, not inserted or deleted"
    )))
}

/// The objects that a read selects: one, or all of them if it gives no identifier.
///
/// # Errors
/// `INVALID_ARGUMENT` for an identifier that is not in P4Info.
pub(crate) fn selected<'a, T>(
    objects: &'a BTreeMap<u32, T>,
    what: &str,
    id: u32,
) -> Result<impl Iterator<Item = (u32, &'a T)>, Fault> {
    if id != 0 && !objects.contains_key(&id) {
        return Err(unknown(what, id));
    }
    let wanted = move |&(&key, _): &(&u32, &T)| id == 0 || id == key;
    Ok(objects.iter().filter(wanted).map(|(&key, object)| (key, object)))
}
