//! SCRR: turns as long as the packets demand, light users first. `p4sched check schedulers/scrr` compares it with its model.

use crate::common::*;
use p4sched_traffic_manager::{Discipline, PortConfig, ScrrConfig, TrafficManager};
use proptest::prelude::*;

const BASIC: u32 = 0;
const PLAIN: u32 = 1;
const NPM: u32 = 2;
const NMIA: u32 = 3;
const NMNE: u32 = 4;
const NEIA: u32 = 5;
const LARGEST: i64 = 1500;

fn scrr(version: u32) -> PortConfig {
    PortConfig {
        discipline: Discipline::Scrr,
        buffer_packets: 10_000,
        scrr: ScrrConfig {
            flow_packets: 0,
            version,
        },
        rate_bps: 0,
        ..Default::default()
    }
}

/// Packets of a user, which is a letter.
fn arrive(tm: &mut TrafficManager<u32>, user: char, len: u32, packets: u32) {
    for _ in 0..packets {
        assert!(!was_dropped(
            &tm.enqueue(0, with_user(u64::from(user), len, u32::from(user)))
        ));
    }
}

/// The users of the packets that leave, one letter for each.
fn leave(tm: &mut TrafficManager<u32>, packets: usize) -> String {
    let sent = std::iter::from_fn(|| tm.dequeue(u64::MAX - 1)).take(packets);
    sent.filter_map(|departure| char::from_u32(departure.item)).collect()
}

/// Starts of a: 0, 1500, 3000; of b: 0, 500, ... The second packet of a moves the advance to 1500, so b sends its packets
/// that start at 500, 1000 and 1500. With initial advance all starts are a length later.
#[test]
fn a_turn_is_as_long_as_the_largest_packet() {
    for (version, order) in [
        (BASIC, "ababbbabb"),
        (PLAIN, "ababbbabb"),
        (NPM, "ababbbabb"),
        (NMIA, "ababbbbba"),
        (NMNE, "ababbbabb"),
        (NEIA, "ababbbbba"),
    ] {
        let mut tm = port_1(scrr(version));
        arrive(&mut tm, 'a', 1500, 3);
        arrive(&mut tm, 'b', 500, 6);
        assert_eq!(leave(&mut tm, 9), order, "version {version}");
    }
}

/// Three users with 1500 bytes a round, then 20 packets of 100 bytes. Initial advance gives them the 1500 bytes of a round.
#[test]
fn a_new_user_with_small_packets_begins_at_once() {
    for (version, first_turn) in [(BASIC, 0), (PLAIN, 1), (NPM, 1), (NMIA, 15), (NMNE, 1), (NEIA, 15)] {
        let mut tm = port_1(scrr(version));
        for user in ['a', 'b', 'c'] {
            arrive(&mut tm, user, 1500, 30);
        }
        assert_eq!(leave(&mut tm, 31), "abc".repeat(10) + "a");
        arrive(&mut tm, 'n', 100, 20);
        let sent = leave(&mut tm, 25);
        assert_eq!(
            sent.len() - sent.trim_start_matches('n').len(),
            first_turn,
            "version {version}"
        );
    }
}

#[test]
fn a_user_has_a_room_of_its_own() {
    let config = PortConfig {
        scrr: ScrrConfig {
            flow_packets: 2,
            version: NEIA,
        },
        buffer_packets: 3,
        ..scrr(NEIA)
    };
    let mut tm = port_1(config);
    let dropped = [(1, 0), (1, 1), (1, 2), (2, 3), (2, 4)]
        .map(|(user, item)| was_dropped(&tm.enqueue(0, with_user(user, 1000, item))));
    assert_eq!(dropped, [false, false, true, false, true]);
}

#[test]
fn an_unknown_version_is_refused() {
    let error = scrr(6).check(3).unwrap_err().to_string();
    assert_eq!(error, "port 3: scrr has no version 6; use 0 to 5");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Users that always wait get equal bytes, to within three packets of the largest length (head comment of sch_scrr.c).
    #[test]
    fn busy_users_get_the_same_bytes(
        version in BASIC..=NEIA,
        lens in prop::collection::vec(64..=1500u32, 2..7),
    ) {
        let mut tm = port_1(scrr(version));
        let packet = |user: usize| with_user(user as u64, lens[user], user as u32);
        for number in 0..60 * lens.len() {
            tm.enqueue(0, packet(number % lens.len()));
        }
        let mut bytes = vec![0i64; lens.len()];
        for _ in 0..1000 {
            let departure = tm.dequeue(u64::MAX - 1).unwrap();
            bytes[departure.item as usize] += i64::from(departure.len);
            tm.enqueue(0, packet(departure.item as usize));
            let apart = bytes.iter().max().unwrap() - bytes.iter().min().unwrap();
            prop_assert!(apart < 3 * LARGEST, "{} bytes apart", apart);
        }
    }

    /// No packet is lost, and the packets of each user leave in order.
    #[test]
    fn users_keep_their_order(
        version in BASIC..=NEIA,
        steps in prop::collection::vec((0..5u64, 64..=1500u32, any::<bool>()), 1..400),
    ) {
        let mut tm = port_1(scrr(version));
        let users: Vec<u64> = steps.iter().map(|step| step.0).collect();
        let (mut sent, mut taken) = (vec![Vec::new(); 5], 0);
        for (number, (user, len, arrives)) in (0..).zip(steps) {
            if arrives {
                tm.enqueue(0, with_user(user, len, number));
                taken += 1;
            } else if let Some(departure) = tm.dequeue(u64::MAX - 1) {
                sent[users[departure.item as usize] as usize].push(departure.item);
            }
        }
        while let Some(departure) = tm.dequeue(u64::MAX - 1) {
            sent[users[departure.item as usize] as usize].push(departure.item);
        }
        prop_assert_eq!(sent.iter().map(Vec::len).sum::<usize>(), taken);
        prop_assert!(sent.iter().all(|items| items.is_sorted()), "{:?}", sent);
    }
}
