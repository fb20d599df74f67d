//! One run: hosts, ports and packets, and one loop that lets everything happen in order.

use std::sync::Arc;

use p4sched_schedulers::{ConfigError, Nanos, Rank};
use p4sched_transport::{Config, Ecn, Kind, Segment};
use serde::Deserialize;

use super::calendar::{Calendar, Event};
use super::connections::{Connections, Input, Record, Side};
use super::flows::Flow;
use super::packets::{Header, Packets};
use super::port::{Offered, Port, PortConfig};
use super::routes::Routes;
use super::topology::{Node, Topology, TopologyError};
use crate::frames::Datagram;

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

/// All that a run needs to know.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The network.
    pub topology: Topology,
    /// Ports of switches.
    pub switch_ports: PortConfig,
    /// Ports of hosts.
    pub host_ports: PortConfig,
    /// Where ranks come from.
    pub ranks: Ranks,
    /// The transports that flows have.
    pub transports: Vec<Transport>,
    /// In order of their start.
    pub flows: Vec<Flow>,
    /// Of everything random.
    pub seed: u64,
    /// When the run ends.
    pub end_ns: Nanos,
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
}

/// Bytes of frames, since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Handed to the ports of hosts.
    pub sent: u64,
    /// Arrived at the host that they were for.
    pub delivered: u64,
    /// Dropped by ports.
    pub dropped: u64,
    /// Waiting in queues or on wires.
    pub in_flight: u64,
}

impl Balance {
    /// Whether every byte is accounted for.
    pub fn balanced(&self) -> bool {
        self.sent == self.delivered + self.dropped + self.in_flight
    }
}

/// Sees what happens in a run.
pub trait Watch {
    /// A packet is at the host that it is for.
    fn delivered(&mut self, _now: Nanos, _header: &Header, _segment: &Segment) {}
}

/// Sees nothing.
impl Watch for () {}

/// A wire and the port in front of it.
#[derive(Clone, Debug)]
struct Line {
    port: Port,
    to: Node,
    /// A departure is in the calendar.
    planned: bool,
}

/// See the head of this file.
#[derive(Clone, Debug)]
pub struct World {
    setup: Setup,
    routes: Routes,
    lines: Vec<Line>,
    /// By host: its wire.
    uplinks: Vec<u32>,
    calendar: Calendar,
    packets: Packets,
    connections: Connections,
    /// By flow that has started: hash of its 5-tuple in each direction.
    hashes: Vec<[u32; 2]>,
    now: Nanos,
    events: u64,
    balance: Balance,
    /// Segments on their way from a host's transport to its port; empty between events.
    out: Vec<Segment>,
}

impl World {
    /// A network in which nothing has happened yet.
    ///
    /// # Errors
    /// If two hosts have no path, or a model refuses its configuration.
    pub fn new(setup: Setup) -> Result<World, SetupError> {
        let routes = Routes::new(&setup.topology)?;
        let mut uplinks = vec![0; setup.topology.hosts.len()];
        let mut lines = Vec::with_capacity(setup.topology.wires.len());
        for (number, wire) in (0..).zip(&setup.topology.wires) {
            let (of, config) = match wire.from {
                Node::Host(host) => {
                    uplinks[host as usize] = number;
                    ("hosts", &setup.host_ports)
                }
                Node::Switch(_) => ("ports", &setup.switch_ports),
            };
            let port = Port::new(config, wire.cable.rate_bps, wire.cable.delay_ns);
            lines.push(Line {
                port: port.map_err(|error| SetupError::Port { of, error })?,
                to: wire.to,
                planned: false,
            });
        }
        let mut calendar = Calendar::default();
        if let Some(first) = setup.flows.first() {
            calendar.plan(first.start_ns, Event::FlowStart);
        }
        Ok(World {
            routes,
            lines,
            uplinks,
            calendar,
            packets: Packets::default(),
            connections: Connections::new(setup.flows.len()),
            hashes: Vec::new(),
            now: 0,
            events: 0,
            balance: Balance::default(),
            out: Vec::new(),
            setup,
        })
    }

    /// Lets the next thing happen. Returns false if nothing does before the end of the run.
    pub fn step(&mut self, watch: &mut impl Watch) -> bool {
        let Some((now, event)) = self.calendar.next(self.setup.end_ns) else {
            self.now = self.setup.end_ns;
            return false;
        };
        self.now = now;
        self.events += 1;
        match event {
            Event::FlowStart => self.start_flow(),
            Event::Arrival(wire) => self.arrive(wire, watch),
            Event::Departure(wire) => {
                self.lines[wire as usize].planned = false;
                self.send(wire);
                self.plan_departure(wire);
            }
            Event::SenderTimer(flow) => self.tell(flow, Side::Sender, Input::Timer),
            Event::ReceiverTimer(flow) => self.tell(flow, Side::Receiver, Input::Timer),
        }
        true
    }

    /// Lets everything happen until the end of the run.
    pub fn run(&mut self) {
        while self.step(&mut ()) {}
    }

    fn start_flow(&mut self) {
        let number = self.hashes.len() as u32;
        let flow = self.setup.flows[number as usize];
        let (source, destination) = (flow.source, flow.destination);
        self.hashes.push([
            self.flow_hash(number, source, destination),
            self.flow_hash(number, destination, source),
        ]);
        if let Some(next) = self.setup.flows.get(self.hashes.len()) {
            self.calendar.plan(next.start_ns, Event::FlowStart);
        }
        let config = &self.setup.transports[flow.transport].config;
        self.connections.open(number, flow.bytes, config);
        self.tell(number, Side::Receiver, Input::Start);
        self.tell(number, Side::Sender, Input::Start);
    }

