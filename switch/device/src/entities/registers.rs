//! Registers: reading and writing their cells.

use p4sched_dataplane::Pipeline;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

use super::array::{cells, modify_only, selected};
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::index::unknown;
use crate::{bits, p4data};

/// Sets one cell of a register, or all of them.
pub(crate) fn write(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    entry: &p4rt::RegisterEntry,
) -> Result<(), Fault> {
    modify_only("the cells of a register", kind)?;
    let index = &forwarding.index;
    let register = index.registers.get(&entry.register_id);
    let register = register.ok_or_else(|| unknown("register", entry.register_id))?;
    let array = &register.array;
    if register.queue_depth {
        return Err(Fault::denied(format!(
            "{}: @queue_depth, its cells are the switch's own queue depths",
            array.name
        )));
    }
    let cells = cells(&array.name, array.size, entry.index.as_ref())?;
    let given = entry
        .data
        .as_ref()
        .ok_or_else(|| Fault::invalid(format!("{}: a write without data", array.name)))?;
    let fields = p4data::to_fields(&index.types, &register.cell, &array.name, given)?;
    let value = join(fields, &register.widths);
    for cell in cells {
        pipeline.register_write(array.array, cell, &value)?;
    }
    Ok(())
}

/// Joins fields into a cell; the first field has the most significant bits.
fn join(mut fields: Vec<Vec<u8>>, widths: &[u32]) -> Vec<u8> {
    if fields.len() == 1 {
        return fields.remove(0);
    }
    let mut writer = bits::Writer::default();
    for (field, &width) in fields.iter().zip(widths) {
        writer.push(field, width);
    }
    writer.right_aligned()
}

/// Splits a cell into its fields.
fn split(cell: Vec<u8>, widths: &[u32]) -> Vec<Vec<u8>> {
    if widths.len() == 1 {
        return vec![cell];
    }
    let total: u32 = widths.iter().sum();
    let mut start = (cell.len() * 8).saturating_sub(total as usize);
    let mut field = |&width: &u32| {
        start += width as usize;
        bits::slice(&cell, start - width as usize, width)
    };
    widths.iter().map(&mut field).collect()
}

/// Reads one cell, all cells of a register, or all registers.
pub(crate) fn read(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    filter: &p4rt::RegisterEntry,
) -> Result<Vec<Entity>, Fault> {
    let index = &forwarding.index;
    let mut found = Vec::new();
    for (id, register) in selected(&forwarding.index.registers, "register", filter.register_id)? {
        let array = &register.array;
        let one = filter.index.as_ref().filter(|_| filter.register_id != 0);
        for cell in cells(&array.name, array.size, one)? {
            let value = pipeline.register_read(array.array, cell)?;
            let mut fields = split(value, &register.widths).into_iter();
            let data = p4data::from_fields(&index.types, &register.cell, &mut fields);
            found.push(Entity::RegisterEntry(p4rt::RegisterEntry {
                register_id: id,
                index: Some(p4rt::Index { index: cell as i64 }),
                data,
            }));
        }
    }
    Ok(found)
}
