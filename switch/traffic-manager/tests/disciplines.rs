//! The choice of the next packet to send and of the packet to drop.

use std::collections::HashMap;

use crate::common::*;
use p4sched_traffic_manager::{Discipline, DropReason, Enqueued, Offered, PortConfig, QueueConfig, TrafficManager};
use proptest::prelude::*;

fn one_buffer(discipline: Discipline, buffer_packets: u32) -> PortConfig {
    PortConfig {
        discipline,
        buffer_packets,
        rate_bps: 12_000_000,
        ..Default::default()
    }
}

#[test]
fn of_two_backlogged_queues_the_less_urgent_one_sends_nothing() {
    let mut tm = port_1(PortConfig {
        rate_bps: 12_000_000,
        ..Default::default()
    });
    let mut sent = [0; 8];
    // Both queues get twice the link's rate for a second: one packet each per half millisecond.
    for now in (0..SECOND).step_by(500_000) {
        for departure in departures(&mut tm, now) {
            sent[usize::from(departure.queue)] += 1;
        }
        tm.enqueue(now, packet(3, 1500, 0));
        tm.enqueue(now, packet(2, 1500, 0));
    }
    assert_eq!(sent, [0, 0, 0, 1000, 0, 0, 0, 0]);
}

#[test]
fn urgent_packets_overtake_and_each_queue_keeps_its_order() {
    let mut tm = port_1(PortConfig {
        rate_bps: 12_000_000,
        ..Default::default()
    });
    for (item, priority) in [0, 5, 7, 0, 5, 7, 2].into_iter().enumerate() {
        tm.enqueue(0, packet(priority, 1500, item as u32));
    }
    assert_eq!(items(&mut tm, SECOND), [2, 5, 1, 4, 6, 0, 3]);
}

#[test]
fn a_full_queue_drops_the_arriving_packet_and_spares_the_other_queues() {
    let mut queues = [QueueConfig::default(); 8];
    queues[4].size_packets = 2;
    queues[1].size_packets = 0;
    let mut tm = port_1(PortConfig {
        queues,
        rate_bps: 12_000_000,
        ..Default::default()
    });
    assert_eq!(
        tm.enqueue(0, packet(4, 100, 0)),
        Enqueued::Queued {
            queue: 4,
            length_before: 0
        }
    );
    assert_eq!(
        tm.enqueue(0, packet(4, 100, 1)),
        Enqueued::Queued {
            queue: 4,
            length_before: 1
        }
    );
    let full = Enqueued::Dropped {
        queue: 4,
        item: 2,
        reason: DropReason::Full,
    };
    assert_eq!(tm.enqueue(0, packet(4, 100, 2)), full);
    assert!(was_dropped(&tm.enqueue(0, packet(1, 100, 3))));
    assert!(!was_dropped(&tm.enqueue(0, packet(5, 100, 4))));
    let no_queue = Enqueued::Dropped {
        queue: 8,
        item: 5,
        reason: DropReason::NoSuchQueue,
    };
    assert_eq!(tm.enqueue(0, packet(8, 100, 5)), no_queue);
    assert_eq!(tm.stats(1).no_such_queue.packets, 1);
}

#[test]
fn depths_are_those_found_at_arrival_and_left_behind_at_departure() {
    let mut tm = port_1(PortConfig {
        rate_bps: 12_000_000,
        ..Default::default()
    });
    for priority in [0, 0, 6, 0] {
        tm.enqueue(0, packet(priority, 1500, 0));
    }
    let depths: Vec<_> = departures(&mut tm, SECOND)
        .iter()
        .map(|d| (d.queue, d.enq_length, d.length_after))
        .collect();
    assert_eq!(depths, [(6, 0, 0), (0, 0, 2), (0, 1, 1), (0, 2, 0)]);
}

#[test]
fn fifo_ignores_priorities_and_counts_the_whole_buffer() {
    let mut tm = port_1(one_buffer(Discipline::Fifo, 3));
    for (item, priority) in [0, 7, 3, 7].into_iter().enumerate() {
        tm.enqueue(0, packet(priority, 1500, item as u32));
    }
    assert_eq!((tm.length(1, 0), tm.length(1, 7), tm.backlog(1)), (3, 3, 3));
    assert_eq!(items(&mut tm, SECOND), [0, 1, 2]);
    let stats = tm.stats(1);
    assert_eq!(
        (stats.queues[7].enqueued.packets, stats.queues[7].dropped.packets),
        (1, 1)
    );
}

