//! The experiment of PACKS 6.1 in stepped time: a constant bit rate of packets over a slower link.
//!
//! Packets of one length arrive at rate a and leave at rate d, both exact: the clock ticks so that a packet arrives
//! every d ticks and takes a ticks to send. A packet being sent has left its queue. A packet that arrives at the very
//! moment the link becomes free comes after the departure.
//!
//! An inversion is counted once for each packet that leaves while some packet of a lower rank waits, for the rank of
//! the packet that leaves. A drop is counted for the rank that is lost, which with PIFO may be a packet pushed out.

use std::collections::BTreeMap;

use p4sched_schedulers::aifo::{Aifo, AifoConfig};
use p4sched_schedulers::config::{ConfigError, Headroom};
use p4sched_schedulers::fifo::Fifo;
use p4sched_schedulers::packs::{Packs, PacksConfig};
use p4sched_schedulers::pifo::Pifo;
use p4sched_schedulers::rifo::{Products, Rifo, RifoConfig};
use p4sched_schedulers::scheduler::{Nanos, Packet, Rank, Scheduler};
use p4sched_schedulers::sp_pifo::SpPifo;
use p4sched_schedulers::window::WindowConfig;

/// Length of every packet, in bytes.
pub const PACKET_BYTES: u32 = 1500;

/// A constant stream over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Arrival rate a. Only its ratio to the drain rate matters to the schedulers.
    pub arrival_mbps: u32,
    /// Drain rate d.
    pub drain_mbps: u32,
}

impl Link {
    /// 11 Gbit/s over 10 Gbit/s.
    pub const PAPER: Link = Link {
        arrival_mbps: 11_000,
        drain_mbps: 10_000,
    };

    /// Packets of [`PACKET_BYTES`] that arrive in this many nanoseconds.
    pub fn arrivals_in(self, duration: Nanos) -> usize {
        (u128::from(duration) * u128::from(self.arrival_mbps) / (u128::from(PACKET_BYTES) * 8 * 1000)) as usize
    }
}

/// What happened to a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Inversions by the rank of the packet that left too early.
    pub inversions: BTreeMap<Rank, u64>,
    /// Packets lost by rank.
    pub drops: BTreeMap<Rank, u64>,
    /// Packets sent by rank.
    pub departures: BTreeMap<Rank, u64>,
    /// Identities of the packets sent, in order.
    pub sent: Vec<u64>,
}

impl Outcome {
    /// Inversions over all ranks.
    pub fn total_inversions(&self) -> u64 {
        self.inversions.values().sum()
    }

    /// Drops over all ranks.
    pub fn total_drops(&self) -> u64 {
        self.drops.values().sum()
    }

    /// The most urgent rank of which a packet was lost.
    pub fn lowest_rank_dropped(&self) -> Option<Rank> {
        self.drops.keys().next().copied()
    }
}

/// Sends a packet of each of these ranks, in order, through the scheduler, and then drains it.
pub fn run(scheduler: &mut impl Scheduler, link: Link, ranks: &[Rank]) -> Outcome {
    let mut run = Run {
        scheduler,
        waiting: BTreeMap::new(),
        outcome: Outcome::default(),
        link_free: 0,
    };
    let service = Nanos::from(link.arrival_mbps);
    for (index, &rank) in ranks.iter().enumerate() {
        let now = index as Nanos * Nanos::from(link.drain_mbps);
        run.depart_until(now, service);
        let packet = Packet {
            id: index as u64,
            rank,
            user: rank,
            flow: rank,
            len: PACKET_BYTES,
        };
        run.arrive(now, packet);
    }
    run.depart_until(Nanos::MAX, service);
    run.outcome
}

struct Run<'a, S> {
    scheduler: &'a mut S,
    /// How many packets of each rank wait.
    waiting: BTreeMap<Rank, u64>,
    outcome: Outcome,
    /// When the packet being sent is gone.
    link_free: Nanos,
}

