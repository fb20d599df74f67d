//! The topologies of `mininet-topos/`, with the same names and ports; and the same addresses but in the fat tree.

use std::path::Path;

use serde::Deserialize;

use super::lab_file::LabFile;
use super::topology::{Cable, Described, Node, Topology, TopologyError};

/// A network by its shape.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// One switch, users on one side, a server on the other (`mininet-topos/dumbbell.py`).
    Dumbbell(Dumbbell),
    /// Many senders, one switch, one receiver (`mininet-topos/incast.py`).
    Incast(Incast),
    /// Racks of hosts below leaf switches, every leaf connected to every spine (`mininet-topos/leaf_spine.py`).
    LeafSpine(LeafSpine),
    /// Pods of switches with k ports each (Al-Fares et al., SIGCOMM 2008).
    FatTree(FatTree),
    /// Link by link.
    Described(Described),
    /// As a file for the virtual lab describes it.
    File(LabFile),
}

/// Hosts u1 .. uH, and `server`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// H.
    hosts: u32,
    /// Links of the hosts.
    access: Cable,
    /// Link of the server.
    bottleneck: Cable,
}

/// Hosts h1 .. hN, and `receiver`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// N.
    senders: u32,
    /// Links of the senders.
    access: Cable,
    /// Link of the receiver.
    bottleneck: Cable,
}

/// Hosts h1 .. , rack by rack; switches s1 .. sL are the leaves, the next ones the spines.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// L.
    leaves: u32,
    /// S.
    spines: u32,
    /// Of each leaf.
    hosts: u32,
    /// Links of the hosts.
    access: Cable,
    /// Links between leaves and spines.
    fabric: Cable,
}

/// k pods of k / 2 edge and k / 2 aggregation switches, (k / 2)^2 core switches, k^3 / 4 hosts h1 .. , edge by edge.
/// Switches s1 .. are the edges, pod by pod; then the aggregation switches; then the core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports of each switch.
    k: u32,
    /// Links of the hosts.
    access: Cable,
    /// All other links.
    fabric: Cable,
}

impl Shape {
    /// The network. `folder`: where a file is looked for.
    ///
    /// # Errors
    /// If there is no such network.
    pub fn topology(&self, folder: &Path) -> Result<Topology, TopologyError> {
        let topology = match self {
            Shape::Dumbbell(shape) => {
                let hosts = count("dumbbell: hosts", shape.hosts, 1, 200)?;
                star("u", hosts, "server", shape.access, shape.bottleneck)
            }
            Shape::Incast(shape) => {
                let senders = count("incast: senders", shape.senders, 1, 200)?;
                star("h", senders, "receiver", shape.access, shape.bottleneck)
            }
            Shape::LeafSpine(shape) => shape.topology()?,
            Shape::FatTree(shape) => shape.topology()?,
            Shape::Described(described) => described.topology()?,
            Shape::File(file) => file.topology(folder)?,
        };
        topology.check()?;
        Ok(topology)
    }
}

fn count(what: &'static str, value: u32, least: u32, most: u32) -> Result<u16, TopologyError> {
    if (least..=most).contains(&value) {
        return Ok(value as u16);
    }
    Err(TopologyError::Count {
        what,
        value,
        least,
        most,
    })
}

/// Hosts LETTER1, LETTER2, ... on the ports 1, 2, ... of s1; the far one on the port after those.
fn star(letter: &str, near: u16, far: &str, access: Cable, bottleneck: Cable) -> Topology {
    let mut topology = Topology::default();
    let switch = topology.switch("s1".to_owned());
    for number in 1..=near {
        let host = topology.host(format!("{letter}{number}"), [10, 1, number as u8, 1]);
        topology.link((host, 0), (switch, number), access);
    }
    let host = topology.host(far.to_owned(), [10, 2, 0, 1]);
    topology.link((host, 0), (switch, near + 1), bottleneck);
    topology
}

impl LeafSpine {
    fn topology(&self) -> Result<Topology, TopologyError> {
        let leaves = count("leaf_spine: leaves", self.leaves, 1, 250)?;
        let spines = count("leaf_spine: spines", self.spines, 1, 250)?;
        let hosts = count("leaf_spine: hosts", self.hosts, 1, 250)?;
        let mut topology = Topology::default();
        let switches = switches(&mut topology, leaves + spines);
        let (below, above) = switches.split_at(usize::from(leaves));
        for (rack, &leaf) in (1..).zip(below) {
            for place in 1..=hosts {
                let name = format!("h{}", topology.hosts.len() + 1);
                let host = topology.host(name, [10, rack as u8, place as u8, 1]);
                topology.link((host, 0), (leaf, place), self.access);
            }
            for (number, &spine) in (1..).zip(above) {
                topology.link((leaf, hosts + number), (spine, rack), self.fabric);
            }
        }
        Ok(topology)
    }
}

