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
//! A queue longer than its target admits nothing. C is a target; the physical queue may be longer.

use std::slice;

use rand::{Rng, RngCore};

use crate::config::{ConfigError, Headroom, MAX_PACKETS, Sizes, in_range};
use crate::fifo::Fifo;
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
use crate::scheme::{Compared, Discipline, P4, Reference, TailDrop};
use crate::window::{Window, WindowConfig};

/// Parameters of [`Aifo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AifoConfig {
    /// C: the queue length aimed at, in packets.
    pub target: usize,
    /// Size of the physical queue, in packets, at which a packet is dropped whatever its rank.
    pub capacity: usize,
    /// k.
    pub headroom: Headroom,
    /// |W| and S.
    pub window: WindowConfig,
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
        }
    }

    /// # Errors
    /// If C, the capacity, |W| or S is 0 or too large.
    pub fn check(&self) -> Result<(), ConfigError> {
        in_range("target queue length C", self.target, 1, MAX_PACKETS, "packets")?;
        in_range("queue size", self.capacity, 1, MAX_PACKETS, "packets")?;
        self.window.check()
    }
}

/// One FIFO queue behind a quantile admission.
#[derive(Clone, Debug)]
pub struct Aifo {
    queue: Fifo,
    window: Window,
    target: u64,
    headroom: Headroom,
}

impl Aifo {
    /// An empty queue and an empty window.
    ///
    /// # Errors
    /// As [`AifoConfig::check`].
    pub fn new(config: AifoConfig) -> Result<Aifo, ConfigError> {
        config.check()?;
        Ok(Aifo {
            queue: Fifo::new(config.capacity)?,
            window: Window::new(config.window)?,
            target: config.target as u64,
            headroom: config.headroom,
        })
    }

    /// Whether the admission rule lets this rank in now.
    pub fn admits(&self, rank: Rank) -> bool {
        let length = self.queue.len() as u64;
        let Some(free) = self.target.checked_sub(length) else {
            return false;
        };
        let smaller = self.window.smaller_than(rank);
        smaller * self.target * self.headroom.rest() <= self.window.size() * free * self.headroom.unit()
    }
}

impl Scheduler for Aifo {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        self.window.observe(packet.rank);
        if !self.admits(packet.rank) {
            return Verdict::DroppedByAdmission;
        }
        self.queue.enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        self.queue.dequeue(now)
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
        tail_drop: TailDrop::Program,
        ranks: true,
        verdicts: true,
    };

    fn model(config: &AifoConfig) -> Result<Aifo, ConfigError> {
        Aifo::new(*config)
    }

    fn reconfigure(&mut self, config: &AifoConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.queue.reconfigure(&config.capacity)?;
        self.window.reconfigure(config.window)?;
        self.target = config.target as u64;
        self.headroom = config.headroom;
        Ok(())
    }

    fn config(sizes: &Sizes) -> Result<AifoConfig, ConfigError> {
        Ok(AifoConfig {
            target: sizes.buffer(),
            capacity: sizes.buffer(),
            headroom: sizes.headroom,
            window: WindowConfig::unsampled(sizes.window),
        })
    }

    fn draw(random: &mut dyn RngCore, _before: Option<&AifoConfig>) -> AifoConfig {
        AifoConfig {
            target: random.random_range(1..=40),
            capacity: random.random_range(1..=60),
            headroom: Headroom::draw(random),
            window: WindowConfig::draw(random),
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

    fn compare(&self, register: &dyn Fn(&str) -> u64) -> Option<Compared> {
        Some(self.window.compare(register))
    }

    fn remember(&mut self, past: &[Rank]) -> Result<(), ConfigError> {
        self.window.remember(past)
    }
}
