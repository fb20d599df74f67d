//! One run: hosts, switches and packets, from the first flow to the end.

use std::sync::Arc;

use p4sched_schedulers::{Nanos, Rank};
use p4sched_world::account::Account;
use p4sched_world::topology::{Node, Topology};
use p4sched_world::world::{self, Event};

use super::by_queue::QueueLengths;
use super::by_rank::ByRank;
use super::connections::Record;
use super::fabric::Fabric;
use super::hosts::{DeliveryObserver, FlowHosts, Timer};
use super::lengths::Lengths;
use super::order::OutOfOrder;
use super::packets::Packets;
use super::port::{Counts, Port};
use super::setup::{Events, Setup, SetupError};

/// Bits of the largest Ethernet frame, without FCS.
const LARGEST_FRAME_BITS: u128 = 8 * 1514;
const NS_PER_S: u128 = 1_000_000_000;

/// What is recorded at the same instant.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Bytes that the receiver of each flow has.
    pub received_bytes: Vec<u64>,
    /// The port in front of each wire, if it is one of a switch and ports are sampled.
    pub ports: Vec<Option<PortSample>>,
}

/// The queues and the counters of a port.
#[derive(Clone, Debug)]
pub struct PortSample {
    pub queues: QueueLengths,
    /// Bounds of the queues, if a model decides whose rule has them.
    pub bounds: Vec<Rank>,
    pub counts: Counts,
}

/// One run of a network.
#[derive(Debug)]
pub struct World {
    setup: Arc<Setup>,
    world: world::World<FlowHosts, Fabric>,
    /// The difference between a program and its model at which the run ended.
    difference: Option<String>,
    samples: Vec<Sample>,
}

impl World {
    /// Makes a network with no event yet.
    ///
    /// # Errors
    /// If two hosts have no path, or a model refuses its configuration.
    pub fn new(setup: Setup) -> Result<World, SetupError> {
        let setup = Arc::new(setup);
        let port = |wire: &p4sched_world::topology::Wire| {
            let (of, config) = match wire.from {
                Node::Host(_) => ("hosts", &setup.host_ports),
                Node::Switch(_) => ("ports", &setup.switch_ports),
            };
            let port = Port::new(config, wire.cable.rate_bps, wire.cable.delay_ns);
            port.map_err(|error| SetupError::Port { of, error })
        };
        let fabric = Fabric::new(Arc::clone(&setup))?;
        let ports: Vec<Port> = setup.topology.wires.iter().map(port).collect::<Result<_, _>>()?;
        let ends = FlowHosts::new(Arc::clone(&setup));
        let gap = gap_ns(&setup.topology);
        let mut world = world::World::new(&setup.topology, ports, Packets::default(), gap, ends, fabric);
        if setup.events == Events::Netbench {
            world = world.as_in_netbench();
        }
        if let Some(first) = setup.flows.first() {
            world.net.plan(first.start_ns, Event::Host(Timer::FlowStart));
        }
        Ok(World {
            setup,
            world,
            difference: None,
            samples: Vec::new(),
        })
    }

    /// Runs the next event, or takes the next sample. Returns false if there is none before the end of the run.
    pub fn step(&mut self) -> bool {
        if self.difference.is_some() {
            return false;
        }
        let until = self.next_sample().unwrap_or(self.setup.end_ns);
        match self.world.step(until) {
            Ok(true) => true,
            Ok(false) if self.next_sample().is_some() => {
                let sample = self.sample(until);
                self.samples.push(sample);
                true
            }
            Ok(false) => {
                self.world.wait(self.setup.end_ns);
                for line in &mut self.world.net.lines {
                    line.port.catch_up(self.setup.end_ns);
                }
                false
            }
            Err(stopped) => {
                self.difference = Some(stopped.to_string());
                true
            }
        }
    }

    /// Time of the next sample.
    fn next_sample(&self) -> Option<Nanos> {
        let number = self.samples.len() as Nanos + 1;
        let at = self.setup.sample_ns?.checked_mul(number)?;
        (at <= self.setup.end_ns).then_some(at)
    }

