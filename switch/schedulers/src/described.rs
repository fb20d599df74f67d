//! A scheme that a file describes while the program runs: a program, an action with parameters, a port, and perhaps a
//! model in another language.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use p4sched_traffic_manager::{
    CalendarConfig, CalendarPlace, ConfigError as PortError, PortConfig, ScrrConfig, TreeConfig,
};
use rand::{Rng, RngCore};

use crate::config::{ConfigError, MAX_PACKETS, Sizes};
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
use crate::scheme::{Discipline, P4, TailDrop};
use crate::target::Target;
use crate::{Model, Scheme};

/// A formula over the parameters of a scheme and the common sizes of a comparison.
#[derive(Clone, Debug)]
pub enum Formula {
    Number(i64),
    Name(String),
    Operation(Operator, Box<Formula>, Box<Formula>),
}

/// An operation of a [`Formula`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    /// Rounds down.
    Divide,
    Least,
    Most,
}

impl Formula {
    /// Value of the formula; `None` if a name is unknown, a divisor is 0 or a number leaves 64 bits.
    fn value(&self, number: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Formula::Number(value) => Some(*value),
            Formula::Name(name) => number(name),
            Formula::Operation(operator, left, right) => {
                let (left, right) = (left.value(number)?, right.value(number)?);
                match operator {
                    Operator::Add => left.checked_add(right),
                    Operator::Subtract => left.checked_sub(right),
                    Operator::Multiply => left.checked_mul(right),
                    Operator::Divide if right == 0 => None,
                    Operator::Divide => {
                        let rounded = left.checked_div(right)?;
                        let below = left % right != 0 && (left < 0) != (right < 0);
                        Some(rounded - i64::from(below))
                    }
                    Operator::Least => Some(left.min(right)),
                    Operator::Most => Some(left.max(right)),
                }
            }
        }
    }
}

/// A parameter of a described scheme.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: String,
    /// True for a setting of the port, false for a parameter of the program's action.
    pub of_port: bool,
    pub min: u64,
    pub max: u64,
    pub default: u64,
    /// Value in a comparison; `None`: the default.
    pub alike: Option<Formula>,
    /// Range of the values of a random configuration.
    pub tried: (u64, u64),
}

/// A scheduler in another language, for example Python.
pub trait Foreign: Scheduler + fmt::Debug + Send {
    /// Changes the arguments while packets wait.
    ///
    /// # Errors
    /// If it refuses them.
    fn reconfigure(&mut self, config: &FolderConfig) -> Result<(), ConfigError>;

    /// A copy, with the same state.
    fn copy(&self) -> Box<dyn Foreign>;

    /// Gives a user the weight 256 / scale.
    fn set_user_scale(&mut self, _user: u32, _scale: u32) {}

    /// Fills the window, if there is one, with the last of these ranks.
    ///
    /// # Errors
    /// If there are fewer ranks than the window holds.
    fn remember(&mut self, _past: &[Rank]) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// Makes a model for a configuration.
pub type Maker = Box<dyn Fn(&FolderConfig) -> Result<Box<dyn Foreign>, ConfigError> + Send + Sync>;

/// A number of a port that the parameters of a described scheme may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortNumber {
    Queues,
    QueuePackets,
    BytesPerRound,
    TurnBytes,
    TurnNs,
    RankWidth,
    Levels,
    BurstRounds,
    WholeSets,
    FlowPackets,
    Version,
}

impl PortNumber {
    /// The number of this name in a description.
    pub fn named(name: &str) -> Option<PortNumber> {
        Some(match name {
            "queues" => PortNumber::Queues,
            "queue_packets" => PortNumber::QueuePackets,
            "bytes_per_round" => PortNumber::BytesPerRound,
            "turn_bytes" => PortNumber::TurnBytes,
            "turn_ns" => PortNumber::TurnNs,
            "rank_width" => PortNumber::RankWidth,
            "levels" => PortNumber::Levels,
            "burst_rounds" => PortNumber::BurstRounds,
            "whole_sets" => PortNumber::WholeSets,
            "flow_packets" => PortNumber::FlowPackets,
            "version" => PortNumber::Version,
            _ => return None,
        })
    }

