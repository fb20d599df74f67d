//! No packet is lost: counters balance, and a new configuration keeps every packet.

use std::collections::HashMap;

use crate::common::*;
use p4sched_traffic_manager::{
    CalendarConfig, CalendarPlace, DISCIPLINES, Discipline, Enqueued, LEVELS, Levels, Marks, NodeConfig, Offered,
    PortConfig, QueueConfig, ScrrConfig, TrafficManager, TreeConfig, nests,
};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Offer {
        port: u16,
        priority: u8,
        len: u32,
        user: u64,
        rank: u64,
    },
    Wait(u64),
    Configure(u16, Box<PortConfig>),
    Reclassify(u16),
    Room(u16, Option<u32>),
    Flush,
}

fn discipline() -> impl Strategy<Value = Discipline> {
    prop::sample::select(DISCIPLINES.to_vec())
}

fn calendar() -> impl Strategy<Value = CalendarConfig> {
    let turn = prop_oneof![Just((0, 0)), Just((1000, 0)), Just((0, 7000))];
    let place = prop::sample::select(vec![CalendarPlace::Priority, CalendarPlace::Ahead, CalendarPlace::Rank]);
    let levels = (1..4u32, 0..9u32, any::<bool>());
    (turn, place, 0..3u32, levels).prop_map(|((turn_bytes, turn_ns), place, queue_packets, levels)| CalendarConfig {
        queues: 4,
        queue_packets,
        bytes_per_round: 600,
        turn_bytes,
        turn_ns,
        place,
        rank_width: 2,
        levels: levels.0,
        burst_rounds: levels.1,
        whole_sets: levels.2,
        wraps: levels.2,
    })
}

fn scrr() -> impl Strategy<Value = ScrrConfig> {
    (0..3u32, 0..6u32).prop_map(|(flow_packets, version)| ScrrConfig { flow_packets, version })
}

/// A root with a leaf and a node of two leaves.
fn tree() -> impl Strategy<Value = TreeConfig> {
    let nodes: Vec<Discipline> = DISCIPLINES.iter().copied().filter(|&one| nests(one)).collect();
    let node = (prop::sample::select(nodes), 0..4u32);
    prop::collection::vec(node, 5).prop_map(|nodes| {
        let numbered = nodes.into_iter().zip([(0, 0), (0, 0), (0, 1), (1, 1), (1, 1)]);
        let nodes = numbered.map(|((discipline, room), (parent, leaf))| NodeConfig {
            buffer_packets: room * leaf,
            ..NodeConfig::new(parent, discipline)
        });
        TreeConfig { nodes: nodes.collect() }
    })
}

fn config() -> impl Strategy<Value = PortConfig> {
    let rate = prop_oneof![Just(0), Just(1_000_000u64), Just(1_000_000_000), Just(333_333_333)];
    (
        (rate, 0..10_000u64),
        discipline(),
        0..9u32,
        0..9u32,
        prop_oneof![Just(0), 1..100_000u64],
        (calendar(), scrr()),
        tree(),
    )
        .prop_map(
            |((rate_bps, delay_ns), discipline, size_packets, buffer_packets, rate_pps, (calendar, scrr), tree)| {
                PortConfig {
                    rate_bps,
                    delay_ns,
                    discipline,
                    queues: [QueueConfig { size_packets, rate_pps }; 8],
                    buffer_packets,
                    quantum_bytes: 500,
                    calendar,
                    scrr,
                    tree,
                }
            },
        )
}

/// A place in the tree. Node 1 is no leaf, and node 5 does not exist.
fn levels(leaf: u64, rank: u64) -> Option<Box<Levels>> {
    let ranks = [rank; LEVELS - 1];
    (leaf > 0).then(|| Box::new(Levels { leaf, ranks }))
}

