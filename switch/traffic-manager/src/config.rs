//! The settings of a port: rate, delay, discipline and buffer sizes.

use std::ops::RangeInclusive;

use thiserror::Error;

use crate::packet::{Nanos, Port, SCALE_OF_WEIGHT_1};
use crate::{DISCIPLINES, check};

pub use p4sched_proto::p4sched::v1::{CalendarPlace, Discipline};

/// The name of a discipline on command lines and in messages, for example `drr`.
pub fn name(discipline: Discipline) -> String {
    let name = discipline.as_str_name();
    name.strip_prefix("DISCIPLINE_").unwrap_or(name).to_lowercase()
}

/// Number of priorities, and so of strict queues, of a port. Priorities are 0..=7; 7 is the most urgent, as in BMv2.
pub const QUEUES: usize = 8;

/// Default size of a queue in packets, the same as in BMv2's `simple_switch`.
pub const DEFAULT_SIZE_PACKETS: u32 = 64;

/// Default DRR quantum in bytes: one full Ethernet frame without FCS, the smallest for which DRR is O(1).
pub const DEFAULT_QUANTUM_BYTES: u32 = 1514;

/// Smallest valid DRR quantum, in bytes. A packet costs about length / quantum visits.
pub const MIN_QUANTUM_BYTES: u32 = 64;

/// Default number n of queues in the calendar of [`Discipline::Afq`]. PACKS section 6.2 compares AFQ with schemes that
/// have as many queues.
pub const DEFAULT_CALENDAR_QUEUES: u32 = 32;

pub const MAX_CALENDAR_QUEUES: u32 = 4096;

/// Default number of levels of [`Discipline::Gearbox`].
pub const DEFAULT_LEVELS: u32 = 2;

/// Largest number of levels of [`Discipline::Gearbox`].
pub const MAX_LEVELS: u32 = 8;

/// Largest number of rounds that the levels of [`Discipline::Gearbox`] reach together: queues ^ levels.
pub const MAX_ROUNDS: u64 = 1 << 32;

/// Number of versions of [`Discipline::Scrr`].
pub const SCRR_VERSIONS: u32 = 6;

pub const MAX_TREE_NODES: usize = 256;

/// Valid values of 256 / weight of a child in a tree: weights from 1/256 to 16. A frame of 64 bytes costs at least 4.
pub const SCALES: RangeInclusive<u32> = 16..=65_536;

/// Largest Ethernet frame without FCS, in bytes.
pub const LARGEST_FRAME_BYTES: u32 = 1514;

/// Lowest rate of a shaped port, in bit/s. At this rate a full frame holds the link for 12 s. A frame on the link ends
/// at the rate it began with, so a much lower rate would keep a port busy long after the rate was corrected.
pub const MIN_RATE_BPS: u64 = 1000;

/// Longest valid propagation delay: 60 s.
pub const MAX_DELAY_NS: Nanos = 60_000_000_000;

/// One queue of a strict-priority port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueConfig {
    /// Size in packets; 0 refuses every packet.
    pub size_packets: u32,
    /// Rate of BMv2's limiter in packets per second (`set_queue_rate`); 0: no limit.
    pub rate_pps: u64,
}

impl Default for QueueConfig {
    fn default() -> Self {
        QueueConfig {
            size_packets: DEFAULT_SIZE_PACKETS,
            rate_pps: 0,
        }
    }
}

/// A calendar: one queue for each of the coming rounds. [`Discipline::Gearbox`] has levels of calendars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarConfig {
    /// n, the number of rounds that a packet can be filed for. Each round has its own queue.
    pub queues: u32,
    /// Size of each queue in packets; 0: only the buffer limits it.
    pub queue_packets: u32,
    /// The bytes that a user may send in one round: BpR of [`Discipline::Afq`], g of [`Discipline::Gearbox`].
    pub bytes_per_round: u32,
    /// Q, the number of bytes after which the head of [`Discipline::Calendar`] moves on; 0: no limit.
    pub turn_bytes: u64,
    /// T, the duration of a round of [`Discipline::Calendar`] in ns; 0: a round lasts until its queue is empty.
    pub turn_ns: Nanos,
    /// The rule that chooses the round of a packet in [`Discipline::Calendar`].
    pub place: CalendarPlace,
    /// Number of ranks per round, for [`CalendarPlace::Rank`].
    pub rank_width: u64,
    /// L, the number of levels of [`Discipline::Gearbox`]. A round of a level is `queues` rounds of the level below.
    pub levels: u32,
    /// Rounds that a user of [`Discipline::Gearbox`] may be ahead; 0: as many as the levels reach.
    pub burst_rounds: u32,
    /// Whether a level of [`Discipline::Gearbox`] holds all of its current and its next set of queues, which keeps the
    /// order of a user's packets.
    pub whole_sets: bool,
    /// In [`Discipline::Afq`] a packet that is n rounds ahead goes into the queue that is served, as in Netbench, and is
    /// not dropped.
    pub wraps: bool,
}