    /// Sets the number; `None` if it is out of range.
    fn set(self, value: i64, calendar: &mut CalendarConfig, scrr: &mut ScrrConfig) -> Option<()> {
        let (short, long) = (u32::try_from(value), u64::try_from(value).ok()?);
        match self {
            PortNumber::Queues => calendar.queues = short.ok()?,
            PortNumber::QueuePackets => calendar.queue_packets = short.ok()?,
            PortNumber::BytesPerRound => calendar.bytes_per_round = short.ok()?,
            PortNumber::TurnBytes => calendar.turn_bytes = long,
            PortNumber::TurnNs => calendar.turn_ns = long,
            PortNumber::RankWidth => calendar.rank_width = long,
            PortNumber::Levels => calendar.levels = short.ok()?,
            PortNumber::BurstRounds => calendar.burst_rounds = short.ok()?,
            PortNumber::WholeSets => calendar.whole_sets = long != 0,
            PortNumber::FlowPackets => scrr.flow_packets = short.ok()?,
            PortNumber::Version => scrr.version = short.ok()?,
        }
        Some(())
    }
}

/// Makes the models of a scheme of this workspace, for a description that sets some of its parameters.
pub fn models_of(scheme: Scheme) -> Maker {
    Box::new(move |config: &FolderConfig| {
        let model = scheme.from_arguments(&config.arguments)?.model()?;
        Ok(Box::new(Known { scheme, model }) as Box<dyn Foreign>)
    })
}

/// The model of a scheme of this workspace.
#[derive(Clone, Debug)]
struct Known {
    scheme: Scheme,
    model: Model,
}

impl Scheduler for Known {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        self.model.enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        self.model.dequeue(now)
    }

    fn len(&self) -> usize {
        self.model.len()
    }
}

impl Foreign for Known {
    fn reconfigure(&mut self, config: &FolderConfig) -> Result<(), ConfigError> {
        self.model.reconfigure(&self.scheme.from_arguments(&config.arguments)?)
    }

    fn copy(&self) -> Box<dyn Foreign> {
        Box::new(self.clone())
    }

    fn set_user_scale(&mut self, user: u32, scale: u32) {
        self.model.set_user_scale(user, scale);
    }

    fn remember(&mut self, past: &[Rank]) -> Result<(), ConfigError> {
        self.model.remember(past)
    }
}

/// Settings of a port that only some disciplines read.
#[derive(Clone, Debug, Default)]
pub struct PortExtras {
    /// Numbers of [`CalendarConfig`] and [`ScrrConfig`] by name. Those without a formula have the default of the traffic
    /// manager.
    pub numbers: Vec<(PortNumber, Formula)>,
    pub place: Option<CalendarPlace>,
    pub tree: TreeConfig,
    /// Quantum of deficit round robin; `None`: the default.
    pub quantum_bytes: Option<u32>,
    /// The fields of the program with the user, with the leaf of a tree, and with the ranks of its levels.
    pub user_field: Option<String>,
    pub leaf_field: Option<String>,
    pub level_rank_fields: Vec<String>,
}

/// A described scheme. It lives as long as the process.
pub struct Described {
    pub name: &'static str,
    pub p4: P4,
    /// The part that drops at a full queue on a Tofino.
    pub chip_tail_drop: TailDrop,
    /// The program of each target.
    pub programs: Vec<(Target, PathBuf)>,
    /// The targets of `programs`.
    pub targets: &'static [Target],
    /// Folders for the included files of each target, besides those of the program.
    pub includes: Vec<(Target, Vec<PathBuf>)>,
    pub parameters: Vec<Parameter>,
    /// Sizes of the queues in packets, the most urgent first.
    pub queue_sizes: Vec<Formula>,
    /// Settings of the port, besides the sizes of the queues.
    pub port: PortExtras,
    /// Makes its models; `None`: it has only a program.
    pub maker: Option<Maker>,
}

/// The configuration of a described scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderConfig {
    pub scheme: &'static Described,
    /// The values of all parameters.
    pub arguments: Vec<u64>,
    /// Sizes of the queues in packets, the most urgent first.
    pub queue_sizes: Vec<usize>,
    pub calendar: CalendarConfig,
    pub scrr: ScrrConfig,
}

/// The schemes of [`register`].
static KNOWN: Mutex<Vec<&'static Described>> = Mutex::new(Vec::new());

/// Makes a scheme known by its name. It stays in memory.
pub fn register(scheme: Described) -> &'static Described {
    let scheme: &'static Described = Box::leak(Box::new(scheme));
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).push(scheme);
    scheme
}

