//! Nothing is lost: counts balance, and a changed configuration keeps every packet.

use std::collections::HashMap;

use crate::common::*;
use p4sched_traffic_manager::{Calendar, Discipline, Enqueued, Offered, PortConfig, QueueConfig, TrafficManager};
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
    Configure(u16, PortConfig),
    Reclassify(u16),
    Hold(u16, bool),
    Flush,
}

fn discipline() -> impl Strategy<Value = Discipline> {
    prop_oneof![
        Just(Discipline::Strict),
        Just(Discipline::Fifo),
        Just(Discipline::Drr),
        Just(Discipline::Afq),
        Just(Discipline::Stfq),
        Just(Discipline::Pifo)
    ]
}

fn config() -> impl Strategy<Value = PortConfig> {
    let rate = prop_oneof![Just(0), Just(1_000_000u64), Just(1_000_000_000), Just(333_333_333)];
    (
        rate,
        0..10_000u64,
        discipline(),
        0..9u32,
        0..9u32,
        prop_oneof![Just(0), 1..100_000u64],
    )
        .prop_map(
            |(rate_bps, delay_ns, discipline, size_packets, buffer_packets, rate_pps)| PortConfig {
                rate_bps,
                delay_ns,
                discipline,
                queues: [QueueConfig { size_packets, rate_pps }; 8],
                buffer_packets,
                quantum_bytes: 500,
                calendar: Calendar {
                    queues: 4,
                    bytes_per_round: 600,
                },
            },
        )
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
        2 => (0..3u16, config()).prop_map(|(port, config)| Step::Configure(port, config)),
        1 => (0..3u16).prop_map(Step::Reclassify),
        2 => (0..3u16, any::<bool>()).prop_map(|(port, held)| Step::Hold(port, held)),
        1 => Just(Step::Flush),
    ]
}

/// Packets that should be inside, by item: port and enqueueing time.
type Inside = HashMap<u32, (u16, u64)>;

fn depart(tm: &mut TrafficManager<u32>, now: u64, inside: &mut Inside, last_start: &mut u64, held: [bool; 3]) {
    while let Some(departure) = tm.dequeue(now) {
        assert!(!held[usize::from(departure.port)], "a held port sends nothing");
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
        let (mut now, mut last_start, mut held) = (0, 0, [false; 3]);
        for (number, step) in steps.into_iter().enumerate() {
            let item = number as u32;
            match step {
                Step::Offer { port, priority, len, user, rank } => {
                    offered += 1;
                    match tm.enqueue(now, Offered { port, priority, len, user, rank, item }) {
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
                    depart(&mut tm, now, &mut inside, &mut last_start, held);
                }
                Step::Configure(port, config) => tm.set_port(now, port, config).unwrap(),
                Step::Reclassify(port) => tm.reclassify(port, |&item| (u64::from(item % 3), u64::from(item % 5))),
                Step::Hold(port, hold) => {
                    tm.hold_port(now, port, hold);
                    held[usize::from(port)] = hold;
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
            tm.hold_port(now, port, false);
        }
        depart(&mut tm, now + 1000 * SECOND, &mut inside, &mut last_start, [false; 3]);
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
    // Strict takes 1 (queue 7), PIFO 2 (rank 1), FIFO 0 (the oldest), and one is left.
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
