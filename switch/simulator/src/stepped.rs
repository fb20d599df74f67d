//! The experiment of PACKS 6.1 on a compiled P4 program: as [`crate::inversions`], but the engine decides and not the model.
//!
//! A frame of 1375 bytes comes every 1000 ns, and a link of 10 Gbit/s sends it in 1100 ns. That is exactly 11 Gbit/s over 10
//! in whole nanoseconds, so program and model agree to the packet.

use std::collections::BTreeSet;

use p4sched_dataplane::Port;
use p4sched_schedulers::config::MAX_P4_QUEUES;
use p4sched_schedulers::scheme::WINDOW_PARAMETER;
use p4sched_schedulers::{ConfigError, Nanos, Rank, Scheme, Sizes};

use crate::frames::Datagram;
use crate::inversions::Outcome;
use crate::model::Decision;
use crate::parameters::Parameters;
use crate::program::{Program, ProgramError};
use crate::switch::{Counts, Sent, Switch};

const PORT: Port = 1;
const RATE_BPS: u64 = 10_000_000_000;
const FRAME_BYTES: u32 = 1375;
const GAP: Nanos = 1000;
const SERVICE: Nanos = 1100;

/// Why a program cannot run the experiment.
#[derive(Debug, thiserror::Error)]
pub enum SteppedError {
    /// There is no program to run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A scheme that has no such experiment.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A window that the programs have no registers for.
    #[error(
        "a window of {0} ranks does not fit into the P4 programs, which have {1} registers for it; \
         ask for 1 to {1} ranks, or for the models"
    )]
    Window(usize, usize),
    /// Queues that the programs do not have.
    #[error("{0} queues: the P4 programs have 1 to {MAX_P4_QUEUES}")]
    Queues(usize),
    /// Queues larger than the programs can say.
    #[error("{0} queues of {1} packets: the P4 programs take 1 to {MAX_P4_PACKETS} packets in all")]
    Buffer(usize, usize),
}

/// Largest size of a queue and largest target length that the P4 programs take: 16 bits.
const MAX_P4_PACKETS: usize = 65_535;

/// Runs a compiled program over these ranks, and then drains it.
///
/// # Errors
/// If the program does not load, or cannot have these sizes.
pub fn run(program: &Program, scheme: Scheme, sizes: &Sizes, ranks: &[Rank]) -> Result<Outcome, SteppedError> {
    let windowed = scheme.p4().parameters.contains(&WINDOW_PARAMETER);
    let target = program.target();
    let longest = target.max_window();
    if windowed && !(1..=longest).contains(&sizes.window) {
        return Err(SteppedError::Window(sizes.window, longest));
    }
    if !(1..=MAX_P4_QUEUES).contains(&sizes.queues) {
        return Err(SteppedError::Queues(sizes.queues));
    }
    if !(1..=MAX_P4_PACKETS / sizes.queues).contains(&sizes.queue_size) {
        return Err(SteppedError::Buffer(sizes.queues, sizes.queue_size));
    }
    let parameters = Parameters::new(scheme.config(sizes)?, target);
    let mut switch = Switch::new(program, scheme)?;
    switch.route_ranked(PORT);
    switch.set_port(PORT, &parameters, true, RATE_BPS);

    let mut history = History::default();
    let (mut sent, mut frame, mut counts) = (Sent::default(), Vec::new(), Counts::default());
    for (index, &rank) in ranks.iter().enumerate() {
        Datagram::ranked(index as u64, rank, FRAME_BYTES).write(&mut frame);
        switch.receive(index as Nanos * GAP, &frame, &mut sent);
        let now = switch.counts(PORT);
        history.decisions.push(now.decision_since(&counts));
        counts = now;
        history.note(&mut sent);
    }
    while let Some(at) = switch.next_event() {
        switch.advance(at, &mut sent);
        history.note(&mut sent);
    }
    Ok(history.outcome(ranks))
}

/// What the switch was seen to do.
#[derive(Debug, Default)]
struct History {
    /// By packet; `None` if the counters contradict each other.
    decisions: Vec<Option<Decision>>,
    /// Number of each packet sent, and when its transmission began.
    departures: Vec<(u64, Nanos)>,
}

impl History {
    fn note(&mut self, sent: &mut Sent) {
        for (_, id, due, frame) in std::mem::take(&mut sent.frames) {
            self.departures.push((id.unwrap_or(u64::MAX), due - SERVICE));
            sent.recycle(frame);
        }
    }

    /// Counts inversions and drops. A departure that begins when a packet arrives comes before it.
    fn outcome(self, ranks: &[Rank]) -> Outcome {
        let mut never_sent = vec![true; ranks.len()];
        for &(id, _) in &self.departures {
            never_sent[id as usize] = false;
        }
        let mut outcome = Outcome::default();
        let mut waiting: BTreeSet<(Rank, u64)> = BTreeSet::new();
        let mut departures = self.departures.into_iter().peekable();
        let arrivals = ranks.iter().zip(&self.decisions).enumerate().map(Some).chain([None]);
        for arrival in arrivals {
            let (count, now) = arrival.map_or((u64::MAX, Nanos::MAX), |(index, _)| {
                (index as u64, index as Nanos * GAP)
            });
            // A packet that finds the link idle begins to leave in the moment in which it arrives.
            while let Some((id, _)) = departures.next_if(|&(id, start)| start <= now && id < count) {
                depart(&mut outcome, &mut waiting, ranks[id as usize], id);
            }
            let Some((index, (&rank, decision))) = arrival else {
                break;
            };
            if let Some(Decision::Queued { .. } | Decision::PushedOut) = decision {
                waiting.insert((rank, index as u64));
            } else {
                *outcome.drops.entry(rank).or_default() += 1;
            }
            if let Some(Decision::PushedOut) = decision {
                let victim = waiting.iter().rev().find(|&&(_, id)| never_sent[id as usize]).copied();
                if let Some(victim) = victim {
                    waiting.remove(&victim);
                    *outcome.drops.entry(victim.0).or_default() += 1;
                }
            }
        }
        outcome
    }
}

fn depart(outcome: &mut Outcome, waiting: &mut BTreeSet<(Rank, u64)>, rank: Rank, id: u64) {
    waiting.remove(&(rank, id));
    if waiting.first().is_some_and(|&(lowest, _)| lowest < rank) {
        *outcome.inversions.entry(rank).or_default() += 1;
    }
    *outcome.departures.entry(rank).or_default() += 1;
    outcome.sent.push(id);
}
