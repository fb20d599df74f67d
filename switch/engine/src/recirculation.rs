//! Packets on their way from egress back to the parser.
//!
//! A pass takes time, so time advances even if a packet recirculates for ever. The number of passes in one call has a limit,
//! which grows with the time since the last call. So such a packet costs a share of the processor, and the switch works on.
//! A packet that the limit holds back is handled in a later call, at the time of that call.
//!
//! Recirculation ports have links of different rates, so packets need not come back in the order in which they are given here.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use p4sched_dataplane::{Nanos, Port, Recirculated};

/// Default duration of a pass. On a Tofino a pass takes about 1 µs. The emulation needs about as much to compute it, so a
/// pass is longer here.
pub(crate) const DEFAULT_LATENCY_NS: Nanos = 10_000;

/// Passes that a call may make in any case.
const PASSES_PER_CALL: u64 = 64;

/// Time that must have gone by for each further one.
const TIME_PER_PASS_NS: Nanos = 4_000;

/// A packet on its way: by the time at which it reaches the parser, and of one time in the order in which they came.
#[derive(Debug)]
struct OnItsWay {
    due: (Nanos, u64),
    packet: Recirculated,
}

impl Ord for OnItsWay {
    fn cmp(&self, other: &Self) -> Ordering {
        self.due.cmp(&other.due)
    }
}

impl PartialOrd for OnItsWay {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OnItsWay {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl Eq for OnItsWay {}

#[derive(Debug)]
pub(crate) struct Recirculation {
    /// The earliest on top.
    packets: BinaryHeap<Reverse<OnItsWay>>,
    /// Packets taken so far.
    taken: u64,
    /// Due time of the last packet of each recirculation port; v1model has no such port.
    last_due: BTreeMap<Option<Port>, Nanos>,
    room: usize,
    latency_ns: Nanos,
}

impl Recirculation {
    pub fn new(room: usize) -> Self {
        Recirculation {
            packets: BinaryHeap::new(),
            taken: 0,
            last_due: BTreeMap::new(),
            room,
            latency_ns: DEFAULT_LATENCY_NS,
        }
    }

    pub fn set_latency(&mut self, latency_ns: Nanos) {
        self.latency_ns = latency_ns;
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Takes a packet that left egress, or the link of its recirculation port, at `leaves_ns`; false if there are too many.
    pub fn push(&mut self, leaves_ns: Nanos, packet: Recirculated) -> bool {
        if self.packets.len() >= self.room {
            return false;
        }
        // A shorter latency lets no packet overtake another of its port.
        let last_due = self.last_due.entry(packet.port()).or_default();
        let due = leaves_ns.saturating_add(self.latency_ns).max(*last_due);
        *last_due = due;
        let due = (due, self.taken);
        self.packets.push(Reverse(OnItsWay { due, packet }));
        self.taken += 1;
        true
    }

    /// Time at which the next packet reaches the parser.
    pub fn next(&self) -> Option<Nanos> {
        self.packets.peek().map(|Reverse(first)| first.due.0)
    }

    pub fn pop(&mut self) -> Option<Recirculated> {
        self.packets.pop().map(|Reverse(first)| first.packet)
    }

    /// Passes allowed in a call that comes `elapsed` after the one before.
    pub fn allowance(elapsed: Nanos) -> u64 {
        PASSES_PER_CALL + elapsed / TIME_PER_PASS_NS
    }
}
