//! SP-PIFO (Alcoz et al., NSDI 2020; summarised in PACKS 2.1).
//!
//! n strict-priority queues; queue 1 is the most urgent. Each has a bound b_i, 0 at the start.
//!
//!   enqueue: scan from the least urgent queue to the most urgent one; take the first queue i with b_i <= r
//!     push-up:   if queue i had room, b_i = r
//!     push-down: if there is none (r < b_1), an inversion: take queue 1, subtract cost = b_1 - r from every bound
//!   tail drop per queue; no admission control
//!   dequeue: strict priority
//!
//! Bounds stay sorted, b_1 <= ... <= b_n. A packet that its queue drops must not push up: otherwise the results differ
//! visibly from the papers' figures. A dropped packet does push down, because the inversion was detected. (Not in the
//! authors' simulations: [`Variant::DropsKeepBounds`].)
//!
//! On a Tofino a pass can access a bound only once (`tofino-port/include/sp_pifo_mapping.p4`). So its rule differs:
//!
//!   push-up:   b_i = r, whether queue i has room or not
//!   push-down: b_1 = r, and the other bounds fall by the cost, but not below 0
//!   a packet of rank 0 does not fit into queues 8, 6, 4 and 2; nor into 7, 5 or 3 if the less urgent queue of its pair
//!   has bound 0 or does not exist
//!   bounds of queues that do not exist are kept, and fall with the others
//!
//! The papers have a fixed n. Here n may change. A new queue has bound 0, as all queues have at the start. Its first
//! packets may have any rank, and the bounds are not sorted for a while. In that time, the cost of a push-down is the
//! smallest bound minus r, so that no bound falls below 0. The packets of a removed queue are still served.

use rand::RngCore;

use crate::config::{self, ConfigError, MAX_P4_QUEUES, Sizes};
use crate::flowlets::{FlowletConfig, Flowlets};
use crate::priority_queues::PriorityQueues;
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
use crate::scheme::{self, Discipline, P4, Reference, StatePart, TailDrop};
use crate::target::Target;
use crate::variants::{Variant, Variants};

/// Parameters of [`SpPifo`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpPifoConfig {
    /// Sizes in packets, the most urgent queue first.
    pub queue_sizes: Vec<usize>,
    /// The target whose rule the bounds follow.
    pub on: Target,
}

/// Strict-priority queues behind bounds that adapt to each packet.
#[derive(Clone, Debug)]
pub struct SpPifo {
    queues: PriorityQueues,
    /// b_1 to b_n, followed by the bounds of removed queues.
    bounds: Vec<Rank>,
    /// n.
    count: usize,
    on: Target,
    variants: Variants,
    /// The flowlets, if they keep their queues.
    flowlets: Option<Box<Flowlets>>,
}

impl SpPifo {
    /// Empty queues of these sizes, in packets, the most urgent first, under the rule of the papers.
    ///
    /// # Errors
    /// See [`PriorityQueues::new`].
    pub fn new(queue_sizes: &[usize]) -> Result<SpPifo, ConfigError> {
        Ok(SpPifo {
            queues: PriorityQueues::new(queue_sizes)?,
            bounds: vec![0; queue_sizes.len().max(MAX_P4_QUEUES)],
            count: queue_sizes.len(),
            on: Target::V1model,
            variants: Variants::NONE,
            flowlets: None,
        })
    }

    /// b_1 to b_n.
    pub fn bounds(&self) -> &[Rank] {
        &self.bounds[..self.count]
    }

    /// The queue that the flow of a packet keeps, if it keeps one.
    fn kept(&self, now: Nanos, flow: u32) -> Option<usize> {
        if self.variants.has(Variant::FlowQueue) {
            return self.queues.of_flow(flow);
        }
        let queue = self.flowlets.as_ref()?.queue(now, flow)?;
        (queue < self.count).then_some(queue)
    }

