//! A tree of queues: each level orders by its own rank, and the child of a reference chooses its packet when it is
//! taken.

use std::collections::HashMap;

use crate::common::*;
use p4sched_traffic_manager::{
    Discipline, DropReason, Enqueued, Levels, NodeConfig, Offered, PortConfig, TrafficManager, TreeConfig, reads,
};
use proptest::prelude::*;

fn node(parent: u32, discipline: Discipline) -> NodeConfig {
    NodeConfig::new(parent, discipline)
}

/// A port that sends a frame of 1000 bytes per millisecond.
fn port(nodes: &[NodeConfig]) -> PortConfig {
    PortConfig {
        discipline: Discipline::Tree,
        buffer_packets: 100,
        tree: TreeConfig { nodes: nodes.to_vec() },
        rate_bps: 8_000_000,
        ..Default::default()
    }
}

/// A packet for a leaf, with its user, and its ranks from the root down.
fn of(leaf: u64, user: u64, ranks: [u64; 2], item: u32) -> Offered<u32> {
    let [root, below] = ranks;
    let levels = Levels {
        leaf,
        ranks: [below, below, below],
    };
    Offered {
        user,
        rank: root,
        levels: Some(Box::new(levels)),
        ..packet(0, 1000, item)
    }
}

fn pushed_out(outcome: &Enqueued<u32>) -> Option<u32> {
    match outcome {
        Enqueued::PushedOut { victim, .. } => Some(victim.item),
        _ => None,
    }
}

fn reason(outcome: &Enqueued<u32>) -> Option<DropReason> {
    match outcome {
        Enqueued::Dropped { reason, .. } => Some(*reason),
        _ => None,
    }
}

#[test]
fn each_level_sorts_by_its_own_rank() {
    let mut tm = port_1(port(&[
        node(0, Discipline::Pifo),
        node(0, Discipline::Pifo),
        node(0, Discipline::Fifo),
    ]));
    // Leaf 1 gets its own ranks 5, 3, 4 and puts references 2, 8, 9 into the root. Leaf 2 is first in, first out: 7 and
    // 1.
    for (item, (leaf, root, own)) in [(1, 2, 5), (2, 7, 0), (1, 8, 3), (2, 1, 0), (1, 9, 4)]
        .into_iter()
        .enumerate()
    {
        tm.enqueue(0, of(leaf, 0, [root, own], item as u32));
    }
    // The root's references: 1 (leaf 2), 2 (leaf 1), 7 (leaf 2), 8 and 9 (leaf 1). Leaf 2 sends its older packet first,
    // although the newer one added reference 1. Leaf 1 sends ranks 3, 4, 5.
    assert_eq!(items(&mut tm, SECOND), [1, 2, 3, 4, 0]);
}

#[test]
fn hierarchical_fair_queueing_by_hand() {
    // The root shares 1 : 2 between leaf 1, which shares among users, and leaf 2. A child of weight 2 has scale 128, so
    // its frames of 1000 bytes cost 500.
    let right = NodeConfig {
        scale: 128,
        ..node(0, Discipline::Fifo)
    };
    let mut tm = port_1(port(&[node(0, Discipline::Stfq), node(0, Discipline::Stfq), right]));
    let arrivals = [(1, 10), (1, 11), (1, 10), (2, 0), (2, 0), (2, 0)];
    for (item, (leaf, user)) in arrivals.into_iter().enumerate() {
        tm.enqueue(0, of(leaf, user, [0, 0], item as u32));
    }
    // Starts at the root: leaf 1 has 0, 1000, 2000 and leaf 2 has 0, 500, 1000. The order is leaf 1, 2, 2, 1 (it came
    // first), 2, 1. Starts in leaf 1: user 10 has 0 and 1000, user 11 has 0. The order is item 0, 1, 2.
    assert_eq!(items(&mut tm, SECOND), [0, 3, 4, 1, 5, 2]);
}

#[test]
fn shares_follow_the_hierarchy_whoever_offers_more() {
    // The root gives each child a half. Leaves 3 and 4 share the half of node 1; leaf 3 shares between two users.
    let mut tm = port_1(PortConfig {
        rate_bps: 0,
        buffer_packets: 400,
        ..port(&[
            node(0, Discipline::Stfq),
            node(0, Discipline::Drr),
            NodeConfig {
                buffer_packets: 100,
                ..node(0, Discipline::Fifo)
            },
            NodeConfig {
                buffer_packets: 100,
                ..node(1, Discipline::Drr)
            },
            NodeConfig {
                buffer_packets: 100,
                ..node(1, Discipline::Fifo)
            },
        ])
    });
    let mut sent = HashMap::new();
    for _ in 0..8000 {
        // User 2 of leaf 3 offers five times as much as any other.
        for (leaf, user) in [(2, 0), (3, 1), (4, 4), (3, 2), (3, 2), (3, 2), (3, 2), (3, 2)] {
            tm.enqueue(0, of(leaf, user, [0, 0], (10 * leaf + user) as u32));
        }
        *sent.entry(tm.dequeue(0).unwrap().item).or_insert(0_i64) += 1;
    }
    for (who, share) in [(20, 4000), (44, 2000), (31, 1000), (32, 1000)] {
        assert!((sent[&who] - share).abs() <= 3, "{sent:?}");
    }
}

