//! The shapes of `mininet-topos/`. Each file in its folder `shapes` describes one, for the lab and for this crate.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use indexmap::IndexMap;
use serde::Deserialize;

use crate::described::LinkList;
use crate::lab_file::LabFile;
use crate::topology::{Cable, Node, Topology, TopologyError, scattered_address};

const DUMBBELL: &str = include_str!("../../../mininet-topos/shapes/dumbbell.json");
const INCAST: &str = include_str!("../../../mininet-topos/shapes/incast.json");
const LEAF_SPINE: &str = include_str!("../../../mininet-topos/shapes/leaf_spine.json");
const FAT_TREE: &str = include_str!("../../../mininet-topos/shapes/fat_tree.json");
/// Highest number in an address of a shape. If a network needs more, addresses follow from the hosts' numbers.
const MOST_IN_ADDRESS: u32 = 250;

/// A network, given by its shape.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// One switch with users on one side and a server on the other (`mininet-topos/dumbbell.py`).
    Dumbbell(Dumbbell),
    /// Many senders, one switch, one receiver (`mininet-topos/incast.py`).
    Incast(Incast),
    /// Racks of hosts below leaf switches. Every leaf is connected to every spine (`mininet-topos/leaf_spine.py`).
    LeafSpine(LeafSpine),
    /// Pods of switches with k ports each (`mininet-topos/fat_tree.py`; Al-Fares et al., SIGCOMM 2008).
    FatTree(FatTree),
    /// A network that is listed link by link.
    Described(LinkList),
    /// A network file, as for the virtual lab.
    File(LabFile),
}

/// Hosts u1 .. uH and `server`.
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

/// Hosts h1 .. hN and `receiver`.
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

/// Hosts h1, h2, ..., rack by rack. Switches s1 .. sL are the leaves; the spines follow.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// L.
    leaves: u32,
    /// S.
    spines: u32,
    /// Number of hosts at each leaf.
    hosts: u32,
    /// Links of the hosts.
    access: Cable,
    /// Links between leaves and spines.
    fabric: Cable,
}

/// k pods of k / 2 edge and k / 2 aggregation switches, (k / 2)^2 core switches, and k^3 / 4 hosts h1, h2, ..., edge by
/// edge. The switches s1, s2, ... are first the edges, pod by pod, then the aggregation switches, then the core.
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
    /// The network. Files are searched in `folder` and read by `read`.
    ///
    /// # Errors
    /// If the network is invalid.
    pub fn topology(
        &self,
        folder: &Path,
        read: impl FnOnce(&Path) -> io::Result<String>,
    ) -> Result<Topology, TopologyError> {
        let topology = match self {
            Shape::Dumbbell(shape) => {
                let cables = [("access", shape.access), ("bottleneck", shape.bottleneck)];
                built("dumbbell", DUMBBELL, &[("hosts", shape.hosts)], &cables)?
            }
            Shape::Incast(shape) => {
                let cables = [("access", shape.access), ("bottleneck", shape.bottleneck)];
                built("incast", INCAST, &[("senders", shape.senders)], &cables)?
            }
            Shape::LeafSpine(shape) => {
                let numbers = [
                    ("leaves", shape.leaves),
                    ("spines", shape.spines),
                    ("hosts", shape.hosts),
                ];
                let cables = [("access", shape.access), ("fabric", shape.fabric)];
                built("leaf_spine", LEAF_SPINE, &numbers, &cables)?
            }
            Shape::FatTree(shape) => {
                let cables = [("access", shape.access), ("fabric", shape.fabric)];
                built("fat_tree", FAT_TREE, &[("k", shape.k)], &cables)?
            }
            Shape::Described(described) => described.topology()?,
            Shape::File(file) => file.topology(folder, read)?,
        };
        topology.check()?;
        Ok(topology)
    }
}

/// A file of `mininet-topos/shapes/`. The README there explains each name.
#[derive(Deserialize)]
struct Description {
    numbers: IndexMap<String, (u32, u32)>,
    #[serde(default)]
    halves: IndexMap<String, String>,
    switches: Vec<Kind>,
    parts: Vec<Part>,
}