/// Switches s1, s2, ...
fn switches(topology: &mut Topology, count: u16) -> Vec<Node> {
    (1..=count)
        .map(|number| topology.switch(format!("s{number}")))
        .collect()
}

impl FatTree {
    /// Ports 1 .. k/2 go down, the others up; port p of a core switch goes to pod p. Host number i, from 0, is
    /// 10.(i / 200 + 1).(i mod 200 + 1).1.
    fn topology(&self) -> Result<Topology, TopologyError> {
        let k = count("fat_tree: k", self.k, 2, 54)?;
        if !k.is_multiple_of(2) {
            return Err(TopologyError::OddPorts(self.k));
        }
        let half = k / 2;
        let mut topology = Topology::default();
        let switches = switches(&mut topology, k * k + half * half);
        let (edges, rest) = switches.split_at(usize::from(k * half));
        let (aggregations, core) = rest.split_at(usize::from(k * half));
        for &edge in edges {
            for place in 1..=half {
                let number = topology.hosts.len();
                let host = topology.host(format!("h{}", number + 1), super::topology::scattered_address(number));
                topology.link((host, 0), (edge, place), self.access);
            }
        }
        for pod in 0..k {
            let of_pod = usize::from(pod * half)..usize::from((pod + 1) * half);
            for (upper, &aggregation) in (0..).zip(&aggregations[of_pod.clone()]) {
                for (lower, &edge) in (0..).zip(&edges[of_pod.clone()]) {
                    topology.link((edge, half + 1 + upper), (aggregation, lower + 1), self.fabric);
                }
                for place in 0..half {
                    let top = core[usize::from(upper * half + place)];
                    topology.link((aggregation, half + 1 + place), (top, pod + 1), self.fabric);
                }
            }
        }
        Ok(topology)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CABLE: Cable = Cable {
        rate_bps: 1_000_000_000,
        delay_ns: 1000,
    };

    #[test]
    fn a_leaf_spine_has_the_addresses_and_ports_of_the_lab() {
        let shape = Shape::LeafSpine(LeafSpine {
            leaves: 2,
            spines: 3,
            hosts: 2,
            access: CABLE,
            fabric: CABLE,
        });
        let topology = shape.topology(Path::new("")).unwrap();
        let names: Vec<_> = topology.hosts.iter().map(|host| (&*host.name, host.address)).collect();
        assert_eq!(names[1], ("h2", [10, 1, 2, 1]));
        assert_eq!(names[2], ("h3", [10, 2, 1, 1]));
        assert_eq!(topology.switches, ["s1", "s2", "s3", "s4", "s5"]);
        assert_eq!(topology.wires.len(), 2 * (4 + 6));
        // Spine 2, which is s4, is port H + 2 of every leaf; leaf 1 is its port 1.
        let found = topology.wires.iter().filter(|wire| wire.from == Node::Switch(3));
        let ports: Vec<_> = found.map(|wire| (wire.from_port, wire.to)).collect();
        assert_eq!(ports, [(1, Node::Switch(0)), (2, Node::Switch(1))]);
        let up = topology
            .wires
            .iter()
            .find(|wire| wire.from == Node::Switch(1) && wire.to == Node::Switch(3));
        assert_eq!(up.unwrap().from_port, 4);
    }

    #[test]
    fn a_fat_tree_uses_each_port_of_each_switch_once() {
        let shape = Shape::FatTree(FatTree {
            k: 4,
            access: CABLE,
            fabric: CABLE,
        });
        let topology = shape.topology(Path::new("")).unwrap();
        assert_eq!((topology.hosts.len(), topology.switches.len()), (16, 20));
        for number in 0..20 {
            let of_switch = topology.wires.iter().filter(|wire| wire.from == Node::Switch(number));
            let mut ports: Vec<_> = of_switch.map(|wire| wire.from_port).collect();
            ports.sort_unstable();
            assert_eq!(ports, [1, 2, 3, 4], "s{}", number + 1);
        }
    }

    #[test]
    fn a_shape_says_what_it_can_be() {
        let shape = |k| {
            Shape::FatTree(FatTree {
                k,
                access: CABLE,
                fabric: CABLE,
            })
            .topology(Path::new(""))
        };
        assert_eq!(
            shape(5).unwrap_err().to_string(),
            "fat_tree: k = 5 is odd; half of a switch's ports go up, half go down"
        );
        assert_eq!(
            shape(0).unwrap_err().to_string(),
            "fat_tree: k = 0: there can be 2 to 54"
        );
    }
}
