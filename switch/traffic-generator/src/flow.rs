//! Lists of flows, which the programs read.

use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::path::Path;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::error::{TrafficError, file_error};
use crate::rank::Ranks;

/// Size of the Ethernet, IPv4 and UDP headers of a frame, in bytes.
pub const UDP_FRAME_OVERHEAD: u32 = 14 + 20 + 8;
/// Size of the flow header, in bytes. It is at the beginning of a datagram: rank (4 bytes), flow (4), sequence number
/// (8), time of sending in ns of the monotonic clock (8); big-endian.
pub const FLOW_HEADER_BYTES: usize = 24;
/// Smallest UDP frame, in bytes. It has room for the flow header.
pub const MIN_UDP_FRAME: u32 = UDP_FRAME_OVERHEAD + FLOW_HEADER_BYTES as u32;
/// Largest UDP frame, in bytes, at an MTU of 1500 bytes.
pub const MAX_UDP_FRAME: u32 = 1514;

/// The arrival process of the packets of a UDP flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Packets at equal intervals.
    #[default]
    Constant,
    /// A Poisson process.
    Poisson,
    /// Bursts of this many packets of the same rank, back to back. The bursts are a Poisson process.
    Bursts(u32),
}

/// A UDP flow of ranked packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpFlow {
    /// The number of the flow, unique in a run.
    pub flow: u32,
    /// Source address. If it is missing, the system chooses one.
    pub src: Option<Ipv4Addr>,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// Destination UDP port. Ports 5376 to 5631 carry a rank header that the programs read.
    pub port: u16,
    /// Rate in bit/s of Ethernet frames.
    pub rate_bps: u64,
    /// Frame size in bytes, without FCS.
    pub frame_bytes: u32,
    pub ranks: Ranks,
    /// Arrival process of the packets.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Start, in seconds from the start of the run.
    pub start_s: f64,
    /// End, in seconds from the start of the run.
    pub stop_s: f64,
}

impl UdpFlow {
    /// Checks the flow.
    ///
    /// # Errors
    /// If the rate, the frame size or the burst is invalid, the time is empty or longer than a day, or the ranks are
    /// empty.
    pub fn check(&self) -> Result<(), TrafficError> {
        let wrong = |what: String| Err(TrafficError::Flow(format!("flow {}: {what}", self.flow)));
        if !(1..=MAX_RATE_BPS).contains(&self.rate_bps) {
            let found = self.rate_bps;
            return wrong(format!("rate_bps is {found}: a flow has 1 to {MAX_RATE_BPS} bit/s"));
        }
        if !(MIN_UDP_FRAME..=MAX_UDP_FRAME).contains(&self.frame_bytes) {
            let found = self.frame_bytes;
            return wrong(format!(
                "frame_bytes is {found}: it must be {MIN_UDP_FRAME} to {MAX_UDP_FRAME}"
            ));
        }
        let (start, stop) = (self.start_s, self.stop_s);
        if !(start >= 0.0 && stop > start && stop <= MAX_TIME_S) {
            return wrong(format!(
                "start_s {start:?} and stop_s {stop:?} are not a span of time within 0 to {MAX_TIME_S} s"
            ));
        }
        match self.arrivals {
            Arrivals::Bursts(size) if !(1..=MAX_BURST).contains(&size) => {
                return wrong(format!("bursts of {size} packets: a burst has 1 to {MAX_BURST}"));
            }
            _ => {}
        }
        self.ranks.source().map(|_| ())
    }

    /// The mean number of packets.
    pub fn expected_packets(&self) -> f64 {
        (self.stop_s - self.start_s) * self.rate_bps as f64 / 8.0 / f64::from(self.frame_bytes)
    }
}

/// A TCP flow of a given size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpFlow {
    /// The number of the flow, unique in a run.
    pub flow: u32,
    /// Source address. If it is missing, the system chooses one.
    pub src: Option<Ipv4Addr>,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// Destination TCP port.
    pub port: u16,
    /// Number of bytes to deliver.
    pub size_bytes: u64,
    /// Start, in seconds from the start of the run.
    pub start_s: f64,
    /// The rank, carried in the TOS byte.
    pub tos: Tos,
}

/// The TOS byte of a TCP flow. Its two lowest bits belong to ECN, so ranks are multiples of 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Tos {
    /// The same for every segment.
    Fixed(u8),
    /// The rank follows from the remaining bytes (pFabric, SRPT).
    Remaining {
        /// Size in bytes that gets the least urgent rank.
        largest_bytes: u64,
        /// Scale from bytes to ranks.
        #[serde(default)]
        scale: Scale,
    },
}

