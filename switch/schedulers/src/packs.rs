//! PACKS (Alcoz et al., "Everything Matters in Programmable Packet Scheduling", algorithm 1).
//!
//! n strict-priority queues of sizes B_i (sum B), occupancies b_i; window W, quantile and headroom k as in AIFO.
//!
//!   enqueue: update W with the rank r (every S-th arrival only); q = entries of W strictly smaller than r
//!            scan from the most urgent queue to the least urgent one; take the first queue i with
//!              q / |W| <= 1/(1-k) (sum over j <= i of B_j - b_j) / B   and   b_i < B_i
//!            if there is none, drop
//!   dequeue: strict priority
//!
//! Without division, with k = K / 2^m:  q B (2^m - K) <= |W| (sum over j <= i of B_j - b_j) 2^m.
//!
//! The condition of the last queue is AIFO's admission rule. Hence theorem 2: with the same |W|, B and k, PACKS drops
//! exactly the packets that AIFO drops. On Tofino 2 the paper uses only the total occupancy b, to support more queues
//! and ports (section 5). The condition becomes q / |W| <= 1/(1-k) (B - b)/B i/n. Theorem 2 does not hold for it: a
//! packet that passes only at i = n is dropped if queue n is full, even if a more urgent queue has room.
//!
//! A simulation with a port of this name, in a fork of Netbench, has the total form, too, with < and with the size of the
//! window while it fills, and goes on to the next queue if one is full: [`Variant::TotalOccupancy`],
//! [`Variant::StrictlyBelow`], [`Variant::FillingWindow`].
//!
//! Our program for Tofino 2 (`tofino-port/t2na/packs.p4`) computes this condition with logarithms instead of products:
//!
//!   log q + log B + log (2^m - K) + log n - log |W| - log (B - b) - m - 4 * 2^-16  <=  log i
//!
//! It takes the first i that meets the condition. If that queue is full, the traffic manager drops the packet.

use rand::RngCore;

use crate::config::{self, ConfigError, Headroom, Sizes};
use crate::flowlets::{FlowletConfig, Flowlets};
use crate::known::{Knowledge, Known};
use crate::log2::{ROUNDING, log2};
use crate::per_user::PerUser;
use crate::priority_queues::PriorityQueues;
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
use crate::scheme::{self, Discipline, P4, Reference, StatePart, TailDrop};
use crate::target::Target;
use crate::variants::{Variant, Variants};
use crate::window::{Window, WindowConfig};

/// The occupancy that the queue mapping uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occupancy {
    /// The occupancy of each queue (algorithm 1).
    #[default]
    PerQueue,
    /// The total occupancy, divided evenly among the queues (section 5, Tofino 2).
    Total,
    /// The total, computed by logarithms; if the first matching queue is full, no other is tried
    /// (`tofino-port/t2na/packs.p4`).
    TotalByLogarithms,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacksConfig {
    /// B_i in packets, the most urgent queue first.
    pub queue_sizes: Vec<usize>,
    /// k.
    pub headroom: Headroom,
    /// |W| and S.
    pub window: WindowConfig,
    /// The occupancy that the mapping uses.
    pub occupancy: Occupancy,
    /// Shift added to every rank in the window when it is compared (figure 11). If it is positive, arriving packets
    /// look more urgent than the window expects; if negative, less urgent. It is 0 except in that experiment.
    pub window_shift: i64,
}

impl PacksConfig {
    /// A configuration without headroom, sampling or shift.
    pub fn new(queue_sizes: &[usize], window: usize) -> PacksConfig {
        PacksConfig {
            queue_sizes: queue_sizes.to_vec(),
            headroom: Headroom::NONE,
            window: WindowConfig::unsampled(window),
            occupancy: Occupancy::PerQueue,
            window_shift: 0,
        }
    }