impl<S: Scheduler> Run<'_, S> {
    fn arrive(&mut self, now: Nanos, packet: Packet) {
        if self.scheduler.is_empty() {
            self.link_free = self.link_free.max(now);
        }
        *self.waiting.entry(packet.rank).or_default() += 1;
        if let Some(lost) = self.scheduler.enqueue(now, packet).lost(packet) {
            self.forget(lost.rank);
            *self.outcome.drops.entry(lost.rank).or_default() += 1;
        }
    }

    /// Every departure that starts before `now`, or at it.
    fn depart_until(&mut self, now: Nanos, service: Nanos) {
        while self.link_free <= now {
            let Some(packet) = self.scheduler.dequeue(self.link_free) else {
                return;
            };
            self.link_free += service;
            self.forget(packet.rank);
            if self
                .waiting
                .first_key_value()
                .is_some_and(|(&lowest, _)| lowest < packet.rank)
            {
                *self.outcome.inversions.entry(packet.rank).or_default() += 1;
            }
            *self.outcome.departures.entry(packet.rank).or_default() += 1;
            self.outcome.sent.push(packet.id);
        }
    }

    fn forget(&mut self, rank: Rank) {
        if let Some(count) = self.waiting.get_mut(&rank) {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(&rank);
            }
        }
    }
}

/// The schemes of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Tail drop.
    Fifo,
    /// The ideal.
    Pifo,
    /// Adaptive bounds.
    SpPifo,
    /// Quantile admission.
    Aifo,
    /// Min-max admission.
    Rifo,
    /// Quantile admission and mapping.
    Packs,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Scheme; 6] = [
        Scheme::Fifo,
        Scheme::Pifo,
        Scheme::SpPifo,
        Scheme::Aifo,
        Scheme::Rifo,
        Scheme::Packs,
    ];

    /// The name used on command lines and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Fifo => "fifo",
            Scheme::Pifo => "pifo",
            Scheme::SpPifo => "sp_pifo",
            Scheme::Aifo => "aifo",
            Scheme::Rifo => "rifo",
            Scheme::Packs => "packs",
        }
    }
}

/// Sizes of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Queues of SP-PIFO and PACKS.
    pub queues: usize,
    /// Packets in each of them; the single queues of the others hold as many as all of them together.
    pub queue_size: usize,
    /// |W| of AIFO and PACKS, and T of RIFO, in packets.
    pub window: usize,
    /// k of AIFO, RIFO and PACKS.
    pub headroom: Headroom,
    /// Shift of the ranks in the window of PACKS (figure 11).
    pub window_shift: i64,
}

impl Setup {
    /// PACKS 6.1: 8 queues of 10 packets, |W| = 1000, k = 0.
    pub const PAPER: Setup = Setup {
        queues: 8,
        queue_size: 10,
        window: 1000,
        headroom: Headroom::NONE,
        window_shift: 0,
    };

    /// A scheduler of these sizes. If there is a past, AIFO and PACKS start with its last ranks in their windows.
    ///
    /// # Errors
    /// If a size is 0 or too large, or there is a past shorter than the window.
    pub fn scheduler(&self, scheme: Scheme, past: &[Rank]) -> Result<Box<dyn Scheduler>, ConfigError> {
        let sizes = vec![self.queue_size; self.queues];
        let buffer = self.queues * self.queue_size;
        let window = WindowConfig::unsampled(self.window);
        let headroom = self.headroom;
        let recent = &past[past.len().saturating_sub(self.window)..];
        Ok(match scheme {
            Scheme::Fifo => Box::new(Fifo::new(buffer)?),
            Scheme::Pifo => Box::new(Pifo::new(buffer)?),
            Scheme::SpPifo => Box::new(SpPifo::new(&sizes)?),
            Scheme::Aifo => {
                let mut aifo = Aifo::new(AifoConfig {
                    target: buffer,
                    capacity: buffer,
                    headroom,
                    window,
                })?;
                if !past.is_empty() {
                    aifo.window_mut().fill(recent)?;
                }
                Box::new(aifo)
            }
            Scheme::Rifo => {
                let (tracking_range, products) = (self.window, Products::Exact);
                Box::new(Rifo::new(RifoConfig {
                    capacity: buffer,
                    tracking_range,
                    headroom,
                    products,
                })?)
            }
            Scheme::Packs => {
                let window_shift = self.window_shift;
                let config = PacksConfig {
                    headroom,
                    window_shift,
                    ..PacksConfig::new(&sizes, self.window)
                };
                let mut packs = Packs::new(config)?;
                if !past.is_empty() {
                    packs.window_mut().fill(recent)?;
                }
                Box::new(packs)
            }
        })
    }

