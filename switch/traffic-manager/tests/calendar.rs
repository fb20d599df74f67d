//! A calendar: the round of a packet, the moves of the head, and the resulting order.

use crate::common::*;
use p4sched_traffic_manager::{
    CalendarConfig, CalendarPlace, Discipline, DropReason, Enqueued, Offered, PortConfig, TrafficManager,
};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Four queues. The rank of a packet is the number of rounds ahead.
const AHEAD: CalendarConfig = CalendarConfig {
    queues: 4,
    queue_packets: 0,
    bytes_per_round: 1514,
    turn_bytes: 0,
    turn_ns: 0,
    place: CalendarPlace::Ahead,
    rank_width: 0,
    levels: 1,
    burst_rounds: 0,
    whole_sets: true,
    wraps: false,
};

/// A port that sends a frame of 1000 bytes per millisecond.
fn port(calendar: CalendarConfig) -> PortConfig {
    PortConfig {
        discipline: Discipline::Calendar,
        buffer_packets: 100,
        calendar,
        rate_bps: 8_000_000,
        ..Default::default()
    }
}

fn reason(outcome: &Enqueued<u32>) -> Option<DropReason> {
    match outcome {
        Enqueued::Dropped { reason, .. } => Some(*reason),
        _ => None,
    }
}

fn next(tm: &mut TrafficManager<u32>) -> u32 {
    tm.dequeue(u64::MAX - 1).expect("a packet waits").item
}

#[test]
fn packets_leave_by_round_and_one_that_is_too_far_ahead_is_dropped() {
    let mut tm = port_1(port(AHEAD));
    for (item, ahead) in [2, 0, 3, 1].into_iter().enumerate() {
        assert_eq!(reason(&tm.enqueue(0, with_rank(ahead, item as u32))), None);
    }
    assert_eq!(reason(&tm.enqueue(0, with_rank(4, 4))), Some(DropReason::TooFar));
    assert_eq!(tm.stats(1).queues[0].dropped.packets, 1);
    assert_eq!((next(&mut tm), next(&mut tm)), (1, 3));
    // The head is round 1. Its queue takes packets for round 1, and the queue of round 0 has become that of round 4.
    assert_eq!(tm.round(0, 1), Some(1));
    tm.enqueue(0, with_rank(0, 5));
    assert_eq!(reason(&tm.enqueue(0, with_rank(3, 6))), None);
    assert_eq!(reason(&tm.enqueue(0, with_rank(4, 7))), Some(DropReason::TooFar));
    assert_eq!(items(&mut tm, SECOND), [5, 0, 2, 6]);
}

#[test]
fn by_priority_the_most_urgent_goes_to_the_head() {
    let mut tm = port_1(port(CalendarConfig {
        queues: 3,
        place: CalendarPlace::Priority,
        ..AHEAD
    }));
    let outcomes: Vec<_> = [5, 7, 6, 4]
        .map(|priority| reason(&tm.enqueue(0, packet(priority, 1000, u32::from(priority)))))
        .into();
    assert_eq!(outcomes, [None, None, None, Some(DropReason::TooFar)]);
    assert_eq!((next(&mut tm), next(&mut tm)), (7, 6));
    // Round 1 is served: a packet of priority 7 leaves before item 5 in round 2, one of priority 6 after it.
    tm.enqueue(0, packet(6, 1000, 16));
    tm.enqueue(0, packet(7, 1000, 17));
    assert_eq!(items(&mut tm, SECOND), [17, 5, 16]);
}

#[test]
fn waiting_makes_a_packet_more_urgent() {
    // A packet of priority 6 waits, and one of priority 7 comes for each one that leaves. Strict priority would starve
    // it.
    let mut tm = port_1(port(CalendarConfig {
        turn_bytes: 2000,
        place: CalendarPlace::Priority,
        ..AHEAD
    }));
    tm.enqueue(0, packet(6, 1000, 0));
    tm.enqueue(0, packet(7, 1000, 1));
    tm.enqueue(0, packet(7, 1000, 2));
    let mut sent = Vec::new();
    for item in 3..7 {
        sent.push(next(&mut tm));
        tm.enqueue(0, packet(7, 1000, item));
    }
    // 2000 bytes later its round is served, and it is first there: item 3 saw the old head, item 4 the new one.
    assert_eq!(sent, [1, 2, 3, 0]);
}

