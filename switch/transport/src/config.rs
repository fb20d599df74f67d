//! Configuration of the two ends of a flow.

use crate::segment::Ecn;
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
    /// The response of TCP Prague (draft-briscoe-iccrg-prague-congestion-control) to the marks of L4S. It needs `ecn`.
    /// Packets have ECT(1).
    Prague,
    /// BBR version 1: draft-cardwell-iccrg-bbr-congestion-control-00, with paced segments.
    Bbr,
    /// The minimal transport of pFabric (Alizadeh et al., SIGCOMM 2013, Section 4.3); see [`Config::pfabric`].
    #[serde(rename = "pfabric")]
    PFabric,
    /// NewReno as in the simulator Netbench, for comparison with the flow completion times of SP-PIFO, AIFO, PACKS and
    /// RIFO. It always has a handshake, and acknowledges each data segment at once.
    Netbench,
    /// No congestion control: datagrams of `mss` bytes at a rate.
    Udp {
        /// Payload rate in bit/s.
        rate_bps: u64,
        /// Each datagram leaves up to this time later than at equal intervals, at random. Without it, flows of the same
        /// rate keep their order at a full queue, so one of them may lose nearly all datagrams.
        #[serde(default)]
        jitter_ns: Nanos,
        /// Seed of the jitter.
        #[serde(skip)]
        seed: u64,
    },
}

impl Control {
    /// Whether it reduces its window by the share of marks, which the receiver echoes one by one.
    pub fn is_scalable(self) -> bool {
        matches!(self, Control::Dctcp | Control::Prague)
    }

    /// The codepoint of packets that queues may mark.
    pub(crate) fn capable(self) -> Ecn {
        match self {
            Control::Prague => Ecn::Ect1,
            _ => Ecn::Ect,
        }
    }
}

/// Loss recovery of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// The retransmission timer only.
    Timeouts,
    /// After three duplicate acknowledgements, then at partial ones: RFC 5681 and RFC 6582. The receiver sends no SACK.
    NewReno,
    /// After three later segments have arrived: SACK, RFC 6675, without rules 3 and 4 of its NextSeg.
    Sack,
    /// After a segment that was sent later has arrived, with a probe at the tail: RACK-TLP, RFC 8985, as in Linux.
    Rack,
    /// After three later segments, or 9/8 of a round trip, by the order of transmission: QUIC, RFC 9002. A timer sends
    /// probes; only the third one in a row takes the window for lost.
    Quic,
    /// As RDMA over Converged Ethernet: the receiver takes segments in order only, and reports the first one that it
    /// discards. The sender then sends everything from there on again.
    GoBackN,
}

/// Configuration that both ends of a flow share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub control: Control,
    /// Bytes in a full segment.
    pub mss: u32,
    /// Congestion window at the start, in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Receive window in bytes. It never shrinks, because the application reads at once.
    pub window: u64,
    /// Whether a flow begins with a handshake. Without one, data is sent at once.
    pub handshake: bool,
    /// Time that the receiver waits for a second full segment before it acknowledges the first one. `None`: it
    /// acknowledges each segment at once.
    pub delayed_ack: Option<Nanos>,
    /// Number of first acknowledgements that are not delayed, for a fast slow start. Linux: 16.
    pub quick_acks: u32,
    pub recovery: Recovery,
    /// Whether queues may mark packets instead of dropping them (RFC 3168).
    pub ecn: bool,
    /// Whether Cubic leaves slow start when it detects a queue.
    pub hystart: bool,
    /// Retransmission timeout while no round trip has been measured (RFC 6298 Section 2.1: 1 s).
    pub initial_rto: Nanos,
    /// Smallest difference between the retransmission timeout and the smoothed round-trip time.
    pub min_rto: Nanos,
    /// The longest retransmission timeout.
    pub max_rto: Nanos,
    /// Interval between two timer ticks of the kernel: 1 s / `HZ`. Timers expire at a tick. 0: timers expire exactly
    /// when they are due.
    pub tick: Nanos,
    /// Whether the sender hands segments to its interface in bursts of up to 64 KiB, and waits until a burst is
    /// worthwhile (Linux: segmentation offload, with any interface).
    pub offload: bool,
}

impl Config {
    /// The defaults of Linux with an MTU of 1500 bytes and the timestamp option.
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
            ecn: control.is_scalable(),
            hystart: true,
            initial_rto: 1000 * MS,
            min_rto: 200 * MS,
            max_rto: 120_000 * MS,
            tick: 0,
            offload: false,
        }
    }

    /// The minimal transport of pFabric (Section 4.3) on a path with this round-trip time. `initial_window` is the
    /// bandwidth-delay product in segments, so flows start at line rate. The timeout is three round trips and does not
    /// grow.
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

    /// Hosts of a data centre, where round trips take microseconds: no handshake, because connections stay open, each
    /// segment acknowledged at once, and timers in proportion (Vasudevan et al., SIGCOMM 2009: 200 us and more).
    pub fn data_centre(control: Control) -> Self {
        Config {
            handshake: false,
            delayed_ack: None,
            initial_rto: MS,
            min_rto: MS / 5,
            ..Config::kernel(control)
        }
    }

    /// Checks that a flow can make progress.
    ///
    /// # Errors
    /// Names the first setting that prevents it.
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
        if let Control::Udp { rate_bps, .. } = self.control {
            positive("rate_bps", rate_bps)?;
        }
        if self.max_rto < self.min_rto || self.max_rto < self.initial_rto {
            return Err(ConfigError::MaxRto { max: self.max_rto });
        }
        if self.control.is_scalable() && !self.ecn {
            return Err(ConfigError::ScalableWithoutEcn);
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

/// An invalid configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A setting that must not be 0.
    #[error("{0} is 0; it must be at least 1")]
    Zero(&'static str),
    /// The window is too small for a full segment.
    #[error("window of {window} bytes is smaller than one segment of {mss} bytes")]
    Window {
        /// The window in bytes.
        window: u64,
        /// Bytes in a full segment.
        mss: u32,
    },
    /// Without `ecn`, DCTCP and Prague would never see a mark.
    #[error("ecn is false; DCTCP and Prague need it to be true")]
    ScalableWithoutEcn,
    /// The upper limit is below a timeout that it limits.
    #[error("max_rto of {max} ns is shorter than min_rto or initial_rto")]
    MaxRto {
        /// The upper limit in ns.
        max: Nanos,
    },
}
