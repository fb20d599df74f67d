//! Approximate fair queueing: the same decisions as a list that is searched, and the guarantees for a user.

use std::collections::HashMap;

use crate::common::*;
use p4sched_traffic_manager::{CalendarConfig, Discipline, DropReason, Enqueued, PortConfig, TrafficManager};
use proptest::prelude::*;

fn afq(buffer_packets: u32, queues: u32, bytes_per_round: u32) -> PortConfig {
    PortConfig {
        discipline: Discipline::Afq,
        buffer_packets,
        calendar: CalendarConfig {
            queues,
            bytes_per_round,
            ..Default::default()
        },
        rate_bps: 12_000_000,
        ..Default::default()
    }
}

#[test]
fn a_user_can_not_book_more_rounds_than_the_calendar_has() {
    let mut tm = port_1(afq(100, 4, 1514));
    // Frames that end in rounds 0, 1, 2, 3: at 1000, 2000, 3100, 4600 bytes. The next would end in round 4.
    for (len, item, taken) in [
        (1000, 0, true),
        (1000, 1, true),
        (1100, 2, true),
        (1500, 3, true),
        (1500, 4, false),
    ] {
        assert_eq!(was_dropped(&tm.enqueue(0, with_user(1, len, item))), !taken, "{item}");
    }
    // Another user's first frame belongs to the round that is served.
    tm.enqueue(0, with_user(2, 1000, 10));
    assert_eq!(items(&mut tm, SECOND), [0, 10, 1, 2, 3]);
}

#[test]
fn a_full_buffer_drops_the_arriving_packet_and_does_not_charge_for_it() {
    let mut tm = port_1(afq(2, 32, 1514));
    tm.enqueue(0, with_user(1, 1500, 0));
    tm.enqueue(0, with_user(1, 1500, 1));
    assert!(was_dropped(&tm.enqueue(0, with_user(2, 1500, 2))));
    // 1 ms a frame: the first one has left, and user 2 is still in the first round.
    assert_eq!(departures(&mut tm, 0).len(), 1);
    tm.enqueue(0, with_user(2, 1500, 3));
    assert_eq!(items(&mut tm, SECOND), [3, 1]);
}

#[test]
fn another_calendar_keeps_all_packets_in_the_order_of_each_user() {
    let mut tm = port_1(afq(100, 32, 1514));
    for item in 0..20 {
        tm.enqueue(0, with_user(u64::from(item) % 2, 1500, item));
    }
    tm.set_port(0, 1, afq(100, 2, 1514)).unwrap();
    let sent = items(&mut tm, SECOND);
    assert_eq!(sent.len(), 20);
    for user in 0..2 {
        assert!(sent.iter().filter(|&item| item % 2 == user).is_sorted());
    }
}

#[test]
fn bids_are_forgotten_only_when_their_rounds_are_over() {
    let mut tm = port_1(afq(100_000, 4, 1514));
    let books_three_rounds = |tm: &mut TrafficManager<u32>| {
        let taken: Vec<bool> = (0..5)
            .map(|_| !was_dropped(&tm.enqueue(0, with_user(0, 1514, 0))))
            .collect();
        assert_eq!(taken, [true, true, true, false, false]);
    };
    books_three_rounds(&mut tm);
    // Thousands of other users come while the three rounds are still in the future.
    for user in 1..5000 {
        tm.enqueue(0, with_user(user, 1000, 1));
    }
    assert!(was_dropped(&tm.enqueue(0, with_user(0, 1514, 0))));
    // Thousands more come in later rounds, when the three rounds are over.
    for user in 5000..10_000 {
        tm.enqueue(0, with_user(user, 1514, 1));
        tm.dequeue(u64::MAX - 1);
    }
    departures(&mut tm, u64::MAX - 1);
    books_three_rounds(&mut tm);
}

