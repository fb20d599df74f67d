//! Snapshots for clients that watch the switch: quick to make and small to send.

use p4sched_dataplane::{Nanos, Pipeline};
use p4sched_proto::p4sched::v1 as tm;

use crate::device::Device;
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::index::unknown;
use crate::ports::Ports;
use crate::traffic_manager::selected;

/// The widest register cell that a snapshot can hold, in bits.
const MAX_BITS: u32 = u64::BITS;

impl Device {
    /// The ports and cells that a request names. Call [`Device::advance`] with the present time first.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown port, counter or register, `OUT_OF_RANGE` for a cell past the end, `INVALID_ARGUMENT`
    /// for a register that is too wide, `FAILED_PRECONDITION` for cells without a program.
    pub fn snapshot(
        &mut self,
        request: &tm::WatchRequest,
        now: Nanos,
        ports: &mut dyn Ports,
    ) -> Result<tm::Snapshot, Fault> {
        let mut found = tm::Snapshot {
            now_ns: now,
            ..tm::Snapshot::default()
        };
        for port in selected(&request.ports, ports)? {
            let queues = self.engine().queue_stats(port).queues;
            let length = |packets| u32::try_from(packets).unwrap_or(u32::MAX);
            found
                .lengths
                .extend(queues.iter().map(|queue| length(queue.length.packets)));
            let lost = queues.iter().map(|queue| queue.lost().packets);
            found.lost_packets.push(lost.sum());
            found.sent_bytes.push(ports.counts(port).tx_bytes);
        }
        if request.counters.is_empty() && request.registers.is_empty() {
            return Ok(found);
        }
        let (forwarding, pipeline) = self.target()?;
        for asked in &request.counters {
            read_counters(forwarding, pipeline, asked, &mut found)?;
        }
        for asked in &request.registers {
            read_registers(forwarding, pipeline, asked, &mut found)?;
        }
        Ok(found)
    }
}

fn read_counters(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    asked: &tm::Cells,
    found: &mut tm::Snapshot,
) -> Result<(), Fault> {
    let counter = forwarding.index.counters.get(&asked.id);
    let counter = counter.ok_or_else(|| unknown("counter", asked.id))?;
    for &cell in &asked.cells {
        let count = pipeline.counter_read(counter.array, cell_of(&counter.name, counter.size, cell)?)?;
        found.packets.push(count.packets);
        found.bytes.push(count.bytes);
    }
    Ok(())
}

fn read_registers(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    asked: &tm::Cells,
    found: &mut tm::Snapshot,
) -> Result<(), Fault> {
    let register = forwarding.index.registers.get(&asked.id);
    let register = register.ok_or_else(|| unknown("register", asked.id))?;
    let array = &register.array;
    if register.widths.len() != 1 || register.widths[0] > MAX_BITS {
        return Err(Fault::invalid(format!(
            "{}: a snapshot holds cells of one field, at most {MAX_BITS} bits wide",
            array.name
        )));
    }
    for &cell in &asked.cells {
        let bytes = pipeline.register_read(array.array, cell_of(&array.name, array.size, cell)?)?;
        found
            .values
            .push(bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)));
    }
    Ok(())
}

fn cell_of(name: &str, size: usize, cell: u32) -> Result<usize, Fault> {
    let found = usize::try_from(cell).ok().filter(|&cell| cell < size);
    found.ok_or_else(|| Fault::out_of_range(format!("{name}: no cell {cell}, it has {size}")))
}
