//! What a port is told to do: rate, delay, discipline, room.

use thiserror::Error;

use crate::packet::{Nanos, Port};

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

/// Largest Ethernet frame without FCS, in bytes.
pub const LARGEST_FRAME_BYTES: u32 = 1514;

/// Lowest rate of a shaped port, in bit/s: a full frame then holds the link for 12 s. A frame on the link ends at the
/// rate it began with, so a much lower rate would keep a port busy long after the rate was corrected.
pub const MIN_RATE_BPS: u64 = 1000;

/// Longest propagation delay accepted: 60 s.
pub const MAX_DELAY_NS: Nanos = 60_000_000_000;

/// The order in which a port sends its packets, and which packet it gives up when there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Discipline {
    /// Eight queues, each with its own room; the most urgent one that has a packet sends (7 first).
    #[default]
    Strict,
    /// One buffer in order of arrival; the priority is ignored.
    Fifo,
    /// Deficit round robin over the users in one shared buffer.
    Drr,
    /// Approximate fair queueing: a calendar of queues, each user a number of bytes a round, in one shared buffer.
    Afq,
    /// Start-time fair queueing over the users: one buffer sorted by virtual start times, with push-out.
    Stfq,
    /// One buffer sorted by (rank, arrival) with push-out.
    Pifo,
}

impl Discipline {
    /// True for the disciplines in which all priorities share one buffer of `buffer_packets`.
    pub fn one_buffer(self) -> bool {
        self != Discipline::Strict
    }
}

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

/// The calendar of [`Discipline::Afq`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calendar {
    /// n, the rounds that packets can be filed for; each has a queue of its own.
    pub queues: u32,
    /// BpR, the bytes that a user may send in one round.
    pub bytes_per_round: u32,
}

impl Default for Calendar {
    fn default() -> Self {
        Calendar {
            queues: DEFAULT_CALENDAR_QUEUES,
            bytes_per_round: LARGEST_FRAME_BYTES,
        }
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
    /// Room in packets of the one buffer of every discipline but [`Discipline::Strict`].
    pub buffer_packets: u32,
    /// Bytes a user may send in one round of [`Discipline::Drr`].
    pub quantum_bytes: u32,
    /// The rounds of [`Discipline::Afq`].
    pub calendar: Calendar,
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
            calendar: Calendar::default(),
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
        let Calendar {
            queues,
            bytes_per_round,
        } = self.calendar;
        if !(1..=MAX_CALENDAR_QUEUES).contains(&queues) {
            return Err(ConfigError::CalendarQueues { port, queues });
        }
        if u64::from(queues) * u64::from(bytes_per_round) <= u64::from(LARGEST_FRAME_BYTES) {
            return Err(ConfigError::CalendarBytes {
                port,
                queues,
                bytes_per_round,
            });
        }
        Ok(())
    }
}

/// A port configuration that can not work.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
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
}
