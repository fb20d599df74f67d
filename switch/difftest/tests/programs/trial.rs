//! Trials and their results.

use p4sched_schedulers::{Packet, Scheme, Target};
use p4sched_simulator::model::Decision;
use p4sched_simulator::parameters::Parameters;
use p4sched_simulator::program::ProgramError;

/// The settings of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The scheme of program and model.
    pub scheme: Scheme,
    /// The target for which the program is compiled.
    pub target: Target,
    /// Whether the program is built for worker packets, with one worker packet in it.
    pub worker: bool,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of arriving packets.
    pub packets: u64,
    /// A deliberate mistake: it makes the model's settings differ from the program's.
    pub mistake: Option<fn(&mut Parameters, &mut Packet)>,
}

/// The counts of a trial without a mismatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Arrived packets.
    pub packets: u64,
    /// Those that were queued.
    pub queued: u64,
    /// Those that the admission rule refused.
    pub refused: u64,
    /// Those that were dropped at a full queue.
    pub full: u64,
    /// Those that were pushed out by another packet.
    pub pushed_out: u64,
    /// Changes of parameters, link rates, weights or rank sources.
    pub changes: u64,
}

impl Tally {
    /// Counts an arrived packet by the decision about it.
    pub fn count(&mut self, decision: Decision) {
        self.packets += 1;
        match decision {
            Decision::Queued { .. } => self.queued += 1,
            Decision::PushedOut => {
                self.queued += 1;
                self.pushed_out += 1;
            }
            Decision::Refused => self.refused += 1,
            Decision::Full => self.full += 1,
        }
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.packets += other.packets;
        self.queued += other.queued;
        self.refused += other.refused;
        self.full += other.full;
        self.pushed_out += other.pushed_out;
        self.changes += other.changes;
    }
}

/// The reason why a trial failed.
#[derive(Debug, thiserror::Error)]
pub enum Mismatch {
    /// The program could not be run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("{0}")]
    Differ(String),
}
