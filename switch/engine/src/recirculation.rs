//! Packets on their way from egress back to the parser.
//!
//! A pass takes time, so time goes on even if a packet recirculates for ever. The number of passes in one call has a limit,
//! which grows with the time since the last call. So such a packet costs a share of the processor, and the switch works on.
//! A packet that the limit holds back is handled in a later call, at the time of that call.

use std::collections::VecDeque;

use p4sched_dataplane::{Nanos, Recirculated};

/// Default duration of a pass. On a Tofino a pass takes about 1 µs. The emulation needs about as much to compute it, so a
/// pass is longer here.
pub(crate) const DEFAULT_LATENCY_NS: Nanos = 10_000;

/// Passes that a call may make in any case.
const PASSES_PER_CALL: u64 = 64;

/// Time that must have gone by for each further one.
const TIME_PER_PASS_NS: Nanos = 4_000;

/// See the module.
#[derive(Debug)]
pub(crate) struct Recirculation {
    packets: VecDeque<(Nanos, Recirculated)>,
    room: usize,
    latency_ns: Nanos,
}

impl Recirculation {
    pub fn new(room: usize) -> Self {
        Recirculation {
            packets: VecDeque::new(),
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

    /// Takes a packet that left egress at `now`; false if there are too many.
    pub fn push(&mut self, now: Nanos, packet: Recirculated) -> bool {
        if self.packets.len() >= self.room {
            return false;
        }
        // A shorter latency lets no packet overtake, so the queue stays sorted.
        let earliest = self.packets.back().map_or(0, |(due, _)| *due);
        self.packets
            .push_back((earliest.max(now.saturating_add(self.latency_ns)), packet));
        true
    }

    /// When the next packet reaches the parser.
    pub fn next(&self) -> Option<Nanos> {
        self.packets.front().map(|(due, _)| *due)
    }

    pub fn pop(&mut self) -> Option<Recirculated> {
        self.packets.pop_front().map(|(_, packet)| packet)
    }

    /// Passes allowed in a call that comes `elapsed` after the one before.
    pub fn allowance(elapsed: Nanos) -> u64 {
        PASSES_PER_CALL + elapsed / TIME_PER_PASS_NS
    }
}