#[test]
fn a_calendar_that_holds_no_full_frame_is_refused() {
    for (queues, bytes_per_round) in [(0, 1514), (4097, 1514), (1, 1514), (8, 189), (32, 0)] {
        let error = afq(100, queues, bytes_per_round).check(3).unwrap_err().to_string();
        assert!(error.starts_with("port 3: "), "{error}");
    }
    assert_eq!(afq(100, 8, 190).check(3), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Each packet is taken or dropped exactly by the rule, and packets leave in the same order.
    #[test]
    fn afq_decides_as_the_rule_says(
        queues in 1..40u32,
        bytes_per_round in 64..4096u32,
        buffer in 1..200u32,
        queue_packets in 0..20u32,
        users in 1..9u64,
        wraps in any::<bool>(),
        steps in prop::collection::vec((0..9u64, 64..1515u32, 0..5u8), 1..600),
    ) {
        // If the drawn calendar cannot hold a full frame, use the smallest one that can.
        let queues = queues.max(1514 / bytes_per_round + 1);
        let mut config = PortConfig { rate_bps: 0, ..afq(buffer, queues, bytes_per_round) };
        config.calendar.queue_packets = queue_packets;
        config.calendar.wraps = wraps;
        let mut tm = port_1(config);
        let (n, bpr) = (u64::from(queues), u64::from(bytes_per_round));
        let mut waiting: Vec<(u64, u32)> = Vec::new();
        let mut bids = HashMap::new();
        let mut head = 0;
        for (number, (user, len, step)) in (0..).zip(steps) {
            if step < 2 {
                let first = waiting.iter().min().copied();
                waiting.retain(|&one| Some(one) != first);
                head = first.map_or(head, |(round, _)| round);
                prop_assert_eq!(tm.dequeue(u64::MAX - 1).map(|departure| departure.item), first.map(|(_, item)| item));
                continue;
            }
            let user = user % users;
            let bid = u64::max(bids.get(&user).copied().unwrap_or(0), head * bpr) + u64::from(len);
            let ahead = bid / bpr - head;
            // A ring of n queues: n rounds ahead is the queue of the head.
            let round = head + ahead % n;
            let in_queue = waiting.iter().filter(|&&(other, _)| other == round).count();
            let refused = if ahead > n || (ahead == n && !wraps) {
                Some(DropReason::TooFar)
            } else if waiting.len() >= buffer as usize || (queue_packets > 0 && in_queue >= queue_packets as usize) {
                Some(DropReason::Full)
            } else {
                bids.insert(user, bid);
                waiting.push((round, number));
                None
            };
            match tm.enqueue(0, with_user(user, len, number)) {
                Enqueued::Queued { .. } => prop_assert_eq!(refused, None),
                Enqueued::Dropped { reason, .. } => prop_assert_eq!(refused, Some(reason)),
                Enqueued::PushedOut { .. } => prop_assert!(false, "AFQ pushes nothing out"),
            }
            prop_assert_eq!(tm.round(0, 1), Some(head));
        }
    }

    /// Users that always have packets waiting get equal bytes, to within one round and one frame.
    #[test]
    fn backlogged_users_are_at_most_a_round_and_a_frame_apart(
        bytes_per_round in 1514..6000u32,
        lens in prop::collection::vec(64..1515u32, 2..9),
    ) {
        let mut tm = port_1(afq(10_000, 16, bytes_per_round));
        let mut bytes = vec![0i64; lens.len()];
        for _ in 0..2000 {
            for (user, &len) in lens.iter().enumerate() {
                // Fill the calendar.
                while !was_dropped(&tm.enqueue(0, with_user(user as u64, len, user as u32))) {}
            }
            let departure = tm.dequeue(u64::MAX - 1).unwrap();
            bytes[departure.item as usize] += i64::from(departure.len);
            let apart = bytes.iter().max().unwrap() - bytes.iter().min().unwrap();
            prop_assert!(apart <= i64::from(bytes_per_round) + 1514, "{} bytes apart", apart);
        }
    }
}