    #[inline]
    fn enqueue_by_paper(&mut self, now: Nanos, packet: Packet) -> Verdict {
        self.bounds[self.count..].fill(0);
        let verdict = match self.kept(now, packet.flow) {
            Some(queue) => self.queues.enqueue(queue, packet),
            None => self.map_by_paper(packet),
        };
        if let (Some(flowlets), Verdict::Queued { queue }) = (&mut self.flowlets, verdict) {
            flowlets.queued(now, packet.flow, queue);
        }
        verdict
    }

    #[inline]
    fn map_by_paper(&mut self, packet: Packet) -> Verdict {
        let bounds = &mut self.bounds[..self.count];
        let fitting = bounds.iter().rposition(|&bound| bound <= packet.rank);
        let Some(queue) = fitting else {
            let has_room = self.queues.has_room(0);
            let verdict = self.queues.enqueue(0, packet);
            if has_room || !self.variants.has(Variant::DropsKeepBounds) {
                let lowest = bounds.iter().copied().min().unwrap_or(packet.rank);
                let cost = lowest - packet.rank;
                for bound in bounds {
                    *bound -= cost;
                }
            }
            return verdict;
        };
        // the rule sees the room of the queue, and not that of the memory behind it
        if self.queues.has_room(queue) {
            self.bounds[queue] = packet.rank;
        }
        self.queues.enqueue(queue, packet)
    }

    /// The queue that takes a packet on the chip, counted from 0; `None` stands for queue 1.
    fn fitting_on_chip(&self, rank: Rank) -> Option<usize> {
        (1..self.count).rev().find(|&queue| {
            let less_urgent = self.bounds[..self.count].get(queue + 1);
            let pair_says_nothing = match queue % 2 {
                0 => less_urgent.is_none_or(|&bound| bound == 0),
                _ => true,
            };
            self.bounds[queue] <= rank && !(rank == 0 && pair_says_nothing)
        })
    }

    fn enqueue_on_chip(&mut self, packet: Packet) -> Verdict {
        let queue = self.fitting_on_chip(packet.rank).unwrap_or(0);
        if queue == 0 {
            let cost = self.bounds[0].saturating_sub(packet.rank);
            for bound in &mut self.bounds[1..] {
                *bound = bound.saturating_sub(cost);
            }
        }
        self.bounds[queue] = packet.rank;
        self.queues.enqueue(queue, packet)
    }
}

impl Scheduler for SpPifo {
    #[inline]
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        match self.on {
            Target::V1model => self.enqueue_by_paper(now, packet),
            Target::Tna | Target::T2na => self.enqueue_on_chip(packet),
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Nanos) -> Option<Packet> {
        self.queues.dequeue()
    }

    #[inline]
    fn len(&self) -> usize {
        self.queues.len()
    }
}

impl Reference for SpPifo {
    type Config = SpPifoConfig;

    const P4: P4 = P4 {
        program: "sp_pifo",
        table: "sp_pifo_params",
        action: "set_sp_pifo",
        parameters: &[
            "size_1", "size_2", "size_3", "size_4", "size_5", "size_6", "size_7", "size_8",
        ],
        discipline: Discipline::Strict,
        rank_field: None,
        tail_drop: TailDrop::Program,
        ranks: true,
        verdicts: true,
    };
    const TARGETS: &[Target] = &[Target::V1model, Target::Tna];
    const SHARES_MEMORY: bool = true;
    const VARIANTS: &[Variant] = &[Variant::DropsKeepBounds, Variant::FlowQueue, Variant::FlowletQueue];

    fn bounds(&self) -> Vec<Rank> {
        SpPifo::bounds(self).to_vec()
    }

    fn model(config: &SpPifoConfig) -> Result<SpPifo, ConfigError> {
        let on = config.on;
        Ok(SpPifo {
            on,
            ..SpPifo::new(&config.queue_sizes)?
        })
    }