/// Scale from remaining bytes to 64 ranks. Both scales give the same order, but a scheme that compares the magnitudes
/// of ranks, such as RIFO, behaves differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The logarithm of the remaining segments: tells small flows apart.
    #[default]
    Logarithmic,
    /// The remaining segments, as in the papers: flows below a 63rd of the largest have only one or two ranks.
    Linear,
}

/// Payload bytes of a full TCP segment with timestamps, at an MTU of 1500 bytes.
pub const SEGMENT_BYTES: u64 = 1448;

impl Tos {
    /// The TOS byte of the handshake. It has the most urgent rank, because it has no data, so no bytes remain. With the
    /// rank of its flow, a scheduler that drops by rank would drop the opening segments of large flows. The kernel
    /// repeats those only after a second.
    pub fn of_handshake(self) -> u8 {
        match self {
            Tos::Fixed(tos) => tos,
            Tos::Remaining { .. } => 0,
        }
    }

    /// The TOS byte of a segment that is sent while `remaining` bytes remain.
    pub fn byte(self, remaining: u64) -> u8 {
        match self {
            Tos::Fixed(tos) => tos,
            Tos::Remaining { largest_bytes, scale } => {
                // On both scales the last segment is at position 0.
                let position = |bytes: u64| {
                    let segments = bytes.div_ceil(SEGMENT_BYTES).max(1) as f64;
                    match scale {
                        Scale::Logarithmic => segments.ln(),
                        Scale::Linear => segments - 1.0,
                    }
                };
                let share = position(remaining) / position(largest_bytes).max(f64::MIN_POSITIVE);
                ((share.clamp(0.0, 1.0) * 63.0).round() as u8) << 2
            }
        }
    }
}

impl TcpFlow {
    /// Checks the flow.
    ///
    /// # Errors
    /// If it is empty, its start is not within a run, or it has a rank that the TOS byte cannot carry.
    pub fn check(&self) -> Result<(), TrafficError> {
        let wrong = |what: String| Err(TrafficError::Flow(format!("flow {}: {what}", self.flow)));
        if self.size_bytes == 0 {
            return wrong("size_bytes is 0: a flow has at least 1 byte".into());
        }
        if !(0.0..=MAX_TIME_S).contains(&self.start_s) {
            return wrong(format!(
                "start_s {:?} is not a time of 0 to {MAX_TIME_S} s",
                self.start_s
            ));
        }
        match self.tos {
            Tos::Fixed(tos) if tos & 3 != 0 => wrong(format!(
                "the TOS byte {tos} has ECN bits set, which the kernel owns: it must be a multiple of 4"
            )),
            Tos::Remaining { largest_bytes: 0, .. } => wrong("largest_bytes is 0: it must be at least 1".into()),
            _ => Ok(()),
        }
    }
}

/// Latest start or end of a flow, in seconds: one day.
const MAX_TIME_S: f64 = 86_400.0;
/// Highest rate: 400 Gbit/s, far above the rate of a host.
const MAX_RATE_BPS: u64 = 400_000_000_000;
/// Largest number of packets in a burst.
const MAX_BURST: u32 = 1_000_000;

/// Checks that all flow numbers are different.
///
/// # Errors
/// If two flows have the same number.
pub fn distinct(flows: impl Iterator<Item = u32>) -> Result<(), TrafficError> {
    let mut seen = HashSet::new();
    for flow in flows {
        if !seen.insert(flow) {
            return Err(TrafficError::Flow(format!(
                "flow {flow} is given twice: each has a number of its own"
            )));
        }
    }
    Ok(())
}

