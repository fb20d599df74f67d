//! The hosts: both ends of each flow, and the packets made of their segments.

use std::fmt::Debug;
use std::sync::Arc;

use p4sched_schedulers::fdpa::{UNCLASSIFIED, UNIT_SCALE};
use p4sched_schedulers::{Nanos, Rank};
use p4sched_transport::{Control, Kind, Segment, Sent};
use p4sched_world::topology::Node;
use p4sched_world::world::{self, Event, Hosts};
use rand_chacha::ChaCha8Rng;

use super::connections::{Connections, Input, Record, Side};
use super::flows::Flow;
use super::packets::Header;
use super::port::Port;
use super::setup::{Ranks, Setup};
use crate::frames::flow_cell;
use crate::workload::{RankSampler, seeded};

/// Shortest Ethernet frame without FCS, in bytes.
pub(super) const MIN_FRAME: u32 = 60;

/// Observes a run.
pub trait DeliveryObserver: Debug {
    /// A packet reached its destination host.
    fn delivered(&mut self, now: Nanos, header: &Header, segment: &Segment);
}

/// An event at the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// The next flow of the list starts.
    FlowStart,
    /// The timer of a flow's sender.
    Sender(u32),
    /// The timer of a flow's receiver.
    Receiver(u32),
}

impl world::Timer for Timer {
    type Rank = ();

    #[inline]
    fn rank(_: Event<Timer>) {}
}

/// A difference between a program and its model, as a sentence. It is boxed so that a `Result` fits into registers.
pub type Difference = Box<str>;

/// The parts of the network outside hosts and switches.
pub type Net = world::Net<Port, Timer>;

/// All hosts of a network.
#[derive(Debug)]
pub struct FlowHosts {
    setup: Arc<Setup>,
    /// Wires by host.
    uplinks: Vec<u32>,
    connections: Connections,
    /// Hashes of the 5-tuple in each direction, by flow that has started.
    hashes: Vec<[u32; 2]>,
    /// What each flow that has started has sent.
    sent: Vec<Sent>,
    /// Source of ranks that are drawn.
    drawn: Option<(RankSampler, ChaCha8Rng)>,
    /// Segments between a host's transport and its port; empty between events.
    out: Vec<Segment>,
    pub(super) watch: Option<Box<dyn DeliveryObserver>>,
}

impl FlowHosts {
    /// Makes the hosts. No flow has started.
    pub fn new(setup: Arc<Setup>) -> FlowHosts {
        let mut uplinks = vec![0; setup.topology.hosts.len()];
        for (number, wire) in (0..).zip(&setup.topology.wires) {
            if let Node::Host(host) = wire.from {
                uplinks[host as usize] = number;
            }
        }
        let drawn = match &setup.ranks {
            Ranks::Drawn(weights) => Some((RankSampler::from_weights(weights), seeded(setup.seed))),
            _ => None,
        };
        FlowHosts {
            uplinks,
            drawn,
            connections: Connections::new(setup.flows.len()),
            hashes: Vec::new(),
            sent: Vec::new(),
            out: Vec::new(),
            watch: None,
            setup,
        }
    }

    /// The record of a flow so far. A sender of datagrams never knows what has arrived.
    pub fn record(&self, flow: u32) -> Record {
        let record = self.connections.record(flow);
        let transport = self.setup.flows[flow as usize].transport;
        match self.setup.transports[transport].config.control {
            Control::Udp { .. } => Record {
                acknowledged_ns: None,
                ..record
            },
            _ => record,
        }
    }

    /// Number of flows that have started.
    pub fn started(&self) -> usize {
        self.hashes.len()
    }

    fn start_flow(&mut self, net: &mut Net) {
        let number = self.hashes.len() as u32;
        let flow = self.setup.flows[number as usize];
        self.hashes.push([
            self.setup.datagram(number, true).flow_hash(),
            self.setup.datagram(number, false).flow_hash(),
        ]);
        self.sent.push(Sent::default());
        if let Some(next) = self.setup.flows.get(self.hashes.len()) {
            net.plan(next.start_ns, Event::Host(Timer::FlowStart));
        }
        let config = &self.setup.transports[flow.transport].config;
        self.connections.open(number, flow.bytes, config);
        self.pass_event(number, Side::Receiver, Input::Start, net);
        self.pass_event(number, Side::Sender, Input::Start, net);
    }

