//! One memory for the queues of all ports of a switch, and the rules that share it.
//!
//! Sources: Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", ToN 1998; Addanki
//! et al., "ABM: Active Buffer Management in Datacenters", SIGCOMM 2022; Shan et al., "Occamy: A Preemptive Buffer
//! Management for On-chip Shared-memory Switches", EuroSys 2025.
//!
//! ```text
//! B: packets of the memory, Q: packets in all queues, len: packets in the queue of the arriving packet
//!
//! dynamic_thresholds: T = alpha (B - Q)             accept if len < T
//! abm:                T = alpha (B - Q) / (n m)     accept if len < T
//! occamy:             T = alpha (B - Q)             accept if len < T; then, if a queue is longer than its T,
//!                                                   one such queue, in turn, gives up its head
//! ```
//!
//! n is the number of congested queues of the same priority: the largest n with which n queues have 9/10 of their T. m
//! is the number of queues at the port that hold packets, so 1/m is the share of the link. ABM updates n once in a round
//! trip and measures the share; here both are those of the instant.
//!
//! Occamy gives up heads while its memory has bandwidth to spare. Here it always has. An arrival lowers T by alpha, and
//! a head raises it again, so one head for each arrival is enough.

use crate::config::ConfigError;

pub use p4sched_proto::p4sched::v1::MemorySharing;

/// 256 times the alpha of 1.
pub const ALPHA_1: u32 = 256;

/// The settings of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryConfig {
    /// B, in packets; 0: there is no shared memory.
    pub packets: u32,
    pub sharing: MemorySharing,
    /// 256 alpha.
    pub alpha_256: u32,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        MemoryConfig {
            packets: 0,
            sharing: MemorySharing::DynamicThresholds,
            alpha_256: ALPHA_1,
        }
    }
}

/// A queue that shares the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Priority, of the queues that ABM compares.
    pub priority: u8,
    /// Packets that wait in it.
    pub length: u32,
    /// Queues of its port that hold packets, this one included.
    pub busy: u32,
}

impl MemoryConfig {
    /// Checks that every value is valid.
    ///
    /// # Errors
    /// Names the value and the valid range.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.sharing == MemorySharing::Unspecified {
            return Err(ConfigError::Sharing);
        }
        match self.alpha_256 {
            0 => Err(ConfigError::Alpha),
            _ => Ok(()),
        }
    }

    /// The length from which a queue takes no packet: T, rounded up. `queues` are all queues of the switch.
    pub fn threshold(&self, queues: &[Share], of: &Share) -> u32 {
        let free = self.free(queues);
        let parts = match self.sharing {
            MemorySharing::Abm => self.congested(free, queues, of.priority) * u64::from(of.busy.max(1)),
            _ => 1,
        };
        self.part(free, parts)
    }

    /// The queue that gives up a packet after an arrival: the first behind number `last` that is longer than its T.
    pub fn over(&self, queues: &[Share], last: usize) -> Option<usize> {
        if self.sharing != MemorySharing::Occamy {
            return None;
        }
        let threshold = self.part(self.free(queues), 1);
        let count = queues.len();
        (1..=count)
            .map(|step| (last + step) % count)
            .find(|&place| queues[place].length > threshold)
    }

    /// B - Q.
    fn free(&self, queues: &[Share]) -> u64 {
        let held: u64 = queues.iter().map(|queue| u64::from(queue.length)).sum();
        u64::from(self.packets).saturating_sub(held)
    }

    /// alpha * free / parts, rounded up.
    fn part(&self, free: u64, parts: u64) -> u32 {
        let part = (u64::from(self.alpha_256) * free).div_ceil(u64::from(ALPHA_1) * parts);
        u32::try_from(part).unwrap_or(u32::MAX)
    }

    /// n, the congested queues of a priority; at least 1.
    fn congested(&self, free: u64, queues: &[Share], priority: u8) -> u64 {
        let alike = || {
            queues
                .iter()
                .filter(|queue| queue.priority == priority && queue.length > 0)
        };
        let near = |n: u64| {
            let is_near = |queue: &&Share| {
                10 * u64::from(queue.length) >= 9 * u64::from(self.part(free, n * u64::from(queue.busy)))
            };
            alike().filter(is_near).count() as u64
        };
        let most = alike().count() as u64;
        (2..=most).rev().find(|&n| near(n) >= n).unwrap_or(1)
    }
}
