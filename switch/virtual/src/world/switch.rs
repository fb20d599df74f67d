//! One switch: its device, and its ports in virtual time.

use std::collections::{BTreeMap, VecDeque};

use p4sched_dataplane::{Nanos, Port};
use p4sched_device::{Device, Fidelity, Link, PortCounts, Ports};
use p4sched_engine::{Frame, FrameSink};
use p4sched_p4runtime::Job;

use crate::host::Outbox;
use crate::topology::Peer;

/// A switch of the network.
pub struct SwitchNode {
    device: Device,
    ports: VirtualPorts,
    /// Notifications when [`SwitchNode::has_notified`] was last asked.
    notified: u64,
}

/// Where its frames go, and what it counts of them.
struct VirtualPorts {
    now: Nanos,
    peers: BTreeMap<Port, Peer>,
    counts: BTreeMap<Port, PortCounts>,
    /// Frames at the far end that nobody has taken yet: where in `bytes`, and how long.
    sent: VecDeque<(Port, usize, usize)>,
    bytes: Vec<u8>,
    departures: u64,
    /// How late a frame was at the far end, at worst: never, unless the network has not woken the switch.
    latest: Nanos,
    /// Time and departures of the last reset.
    since: (Nanos, u64),
    unconnected: u64,
}

impl SwitchNode {
    /// A switch with these links. Its interfaces are called as Mininet calls them.
    pub fn new(name: &str, mut device: Device, peers: BTreeMap<Port, Peer>) -> SwitchNode {
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

    /// The device, to look at.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Numbers of the ports that have a link, ascending.
    pub fn port_numbers(&self) -> Vec<Port> {
        self.ports.numbers()
    }

    /// Frames for ports without a link.
    pub fn unconnected(&self) -> u64 {
        self.ports.unconnected
    }

    /// When it next has something to do.
    pub fn next_event(&self) -> Option<Nanos> {
        self.device.next_event()
    }

    /// Whether it has told the controllers something since this was last asked.
    pub fn has_notified(&mut self) -> bool {
        let before = std::mem::replace(&mut self.notified, self.device.counts().notifications);
        before != self.notified
    }

    /// Lets everything happen that is due.
    pub fn advance(&mut self, now: Nanos) {
        self.ports.now = now;
        self.device.advance(now, &mut self.ports);
    }

    /// A frame has arrived on a port.
    pub fn receive(&mut self, now: Nanos, port: Port, frame: &[u8]) {
        self.ports.now = now;
        if let Some(counts) = self.ports.counts.get_mut(&port) {
            counts.rx_packets += 1;
            counts.rx_bytes += frame.len() as u64;
        }
        self.device.receive(now, port, frame, &mut self.ports);
    }

    /// Runs a request.
    pub fn request(&mut self, now: Nanos, job: Job) {
        self.advance(now);
        job(&mut self.device, &mut self.ports, now);
    }

    /// The next frame that is at the far end of its link, and who is there. The buffer comes from `spare`.
    pub fn take_sent(&mut self, spare: &mut Outbox) -> Option<(Peer, Vec<u8>)> {
        while let Some((port, start, len)) = self.ports.sent.pop_front() {
            let frame = &self.ports.bytes[start..start + len];
            let Some(&peer) = self.ports.peers.get(&port) else {
                self.ports.unconnected += 1;
                continue;
            };
            let mut buffer = spare.buffer();
            buffer.extend_from_slice(frame);
            return Some((peer, buffer));
        }
        self.ports.bytes.clear();
        None
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

    /// Nothing is lost on the way, and the time of a CPU does not count.
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