    /// The target whose program uses this occupancy.
    fn target(&self) -> Target {
        match self.occupancy {
            Occupancy::PerQueue | Occupancy::Total => Target::V1model,
            Occupancy::TotalByLogarithms => Target::T2na,
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// If there is no queue, if a B_i, |W| or S is 0, or if one of them is too large.
    pub fn check(&self) -> Result<(), ConfigError> {
        config::queue_sizes(&self.queue_sizes)?;
        self.window.check()
    }
}

/// Strict-priority queues behind an admission and mapping by quantile.
#[derive(Clone, Debug)]
pub struct Packs {
    queues: PriorityQueues,
    window: Window,
    config: PacksConfig,
    /// B.
    buffer: u64,
    /// b_i, if they are old or in cells.
    known: Option<Known>,
    variants: Variants,
    /// The windows of the users, if each has its own.
    own: PerUser<Window>,
    /// The flowlets, if they keep their queues.
    flowlets: Option<Box<Flowlets>>,
}

impl Packs {
    /// Empty queues and an empty window.
    ///
    /// # Errors
    /// See [`PacksConfig::check`].
    pub fn new(config: PacksConfig) -> Result<Packs, ConfigError> {
        config.check()?;
        Ok(Packs {
            queues: PriorityQueues::new(&config.queue_sizes)?,
            window: Window::new(config.window)?.on(config.target()),
            buffer: config.queue_sizes.iter().sum::<usize>() as u64,
            config,
            known: None,
            variants: Variants::NONE,
            own: PerUser::SHARED,
            flowlets: None,
        })
    }

    /// The occupancy that the mapping uses.
    fn occupancy(&self) -> Occupancy {
        match self.config.occupancy {
            Occupancy::PerQueue if self.variants.has(Variant::TotalOccupancy) => Occupancy::Total,
            occupancy => occupancy,
        }
    }

    /// Whether a rank meets the quantile condition of `queue`. `smaller` is q. `free` is the free room, in packets, of
    /// this queue and the more urgent ones; for [`Occupancy::Total`], of all queues.
    fn condition(&self, queue: usize, smaller: u64, free: u64) -> bool {
        let size = self.window.counted(self.variants);
        let threshold = size * free * self.config.headroom.unit();
        let quantile = smaller * self.buffer * self.config.headroom.rest();
        let (quantile, threshold) = match self.occupancy() {
            Occupancy::PerQueue => (quantile, threshold),
            Occupancy::Total | Occupancy::TotalByLogarithms => {
                (quantile * self.queues.count() as u64, threshold * (queue as u64 + 1))
            }
        };
        match self.variants.has(Variant::StrictlyBelow) {
            true => quantile < threshold,
            false => quantile <= threshold,
        }
    }

    /// The first queue that meets the condition by logarithms, counted from 0.
    fn first_by_logarithms(&self, smaller: u64) -> Option<usize> {
        if smaller == 0 {
            return Some(0);
        }
        let count = self.queues.count() as u64;
        let free = self.buffer.saturating_sub(self.queues.len() as u64);
        let (rest, unit) = (self.config.headroom.rest(), self.config.headroom.unit());
        let needed = log2(count) + log2(rest) - log2(unit) - log2(self.window.size()) + log2(self.buffer) - ROUNDING;
        let place = needed - log2(free) + log2(smaller);
        (1..=count).position(|number| place <= log2(number))
    }

    /// The free room of a queue, as far as the rule knows it.
    fn free(&self, queue: usize) -> u64 {
        let size = self.queues.size(queue) as u64;
        let occupied = match &self.known {
            None => self.queues.occupancy(queue) as u64,
            Some(known) => known.length(queue),
        };
        size.saturating_sub(occupied)
    }

    /// The queue for a packet, or the reason why there is none. `kept`: the queue of its flow, if it keeps one.
    fn choose(&self, smaller: u64, kept: Option<usize>) -> Result<usize, Verdict> {
        let total_free = (0..self.queues.count()).map(|queue| self.free(queue)).sum();
        let goes_on = kept.is_none() && !self.variants.has(Variant::NoFallThrough);
        let mut free_so_far = 0;
        let mut dropped = Verdict::DroppedByAdmission;
        for queue in 0..self.queues.count() {
            free_so_far += self.free(queue);
            let free = match self.occupancy() {
                Occupancy::PerQueue => free_so_far,
                Occupancy::Total | Occupancy::TotalByLogarithms => total_free,
            };
            if self.condition(queue, smaller, free) {
                let queue = kept.unwrap_or(queue);
                if self.free(queue) > 0 {
                    return Ok(queue);
                }
                dropped = Verdict::DroppedFull;
                if !goes_on {
                    break;
                }
            }
        }
        Err(dropped)
    }

    /// The highest rank that meets the condition of a queue, with its room and that of the more urgent ones, or for
    /// [`Occupancy::Total`] that of all.
    fn highest_rank(&self, queue: usize) -> Rank {
        let queues = match self.occupancy() {
            Occupancy::PerQueue => queue + 1,
            Occupancy::Total | Occupancy::TotalByLogarithms => self.queues.count(),
        };
        let free = (0..queues).map(|queue| self.free(queue)).sum();
        match self.window.highest_rank(|smaller| self.condition(queue, smaller, free)) {
            None => 0,
            Some(Rank::MAX) => Rank::MAX,
            Some(rank) => (i64::from(rank) + self.config.window_shift).clamp(0, i64::from(Rank::MAX)) as Rank,
        }
    }

    /// The queue that the flow of a packet keeps, if it keeps one.
    fn kept(&self, now: Nanos, flow: u32) -> Option<usize> {
        if self.variants.has(Variant::FlowQueue) {
            return self.queues.of_flow(flow);
        }
        self.flowlets.as_ref()?.queue(now, flow)
    }

    fn put(&mut self, queue: usize, packet: Packet) -> Verdict {
        let verdict = self.queues.enqueue(queue, packet);
        if let Some(known) = &mut self.known
            && verdict.is_queued()
        {
            known.enter(queue, &packet);
        }
        verdict
    }

    /// q for an arriving rank, compared with the shifted window.
    fn smaller_than(&self, rank: Rank) -> u64 {
        let compared = i64::from(rank).saturating_sub(self.config.window_shift);
        self.window
            .smaller_than(compared.clamp(0, i64::from(Rank::MAX)) as Rank)
    }

    /// Takes or drops a packet, with the window in use.
    fn offer(&mut self, now: Nanos, packet: Packet) -> Verdict {
        if let Some(known) = &mut self.known {
            known.advance(now);
        }
        self.window.observe(packet.rank);
        let smaller = self.smaller_than(packet.rank);
        if self.config.occupancy == Occupancy::TotalByLogarithms {
            return match self.first_by_logarithms(smaller) {
                Some(queue) => self.queues.enqueue(queue, packet),
                None => Verdict::DroppedByAdmission,
            };
        }
        let verdict = match self.choose(smaller, self.kept(now, packet.flow)) {
            Ok(queue) => self.put(queue, packet),
            Err(dropped) => dropped,
        };
        if let (Some(flowlets), Verdict::Queued { queue }) = (&mut self.flowlets, verdict) {
            flowlets.queued(now, packet.flow, queue);
        }
        verdict
    }
}

impl Scheduler for Packs {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        self.own.exchange(packet.user, &mut self.window);
        let verdict = self.offer(now, packet);
        self.own.exchange(packet.user, &mut self.window);
        verdict
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        let Some(known) = &mut self.known else {
            return self.queues.dequeue();
        };
        known.advance(now);
        let queue = self.queues.first()?;
        let packet = self.queues.dequeue()?;
        known.leave(queue, &packet);
        Some(packet)
    }

    fn len(&self) -> usize {
        self.queues.len()
    }
}

impl Reference for Packs {
    type Config = PacksConfig;

