//! AIFO: admission-in first-out (Yu et al., "Programmable Packet Scheduling with a Single Queue", SIGCOMM 2021,
//! algorithm 1).
//!
//! One FIFO queue; a window W of the last ranks; target length C; headroom k.
//!
//!   enqueue: update W with the rank r (every S-th arrival only)
//!            c = queue length, q = entries of W strictly smaller than r
//!            admit iff  c <= k C  or  q / |W| <= 1/(1-k) (C-c)/C
//!   dequeue: the oldest packet
//!
//! Without division, with k = K / 2^m:  q C (2^m - K) <= |W| (C - c) 2^m. Since q <= |W|, this includes c <= k C.
//! A queue above its target admits nothing. C is a target; the physical queue may be longer.
//!
//! The authors' simulations compare before they update, with <, and with the size of the window while it fills:
//! [`Variant::CompareFirst`], [`Variant::StrictlyBelow`], [`Variant::FillingWindow`].
//!
//! A Tofino cannot multiply either (`tofino-port/include/aifo_admission.p4`). Its rule is
//!
//!   log q + log C + log (2^m - K) <= log |W| + log (C - c) + m + 4 * 2^-16
//!
//! with the logarithms of `log2`. It equals the exact rule if the two sides differ by more than 2^-13 and no number is
//! above 255. Above 255, C and C - c count as up to 1/128 smaller than they are.
//!
//! On Tofino 1, ingress does not see the queue. Without worker packets, c is the length after the last departure. With
//! worker packets (`worker`), c is the length that the last worker packet brought. So the queue may grow beyond C; the
//! traffic manager's buffer limits it.

use std::slice;

use rand::{Rng, RngCore};

use crate::config::{ConfigError, Headroom, MAX_PACKETS, Sizes, in_range};
use crate::fifo::Fifo;
use crate::known::Knowledge;
use crate::log2::{ROUNDING, log2};
use crate::per_user::PerUser;
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
use crate::scheme::{self, Discipline, P4, Reference, StatePart, TailDrop};
use crate::target::Target;
use crate::variants::{Variant, Variants};
use crate::window::{Window, WindowConfig};
use crate::worker::{Worker, WorkerLength};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AifoConfig {
    /// C: the target queue length, in packets.
    pub target: usize,
    /// Size of the physical queue, in packets. A full queue drops every packet, whatever its rank.
    pub capacity: usize,
    /// k.
    pub headroom: Headroom,
    /// |W| and S.
    pub window: WindowConfig,
    /// The target whose arithmetic the rule uses.
    pub on: Target,
}

impl AifoConfig {
    /// The paper's defaults: C = 20, k = 0.1, |W| = 20, S = 15.
    pub fn paper() -> AifoConfig {
        AifoConfig {
            target: 20,
            capacity: 20,
            headroom: Headroom::at_least(1, 10).expect("0.1 is a headroom"),
            window: WindowConfig {
                size: 20,
                sample_every: 15,
            },
            on: Target::V1model,
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// If C, the capacity, |W| or S is 0 or too large.
    pub fn check(&self) -> Result<(), ConfigError> {
        in_range("target queue length C", self.target, 1, MAX_PACKETS, "packets")?;
        in_range("queue size", self.capacity, 1, MAX_PACKETS, "packets")?;
        self.window.check()
    }
}

/// One FIFO queue behind an admission by quantile.
#[derive(Clone, Debug)]
pub struct Aifo {
    queue: Fifo,
    window: Window,
    target: u64,
    headroom: Headroom,
    on: Target,
    /// c on Tofino 1 without worker packets: the length after the last departure.
    left_behind: u64,
    /// With worker packets: the lengths that they bring, and c at the last arrival.
    worker: Option<(WorkerLength, u64)>,
    variants: Variants,
    /// The windows of the users, if each has its own.
    own: PerUser<Window>,
}

impl Aifo {
    /// An empty queue and an empty window.
    ///
    /// # Errors
    /// See [`AifoConfig::check`].
    pub fn new(config: AifoConfig) -> Result<Aifo, ConfigError> {
        config.check()?;
        Ok(Aifo {
            queue: Fifo::new(config.capacity)?,
            window: Window::new(config.window)?.on(config.on),
            target: config.target as u64,
            headroom: config.headroom,
            on: config.on,
            left_behind: 0,
            worker: None,
            variants: Variants::NONE,
            own: PerUser::SHARED,
        })
    }

    /// Whether the admission rule admits a packet of this rank.
    #[inline]
    pub fn admits(&self, rank: Rank) -> bool {
        let Some(free) = self.target.checked_sub(self.known_length()) else {
            return false;
        };
        let smaller = self.window.smaller_than(rank);
        let (target, size) = (self.target, self.window.counted(self.variants));
        let (rest, unit) = (self.headroom.rest(), self.headroom.unit());
        match self.on {
            Target::V1model if self.variants.has(Variant::StrictlyBelow) => {
                let within = (target - free) * unit <= self.headroom.numerator() * target;
                within || size == 0 || smaller * target * rest < size * free * unit
            }
            Target::V1model => smaller * target * rest <= size * free * unit,
            Target::Tna | Target::T2na => {
                let needed = log2(target) + log2(rest) - log2(unit) - log2(size) - ROUNDING;
                smaller == 0 || log2(free) - needed - log2(smaller) >= 0
            }
        }
    }

    /// c, as far as ingress knows it.
    #[inline]
    fn known_length(&self) -> u64 {
        if let Some(length) = self.queue.known_length() {
            return length;
        }
        match (&self.worker, self.on) {
            (Some((_, at_arrival)), _) => *at_arrival,
            (None, Target::V1model | Target::T2na) => self.queue.len() as u64,
            (None, Target::Tna) => self.left_behind,
        }
    }

    /// Takes or drops a packet, with the window in use.
    #[inline]
    fn offer(&mut self, now: Nanos, packet: Packet) -> Verdict {
        if let Some((worker, at_arrival)) = &mut self.worker {
            *at_arrival = worker.at(now);
        }
        self.queue.advance(now);
        let before = self
            .variants
            .has(Variant::CompareFirst)
            .then(|| self.admits(packet.rank));
        self.window.observe(packet.rank);
        if !before.unwrap_or_else(|| self.admits(packet.rank)) {
            Verdict::DroppedByAdmission
        } else if self.known_length() >= self.queue.capacity() as u64 {
            Verdict::DroppedFull
        } else {
            self.queue.append(now, packet)
        }
    }
}

impl Scheduler for Aifo {
    #[inline]
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        self.own.exchange(packet.user, &mut self.window);
        let verdict = self.offer(now, packet);
        self.own.exchange(packet.user, &mut self.window);
        verdict
    }

    #[inline]
    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        let packet = self.queue.dequeue(now)?;
        self.left_behind = self.queue.len() as u64;
        if let Some((worker, _)) = &mut self.worker {
            worker.record_departure(now, self.left_behind);
        }
        Some(packet)
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}

impl Reference for Aifo {
    type Config = AifoConfig;

