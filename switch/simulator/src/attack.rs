//! The trace on which one scheduler does worst against another: ranked packets that arrive at one port, with pauses.
//!
//! Two things differ from appendix B of PACKS ([`crate::adversary`]): packets leave while others arrive, and windows
//! start empty, as in a switch. So a trace can be sent to a compiled program unchanged.

use std::ops::ControlFlow;

use p4sched_schedulers::Nanos;
use p4sched_schedulers::config::{ConfigError, in_range};
use rand::{Rng, RngCore};

use crate::adversary::{Climb, Space};
use crate::arrivals::Arrival;
use crate::replay::ReplayResult;
use crate::workload::seeded;

/// Length of every packet, in bytes.
pub const FRAME_BYTES: u32 = 1000;
/// Unit of the pauses, in ns: a quarter of the time that the link needs for one packet.
const PAUSE: Nanos = 250;
/// Longest pause, in units of [`PAUSE`]: two packets leave in it.
const LONGEST_PAUSE: u8 = 8;
/// Largest number of packets in a trace.
pub const MAX_PACKETS: usize = 10_000;
/// Changes tried from one random trace, unless the caller asks for fewer.
const CLIMB: usize = 2500;

/// Measure of a bad result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// Packets that left while one of a lower rank waited.
    Inversions,
    /// Packets lost, each weighted by how far its rank lies below the highest one that arrives.
    Drops,
    /// Total waiting time of the packets of rank 0; a lost packet counts as if it had waited for a full buffer.
    Delay,
}

impl Objective {
    /// Cost of a scheduler's result on a trace. `buffer`: packets that it can hold.
    pub fn cost(self, played: &ReplayResult, arrivals: &[Arrival], buffer: usize) -> i64 {
        let cost = match self {
            Objective::Inversions => played.outcome.total_inversions(),
            Objective::Drops => weighted_drops(played, arrivals),
            Objective::Delay => lowest_rank_delay(played, arrivals, buffer),
        };
        i64::try_from(cost).unwrap_or(i64::MAX)
    }
}

/// Packets lost, each weighted by how far its rank lies below the highest one that arrives.
pub fn weighted_drops(played: &ReplayResult, arrivals: &[Arrival]) -> u64 {
    let highest = arrivals.iter().map(|arrival| arrival.rank).max().unwrap_or(0);
    let drops = played.outcome.drops.iter();
    drops.map(|(&rank, &count)| u64::from(highest - rank) * count).sum()
}

/// Total waiting time of the packets of rank 0, in ns; a lost packet counts as if it had waited for a full buffer.
pub fn lowest_rank_delay(played: &ReplayResult, arrivals: &[Arrival], buffer: usize) -> Nanos {
    let full = |bytes: u32| buffer as Nanos * Nanos::from(bytes);
    let lowest = arrivals
        .iter()
        .zip(&played.waited)
        .filter(|(arrival, _)| arrival.rank == 0);
    lowest
        .map(|(arrival, waited)| waited.unwrap_or(full(arrival.frame_bytes)))
        .sum()
}

/// Traces of a fixed number of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traces {
    packets: usize,
    ranks: u32,
}

/// A packet: its pause after the packet before, in units of [`PAUSE`], and its rank.
type Step = (u8, u32);

impl Traces {
    /// Traces of `packets` packets of the ranks 0 .. `ranks`.
    ///
    /// # Errors
    /// If `packets` or `ranks` is out of range.
    pub fn new(packets: usize, ranks: u32) -> Result<Traces, ConfigError> {
        in_range("packets of a trace", packets, 2, MAX_PACKETS, "packets")?;
        in_range("number of ranks", ranks as usize, 2, 1 << 20, "ranks")?;
        Ok(Traces { packets, ranks })
    }

    fn highest(&self) -> u32 {
        self.ranks - 1
    }

    /// Arrivals of the packets of a trace.
    pub fn arrivals(trace: &[Step]) -> Vec<Arrival> {
        let mut at = 0;
        let arrival = |&(pause, rank): &Step| {
            at += Nanos::from(pause) * PAUSE;
            Arrival {
                at,
                rank,
                frame_bytes: FRAME_BYTES,
            }
        };
        trace.iter().map(arrival).collect()
    }