#[test]
fn a_head_that_moves_on_after_bytes_leaves_nothing_behind() {
    let mut tm = port_1(port(CalendarConfig {
        turn_bytes: 1500,
        ..AHEAD
    }));
    for item in 0..3 {
        tm.enqueue(0, with_rank(0, item));
    }
    tm.enqueue(0, with_rank(1, 3));
    assert_eq!((next(&mut tm), tm.round(0, 1)), (0, Some(0)), "1000 bytes");
    assert_eq!((next(&mut tm), tm.round(0, 1)), (1, Some(1)), "2000 bytes");
    // Round 0 is over: item 2 is late and leaves before all of round 1. It counts for round 1.
    tm.enqueue(0, with_rank(0, 4));
    assert_eq!(
        reason(&tm.enqueue(0, with_rank(3, 5))),
        None,
        "the queue of round 0 is that of round 4"
    );
    assert_eq!((next(&mut tm), tm.round(0, 1)), (2, Some(1)));
    assert_eq!((next(&mut tm), tm.round(0, 1)), (3, Some(2)));
    assert_eq!(items(&mut tm, SECOND), [4, 5]);
}

#[test]
fn with_turns_of_time_no_packet_leaves_before_its_round() {
    let mut tm = port_1(PortConfig {
        rate_bps: 0,
        ..port(CalendarConfig {
            turn_ns: 10 * MS,
            ..AHEAD
        })
    });
    // At 5 ms round 0 is served: rounds 0 and 2 begin at 0 and 20 ms.
    tm.enqueue(5 * MS, with_rank(2, 0));
    tm.enqueue(5 * MS, with_rank(0, 1));
    let sent: Vec<_> = departures(&mut tm, SECOND)
        .iter()
        .map(|d| (d.item, d.start_ns))
        .collect();
    assert_eq!(sent, [(1, 5 * MS), (0, 20 * MS)]);
    // The calendar turns while no packet waits.
    assert_eq!(tm.round(85 * MS, 1), Some(8));
    tm.enqueue(85 * MS, with_rank(1, 2));
    assert_eq!(tm.next_departure(), Some(90 * MS));
    assert_eq!(items(&mut tm, 89 * MS), []);
    assert_eq!(items(&mut tm, 90 * MS), [2]);
}

#[test]
fn what_the_link_could_not_send_in_its_round_leaves_first_in_the_next() {
    let mut tm = port_1(port(CalendarConfig {
        turn_ns: 2 * MS,
        ..AHEAD
    }));
    // Three frames of 1 ms for the round from 0 to 2 ms, one frame for the next.
    for (item, ahead) in [0, 0, 0, 1].into_iter().enumerate() {
        tm.enqueue(0, with_rank(ahead, item as u32));
    }
    let mut sent = items(&mut tm, MS);
    tm.enqueue(2 * MS, with_rank(0, 4));
    sent.extend(items(&mut tm, SECOND));
    assert_eq!(sent, [0, 1, 2, 3, 4]);
}

#[test]
fn a_rank_names_its_round_and_an_empty_calendar_follows_it() {
    let mut tm = port_1(port(CalendarConfig {
        place: CalendarPlace::Rank,
        rank_width: 100,
        ..AHEAD
    }));
    for (item, rank) in [250, 50, 399, 120].into_iter().enumerate() {
        assert_eq!(reason(&tm.enqueue(0, with_rank(rank, item as u32))), None);
    }
    // The first packet came to an empty calendar, so round 2 is the head: ranks 50 and 120 are past, and 600 is round
    // 6.
    assert_eq!(reason(&tm.enqueue(0, with_rank(600, 4))), Some(DropReason::TooFar));
    assert_eq!(items(&mut tm, SECOND), [0, 1, 3, 2]);
    assert_eq!(reason(&tm.enqueue(SECOND, with_rank(123_456, 5))), None);
    assert_eq!(tm.round(SECOND, 1), Some(1234));
}

#[test]
fn a_queue_has_room_of_its_own_and_all_share_the_buffer() {
    let mut tm = port_1(PortConfig {
        buffer_packets: 3,
        ..port(CalendarConfig {
            queue_packets: 2,
            ..AHEAD
        })
    });
    let outcomes: Vec<_> = [0, 0, 0, 1, 2]
        .map(|ahead| reason(&tm.enqueue(0, with_rank(ahead, 0))))
        .into();
    let full = Some(DropReason::Full);
    assert_eq!(outcomes, [None, None, full, None, full]);
}