/// Variables and their upper limits, in the order of the file.
type Each = IndexMap<String, String>;

#[derive(Deserialize)]
struct Kind {
    kind: String,
    each: Each,
}

#[derive(Deserialize)]
struct Part {
    each: Each,
    then: Vec<Piece>,
}

#[derive(Deserialize)]
struct Piece {
    each: Each,
    cable: String,
    #[serde(flatten)]
    content: Content,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Host { host: String, address: String, at: String },
    Link { link: [String; 2] },
}

/// The network of a description for these numbers.
fn built(
    shape: &str,
    description: &str,
    numbers: &[(&str, u32)],
    cables: &[(&str, Cable)],
) -> Result<Topology, TopologyError> {
    let description: Description = serde_json::from_str(description)
        .map_err(|error| TopologyError(format!("mininet-topos/shapes/{shape}.json: {error}")))?;
    let mut known = Variables::default();
    for &(name, value) in numbers {
        let (least, most) = description.numbers[name];
        let what = format!("{shape}: {name}");
        if !(least..=most).contains(&value) {
            return Err(TopologyError(format!(
                "{what} = {value}: there can be {least} to {most}"
            )));
        }
        if description.halves.values().any(|whole| whole == name) && !value.is_multiple_of(2) {
            return Err(TopologyError(format!(
                "{what} = {value} is odd; half of a switch's ports go up, half go down"
            )));
        }
        known.set(name, value);
    }
    for (name, whole) in &description.halves {
        let half = known.value(whole) / 2;
        known.set(name, half);
    }
    let mut building = Building {
        cables,
        ..Building::default()
    };
    for Kind { kind, each } in &description.switches {
        passes(each, &mut known, &mut |known| building.switch(kind, each, known));
    }
    for part in &description.parts {
        passes(&part.each, &mut known, &mut |known| {
            building.place = 0;
            for piece in &part.then {
                passes(&piece.each, known, &mut |known| building.piece(piece, known));
            }
        });
    }
    Ok(building.finished())
}

/// Numbers and variables by name; the innermost is last.
#[derive(Default)]
struct Variables<'a>(Vec<(&'a str, u32)>);

impl<'a> Variables<'a> {
    fn set(&mut self, name: &'a str, value: u32) {
        self.0.push((name, value));
    }

    /// The value of a number or of a name.
    fn value(&self, word: &str) -> u32 {
        word.parse().unwrap_or_else(|_| {
            let found = self.0.iter().rev().find(|(name, _)| *name == word);
            found
                .unwrap_or_else(|| panic!("mininet-topos/shapes: there is no '{word}'"))
                .1
        })
    }

    fn sum(&self, words: &str) -> u32 {
        words.split('+').map(|word| self.value(word.trim())).sum()
    }
}

/// Calls `made` for each combination of values of the variables.
fn passes<'a>(each: &'a Each, known: &mut Variables<'a>, made: &mut dyn FnMut(&mut Variables<'a>)) {
    fn pass<'a>(each: &'a Each, from: usize, known: &mut Variables<'a>, made: &mut dyn FnMut(&mut Variables<'a>)) {
        let Some((name, most)) = each.get_index(from) else {
            return made(known);
        };
        for value in 1..=known.value(most) {
            known.set(name, value);
            pass(each, from + 1, known, made);
            known.0.pop();
        }
    }
    pass(each, 0, known, made);
}

/// The part of a network that is built so far.
#[derive(Default)]
struct Building<'a> {
    topology: Topology,
    cables: &'a [(&'a str, Cable)],
    /// Indexed by kind and variables.
    switches: HashMap<(&'a str, Vec<u32>), Node>,
    /// Number of hosts so far in this pass of a part.
    place: u32,
    /// Whether a number in an address of a host is too large.
    crowded: bool,
}

impl<'a> Building<'a> {
    fn switch(&mut self, kind: &'a str, each: &Each, known: &Variables) {
        let node = self.topology.switch(format!("s{}", self.topology.switches.len() + 1));
        let which = each.keys().map(|name| known.value(name)).collect();
        self.switches.insert((kind, which), node);
    }

