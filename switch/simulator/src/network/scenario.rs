//! A run, read from a JSON file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use p4sched_schedulers::dual_pi2;
use p4sched_schedulers::flowlets::FlowletConfig;
use p4sched_schedulers::ideal::FairAmong;
use p4sched_schedulers::known::Knowledge;
use p4sched_schedulers::{Config, ConfigError, Headroom, Nanos, Scheme, Sizes, Target, Variant, Variants};
use p4sched_traffic_manager::{ALPHA_1, Discipline, MemoryConfig, MemorySharing};
use p4sched_transport::{self as transport, Control, Retransmissions};
use p4sched_world::routes::Multipath;
use p4sched_world::shapes::Shape;
use p4sched_world::topology::{Topology, TopologyError};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

use super::flows::{Flow, FlowError, FlowSpec, Hosts, Poisson, from_csv, from_list};
use super::hosts::MIN_FRAME;
use super::port::{DUAL_PI2, Memory, PortConfig, Scheduling};
use super::setup::{Events, Ranks, Setup, Transport};
use crate::ideals;
use crate::ranked::StartTime;

/// Latest end of a run. All events planned after it fit into 64 bits.
const LAST_NS: Nanos = 1 << 62;
/// Bytes of Ethernet, IPv4, TCP and the timestamp option.
const TCP_HEADERS: u32 = 66;
/// Bytes of Ethernet, IPv4 and UDP.
const UDP_HEADERS: u32 = 42;
/// Size of a queue without limit, such as that of a host: the most packets that a scheduler can hold.
const PLENTY: usize = p4sched_schedulers::config::MAX_PACKETS;

/// Setting from which the timers of pFabric's hosts follow.
const ROUND_TRIP: &str = "round_trip_ns";
/// Setting that selects the defaults of all others.
const PRESET: &str = "preset";
/// Largest number of queues at a port. More queues only take memory.
const MOST_QUEUES: usize = 65_536;
/// Largest number of samples of a run, of all its flows together.
const MOST_SAMPLES: Nanos = 10_000_000;
/// Largest number of drawn ranks.
const MOST_DRAWN: usize = 65_536;