fn step() -> impl Strategy<Value = Step> {
    let offer =
        (0..3u16, 0..9u8, 64..1515u32, 0..4u64, 0..6u64).prop_map(|(port, priority, len, user, rank)| Step::Offer {
            port,
            priority,
            len,
            user,
            rank,
        });
    prop_oneof![
        20 => offer,
        10 => (0..100_000u64).prop_map(Step::Wait),
        2 => (0..3u16, config()).prop_map(|(port, config)| Step::Configure(port, Box::new(config))),
        1 => (0..3u16).prop_map(Step::Reclassify),
        2 => (0..3u16, prop::option::of(0..4u32)).prop_map(|(port, room)| Step::Room(port, room)),
        1 => Just(Step::Flush),
    ]
}

/// Packets that should be in the traffic manager, by item: port and time of enqueueing.
type Inside = HashMap<u32, (u16, u64)>;

/// Room behind each port.
type Rooms = [Option<u32>; 3];

fn depart(tm: &mut TrafficManager<u32>, now: u64, inside: &mut Inside, last_start: &mut u64, rooms: &mut Rooms) {
    while let Some(departure) = tm.dequeue(now) {
        if let Some(room) = &mut rooms[usize::from(departure.port)] {
            assert!(*room > 0, "nothing leaves without room");
            *room -= u32::from(tm.port_config(departure.port).delay_ns == 0);
        }
        assert_eq!(inside.remove(&departure.item), Some((departure.port, departure.enq_ns)));
        assert!(
            (*last_start..=now).contains(&departure.start_ns),
            "departures come in the order of time"
        );
        assert!(departure.start_ns >= departure.enq_ns && departure.arrival_ns >= departure.start_ns);
        *last_start = departure.start_ns;
    }
}

