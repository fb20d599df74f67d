//! One run: hosts, ports and packets, and one loop that lets everything happen in order.

use std::sync::Arc;

use p4sched_schedulers::fdpa::{UNCLASSIFIED, UNIT_SCALE};
use p4sched_schedulers::{ConfigError, Nanos, Rank, Target, Verdict};
use p4sched_transport::{Config, Ecn, Kind, Segment};
use serde::Deserialize;

use super::calendar::{Calendar, Event};
use super::connections::{Connections, Input, Record, Side};
use super::device::{self, Device, DeviceError, Installed};
use super::flows::Flow;
use super::lengths::Lengths;
use super::packets::{Header, Packets};
use super::port::{Counts, Port, PortConfig};
use super::routes::{Multipath, Routes};
use super::topology::{Node, Topology, TopologyError};
use crate::frames::{Datagram, flow_cell};
use crate::program::Program;

/// Shortest Ethernet frame without FCS, in bytes.
const MIN_FRAME: u32 = 60;
/// Of Ethernet, without FCS.
const LARGEST_FRAME_BITS: u128 = 8 * 1514;
const NS_PER_S: u128 = 1_000_000_000;
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

/// All that a run needs to know.
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
#[repr(C, align(64))]
struct Line {
    to: Node,
    port: Port,
}

/// See the head of this file.
#[derive(Debug)]
pub struct World {
    setup: Setup,
    routes: Routes,
    lines: Vec<Line>,
    /// By host: its wire.
    uplinks: Vec<u32>,
    /// By switch, if programs decide; else empty.
    devices: Vec<Device>,
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
    /// Frames that switches have handed on; empty between events.
    frames: Vec<(u32, u32, Nanos)>,
    /// Where a program and its model differ: the run ends there.
    difference: Option<String>,
}