#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", file.display())]
    Read {
        file: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// A file is not JSON, or has an unknown field.
    #[error("{}: {error}", file.display())]
    Json {
        file: PathBuf,
        /// Place and message.
        error: serde_path_to_error::Error<serde_json::Error>,
    },
    /// A file has more text after the scenario.
    #[error("{}: {error}", file.display())]
    Rest {
        file: PathBuf,
        /// Place and message.
        error: serde_json::Error,
    },
    /// The run ends too late.
    #[error("end_ns = {0}: it is 1 to {LAST_NS}")]
    End(Nanos),
    /// Ports ignore the ranks of packets.
    #[error("retransmissions: with ranks = start_time the ports give all ranks")]
    Retransmissions,
    /// Too many samples.
    #[error("sample_ns: it is above 0, and the samples of all flows and ports until end_ns are at most {MOST_SAMPLES}")]
    Samples,
    /// Samples of ports without an interval.
    #[error("sample_ports: it needs sample_ns")]
    SamplePorts,
    #[error("topology: {0}")]
    Topology(#[from] TopologyError),
    #[error("{of}: {problem}")]
    Ports { of: &'static str, problem: String },
    #[error("ranks: drawn: {0}")]
    Drawn(&'static str),
    #[error("transport {name}: {problem}")]
    Transport { name: String, problem: String },
    #[error(transparent)]
    Flows(#[from] FlowError),
}

/// A scenario. Its fields are described in `switch/simulator/SCENARIOS.md`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(default = "one")]
    seed: u64,
    end_ns: Nanos,
    sample_ns: Option<Nanos>,
    #[serde(default)]
    sample_ports: bool,
    /// Ports count packets that leave out of order.
    #[serde(default)]
    count_inversions: bool,
    topology: Shape,
    ports: Ports,
    /// Ports of hosts; by default FIFO without limit.
    hosts: Option<Ports>,
    #[serde(default)]
    ranks: Ranks,
    #[serde(default)]
    retransmissions: Retransmissions,
    /// Packets of receivers have the user of their flow.
    #[serde(default)]
    charge_answers: bool,
    #[serde(default)]
    events: Events,
    #[serde(default)]
    multipath: Multipath,
    /// Bytes of the headers of a frame; by default those of TCP or UDP over Ethernet.
    overhead_bytes: Option<u32>,
    /// Transports by name; the default of a flow is the first one.
    transports: Map<String, Value>,
    flows: Flows,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ports {
    #[serde(deserialize_with = "named")]
    scheme: SchemeOrDiscipline,
    queues: Option<usize>,
    queue_size: Option<usize>,
    window: Option<usize>,
    headroom_256: Option<u32>,
    window_shift: Option<i64>,
    /// Only for AFQ.
    bytes_per_round: Option<u32>,
    log_bytes_per_round: Option<u32>,
    wraps: Option<bool>,
    /// Only for disciplines without a program.
    quantum_bytes: Option<u32>,
    fair_among: Option<Among>,
    calendar: Option<ideals::Calendar>,
    tree: Option<Vec<ideals::Node>>,
    /// Only for DualPI2.
    dual_pi2: Option<DualPi2>,
    /// Parameters of the program's action, instead of the settings above.
    parameters: Option<BTreeMap<String, u64>>,
    /// Rules that differ from the papers' text, by name.
    #[serde(default)]
    variants: Vec<String>,
    /// Only with the variant `flowlet_queue`.
    flowlets: Option<Flowlets>,
    /// Only for FDPA.
    #[serde(default)]
    hold_us: u32,
    /// Bytes in a unit of rank, if ranks are start times.
    start_time_bytes: Option<u32>,
    /// A flow pays for dropped packets, too, if ranks are start times.
    charge_drops: Option<bool>,
    #[serde(default, deserialize_with = "target")]
    target: Target,
    mark_at_packets: Option<u32>,
    mark_at_bytes: Option<u64>,
    /// Only for FIFO.
    buffer_bytes: Option<u64>,
    /// Time between two copies of the lengths that the rule knows.
    #[serde(default)]
    length_period_ns: Nanos,
    /// Bytes of a cell, if the rule knows lengths in cells.
    #[serde(default)]
    cell_bytes: u32,
    memory: Option<SharedMemory>,
}

/// Settings of a table of flowlets.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flowlets {
    gap_ns: Option<Nanos>,
    cells: Option<usize>,
}

/// What a discipline is fair among.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Among {
    Flows,
    Users,
}

/// The memory that the ports of a switch share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedMemory {
    packets: u32,
    #[serde(default)]
    sharing: SharingRule,
    #[serde(default = "alpha_1")]
    alpha_256: u32,
    follow_every_ns: Option<Nanos>,
}

/// The rule that shares a memory.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SharingRule {
    #[default]
    DynamicThresholds,
    Abm,
    Occamy,
}

fn alpha_1() -> u32 {
    ALPHA_1
}

/// Settings of DualPI2, with the defaults of RFC 9332.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DualPi2 {
    target_ns: Option<Nanos>,
    rtt_max_ns: Option<Nanos>,
    min_th_ns: Option<Nanos>,
    range_ns: Option<Nanos>,
    coupling: Option<u32>,
    shift_ns: Option<Nanos>,
}

/// A scheme or a discipline by its name.
#[derive(Clone, Copy, Debug)]
enum SchemeOrDiscipline {
    Scheme(Scheme),
    Ideal(Discipline),
    DualPi2,
}

impl SchemeOrDiscipline {
    fn name(self) -> String {
        match self {
            SchemeOrDiscipline::Scheme(scheme) => scheme.name().to_owned(),
            SchemeOrDiscipline::Ideal(discipline) => p4sched_traffic_manager::name(discipline),
            SchemeOrDiscipline::DualPi2 => DUAL_PI2.to_owned(),
        }
    }