#[test]
fn pifo_keeps_the_smallest_ranks_as_in_the_aifo_papers_figure_2() {
    let arrive = |discipline| {
        let mut tm = port_1(one_buffer(discipline, 4));
        for (item, rank) in [1, 4, 5, 1, 2, 2].into_iter().enumerate() {
            tm.enqueue(0, with_rank(rank, item as u32 * 10 + rank as u32));
        }
        items(&mut tm, SECOND)
            .into_iter()
            .map(|item| item % 10)
            .collect::<Vec<_>>()
    };
    assert_eq!(arrive(Discipline::Pifo), [1, 1, 2, 2]);
    assert_eq!(arrive(Discipline::Fifo), [1, 4, 5, 1]);
}

#[test]
fn pifo_gives_up_the_latest_of_the_largest_rank_which_may_be_the_arriving_packet() {
    let mut tm = port_1(one_buffer(Discipline::Pifo, 3));
    for (rank, item) in [(9, 0), (9, 1), (5, 2)] {
        tm.enqueue(0, with_rank(rank, item));
    }
    assert!(was_dropped(&tm.enqueue(0, with_rank(9, 3))));
    let Enqueued::PushedOut { victim, .. } = tm.enqueue(0, with_rank(8, 4)) else {
        panic!("push-out expected")
    };
    assert_eq!(victim.item, 1);
    assert_eq!(items(&mut tm, SECOND), [2, 4, 0]);
}

#[test]
fn drr_serves_bytes_not_packets() {
    let mut tm = port_1(PortConfig {
        quantum_bytes: 1500,
        ..one_buffer(Discipline::Drr, 100)
    });
    for _ in 0..4 {
        tm.enqueue(0, with_user(1, 1500, 1));
    }
    for _ in 0..12 {
        tm.enqueue(0, with_user(2, 500, 2));
    }
    assert_eq!(items(&mut tm, SECOND), [1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2]);
}

#[test]
fn drr_takes_room_from_the_longest_queue() {
    let mut tm = port_1(one_buffer(Discipline::Drr, 6));
    for item in 0..6 {
        tm.enqueue(0, with_user(1, 1500, item));
    }
    // User 1 has filled the buffer. User 2 still gets its half, and user 1 loses its latest packets.
    for (item, victim_expected) in [(10, 5), (11, 4), (12, 3)] {
        let Enqueued::PushedOut {
            victim, length_before, ..
        } = tm.enqueue(0, with_user(2, 1500, item))
        else {
            panic!("push-out expected")
        };
        assert_eq!((victim.item, length_before), (victim_expected, 6));
    }
    assert!(was_dropped(&tm.enqueue(0, with_user(2, 1500, 13))));
    assert_eq!(items(&mut tm, SECOND), [0, 10, 1, 11, 2, 12]);
}

