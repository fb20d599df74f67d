//! A network of a scenario, link by link.

use std::collections::HashMap;

use p4sched_traffic_manager::{Nanos, Port};
use serde::Deserialize;

use crate::topology::{Cable, Node, Topology, TopologyError, scattered_address};

/// A network that a scenario lists link by link.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkList {
    hosts: Vec<String>,
    switches: Vec<String>,
    /// The links. Their order gives the port numbers 1, 2, ... of each switch.
    links: Vec<ListedLink>,
}

/// A link in a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedLink {
    /// The names of its two ends.
    between: [String; 2],
    rate_bps: u64,
    #[serde(default)]
    delay_ns: Nanos,
}

impl LinkList {
    /// The network. Host number i, from 0, is 10.(i / 200 + 1).(i mod 200 + 1).1.
    ///
    /// # Errors
    /// If a link names an unknown node, or a host and a switch have the same name.
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
                return Err(TopologyError(format!("two nodes are called {name}")));
            }
        }
        let mut ports: HashMap<Node, Port> = HashMap::new();
        for (link, described) in self.links.iter().enumerate() {
            let mut end = |name: &String| {
                let unknown = || TopologyError(format!("link {link}: there is no node {name}"));
                let node = *nodes.get(name).ok_or_else(unknown)?;
                let port = ports.entry(node).or_default();
                *port += 1;
                Ok((node, *port))
            };
            let (one, other) = (end(&described.between[0])?, end(&described.between[1])?);
            let &ListedLink { rate_bps, delay_ns, .. } = described;
            topology.link(one, other, Cable { rate_bps, delay_ns });
        }
        Ok(topology)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(links: &[(&str, &str, u64)]) -> Result<Topology, TopologyError> {
        let links = links.iter().map(|&(one, other, rate_bps)| ListedLink {
            between: [one.to_owned(), other.to_owned()],
            rate_bps,
            delay_ns: 0,
        });
        let described = LinkList {
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