    /// Passes an event to an end of a flow, and handles its answer.
    #[inline(always)]
    fn pass_event(&mut self, flow: u32, side: Side, input: Input<'_>, net: &mut Net) {
        let timer = (self.connections).pass_event(net.now(), flow, side, input, &mut self.out);
        self.follow(flow, side, timer, net);
    }

    /// Plans the timer of an end of a flow, and sends its segments.
    fn follow(&mut self, flow: u32, side: Side, timer: Option<Nanos>, net: &mut Net) {
        if let Some(at) = timer {
            let timer = match side {
                Side::Sender => Timer::Sender(flow),
                Side::Receiver => Timer::Receiver(flow),
            };
            net.plan(at, Event::Host(timer));
        }
        let mut out = std::mem::take(&mut self.out);
        for segment in &out {
            self.emit(segment, net);
        }
        out.clear();
        self.out = out;
    }

    /// Hands a segment of a host to its port.
    fn emit(&mut self, segment: &Segment, net: &mut Net) {
        let setup = &*self.setup;
        let flow = &setup.flows[segment.flow as usize];
        let forward = segment.kind.is_from_sender();
        let (from, destination) = match forward {
            true => (flow.source, flow.destination),
            false => (flow.destination, flow.source),
        };
        let hash = self.hashes[segment.flow as usize][usize::from(!forward)];
        let len = segment.len + setup.transports[flow.transport].overhead_bytes;
        let own = match &mut self.drawn {
            Some((sampler, random)) => sampler.draw(random),
            None => rank(&setup.ranks, flow, segment),
        };
        let header = Header {
            destination,
            hash,
            rank: match segment.kind {
                Kind::Data => {
                    let sent = &mut self.sent[segment.flow as usize];
                    sent.rank(own, setup.retransmissions, segment.seq, segment.len)
                }
                _ => own,
            },
            user: if forward || setup.charge_answers {
                flow.user
            } else {
                UNCLASSIFIED
            },
            scale: if forward { flow.scale } else { UNIT_SCALE },
            flow: match (&setup.program, setup.switch_ports.scheduler.scheme()) {
                (Some(_), Some(config)) => flow_cell(&config.scheme().p4(), hash),
                _ => segment.flow << 1 | u32::from(!forward),
            },
            len: len.max(MIN_FRAME),
        };
        net.account.sent += u64::from(header.len);
        let number = net.packets.insert(header, *segment);
        net.offer(self.uplinks[from as usize], number);
    }
}

impl Hosts for FlowHosts {
    type Port = Port;
    type Timer = Timer;
    /// A difference between a program and its model.
    type Error = Difference;

    #[inline(always)]
    fn receive(&mut self, _host: u32, number: u32, net: &mut Net) -> Result<(), Difference> {
        let (header, segment) = (net.packets.header(number), net.packets.segment(number));
        net.account.delivered += u64::from(header.len);
        if let Some(watch) = &mut self.watch {
            watch.delivered(net.now(), header, segment);
        }
        let flow = segment.flow;
        let side = match segment.kind.is_from_sender() {
            true => Side::Receiver,
            false => Side::Sender,
        };
        let input = Input::Segment(segment);
        let timer = (self.connections).pass_event(net.now(), flow, side, input, &mut self.out);
        net.packets.remove(number);
        self.follow(flow, side, timer, net);
        Ok(())
    }

    #[inline]
    fn wake(&mut self, timer: Timer, net: &mut Net) -> Result<(), Difference> {
        match timer {
            Timer::FlowStart => self.start_flow(net),
            Timer::Sender(flow) => self.pass_event(flow, Side::Sender, Input::Timer, net),
            Timer::Receiver(flow) => self.pass_event(flow, Side::Receiver, Input::Timer, net),
        }
        Ok(())
    }
}

fn rank(ranks: &Ranks, flow: &Flow, segment: &Segment) -> Rank {
    let bytes = match ranks {
        Ranks::Flow => return flow.rank,
        Ranks::StartTime | Ranks::Drawn(_) => 0,
        _ if !segment.kind.is_from_sender() => 0,
        Ranks::Remaining => segment.remaining,
        Ranks::ToEnd => match segment.kind {
            Kind::Syn => flow.bytes,
            _ => flow.bytes.saturating_sub(segment.seq + 1),
        },
    };
    Rank::try_from(bytes).unwrap_or(Rank::MAX)
}