impl World {
    /// A network in which nothing has happened yet.
    ///
    /// # Errors
    /// If two hosts have no path, or a model refuses its configuration.
    pub fn new(mut setup: Setup) -> Result<World, SetupError> {
        if setup.program.is_some() {
            setup.multipath = Multipath::Buckets;
        }
        let routes = Routes::new(&setup.topology, setup.multipath)?;
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
            });
        }
        let mut calendar = Calendar::new(gap_ns(&setup.topology));
        if let Some(first) = setup.flows.first() {
            calendar.plan(first.start_ns, Event::FlowStart);
        }
        Ok(World {
            devices: devices(&setup, &routes)?,
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
            frames: Vec::new(),
            difference: None,
            setup,
        })
    }

    /// Lets the next thing happen. Returns false if nothing does before the end of the run.
    pub fn step(&mut self, watch: &mut impl Watch) -> bool {
        if self.difference.is_some() {
            return false;
        }
        let Some((now, event)) = self.calendar.next(self.setup.end_ns) else {
            self.now = self.setup.end_ns;
            for line in &mut self.lines {
                line.port.catch_up(self.now);
            }
            return false;
        };
        self.now = now;
        self.events += 1;
        match event {
            Event::FlowStart => self.start_flow(),
            Event::Arrival(wire) => self.arrive(wire, watch),
            Event::SenderTimer(flow) => self.tell(flow, Side::Sender, Input::Timer),
            Event::ReceiverTimer(flow) => self.tell(flow, Side::Receiver, Input::Timer),
            Event::Switch(switch) => self.wake(switch, watch),
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
        self.hashes.push([
            self.setup.datagram(number, true).flow_hash(),
            self.setup.datagram(number, false).flow_hash(),
        ]);
        if let Some(next) = self.setup.flows.get(self.hashes.len()) {
            self.calendar.plan(next.start_ns, Event::FlowStart);
        }
        let config = &self.setup.transports[flow.transport].config;
        self.connections.open(number, flow.bytes, config);
        self.tell(number, Side::Receiver, Input::Start);
        self.tell(number, Side::Sender, Input::Start);
    }

    /// Tells an end of a flow something, and does what it wants.
    fn tell(&mut self, flow: u32, side: Side, input: Input<'_>) {
        let timer = self.connections.tell(self.now, flow, side, input, &mut self.out);
        self.follow(flow, side, timer);
    }

    /// Plans the timer of an end of a flow, and sends what it has to send.
    fn follow(&mut self, flow: u32, side: Side, timer: Option<Nanos>) {
        if let Some(at) = timer {
            let event = match side {
                Side::Sender => Event::SenderTimer(flow),
                Side::Receiver => Event::ReceiverTimer(flow),
            };
            self.calendar.plan(at, event);
        }
        let mut out = std::mem::take(&mut self.out);
        for segment in &out {
            self.emit(segment);
        }
        out.clear();
        self.out = out;
    }

    /// A host hands a segment to its port.
    fn emit(&mut self, segment: &Segment) {
        let flow = &self.setup.flows[segment.flow as usize];
        let forward = segment.kind.is_from_sender();
        let (from, destination) = match forward {
            true => (flow.source, flow.destination),
            false => (flow.destination, flow.source),
        };
        let hash = self.hashes[segment.flow as usize][usize::from(!forward)];
        let len = segment.len + self.setup.transports[flow.transport].overhead_bytes;
        let header = Header {
            destination,
            hash,
            rank: rank(self.setup.ranks, flow, segment),
            user: if forward { flow.user } else { UNCLASSIFIED },
            scale: if forward { flow.scale } else { UNIT_SCALE },
            flow: match (&self.setup.program, self.setup.switch_ports.scheduler.scheme()) {
                (Some(_), Some(config)) => flow_cell(&config.scheme().p4(), hash),
                _ => segment.flow << 1 | u32::from(!forward),
            },
            len: len.max(MIN_FRAME),
        };
        self.balance.sent += u64::from(header.len);
        let number = self.packets.insert(header, *segment);
        self.offer(self.uplinks[from as usize], number);
    }

    /// A packet arrives at a port.
    fn offer(&mut self, wire: u32, number: u32) {
        let port = &mut self.lines[wire as usize].port;
        port.catch_up(self.now);
        let marks = port.marks();
        if !marks && port.is_open(self.now) {
            if let Some(arrival) = port.pass(self.now, number, self.packets.header(number).len) {
                self.calendar.plan(arrival, Event::Arrival(wire));
            }
            return;
        }
        let verdict = port.offer(self.now, number, self.packets.header(number));
        if marks && verdict.is_queued() {
            let segment = self.packets.segment_mut(number);
            if segment.ecn == Ecn::Ect {
                segment.ecn = Ecn::Ce;
                port.count_mark();
            }
        }
        if let Some(arrival) = port.send(self.now) {
            self.calendar.plan(arrival, Event::Arrival(wire));
        }
        self.drop_lost(number, verdict);
    }

    /// Drops what a verdict cost.
    fn drop_lost(&mut self, number: u32, verdict: Verdict) {
        match verdict {
            Verdict::Queued { .. } => {}
            Verdict::PushedOut { victim, .. } => self.drop(victim.id as u32),
            Verdict::DroppedByAdmission | Verdict::DroppedFull => self.drop(number),
        }
    }

    fn drop(&mut self, number: u32) {
        self.balance.dropped += u64::from(self.packets.header(number).len);
        self.packets.remove(number);
    }

    /// The first packet on a wire is at its far end.
    fn arrive(&mut self, wire: u32, watch: &mut impl Watch) {
        let Line { port, to } = &mut self.lines[wire as usize];
        let at = *to;
        let (packet, next) = port.arrive(self.now);
        if let Some(next) = next {
            self.calendar.plan(next, Event::Arrival(wire));
        }
        self.pass_on(packet.number, at, watch);
    }

    /// A packet is at this host or switch.
    fn pass_on(&mut self, number: u32, at: Node, watch: &mut impl Watch) {
        let header = *self.packets.header(number);
        match at {
            Node::Switch(switch) => {
                let next = self.routes.next(switch, header.destination, header.hash);
                match self.devices.is_empty() {
                    true => self.offer(next, number),
                    false => self.offer_to_program(switch, next, number),
                }
            }
            Node::Host(_) => {
                let segment = self.packets.segment(number);
                self.balance.delivered += u64::from(header.len);
                watch.delivered(self.now, &header, segment);
                let flow = segment.flow;
                let side = match segment.kind.is_from_sender() {
                    true => Side::Receiver,
                    false => Side::Sender,
                };
                let input = Input::Segment(segment);
                let timer = self.connections.tell(self.now, flow, side, input, &mut self.out);
                self.packets.remove(number);
                self.follow(flow, side, timer);
            }
        }
    }

    /// A packet arrives at a switch that runs a program, and should leave it by this wire.
    fn offer_to_program(&mut self, switch: u32, wire: u32, number: u32) {
        let header = *self.packets.header(number);
        let segment = self.packets.segment(number);
        let datagram = Datagram {
            id: u64::from(number),
            rank: header.rank,
            len: header.len,
            ..self.setup.datagram(segment.flow, segment.kind.is_from_sender())
        };
        let device = &mut self.devices[switch as usize];
        let port = &mut self.lines[wire as usize].port;
        let verdict = device.checks().then(|| {
            port.catch_up(self.now);
            port.offer(self.now, number, &header)
        });
        let number_of_port = self.setup.topology.wires[wire as usize].from_port;
        let model = verdict.map(|verdict| (verdict, &*port));
        let lost = device.receive(self.now, &header, &datagram, number_of_port, model);
        port.send(self.now);
        match (lost, verdict) {
            (Err(difference), _) => self.difference = Some(difference),
            (Ok(_), Some(verdict)) => self.drop_lost(number, verdict),
            (Ok(true), None) => self.drop(number),
            (Ok(false), None) => {}
        }
        self.plan_switch(switch);
    }

    fn plan_switch(&mut self, switch: u32) {
        if let Some(at) = self.devices[switch as usize].wake(self.now) {
            self.calendar.plan(at, Event::Switch(switch));
        }
    }

    /// A switch that runs a program has something to do.
    fn wake(&mut self, switch: u32, watch: &mut impl Watch) {
        let device = &mut self.devices[switch as usize];
        device.advance(self.now);
        let mut frames = std::mem::take(&mut self.frames);
        if let Err(difference) = device.take_frames(&mut frames) {
            self.difference = Some(difference);
        }
        let checks = device.checks();
        for (wire, number, due) in frames.drain(..) {
            let Line { port, to, .. } = &mut self.lines[wire as usize];
            let at = *to;
            if checks {
                port.catch_up(self.now);
                let expected = port.first_in_transit().map(|packet| (packet.arrival, packet.number));
                if expected != Some((due, number)) {
                    self.difference.get_or_insert(format!(
                        "switch {}: packet {number} is at the far end of its link at {due} ns; the model says {expected:?}",
                        self.devices[switch as usize].name(),
                    ));
                    continue;
                }
                port.arrive(self.now);
            }
            self.pass_on(number, at, watch);
        }
        self.frames = frames;
        self.plan_switch(switch);
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
            in_flight: self.held_by_ports() + self.devices.iter().map(Device::held_bytes).sum::<u64>(),
            ..self.balance
        }
    }

    /// Bytes in ports and on wires. Where programs decide, ports of switches are in them.
    fn held_by_ports(&self) -> u64 {
        let lines = self.lines.iter().zip(&self.setup.topology.wires);
        let counted = lines.filter(|(_, wire)| self.devices.is_empty() || matches!(wire.from, Node::Host(_)));
        counted.map(|(line, _)| line.port.held_bytes()).sum()
    }

    /// Where a program and its model differ, if they do.
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    /// What the port in front of a wire has counted.
    pub fn counts(&self, wire: usize) -> Counts {
        let described = &self.setup.topology.wires[wire];
        match described.from {
            Node::Switch(switch) if !self.devices.is_empty() => {
                self.devices[switch as usize].counts(described.from_port)
            }
            _ => self.lines[wire].port.counts(),
        }
    }

    /// How long the queue in front of a wire was, where that is known.
    pub fn lengths(&self, wire: usize) -> Option<Lengths> {
        let unknown = self.devices.first().is_some_and(|device| !device.checks());
        self.lines[wire].port.lengths(self.now).filter(|_| !unknown)
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

/// A switch with the program for each switch, if programs decide.
fn devices(setup: &Setup, routes: &Routes) -> Result<Vec<Device>, DeviceError> {
    let Some(Installation { program, check }) = &setup.program else {
        return Ok(Vec::new());
    };
    let hosts = &setup.topology.hosts;
    let PortConfig {
        scheduler, start_time, ..
    } = &setup.switch_ports;
    let scheduler = scheduler.scheme().ok_or(DeviceError::NoProgram)?;
    let users_count = *start_time || !scheduler.scheme().p4().ranks;
    let users = device::users(setup.flows.iter().filter(|_| users_count).map(|flow| {
        let address = user_address(hosts[flow.source as usize].address, flow.user);
        (address, flow.user, flow.scale)
    }))?;
    let installed = Installed {
        program,
        scheduler,
        start_time: *start_time,
        check: *check,
        users: &users,
    };
    device::check(&installed, hosts.len(), setup.switch_ports.mark_at.is_some())?;
    (0..setup.topology.switches.len() as u32)
        .map(|number| Device::new(&installed, &setup.topology, routes, number))
        .collect()
}

/// Time between two packets of the network, in ns, if every wire were busy with the largest ones.
fn gap_ns(topology: &Topology) -> Nanos {
    let rate_bps: u128 = topology.wires.iter().map(|wire| u128::from(wire.cable.rate_bps)).sum();
    let gap = LARGEST_FRAME_BITS * NS_PER_S / rate_bps.max(1);
    Nanos::try_from(gap).unwrap_or(Nanos::MAX)
}

/// The address of a user of a host: 200 of them have one of their own.
fn user_address([a, b, c, _]: [u8; 4], user: u32) -> [u8; 4] {
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
