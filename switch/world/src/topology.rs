//! Hosts, switches, and the links between them.

use std::collections::HashSet;

use p4sched_traffic_manager::{Nanos, Port};
use serde::Deserialize;

/// Highest rate of a link, in bit/s.
pub const MAX_RATE_BPS: u64 = 100_000_000_000_000;
/// Longest delay of a link: an hour.
pub const MAX_DELAY_NS: Nanos = 3_600_000_000_000;

/// A description that is no network; the message says what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TopologyError(pub String);

/// An end of a link: a host or a switch, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Hosts are numbered from 0.
    Host(u32),
    /// So are switches.
    Switch(u32),
}

/// What a link carries, and how long that takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cable {
    /// In bit/s of frames, each way.
    pub rate_bps: u64,
    /// Propagation delay, each way.
    #[serde(default)]
    pub delay_ns: Nanos,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Who sends on it.
    pub from: Node,
    /// The sender's port, if it is a switch.
    pub from_port: Port,
    /// Who receives.
    pub to: Node,
    /// The receiver's port, if it is a switch.
    pub to_port: Port,
    /// Rate and delay.
    pub cable: Cable,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its IPv4 address.
    pub address: [u8; 4],
}

/// A network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Index = number.
    pub hosts: Vec<Host>,
    /// Names of the switches; index = number.
    pub switches: Vec<String>,
    /// Wires 2 i and 2 i + 1 are the two directions of link i.
    pub wires: Vec<Wire>,
}

impl Topology {
    /// Adds a host.
    pub fn host(&mut self, name: String, address: [u8; 4]) -> Node {
        self.hosts.push(Host { name, address });
        Node::Host(self.hosts.len() as u32 - 1)
    }

    /// Adds a switch with this name.
    pub fn switch(&mut self, name: String) -> Node {
        self.switches.push(name);
        Node::Switch(self.switches.len() as u32 - 1)
    }

    /// Adds a link between these ports of two nodes.
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

    /// The name of a node.
    pub fn name(&self, node: Node) -> &str {
        match node {
            Node::Host(number) => &self.hosts[number as usize].name,
            Node::Switch(number) => &self.switches[number as usize],
        }
    }

    /// # Errors
    /// If there are fewer than two hosts, names repeat, a rate or delay is out of range, or a host has not one link to a switch.
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

/// An address for host number `number` where racks do not matter.
pub fn scattered_address(number: usize) -> [u8; 4] {
    [10, (number / 200 + 1) as u8, (number % 200 + 1) as u8, 1]
}