impl CalendarConfig {
    /// Size of a queue in packets.
    pub(crate) fn room(&self) -> usize {
        match self.queue_packets {
            0 => usize::MAX,
            packets => packets as usize,
        }
    }
}

impl Default for CalendarConfig {
    fn default() -> Self {
        CalendarConfig {
            queues: DEFAULT_CALENDAR_QUEUES,
            queue_packets: 0,
            bytes_per_round: LARGEST_FRAME_BYTES,
            turn_bytes: 0,
            turn_ns: 0,
            place: CalendarPlace::Priority,
            rank_width: 0,
            levels: DEFAULT_LEVELS,
            burst_rounds: 0,
            whole_sets: true,
            wraps: false,
        }
    }
}

/// The settings of [`Discipline::Scrr`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScrrConfig {
    /// Packets that one user may have in the buffer; 0: only the buffer limits it.
    pub flow_packets: u32,
    /// The version of the rule: 0 basic, 1 scrr, 2 npm, 3 nmia, 4 nmne, 5 neia.
    pub version: u32,
}

impl ScrrConfig {
    /// Packets that one user may have in the buffer.
    pub(crate) fn room(&self) -> usize {
        match self.flow_packets {
            0 => usize::MAX,
            packets => packets as usize,
        }
    }
}

impl Default for ScrrConfig {
    /// The last version of the authors.
    fn default() -> Self {
        ScrrConfig {
            flow_packets: 0,
            version: SCRR_VERSIONS - 1,
        }
    }
}

/// One node of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeConfig {
    /// Number of the parent. It is ignored for the root, which is the first node.
    pub parent: u32,
    /// The order in which the node sends its elements.
    pub discipline: Discipline,
    /// Size of a leaf in packets; 0: the size of the port's buffer.
    pub buffer_packets: u32,
    /// Quantum of [`Discipline::Drr`] in bytes; 0: the quantum of the port.
    pub quantum_bytes: u32,
    /// 256 / weight of the node among its siblings, if the parent is [`Discipline::Stfq`].
    pub scale: u32,
}

impl NodeConfig {
    /// A node of weight 1 with the buffer size and the quantum of the port.
    pub fn new(parent: u32, discipline: Discipline) -> NodeConfig {
        NodeConfig {
            parent,
            discipline,
            buffer_packets: 0,
            quantum_bytes: 0,
            scale: SCALE_OF_WEIGHT_1,
        }
    }
}

/// The shape of [`Discipline::Tree`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeConfig {
    /// The root is first, and each other node comes after its parent. Nodes without children are the leaves.
    pub nodes: Vec<NodeConfig>,
}

impl TreeConfig {
    pub fn is_leaf(&self, number: usize) -> bool {
        !self.nodes.iter().skip(1).any(|node| node.parent as usize == number)
    }

    pub fn leaves(&self) -> impl Iterator<Item = u32> {
        (0..self.nodes.len())
            .filter(|&number| self.is_leaf(number))
            .map(|number| number as u32)
    }

    /// The level of each node; the root's is 0. A parent comes before its children.
    pub(crate) fn levels(&self) -> Vec<usize> {
        let mut levels: Vec<usize> = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            levels.push(if number == 0 {
                0
            } else {
                levels[node.parent as usize] + 1
            });
        }
        levels
    }
}

/// All settings of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortConfig {
    /// Rate of the whole port in bit/s of Ethernet frames, without FCS, preamble and gap; 0: not shaped.
    pub rate_bps: u64,
    /// Propagation delay of the link behind the port, in ns.
    pub delay_ns: Nanos,
    /// The rule that chooses the next packet to send and the packet to drop.
    pub discipline: Discipline,
    /// The eight queues of [`Discipline::Strict`], index = priority. Other disciplines do not use them.
    pub queues: [QueueConfig; QUEUES],
    /// Size in packets of the shared buffer, for disciplines that have one ([`crate::one_buffer`]).
    pub buffer_packets: u32,
    /// Bytes that a user may send in one round of [`Discipline::Drr`].
    pub quantum_bytes: u32,
    /// The rounds of [`Discipline::Afq`], [`Discipline::Calendar`] and [`Discipline::Gearbox`].
    pub calendar: CalendarConfig,
    pub scrr: ScrrConfig,
    /// The nodes of [`Discipline::Tree`].
    pub tree: TreeConfig,
}

impl Default for PortConfig {
    /// No shaping, no delay, strict priority, and BMv2's size for every queue.
    fn default() -> Self {
        PortConfig {
            rate_bps: 0,
            delay_ns: 0,
            discipline: Discipline::Strict,
            queues: [QueueConfig::default(); QUEUES],
            buffer_packets: DEFAULT_SIZE_PACKETS,
            quantum_bytes: DEFAULT_QUANTUM_BYTES,
            calendar: CalendarConfig::default(),
            scrr: ScrrConfig::default(),
            tree: TreeConfig::default(),
        }
    }
}