fn check(tm: &TrafficManager<u32>, inside: &Inside) {
    assert_eq!(tm.queued(), inside.len());
    for port in 0..3 {
        let stats = tm.stats(port);
        assert!(stats.balanced(), "{stats:?}");
        let here = inside.values().filter(|(at, _)| *at == port).count() as u64;
        assert_eq!(
            (stats.total(|q| q.length).packets, u64::from(tm.backlog(port))),
            (here, here)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_packet_is_somewhere(steps in prop::collection::vec(step(), 1..300)) {
        let mut tm = TrafficManager::new();
        let mut inside = Inside::new();
        let mut offered = 0;
        let (mut now, mut last_start, mut rooms) = (0, 0, Rooms::default());
        for (number, step) in steps.into_iter().enumerate() {
            let item = number as u32;
            match step {
                Step::Offer { port, priority, len, user, rank } => {
                    offered += 1;
                    match tm.enqueue(now, Offered {
                        port, priority, len, user, rank, levels: levels(user + 2, rank), item
                    }) {
                        Enqueued::Queued { .. } => _ = inside.insert(item, (port, now)),
                        Enqueued::Dropped { item: same, .. } => prop_assert_eq!(same, item),
                        Enqueued::PushedOut { victim, .. } => {
                            prop_assert_eq!(inside.remove(&victim.item), Some((victim.port, victim.enq_ns)));
                            inside.insert(item, (port, now));
                        }
                    }
                }
                Step::Wait(time) => {
                    now += time;
                    depart(&mut tm, now, &mut inside, &mut last_start, &mut rooms);
                }
                Step::Configure(port, config) => tm.set_port(now, port, *config).unwrap(),
                Step::Reclassify(port) => tm.reclassify(now, port, |&item| Marks {
                    user: u64::from(item % 3),
                    rank: u64::from(item % 5),
                    levels: levels(u64::from(item % 6), u64::from(item % 4)),
                }),
                Step::Room(port, room) => {
                    tm.set_room(now, port, room);
                    rooms[usize::from(port)] = room;
                }
                Step::Flush => {
                    tm.flush(|removed| {
                        inside.remove(&removed.item).unwrap();
                    });
                    prop_assert!(inside.is_empty());
                }
            }
            check(&tm, &inside);
        }
        for port in 0..3 {
            tm.set_room(now, port, None);
        }
        depart(&mut tm, now + 1000 * SECOND, &mut inside, &mut last_start, &mut Rooms::default());
        prop_assert!(inside.is_empty(), "a packet never left");
        prop_assert_eq!(tm.next_departure(), None);
        let seen: u64 = (0..3)
            .map(|port| {
                let stats = tm.stats(port);
                stats.total(|q| q.enqueued).packets + stats.total(|q| q.dropped).packets + stats.no_such_queue.packets
            })
            .sum();
        prop_assert_eq!(seen, offered);
    }
}

#[test]
fn a_smaller_room_keeps_what_waits_and_refuses_what_comes() {
    let mut tm = port_1(PortConfig {
        rate_bps: 12_000_000,
        ..Default::default()
    });
    for item in 0..10 {
        tm.enqueue(0, packet(0, 1500, item));
    }
    let small = QueueConfig {
        size_packets: 4,
        rate_pps: 0,
    };
    tm.set_port(
        0,
        1,
        PortConfig {
            rate_bps: 12_000_000,
            queues: [small; 8],
            ..Default::default()
        },
    )
    .unwrap();
    assert!(was_dropped(&tm.enqueue(0, packet(0, 1500, 10))));
    assert_eq!(items(&mut tm, 6_000_000), [0, 1, 2, 3, 4, 5, 6]);
    assert!(!was_dropped(&tm.enqueue(6_000_000, packet(0, 1500, 11))));
    assert_eq!(items(&mut tm, SECOND), [7, 8, 9, 11]);
}

#[test]
fn another_discipline_files_the_waiting_packets_anew() {
    let strict = PortConfig {
        rate_bps: 12_000_000,
        ..Default::default()
    };
    let mut tm = port_1(strict.clone());
    for (item, (priority, rank)) in [(0, 3), (7, 9), (4, 1), (7, 2)].into_iter().enumerate() {
        tm.enqueue(
            0,
            Offered {
                rank,
                ..packet(priority, 1500, item as u32)
            },
        );
    }
    let pifo = PortConfig {
        discipline: Discipline::Pifo,
        buffer_packets: 2,
        ..strict.clone()
    };
    let fifo = PortConfig {
        discipline: Discipline::Fifo,
        ..strict.clone()
    };
    let mut order = items(&mut tm, 0);
    tm.set_port(500_000, 1, pifo).unwrap();
    order.extend(items(&mut tm, 1_000_000));
    tm.set_port(1_500_000, 1, fifo).unwrap();
    order.extend(items(&mut tm, 2_000_000));
    tm.set_port(2_500_000, 1, strict).unwrap();
    order.extend(items(&mut tm, SECOND));
    // Strict sends item 1 (queue 7), PIFO item 2 (rank 1), FIFO item 0 (the oldest), and one is left.
    assert_eq!(order, [1, 2, 0, 3]);
    assert_eq!(tm.stats(1).total(|q| q.dequeued).packets, 4);
}

#[test]
fn a_new_rate_holds_from_the_next_frame_on() {
    let at_rate = |rate_bps| PortConfig {
        rate_bps,
        ..Default::default()
    };
    let mut tm = port_1(at_rate(12_000_000));
    for item in 0..4 {
        tm.enqueue(0, packet(0, 1500, item));
    }
    let mut starts: Vec<_> = departures(&mut tm, 0).iter().map(|d| d.start_ns).collect();
    tm.set_port(400_000, 1, at_rate(120_000_000)).unwrap();
    starts.extend(departures(&mut tm, SECOND).iter().map(|d| d.start_ns));
    assert_eq!(starts, [0, 1_000_000, 1_100_000, 1_200_000]);
}

#[test]
fn lifting_a_packet_rate_frees_the_packets_that_wait_for_it() {
    let limited = |rate_pps| PortConfig {
        queues: [QueueConfig {
            size_packets: 64,
            rate_pps,
        }; 8],
        ..Default::default()
    };
    let mut tm = port_1(limited(1));
    for item in 0..30 {
        tm.enqueue(0, packet(0, 100, item));
    }
    assert_eq!(items(&mut tm, SECOND), [0, 1]);
    tm.set_port(SECOND, 1, limited(1000)).unwrap();
    assert_eq!(items(&mut tm, SECOND + 9_000_000).len(), 10);
    tm.set_port(SECOND + 9_000_000, 1, limited(0)).unwrap();
    assert_eq!(items(&mut tm, SECOND + 9_000_000).len(), 18);
}