    const P4: P4 = P4 {
        program: "packs",
        table: "packs_params",
        action: "set_packs",
        parameters: &[
            "size_1",
            "size_2",
            "size_3",
            "size_4",
            "size_5",
            "size_6",
            "size_7",
            "size_8",
            "headroom_256",
            "window_ranks",
            "sampling",
        ],
        discipline: Discipline::Strict,
        rank_field: None,
        tail_drop: TailDrop::Program,
        ranks: true,
        verdicts: true,
    };
    const TARGETS: &[Target] = &[Target::V1model, Target::T2na];
    const VARIANTS: &[Variant] = &[
        Variant::StrictlyBelow,
        Variant::FillingWindow,
        Variant::TotalOccupancy,
        Variant::FlowQueue,
        Variant::FlowletQueue,
        Variant::NoFallThrough,
        Variant::OwnWindow,
    ];
    const READS_LENGTHS: bool = true;
    const SHARES_MEMORY: bool = true;

    fn model(config: &PacksConfig) -> Result<Packs, ConfigError> {
        Packs::new(config.clone())
    }

    /// For v1model.
    fn bounds(&self) -> Vec<Rank> {
        match self.occupancy() {
            Occupancy::TotalByLogarithms => Vec::new(),
            _ => (0..self.queues.count()).map(|queue| self.highest_rank(queue)).collect(),
        }
    }

    /// The number of queues must not change.
    fn reconfigure(&mut self, config: &PacksConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.queues.resize(&config.queue_sizes)?;
        self.window.reconfigure(config.window)?;
        for window in self.own.all() {
            window.reconfigure(config.window)?;
        }
        self.buffer = config.queue_sizes.iter().sum::<usize>() as u64;
        self.config = config.clone();
        Ok(())
    }

