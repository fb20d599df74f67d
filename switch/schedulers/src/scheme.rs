//! The properties of every scheme: its P4 program, its configuration, and the comparison of model and program.

use std::str::FromStr;

pub use p4sched_traffic_manager::Discipline;
use rand::RngCore;

use crate::config::{ConfigError, MAX_P4_QUEUES, Sizes};
use crate::flowlets::FlowletConfig;
use crate::known::Knowledge;
use crate::scheduler::{Nanos, Packet, Rank, Scheduler};
use crate::target::Target;
use crate::variants::{Variant, Variants};
use crate::worker::Worker;

/// The parameter of a program's action that sets the length of its window.
pub const WINDOW_PARAMETER: &str = "window_ranks";

/// The part of the switch that drops a packet at a full queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailDrop {
    /// The program, at ingress.
    Program,
    /// The traffic manager.
    Queue,
    /// The program, or the traffic manager if the program gets sizes of 0.
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
    /// The table of the parameters; its name is relative to the ingress control. Its key is the egress port.
    pub table: &'static str,
    /// The action that sets the parameters.
    pub action: &'static str,
    /// The parameters of the scheme, in order. Those of the action are [`crate::Scheme::action_parameters`].
    pub parameters: &'static [&'static str],
    /// The discipline of the port.
    pub discipline: Discipline,
    /// The field of the program that the discipline sorts by, for example `meta.rank`. No P4 target sorts, so a scheme
    /// with such a field is an ideal for comparison.
    pub rank_field: Option<&'static str>,
    /// The part that drops at a full queue.
    pub tail_drop: TailDrop,
    /// Whether the program reads ranks (`p4/include/rank.p4`).
    pub ranks: bool,
    /// Whether the program counts its decisions by verdict: admitted, refused, full (`p4/include/carry_out.p4`).
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

    /// The BMv2 priority of the model's queue with index `queue`.
    pub fn priority(&self, queue: usize) -> usize {
        match self.discipline {
            Discipline::Strict => MAX_P4_QUEUES - 1 - queue,
            _ => 0,
        }
    }
}

/// The state of a scheduler, in the model and in the P4 program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePart {
    /// Name of the state in the paper.
    pub name: &'static str,
    /// Values in the model.
    pub model: Vec<u64>,
    /// Values in the program.
    pub program: Vec<u64>,
}

/// A model that a P4 program must equal, packet by packet.
pub trait Reference: Scheduler + Sized {
    type Config;
    const P4: P4;
    /// The targets that have a program of this scheme.
    const TARGETS: &[Target] = &[Target::V1model];
    /// The variants that the model knows.
    const VARIANTS: &[Variant] = &[];

    /// Whether the rule reads the lengths of the queues, so that they may be old or in cells.
    const READS_LENGTHS: bool = false;

    /// Whether the queues can share the memory of a switch.
    const SHARES_MEMORY: bool = false;

    /// A model with empty queues.
    ///
    /// # Errors
    /// If a value is out of range.
    fn model(config: &Self::Config) -> Result<Self, ConfigError>;

    /// Changes the configuration. Waiting packets stay.
    ///
    /// # Errors
    /// If a value is out of range. Then nothing has changed.
    fn reconfigure(&mut self, config: &Self::Config) -> Result<(), ConfigError>;

    /// The configuration for these sizes.
    ///
    /// # Errors
    /// If sizes alone do not determine it.
    fn config(sizes: &Sizes) -> Result<Self::Config, ConfigError>;

    /// A random configuration that the program supports. The model can change to it from `before`.
    fn draw(random: &mut dyn RngCore, before: Option<&Self::Config>) -> Self::Config;

    /// The configuration that the program of this target actually has. It differs if the hardware needs another rule.
    fn on(config: Self::Config, _target: Target) -> Self::Config {
        config
    }

    /// The part that drops a packet at a full queue, for the program of this target.
    fn tail_drop(_target: Target) -> TailDrop {
        Self::P4.tail_drop
    }