    /// Tells an end of a flow something, and sends what it has to send.
    fn tell(&mut self, flow: u32, side: Side, input: Input<'_>) {
        let mut out = std::mem::take(&mut self.out);
        let timer = self.connections.tell(self.now, flow, side, input, &mut out);
        if let Some(at) = timer {
            let event = match side {
                Side::Sender => Event::SenderTimer(flow),
                Side::Receiver => Event::ReceiverTimer(flow),
            };
            self.calendar.plan(at, event);
        }
        for segment in out.drain(..) {
            self.emit(segment);
        }
        self.out = out;
    }

    /// A host hands a segment to its port.
    fn emit(&mut self, segment: Segment) {
        let flow = &self.setup.flows[segment.flow as usize];
        let forward = segment.kind.is_from_sender();
        let (from, destination) = match forward {
            true => (flow.source, flow.destination),
            false => (flow.destination, flow.source),
        };
        let header = Header {
            destination,
            hash: self.hashes[segment.flow as usize][usize::from(!forward)],
            rank: rank(self.setup.ranks, flow, &segment),
            user: flow.user,
            scale: flow.scale,
            flow: segment.flow << 1 | u32::from(!forward),
            len: segment.len + self.setup.transports[flow.transport].overhead_bytes,
        };
        self.balance.sent += u64::from(header.len);
        let number = self.packets.insert(header, segment);
        self.offer(self.uplinks[from as usize], number);
    }

    /// A packet arrives at a port.
    fn offer(&mut self, wire: u32, number: u32) {
        let port = &mut self.lines[wire as usize].port;
        if port.next_departure() == Some(self.now) {
            // Of a departure and an arrival at the same instant, the departure comes first.
            self.send(wire);
        }
        let port = &mut self.lines[wire as usize].port;
        let header = self.packets.header(number);
        match port.offer(self.now, number, header) {
            Offered::Queued => {}
            Offered::Marked => {
                let segment = self.packets.segment_mut(number);
                if segment.ecn == Ecn::Ect {
                    segment.ecn = Ecn::Ce;
                    port.count_mark();
                }
            }
            Offered::PushedOut(victim) => self.drop(victim),
            Offered::Dropped => self.drop(number),
        }
        self.send(wire);
        self.plan_departure(wire);
    }

    fn drop(&mut self, number: u32) {
        self.balance.dropped += u64::from(self.packets.header(number).len);
        self.packets.remove(number);
    }

    /// Sends the next packet if the wire is free.
    fn send(&mut self, wire: u32) {
        if let Some(arrival) = self.lines[wire as usize].port.send(self.now) {
            self.calendar.plan(arrival, Event::Arrival(wire));
        }
    }

    fn plan_departure(&mut self, wire: u32) {
        let line = &mut self.lines[wire as usize];
        if let Some(at) = line.port.next_departure().filter(|_| !line.planned) {
            line.planned = true;
            self.calendar.plan(at, Event::Departure(wire));
        }
    }

    /// The first packet on a wire is at its far end.
    fn arrive(&mut self, wire: u32, watch: &mut impl Watch) {
        let line = &mut self.lines[wire as usize];
        let Some(number) = line.port.first_in_transit() else {
            return;
        };
        let header = *self.packets.header(number);
        if let Some(next) = line.port.arrived(header.len) {
            self.calendar.plan(next, Event::Arrival(wire));
        }
        match line.to {
            Node::Switch(switch) => {
                let next = self.routes.next(switch, header.destination, header.hash);
                self.offer(next, number);
            }
            Node::Host(_) => {
                let segment = *self.packets.segment(number);
                self.packets.remove(number);
                self.balance.delivered += u64::from(header.len);
                watch.delivered(self.now, &header, &segment);
                let side = match segment.kind.is_from_sender() {
                    true => Side::Receiver,
                    false => Side::Sender,
                };
                self.tell(segment.flow, side, Input::Segment(&segment));
            }
        }
    }

    /// CRC-32 of the 5-tuple of a flow, in one direction.
    fn flow_hash(&self, flow: u32, from: u32, to: u32) -> u32 {
        let address = |host: u32| self.setup.topology.hosts[host as usize].address;
        Datagram {
            source: address(from),
            destination: address(to),
            source_port: source_port(self.setup.seed, flow),
            ..Datagram::ranked(0, 0, 0)
        }
        .flow_hash()
    }

    /// What it was told.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// What time it is.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Where all bytes are.
    pub fn balance(&self) -> Balance {
        Balance {
            in_flight: self.lines.iter().map(|line| line.port.held_bytes()).sum(),
            ..self.balance
        }
    }

    /// The port in front of each wire.
    pub fn ports(&self) -> impl Iterator<Item = &Port> {
        self.lines.iter().map(|line| &line.port)
    }

    /// What is known of a flow.
    pub fn record(&self, flow: usize) -> Record {
        self.connections.record(flow as u32)
    }

    /// Flows that have started.
    pub fn started(&self) -> usize {
        self.hashes.len()
    }
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

fn rank(ranks: Ranks, flow: &Flow, segment: &Segment) -> Rank {
    let bytes = match ranks {
        Ranks::Flow => return flow.rank,
        Ranks::StartTime => 0,
        _ if !segment.kind.is_from_sender() => 0,
        Ranks::Remaining => segment.remaining,
        Ranks::ToEnd => match segment.kind {
            Kind::Syn => flow.bytes,
            _ => flow.bytes.saturating_sub(segment.seq + 1),
        },
    };
    Rank::try_from(bytes).unwrap_or(Rank::MAX)
}