impl PortConfig {
    /// Checks that every value is valid.
    ///
    /// # Errors
    /// Names the port, the value and the valid range.
    pub fn check(&self, port: Port) -> Result<(), ConfigError> {
        if self.rate_bps != 0 && self.rate_bps < MIN_RATE_BPS {
            return Err(ConfigError::Rate {
                port,
                rate_bps: self.rate_bps,
            });
        }
        if self.delay_ns > MAX_DELAY_NS {
            return Err(ConfigError::Delay {
                port,
                delay_ns: self.delay_ns,
            });
        }
        if self.quantum_bytes < MIN_QUANTUM_BYTES {
            return Err(ConfigError::Quantum {
                port,
                quantum_bytes: self.quantum_bytes,
            });
        }
        let queues = self.calendar.queues;
        if !(1..=MAX_CALENDAR_QUEUES).contains(&queues) {
            return Err(ConfigError::CalendarQueues { port, queues });
        }
        if self.calendar.place == CalendarPlace::Unspecified {
            return Err(ConfigError::CalendarPlace { port });
        }
        check(port, self)
    }
}

/// The names of all disciplines, for example `strict, fifo or drr`.
fn choices() -> String {
    let names: Vec<String> = DISCIPLINES.iter().copied().map(name).collect();
    let (last, others) = names.split_last().expect("there are disciplines");
    format!("{} or {last}", others.join(", "))
}

/// An invalid port configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// No discipline, or an unknown one.
    #[error("port {port}: the discipline is missing or unknown; use {}", choices())]
    Discipline { port: Port },
    /// A rate between 1 and [`MIN_RATE_BPS`] bit/s.
    #[error("port {port}: rate of {rate_bps} bit/s is too low; use at least {MIN_RATE_BPS} bit/s, or 0 for no shaping")]
    Rate { port: Port, rate_bps: u64 },
    /// A delay above [`MAX_DELAY_NS`].
    #[error("port {port}: propagation delay of {delay_ns} ns is too long; use at most {MAX_DELAY_NS} ns")]
    Delay { port: Port, delay_ns: Nanos },
    /// A quantum below [`MIN_QUANTUM_BYTES`].
    #[error(
        "port {port}: DRR quantum of {quantum_bytes} bytes is too small; use at least {MIN_QUANTUM_BYTES}, \
         best the largest frame ({DEFAULT_QUANTUM_BYTES})"
    )]
    Quantum { port: Port, quantum_bytes: u32 },
    /// A calendar without queues, or with more than [`MAX_CALENDAR_QUEUES`].
    #[error("port {port}: the calendar has {queues} queues; use 1 to {MAX_CALENDAR_QUEUES}")]
    CalendarQueues { port: Port, queues: u32 },
    /// A calendar whose rounds together cannot hold a full frame, so that no such frame would ever pass.
    #[error(
        "port {port}: {queues} rounds of {bytes_per_round} bytes cannot hold a frame of {LARGEST_FRAME_BYTES} bytes; \
         use more queues or more bytes a round"
    )]
    CalendarBytes {
        port: Port,
        queues: u32,
        bytes_per_round: u32,
    },
    /// An unknown place.
    #[error("port {port}: the calendar's place is missing or unknown; use priority, ahead or rank")]
    CalendarPlace { port: Port },
    /// A calendar that moves on both by bytes and by time.
    #[error(
        "port {port}: a calendar turns after {turn_bytes} bytes or after {turn_ns} ns, not after both; set one of them to 0"
    )]
    CalendarTurn {
        port: Port,
        /// Q.
        turn_bytes: u64,
        /// T.
        turn_ns: Nanos,
    },
    /// A calendar by rank without the number of ranks per round.
    #[error("port {port}: a calendar by rank needs rank_width, the number of ranks of one round; use 1 or more")]
    CalendarWidth { port: Port },
    /// Levels that do not exist, or that reach more than [`MAX_ROUNDS`] rounds, or rounds of no byte.
    #[error(
        "port {port}: {levels} levels of {queues} queues with rounds of {bytes_per_round} bytes: gearbox has 1 to {MAX_LEVELS} \
         levels, queues ^ levels is at most {MAX_ROUNDS}, and a round has at least one byte"
    )]
    Gearbox {
        port: Port,
        /// L.
        levels: u32,
        /// N.
        queues: u32,
        /// g.
        bytes_per_round: u32,
    },
    /// An unknown version of SCRR.
    #[error("port {port}: scrr has no version {version}; use 0 to {}", SCRR_VERSIONS - 1)]
    ScrrVersion { port: Port, version: u32 },
    /// No rule to share the memory, or an unknown one.
    #[error("memory: its sharing is missing or unknown; use dynamic_thresholds, abm or occamy")]
    Sharing,
    /// An alpha of 0.
    #[error("memory: alpha_256 is 0, so no queue could take a packet; use 1 or more, and 256 for an alpha of 1")]
    Alpha,
    /// An invalid tree.
    #[error("port {port}: tree: {problem}")]
    Tree { port: Port, problem: String },
}