    /// The number of queues may change too. A removed queue loses its bound at the next arrival.
    fn reconfigure(&mut self, config: &SpPifoConfig) -> Result<(), ConfigError> {
        self.queues.replace(&config.queue_sizes)?;
        self.count = config.queue_sizes.len();
        self.bounds.resize(self.bounds.len().max(self.count), 0);
        self.on = config.on;
        Ok(())
    }

    fn config(sizes: &Sizes) -> Result<SpPifoConfig, ConfigError> {
        let (queue_sizes, on) = (sizes.each(), Target::V1model);
        Ok(SpPifoConfig { queue_sizes, on })
    }

    fn draw(random: &mut dyn RngCore, _before: Option<&SpPifoConfig>) -> SpPifoConfig {
        let count = config::draw_count(random);
        let (queue_sizes, on) = (config::draw_sizes(random, count), Target::V1model);
        SpPifoConfig { queue_sizes, on }
    }

    fn on(config: SpPifoConfig, target: Target) -> SpPifoConfig {
        SpPifoConfig { on: target, ..config }
    }

    /// On a Tofino the traffic manager drops, because ingress does not know how many packets wait.
    fn tail_drop(target: Target) -> TailDrop {
        match target {
            Target::V1model => TailDrop::Program,
            Target::Tna | Target::T2na => TailDrop::Queue,
        }
    }

    fn queue_sizes(config: &SpPifoConfig) -> &[usize] {
        &config.queue_sizes
    }

    /// The program must know which queues exist even if the traffic manager drops.
    fn arguments(config: &SpPifoConfig, _sizes: &[usize]) -> Vec<u64> {
        scheme::eight(&config.queue_sizes)
    }

    fn from_arguments(arguments: &[u64]) -> Result<SpPifoConfig, ConfigError> {
        let (queue_sizes, on) = (scheme::sizes_of_eight(arguments), Target::V1model);
        Ok(SpPifoConfig { queue_sizes, on })
    }

    fn length(&self, queue: usize) -> usize {
        self.queues.occupancy(queue)
    }

    fn set_threshold(&mut self, queue: usize, packets: usize) {
        self.queues.set_threshold(queue, packets);
    }

    fn give_up(&mut self, queue: usize) -> Option<Packet> {
        self.queues.give_up(queue)
    }

    fn vary(&mut self, variants: Variants) {
        self.variants = variants;
        self.flowlets = variants.has(Variant::FlowletQueue).then(Box::default);
    }

    fn keep_flowlets(&mut self, config: FlowletConfig) {
        if let Some(flowlets) = &mut self.flowlets {
            **flowlets = Flowlets::new(config);
        }
    }

    /// In `p4/`, a register holds a bound plus the sum of all push-downs since; its top bit is 0 before the first
    /// push-up. On a Tofino, a register holds the bounds of two queues; the less urgent queue is in the upper half.
    fn compare(&self, register: &dyn Fn(&str) -> u64) -> Option<StatePart> {
        let by_paper = |queue| {
            let lowered = register("mapping.lowered_by") as u32;
            match register(&format!("mapping.queue_{queue}.raised_bound")) {
                raised if raised >> 32 == 1 => (raised as u32).wrapping_sub(lowered),
                _ => 0,
            }
        };
        let on_chip = |queue: usize| match queue {
            1 => register("mapping.queue_1.bound_1") as u32,
            2 => register("mapping.queue_2.bound_2") as u32,
            _ => {
                let less_urgent = queue.div_ceil(2) * 2;
                let pair = register(&format!("mapping.queues_{less_urgent}_{}.bounds", less_urgent - 1));
                (pair >> if queue == less_urgent { 32 } else { 0 }) as u32
            }
        };
        let bounds: Vec<u32> = match self.on {
            Target::V1model => (1..=self.count).map(by_paper).collect(),
            Target::Tna | Target::T2na => (1..=self.count).map(on_chip).collect(),
        };
        Some(StatePart {
            name: "bounds",
            model: self.bounds().iter().map(|&bound| u64::from(bound)).collect(),
            program: bounds.into_iter().map(u64::from).collect(),
        })
    }
}
