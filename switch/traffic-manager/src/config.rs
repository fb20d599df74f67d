//! What a port is told to do: rate, delay, discipline, room.

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

/// Priorities, and so strict queues, of a port: 0..=7, 7 the most urgent, as in BMv2.
pub const QUEUES: usize = 8;

/// Room of a queue in packets until told otherwise; BMv2's `simple_switch` starts with the same.
pub const DEFAULT_SIZE_PACKETS: u32 = 64;

/// Default DRR quantum in bytes: one full Ethernet frame without FCS, the smallest for which DRR is O(1).
pub const DEFAULT_QUANTUM_BYTES: u32 = 1514;

/// Smallest DRR quantum accepted, in bytes. Each packet costs about length / quantum visits.
pub const MIN_QUANTUM_BYTES: u32 = 64;

/// Default number n of queues in the calendar of [`Discipline::Afq`]: as many as the schemes of several queues have in the
/// comparison with AFQ of PACKS 6.2.
pub const DEFAULT_CALENDAR_QUEUES: u32 = 32;

/// Most queues of a calendar.
pub const MAX_CALENDAR_QUEUES: u32 = 4096;

/// Most nodes of a tree.
pub const MAX_TREE_NODES: usize = 256;

/// 256 / weight of a child in a tree: weights from 1/256 to 16, so that a frame of 64 bytes costs at least 4.
pub const SCALES: RangeInclusive<u32> = 16..=65_536;

/// Largest Ethernet frame without FCS, in bytes.
pub const LARGEST_FRAME_BYTES: u32 = 1514;

/// Lowest rate of a shaped port, in bit/s: a full frame then holds the link for 12 s. A frame on the link ends at the
/// rate it began with, so a much lower rate would keep a port busy long after the rate was corrected.
pub const MIN_RATE_BPS: u64 = 1000;

/// Longest propagation delay accepted: 60 s.
pub const MAX_DELAY_NS: Nanos = 60_000_000_000;

/// One queue of a strict-priority port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueConfig {
    /// Room in packets. 0 refuses every packet.
    pub size_packets: u32,
    /// BMv2's limiter in packets a second (`set_queue_rate`); 0: none.
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

/// A calendar: a queue for each of the coming rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarConfig {
    /// n, the rounds that packets can be filed for; each has a queue of its own.
    pub queues: u32,
    /// Room of each queue in packets; 0: only the buffer limits it.
    pub queue_packets: u32,
    /// BpR, the bytes that a user may send in one round of [`Discipline::Afq`].
    pub bytes_per_round: u32,
    /// Q, the bytes after which the head of [`Discipline::Calendar`] moves on; 0: any number.
    pub turn_bytes: u64,
    /// T, how long a round of [`Discipline::Calendar`] lasts; 0: until its queue is empty.
    pub turn_ns: Nanos,
    /// What says for which round of [`Discipline::Calendar`] a packet is filed.
    pub place: CalendarPlace,
    /// Ranks of a round, where the rank is its number times this.
    pub rank_width: u64,
}

impl CalendarConfig {
    /// Packets that a queue can hold.
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
        }
    }
}

/// One node of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeConfig {
    /// The number of its parent; the root, which is the first node, has none.
    pub parent: u32,
    /// How it orders what waits in it.
    pub discipline: Discipline,
    /// Room of a leaf in packets; 0: the buffer of the port.
    pub buffer_packets: u32,
    /// Quantum of [`Discipline::Drr`]; 0: that of the port.
    pub quantum_bytes: u32,
    /// 256 / weight of the node among the children of its parent, for a parent that is [`Discipline::Stfq`].
    pub scale: u32,
}

impl NodeConfig {
    /// A node of weight 1 with the port's room and quantum.
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
    /// The root first, each other one behind its parent. Those without children are the leaves.
    pub nodes: Vec<NodeConfig>,
}

impl TreeConfig {
    /// Whether a node has no children.
    pub fn is_leaf(&self, number: usize) -> bool {
        !self.nodes.iter().skip(1).any(|node| node.parent as usize == number)
    }

