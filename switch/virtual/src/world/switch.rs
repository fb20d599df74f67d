//! All switches: each a device, and its ports in virtual time.

use std::collections::{BTreeMap, VecDeque};

use p4sched_dataplane::{Nanos, Port};
use p4sched_device::{Device, Fidelity, Link, PortCounts, Ports};
use p4sched_engine::{Frame, FrameSink};
use p4sched_p4runtime::Job;
use p4sched_world::planned::WakeUp;
use p4sched_world::topology::Node;
use p4sched_world::world::{Event, Switches};

use super::hosts::{LabHosts, Net};
use crate::host::{HostError, Outbox};

pub struct SwitchNode {
    device: Device,
    ports: VirtualPorts,
    /// Number of notifications at the last call of [`SwitchNode::has_notified`].
    notified: u64,
    planned: WakeUp,
}

/// The ports of a switch: their peers and counters.
struct VirtualPorts {
    now: Nanos,
    peers: BTreeMap<Port, (Node, Port)>,
    counts: BTreeMap<Port, PortCounts>,
    /// Frames that have reached the far end and wait for the network: port, place in `bytes`, and length.
    sent: VecDeque<(Port, usize, usize)>,
    bytes: Vec<u8>,
    departures: u64,
    /// Largest delay of a frame at the far end. It is 0 if the network wakes the switch in time.
    latest: Nanos,
    /// Time and number of departures at the last reset.
    since: (Nanos, u64),
    unconnected: u64,
}

impl SwitchNode {
    /// A switch with these links. Its interfaces have the names that Mininet gives them.
    pub fn new(name: &str, mut device: Device, peers: BTreeMap<Port, (Node, Port)>) -> SwitchNode {
        let counts = peers.keys().map(|&port| {
            let interface = format!("{name}-eth{port}");
            let counts = PortCounts {
                interface,
                up: true,
                ..PortCounts::default()
            };
            (port, counts)
        });
        let counts: BTreeMap<Port, PortCounts> = counts.collect();
        let links = counts.iter().map(|(&port, counts)| {
            let interface = counts.interface.clone();
            (port, Link { interface, up: true })
        });
        device.set_links(links.collect());
        SwitchNode {
            notified: 0,
            planned: WakeUp::default(),
            device,
            ports: VirtualPorts {
                now: 0,
                counts,
                peers,
                sent: VecDeque::new(),
                bytes: Vec::new(),
                departures: 0,
                latest: 0,
                since: (0, 0),
                unconnected: 0,
            },
        }
    }

    /// The device, read-only.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Numbers of the ports that have a link, in ascending order.
    pub fn port_numbers(&self) -> Vec<Port> {
        self.ports.numbers()
    }

    /// Number of frames for ports without a link.
    pub fn unconnected(&self) -> u64 {
        self.ports.unconnected
    }

    /// Whether the switch has notified its controllers since the last call.
    fn has_notified(&mut self) -> bool {
        let before = std::mem::replace(&mut self.notified, self.device.counts().notifications);
        before != self.notified
    }

    /// Handles everything that is due.
    fn advance(&mut self, now: Nanos) {
        self.ports.now = now;
        self.device.advance(now, &mut self.ports);
    }

    /// Takes a frame that has arrived on a port.
    fn receive(&mut self, now: Nanos, port: Port, frame: &[u8]) {
        self.ports.now = now;
        if let Some(counts) = self.ports.counts.get_mut(&port) {
            counts.rx_packets += 1;
            counts.rx_bytes += frame.len() as u64;
        }
        self.device.receive(now, port, frame, &mut self.ports);
    }

    fn request(&mut self, now: Nanos, job: Job) {
        self.advance(now);
        job(&mut self.device, &mut self.ports, now);
    }

    /// Removes the next frame that has reached the far end of its link. Returns its number, and the node and port
    /// there.
    fn take_sent(&mut self, frames: &mut Outbox) -> Option<(u32, Node, Port)> {
        while let Some((port, start, len)) = self.ports.sent.pop_front() {
            let frame = &self.ports.bytes[start..start + len];
            let Some(&(to, to_port)) = self.ports.peers.get(&port) else {
                self.ports.unconnected += 1;
                continue;
            };
            let number = frames.insert(|buffer| buffer.extend_from_slice(frame));
            return Some((number, to, to_port));
        }
        self.ports.bytes.clear();
        None
    }
}

pub struct LabSwitches {
    pub nodes: Vec<SwitchNode>,
    /// Whether a switch has notified its controllers. The front end resets it.
    pub notified: bool,
}

impl LabSwitches {
    pub fn new(nodes: Vec<SwitchNode>) -> LabSwitches {
        LabSwitches { nodes, notified: false }
    }

    /// Runs a request on a switch at the current time.
    pub fn request(&mut self, switch: usize, job: Job, net: &mut Net) {
        self.nodes[switch].request(net.now(), job);
        self.forward(switch, net);
        self.plan_node(switch, net);
    }

    /// Hands over the frames that a switch has transmitted.
    fn forward(&mut self, place: usize, net: &mut Net) {
        let node = &mut self.nodes[place];
        while let Some((number, to, port)) = node.take_sent(&mut net.packets) {
            net.deliver(number, to, port);
        }
        self.notified |= node.has_notified();
    }

    fn plan_node(&mut self, place: usize, net: &mut Net) {
        let SwitchNode { device, planned, .. } = &mut self.nodes[place];
        if let Some(at) = planned.wake_at(net.now(), device.next_event()) {
            net.plan(at, Event::Switch(place as u32));
        }
    }
}

impl Switches<LabHosts> for LabSwitches {
    fn receive(&mut self, switch: u32, port: Port, number: u32, net: &mut Net) -> Result<(), HostError> {
        let place = switch as usize;
        let frame = net.packets.take(number);
        self.nodes[place].receive(net.now(), port, &frame);
        net.packets.give_back(number, frame);
        self.forward(place, net);
        self.plan_node(place, net);
        Ok(())
    }

    fn wake(&mut self, switch: u32, net: &mut Net) -> Result<(), HostError> {
        let (place, now) = (switch as usize, net.now());
        let node = &mut self.nodes[place];
        node.planned.woken(now);
        if node.device.next_event().is_some_and(|at| at <= now) {
            node.advance(now);
            self.forward(place, net);
        }
        Ok(())
    }

    fn plan(&mut self, switch: u32, net: &mut Net) {
        self.plan_node(switch as usize, net);
    }
}

impl FrameSink for VirtualPorts {
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        self.departures += 1;
        self.latest = self.latest.max(self.now - due);
        if let Some(counts) = self.counts.get_mut(&port) {
            counts.tx_packets += 1;
            counts.tx_bytes += frame.len() as u64;
        }
        self.sent.push_back((port, self.bytes.len(), frame.len()));
        self.bytes.extend_from_slice(frame);
    }
}

impl Ports for VirtualPorts {
    fn numbers(&self) -> Vec<Port> {
        self.peers.keys().copied().collect()
    }

    fn counts(&mut self, port: Port) -> PortCounts {
        self.counts.get(&port).cloned().unwrap_or_default()
    }

    /// No frame is ever lost or late in the ports, and processor time does not count.
    fn fidelity(&mut self, reset: bool) -> Fidelity {
        let (at, departures) = self.since;
        if reset {
            self.since = (self.now, self.departures);
        }
        Fidelity {
            measured_ns: self.now - at,
            departures: self.departures - departures,
            lateness_max_ns: self.latest,
            ..Fidelity::default()
        }
    }
}