    /// Sizes of the queues in packets, the most urgent first.
    fn queue_sizes(config: &Self::Config) -> &[usize];

    /// The arguments of the action [`P4::action`]. `sizes` is [`Reference::queue_sizes`] if the program keeps to the
    /// sizes, and empty if the traffic manager does.
    fn arguments(config: &Self::Config, sizes: &[usize]) -> Vec<u64>;

    /// The v1model configuration for these arguments. It is the inverse of [`Reference::arguments`] with the sizes of
    /// the queues. An argument of 0 stands for a missing one.
    ///
    /// # Errors
    /// If a value is out of range.
    fn from_arguments(arguments: &[u64]) -> Result<Self::Config, ConfigError>;

    /// Makes a model for v1model follow these of its [`Reference::VARIANTS`], and the text in all else.
    fn vary(&mut self, _variants: Variants) {}

    /// Makes a model for v1model with empty queues know their lengths so, if the rule reads them.
    fn know(&mut self, _knowledge: Knowledge) {}

    /// Makes a model for v1model let a user return to a more urgent band only after so many microseconds, if the scheme
    /// has bands of users; 0: at once.
    fn hold(&mut self, _hold_us: u32) {}

    /// Gives a model for v1model an empty table of flowlets with these settings, if it follows
    /// [`Variant::FlowletQueue`].
    fn keep_flowlets(&mut self, _config: FlowletConfig) {}

    /// Packets in a queue.
    fn length(&self, _queue: usize) -> usize {
        self.len()
    }

    /// Sets the length from which the memory has no room for one more packet of a queue, if it is
    /// [shared](Reference::SHARES_MEMORY). The rule does not see it: such a packet is lost behind the rule.
    fn set_threshold(&mut self, _queue: usize, _packets: usize) {}

    /// Makes the rule take this for the size of a queue, if it reads sizes.
    fn set_size(&mut self, _queue: usize, _packets: usize) {}

    /// Removes the packet that a queue gives up to the memory, if it is shared.
    fn give_up(&mut self, _queue: usize) -> Option<Packet> {
        None
    }

    /// The bounds of the queues now, the most urgent first; empty if the rule has none. SP-PIFO: the lowest rank that a queue
    /// takes; PACKS: the highest one, `Rank::MAX` if it takes every rank, 0 if it takes none.
    fn bounds(&self) -> Vec<Rank> {
        Vec::new()
    }

    /// The state of the model besides its queues, next to the port's cells of the program's registers.
    fn compare(&self, _register: &dyn Fn(&str) -> u64) -> Option<StatePart> {
        None
    }

    /// Gives a user the weight 256 / scale.
    fn set_user_scale(&mut self, _user: u32, _scale: u32) {}

    /// Fills the window with the last of these ranks.
    ///
    /// # Errors
    /// If there are fewer ranks than the window holds.
    fn remember(&mut self, _past: &[Rank]) -> Result<(), ConfigError> {
        Ok(())
    }

    /// Starts a worker packet that brings the length of the queue to ingress, if the program supports it
    /// (`TAKES_WORKERS`). The queue must be empty.
    fn start_worker(&mut self, _worker: Worker) {}

    /// The queue length in packets that the worker packet has brought by `now`; `None` without a worker packet.
    fn length_from_worker(&self, _now: Nanos) -> Option<u64> {
        None
    }
}

/// The sizes of eight queues as arguments; 0 stands for a queue that does not exist.
pub(crate) fn eight(sizes: &[usize]) -> Vec<u64> {
    let size = |queue: usize| sizes.get(queue).map_or(0, |&size| size as u64);
    (0..MAX_P4_QUEUES).map(size).collect()
}

/// The sizes in a list of arguments; 0 stands for a queue that does not exist.
pub(crate) fn sizes_of_eight(arguments: &[u64]) -> Vec<usize> {
    let existing = arguments.iter().take_while(|&&size| size != 0);
    existing.map(|&size| whole(size)).collect()
}

/// An argument as a number of packets or ranks. A value that does not fit becomes one that is out of every range.
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