#[test]
fn a_full_leaf_does_what_its_discipline_does() {
    let room = |packets, discipline| NodeConfig {
        buffer_packets: packets,
        ..node(0, discipline)
    };
    let mut tm = port_1(PortConfig {
        buffer_packets: 4,
        ..port(&[
            node(0, Discipline::Pifo),
            room(2, Discipline::Pifo),
            room(3, Discipline::Fifo),
        ])
    });
    tm.enqueue(0, of(1, 0, [1, 50], 0));
    tm.enqueue(0, of(1, 0, [2, 60], 1));
    // Leaf 1 is full: rank 60 leaves for rank 40, and rank 70 is dropped. The root keeps references 1 and 2.
    assert_eq!(pushed_out(&tm.enqueue(0, of(1, 0, [9, 40], 2))), Some(1));
    assert_eq!(reason(&tm.enqueue(0, of(1, 0, [0, 70], 3))), Some(DropReason::Full));
    // Two more fill the buffer. Leaf 2 still has room, but the port has none.
    tm.enqueue(0, of(2, 0, [3, 0], 4));
    tm.enqueue(0, of(2, 0, [4, 0], 5));
    assert_eq!(reason(&tm.enqueue(0, of(2, 0, [0, 0], 6))), Some(DropReason::Full));
    // A full leaf still pushes out one of its own packets.
    assert_eq!(pushed_out(&tm.enqueue(0, of(1, 0, [0, 10], 7))), Some(0));
    assert_eq!(items(&mut tm, SECOND), [7, 2, 4, 5]);
    let stats = tm.stats(1);
    assert_eq!(
        (
            stats.total(|q| q.dropped).packets,
            stats.total(|q| q.pushed_out).packets
        ),
        (2, 2)
    );
}

#[test]
fn a_packet_for_no_leaf_is_dropped() {
    let mut tm = port_1(port(&[
        node(0, Discipline::Fifo),
        node(0, Discipline::Fifo),
        node(1, Discipline::Fifo),
    ]));
    for leaf in [0, 1, 3, u64::MAX] {
        assert_eq!(
            reason(&tm.enqueue(0, of(leaf, 0, [0, 0], 0))),
            Some(DropReason::NoSuchLeaf),
            "{leaf}"
        );
    }
    assert_eq!(reason(&tm.enqueue(0, of(2, 0, [0, 0], 0))), None);
}

#[test]
fn a_tree_of_one_node_is_that_discipline() {
    let mut tm = port_1(port(&[node(0, Discipline::Pifo)]));
    for (item, rank) in [7, 3, 5].into_iter().enumerate() {
        tm.enqueue(0, with_rank(rank, item as u32));
    }
    assert_eq!(items(&mut tm, SECOND), [1, 2, 0]);
}

#[test]
fn a_tree_asks_for_the_fields_that_its_nodes_read() {
    let asked = reads(&port(&[
        node(0, Discipline::Stfq),
        node(0, Discipline::Pifo),
        node(1, Discipline::Drr),
        node(1, Discipline::Fifo),
    ]));
    assert_eq!(
        (asked.leaf, asked.user, asked.ranks),
        (true, true, [false, true, false, false])
    );
}

#[test]
fn a_tree_that_can_not_work_is_refused_with_what_would() {
    let pifo = |parent| node(parent, Discipline::Pifo);
    let deep: Vec<NodeConfig> = (0..5).map(|number: u32| pifo(number.saturating_sub(1))).collect();
    let cases = [
        (vec![], "0 nodes; use 1 to 256, the root first"),
        (
            vec![pifo(0), pifo(1)],
            "the parent of node 1 is 1; it must come before its children",
        ),
        (
            vec![pifo(0), node(0, Discipline::Strict)],
            "node 1 cannot be strict; use one of fifo, drr, stfq, pifo",
        ),
        (
            vec![pifo(0), node(0, Discipline::Unspecified)],
            "node 1 has no discipline; use one of fifo, drr, stfq, pifo",
        ),
        (
            vec![pifo(0), NodeConfig { scale: 1, ..pifo(0) }],
            "node 1 has scale 1; use 16 to 65536, 256 for weight 1",
        ),
        (
            vec![
                pifo(0),
                NodeConfig {
                    quantum_bytes: 9,
                    ..pifo(0)
                },
            ],
            "node 1 has a quantum of 9 bytes; use at least 64",
        ),
        (
            vec![
                NodeConfig {
                    buffer_packets: 9,
                    ..pifo(0)
                },
                pifo(0),
            ],
            "node 0 has buffer_packets, but is not a leaf",
        ),
        (deep, "5 levels; at most 4 are possible"),
    ];
    for (nodes, problem) in cases {
        let error = port(&nodes).check(3).unwrap_err().to_string();
        assert_eq!(error, format!("port 3: tree: {problem}"));
    }
}

