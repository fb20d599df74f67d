//! Trials and their results.

use p4sched_schedulers::{Packet, Scheme, Target};
use p4sched_simulator::model::Decision;
use p4sched_simulator::parameters::Parameters;
use p4sched_simulator::program::ProgramError;

/// Description of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Scheme of program and model.
    pub scheme: Scheme,
    /// Compiled for this.
    pub target: Target,
    /// The program is built for worker packets, and one goes round.
    pub worker: bool,
    /// Decides everything random.
    pub seed: u64,
    /// Number of arriving packets.
    pub packets: u64,
    /// Makes the model wrong on purpose: its settings differ from those of the program.
    pub mistake: Option<fn(&mut Parameters, &mut Packet)>,
}

/// Counts of a trial without mismatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets that arrived.
    pub packets: u64,
    /// Packets that were queued, of these.
    pub queued: u64,
    /// Refused by the admission rule.
    pub refused: u64,
    /// Dropped at a full queue.
    pub full: u64,
    /// Pushed out for another one.
    pub pushed_out: u64,
    /// Changes of parameters, link rates, weights or rank sources.
    pub changes: u64,
}

impl Tally {
    /// Counts a packet that arrived, by what became of it.
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

/// Reason why a trial failed.
#[derive(Debug, thiserror::Error)]
pub enum Mismatch {
    /// No program could be run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Program and model differ.
    #[error("{0}")]
    Differ(String),
}