    /// Runs a scheme over these ranks at the paper's rates, from an empty window.
    ///
    /// # Errors
    /// As [`Setup::scheduler`].
    pub fn run(&self, scheme: Scheme, ranks: &[Rank]) -> Result<Outcome, ConfigError> {
        Ok(run(&mut self.scheduler(scheme, &[])?, Link::PAPER, ranks))
    }
}

/// Figure 10: PACKS with each of these window sizes. The windows start full of the last ranks of the past, so that a
/// long one is not judged by the time it takes to fill.
///
/// # Errors
/// If a window is 0, too large, or longer than the past.
pub fn window_sizes(
    setup: Setup,
    windows: &[usize],
    past: &[Rank],
    ranks: &[Rank],
) -> Result<Vec<(usize, Outcome)>, ConfigError> {
    let sized = |&window| {
        let mut packs = Setup { window, ..setup }.scheduler(Scheme::Packs, past)?;
        Ok((window, run(&mut packs, Link::PAPER, ranks)))
    };
    windows.iter().map(sized).collect()
}

/// Figure 11: PACKS with its window's ranks shifted by each of these amounts.
///
/// # Errors
/// If the setup is not valid.
pub fn window_shifts(setup: Setup, shifts: &[i64], ranks: &[Rank]) -> Result<Vec<(i64, Outcome)>, ConfigError> {
    let shifted = |&window_shift| Ok((window_shift, Setup { window_shift, ..setup }.run(Scheme::Packs, ranks)?));
    shifts.iter().map(shifted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_of_the_papers_stream_is_916666_packets() {
        assert_eq!(Link::PAPER.arrivals_in(1_000_000_000), 916_666);
    }

    #[test]
    fn an_inversion_is_counted_once_for_the_packet_that_leaves_too_early() {
        // Three arrivals for each departure: 5 is sent at once, then 9, 1, 2 wait; FIFO sends 9 before both.
        let link = Link {
            arrival_mbps: 3,
            drain_mbps: 1,
        };
        let outcome = run(&mut Fifo::new(10).unwrap(), link, &[5, 9, 1, 2]);
        assert_eq!(outcome.inversions, BTreeMap::from([(9, 1)]));
        assert_eq!(outcome.sent, [0, 1, 2, 3]);
        let outcome = run(&mut Pifo::new(10).unwrap(), link, &[5, 9, 1, 2]);
        assert_eq!((outcome.total_inversions(), outcome.sent), (0, vec![0, 2, 3, 1]));
        let outcome = run(&mut Fifo::new(10).unwrap(), link, &[5, 5, 5, 5]);
        assert_eq!(
            outcome.total_inversions(),
            0,
            "a packet of the same rank waits, not of a lower one"
        );
    }

    #[test]
    fn a_drop_is_counted_for_the_rank_that_is_lost() {
        let link = Link {
            arrival_mbps: 3,
            drain_mbps: 1,
        };
        // 1 pushes out 9; 8 finds 2 in the only place.
        let outcome = run(&mut Pifo::new(1).unwrap(), link, &[5, 9, 1, 2, 8]);
        assert_eq!(outcome.drops, BTreeMap::from([(8, 1), (9, 1)]));
        assert_eq!(outcome.lowest_rank_dropped(), Some(8));
        assert_eq!(outcome.departures, BTreeMap::from([(1, 1), (2, 1), (5, 1)]));
    }

    #[test]
    fn a_link_faster_than_the_stream_loses_and_inverts_nothing() {
        let link = Link {
            arrival_mbps: 10,
            drain_mbps: 11,
        };
        let ranks: Vec<Rank> = (0..1000).map(|index| index * 37 % 100).collect();
        for scheme in Scheme::ALL {
            let mut scheduler = Setup {
                window: 20,
                ..Setup::PAPER
            }
            .scheduler(scheme, &[])
            .unwrap();
            let outcome = run(&mut scheduler, link, &ranks);
            assert_eq!(
                (outcome.total_drops(), outcome.total_inversions()),
                (0, 0),
                "{}",
                scheme.name()
            );
            assert_eq!(outcome.sent.len(), 1000);
        }
    }
}