/// All schemes of [`register`].
pub fn known() -> Vec<&'static Described> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Described {
    fn named(&self, sizes: &Sizes, arguments: &[u64]) -> impl Fn(&str) -> Option<i64> + use<> {
        let headroom = sizes.headroom.numerator() * 256 / sizes.headroom.unit();
        let common = [
            ("buffer", sizes.buffer() as i64),
            ("queues", sizes.queues as i64),
            ("queue_size", sizes.queue_size as i64),
            ("window", sizes.window as i64),
            ("tracking", sizes.window as i64),
            ("headroom_256", headroom as i64),
        ];
        let names = self.parameters.iter().map(|parameter| parameter.name.clone());
        let own: Vec<(String, u64)> = names.zip(arguments.iter().copied()).collect();
        move |name| {
            let own = own.iter().find(|(each, _)| each == name);
            match own {
                Some(&(_, value)) => i64::try_from(value).ok(),
                None => common.iter().find(|(each, _)| *each == name).map(|&(_, value)| value),
            }
        }
    }

    fn sized(&'static self, sizes: &Sizes, arguments: Vec<u64>) -> Result<FolderConfig, ConfigError> {
        for (parameter, &value) in self.parameters.iter().zip(&arguments) {
            if !(parameter.min..=parameter.max).contains(&value) {
                return Err(ConfigError::Folder(format!(
                    "{}: {} = {value} is out of range: {} to {}",
                    self.name, parameter.name, parameter.min, parameter.max
                )));
            }
        }
        let number = self.named(sizes, &arguments);
        let mut queue_sizes = Vec::new();
        for formula in &self.queue_sizes {
            let size = formula.value(&number).and_then(|size| usize::try_from(size).ok());
            match size.filter(|&size| size <= MAX_PACKETS) {
                Some(0) => break,
                Some(size) => queue_sizes.push(size),
                None => {
                    return Err(ConfigError::Folder(format!(
                        "{}: the size of a queue is not from 0 to {MAX_PACKETS} packets",
                        self.name
                    )));
                }
            }
        }
        if queue_sizes.is_empty() {
            return Err(ConfigError::Folder(format!(
                "{}: the first queue has size 0",
                self.name
            )));
        }
        let (mut calendar, mut scrr) = (CalendarConfig::default(), ScrrConfig::default());
        calendar.place = self.port.place.unwrap_or(calendar.place);
        for (name, formula) in &self.port.numbers {
            let set = formula
                .value(&number)
                .and_then(|value| name.set(value, &mut calendar, &mut scrr));
            set.ok_or_else(|| ConfigError::Folder(format!("{}: a number of the port is out of range", self.name)))?;
        }
        self.check_port(calendar, scrr).map_err(|error| {
            ConfigError::Folder(format!(
                "{}: {}",
                self.name,
                error.to_string().trim_start_matches("port 0: ")
            ))
        })?;
        Ok(FolderConfig {
            scheme: self,
            arguments,
            queue_sizes,
            calendar,
            scrr,
        })
    }

    /// Checks the settings of a port.
    fn check_port(&self, calendar: CalendarConfig, scrr: ScrrConfig) -> Result<(), PortError> {
        let usual = PortConfig::default();
        PortConfig {
            discipline: self.p4.discipline,
            quantum_bytes: self.port.quantum_bytes.unwrap_or(usual.quantum_bytes),
            tree: self.port.tree.clone(),
            calendar,
            scrr,
            ..usual
        }
        .check(0)
    }

    /// The configuration for these sizes.
    ///
    /// # Errors
    /// If a value is out of range.
    pub fn config(&'static self, sizes: &Sizes) -> Result<FolderConfig, ConfigError> {
        let number = self.named(sizes, &[]);
        let argument = |parameter: &Parameter| match &parameter.alike {
            None => Ok(parameter.default),
            Some(formula) => formula
                .value(&number)
                .and_then(|value| u64::try_from(value).ok())
                .ok_or_else(|| {
                    ConfigError::Folder(format!(
                        "{}: {} has no value for these sizes",
                        self.name, parameter.name
                    ))
                }),
        };
        let arguments = self
            .parameters
            .iter()
            .map(argument)
            .collect::<Result<Vec<u64>, ConfigError>>()?;
        self.sized(sizes, arguments)
    }

    /// The configuration for these arguments.
    ///
    /// # Errors
    /// If a value is out of range.
    pub fn from_arguments(&'static self, arguments: &[u64]) -> Result<FolderConfig, ConfigError> {
        self.sized(&Sizes::PAPER, arguments.to_vec())
    }

    /// A random configuration; the default one if the drawn values do not fit each other.
    pub fn draw(&'static self, random: &mut dyn RngCore) -> FolderConfig {
        let drawn = self
            .parameters
            .iter()
            .map(|parameter| random.random_range(parameter.tried.0..=parameter.tried.1));
        let drawn: Vec<u64> = drawn.collect();
        let default = || {
            self.parameters
                .iter()
                .map(|parameter| parameter.default)
                .collect::<Vec<u64>>()
        };
        let config = self.from_arguments(&drawn).or_else(|_| self.from_arguments(&default()));
        config.unwrap_or_else(|_| FolderConfig {
            scheme: self,
            arguments: default(),
            queue_sizes: vec![1],
            calendar: CalendarConfig::default(),
            scrr: ScrrConfig::default(),
        })
    }

    /// Folders for the included files of the program of a target.
    pub fn includes(&self, target: Target) -> &[PathBuf] {
        let found = self.includes.iter().find(|(of, _)| *of == target);
        found.map_or(&[], |(_, folders)| folders)
    }

    /// The program of a target.
    pub fn program(&self, target: Target) -> Option<&PathBuf> {
        self.programs.iter().find(|(of, _)| *of == target).map(|(_, file)| file)
    }
}

