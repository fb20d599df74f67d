//! The path of a packet: all shortest paths, and one of them for each flow (equal-cost multipath).

use std::collections::{HashMap, VecDeque};

use p4sched_proto::constants::ECMP_BUCKETS;
use serde::Deserialize;

use crate::topology::{Node, Topology, TopologyError};

/// The distance of a switch that has not been reached.
const FAR: u32 = u32::MAX;

/// Choice among several shortest paths for a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Multipath {
    /// A hash that each switch mixes differently. Every path gets the same share of the flows.
    #[default]
    Hash,
    /// The choice of the programs (`p4/include/forwarding.p4`): the hash selects one of 64 buckets. A switch with hosts deals
    /// single buckets to its paths in turn. Another switch deals blocks of buckets in turn; a block has as many buckets
    /// as there are paths. The reason: flows of only one or a few buckets of each block reach such a switch.
    Buckets,
}

/// The wires of all shortest paths from each switch to each edge. An edge is a switch with hosts.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Indexed by host: the edge number of its switch.
    edge: Vec<u32>,
    /// Indexed by host: the wire from its switch to it.
    down: Vec<u32>,
    /// Indexed by edge number: the switch.
    edges: Vec<u32>,
    /// Indexed by (switch, edge): a range of `members`.
    sets: Vec<(u32, u32)>,
    members: Vec<u32>,
    multipath: Multipath,
    /// Indexed by switch: whether it has hosts.
    has_hosts: Vec<bool>,
}

impl Routes {
    /// Computes the shortest paths, in hops.
    ///
    /// # Errors
    /// If there is no path between two hosts.
    pub fn new(topology: &Topology, multipath: Multipath) -> Result<Routes, TopologyError> {
        let hosts = topology.hosts.len();
        let (mut edge, mut down, mut edges) = (vec![0; hosts], vec![0; hosts], Vec::new());
        let mut number_of = vec![FAR; topology.switches.len()];
        let mut neighbours: Vec<Vec<(u32, u32)>> = vec![Vec::new(); topology.switches.len()];
        for (number, wire) in (0..).zip(&topology.wires) {
            match (wire.from, wire.to) {
                (Node::Switch(switch), Node::Host(host)) => {
                    let number_of = &mut number_of[switch as usize];
                    if *number_of == FAR {
                        *number_of = edges.len() as u32;
                        edges.push(switch);
                    }
                    edge[host as usize] = *number_of;
                    down[host as usize] = number;
                }
                (Node::Switch(from), Node::Switch(to)) => neighbours[from as usize].push((number, to)),
                (Node::Host(_), _) => {}
            }
        }
        let mut routes = Routes {
            edge,
            down,
            sets: vec![(0, 0); topology.switches.len() * edges.len()],
            edges,
            members: Vec::new(),
            multipath,
            has_hosts: number_of.iter().map(|&number| number != FAR).collect(),
        };
        routes.fill(&neighbours);
        routes.check(topology)?;
        Ok(routes)
    }

    fn fill(&mut self, neighbours: &[Vec<(u32, u32)>]) {
        // Many switches have the same set of wires, such as "all spines". Each set is stored once.
        let mut known: HashMap<Vec<u32>, (u32, u32)> = HashMap::new();
        for number in 0..self.edges.len() {
            let distances = distances(neighbours, self.edges[number]);
            for (switch, ways) in neighbours.iter().enumerate() {
                let closer = |&&(_, to): &&(u32, u32)| {
                    distances[to as usize] != FAR && distances[to as usize] + 1 == distances[switch]
                };
                let set: Vec<u32> = ways.iter().filter(closer).map(|&(wire, _)| wire).collect();
                let range = *known.entry(set).or_insert_with_key(|set| {
                    let from = self.members.len() as u32;
                    self.members.extend(set);
                    (from, self.members.len() as u32)
                });
                self.sets[switch * self.edges.len() + number] = range;
            }
        }
    }

    /// Checks that all hosts are connected. Links go both ways, so one host that reaches all others is enough.
    fn check(&self, topology: &Topology) -> Result<(), TopologyError> {
        let start = self.edges[self.edge[0] as usize];
        let cut_off = |host: &usize| {
            let edge = self.edge[*host];
            self.edges[edge as usize] != start && self.ways(start, edge).is_empty()
        };
        match (0..topology.hosts.len()).find(cut_off) {
            None => Ok(()),
            Some(host) => Err(TopologyError(format!(
                "there is no path from host {} to host {}",
                topology.hosts[0].name, topology.hosts[host].name
            ))),
        }
    }

    /// The switch that a host is attached to.
    pub fn switch_of(&self, host: u32) -> u32 {
        self.edges[self.edge[host as usize] as usize]
    }

    /// The wires that a switch may use for packets to this host.
    #[inline(always)]
    pub fn ways_to(&self, switch: u32, destination: u32) -> &[u32] {
        let edge = self.edge[destination as usize];
        match self.ways(switch, edge) {
            [] if self.edges[edge as usize] == switch => std::slice::from_ref(&self.down[destination as usize]),
            ways => ways,
        }
    }

