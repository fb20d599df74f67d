//! Configuration of the end hosts of a flow.

use p4sched_schedulers::Nanos;
use serde::{Deserialize, Serialize};
use thiserror::Error;

const MS: Nanos = 1_000_000;

/// Congestion control of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Control {
    /// TCP NewReno: RFC 5681 and RFC 6582.
    NewReno,
    /// Cubic: RFC 9438.
    Cubic,
    /// DCTCP: RFC 8257. It needs `ecn`.
    Dctcp,
    /// The minimal transport of pFabric (Alizadeh et al., SIGCOMM 2013, Section 4.3); see [`Config::pfabric`].
    #[serde(rename = "pfabric")]
    PFabric,
    /// NewReno as the simulator Netbench has it, to compare with the flow completion times of SP-PIFO, AIFO, PACKS and RIFO. It
    /// always has a handshake, and each data segment is acknowledged at once.
    Netbench,
    /// None: datagrams of `mss` bytes at equal distances.
    Udp {
        /// Bits of payload in a second.
        rate_bps: u64,
    },
}

/// Loss recovery of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Only the timer.
    Timeouts,
    /// Three duplicate acknowledgements, then partial ones: RFC 5681 and RFC 6582. The receiver sends no SACK.
    NewReno,
    /// Three segments that arrived beyond the lost one: SACK, RFC 6675, without rules 3 and 4 of its NextSeg.
    Sack,
    /// A segment that was sent later and has arrived, and a probe at the tail: RACK-TLP, RFC 8985, as in Linux.
    Rack,
}

/// Configuration that both ends of a flow share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Congestion control.
    pub control: Control,
    /// Bytes in a full segment.
    pub mss: u32,
    /// Congestion window at the start, in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Bytes that the receiver can take; it never shrinks, because the application reads at once.
    pub window: u64,
    /// True if a flow begins with a handshake. Without one, data is sent at once.
    pub handshake: bool,
    /// Time that the receiver waits for a second full segment before it acknowledges a first one. `None`: it
    /// acknowledges each.
    pub delayed_ack: Option<Nanos>,
    /// Number of first acknowledgements without delay, for a fast slow start. Linux: 16.
    pub quick_acks: u32,
    pub recovery: Recovery,
    /// True if queues may mark instead of dropping (RFC 3168).
    pub ecn: bool,
    /// True if Cubic leaves slow start when it sees a queue.
    pub hystart: bool,
    /// Time until something is sent again while no round trip has been measured (RFC 6298 Section 2.1: 1 s).
    pub initial_rto: Nanos,
    /// The least that the retransmission timeout is longer than the smoothed round-trip time.
    pub min_rto: Nanos,
    /// The longest retransmission timeout.
    pub max_rto: Nanos,
    /// Timers run out with a tick of this distance, as those of a kernel that has 1 s / `tick` of them in a second (Linux: `HZ`).
    /// 0: they run out when they are due.
    pub tick: Nanos,
    /// True if the sender hands segments to its interface in bursts of up to 64 KiB, and waits until a burst is worth
    /// it (Linux: segmentation offload, whatever the interface can do).
    pub offload: bool,
}

impl Config {
    /// Linux's defaults with an MTU of 1500 bytes and the timestamp option.
    pub fn kernel(control: Control) -> Self {
        Config {
            control,
            mss: 1448,
            initial_window: 10,
            window: 6 << 20,
            handshake: true,
            delayed_ack: Some(40 * MS),
            quick_acks: 16,
            recovery: Recovery::Rack,
            ecn: control == Control::Dctcp,
            hystart: true,
            initial_rto: 1000 * MS,
            min_rto: 200 * MS,
            max_rto: 120_000 * MS,
            tick: 0,
            offload: false,
        }
    }

    /// pFabric's minimal transport (Section 4.3) on a path with this round-trip time. `initial_window` is the bandwidth-delay product
    /// in segments, so flows start at line rate. The timeout is three round trips and does not grow.
    pub fn pfabric(round_trip: Nanos, initial_window: u32) -> Self {
        let timeout = 3 * round_trip;
        Config {
            initial_window,
            handshake: false,
            delayed_ack: None,
            recovery: Recovery::Timeouts,
            initial_rto: timeout,
            min_rto: timeout,
            max_rto: timeout,
            ..Config::kernel(Control::PFabric)
        }
    }

    /// Checks that a flow can make progress.
    ///
    /// # Errors
    /// The first setting with which it cannot.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let positive = |name, value| {
            if value == 0 {
                Err(ConfigError::Zero(name))
            } else {
                Ok(())
            }
        };
        positive("mss", self.mss.into())?;
        positive("initial_window", self.initial_window.into())?;
        positive("initial_rto", self.initial_rto)?;
        positive("min_rto", self.min_rto)?;
        if let Control::Udp { rate_bps } = self.control {
            positive("rate_bps", rate_bps)?;
        }
        if self.max_rto < self.min_rto || self.max_rto < self.initial_rto {
            return Err(ConfigError::MaxRto { max: self.max_rto });
        }
        if self.control == Control::Dctcp && !self.ecn {
            return Err(ConfigError::DctcpWithoutEcn);
        }
        if self.window < self.mss.into() {
            return Err(ConfigError::Window {
                window: self.window,
                mss: self.mss,
            });
        }
        Ok(())
    }
}

/// Error of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A setting that must not be 0.
    #[error("{0} is 0; it must be at least 1")]
    Zero(&'static str),
    /// The receiver could never take a full segment.
    #[error("window of {window} bytes is smaller than one segment of {mss} bytes")]
    Window {
        /// Value.
        window: u64,
        /// Bytes in a full segment.
        mss: u32,
    },
    /// DCTCP could never see a mark.
    #[error("ecn is false; DCTCP needs it to be true")]
    DctcpWithoutEcn,
    /// A limit below what it limits.
    #[error("max_rto of {max} ns is shorter than min_rto or initial_rto")]
    MaxRto {
        /// Value.
        max: Nanos,
    },
}