    /// The scheme, if it has programs.
    fn scheme(self) -> Option<Scheme> {
        match self {
            SchemeOrDiscipline::Scheme(scheme) => Some(scheme),
            SchemeOrDiscipline::Ideal(_) | SchemeOrDiscipline::DualPi2 => None,
        }
    }
}

/// Source of the flows.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Flows {
    /// A list in the scenario.
    List(Vec<FlowSpec>),
    /// A CSV file; its path is relative to the folder of the scenario.
    File(PathBuf),
    /// Random flows.
    Poisson(Poisson),
}

fn one() -> u64 {
    1
}

fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SchemeOrDiscipline, D::Error> {
    let name = String::deserialize(deserializer)?;
    let scheme = Scheme::named(&name).map(SchemeOrDiscipline::Scheme);
    scheme
        .or_else(|| ideals::named(&name).map(SchemeOrDiscipline::Ideal))
        .or_else(|| (name == DUAL_PI2).then_some(SchemeOrDiscipline::DualPi2))
        .ok_or_else(|| {
            let names: Vec<_> = crate::options::names(|_| true)
                .map(str::to_owned)
                .chain(ideals::names())
                .chain([DUAL_PI2.to_owned()])
                .collect();
            de::Error::custom(format!("there is no scheme {name}: use one of {}", names.join(", ")))
        })
}

fn target<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

fn read(file: &Path) -> Result<String, ScenarioError> {
    std::fs::read_to_string(file).map_err(|error| ScenarioError::Read {
        file: file.to_owned(),
        error,
    })
}

/// Reads a scenario and the files that it names.
///
/// # Errors
/// If a file cannot be read, or the scenario is not valid.
pub fn load(file: &Path) -> Result<Setup, ScenarioError> {
    let text = read(file)?;
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    let scenario: Scenario =
        serde_path_to_error::deserialize(&mut deserializer).map_err(|error| ScenarioError::Json {
            file: file.to_owned(),
            error,
        })?;
    deserializer.end().map_err(|error| ScenarioError::Rest {
        file: file.to_owned(),
        error,
    })?;
    scenario.setup(file.parent().unwrap_or(Path::new("")))
}

impl Scenario {
    /// Settings of the run. `folder`: the folder of the files that it names.
    ///
    /// # Errors
    /// Those of [`load`].
    pub fn setup(&self, folder: &Path) -> Result<Setup, ScenarioError> {
        if !(1..=LAST_NS).contains(&self.end_ns) {
            return Err(ScenarioError::End(self.end_ns));
        }
        if self.ranks == Ranks::StartTime && self.retransmissions != Retransmissions::Own {
            return Err(ScenarioError::Retransmissions);
        }
        let drawn = self.drawn()?;
        let topology = self.topology.topology(folder, |path| std::fs::read_to_string(path))?;
        let transports = self.transports()?;
        let (mss, overhead) = (transports[0].config.mss, transports[0].overhead_bytes);
        let frame_share = f64::from(mss + overhead) / f64::from(mss);
        let flows = self.flows(&topology, folder, frame_share)?;
        self.check_samples(&topology, flows.len())?;
        let start_time = self.ranks == Ranks::StartTime;
        let unlimited = PortConfig {
            scheduler: Scheduling::Scheme(Config::Fifo(PLENTY)),
            variants: Variants::NONE,
            flowlets: FlowletConfig::default(),
            hold_us: 0,
            fair_among: FairAmong::Flows,
            knowledge: Knowledge::default(),
            memory: None,
            start_time: None,
            mark_at: None,
            mark_at_bytes: None,
            buffer_bytes: None,
            measured: false,
            sampled: false,
            drawn_ranks: 0,
            counts_order: false,
            departure_events: self.events == Events::Netbench,
        };
        Ok(Setup {
            switch_ports: PortConfig {
                sampled: self.sample_ports,
                counts_order: self.count_inversions,
                departure_events: self.events == Events::Netbench,
                ..self.ports.config("ports", start_time, Some(drawn))?
            },
            host_ports: PortConfig {
                counts_order: self.count_inversions,
                departure_events: self.events == Events::Netbench,
                ..match &self.hosts {
                    None => unlimited,
                    Some(hosts) => hosts.config("hosts", start_time, None)?,
                }
            },
            topology,
            target: self.ports.target,
            ranks: self.ranks.clone(),
            retransmissions: self.retransmissions,
            charge_answers: self.charge_answers,
            events: self.events,
            multipath: self.multipath,
            program: None,
            transports,
            flows,
            seed: self.seed,
            end_ns: self.end_ns,
            sample_ns: self.sample_ns,
        })
    }