#[test]
fn drr_carries_thousands_of_users() {
    let mut tm = port_1(PortConfig {
        rate_bps: 0,
        ..one_buffer(Discipline::Drr, 100_000)
    });
    for round in 0..10 {
        for user in 0..5000 {
            tm.enqueue(0, with_user(user, 1000, round));
        }
    }
    // With a quantum of 1514 and packets of 1000 bytes, no user is ever more than two packets ahead of another.
    let mut sent = HashMap::new();
    while let Some(departure) = tm.dequeue(0) {
        *sent.entry(departure.item).or_insert(0) += 1;
    }
    assert!(sent.values().all(|&packets| packets == 5000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Shreedhar and Varghese: over any interval in which two users are backlogged, the bytes sent for them differ by
    /// at most quantum + 2 * largest frame size.
    #[test]
    fn drr_is_fair_to_within_its_bound(
        quantum in 600..4000u32,
        frames in prop::collection::vec(prop::collection::vec(64..1515u32, 200..300), 2..9),
        skip in 0..400usize,
    ) {
        let mut tm = port_1(PortConfig { quantum_bytes: quantum, ..one_buffer(Discipline::Drr, 10_000) });
        for (user, lens) in frames.iter().enumerate() {
            for &len in lens {
                tm.enqueue(0, with_user(user as u64, len, user as u32));
            }
        }
        let mut left: Vec<usize> = frames.iter().map(Vec::len).collect();
        let mut bytes = vec![0i64; frames.len()];
        for number in 0.. {
            let departure = tm.dequeue(u64::MAX - 1).unwrap();
            let user = departure.item as usize;
            left[user] -= 1;
            if left[user] == 0 {
                break;
            }
            if number >= skip {
                bytes[user] += i64::from(departure.len);
                let difference = bytes.iter().max().unwrap() - bytes.iter().min().unwrap();
                prop_assert!(difference <= i64::from(quantum) + 2 * 1514, "{} bytes apart", difference);
            }
        }
    }

    /// The queues of all users equal those of a model: a map of vectors in which the longest is searched for.
    #[test]
    fn drr_buffer_agrees_with_a_plain_model(steps in prop::collection::vec((0..6u64, 0..3u8), 1..400)) {
        let mut tm = port_1(PortConfig { rate_bps: 0, ..one_buffer(Discipline::Drr, 12) });
        let mut model: HashMap<u64, Vec<u32>> = HashMap::new();
        for (number, (user, step)) in steps.into_iter().enumerate() {
            if step == 0 {
                if let Some(departure) = tm.dequeue(u64::MAX - 1) {
                    let queue = model.values_mut().find(|queue| queue.first() == Some(&departure.item));
                    queue.expect("the oldest packet of a user").remove(0);
                }
                continue;
            }
            let item = number as u32;
            let own = model.get(&user).map_or(0, Vec::len) + 1;
            let longest = model.values().map(Vec::len).max().unwrap_or(0);
            match tm.enqueue(0, with_user(user, 1000, item)) {
                Enqueued::Queued { .. } => {
                    prop_assert!(model.values().map(Vec::len).sum::<usize>() < 12);
                    model.entry(user).or_default().push(item);
                }
                Enqueued::Dropped { .. } => prop_assert!(longest <= own),
                Enqueued::PushedOut { victim, .. } => {
                    prop_assert!(longest > own);
                    let queue = model.values_mut().find(|queue| queue.last() == Some(&victim.item)).unwrap();
                    prop_assert_eq!(queue.len(), longest);
                    queue.pop();
                    model.entry(user).or_default().push(item);
                }
            }
        }
    }

    /// The packets sent and pushed out are those of a sorted list.
    #[test]
    fn pifo_agrees_with_a_sorted_list(steps in prop::collection::vec((0..10u64, any::<bool>()), 1..400)) {
        let mut tm = port_1(PortConfig { rate_bps: 0, ..one_buffer(Discipline::Pifo, 8) });
        let mut model: Vec<(u64, u32)> = Vec::new();
        for (number, (rank, arrives)) in steps.into_iter().enumerate() {
            let item = number as u32;
            if !arrives {
                let expected = (!model.is_empty()).then(|| model.remove(0).1);
                prop_assert_eq!(tm.dequeue(u64::MAX - 1).map(|departure| departure.item), expected);
                continue;
            }
            model.push((rank, item));
            model.sort_unstable();
            let expected = if model.len() > 8 { model.pop().map(|(_, item)| item) } else { None };
            let given_up = match tm.enqueue(0, with_rank(rank, item)) {
                Enqueued::Queued { .. } => None,
                Enqueued::Dropped { item, .. } => Some(item),
                Enqueued::PushedOut { victim, .. } => Some(victim.item),
            };
            prop_assert_eq!(given_up, expected);
        }
    }

    #[test]
    fn no_packet_of_a_queue_overtakes_another(steps in prop::collection::vec((0..30_000u64, 0..8u8), 1..400)) {
        let mut tm = port_1(PortConfig { rate_bps: 1_000_000_000, ..Default::default() });
        let mut now = 0;
        let mut sent = Vec::new();
        for (number, (gap, priority)) in steps.into_iter().enumerate() {
            now += gap;
            sent.extend(departures(&mut tm, now));
            tm.enqueue(now, Offered { ..packet(priority, 1500, number as u32) });
        }
        sent.extend(departures(&mut tm, u64::MAX - 1));
        for queue in 0..8 {
            let items: Vec<_> = sent.iter().filter(|d| d.queue == queue).map(|d| d.item).collect();
            prop_assert!(items.is_sorted());
        }
    }
}

#[test]
fn an_unused_port_is_empty() {
    let tm = TrafficManager::<u32>::new();
    assert_eq!((tm.length(7, 0), tm.backlog(7), tm.next_departure()), (0, 0, None));
    assert!(tm.stats(7).balanced());
}
