//! The settings of a run.

use std::sync::Arc;

use p4sched_schedulers::{ConfigError, Nanos, Target};
use p4sched_transport::{Config, Retransmissions};
use p4sched_world::routes::Multipath;
use p4sched_world::topology::{Topology, TopologyError};
use serde::Deserialize;

use super::device::DeviceError;
use super::flows::Flow;
use super::port::PortConfig;
use crate::frames::Datagram;
use crate::program::Program;

/// Last byte of a host's address as a receiver of flows.
const ANSWERING: u8 = 253;
/// First source port of UDP and TCP flows.
const FIRST_PORT: u64 = 1024;

/// Source of the ranks of packets.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ranks {
    /// The ranks of the list of flows.
    #[default]
    Flow,
    /// Bytes of the flow that are not acknowledged when the packet is sent (pFabric, SIGCOMM 2013); 0 for packets of
    /// receivers.
    Remaining,
    /// Bytes of the flow behind the packet's first byte, as in the simulations of PACKS and RIFO; 0 for packets of
    /// receivers.
    ToEnd,
    /// Virtual start times, computed at each port (STFQ).
    StartTime,
    /// Drawn for each packet, also those of receivers. Rank i has a probability in proportion to number i of the list.
    Drawn(Vec<f64>),
}

/// The order of simultaneous events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Events {
    /// That of planning. At a port, a departure comes before a simultaneous arrival.
    #[default]
    Planned,
    /// That of Netbench ([`p4sched_world::simultaneous`]).
    Netbench,
}

/// A transport, and the size of its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// Configuration of both ends.
    pub config: Arc<Config>,
    /// Bytes of all headers of a frame.
    pub overhead_bytes: u32,
}

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Setup {
    pub topology: Topology,
    pub switch_ports: PortConfig,
    pub host_ports: PortConfig,
    /// Target whose rules the ports of switches follow.
    pub target: Target,
    pub ranks: Ranks,
    pub retransmissions: Retransmissions,
    /// True if packets of receivers have the user of their flow; by default they have none.
    pub charge_answers: bool,
    pub events: Events,
    /// Method that spreads flows over several paths; always [`Multipath::Buckets`] if programs decide.
    pub multipath: Multipath,
    /// The program that decides at the ports of switches; by default the models decide.
    pub program: Option<Installation>,
    pub transports: Vec<Transport>,
    /// Flows in order of their start.
    pub flows: Vec<Flow>,
    /// Seed of all random numbers.
    pub seed: u64,
    pub end_ns: Nanos,
    /// Interval at which the received bytes of all flows are recorded; by default never.
    pub sample_ns: Option<Nanos>,
}

impl Setup {
    /// Addresses and ports of a flow's packets in one direction. Their hash chooses the path.
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
    pub program: Program,
    /// True if models check every decision.
    pub check: bool,
}

/// Reason why a run cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("topology: {0}")]
    Topology(#[from] TopologyError),
    /// The model of a port refuses its configuration.
    #[error("{of}: {error}")]
    Port {
        /// The kind of the ports.
        of: &'static str,
        error: ConfigError,
    },
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Address of a user of a host. A host has 200 different ones.
pub(super) fn user_address([a, b, c, _]: [u8; 4], user: u32) -> [u8; 4] {
    [a, b, c, 1 + (user % 200) as u8]
}

/// Source port of a flow. Another seed gives other ports, so flows choose other paths.
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