    fn check_samples(&self, topology: &Topology, flows: usize) -> Result<(), ScenarioError> {
        let ports = if self.sample_ports { topology.wires.len() } else { 0 };
        let most = MOST_SAMPLES / ((flows + ports) as Nanos).max(1);
        match self.sample_ns {
            None if self.sample_ports => Err(ScenarioError::SamplePorts),
            Some(every) if every == 0 || self.end_ns / every > most => Err(ScenarioError::Samples),
            _ => Ok(()),
        }
    }

    /// Number of ranks that are drawn; 0 if ranks have another source.
    fn drawn(&self) -> Result<usize, ScenarioError> {
        let Ranks::Drawn(weights) = &self.ranks else {
            return Ok(0);
        };
        let problem = if weights.is_empty() || weights.len() > MOST_DRAWN {
            "it has 1 to 65536 numbers"
        } else if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) {
            "no number is below 0"
        } else if !weights.iter().sum::<f64>().is_normal() {
            "a number must be above 0, and their sum below 10^308"
        } else {
            return Ok(weights.len());
        };
        Err(ScenarioError::Drawn(problem))
    }

    fn flows(&self, topology: &Topology, folder: &Path, frame_share: f64) -> Result<Vec<Flow>, ScenarioError> {
        let hosts = Hosts::new(topology);
        let transports: Vec<String> = self.transports.keys().cloned().collect();
        Ok(match &self.flows {
            Flows::List(listed) => from_list(listed, &hosts, &transports)?,
            Flows::File(name) => from_csv(&read(&folder.join(name))?, &hosts)?,
            Flows::Poisson(poisson) => poisson.flows(&hosts, frame_share, self.seed)?,
        })
    }

    fn transports(&self) -> Result<Vec<Transport>, ScenarioError> {
        let made = self.transports.iter().map(|(name, value)| {
            let mut config = transport_config(value).map_err(|problem| ScenarioError::Transport {
                name: name.clone(),
                problem,
            })?;
            let headers = match config.control {
                Control::Udp { .. } => UDP_HEADERS,
                _ => TCP_HEADERS,
            };
            let overhead_bytes = self.overhead_bytes.unwrap_or(headers);
            if let Control::Udp { rate_bps, seed, .. } = &mut config.control {
                *rate_bps = payload_rate(*rate_bps, config.mss, overhead_bytes);
                *seed = self.seed;
            }
            Ok(Transport {
                config: Arc::new(config),
                overhead_bytes,
            })
        });
        let made: Vec<Transport> = made.collect::<Result<_, ScenarioError>>()?;
        if made.is_empty() {
            return Err(ScenarioError::Transport {
                name: "list".to_owned(),
                problem: "it is empty: flows need one".to_owned(),
            });
        }
        Ok(made)
    }
}