    /// The numbers of the leaves.
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

/// Everything a port can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortConfig {
    /// Rate of the whole port in bit/s of Ethernet frames, without FCS, preamble and gap; 0: not shaped.
    pub rate_bps: u64,
    /// Propagation delay of the link behind the port, in ns.
    pub delay_ns: Nanos,
    /// Which packet is sent next, and which one is given up.
    pub discipline: Discipline,
    /// The eight queues of [`Discipline::Strict`], index = priority. Other disciplines don't use them.
    pub queues: [QueueConfig; QUEUES],
    /// Room in packets of the one buffer of disciplines that have one ([`crate::one_buffer`]).
    pub buffer_packets: u32,
    /// Bytes a user may send in one round of [`Discipline::Drr`].
    pub quantum_bytes: u32,
    /// The rounds of [`Discipline::Afq`] and [`Discipline::Calendar`].
    pub calendar: CalendarConfig,
    /// The nodes of [`Discipline::Tree`].
    pub tree: TreeConfig,
}

impl Default for PortConfig {
    /// Not shaped, no delay, strict priority, BMv2's size for every queue.
    fn default() -> Self {
        PortConfig {
            rate_bps: 0,
            delay_ns: 0,
            discipline: Discipline::Strict,
            queues: [QueueConfig::default(); QUEUES],
            buffer_packets: DEFAULT_SIZE_PACKETS,
            quantum_bytes: DEFAULT_QUANTUM_BYTES,
            calendar: CalendarConfig::default(),
            tree: TreeConfig::default(),
        }
    }
}

impl PortConfig {
    /// Checks the values that a port can not work with.
    ///
    /// # Errors
    /// Names the port, the value and the range that would be right.
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

/// The names of all disciplines: `strict, fifo or drr`.
fn choices() -> String {
    let names: Vec<String> = DISCIPLINES.iter().copied().map(name).collect();
    let (last, others) = names.split_last().expect("there are disciplines");
    format!("{} or {last}", others.join(", "))
}

/// A port configuration that can not work.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// No discipline, or one that this switch does not know.
    #[error("port {port}: the discipline is {}", choices())]
    Discipline {
        /// The port.
        port: Port,
    },
    /// Rate between 1 and [`MIN_RATE_BPS`] bit/s.
    #[error("port {port}: rate of {rate_bps} bit/s is too low; use at least {MIN_RATE_BPS} bit/s, or 0 for no shaping")]
    Rate {
        /// The port.
        port: Port,
        /// What was asked for.
        rate_bps: u64,
    },
    /// Delay above [`MAX_DELAY_NS`].
    #[error("port {port}: propagation delay of {delay_ns} ns is too long; use at most {MAX_DELAY_NS} ns")]
    Delay {
        /// The port.
        port: Port,
        /// What was asked for.
        delay_ns: Nanos,
    },
    /// Quantum below [`MIN_QUANTUM_BYTES`].
    #[error(
        "port {port}: DRR quantum of {quantum_bytes} bytes is too small; use at least {MIN_QUANTUM_BYTES}, \
         best the largest frame ({DEFAULT_QUANTUM_BYTES})"
    )]
    Quantum {
        /// The port.
        port: Port,
        /// What was asked for.
        quantum_bytes: u32,
    },
    /// A calendar without queues, or with more than [`MAX_CALENDAR_QUEUES`].
    #[error("port {port}: a calendar of {queues} queues; use 1 to {MAX_CALENDAR_QUEUES}")]
    CalendarQueues {
        /// The port.
        port: Port,
        /// What was asked for.
        queues: u32,
    },
    /// A calendar whose rounds together do not hold a full frame, so that no such frame would ever pass.
    #[error(
        "port {port}: {queues} rounds of {bytes_per_round} bytes can not hold a frame of {LARGEST_FRAME_BYTES} bytes; \
         use more queues or more bytes a round"
    )]
    CalendarBytes {
        /// The port.
        port: Port,
        /// Rounds.
        queues: u32,
        /// Bytes a user has in a round.
        bytes_per_round: u32,
    },
    /// A place that this switch does not know.
    #[error("port {port}: the place of a calendar is priority, ahead or rank")]
    CalendarPlace {
        /// The port.
        port: Port,
    },
    /// A calendar that turns both by bytes and by time.
    #[error(
        "port {port}: a calendar turns after {turn_bytes} bytes or after {turn_ns} ns, not after both; set one of them to 0"
    )]
    CalendarTurn {
        /// The port.
        port: Port,
        /// Q.
        turn_bytes: u64,
        /// T.
        turn_ns: Nanos,
    },
    /// Ranks name rounds, but nothing says how many ranks a round has.
    #[error("port {port}: a calendar by rank needs rank_width, the ranks of one round; use 1 or more")]
    CalendarWidth {
        /// The port.
        port: Port,
    },
    /// A tree that can not work.
    #[error("port {port}: tree: {problem}")]
    Tree {
        /// The port.
        port: Port,
        /// What is wrong.
        problem: String,
    },
}
