//! Packets on their way from egress back to the parser.
//!
//! A pass takes time, so a packet that recirculates for ever makes progress in time with every pass, and the passes in one
//! call are limited to what the time since the last call pays for: such a packet costs a share of the processor, but
//! the switch goes on. A packet that the limit holds back is handled in a later call, at the time of that call.

use std::collections::VecDeque;

use p4sched_dataplane::{Nanos, Recirculated};

/// Duration of a pass until told otherwise. BMv2 takes what its threads take, a Tofino about 1 µs; each pass
/// costs the emulation about as much, so it is made longer.
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