impl Ports {
    /// The settings of the ports. `measured`: number of ranks that they count, if they record what they do.
    fn config(&self, of: &'static str, start_time: bool, measured: Option<usize>) -> Result<PortConfig, ScenarioError> {
        let scheduler = match self.scheme {
            SchemeOrDiscipline::Scheme(scheme) => self.scheme(scheme).map(Scheduling::Scheme),
            SchemeOrDiscipline::Ideal(discipline) => self.ideal(discipline).map(Scheduling::Ideal),
            SchemeOrDiscipline::DualPi2 => self.coupled().map(Scheduling::DualPi2),
        };
        let problem = |problem| ScenarioError::Ports { of, problem };
        if self.dual_pi2.is_some() && !matches!(self.scheme, SchemeOrDiscipline::DualPi2) {
            return Err(problem(format!("{} has no dual_pi2", self.scheme.name())));
        }
        Ok(PortConfig {
            scheduler: scheduler.map_err(problem)?,
            variants: self.variants().map_err(problem)?,
            flowlets: self.flowlets().map_err(problem)?,
            hold_us: self.held().map_err(problem)?,
            fair_among: self.fair_among().map_err(problem)?,
            knowledge: self.knowledge().map_err(problem)?,
            memory: self.memory(measured.is_some(), start_time).map_err(problem)?,
            start_time: self.start_time(start_time).map_err(problem)?,
            mark_at: self.mark_at_packets,
            mark_at_bytes: self.mark_at_bytes,
            buffer_bytes: self.in_bytes().map_err(problem)?,
            measured: measured.is_some(),
            sampled: false,
            drawn_ranks: measured.unwrap_or(0),
            counts_order: false,
            departure_events: false,
        })
    }
}

impl Ports {
    fn scheme(&self, scheme: Scheme) -> Result<Config, String> {
        if self.bytes_per_round.is_some() {
            return Err(format!("{} has no bytes_per_round; only AFQ has it", scheme.name()));
        }
        if self.log_bytes_per_round.is_some() {
            return Err(format!("{} has no log_bytes_per_round; only AFQ has it", scheme.name()));
        }
        if self.wraps.is_some() {
            return Err(format!("{} has no wraps; only AFQ has it", scheme.name()));
        }
        if self.quantum_bytes.is_some() || self.calendar.is_some() || self.tree.is_some() {
            return Err(format!("{} has no quantum_bytes, calendar or tree", scheme.name()));
        }
        let config = match &self.parameters {
            None => self.sized(scheme)?,
            Some(parameters) => self.parametrized(scheme, parameters)?,
        };
        let config = config.on(self.target);
        config.model().map_err(|error| error.to_string())?;
        Ok(config)
    }

    fn variants(&self) -> Result<Variants, String> {
        let scheme = self.scheme.name();
        let known = self.scheme.scheme().map_or([].as_slice(), Scheme::variants);
        if !self.variants.is_empty() && self.target != Target::V1model {
            return Err("variants are rules of the models for v1model".to_owned());
        }
        let found = self.variants.iter().map(|asked| {
            let found = known.iter().find(|variant| variant.name() == asked);
            found.copied().ok_or_else(|| match known {
                [] => format!("{scheme} has no variants"),
                _ => {
                    let names: Vec<_> = known.iter().map(|variant| variant.name()).collect();
                    format!("{scheme} has no variant {asked}: use {}", names.join(", "))
                }
            })
        });
        Ok(Variants::of(&found.collect::<Result<Vec<Variant>, String>>()?))
    }

    fn flowlets(&self) -> Result<FlowletConfig, String> {
        let default = FlowletConfig::default();
        let has = |variant: Variant| self.variants.iter().any(|asked| asked == variant.name());
        if has(Variant::FlowletQueue) && has(Variant::FlowQueue) {
            return Err("flow_queue and flowlet_queue: use one of them".to_owned());
        }
        let Some(asked) = self.flowlets else {
            return Ok(default);
        };
        if !has(Variant::FlowletQueue) {
            return Err("flowlets: it goes with the variant flowlet_queue".to_owned());
        }
        let config = FlowletConfig {
            gap: asked.gap_ns.unwrap_or(default.gap),
            cells: asked.cells.unwrap_or(default.cells),
        };
        config.check().map_err(|error| error.to_string())?;
        Ok(config)
    }

    fn held(&self) -> Result<u32, String> {
        let holds = matches!(self.scheme, SchemeOrDiscipline::Scheme(Scheme::Fdpa));
        match self.hold_us {
            0 => Ok(0),
            _ if !holds => Err(format!("{} has no hold_us; only FDPA has it", self.scheme.name())),
            _ if self.target != Target::V1model => Err("hold_us is for the model for v1model".to_owned()),
            hold_us => Ok(hold_us),
        }
    }

