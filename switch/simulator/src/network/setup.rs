//! All that a run needs to know.

use std::sync::Arc;

use p4sched_schedulers::{ConfigError, Nanos, Target};
use p4sched_transport::Config;
use p4sched_world::routes::Multipath;
use p4sched_world::topology::{Topology, TopologyError};
use serde::Deserialize;

use super::device::DeviceError;
use super::flows::Flow;
use super::port::PortConfig;
use crate::frames::Datagram;
use crate::program::Program;

/// Last byte of the address at which a host receives flows, and from which it answers.
const ANSWERING: u8 = 253;
/// First UDP and TCP port that a flow may have as its source.
const FIRST_PORT: u64 = 1024;

/// Where the ranks of packets come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ranks {
    /// From the list of flows.
    #[default]
    Flow,
    /// Bytes of the flow that are not acknowledged when the packet is sent (pFabric, SIGCOMM 2013). 0 for what receivers
    /// send.
    Remaining,
    /// Bytes of the flow behind the packet's first one, as the simulations of PACKS and RIFO have it. 0 for what receivers
    /// send.
    ToEnd,
    /// Virtual start times, at each port anew (STFQ).
    StartTime,
}

/// A transport, and what its packets have around the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// What both ends agree on.
    pub config: Arc<Config>,
    /// Bytes of all headers of a frame.
    pub overhead_bytes: u32,
}

/// See the head of this file.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The network.
    pub topology: Topology,
    /// Ports of switches.
    pub switch_ports: PortConfig,
    /// Ports of hosts.
    pub host_ports: PortConfig,
    /// Whose rules the ports of switches have.
    pub target: Target,
    /// Where ranks come from.
    pub ranks: Ranks,
    /// How flows are spread over several paths; always [`Multipath::Buckets`] where programs decide.
    pub multipath: Multipath,
    /// What decides at the ports of switches: the models, or this.
    pub program: Option<Installation>,
    /// The transports that flows have.
    pub transports: Vec<Transport>,
    /// In order of their start.
    pub flows: Vec<Flow>,
    /// Of everything random.
    pub seed: u64,
    /// When the run ends.
    pub end_ns: Nanos,
}

impl Setup {
    /// Addresses and ports of the packets of a flow, in one direction. Paths are chosen by the hash of them.
    pub fn datagram(&self, flow: u32, forward: bool) -> Datagram {
        let described = &self.flows[flow as usize];
        let hosts = &self.topology.hosts;
        let sender = user_address(hosts[described.source as usize].address, described.user);
        let [a, b, c, _] = hosts[described.destination as usize].address;
        let receiver = [a, b, c, ANSWERING];
        let (source, destination) = if forward {
            (sender, receiver)
        } else {
            (receiver, sender)
        };
        Datagram {
            source,
            destination,
            source_port: source_port(self.seed, flow),
            ..Datagram::ranked(0, 0, 0)
        }
    }
}

/// A compiled program on every switch.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The program.
    pub program: Program,
    /// Whether the models compare every decision.
    pub check: bool,
}

/// Why a run cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The network.
    #[error("topology: {0}")]
    Topology(#[from] TopologyError),
    /// The ports.
    #[error("{of}: {error}")]
    Port {
        /// Whose.
        of: &'static str,
        /// What the model refuses.
        error: ConfigError,
    },
    /// The programs.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// The address of a user of a host: 200 of them have one of their own.
pub(super) fn user_address([a, b, c, _]: [u8; 4], user: u32) -> [u8; 4] {
    [a, b, c, 1 + (user % 200) as u8]
}

/// The source port of a flow. Another seed gives other ports, so flows choose other paths.
fn source_port(seed: u64, flow: u32) -> u16 {
    // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    let mut mixed = seed
        .wrapping_add(u64::from(flow) + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    (FIRST_PORT + mixed % (65_536 - FIRST_PORT)) as u16
}