/// Reads a JSON list of flows.
///
/// # Errors
/// If the file cannot be read or is not a list of flows.
pub fn read<F: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<F>, TrafficError> {
    let text = std::fs::read(path).map_err(file_error(path))?;
    serde_json::from_slice(&text).map_err(|source| TrafficError::Format {
        path: path.display().to_string(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_of_a_tcp_flow_falls_as_it_finishes_and_leaves_the_ecn_bits() {
        let tos = Tos::Remaining {
            largest_bytes: 10_000_000,
            scale: Scale::Logarithmic,
        };
        let ranks: Vec<u8> = [10_000_000, 1_000_000, 100_000, 10_000, 1_448, 1]
            .map(|left| tos.byte(left))
            .to_vec();
        assert_eq!(ranks[0], 252);
        assert_eq!(ranks[4..], [0, 0]);
        assert!(ranks.is_sorted_by(|a, b| a >= b));
        assert!(ranks.iter().all(|rank| rank % 4 == 0));
        assert_eq!(tos.byte(u64::MAX), 252);
    }

    #[test]
    fn on_a_linear_scale_half_of_what_remains_has_half_the_rank() {
        let tos = Tos::Remaining {
            largest_bytes: 127 * SEGMENT_BYTES,
            scale: Scale::Linear,
        };
        let rank = |segments: u64| tos.byte(segments * SEGMENT_BYTES) >> 2;
        assert_eq!([127, 65, 3, 1].map(rank), [63, 32, 1, 0]);
        assert_eq!(tos.byte(u64::MAX), 252);
        let logarithmic = Tos::Remaining {
            largest_bytes: 127 * SEGMENT_BYTES,
            scale: Scale::Logarithmic,
        };
        assert_eq!(logarithmic.byte(65 * SEGMENT_BYTES) >> 2, 54);
        let without: Tos = serde_json::from_str(r#"{"remaining":{"largest_bytes":183896}}"#).unwrap();
        assert_eq!(without, logarithmic);
    }

    #[test]
    fn the_handshake_of_a_remaining_size_flow_is_most_urgent_and_that_of_a_fixed_rank_is_no_exception() {
        assert_eq!(
            Tos::Remaining {
                largest_bytes: 1_000,
                scale: Scale::Logarithmic
            }
            .of_handshake(),
            0
        );
        assert_eq!(Tos::Fixed(40).of_handshake(), 40);
    }

    #[test]
    fn a_flow_without_rate_size_or_time_is_refused() {
        let good = r#"{"flow":1,"dst":"10.0.0.1","port":5376,"rate_bps":1000,"frame_bytes":100,
                       "ranks":{"fixed":3},"start_s":0,"stop_s":1}"#;
        let flow: UdpFlow = serde_json::from_str(good).unwrap();
        flow.check().unwrap();
        for (wrong, what) in [
            (
                UdpFlow {
                    rate_bps: 0,
                    ..flow.clone()
                },
                "rate",
            ),
            (
                UdpFlow {
                    frame_bytes: 20,
                    ..flow.clone()
                },
                "frame_bytes",
            ),
            (
                UdpFlow {
                    stop_s: 0.0,
                    ..flow.clone()
                },
                "span",
            ),
            (
                UdpFlow {
                    arrivals: Arrivals::Bursts(0),
                    ..flow.clone()
                },
                "bursts of 0 packets",
            ),
            (
                UdpFlow {
                    arrivals: Arrivals::Bursts(u32::MAX),
                    ..flow.clone()
                },
                "bursts of 4294967295 packets",
            ),
            (
                UdpFlow {
                    rate_bps: u64::MAX,
                    ..flow.clone()
                },
                "rate_bps is 18446744073709551615",
            ),
            (
                UdpFlow {
                    stop_s: 1e300,
                    ..flow.clone()
                },
                "stop_s 1e300",
            ),
            (
                UdpFlow {
                    ranks: Ranks::Drawn {
                        distribution: "uniform".into(),
                        below: 0,
                    },
                    ..flow.clone()
                },
                "rank",
            ),
        ] {
            assert!(wrong.check().unwrap_err().to_string().contains(what), "{wrong:?}");
        }
    }

    #[test]
    fn a_tcp_flow_with_ecn_bits_without_a_largest_size_or_twice_is_refused() {
        let flow = TcpFlow {
            flow: 7,
            src: None,
            dst: Ipv4Addr::LOCALHOST,
            port: 5001,
            size_bytes: 1,
            start_s: 0.0,
            tos: Tos::Fixed(8),
        };
        flow.check().unwrap();
        for (wrong, what) in [
            (
                TcpFlow {
                    tos: Tos::Fixed(9),
                    ..flow.clone()
                },
                "flow 7: the TOS byte 9 has ECN bits set",
            ),
            (
                TcpFlow {
                    tos: Tos::Remaining {
                        largest_bytes: 0,
                        scale: Scale::Logarithmic,
                    },
                    ..flow.clone()
                },
                "flow 7: largest_bytes is 0",
            ),
            (
                TcpFlow {
                    size_bytes: 0,
                    ..flow.clone()
                },
                "flow 7: size_bytes is 0",
            ),
            (
                TcpFlow {
                    start_s: 1e300,
                    ..flow.clone()
                },
                "is not a time of 0 to 86400 s",
            ),
        ] {
            assert!(wrong.check().unwrap_err().to_string().contains(what), "{wrong:?}");
        }
        distinct([1, 2, 3].into_iter()).unwrap();
        let twice = distinct([1, 2, 1].into_iter()).unwrap_err().to_string();
        assert_eq!(twice, "flow 1 is given twice: each has a number of its own");
    }
}