    /// How start times are counted, if they are the ranks.
    fn start_time(&self, ranks: bool) -> Result<Option<StartTime>, String> {
        for (key, given) in [
            ("start_time_bytes", self.start_time_bytes.is_some()),
            ("charge_drops", self.charge_drops.is_some()),
        ] {
            if given && !ranks {
                return Err(format!("{key}: it goes with ranks = start_time"));
            }
            if given && self.scheme.scheme().is_none() {
                return Err(format!("{} has no {key}", self.scheme.name()));
            }
        }
        let plain = StartTime::default();
        let shift = match self.start_time_bytes {
            None => plain.shift,
            Some(bytes) if bytes.is_power_of_two() => bytes.ilog2(),
            Some(bytes) => return Err(format!("start_time_bytes = {bytes}: it is a power of two")),
        };
        let charge_drops = self.charge_drops.unwrap_or(plain.charge_drops);
        Ok(ranks.then_some(StartTime { shift, charge_drops }))
    }

    fn fair_among(&self) -> Result<FairAmong, String> {
        match (self.fair_among, self.scheme) {
            (None | Some(Among::Flows), _) => Ok(FairAmong::Flows),
            (Some(Among::Users), SchemeOrDiscipline::Ideal(_)) => Ok(FairAmong::Users),
            (Some(Among::Users), _) => Err(format!("{} has no fair_among", self.scheme.name())),
        }
    }

    fn knowledge(&self) -> Result<Knowledge, String> {
        let knowledge = Knowledge {
            period: self.length_period_ns,
            cell_bytes: self.cell_bytes,
        };
        let name = self.scheme.name();
        let reads = self.scheme.scheme().is_some_and(Scheme::reads_lengths);
        if knowledge == Knowledge::default() {
            Ok(knowledge)
        } else if !reads {
            Err(format!(
                "{name} has no length_period_ns or cell_bytes: its rule reads no lengths"
            ))
        } else if self.target != Target::V1model {
            Err("length_period_ns and cell_bytes are for the models for v1model".to_owned())
        } else {
            Ok(knowledge)
        }
    }

    /// The memory of the ports. `of_switch`: true for those of a switch.
    fn memory(&self, of_switch: bool, start_time: bool) -> Result<Option<Memory>, String> {
        let Some(given) = &self.memory else {
            return Ok(None);
        };
        let name = self.scheme.name();
        let shares = self.scheme.scheme().is_some_and(Scheme::shares_memory);
        if !of_switch {
            return Err("memory: only the ports of a switch share one".to_owned());
        }
        if !shares {
            return Err(format!("memory: the queues of {name} cannot share one"));
        }
        if start_time {
            return Err("memory: with ranks = start_time the ports cannot share one".to_owned());
        }
        if self.target != Target::V1model {
            return Err("memory: it is for the models for v1model".to_owned());
        }
        if given.packets == 0 {
            return Err("memory: packets = 0: it is 1 or more".to_owned());
        }
        let config = MemoryConfig {
            packets: given.packets,
            sharing: match given.sharing {
                SharingRule::DynamicThresholds => MemorySharing::DynamicThresholds,
                SharingRule::Abm => MemorySharing::Abm,
                SharingRule::Occamy => MemorySharing::Occamy,
            },
            alpha_256: given.alpha_256,
        };
        config.check().map_err(|error| error.to_string())?;
        Ok(Some(Memory {
            config,
            follow_every: given.follow_every_ns,
        }))
    }

    /// Sizes that make schemes comparable are ignored where the discipline has no use for them, as by FIFO.
    fn ideal(&self, discipline: Discipline) -> Result<p4sched_traffic_manager::PortConfig, String> {
        if self.parameters.is_some() {
            let name = p4sched_traffic_manager::name(discipline);
            return Err(format!("{name} has {} only", ideals::SETTINGS));
        }
        let settings = ideals::Settings {
            queues: self.queues(Sizes::PAPER.queues)?,
            queue_size: self.queue_size.unwrap_or(Sizes::PAPER.queue_size),
            bytes_per_round: self.bytes_per_round,
            log_bytes_per_round: self.log_bytes_per_round,
            wraps: self.wraps.unwrap_or(false),
            quantum_bytes: self.quantum_bytes,
            calendar: self.calendar.clone().unwrap_or_default(),
            tree: self.tree.as_deref().unwrap_or_default(),
        };
        settings.port(discipline)
    }

