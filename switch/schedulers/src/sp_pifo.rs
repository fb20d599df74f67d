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
//! The papers have a fixed n. Here n may change. A new queue has the bound 0, as all queues have at the start: its first
//! packets may have any rank, and the bounds are not sorted for a while. In that time, the cost of a push-down is the
//! smallest bound minus r, so that no bound falls below 0. The packets of a queue that goes are still served.

use rand::RngCore;

use crate::config::{self, ConfigError, Sizes};
use crate::priority_queues::PriorityQueues;
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
use crate::scheme::{self, Compared, Discipline, P4, Reference, TailDrop};

/// Strict-priority queues behind bounds that adapt to each packet.
#[derive(Clone, Debug)]
pub struct SpPifo {
    queues: PriorityQueues,
    /// b_1 to b_n. Behind them are the bounds of queues that are gone.
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

impl Reference for SpPifo {
    /// Queue sizes in packets, the most urgent queue first.
    type Config = Vec<usize>;

    const P4: P4 = P4 {
        program: "sp_pifo",
        table: "sp_pifo_params",
        action: "set_sp_pifo",
        parameters: &[
            "size_1", "size_2", "size_3", "size_4", "size_5", "size_6", "size_7", "size_8",
        ],
        discipline: Discipline::Strict,
        tail_drop: TailDrop::Program,
        ranks: true,
        verdicts: true,
    };

    fn model(sizes: &Vec<usize>) -> Result<SpPifo, ConfigError> {
        SpPifo::new(sizes)
    }

    /// The number of queues may change too. A queue that is gone loses its bound at the next arrival.
    fn reconfigure(&mut self, sizes: &Vec<usize>) -> Result<(), ConfigError> {
        self.queues.replace(sizes)?;
        self.count = sizes.len();
        self.bounds.resize(self.bounds.len().max(self.count), 0);
        Ok(())
    }

    fn config(sizes: &Sizes) -> Result<Vec<usize>, ConfigError> {
        Ok(sizes.each())
    }

    fn draw(random: &mut dyn RngCore, _before: Option<&Vec<usize>>) -> Vec<usize> {
        let count = config::draw_count(random);
        config::draw_sizes(random, count)
    }

    fn queue_sizes(sizes: &Vec<usize>) -> &[usize] {
        sizes
    }

    fn arguments(_sizes: &Vec<usize>, sizes: &[usize]) -> Vec<u64> {
        scheme::eight(sizes)
    }

    /// A register holds a bound and all that push-downs took off since; its top bit is 0 before the first push-up.
    fn compare(&self, register: &dyn Fn(&str) -> u64) -> Option<Compared> {
        let lowered = register("mapping.lowered_by") as u32;
        let bound = |queue| match register(&format!("mapping.queue_{queue}.raised_bound")) {
            raised if raised >> 32 == 1 => (raised as u32).wrapping_sub(lowered),
            _ => 0,
        };
        Some(Compared {
            name: "bounds",
            model: self.bounds().iter().map(|&bound| u64::from(bound)).collect(),
            program: (1..=self.count).map(|queue| u64::from(bound(queue))).collect(),
        })
    }
}