/// A node as a list that is searched: the waiting elements by rank and number, and the virtual clock of a fair node.
#[derive(Debug, Default)]
struct Naive {
    waiting: Vec<(u64, usize, usize)>,
    finishes: HashMap<u64, u64>,
    virtual_time: u64,
    count: usize,
}

impl Naive {
    fn put(&mut self, discipline: Discipline, to: usize, user: u64, rank: u64, cost: u64) {
        let rank = match discipline {
            Discipline::Pifo => rank,
            Discipline::Stfq => u64::max(self.virtual_time, self.finishes.get(&user).copied().unwrap_or(0)),
            _ => 0,
        };
        self.finishes.insert(user, rank + cost);
        self.waiting.push((rank, self.count, to));
        self.count += 1;
    }

    fn take(&mut self) -> Option<usize> {
        let first = self.waiting.iter().min().copied()?;
        self.waiting.retain(|&one| one != first);
        self.virtual_time = first.0;
        Some(first.2)
    }
}

/// Parents of the nodes: two leaves below the root, and two below node 1.
const PARENTS: [usize; 6] = [0, 0, 0, 0, 1, 1];

fn take_naively(tree: &mut [Naive]) -> Option<usize> {
    let mut node = tree[0].take()?;
    if node == 1 {
        node = tree[1].take().unwrap();
    }
    tree[node].take()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_tree_sends_in_the_order_of_lists_that_are_searched(
        kinds in prop::collection::vec(
            prop::sample::select(vec![Discipline::Fifo, Discipline::Pifo, Discipline::Stfq]), 6),
        scales in prop::collection::vec(prop::sample::select(vec![64u32, 256, 300, 1024]), 6),
        steps in prop::collection::vec((2..6usize, 0..3u64, 64..1515u32, [0..9u64, 0..9, 0..9], 0..5u8), 1..400),
    ) {
        let nodes: Vec<NodeConfig> = (0..6)
            .map(|n| NodeConfig { scale: scales[n], ..node(PARENTS[n] as u32, kinds[n]) })
            .collect();
        let mut tm = port_1(PortConfig { rate_bps: 0, buffer_packets: 1000, ..port(&nodes) });
        let mut naive: Vec<Naive> = (0..6).map(|_| Naive::default()).collect();
        let mut of_leaf: HashMap<u32, usize> = HashMap::new();
        let mut expected = Vec::new();
        let mut sent = Vec::new();
        for (number, (leaf, user, len, ranks, step)) in (0..).zip(steps) {
            if step < 2 {
                expected.extend(take_naively(&mut naive));
                sent.extend(tm.dequeue(0).map(|departure| departure.item as usize));
                continue;
            }
            of_leaf.insert(number, leaf);
            let levels = Levels { leaf: leaf as u64, ranks: [ranks[1], ranks[2], 0] };
            let offered = Offered {
                user,
                rank: ranks[0],
                levels: Some(Box::new(levels)),
                ..packet(0, len, number)
            };
            prop_assert!(!was_dropped(&tm.enqueue(0, offered)));
            let (mut at, mut level) = (leaf, if leaf > 3 { 2 } else { 1 });
            naive[at].put(kinds[at], number as usize, user, ranks[level], u64::from(len));
            while at != 0 {
                let parent = PARENTS[at];
                level -= 1;
                let cost = (u64::from(len) * u64::from(scales[at])) >> 8;
                naive[parent].put(kinds[parent], at, at as u64, ranks[level], cost);
                at = parent;
            }
        }
        sent.extend(items_at_once(&mut tm));
        expected.extend(std::iter::from_fn(|| take_naively(&mut naive)));
        prop_assert_eq!(&sent, &expected);
        prop_assert_eq!(sent.len(), of_leaf.len());
        // A leaf that is first in, first out keeps its order under any tree.
        for leaf in (2..6).filter(|&leaf| kinds[leaf] == Discipline::Fifo) {
            prop_assert!(sent.iter().filter(|&&item| of_leaf[&(item as u32)] == leaf).is_sorted());
        }
    }
}

fn items_at_once(tm: &mut TrafficManager<u32>) -> Vec<usize> {
    items(tm, 0).into_iter().map(|item| item as usize).collect()
}