    /// What is true at `now`, after all its events.
    fn sample(&mut self, now: Nanos) -> Sample {
        let wires = 0..self.setup.topology.wires.len();
        let flows = 0..self.setup.flows.len();
        Sample {
            received_bytes: flows.map(|flow| self.record(flow).received_bytes).collect(),
            ports: match self.setup.switch_ports.sampled {
                true => wires.map(|wire| self.port_sample(now, wire)).collect(),
                false => Vec::new(),
            },
        }
    }

    fn port_sample(&mut self, now: Nanos, wire: usize) -> Option<PortSample> {
        let described = &self.setup.topology.wires[wire];
        let Node::Switch(switch) = described.from else {
            return None;
        };
        let port = &mut self.world.net.lines[wire].port;
        let (queues, bounds) = match self.world.switches.queue_lengths(switch, described.from_port) {
            Some(of_program) => (of_program, Vec::new()),
            None => {
                // departures that are due have not happened yet
                port.catch_up(now);
                (port.queue_lengths()?, port.bounds())
            }
        };
        Some(PortSample {
            queues,
            bounds,
            counts: self.counts(wire),
        })
    }

    /// All samples so far.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Runs every event until the end of the run.
    pub fn run(&mut self) {
        while self.step() {}
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Adds an observer of all later events.
    pub fn watch(&mut self, watch: Box<dyn DeliveryObserver>) {
        self.world.hosts.watch = Some(watch);
    }

    pub fn now(&self) -> Nanos {
        self.world.net.now()
    }

    /// Number of events so far.
    pub fn events(&self) -> u64 {
        self.world.net.events()
    }

    /// Account of all bytes: where each of them is.
    pub fn account(&self) -> Account {
        let programs = self.world.switches.has_programs();
        let mut account = self.world.net.account;
        for (line, wire) in self.world.net.lines.iter().zip(&self.setup.topology.wires) {
            match wire.from {
                Node::Host(_) => account.on_uplinks += line.port.held_bytes(),
                // A program holds the packets itself, and the port is the model beside it.
                Node::Switch(_) if programs => {}
                Node::Switch(_) => account.in_switches += line.port.held_bytes(),
            }
        }
        account.in_switches += self.world.switches.held_bytes();
        account
    }

    /// The difference between a program and its model, if there is one.
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    /// Counters of the port in front of a wire.
    pub fn counts(&self, wire: usize) -> Counts {
        let described = &self.setup.topology.wires[wire];
        let by_program = match described.from {
            Node::Switch(switch) => self.world.switches.counts(switch, described.from_port),
            Node::Host(_) => None,
        };
        by_program.unwrap_or_else(|| self.world.net.lines[wire].port.counts())
    }

    /// Lengths over time of the queue in front of a wire, if they were recorded.
    pub fn lengths(&self, wire: usize) -> Option<Lengths> {
        let described = &self.setup.topology.wires[wire];
        let by_program = match described.from {
            Node::Switch(switch) => (self.world.switches).lengths(self.now(), switch, described.from_port),
            Node::Host(_) => None,
        };
        by_program.or_else(|| self.world.net.lines[wire].port.lengths(self.now()))
    }

    /// Counts by rank of the port in front of a wire, if ranks are drawn and a model decides there.
    pub fn by_rank(&self, wire: usize) -> Option<&ByRank> {
        (!self.world.switches.has_programs()).then(|| self.world.net.lines[wire].port.by_rank())?
    }

    /// Packets that left the port in front of a wire out of order, if they are counted.
    pub fn out_of_order(&self, wire: usize) -> Option<OutOfOrder> {
        self.world.net.lines[wire].port.out_of_order()
    }

    /// The record of a flow so far.
    pub fn record(&self, flow: usize) -> Record {
        self.world.hosts.record(flow as u32)
    }

    /// Number of flows that have started.
    pub fn started(&self) -> usize {
        self.world.hosts.started()
    }
}

/// Time in ns between two packets of the network, if every wire were busy with the largest packets.
fn gap_ns(topology: &Topology) -> Nanos {
    let rate_bps: u128 = topology.wires.iter().map(|wire| u128::from(wire.cable.rate_bps)).sum();
    let gap = LARGEST_FRAME_BITS * NS_PER_S / rate_bps.max(1);
    Nanos::try_from(gap).unwrap_or(Nanos::MAX)
}
