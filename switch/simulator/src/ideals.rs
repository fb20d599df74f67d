//! Disciplines of the traffic manager by their names in a scenario: the ideals that have no program.

use p4sched_schedulers::config::{MAX_PACKETS, in_range};
use p4sched_schedulers::{Nanos, Scheme};
use p4sched_traffic_manager::{
    CalendarConfig, CalendarPlace, DEFAULT_QUANTUM_BYTES, DISCIPLINES, Discipline, NodeConfig, PortConfig,
    SCALE_OF_WEIGHT_1, TreeConfig, name, one_buffer,
};
use serde::{Deserialize, Deserializer, de};

/// Settings that a scenario may give for these disciplines.
pub const SETTINGS: &str =
    "queues, queue_size, bytes_per_round, log_bytes_per_round, wraps, quantum_bytes, calendar and tree";

/// Default round of AFQ: the smallest power of two that a full frame fits into.
const LOG_BYTES_PER_ROUND: u32 = 11;

/// Disciplines with one buffer, except those with the name of a scheme: the scheme has a program. Gearbox and SCRR are
/// schemes of `schedulers/`, which a file describes.
fn all() -> impl Iterator<Item = Discipline> {
    let described = |one| matches!(one, Discipline::Gearbox | Discipline::Scrr);
    let disciplines = DISCIPLINES.iter().copied();
    disciplines.filter(move |&one| one_buffer(one) && !described(one) && Scheme::named(&name(one)).is_none())
}

pub fn names() -> impl Iterator<Item = String> {
    all().map(name)
}

/// Finds a discipline by its name.
pub fn named(asked: &str) -> Option<Discipline> {
    all().find(|&one| name(one) == asked)
}

fn node_discipline<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Discipline, D::Error> {
    let asked = String::deserialize(deserializer)?;
    let found = DISCIPLINES.iter().copied().find(|&one| name(one) == asked);
    found.ok_or_else(|| de::Error::custom(format!("there is no discipline {asked}")))
}

/// Choice of the round of a packet.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RoundChoice {
    #[default]
    Ahead,
    Rank,
}

/// Rounds of a calendar.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Calendar {
    turn_bytes: u64,
    turn_ns: Nanos,
    place: RoundChoice,
    rank_width: u64,
}

/// A node of a scheduling tree.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    #[serde(default)]
    parent: u32,
    #[serde(deserialize_with = "node_discipline")]
    discipline: Discipline,
    #[serde(default)]
    queue_size: u32,
    #[serde(default)]
    quantum_bytes: u32,
    #[serde(default = "weight_1")]
    scale: u32,
}

fn weight_1() -> u32 {
    SCALE_OF_WEIGHT_1
}

/// Settings of the ports in a scenario.
pub struct Settings<'a> {
    /// Queues of a calendar.
    pub queues: usize,
    /// Packets in each queue; the buffer holds as many as all queues together.
    pub queue_size: usize,
    /// Bytes in a round of AFQ, or log2 of them.
    pub bytes_per_round: Option<u32>,
    pub log_bytes_per_round: Option<u32>,
    /// AFQ as in Netbench.
    pub wraps: bool,
    /// Quantum of DRR.
    pub quantum_bytes: Option<u32>,
    pub calendar: Calendar,
    pub tree: &'a [Node],
}

impl Settings<'_> {
    /// Configuration of a port with this discipline.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn port(&self, discipline: Discipline) -> Result<PortConfig, String> {
        let size = in_range("queue size", self.queue_size, 1, MAX_PACKETS, "packets");
        size.map_err(|error| error.to_string())?;
        let log = self.log_bytes_per_round.unwrap_or(LOG_BYTES_PER_ROUND);
        let too_long = || format!("log_bytes_per_round = {log}: it is 0 to 31");
        let bytes_per_round = match (self.bytes_per_round, self.log_bytes_per_round) {
            (Some(_), Some(_)) => return Err("bytes_per_round stands in place of log_bytes_per_round".to_owned()),
            (Some(0), None) => return Err("bytes_per_round: 0 bytes are no round".to_owned()),
            (Some(bytes), None) => bytes,
            (None, _) => 1_u32.checked_shl(log).ok_or_else(too_long)?,
        };
        if self.wraps && discipline != Discipline::Afq {
            return Err(format!("{} has no wraps; only AFQ has it", name(discipline)));
        }
        if self.calendar.turn_ns != 0 {
            return Err("calendar: turn_ns: a port of a scenario sends whenever something waits".to_owned());
        }
        let packets = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let config = PortConfig {
            discipline,
            buffer_packets: packets(self.queues.saturating_mul(self.queue_size)),
            quantum_bytes: self.quantum_bytes.unwrap_or(DEFAULT_QUANTUM_BYTES),
            calendar: CalendarConfig {
                queues: packets(self.queues),
                queue_packets: packets(self.queue_size),
                bytes_per_round,
                turn_bytes: self.calendar.turn_bytes,
                place: match self.calendar.place {
                    RoundChoice::Ahead => CalendarPlace::Ahead,
                    RoundChoice::Rank => CalendarPlace::Rank,
                },
                rank_width: self.calendar.rank_width,
                wraps: self.wraps,
                ..CalendarConfig::default()
            },
            tree: TreeConfig {
                nodes: self.tree.iter().map(node).collect(),
            },
            ..PortConfig::default()
        };
        let problem = |error: String| error.trim_start_matches("port 0: ").to_owned();
        config.check(0).map_err(|error| problem(error.to_string()))?;
        Ok(config)
    }
}

fn node(node: &Node) -> NodeConfig {
    NodeConfig {
        buffer_packets: node.queue_size,
        quantum_bytes: node.quantum_bytes,
        scale: node.scale,
        ..NodeConfig::new(node.parent, node.discipline)
    }
}
