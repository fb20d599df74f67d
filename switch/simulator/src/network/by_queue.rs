//! Lengths of the queues of a port, where a model decides.

use std::collections::HashMap;

use p4sched_schedulers::config::MAX_P4_QUEUES;
use p4sched_schedulers::scheme::P4;
use p4sched_schedulers::{Packet, Verdict};

/// Lengths in packets by BMv2 priority; 7 is the most urgent.
pub type QueueLengths = [u64; MAX_P4_QUEUES];

/// The queue of each waiting packet.
#[derive(Clone, Debug)]
pub struct ByQueue {
    /// None: the discipline has no program, and one queue.
    p4: Option<P4>,
    /// Priorities by number of the packet.
    waiting: HashMap<u64, usize>,
    lengths: QueueLengths,
}

impl ByQueue {
    /// Empty queues of a scheme; None: of a discipline without a program.
    pub fn new(p4: Option<P4>) -> ByQueue {
        ByQueue {
            p4,
            waiting: HashMap::new(),
            lengths: [0; MAX_P4_QUEUES],
        }
    }

    /// Counts an arrival. The queues of a scheme beyond eight count as the eighth.
    pub fn arrived(&mut self, packet: Packet, verdict: Verdict) {
        if let Verdict::Queued { queue } | Verdict::PushedOut { queue, .. } = verdict {
            let priority = self.p4.map_or(0, |p4| p4.priority(queue.min(MAX_P4_QUEUES - 1)));
            self.waiting.insert(packet.id, priority);
            self.lengths[priority] += 1;
        }
        if let Verdict::PushedOut { victim, .. } = verdict {
            self.left(victim.id);
        }
    }

    /// Counts a packet that waits no more.
    pub fn left(&mut self, id: u64) {
        if let Some(priority) = self.waiting.remove(&id) {
            self.lengths[priority] -= 1;
        }
    }

    pub fn lengths(&self) -> QueueLengths {
        self.lengths
    }
}
