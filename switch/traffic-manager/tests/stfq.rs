//! Start-time fair queueing: the same order as a list that is searched, and no charge for packets that are not sent.

use std::collections::HashMap;

use crate::common::*;
use p4sched_traffic_manager::{Discipline, Enqueued, PortConfig};
use proptest::prelude::*;

fn stfq(buffer_packets: u32) -> PortConfig {
    PortConfig {
        discipline: Discipline::Stfq,
        buffer_packets,
        rate_bps: 12_000_000,
        ..Default::default()
    }
}

#[test]
fn users_get_equal_bytes_whatever_they_offer() {
    let mut tm = port_1(stfq(80));
    let mut bytes = [0u64; 3];
    // 12 Mbit/s is a full frame per millisecond. The users offer 4, 0.8 and 0.4 times the link rate: each gets a third.
    for tick in 0..20_000 {
        let now = tick * 250_000;
        for departure in departures(&mut tm, now) {
            bytes[departure.item as usize] += u64::from(departure.len);
        }
        for (user, every) in [(0, 1), (1, 5), (2, 10)] {
            if tick % every == 0 {
                tm.enqueue(now, with_user(user, 1500, user as u32));
            }
        }
    }
    // 5 s: 7.5 MB. The last 80 packets that arrived may still wait, so the totals may differ by a buffer.
    for sent in bytes {
        assert!(sent.abs_diff(2_500_000) <= 80 * 1500, "{bytes:?}");
    }
}

#[test]
fn a_user_that_loses_a_packet_is_where_it_was() {
    let mut tm = port_1(stfq(3));
    // Starts 0, 1500, 3000. User 2 starts at 0 and pushes out item 2, then item 1.
    for item in 0..3 {
        tm.enqueue(0, with_user(1, 1500, item));
    }
    for (item, gone) in [(10, 2), (11, 1)] {
        let Enqueued::PushedOut { victim, .. } = tm.enqueue(0, with_user(2, 1000, item)) else {
            panic!("push-out expected")
        };
        assert_eq!(victim.item, gone);
    }
    // User 1 sends item 0, so its finish is 1500, not 4500. It comes before user 2's third packet, which starts at
    // 2000.
    assert_eq!(departures(&mut tm, 0).len(), 1);
    tm.enqueue(0, with_user(2, 1000, 12));
    let Enqueued::PushedOut { victim, .. } = tm.enqueue(0, with_user(1, 1500, 3)) else {
        panic!("push-out expected")
    };
    assert_eq!(victim.item, 12);
    assert_eq!(items(&mut tm, SECOND), [10, 11, 3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Each packet is taken, dropped or pushed out exactly by the rule, and packets leave in the same order.
    #[test]
    fn stfq_decides_as_the_rule_says(
        users in 1..9u64,
        buffer in 1..60u32,
        steps in prop::collection::vec((0..9u64, 64..1515u32, 0..5u8), 1..600),
    ) {
        let mut tm = port_1(PortConfig { rate_bps: 0, ..stfq(buffer) });
        // Start and number of each waiting packet; the user of each number.
        let mut waiting: Vec<(u64, u32)> = Vec::new();
        let mut user_of = Vec::new();
        let mut finishes: HashMap<u64, u64> = HashMap::new();
        let mut virtual_time = 0;
        for (number, (user, len, step)) in (0..).zip(steps) {
            let user = user % users;
            user_of.push(user);
            if step < 2 {
                let first = waiting.iter().min().copied();
                waiting.retain(|&one| Some(one) != first);
                virtual_time = first.map_or(virtual_time, |(start, _)| start);
                prop_assert_eq!(tm.dequeue(u64::MAX - 1).map(|departure| departure.item), first.map(|(_, item)| item));
                continue;
            }
            let start = u64::max(virtual_time, finishes.get(&user).copied().unwrap_or(0));
            waiting.push((start, number));
            let mut expected = None;
            if waiting.len() > buffer as usize {
                let last = waiting.iter().max().copied().unwrap();
                waiting.retain(|&one| one != last);
                finishes.insert(user_of[last.1 as usize], last.0);
                expected = Some(last.1);
            }
            if expected != Some(number) {
                finishes.insert(user, start + u64::from(len));
            }
            let lost = match tm.enqueue(0, with_user(user, len, number)) {
                Enqueued::Queued { .. } => None,
                Enqueued::Dropped { item, .. } => Some(item),
                Enqueued::PushedOut { victim, .. } => Some(victim.item),
            };
            prop_assert_eq!(lost, expected);
        }
    }
}
