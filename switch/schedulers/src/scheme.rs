//! What is the same question for every scheme: its P4 program, its configuration, and how model and program are compared.

use std::str::FromStr;

pub use p4sched_traffic_manager::Discipline;
use rand::RngCore;

use crate::config::{ConfigError, MAX_P4_QUEUES, Sizes};
use crate::scheduler::{Nanos, Rank, Scheduler};
use crate::target::Target;
use crate::worker::Worker;

/// The parameter of a program's action that says how long its window is.
pub const WINDOW_PARAMETER: &str = "window_ranks";

/// Who drops the packet that finds its queue full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailDrop {
    /// The program, at ingress.
    Program,
    /// The traffic manager.
    Queue,
    /// The program; or the traffic manager, if the program is told sizes of 0.
    Either,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(name: &str) -> Result<Target, String> {
        let found = Target::ALL.iter().find(|target| target.name() == name);
        found.copied().ok_or_else(|| "it is v1model, tna or t2na".to_owned())
    }
}

/// A P4 program, and the port that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct P4 {
    /// The file in `p4/`, without `.p4`.
    pub program: &'static str,
    /// The table of the parameters, below the ingress control. Its key is the egress port.
    pub table: &'static str,
    /// The action that sets the parameters.
    pub action: &'static str,
    /// The action's parameters, in order.
    pub parameters: &'static [&'static str],
    /// The discipline of the port.
    pub discipline: Discipline,
    /// The field of the program that the discipline sorts by, for example `meta.rank`. No P4 target sorts: such a scheme is an
    /// ideal that others are measured against.
    pub rank_field: Option<&'static str>,
    /// Who drops at a full queue.
    pub tail_drop: TailDrop,
    /// The program knows ranks (`p4/include/rank.p4`).
    pub ranks: bool,
    /// The program counts its decisions by verdict: admitted, refused, full (`p4/include/carry_out.p4`).
    pub verdicts: bool,
}

impl P4 {
    /// The ingress control. The names of the program's tables and counters begin with it.
    pub fn ingress(&self) -> String {
        let mut name = String::new();
        for word in self.program.split('_') {
            name.push_str(&word[..1].to_uppercase());
            name.push_str(&word[1..]);
        }
        name + "Ingress"
    }

    /// The BMv2 priority of the model's queue number `queue`.
    pub fn priority(&self, queue: usize) -> usize {
        match self.discipline {
            Discipline::Strict => MAX_P4_QUEUES - 1 - queue,
            _ => 0,
        }
    }
}

/// What a scheduler remembers, in the model and in the P4 program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// What it is, in the paper's words.
    pub name: &'static str,
    /// As the model has it.
    pub model: Vec<u64>,
    /// As the program has it.
    pub program: Vec<u64>,
}

/// A model that a P4 program must equal, packet by packet.
pub trait Reference: Scheduler + Sized {
    /// What it is told.
    type Config;
    /// The program.
    const P4: P4;
    /// The targets that there is such a program for.
    const TARGETS: &[Target] = &[Target::V1model];

    /// The model, with empty queues.
    ///
    /// # Errors
    /// If a value is out of range.
    fn model(config: &Self::Config) -> Result<Self, ConfigError>;

    /// Changes the configuration. Packets that wait stay.
    ///
    /// # Errors
    /// If a value is out of range. Nothing has changed then.
    fn reconfigure(&mut self, config: &Self::Config) -> Result<(), ConfigError>;

    /// The configuration for these sizes.
    ///
    /// # Errors
    /// If the scheme needs more than sizes.
    fn config(sizes: &Sizes) -> Result<Self::Config, ConfigError>;

    /// A random configuration that the program can have, and that the model can change to while `before` is in force.
    fn draw(random: &mut dyn RngCore, before: Option<&Self::Config>) -> Self::Config;

    /// What the program of this target makes of a configuration: the same, unless the hardware forces another rule.
    fn on(config: Self::Config, _target: Target) -> Self::Config {
        config
    }

    /// Who drops the packet that finds its queue full, in the program of this target.
    fn tail_drop(_target: Target) -> TailDrop {
        Self::P4.tail_drop
    }

    /// Sizes of the queues in packets, the most urgent one first.
    fn queue_sizes(config: &Self::Config) -> &[usize];

    /// The arguments of the action [`P4::action`]. `sizes`: [`Reference::queue_sizes`] if the program keeps to them, none
    /// if the traffic manager does.
    fn arguments(config: &Self::Config, sizes: &[usize]) -> Vec<u64>;

    /// The configuration that these arguments ask for, on v1model: what [`Reference::arguments`] gives with the sizes of the
    /// queues. An argument of 0 is one that was left out.
    ///
    /// # Errors
    /// If a value is out of range.
    fn from_arguments(arguments: &[u64]) -> Result<Self::Config, ConfigError>;

    /// What the model remembers besides its queues, beside the port's cells of the program's registers.
    fn compare(&self, _register: &dyn Fn(&str) -> u64) -> Option<Compared> {
        None
    }

    /// Gives a user the weight 256 / scale.
    fn set_user_scale(&mut self, _user: u32, _scale: u32) {}

    /// Starts the window with the last of these ranks.
    ///
    /// # Errors
    /// If they are fewer than the window holds.
    fn remember(&mut self, _past: &[Rank]) -> Result<(), ConfigError> {
        Ok(())
    }

    /// From now on a worker packet tells ingress the length of the queue, if the program is written for it (`TAKES_WORKERS`).
    /// The queue is empty.
    fn start_worker(&mut self, _worker: Worker) {}

    /// The length of the queue that the worker packet has told by `now`, in packets; none without a worker.
    fn told_length(&self, _now: Nanos) -> Option<u64> {
        None
    }
}

/// The sizes of eight queues as arguments, 0 for a queue that does not exist.
pub(crate) fn eight(sizes: &[usize]) -> Vec<u64> {
    let size = |queue: usize| sizes.get(queue).map_or(0, |&size| size as u64);
    (0..MAX_P4_QUEUES).map(size).collect()
}

/// The sizes in such a list.
pub(crate) fn sizes_of_eight(arguments: &[u64]) -> Vec<usize> {
    let existing = arguments.iter().take_while(|&&size| size != 0);
    existing.map(|&size| whole(size)).collect()
}

/// An argument as a number of packets or ranks. No range reaches as far as what does not fit.
pub(crate) fn whole(argument: u64) -> usize {
    usize::try_from(argument).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ingress_control_has_the_name_of_the_program() {
        let two_words = P4 {
            program: "tail_drop",
            table: "",
            action: "",
            parameters: &[],
            discipline: Discipline::Fifo,
            rank_field: None,
            tail_drop: TailDrop::Program,
            ranks: true,
            verdicts: true,
        };
        assert_eq!(two_words.ingress(), "TailDropIngress");
    }
}
