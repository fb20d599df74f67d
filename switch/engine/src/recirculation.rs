//! Packets on their way from egress back to the parser.
//!
//! A pass takes time, so time advances even if a packet recirculates for ever. The number of passes in one call is
//! limited. The limit grows with the time since the last call. So such a packet costs only a share of the processor. A
//! packet that the limit holds back is handled in a later call, at the time of that call.
//!
//! Recirculation ports have links of different rates, so packets may come back in another order.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use p4sched_dataplane::{Nanos, Port, Recirculated};

/// Default duration of a pass. On a Tofino a pass takes about 1 µs. The emulation needs about as much time to compute
/// it, so a pass is longer here.
pub(crate) const DEFAULT_LATENCY_NS: Nanos = 10_000;

/// Passes that every call may make.
const PASSES_PER_CALL: u64 = 64;

/// Time since the last call that allows one more pass, in ns.
const TIME_PER_PASS_NS: Nanos = 4_000;

/// A packet on its way, ordered by the time at which it reaches the parser, then by the order in which it was taken.
#[derive(Debug)]
struct InPass {
    due: (Nanos, u64),
    packet: Recirculated,
}

impl Ord for InPass {
    fn cmp(&self, other: &Self) -> Ordering {
        self.due.cmp(&other.due)
    }
}

impl PartialOrd for InPass {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for InPass {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl Eq for InPass {}

#[derive(Debug)]
pub(crate) struct Recirculation {
    /// The earliest packet is on top.
    packets: BinaryHeap<Reverse<InPass>>,
    /// Number of packets taken so far.
    taken: u64,
    /// Time at which the last packet of each recirculation port is due. In v1model the port is `None`.
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

    /// Takes a packet that left egress, or the link of its recirculation port, at `leaves_ns`. Returns false if too
    /// many are here.
    pub fn push(&mut self, leaves_ns: Nanos, packet: Recirculated) -> bool {
        if self.packets.len() >= self.room {
            return false;
        }
        // With a shorter latency, a packet must not overtake another one of its port.
        let last_due = self.last_due.entry(packet.port()).or_default();
        let due = leaves_ns.saturating_add(self.latency_ns).max(*last_due);
        *last_due = due;
        let due = (due, self.taken);
        self.packets.push(Reverse(InPass { due, packet }));
        self.taken += 1;
        true
    }

    /// The time at which the next packet reaches the parser.
    pub fn next(&self) -> Option<Nanos> {
        self.packets.peek().map(|Reverse(first)| first.due.0)
    }

    pub fn pop(&mut self) -> Option<Recirculated> {
        self.packets.pop().map(|Reverse(first)| first.packet)
    }

    /// Number of passes allowed in a call, `elapsed` ns after the call before.
    pub fn allowance(elapsed: Nanos) -> u64 {
        PASSES_PER_CALL + elapsed / TIME_PER_PASS_NS
    }
}
