//! SP-PIFO (Alcoz et al., NSDI 2020; summarised in PACKS 2.1).
//!
//! n strict-priority queues, queue 1 the most urgent, each with a bound b_i, all 0 at the start.
//!
//!   enqueue: scan from the least urgent queue to the most urgent one; take the first queue i with b_i <= r
//!     push-up:   if queue i had room, b_i = r
//!     push-down: if there is none (r < b_1), it is an inversion: queue 1, and cost = b_1 - r is taken off every bound
//!   tail drop per queue; no admission control
//!   dequeue: strict priority
//!
//! Bounds stay sorted, b_1 <= ... <= b_n. The push-up must not happen for a packet that its queue dropped: the
//! papers' figures come out visibly different then. The push-down happens for a dropped packet too, since the
//! inversion was detected all the same.
//!
//! The papers have a fixed n. Here queues may come and go: one that comes has the bound 0, as all do at the start, so the
//! first packets that it takes may be of any rank; packets in one that goes are still served. Until they are sorted again
//! the cost of a push-down is what takes the smallest bound down to r, so that no bound falls below 0.

use crate::config::ConfigError;
use crate::priority_queues::PriorityQueues;
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};

/// Strict-priority queues behind bounds that adapt to each packet.
#[derive(Clone, Debug)]
pub struct SpPifo {
    queues: PriorityQueues,
    /// b_1 to b_n, and those of queues that are gone.
    bounds: Vec<Rank>,
    /// n.
    count: usize,
}

impl SpPifo {
    /// Queues of these sizes, in packets, the most urgent first.
    ///
    /// # Errors
    /// As [`PriorityQueues::new`].
    pub fn new(queue_sizes: &[usize]) -> Result<SpPifo, ConfigError> {
        Ok(SpPifo {
            queues: PriorityQueues::new(queue_sizes)?,
            bounds: vec![0; queue_sizes.len()],
            count: queue_sizes.len(),
        })
    }

    /// Changes the queue sizes and the number of queues. Packets that wait stay; so do the bounds, but of queues that are
    /// still missing when the next packet comes.
    ///
    /// # Errors
    /// As [`PriorityQueues::new`].
    pub fn reconfigure(&mut self, queue_sizes: &[usize]) -> Result<(), ConfigError> {
        self.queues.replace(queue_sizes)?;
        self.count = queue_sizes.len();
        self.bounds.resize(self.bounds.len().max(self.count), 0);
        Ok(())
    }

    /// b_1 to b_n.
    pub fn bounds(&self) -> &[Rank] {
        &self.bounds[..self.count]
    }
}

impl Scheduler for SpPifo {
    fn enqueue(&mut self, _now: Nanos, packet: Packet) -> Verdict {
        self.bounds[self.count..].fill(0);
        let bounds = &mut self.bounds[..self.count];
        let fitting = bounds.iter().rposition(|&bound| bound <= packet.rank);
        let Some(queue) = fitting else {
            let lowest = bounds.iter().copied().min().unwrap_or(packet.rank);
            let cost = lowest - packet.rank;
            for bound in bounds {
                *bound -= cost;
            }
            return self.queues.enqueue(0, packet);
        };
        let verdict = self.queues.enqueue(queue, packet);
        if verdict.is_queued() {
            self.bounds[queue] = packet.rank;
        }
        verdict
    }

    fn dequeue(&mut self, _now: Nanos) -> Option<Packet> {
        self.queues.dequeue()
    }

    fn len(&self) -> usize {
        self.queues.len()
    }
}
