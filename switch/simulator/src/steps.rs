//! Packets one by one: what each passed in ingress, and the registers before it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use p4sched_dataplane::{Event, EventKind, Pipeline};
use serde::Serialize;

use crate::switch::Switch;

/// Registers with more cells are left out.
const MAX_CELLS: usize = 4096;

/// What one packet met.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Step {
    /// Cells that are not zero, by register and index, before the packet.
    registers: BTreeMap<String, BTreeMap<usize, u64>>,
    /// Tables, actions, conditions, statements and registers, and the queue.
    way: Vec<Event>,
}

/// The steps of all packets so far.
#[derive(Debug)]
pub(crate) struct Steps {
    registers: Vec<String>,
    seen: Arc<Mutex<Vec<Event>>>,
    done: Vec<Step>,
}

impl Steps {
    /// Watches a switch from its first packet on. `registers`: names of the program's registers.
    pub fn of(switch: &mut Switch, registers: Vec<String>) -> Steps {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        switch.trace(Box::new(move |event| {
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        }));
        Steps {
            registers,
            seen,
            done: Vec::new(),
        }
    }

    /// Notes the registers before the next packet.
    pub fn before(&mut self, pipeline: &Pipeline) {
        self.take();
        let registers = self.registers.iter().filter_map(|name| {
            let cells = cells(pipeline, name);
            (!cells.is_empty()).then(|| (name.clone(), cells))
        });
        let registers = registers.collect();
        self.done.push(Step {
            registers,
            way: Vec::new(),
        });
    }

    /// Notes what packet `id` met.
    pub fn after(&mut self, id: u64) {
        let events = self.take();
        if let Some(step) = self.done.last_mut() {
            step.way = events
                .into_iter()
                .filter(|event| event.id.packet == id && tells(&event.what))
                .collect();
        }
    }

    pub fn done(self) -> Vec<Step> {
        self.done
    }

    fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// True for the events that show a decision, and not how a frame is read and written.
fn tells(what: &EventKind) -> bool {
    matches!(
        what,
        EventKind::Table { .. }
            | EventKind::Action { .. }
            | EventKind::Condition { .. }
            | EventKind::Statement { .. }
            | EventKind::Changed { .. }
            | EventKind::RegisterRead { .. }
            | EventKind::RegisterWritten { .. }
            | EventKind::Counted { .. }
            | EventKind::Enqueued { .. }
            | EventKind::Dropped { .. }
    )
}

/// The cells of a register that are not zero.
fn cells(pipeline: &Pipeline, name: &str) -> BTreeMap<usize, u64> {
    let Some(register) = pipeline.register(name) else {
        return BTreeMap::new();
    };
    let size = pipeline.register_size(register);
    let value = |cell: usize| {
        let bytes = pipeline.register_read(register, cell).ok()?;
        let value = bytes.iter().fold(0, |value: u64, &byte| value << 8 | u64::from(byte));
        (value != 0).then_some((cell, value))
    };
    (0..size).filter(|_| size <= MAX_CELLS).filter_map(value).collect()
}