#[test]
fn a_calendar_that_can_not_work_is_refused_with_what_would() {
    let problem = |calendar| port(calendar).check(3).map_err(|error| error.to_string());
    let both = CalendarConfig {
        turn_bytes: 1500,
        turn_ns: 7,
        ..AHEAD
    };
    let by_rank = CalendarConfig {
        place: CalendarPlace::Rank,
        ..AHEAD
    };
    let nowhere = CalendarConfig {
        place: CalendarPlace::Unspecified,
        ..AHEAD
    };
    for (calendar, expected) in [
        (
            CalendarConfig { queues: 0, ..AHEAD },
            "port 3: the calendar has 0 queues; use 1 to 4096",
        ),
        (
            both,
            "port 3: a calendar turns after 1500 bytes or after 7 ns, not after both; set one of them to 0",
        ),
        (
            by_rank,
            "port 3: a calendar by rank needs rank_width, the number of ranks of one round; use 1 or more",
        ),
        (
            nowhere,
            "port 3: the calendar's place is missing or unknown; use priority, ahead or rank",
        ),
    ] {
        assert_eq!(problem(calendar), Err(expected.to_owned()));
    }
    assert_eq!(problem(AHEAD), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The order is that of a list of rounds that is searched. Packets of one round leave in the order of arrival.
    #[test]
    fn a_calendar_decides_as_the_rule_says(
        queues in 1..9u32,
        queue_packets in 0..5u32,
        buffer in 1..40u32,
        (turn_bytes, turn_ns) in prop_oneof![Just((0, 0)), (1..5000u64, Just(0)), (Just(0), 1..5000u64)],
        place in prop::sample::select(vec![CalendarPlace::Priority, CalendarPlace::Ahead, CalendarPlace::Rank]),
        steps in prop::collection::vec((0..40u64, 0..8u8, 64..1515u32, 0..900u64, 0..5u8), 1..400),
    ) {
        let calendar = CalendarConfig { queues, queue_packets, turn_bytes, turn_ns, place, rank_width: 3, bytes_per_round: 0, ..AHEAD };
        let mut tm = port_1(PortConfig { rate_bps: 0, buffer_packets: buffer, ..port(calendar) });
        let mut waiting: Vec<(u64, u32)> = Vec::new();
        let mut served = 0;
        let mut lens = Vec::new();
        let (mut now, mut head) = (0, 0);
        let mut offered = 0;
        let mut sent = 0;
        for (number, (rank, priority, len, wait, step)) in (0..).zip(steps) {
            lens.push(u64::from(len));
            if step < 2 {
                // One packet is taken out, as late as `until`.
                let until = now + wait;
                let first = waiting.iter().min().copied();
                let begins = |round: u64| round.saturating_mul(turn_ns);
                let due = first.filter(|&(round, _)| begins(round) <= until);
                let departure = tm.dequeue(until);
                prop_assert_eq!(departure.as_ref().map(|departure| departure.item), due.map(|(_, item)| item));
                now = until;
                let Some((round, item)) = due else { continue };
                waiting.retain(|&one| one != (round, item));
                sent += 1;
                if turn_ns == 0 {
                    if round > head {
                        (head, served) = (round, 0);
                    }
                    served += lens[item as usize];
                    if turn_bytes != 0 && served >= turn_bytes {
                        (head, served) = (head + 1, 0);
                    }
                }
                continue;
            }
            // The duty of the caller: everything due before `now` is dequeued first.
            while let Some(departure) = tm.dequeue(now) {
                let first = waiting.iter().min().copied().unwrap();
                prop_assert_eq!(departure.item, first.1);
                waiting.retain(|&one| one != first);
                sent += 1;
                if turn_ns == 0 {
                    if first.0 > head {
                        (head, served) = (first.0, 0);
                    }
                    served += lens[first.1 as usize];
                    if turn_bytes != 0 && served >= turn_bytes {
                        (head, served) = (head + 1, 0);
                    }
                }
                if step < 4 {
                    break;
                }
            }
            if let Some(by_time) = now.checked_div(turn_ns) {
                head = by_time;
            }
            offered += 1;
            let full = waiting.len() >= buffer as usize;
            if !full && place == CalendarPlace::Rank && waiting.is_empty() && turn_ns == 0 {
                head = head.max(rank / 3);
            }
            let round = match place {
                CalendarPlace::Ahead => head + rank,
                CalendarPlace::Rank => head.max(rank / 3),
                _ => head + 7 - u64::from(priority),
            };
            let in_queue = waiting.iter().filter(|&&(other, _)| other == round).count() as u32;
            let expected = if full {
                Some(DropReason::Full)
            } else if round >= head + u64::from(queues) {
                Some(DropReason::TooFar)
            } else if queue_packets != 0 && in_queue >= queue_packets {
                Some(DropReason::Full)
            } else {
                waiting.push((round, number));
                None
            };
            let outcome = tm.enqueue(now, Offered { rank, ..packet(priority, len, number) });
            prop_assert_eq!(reason(&outcome), expected);
            prop_assert_eq!(tm.round(now, 1), Some(head));
        }
        let stats = tm.stats(1);
        prop_assert!(stats.balanced());
        let dropped = stats.total(|queue| queue.dropped).packets;
        prop_assert_eq!(offered, sent + waiting.len() as u64 + dropped);
    }
}