    fn coupled(&self) -> Result<dual_pi2::Config, String> {
        let sets_ideal =
            self.quantum_bytes.is_some() || self.calendar.is_some() || self.tree.is_some() || self.wraps.is_some();
        if self.parameters.is_some() || self.round().is_some() || sets_ideal {
            return Err(format!("{DUAL_PI2} has queues, queue_size and {DUAL_PI2} only"));
        }
        let marks = [
            ("mark_at_packets", self.mark_at_packets.is_some()),
            ("mark_at_bytes", self.mark_at_bytes.is_some()),
        ];
        if let Some((name, _)) = marks.iter().find(|(_, given)| *given) {
            return Err(format!("{name}: {DUAL_PI2} marks packets itself"));
        }
        let packets = self.queue_size.unwrap_or(Sizes::PAPER.queue_size);
        let buffer = self.queues(Sizes::PAPER.queues)?.saturating_mul(packets);
        let asked = self.dual_pi2.unwrap_or_default();
        let default = dual_pi2::Config::internet(buffer);
        let target = asked.target_ns.unwrap_or(default.target);
        let config = dual_pi2::Config {
            buffer,
            target,
            rtt_max: asked.rtt_max_ns.unwrap_or(default.rtt_max),
            min_th: asked.min_th_ns.unwrap_or(default.min_th),
            range: asked.range_ns.unwrap_or(default.range),
            coupling: asked.coupling.unwrap_or(default.coupling),
            shift: asked.shift_ns.unwrap_or(target.saturating_mul(2)),
        };
        config.check()?;
        Ok(config)
    }

    /// FIFO's size in bytes of frames, if it has one.
    fn in_bytes(&self) -> Result<Option<u64>, String> {
        if self.mark_at_packets.is_some() && self.mark_at_bytes.is_some() {
            return Err("mark_at_bytes stands in place of mark_at_packets".to_owned());
        }
        let Some(bytes) = self.buffer_bytes else {
            return Ok(None);
        };
        if !matches!(self.scheme, SchemeOrDiscipline::Scheme(Scheme::Fifo)) {
            return Err(format!(
                "buffer_bytes: {} has a size in packets only",
                self.scheme.name()
            ));
        }
        if self.queue_size.is_some() || self.queues.is_some() || self.parameters.is_some() || self.memory.is_some() {
            return Err("buffer_bytes stands in place of queues, queue_size, parameters and memory".to_owned());
        }
        if bytes == 0 {
            return Err("buffer_bytes: 0 bytes hold no packet".to_owned());
        }
        Ok(Some(bytes))
    }

    /// A number for AFQ's rounds.
    fn round(&self) -> Option<u32> {
        self.bytes_per_round.or(self.log_bytes_per_round)
    }

    fn queues(&self, otherwise: usize) -> Result<usize, String> {
        match self.queues {
            Some(queues) if queues > MOST_QUEUES => Err(format!("{queues} queues at a port: at most {MOST_QUEUES}")),
            queues => Ok(queues.unwrap_or(otherwise)),
        }
    }

    fn sized(&self, scheme: Scheme) -> Result<Config, String> {
        let paper = Sizes::PAPER;
        let headroom = Headroom::new(self.headroom_256.unwrap_or(0), 8);
        let sizes = Sizes {
            queues: self.queues(paper.queues)?,
            queue_size: match self.buffer_bytes {
                Some(_) => PLENTY / paper.queues,
                None => self.queue_size.unwrap_or(paper.queue_size),
            },
            window: self.window.unwrap_or(paper.window),
            headroom: headroom.map_err(|error| error.to_string())?,
            window_shift: self.window_shift.unwrap_or(paper.window_shift),
            target: self.target,
        };
        scheme.config(&sizes).map_err(|error| match error {
            ConfigError::MoreThanSizes { .. } => {
                let (name, parameters) = (scheme.name(), scheme.p4().parameters.join(", "));
                format!("{error}: give {name} \"parameters\" in place of sizes, by name: {parameters}")
            }
            error => error.to_string(),
        })
    }

