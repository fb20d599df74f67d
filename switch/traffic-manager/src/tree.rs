//! A tree of queues: hierarchical scheduling with one rank per level.
//!
//! Source: Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016, section 2.2 (trees of
//! scheduling transactions). Each node is a PIFO. The elements of a leaf are packets; the elements of another node are
//! references to its children. A packet puts one element into each node from its leaf to the root. To send a packet,
//! take the first element of the root, then the first element of the child that it refers to, and so on down to a
//! packet. A reference belongs to the child, not to the packet that added it: the child chooses its packet when the
//! reference is taken.
//!
//! ```text
//! arrival:   leaf = the packet's leaf; if the tree has no such leaf: drop the packet
//!            if the leaf is full: its discipline decides (fifo drops; pifo, stfq and drr may push out another packet
//!                                 of the leaf, whose references then stand for the new packet)
//!            else if the buffer is full: drop the packet
//!            else put the packet into its leaf, and a reference into every node above it
//! departure: follow the first elements from the root to a packet
//! ```
//!
//! A node sorts by the packet's rank at its level (`pifo`) or by a rank that it computes. `stfq` and `drr` share the
//! link among the children of the node; in a leaf, among users. A tree of `stfq` is HPFQ (figure 3 of the paper). A
//! full buffer does not push a packet out of another leaf. Sizes of the leaves keep one leaf from filling the buffer.

use std::fmt::Debug;

use p4sched_proto::p4sched::v1::Discipline;

use crate::config::{ConfigError, MAX_TREE_NODES, MIN_QUANTUM_BYTES, NodeConfig, PortConfig, SCALES, TreeConfig, name};
use crate::discipline::{Properties, Reads, Scheduling};
use crate::packet::{DropReason, Element, LEVELS, Nanos, Port, Verdict};
use crate::slab::Slab;
use crate::{DISCIPLINES, nests, reads, scheduling};

/// An element of a node: a packet in a leaf, or a child in another node.
#[derive(Debug, Clone)]
struct Reference {
    /// The place of the packet, or the number of the child.
    to: u32,
    priority: u8,
    bytes: u32,
    /// The user of the packet in a leaf; the number of the child in another node.
    user: u64,
    rank: u64,
    scale: u32,
}

impl Element for Reference {
    fn priority(&self) -> u8 {
        self.priority
    }

    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn user(&self) -> u64 {
        self.user
    }

    fn rank(&self) -> u64 {
        self.rank
    }

    fn scale(&self) -> u32 {
        self.scale
    }
}

#[derive(Debug)]
struct Node {
    scheduling: Box<dyn Scheduling<Reference> + Send>,
    parent: Option<usize>,
    level: usize,
    leaf: bool,
    /// 256 / weight of the node at its parent.
    scale: u32,
    /// Size of a leaf in packets.
    room: usize,
}

/// A tree of queues, one discipline per node.
#[derive(Debug)]
pub struct Tree<E> {
    nodes: Vec<Node>,
    packets: Slab<E>,
    length: usize,
    shape: TreeConfig,
    quantum_bytes: u32,
    buffer: usize,
}

/// The port configuration that stands for one node.
fn of_node(config: &PortConfig, node: &NodeConfig) -> PortConfig {
    let or = |value: u32, otherwise: u32| if value == 0 { otherwise } else { value };
    PortConfig {
        discipline: node.discipline,
        buffer_packets: or(node.buffer_packets, config.buffer_packets),
        quantum_bytes: or(node.quantum_bytes, config.quantum_bytes),
        ..PortConfig::default()
    }
}

impl<E> Tree<E> {
    pub fn new(config: &PortConfig) -> Self {
        Tree {
            nodes: Tree::<E>::nodes(config),
            packets: Slab::new(),
            length: 0,
            shape: config.tree.clone(),
            quantum_bytes: config.quantum_bytes,
            buffer: config.buffer_packets as usize,
        }
    }

    fn nodes(config: &PortConfig) -> Vec<Node> {
        let levels = config.tree.levels();
        let numbered = config.tree.nodes.iter().enumerate();
        let node = |(number, node): (usize, &NodeConfig)| {
            let own = of_node(config, node);
            Node {
                scheduling: scheduling(&own),
                parent: (number != 0).then_some(node.parent as usize),
                level: levels[number],
                leaf: config.tree.is_leaf(number),
                scale: node.scale,
                room: own.buffer_packets as usize,
            }
        };
        numbered.map(node).collect()
    }
}

impl<E: Element> Tree<E> {
    fn leaf_of(&self, element: &E) -> Option<usize> {
        let leaf = element.levels().map_or(0, |levels| levels.leaf);
        let leaf = usize::try_from(leaf).ok()?;
        self.nodes.get(leaf)?.leaf.then_some(leaf)
    }

    /// The element that a packet puts into a node.
    fn reference(&self, element: &E, node: usize, to: u32, user: u64, scale: u32) -> Reference {
        let rank = match (self.nodes[node].level, element.levels()) {
            (0, _) => element.rank(),
            (level, Some(levels)) => levels.ranks[level - 1],
            (_, None) => 0,
        };
        Reference {
            to,
            priority: element.priority(),
            bytes: element.bytes(),
            user,
            rank,
            scale,
        }
    }

    fn in_leaf(&self, place: u32, leaf: usize) -> Reference {
        let element = self.packets.get(place);
        self.reference(element, leaf, place, element.user(), element.scale())
    }