    const P4: P4 = P4 {
        program: "aifo",
        table: "aifo_params",
        action: "set_aifo",
        parameters: &[
            "target_packets",
            "capacity_packets",
            "headroom_256",
            "window_ranks",
            "sampling",
        ],
        discipline: Discipline::Fifo,
        rank_field: None,
        tail_drop: TailDrop::Program,
        ranks: true,
        verdicts: true,
    };
    const TARGETS: &[Target] = Target::ALL;
    const SHARES_MEMORY: bool = true;
    const VARIANTS: &[Variant] = &[
        Variant::CompareFirst,
        Variant::StrictlyBelow,
        Variant::FillingWindow,
        Variant::OwnWindow,
    ];
    const READS_LENGTHS: bool = true;

    fn model(config: &AifoConfig) -> Result<Aifo, ConfigError> {
        Aifo::new(*config)
    }

    fn reconfigure(&mut self, config: &AifoConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.queue.reconfigure(&config.capacity)?;
        self.window.reconfigure(config.window)?;
        for window in self.own.all() {
            window.reconfigure(config.window)?;
        }
        self.target = config.target as u64;
        self.headroom = config.headroom;
        self.on = config.on;
        Ok(())
    }

    fn config(sizes: &Sizes) -> Result<AifoConfig, ConfigError> {
        Ok(AifoConfig {
            target: sizes.buffer(),
            capacity: sizes.buffer(),
            headroom: sizes.headroom,
            window: WindowConfig::unsampled(sizes.window),
            on: Target::V1model,
        })
    }

    fn draw(random: &mut dyn RngCore, _before: Option<&AifoConfig>) -> AifoConfig {
        AifoConfig {
            target: random.random_range(1..=40),
            capacity: random.random_range(1..=60),
            headroom: Headroom::draw(random),
            window: WindowConfig::draw(random),
            on: Target::V1model,
        }
    }

    fn on(config: AifoConfig, target: Target) -> AifoConfig {
        AifoConfig {
            window: config.window.on(target),
            on: target,
            ..config
        }
    }

    fn queue_sizes(config: &AifoConfig) -> &[usize] {
        slice::from_ref(&config.capacity)
    }

    fn arguments(config: &AifoConfig, _sizes: &[usize]) -> Vec<u64> {
        let (target, capacity) = (config.target as u64, config.capacity as u64);
        let [size, sampling] = config.window.arguments();
        vec![target, capacity, config.headroom.numerator(), size, sampling]
    }

    fn from_arguments(arguments: &[u64]) -> Result<AifoConfig, ConfigError> {
        Ok(AifoConfig {
            target: scheme::whole(arguments[0]),
            capacity: scheme::whole(arguments[1]),
            headroom: Headroom::from_argument(arguments[2])?,
            window: WindowConfig::from_arguments(&arguments[3..]),
            on: Target::V1model,
        })
    }

    fn compare(&self, register: &dyn Fn(&str) -> u64) -> Option<StatePart> {
        Some(self.window.compare(register))
    }

    fn remember(&mut self, past: &[Rank]) -> Result<(), ConfigError> {
        self.window.remember(past)
    }

    fn set_threshold(&mut self, queue: usize, packets: usize) {
        self.queue.set_threshold(queue, packets);
    }

    /// C, and the size of the physical queue.
    fn set_size(&mut self, _queue: usize, packets: usize) {
        self.target = packets as u64;
        self.queue.set_capacity(packets);
    }

    fn give_up(&mut self, queue: usize) -> Option<Packet> {
        self.queue.give_up(queue)
    }

    fn vary(&mut self, variants: Variants) {
        self.variants = variants;
        self.own = PerUser::of(variants, &self.window);
    }

    fn know(&mut self, knowledge: Knowledge) {
        self.queue.know(knowledge);
    }

    fn start_worker(&mut self, worker: Worker) {
        self.worker = Some((WorkerLength::new(worker), 0));
    }

    fn length_from_worker(&self, now: Nanos) -> Option<u64> {
        self.worker.as_ref().map(|(worker, _)| worker.at(now))
    }
}