    fn config(sizes: &Sizes) -> Result<PacksConfig, ConfigError> {
        Ok(PacksConfig {
            headroom: sizes.headroom,
            window_shift: sizes.window_shift,
            ..PacksConfig::new(&sizes.each(), sizes.window)
        })
    }

    fn draw(random: &mut dyn RngCore, before: Option<&PacksConfig>) -> PacksConfig {
        let count = before.map_or_else(|| config::draw_count(random), |before| before.queue_sizes.len());
        PacksConfig {
            headroom: Headroom::draw(random),
            window: WindowConfig::draw(random),
            ..PacksConfig::new(&config::draw_sizes(random, count), 1)
        }
    }

    fn on(config: PacksConfig, target: Target) -> PacksConfig {
        let occupancy = match target {
            Target::V1model => config.occupancy,
            Target::Tna | Target::T2na => Occupancy::TotalByLogarithms,
        };
        PacksConfig {
            occupancy,
            window: config.window.on(target),
            ..config
        }
    }

    /// On Tofino 2 the traffic manager drops.
    fn tail_drop(target: Target) -> TailDrop {
        match target {
            Target::V1model => TailDrop::Program,
            Target::Tna | Target::T2na => TailDrop::Queue,
        }
    }

    fn queue_sizes(config: &PacksConfig) -> &[usize] {
        &config.queue_sizes
    }

    /// The program needs the sizes even if the traffic manager drops.
    fn arguments(config: &PacksConfig, _sizes: &[usize]) -> Vec<u64> {
        let mut arguments = scheme::eight(&config.queue_sizes);
        arguments.push(config.headroom.numerator());
        arguments.extend(config.window.arguments());
        arguments
    }

    fn from_arguments(arguments: &[u64]) -> Result<PacksConfig, ConfigError> {
        Ok(PacksConfig {
            headroom: Headroom::from_argument(arguments[8])?,
            window: WindowConfig::from_arguments(&arguments[9..]),
            ..PacksConfig::new(&scheme::sizes_of_eight(&arguments[..8]), 1)
        })
    }

    fn length(&self, queue: usize) -> usize {
        self.queues.occupancy(queue)
    }

    fn set_threshold(&mut self, queue: usize, packets: usize) {
        self.queues.set_threshold(queue, packets);
    }

    /// B_i, and so B.
    fn set_size(&mut self, queue: usize, packets: usize) {
        self.buffer = self.buffer + packets as u64 - self.queues.size(queue) as u64;
        self.queues.set_size(queue, packets);
    }

    fn give_up(&mut self, queue: usize) -> Option<Packet> {
        let packet = self.queues.give_up(queue)?;
        if let Some(known) = &mut self.known {
            known.leave(queue, &packet);
        }
        Some(packet)
    }

    fn vary(&mut self, variants: Variants) {
        self.variants = variants;
        self.own = PerUser::of(variants, &self.window);
        self.flowlets = variants.has(Variant::FlowletQueue).then(Box::default);
    }

    fn keep_flowlets(&mut self, config: FlowletConfig) {
        if let Some(flowlets) = &mut self.flowlets {
            **flowlets = Flowlets::new(config);
        }
    }

    fn know(&mut self, knowledge: Knowledge) {
        self.known = Some(Known::new(knowledge, self.queues.count()));
    }

    fn compare(&self, register: &dyn Fn(&str) -> u64) -> Option<StatePart> {
        Some(self.window.compare(register))
    }

    fn remember(&mut self, past: &[Rank]) -> Result<(), ConfigError> {
        self.window.remember(past)
    }
}

/// The queue bounds for a known batch and empty queues (section 4.2). q_i is the highest rank such that all packets of
/// rank q_i or less fit into queues 1 to i. It is `None` if not even the packets of the smallest rank fit.
///
/// A rank above the last bound is not admitted (r_drop = q_n + 1).
pub fn batch_bounds(batch: &[Rank], queue_sizes: &[usize]) -> Vec<Option<Rank>> {
    let mut sorted = batch.to_vec();
    sorted.sort_unstable();
    let mut room = 0;
    queue_sizes
        .iter()
        .map(|size| {
            room += size;
            let fits = |rank: Rank| sorted.partition_point(|&other| other <= rank) <= room;
            sorted.iter().copied().rfind(|&rank| fits(rank))
        })
        .collect()
}