    /// Adds the references for a packet in a leaf to all nodes above it.
    fn refer(&mut self, now: Nanos, place: u32, leaf: usize) {
        let mut child = leaf;
        while let Some(parent) = self.nodes[child].parent {
            let element = self.packets.get(place);
            let reference = self.reference(element, parent, child as u32, child as u64, self.nodes[child].scale);
            self.nodes[parent].scheduling.append(now, reference);
            child = parent;
        }
        self.length += 1;
    }
}

impl<E> Properties for Tree<E> {
    fn reads(config: &PortConfig) -> Reads {
        let levels = config.tree.levels();
        let mut all = Reads {
            leaf: config.tree.nodes.len() > 1,
            ..Reads::NOTHING
        };
        for (number, node) in config.tree.nodes.iter().enumerate() {
            let own = reads(&of_node(config, node));
            all.user |= own.user && config.tree.is_leaf(number);
            all.ranks[levels[number]] |= own.ranks[0];
        }
        all
    }

    fn check(port: Port, config: &PortConfig) -> Result<(), ConfigError> {
        let tree = &config.tree;
        let wrong = |problem| Err(ConfigError::Tree { port, problem });
        if !(1..=MAX_TREE_NODES).contains(&tree.nodes.len()) {
            return wrong(format!(
                "{} nodes; use 1 to {MAX_TREE_NODES}, the root first",
                tree.nodes.len()
            ));
        }
        for (number, node) in tree.nodes.iter().enumerate() {
            if number != 0 && node.parent as usize >= number {
                let parent = node.parent;
                return wrong(format!(
                    "the parent of node {number} is {parent}; it must come before its children"
                ));
            }
            if !nests(node.discipline) {
                let known: Vec<String> = DISCIPLINES
                    .iter()
                    .copied()
                    .filter(|&one| nests(one))
                    .map(name)
                    .collect();
                let (known, problem) = (known.join(", "), problem(node.discipline));
                return wrong(format!("node {number} {problem}; use one of {known}"));
            }
            if (1..MIN_QUANTUM_BYTES).contains(&node.quantum_bytes) {
                let quantum = node.quantum_bytes;
                return wrong(format!(
                    "node {number} has a quantum of {quantum} bytes; use at least {MIN_QUANTUM_BYTES}"
                ));
            }
            if !SCALES.contains(&node.scale) {
                let (scale, least, most) = (node.scale, SCALES.start(), SCALES.end());
                return wrong(format!(
                    "node {number} has scale {scale}; use {least} to {most}, 256 for weight 1"
                ));
            }
            if node.buffer_packets != 0 && !tree.is_leaf(number) {
                return wrong(format!("node {number} has buffer_packets, but is not a leaf"));
            }
        }
        match tree.levels().into_iter().max() {
            Some(deepest) if deepest >= LEVELS => {
                wrong(format!("{} levels; at most {LEVELS} are possible", deepest + 1))
            }
            _ => Ok(()),
        }
    }
}

fn problem(discipline: Discipline) -> String {
    match discipline {
        Discipline::Unspecified => "has no discipline".to_owned(),
        other => format!("cannot be {}", name(other)),
    }
}

impl<E: Element + Send + 'static> Scheduling<E> for Tree<E> {
    fn length(&self, _priority: u8) -> usize {
        self.length
    }

    fn offer(&mut self, now: Nanos, element: E) -> Verdict<E> {
        let Some(leaf) = self.leaf_of(&element) else {
            return Verdict::Refused(element, DropReason::NoSuchLeaf);
        };
        let leaf_is_full = self.nodes[leaf].scheduling.length(element.priority()) >= self.nodes[leaf].room;
        if self.length >= self.buffer && !leaf_is_full {
            return Verdict::Refused(element, DropReason::Full);
        }
        let place = self.packets.insert(element);
        let reference = self.in_leaf(place, leaf);
        match self.nodes[leaf].scheduling.offer(now, reference) {
            Verdict::Taken => {
                self.refer(now, place, leaf);
                Verdict::Taken
            }
            Verdict::Refused(_, reason) => Verdict::Refused(self.packets.remove(place), reason),
            Verdict::PushedOut(victim) => Verdict::PushedOut(self.packets.remove(victim.to)),
        }
    }

    /// A packet for an unknown leaf goes to the first leaf.
    fn append(&mut self, now: Nanos, element: E) {
        let first = || self.nodes.iter().position(|node| node.leaf).unwrap_or(0);
        let leaf = self.leaf_of(&element).unwrap_or_else(first);
        let place = self.packets.insert(element);
        let reference = self.in_leaf(place, leaf);
        self.nodes[leaf].scheduling.append(now, reference);
        self.refer(now, place, leaf);
    }

    fn take(&mut self, at: Nanos) -> Option<E> {
        let mut node = 0;
        loop {
            let Reference { to, .. } = self.nodes[node].scheduling.take(at)?;
            if self.nodes[node].leaf {
                self.length -= 1;
                return Some(self.packets.remove(to));
            }
            node = to as usize;
        }
    }

    /// Starts all nodes again from empty, because nobody pays for packets that are not sent.
    fn drain(&mut self) -> Vec<E> {
        for node in &mut self.nodes {
            drop(node.scheduling.drain());
        }
        self.length = 0;
        self.packets.drain()
    }

    fn follow(&mut self, now: Nanos, config: &PortConfig) -> bool {
        if (&self.shape, self.quantum_bytes) != (&config.tree, config.quantum_bytes) {
            return false;
        }
        self.buffer = config.buffer_packets as usize;
        for (node, node_config) in self.nodes.iter_mut().zip(&config.tree.nodes) {
            let own = of_node(config, node_config);
            node.room = own.buffer_packets as usize;
            node.scheduling.follow(now, &own);
        }
        true
    }
}