impl FolderConfig {
    /// A model with empty queues. A scheme without a model ([`crate::Scheme::has_model`]) gets one that takes no packet,
    /// for a port where a program decides.
    ///
    /// # Errors
    /// If the model refuses the configuration.
    pub fn model(&self) -> Result<FolderModel, ConfigError> {
        match &self.scheme.maker {
            Some(maker) => Ok(FolderModel(maker(self)?)),
            None => Ok(FolderModel(Box::new(Absent))),
        }
    }

    /// The arguments of the action. `sizes`: see `Reference::arguments`; such an action has its sizes in any case.
    pub fn arguments(&self) -> Vec<u64> {
        let all = self.scheme.parameters.iter().zip(&self.arguments);
        all.filter(|(parameter, _)| !parameter.of_port)
            .map(|(_, &value)| value)
            .collect()
    }
}

/// The part that drops at a full queue, for the program of a described scheme.
pub(crate) fn tail_drop(scheme: &Described, target: Target) -> TailDrop {
    match scheme.p4.discipline {
        Discipline::Strict | Discipline::Fifo if target != Target::V1model => scheme.chip_tail_drop,
        Discipline::Strict | Discipline::Fifo => scheme.p4.tail_drop,
        _ => TailDrop::Queue,
    }
}

/// The model of a scheme that has none.
#[derive(Debug)]
struct Absent;

impl Scheduler for Absent {
    fn enqueue(&mut self, _now: Nanos, _packet: Packet) -> Verdict {
        Verdict::DroppedByAdmission
    }

    fn dequeue(&mut self, _now: Nanos) -> Option<Packet> {
        None
    }

    fn len(&self) -> usize {
        0
    }
}

impl Foreign for Absent {
    fn reconfigure(&mut self, _config: &FolderConfig) -> Result<(), ConfigError> {
        Ok(())
    }

    fn copy(&self) -> Box<dyn Foreign> {
        Box::new(Absent)
    }
}

/// A model in another language.
#[derive(Debug)]
pub struct FolderModel(Box<dyn Foreign>);

impl FolderModel {
    /// See [`Foreign::reconfigure`].
    ///
    /// # Errors
    /// If the model refuses the configuration.
    pub fn reconfigure(&mut self, config: &FolderConfig) -> Result<(), ConfigError> {
        self.0.reconfigure(config)
    }

    /// See [`Foreign::set_user_scale`].
    pub fn set_user_scale(&mut self, user: u32, scale: u32) {
        self.0.set_user_scale(user, scale);
    }

    /// See [`Foreign::remember`].
    ///
    /// # Errors
    /// If there are fewer ranks than the window holds.
    pub fn remember(&mut self, past: &[Rank]) -> Result<(), ConfigError> {
        self.0.remember(past)
    }
}

impl Clone for FolderModel {
    fn clone(&self) -> FolderModel {
        FolderModel(self.0.copy())
    }
}

impl Scheduler for FolderModel {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        self.0.enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        self.0.dequeue(now)
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Debug for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Described {
    fn eq(&self, other: &Described) -> bool {
        self.name == other.name
    }
}

impl Eq for Described {}

impl Hash for Described {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl PartialOrd for Described {
    fn partial_cmp(&self, other: &Described) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Described {
    fn cmp(&self, other: &Described) -> std::cmp::Ordering {
        self.name.cmp(other.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(operator: Operator, left: i64, right: i64) -> Option<i64> {
        let [left, right] = [left, right].map(|number| Box::new(Formula::Number(number)));
        Formula::Operation(operator, left, right).value(&|_| None)
    }

    #[test]
    fn division_rounds_down_as_in_python() {
        assert_eq!(formula(Operator::Divide, 7, 2), Some(3));
        assert_eq!(formula(Operator::Divide, -7, 2), Some(-4));
        assert_eq!(formula(Operator::Divide, 7, 0), None);
        assert_eq!(formula(Operator::Multiply, i64::MAX, 2), None);
    }
}