    fn piece(&mut self, piece: &'a Piece, known: &mut Variables<'a>) {
        let cable = self.cables.iter().find(|(name, _)| *name == piece.cable);
        let cable = cable
            .unwrap_or_else(|| panic!("mininet-topos/shapes: there is no cable '{}'", piece.cable))
            .1;
        match &piece.content {
            Content::Host { host, address, at } => {
                self.place += 1;
                known.set("place", self.place);
                let bytes = address.split('.').map(|word| known.value(word));
                let bytes: Vec<_> = bytes.inspect(|&byte| self.crowded |= byte > MOST_IN_ADDRESS).collect();
                known.0.pop();
                // The addresses of the host's users begin with 1.
                let address = [bytes[0] as u8, bytes[1] as u8, bytes[2] as u8, 1];
                let name = host.replace('#', &(self.topology.hosts.len() + 1).to_string());
                let node = self.topology.host(name, address);
                let end = self.end(at, known);
                self.topology.link((node, 0), end, cable);
            }
            Content::Link { link: [lower, upper] } => {
                let ends = (self.end(lower, known), self.end(upper, known));
                self.topology.link(ends.0, ends.1, cable);
            }
        }
    }

    /// A switch and its port, from a text such as `leaf l: hosts + s`.
    fn end(&self, text: &'a str, known: &Variables) -> (Node, u16) {
        let (switch, port) = text.split_once(':').unwrap_or((text, "0"));
        let mut words = switch.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let which = words.map(|word| known.value(word)).collect();
        (self.switches[&(kind, which)], known.sum(port) as u16)
    }

    fn finished(mut self) -> Topology {
        if self.crowded {
            for (number, host) in self.topology.hosts.iter_mut().enumerate() {
                host.address = scattered_address(number);
            }
        }
        self.topology
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
        let topology = shape.topology(Path::new(""), |_| unreachable!("no file")).unwrap();
        let names: Vec<_> = topology.hosts.iter().map(|host| (&*host.name, host.address)).collect();
        assert_eq!(names[1], ("h2", [10, 1, 2, 1]));
        assert_eq!(names[2], ("h3", [10, 2, 1, 1]));
        assert_eq!(topology.switches, ["s1", "s2", "s3", "s4", "s5"]);
        assert_eq!(topology.wires.len(), 2 * (4 + 6));
        // Spine 2, which is s4, is at port H + 2 of every leaf. Leaf 1 is at its port 1.
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
        let topology = shape.topology(Path::new(""), |_| unreachable!("no file")).unwrap();
        assert_eq!((topology.hosts.len(), topology.switches.len()), (16, 20));
        for number in 0..20 {
            let of_switch = topology.wires.iter().filter(|wire| wire.from == Node::Switch(number));
            let mut ports: Vec<_> = of_switch.map(|wire| wire.from_port).collect();
            ports.sort_unstable();
            assert_eq!(ports, [1, 2, 3, 4], "s{}", number + 1);
        }
    }

    #[test]
    fn hosts_of_a_pod_have_addresses_below_it_while_there_is_room() {
        let address = |k, host: usize| {
            let shape = Shape::FatTree(FatTree {
                k,
                access: CABLE,
                fabric: CABLE,
            });
            shape
                .topology(Path::new(""), |_| unreachable!("no file"))
                .unwrap()
                .hosts[host]
                .address
        };
        assert_eq!(address(4, 5), [10, 2, 2, 1]);
        // 225 hosts per pod, and 256.
        assert_eq!(address(30, 225), [10, 2, 1, 1]);
        assert_eq!(address(32, 256), [10, 2, 57, 1]);
    }

    #[test]
    fn a_shape_says_what_it_can_be() {
        let shape = |k| {
            Shape::FatTree(FatTree {
                k,
                access: CABLE,
                fabric: CABLE,
            })
            .topology(Path::new(""), |_| unreachable!("no file"))
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