    fn rank(&self, random: &mut impl RngCore) -> u32 {
        // Schedulers often fail at the lowest and the highest rank.
        match random.random_range(0..4) {
            0 => random.random_range(0..2) * self.highest(),
            _ => random.random_range(0..self.ranks),
        }
    }

    fn pause(random: &mut impl RngCore) -> u8 {
        match random.random() {
            true => 0,
            false => random.random_range(0..=LONGEST_PAUSE),
        }
    }

    /// A random part of a trace: its first packet and its length.
    fn part(&self, random: &mut impl RngCore) -> (usize, usize) {
        let length = random.random_range(2..=(self.packets / 4).max(2));
        (random.random_range(0..=self.packets - length), length)
    }
}

impl Space for Traces {
    type Trace = Vec<Step>;

    fn draw(&self, random: &mut impl RngCore) -> Vec<Step> {
        let step = |_| (Traces::pause(random), self.rank(random));
        (0..self.packets).map(step).collect()
    }

    /// Redraws some ranks or pauses, or swaps two packets; or copies, reverses or sorts a part, or makes it one burst
    /// of one rank.
    fn change(&self, trace: &Vec<Step>, random: &mut impl RngCore) -> Vec<Step> {
        let mut changed = trace.clone();
        match random.random_range(0..10) {
            0..=3 => {
                for _ in 0..random.random_range(1..=3) {
                    changed[random.random_range(0..self.packets)].1 = self.rank(random);
                }
            }
            4 => {
                for _ in 0..random.random_range(1..=3) {
                    changed[random.random_range(0..self.packets)].0 = Traces::pause(random);
                }
            }
            5 => changed.swap(
                random.random_range(0..self.packets),
                random.random_range(0..self.packets),
            ),
            6 => {
                let (from, length) = self.part(random);
                let to = random.random_range(0..=self.packets - length);
                changed.copy_within(from..from + length, to);
            }
            7 => {
                let (from, length) = self.part(random);
                changed[from..from + length].reverse();
            }
            8 => {
                let (from, length) = self.part(random);
                changed[from..from + length].sort_by_key(|&(_, rank)| rank);
            }
            _ => {
                let ((from, length), rank) = (self.part(random), self.rank(random));
                changed[from..from + length].fill((0, rank));
            }
        }
        changed
    }
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    pub arrivals: Vec<Arrival>,
    /// Difference in cost between the two schedulers.
    pub gap: i64,
    /// Number of changes tried.
    pub steps: usize,
}

/// Climbs from one random trace after another, until `steps` changes were tried or `go_on` returns false. The same seed
/// finds the same trace in the same number of steps.
///
/// `gap`: how much worse one scheduler does on a trace than the other. It is at most `most`.
pub fn search(
    traces: &Traces,
    steps: usize,
    most: i64,
    seed: u64,
    mut gap: impl FnMut(&[Arrival]) -> i64,
    mut go_on: impl FnMut() -> bool,
) -> SearchResult {
    let random = &mut seeded(seed);
    let mut of = |trace: &Vec<Step>| gap(&Traces::arrivals(trace));
    let climb = Climb {
        steps: CLIMB,
        tolerance: most / 50,
    };
    let mut tried = 0;
    let mut best: Option<(Vec<Step>, i64)> = None;
    loop {
        let found = climb.run(traces, &mut of, random, || {
            if tried == steps || !go_on() {
                return ControlFlow::Break(());
            }
            tried += 1;
            ControlFlow::Continue(())
        });
        if best.as_ref().is_none_or(|(_, value)| found.1 > *value) {
            best = Some(found);
        }
        if tried == steps || !go_on() {
            break;
        }
    }
    let (trace, gap) = best.expect("at least one climb");
    SearchResult {
        arrivals: Traces::arrivals(&trace),
        gap,
        steps: tried,
    }
}