    /// Configuration from parameters by name, as in the program's action.
    fn parametrized(&self, scheme: Scheme, parameters: &BTreeMap<String, u64>) -> Result<Config, String> {
        let sizes = (
            self.queues,
            self.queue_size,
            self.window,
            self.headroom_256,
            self.window_shift,
        );
        if sizes != (None, None, None, None, None) {
            return Err(
                "parameters stand in place of queues, queue_size, window, headroom_256 and window_shift".to_owned(),
            );
        }
        let known = scheme.p4().parameters;
        if let Some(name) = parameters.keys().find(|name| !known.contains(&name.as_str())) {
            let (scheme, known) = (scheme.name(), known.join(", "));
            return Err(format!("{scheme} has no parameter {name}: it has {known}"));
        }
        let arguments = known.iter().map(|&name| parameters.get(name).copied().unwrap_or(0));
        let arguments: Vec<u64> = arguments.collect();
        scheme.from_arguments(&arguments).map_err(|error| error.to_string())
    }
}

/// The rate of payload, from that of frames.
fn payload_rate(frames_bps: u64, mss: u32, overhead_bytes: u32) -> u64 {
    let (payload, frame) = (
        u128::from(mss),
        u128::from((mss.saturating_add(overhead_bytes)).max(MIN_FRAME)),
    );
    let rate = (u128::from(frames_bps) * payload + frame / 2) / frame;
    u64::try_from(rate).unwrap_or(u64::MAX).max(1)
}

/// A transport: the settings of Linux, of a data centre, or of pFabric's hosts for a round-trip time, changed by the
/// scenario.
fn transport_config(value: &Value) -> Result<transport::Config, String> {
    let Some(value) = value.as_object() else {
        return Err("it must be an object with a control".to_owned());
    };
    let control = value.get("control").ok_or("it has no control")?;
    if control == "udp" {
        return Err(
            r#"control: udp has a rate in bit/s of frames: "control": {"udp": {"rate_bps": 10000000}}"#.to_owned(),
        );
    }
    let control: Control = serde_json::from_value(control.clone()).map_err(|error| format!("control: {error}"))?;
    let mut settings = value.clone();
    let preset = settings.remove(PRESET);
    let config = match settings.remove(ROUND_TRIP) {
        Some(_) if preset.is_some() => return Err(format!("{PRESET} and {ROUND_TRIP}: use one of them")),
        None => match preset.as_ref().map(|name| name.as_str()) {
            None => transport::Config::kernel(control),
            Some(Some("linux")) => transport::Config::kernel(control),
            Some(Some("data_centre")) => transport::Config::data_centre(control),
            Some(_) => return Err(format!("{PRESET}: it is linux or data_centre")),
        },
        Some(_) if control != Control::PFabric => return Err(format!("{ROUND_TRIP} is a setting of pfabric alone")),
        Some(round_trip) => {
            let wanted = settings.get("initial_window").and_then(Value::as_u64);
            let window = wanted.and_then(|window| u32::try_from(window).ok());
            let round_trip = round_trip.as_u64().filter(|&ns| ns > 0 && ns <= LAST_NS / 3);
            let (Some(round_trip), Some(window)) = (round_trip, window) else {
                return Err(format!(
                    "{ROUND_TRIP} must be above 0 ns, together with initial_window, the segments in flight"
                ));
            };
            transport::Config::pfabric(round_trip, window)
        }
    };
    let mut all = match serde_json::to_value(config) {
        Ok(Value::Object(all)) => all,
        other => return Err(format!("no settings but {other:?}")),
    };
    for (name, value) in settings {
        all.insert(name, value);
    }
    let config: transport::Config = serde_path_to_error::deserialize(Value::Object(all)).map_err(|e| e.to_string())?;
    config.validate().map_err(|error| error.to_string())?;
    Ok(config)
}