    /// The wires from a switch that lie on shortest paths to an edge.
    #[inline(always)]
    fn ways(&self, switch: u32, edge: u32) -> &[u32] {
        let (from, to) = self.sets[switch as usize * self.edges.len() + edge as usize];
        &self.members[from as usize..to as usize]
    }

    /// The wire that a switch uses for a packet. `hash` is the hash of its flow; each switch chooses differently with
    /// it.
    #[inline(always)]
    pub fn next(&self, switch: u32, destination: u32, hash: u32) -> u32 {
        match self.ways_to(switch, destination) {
            &[wire] => wire,
            ways => {
                ways[match self.multipath {
                    Multipath::Hash => choice(hash, switch, ways.len()),
                    Multipath::Buckets => self.dealt(switch, hash % ECMP_BUCKETS, ways.len()),
                }]
            }
        }
    }

    /// The index of the path to which a switch deals a bucket.
    pub fn dealt(&self, switch: u32, bucket: u32, paths: usize) -> usize {
        match self.has_hosts[switch as usize] {
            true => bucket as usize % paths,
            false => bucket as usize / paths % paths,
        }
    }
}

/// The number of hops from each switch to this one.
fn distances(neighbours: &[Vec<(u32, u32)>], to: u32) -> Vec<u32> {
    let mut distances = vec![FAR; neighbours.len()];
    distances[to as usize] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(switch) = queue.pop_front() {
        for &(_, next) in &neighbours[switch as usize] {
            if distances[next as usize] == FAR {
                distances[next as usize] = distances[switch as usize] + 1;
                queue.push_back(next);
            }
        }
    }
    distances
}

/// One of `count` wires: the same for all packets of a flow, and independent of the choice at other switches. The
/// constants are those of MurmurHash3's finalizer.
#[inline]
fn choice(hash: u32, switch: u32, count: usize) -> usize {
    let mut mixed = hash ^ switch.wrapping_mul(0x9e37_79b9);
    for multiplier in [0x85eb_ca6b, 0xc2b2_ae35] {
        mixed = (mixed ^ (mixed >> 16)).wrapping_mul(multiplier);
    }
    mixed ^= mixed >> 16;
    ((u64::from(mixed) * count as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Shape;

    fn topology(json: &str) -> Topology {
        serde_json::from_str::<Shape>(json)
            .unwrap()
            .topology(std::path::Path::new(""), |_| unreachable!("no file"))
            .unwrap()
    }

    fn leaf_spine() -> Topology {
        topology(
            r#"{"leaf_spine": {"leaves": 3, "spines": 4, "hosts": 2,
                "access": {"rate_bps": 1000}, "fabric": {"rate_bps": 1000}}}"#,
        )
    }

    /// The switches on a path.
    fn path(topology: &Topology, routes: &Routes, from: u32, to: u32, hash: u32) -> Vec<u32> {
        let mut switch = routes.switch_of(from);
        let mut path = vec![switch];
        loop {
            match topology.wires[routes.next(switch, to, hash) as usize].to {
                Node::Switch(next) => {
                    switch = next;
                    path.push(next);
                }
                Node::Host(host) => {
                    assert_eq!(host, to);
                    return path;
                }
            }
        }
    }

    #[test]
    fn paths_are_shortest_and_flows_are_spread_over_the_spines() {
        let topology = leaf_spine();
        let routes = Routes::new(&topology, Multipath::Hash).unwrap();
        assert_eq!(path(&topology, &routes, 0, 1, 7), [0]);
        let mut seen = [0; 4];
        for hash in 0..1000_u32 {
            let path = path(&topology, &routes, 0, 5, hash.wrapping_mul(0x9e37_79b9));
            assert_eq!((path.len(), path[0], path[2]), (3, 0, 2));
            seen[path[1] as usize - 3] += 1;
        }
        // The mean is 250 each; the standard deviation is 14.
        assert!(seen.iter().all(|&flows| (190..310).contains(&flows)), "{seen:?}");
    }

    #[test]
    fn every_core_switch_of_a_fat_tree_is_used() {
        let topology =
            topology(r#"{"fat_tree": {"k": 6, "access": {"rate_bps": 1000}, "fabric": {"rate_bps": 1000}}}"#);
        let routes = Routes::new(&topology, Multipath::Hash).unwrap();
        let mut seen = [0; 9];
        for hash in 0..900_u32 {
            let path = path(&topology, &routes, 0, 53, hash.wrapping_mul(0x9e37_79b9));
            assert_eq!(path.len(), 5);
            seen[path[2] as usize - 36] += 1;
        }
        // The mean is 100 each; the standard deviation is 9.4.
        assert!(seen.iter().all(|&flows| (50..150).contains(&flows)), "{seen:?}");
    }

    #[test]
    fn hosts_without_a_path_are_named() {
        let topology = topology(
            r#"{"described": {"hosts": ["a", "b"], "switches": ["s", "t"], "links": [
                {"between": ["a", "s"], "rate_bps": 1}, {"between": ["b", "t"], "rate_bps": 1}]}}"#,
        );
        let error = Routes::new(&topology, Multipath::Hash).unwrap_err().to_string();
        assert_eq!(error, "there is no path from host a to host b");
    }
}
