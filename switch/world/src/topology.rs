//! Hosts, switches, and the links between them.

use std::collections::HashSet;

use p4sched_traffic_manager::{Nanos, Port};
use serde::Deserialize;

/// Highest rate of a link, in bit/s.
pub const MAX_RATE_BPS: u64 = 100_000_000_000_000;
/// Longest delay of a link, in ns: one hour.
pub const MAX_DELAY_NS: Nanos = 3_600_000_000_000;

/// An invalid description of a network. The message says what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TopologyError(pub String);

/// An end of a link: a host or a switch, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A host, numbered from 0.
    Host(u32),
    /// A switch, numbered from 0.
    Switch(u32),
}

/// The rate and the delay of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cable {
    /// Rate of frames in each direction, in bit/s.
    pub rate_bps: u64,
    /// Propagation delay in each direction, in ns.
    #[serde(default)]
    pub delay_ns: Nanos,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The sender.
    pub from: Node,
    /// The sender's port, if it is a switch.
    pub from_port: Port,
    /// The receiver.
    pub to: Node,
    /// The receiver's port, if it is a switch.
    pub to_port: Port,
    pub cable: Cable,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub name: String,
    pub address: [u8; 4],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Index = number of the host.
    pub hosts: Vec<Host>,
    /// Names of the switches, index = number.
    pub switches: Vec<String>,
    /// Wires 2 i and 2 i + 1 are the two directions of link i.
    pub wires: Vec<Wire>,
}

impl Topology {
    pub fn host(&mut self, name: String, address: [u8; 4]) -> Node {
        self.hosts.push(Host { name, address });
        Node::Host(self.hosts.len() as u32 - 1)
    }

    pub fn switch(&mut self, name: String) -> Node {
        self.switches.push(name);
        Node::Switch(self.switches.len() as u32 - 1)
    }

    pub fn link(&mut self, one: (Node, Port), other: (Node, Port), cable: Cable) {
        for ((from, from_port), (to, to_port)) in [(one, other), (other, one)] {
            self.wires.push(Wire {
                from,
                from_port,
                to,
                to_port,
                cable,
            });
        }
    }

    pub fn name(&self, node: Node) -> &str {
        match node {
            Node::Host(number) => &self.hosts[number as usize].name,
            Node::Switch(number) => &self.switches[number as usize],
        }
    }

    /// Checks the network.
    ///
    /// # Errors
    /// If there are fewer than two hosts, names repeat, a rate or delay is out of range, or a host does not have
    /// exactly one link to a switch.
    pub fn check(&self) -> Result<(), TopologyError> {
        let wrong = |problem: String| Err(TopologyError(problem));
        if self.hosts.len() < 2 {
            return wrong("a network needs two hosts at least".into());
        }
        let mut names = HashSet::new();
        for name in self.hosts.iter().map(|host| &host.name).chain(&self.switches) {
            if !names.insert(name) {
                return wrong(format!("two nodes are called {name}"));
            }
        }
        let mut links = vec![0; self.hosts.len()];
        for (number, wire) in self.wires.iter().enumerate() {
            self.check_wire(number / 2, wire)?;
            if let Node::Host(host) = wire.from {
                links[host as usize] += 1;
            }
        }
        match links.iter().position(|&links| links != 1) {
            None => Ok(()),
            Some(host) => wrong(format!(
                "host {} has {} links: a host has one, to a switch",
                self.hosts[host].name, links[host]
            )),
        }
    }

    fn check_wire(&self, link: usize, wire: &Wire) -> Result<(), TopologyError> {
        let wrong = |problem: String| Err(TopologyError(problem));
        let Cable { rate_bps, delay_ns } = wire.cable;
        let (from, to) = (self.name(wire.from), self.name(wire.to));
        if wire.from == wire.to {
            return wrong(format!("link {link} is a loop: both of its ends are {from}"));
        }
        if let (Node::Host(_), Node::Host(_)) = (wire.from, wire.to) {
            return wrong(format!("host {to} has 0 links: a host has one, to a switch"));
        }
        if !(1..=MAX_RATE_BPS).contains(&rate_bps) {
            return wrong(format!(
                "the link between {from} and {to} has rate_bps = {rate_bps}: it is 1 to {MAX_RATE_BPS} bit/s"
            ));
        }
        if delay_ns > MAX_DELAY_NS {
            return wrong(format!(
                "the link between {from} and {to} has delay_ns = {delay_ns}: it is 0 to {MAX_DELAY_NS} ns"
            ));
        }
        Ok(())
    }
}

/// An address for the host of this number, for networks in which racks do not matter.
pub fn scattered_address(number: usize) -> [u8; 4] {
    [10, (number / 200 + 1) as u8, (number % 200 + 1) as u8, 1]
}
