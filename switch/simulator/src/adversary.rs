//! Search for traces on which one scheduler does much worse than another (PACKS, appendix B).
//!
//! A trace is a short sequence of ranks, and the ranks that fill the window before it. All its packets arrive at an
//! empty buffer. Then the buffer is drained. The search compares drops and inversions. An inversion is a packet of a
//! higher rank that left before a packet that was sent. Each is weighted by the priority of its packet: how far the
//! packet's rank lies below the highest rank.
//!
//! The paper asks a solver for the largest gap between two schedulers. Here the search climbs from many random traces.
//! It finds a lower bound of the gap, and a trace that shows it. [`crate::attack`] searches longer traces in the same
//! way.

use std::ops::ControlFlow;

use rand::{Rng, RngCore};

use p4sched_schedulers::scheduler::{Packet, Rank, Scheduler};

/// A trace of arrivals: the ranks in the window, oldest first, then the ranks of the packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Window at the start.
    pub window: Vec<Rank>,
    /// Ranks of the arriving packets, in order.
    pub ranks: Vec<Rank>,
}

/// A scheduler's result on a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchOutcome {
    /// Ranks in the order in which they left.
    pub sent: Vec<Rank>,
    /// Ranks of the lost packets.
    pub dropped: Vec<Rank>,
}

/// Enqueues all packets, then drains the scheduler.
pub fn batch(scheduler: &mut impl Scheduler, ranks: &[Rank]) -> BatchOutcome {
    let mut outcome = BatchOutcome::default();
    for (id, &rank) in (0..).zip(ranks) {
        let packet = Packet {
            id,
            rank,
            user: 0,
            flow: 0,
            len: 1,
        };
        if let Some(lost) = scheduler.enqueue(0, packet).lost(packet) {
            outcome.dropped.push(lost.rank);
        }
    }
    while let Some(packet) = scheduler.dequeue(0) {
        outcome.sent.push(packet.rank);
    }
    outcome
}

impl BatchOutcome {
    /// For each packet sent: its rank, and the number of higher-ranked packets that left before it.
    pub fn inversions(&self) -> impl Iterator<Item = (Rank, u64)> + '_ {
        self.sent.iter().enumerate().map(|(place, &rank)| {
            let overtaken_by = self.sent[..place].iter().filter(|&&earlier| earlier > rank).count();
            (rank, overtaken_by as u64)
        })
    }

    /// Inversions suffered by the packets of one rank.
    pub fn inversions_of(&self, rank: Rank) -> u64 {
        self.inversions()
            .filter(|&(sent, _)| sent == rank)
            .map(|(_, count)| count)
            .sum()
    }

    /// Inversions, each weighted by the priority `highest` - rank of the packet that suffers it.
    pub fn weighted_inversions(&self, highest: Rank) -> i64 {
        self.inversions()
            .map(|(rank, count)| i64::from(highest - rank) * count as i64)
            .sum()
    }

    /// Drops, each weighted by the priority `highest` - rank of the lost packet.
    pub fn weighted_drops(&self, highest: Rank) -> i64 {
        self.dropped.iter().map(|&rank| i64::from(highest - rank)).sum()
    }
}

/// A set of traces that can be searched.
pub trait Space {
    type Trace: Clone;

    fn draw(&self, random: &mut impl RngCore) -> Self::Trace;

    /// Returns a trace that differs a little from this one.
    fn change(&self, trace: &Self::Trace, random: &mut impl RngCore) -> Self::Trace;
}

/// Search from one trace: threshold accepting (Dueck and Scheuer, J. Computational Physics 90, 1990). It computes with
/// whole numbers only, so it finds the same trace on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Climb {
    /// Number of changes to try.
    pub steps: usize,
    /// Largest loss that a change may bring at the first step. It falls to 0 at the last step. If it is 0 from the
    /// start, the search is hill climbing.
    pub tolerance: i64,
}

impl Climb {
    /// Climbs from one random trace. Returns the best trace and its gap. `step` is called at each step and can end the
    /// climb.
    pub fn run<S: Space>(
        self,
        space: &S,
        gap: &mut impl FnMut(&S::Trace) -> i64,
        random: &mut impl RngCore,
        mut step: impl FnMut() -> ControlFlow<()>,
    ) -> (S::Trace, i64) {
        let mut trace = space.draw(random);
        let mut value = gap(&trace);
        let mut best = (trace.clone(), value);
        for left in (1..=self.steps).rev() {
            if step().is_break() {
                break;
            }
            let changed = space.change(&trace, random);
            let changed_value = gap(&changed);
            let tolerance = i128::from(self.tolerance) * left as i128 / self.steps as i128;
            // An equal value is accepted too: plateaus are wide, and the way up crosses them.
            if i128::from(changed_value) + tolerance >= i128::from(value) {
                (trace, value) = (changed, changed_value);
                if value >= best.1 {
                    best = (trace.clone(), value);
                }
            }
        }
        best
    }
}

/// Size of the searched space, and length of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Packets in a trace.
    pub packets: usize,
    /// Ranks in the window at the start.
    pub window: usize,
    /// Largest rank; the smallest is 1.
    pub highest: Rank,
    /// Number of random traces to climb from.
    pub restarts: usize,
    /// Number of changes to try on each random trace.
    pub steps: usize,
}

impl Search {
    /// The space of appendix B: 15 packets of ranks 1 to 11, |W| = 4.
    pub const APPENDIX_B: Search = Search {
        packets: 15,
        window: 4,
        highest: 11,
        restarts: 12,
        steps: 6000,
    };

    /// The trace with the largest `gap` that was found, and its gap.
    pub fn worst(&self, gap: impl Fn(&Trace) -> i64, random: &mut impl RngCore) -> (Trace, i64) {
        let climb = Climb {
            steps: self.steps,
            tolerance: 0,
        };
        let mut best: Option<(Trace, i64)> = None;
        for _ in 0..self.restarts.max(1) {
            let found = climb.run(self, &mut &gap, random, || ControlFlow::Continue(()));
            if best.as_ref().is_none_or(|(_, value)| found.1 > *value) {
                best = Some(found);
            }
        }
        best.expect("at least one climb")
    }

    fn ranks(&self, count: usize, random: &mut impl RngCore) -> Vec<Rank> {
        (0..count).map(|_| random.random_range(1..=self.highest)).collect()
    }
}

impl Space for Search {
    type Trace = Trace;

    fn draw(&self, random: &mut impl RngCore) -> Trace {
        Trace {
            window: self.ranks(self.window, random),
            ranks: self.ranks(self.packets, random),
        }
    }

    /// Redraws one to three ranks, or swaps two.
    fn change(&self, trace: &Trace, random: &mut impl RngCore) -> Trace {
        let mut changed = trace.clone();
        if random.random_range(0..4) == 0 {
            let places = (
                random.random_range(0..self.packets),
                random.random_range(0..self.packets),
            );
            changed.ranks.swap(places.0, places.1);
            return changed;
        }
        for _ in 0..random.random_range(1..=3) {
            let place = random.random_range(0..self.packets + self.window);
            let rank = random.random_range(1..=self.highest);
            match place.checked_sub(self.packets) {
                None => changed.ranks[place] = rank,
                Some(place) => changed.window[place] = rank,
            }
        }
        changed
    }
}
