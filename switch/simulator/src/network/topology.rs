//! Hosts, switches, and the links between them.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use p4sched_schedulers::Nanos;
use serde::Deserialize;

/// Highest rate of a link, in bit/s.
pub const MAX_RATE_BPS: u64 = 100_000_000_000_000;
/// Longest delay of a link: an hour.
pub const MAX_DELAY_NS: Nanos = 3_600_000_000_000;

/// Why there is no such network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// A name that two nodes have.
    #[error("two nodes are called {0}")]
    SameName(String),
    /// A link to nowhere.
    #[error("link {link}: there is no node {name}")]
    UnknownNode {
        /// Which link, counted from 0.
        link: usize,
        /// The name.
        name: String,
    },
    /// A link from a node to itself.
    #[error("link {link} is a loop: both of its ends are {name}")]
    Loop {
        /// Which link, counted from 0.
        link: usize,
        /// The node.
        name: String,
    },
    /// A host with no link, or with several.
    #[error("host {name} has {links} links: a host has one, to a switch")]
    HostLinks {
        /// The host.
        name: String,
        /// How many it has.
        links: usize,
    },
    /// A rate that no link has.
    #[error("the link between {between} has rate_bps = {rate_bps}: it is 1 to {MAX_RATE_BPS} bit/s")]
    Rate {
        /// Its ends.
        between: String,
        /// The rate.
        rate_bps: u64,
    },
    /// A delay that no link has.
    #[error("the link between {between} has delay_ns = {delay_ns}: it is 0 to {MAX_DELAY_NS} ns")]
    Delay {
        /// Its ends.
        between: String,
        /// The delay.
        delay_ns: Nanos,
    },
    /// A number that a shape cannot have.
    #[error("{what} = {value}: there can be {least} to {most}")]
    Count {
        /// Of what.
        what: String,
        /// How many were asked for.
        value: u32,
        /// Fewest.
        least: u32,
        /// Most.
        most: u32,
    },
    /// An odd number where half of the ports go up.
    #[error("{what} = {value} is odd; half of a switch's ports go up, half go down")]
    Odd {
        /// Of what.
        what: String,
        /// How many were asked for.
        value: u32,
    },
    /// Two hosts without a path.
    #[error("there is no path from host {from} to host {to}")]
    Unreachable {
        /// One host.
        from: String,
        /// The other.
        to: String,
    },
    /// A file that describes no network.
    #[error("{}: {problem}", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// No hosts at all.
    #[error("a network needs two hosts at least")]
    NoHosts,
}

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
    /// The sender's port.
    pub from_port: u16,
    /// Who receives.
    pub to: Node,
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
    pub fn link(&mut self, one: (Node, u16), other: (Node, u16), cable: Cable) {
        for ((from, from_port), (to, _)) in [(one, other), (other, one)] {
            self.wires.push(Wire {
                from,
                from_port,
                to,
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
    /// If names repeat, a rate or delay is out of range, or a host has not one link to a switch.
    pub fn check(&self) -> Result<(), TopologyError> {
        if self.hosts.len() < 2 {
            return Err(TopologyError::NoHosts);
        }
        let mut names = HashSet::new();
        for name in self.hosts.iter().map(|host| &host.name).chain(&self.switches) {
            if !names.insert(name) {
                return Err(TopologyError::SameName(name.clone()));
            }
        }
        let mut links = vec![0; self.hosts.len()];
        for (number, wire) in self.wires.iter().enumerate() {
            self.check_wire(number, wire)?;
            if let Node::Host(host) = wire.from {
                links[host as usize] += 1;
            }
        }
        match links.iter().position(|&links| links != 1) {
            None => Ok(()),
            Some(host) => Err(TopologyError::HostLinks {
                name: self.hosts[host].name.clone(),
                links: links[host],
            }),
        }
    }

    fn check_wire(&self, number: usize, wire: &Wire) -> Result<(), TopologyError> {
        let Cable { rate_bps, delay_ns } = wire.cable;
        let between = || format!("{} and {}", self.name(wire.from), self.name(wire.to));
        if wire.from == wire.to {
            return Err(TopologyError::Loop {
                link: number / 2,
                name: self.name(wire.from).to_owned(),
            });
        }
        if !(1..=MAX_RATE_BPS).contains(&rate_bps) {
            return Err(TopologyError::Rate {
                between: between(),
                rate_bps,
            });
        }
        if delay_ns > MAX_DELAY_NS {
            return Err(TopologyError::Delay {
                between: between(),
                delay_ns,
            });
        }
        if let (Node::Host(_), Node::Host(other)) = (wire.from, wire.to) {
            // Two hosts on one cable: neither has a link to a switch.
            return Err(TopologyError::HostLinks {
                name: self.hosts[other as usize].name.clone(),
                links: 0,
            });
        }
        Ok(())
    }
}

/// A network as a file describes it, link by link.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Described {
    /// Names of the hosts.
    hosts: Vec<String>,
    /// Names of the switches.
    switches: Vec<String>,
    /// In this order they are the ports 1, 2, ... of a switch.
    links: Vec<DescribedLink>,
}

/// A link in a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribedLink {
    /// Names of its ends.
    between: [String; 2],
    rate_bps: u64,
    #[serde(default)]
    delay_ns: Nanos,
}

impl Described {
    /// The network. Host number i, from 0, is 10.(i / 200 + 1).(i mod 200 + 1).1.
    ///
    /// # Errors
    /// If a link names a node that there is not.
    pub fn topology(&self) -> Result<Topology, TopologyError> {
        let mut topology = Topology::default();
        let mut nodes = HashMap::new();
        for (number, name) in self.hosts.iter().enumerate() {
            let node = topology.host(name.clone(), scattered_address(number));
            nodes.insert(name, node);
        }
        for name in &self.switches {
            let node = topology.switch(name.clone());
            if nodes.insert(name, node).is_some() {
                return Err(TopologyError::SameName(name.clone()));
            }
        }
        let mut ports: HashMap<Node, u16> = HashMap::new();
        for (link, described) in self.links.iter().enumerate() {
            let mut end = |name: &String| {
                let unknown = || TopologyError::UnknownNode {
                    link,
                    name: name.clone(),
                };
                let node = *nodes.get(name).ok_or_else(unknown)?;
                let port = ports.entry(node).or_default();
                *port += 1;
                Ok((node, *port))
            };
            let (one, other) = (end(&described.between[0])?, end(&described.between[1])?);
            let &DescribedLink { rate_bps, delay_ns, .. } = described;
            topology.link(one, other, Cable { rate_bps, delay_ns });
        }
        Ok(topology)
    }
}

/// An address for host number `number` where racks do not matter.
pub fn scattered_address(number: usize) -> [u8; 4] {
    [10, (number / 200 + 1) as u8, (number % 200 + 1) as u8, 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(links: &[(&str, &str, u64)]) -> Result<Topology, TopologyError> {
        let links = links.iter().map(|&(one, other, rate_bps)| DescribedLink {
            between: [one.to_owned(), other.to_owned()],
            rate_bps,
            delay_ns: 0,
        });
        let described = Described {
            hosts: vec!["a".to_owned(), "b".to_owned()],
            switches: vec!["s".to_owned()],
            links: links.collect(),
        };
        let topology = described.topology()?;
        topology.check()?;
        Ok(topology)
    }

    fn refused(links: &[(&str, &str, u64)]) -> String {
        described(links).unwrap_err().to_string()
    }

    #[test]
    fn ports_of_a_switch_are_numbered_in_the_order_of_its_links() {
        let topology = described(&[("a", "s", 10), ("b", "s", 10)]).unwrap();
        let ports: Vec<_> = topology.wires.iter().map(|wire| (wire.from, wire.from_port)).collect();
        let (a, b, s) = (Node::Host(0), Node::Host(1), Node::Switch(0));
        assert_eq!(ports, [(a, 1), (s, 1), (b, 1), (s, 2)]);
    }

    #[test]
    fn what_cannot_be_is_named() {
        assert_eq!(refused(&[("a", "c", 10)]), "link 0: there is no node c");
        assert_eq!(
            refused(&[("a", "s", 10), ("s", "s", 10)]),
            "link 1 is a loop: both of its ends are s"
        );
        assert_eq!(
            refused(&[("a", "s", 10), ("b", "s", 0)]),
            "the link between b and s has rate_bps = 0: it is 1 to 100000000000000 bit/s"
        );
        assert_eq!(
            refused(&[("a", "s", 10)]),
            "host b has 0 links: a host has one, to a switch"
        );
        assert_eq!(
            refused(&[("a", "s", 10), ("b", "s", 10), ("b", "s", 10)]),
            "host b has 2 links: a host has one, to a switch"
        );
    }
}
