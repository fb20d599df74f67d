//! Gearbox: levels, shares and order. `p4sched check schedulers/gearbox` compares it with its model.

use crate::common::*;
use p4sched_traffic_manager::{CalendarConfig, Discipline, DropReason, Enqueued, Offered, PortConfig, TrafficManager};
use proptest::prelude::*;

fn gearbox(calendar: CalendarConfig) -> PortConfig {
    PortConfig {
        discipline: Discipline::Gearbox,
        buffer_packets: 1000,
        calendar,
        rate_bps: 0,
        ..Default::default()
    }
}

/// Levels of N FIFOs, with rounds of 64 bytes.
fn levels(levels: u32, queues: u32) -> CalendarConfig {
    CalendarConfig {
        queues,
        levels,
        bytes_per_round: 64,
        ..Default::default()
    }
}

/// A packet of a user. `scale`: 256 / weight.
fn weighted(user: u64, len: u32, scale: u64, item: u32) -> Offered<u32> {
    Offered {
        rank: scale,
        ..with_user(user, len, item)
    }
}

/// The next packet to leave.
fn next(tm: &mut TrafficManager<u32>) -> u32 {
    tm.dequeue(u64::MAX - 1).expect("a packet waits").item
}

/// N = 4: eight packets in a FIFO of four rounds leave two a round, behind the packets of level 0.
#[test]
fn a_coarse_fifo_is_sent_in_equal_shares() {
    let mut tm = port_1(gearbox(levels(2, 4)));
    // Weight 1/8: 64 bytes take 8 rounds.
    for user in 0..8 {
        tm.enqueue(0, weighted(u64::from(user), 64, 8 * 256, user));
    }
    tm.enqueue(0, weighted(8, 128, 256, 8));
    assert_eq!((next(&mut tm), tm.round(0, 1)), (8, Some(2)));
    assert_eq!((next(&mut tm), tm.round(0, 1)), (0, Some(8)));
    tm.enqueue(0, weighted(9, 64, 256, 9));
    let left: Vec<(u32, Option<u64>)> = (0..8).map(|_| (next(&mut tm), tm.round(0, 1))).collect();
    let rounds = [(1, 8), (9, 9), (2, 9), (3, 9), (4, 10), (5, 10), (6, 11), (7, 11)];
    assert_eq!(left, rounds.map(|(item, round)| (item, Some(round))));
}

/// The values of the authors' testbench: 16^4 rounds, and the rule of the hardware.
#[test]
fn what_is_beyond_the_top_level_is_dropped() {
    let hardware = CalendarConfig {
        whole_sets: false,
        ..levels(4, 16)
    };
    let mut tm = port_1(gearbox(hardware));
    tm.enqueue(0, with_user(0, 5 * 64, 1));
    tm.enqueue(0, with_user(0, 12 * 64, 2));
    tm.enqueue(0, with_user(1, 6 * 64, 3));
    let far = tm.enqueue(0, with_user(2, 99_999 * 64, 4));
    assert!(matches!(
        far,
        Enqueued::Dropped {
            reason: DropReason::TooFar,
            ..
        }
    ));
    assert_eq!(items(&mut tm, SECOND), [1, 3, 2]);
    assert_eq!(tm.round(0, 1), Some(16));
}

#[test]
fn the_rule_of_the_hardware_reorders_a_user_and_whole_sets_do_not() {
    for (whole_sets, order) in [(false, [0, 2, 1]), (true, [0, 1, 2])] {
        let calendar = CalendarConfig {
            whole_sets,
            ..levels(2, 16)
        };
        let mut tm = port_1(gearbox(calendar));
        tm.enqueue(0, with_user(0, 5 * 64, 0));
        let first = next(&mut tm);
        tm.enqueue(0, with_user(1, 13 * 64, 1));
        tm.enqueue(0, with_user(1, 12 * 64, 2));
        let rest = [(); 2].map(|()| next(&mut tm));
        assert_eq!([first, rest[0], rest[1]], order);
    }
}

#[test]
fn a_user_may_be_ahead_by_the_burst() {
    let calendar = CalendarConfig {
        burst_rounds: 4,
        ..levels(1, 8)
    };
    let mut tm = port_1(gearbox(calendar));
    // The byte 4 g ends in round 4.
    for (len, item, taken) in [(4 * 64, 0, false), (4 * 64 - 1, 1, true), (1, 2, false)] {
        assert_eq!(was_dropped(&tm.enqueue(0, with_user(1, len, item))), !taken, "{item}");
    }
}

#[test]
fn levels_that_cannot_be_are_refused() {
    for (number, queues) in [(0, 16), (9, 2), (8, 17), (3, 4096)] {
        let error = gearbox(levels(number, queues)).check(3).unwrap_err().to_string();
        assert!(error.starts_with("port 3: ") && error.contains("levels"), "{error}");
    }
    let no_byte = CalendarConfig {
        bytes_per_round: 0,
        ..levels(2, 16)
    };
    assert!(gearbox(no_byte).check(3).is_err());
    assert_eq!(gearbox(levels(8, 16)).check(3), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// One level is AFQ: the same decisions, and the same packets leave.
    #[test]
    fn one_level_is_approximate_fair_queueing(
        bytes_per_round in 100..2000u32,
        queue_packets in 0..6u32,
        steps in prop::collection::vec((0..5u64, 64..1515u32, 0..5u8), 1..400),
    ) {
        let calendar = CalendarConfig { bytes_per_round, queue_packets, ..levels(1, 16) };
        let config = PortConfig { buffer_packets: 40, ..gearbox(calendar) };
        let mut ours = port_1(config.clone());
        let mut afq = port_1(PortConfig { discipline: Discipline::Afq, ..config });
        for (number, (user, len, step)) in (0..).zip(steps) {
            if step < 2 {
                prop_assert_eq!(ours.dequeue(u64::MAX - 1), afq.dequeue(u64::MAX - 1));
            } else {
                let packet = with_user(user, len, number);
                prop_assert_eq!(ours.enqueue(0, packet.clone()), afq.enqueue(0, packet));
            }
            prop_assert_eq!(ours.round(0, 1), afq.round(0, 1));
        }
    }

    /// With whole sets the packets of each user leave in order, whatever the weights.
    #[test]
    fn users_keep_their_order(
        shape in (1..5u32, 2..7u32, 32..2000u32),
        steps in prop::collection::vec((0..5u64, 64..1515u32, 16..2048u64, 0..3u8), 1..400),
    ) {
        let (number, queues, bytes_per_round) = shape;
        let calendar = CalendarConfig { bytes_per_round, ..levels(number, queues) };
        let mut tm = port_1(gearbox(calendar));
        let users: Vec<u64> = steps.iter().map(|step| step.0).collect();
        let (mut sent, mut taken) = (vec![Vec::new(); 5], 0);
        for (number, (user, len, scale, step)) in (0..).zip(steps) {
            if step == 0 {
                if let Some(departure) = tm.dequeue(u64::MAX - 1) {
                    sent[users[departure.item as usize] as usize].push(departure.item);
                }
            } else if !was_dropped(&tm.enqueue(0, weighted(user, len, scale, number))) {
                taken += 1;
            }
        }
        while let Some(departure) = tm.dequeue(u64::MAX - 1) {
            sent[users[departure.item as usize] as usize].push(departure.item);
        }
        prop_assert_eq!(sent.iter().map(Vec::len).sum::<usize>(), taken);
        prop_assert!(sent.iter().all(|items| items.is_sorted()), "{:?}", sent);
    }
}
