//! What happens when: events in the order of their time, and at the same time in the order in which they were planned.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use p4sched_schedulers::Nanos;

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The next flow of the list starts.
    FlowStart,
    /// The first packet on this wire is at its far end.
    Arrival(u32),
    /// This wire is free, and packets wait for it.
    Departure(u32),
    /// The timer of a flow's sender.
    SenderTimer(u32),
    /// The timer of a flow's receiver.
    ReceiverTimer(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    at: Nanos,
    order: u64,
    event: Event,
}

impl Ord for Entry {
    /// The earliest entry is the greatest: [`BinaryHeap`] gives the greatest first.
    fn cmp(&self, other: &Entry) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Planned events.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    heap: BinaryHeap<Entry>,
    planned: u64,
}

impl Calendar {
    /// Plans an event.
    pub fn plan(&mut self, at: Nanos, event: Event) {
        self.heap.push(Entry {
            at,
            order: self.planned,
            event,
        });
        self.planned += 1;
    }

    /// The next event, if it comes by `end`; removed.
    pub fn next(&mut self, end: Nanos) -> Option<(Nanos, Event)> {
        if self.heap.peek()?.at > end {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}
