//! The link of a port: exact rate, no idling, ideal instants, propagation delay.

use crate::common::*;
use p4sched_traffic_manager::{ConfigError, PortConfig, QueueConfig, TrafficManager};
use proptest::prelude::*;

/// Random arrivals that keep port 1 backlogged. Packets are taken out at random instants, often late.
fn arrivals() -> impl Strategy<Value = (u64, Vec<(u32, u8)>, u64)> {
    let rate = prop_oneof![
        Just(64_000),
        Just(9_999_991),
        Just(500_000_000),
        Just(10_000_000_000),
        1000..u64::MAX >> 24
    ];
    (
        rate,
        prop::collection::vec((64..1515u32, 0..8u8), 2000..4000),
        any::<u64>(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The requirement is 0.01 %. With the exact fraction of a nanosecond, the error is one nanosecond over any busy
    /// period.
    #[test]
    fn a_backlogged_port_sends_exactly_its_rate((rate, packets, seed) in arrivals()) {
        let mut tm = port_1(PortConfig {
            rate_bps: rate,
            queues: [QueueConfig { size_packets: 10_000, rate_pps: 0 }; 8],
            ..Default::default()
        });
        let mut bits = 0u128;
        for (number, &(len, priority)) in packets.iter().enumerate() {
            tm.enqueue(0, packet(priority, len, number as u32));
            bits += u128::from(len) * 8;
        }
        let mut last_end = 0;
        let mut now = 0;
        let mut jitter = seed | 1;
        while let Some(due) = tm.next_departure() {
            jitter = jitter.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            now = due.max(now) + (jitter >> 40);
            while let Some(departure) = tm.dequeue(now) {
                prop_assert_eq!(departure.start_ns, last_end, "the link neither idles nor overlaps");
                last_end = departure.arrival_ns;
            }
        }
        let ideal = bits * 1_000_000_000 / u128::from(rate);
        prop_assert_eq!(u128::from(last_end), ideal);
    }

    /// Work conservation: a transmission starts when the packet has arrived and the link is free, whichever is later.
    #[test]
    fn the_link_is_idle_only_without_packets(gaps in prop::collection::vec((0..40_000u64, 64..1515u32, 0..8u8), 1..500)) {
        let mut tm = port_1(PortConfig { rate_bps: 1_000_000_000, ..Default::default() });
        let mut sent = Vec::new();
        let mut now = 0;
        for (gap, len, priority) in gaps {
            now += gap;
            sent.extend(departures(&mut tm, now));
            tm.enqueue(now, packet(priority, len, 0));
        }
        sent.extend(departures(&mut tm, u64::MAX - 1));
        let mut free = 0;
        let mut enqueued: Vec<_> = sent.iter().map(|departure| departure.enq_ns).collect();
        enqueued.sort_unstable();
        for (number, departure) in sent.iter().enumerate() {
            // The n-th transmission cannot start before n packets have arrived, and must not wait longer.
            prop_assert_eq!(departure.start_ns, enqueued[number].max(free));
            prop_assert!(departure.start_ns >= departure.enq_ns);
            free = departure.start_ns + u64::from(departure.len) * 8;
        }
    }

    #[test]
    fn frames_reach_the_far_end_in_the_order_of_their_start(
        steps in prop::collection::vec((0..20_000u64, 64..1515u32, prop::option::of((0..3u64, 0..50_000u64))), 1..300),
    ) {
        let mut tm = port_1(PortConfig::default());
        let mut now = 0;
        let mut last_arrival = 0;
        for (gap, len, change) in steps {
            now += gap;
            let mut sent = departures(&mut tm, now);
            if let Some((gigabits, delay_ns)) = change {
                let config = PortConfig { rate_bps: gigabits * 1_000_000_000, delay_ns, ..Default::default() };
                tm.set_port(now, 1, config).unwrap();
            }
            tm.enqueue(now, packet(0, len, 0));
            sent.extend(departures(&mut tm, now));
            for departure in sent {
                prop_assert!(departure.arrival_ns >= last_arrival);
                last_arrival = departure.arrival_ns;
            }
        }
    }
}

#[test]
fn an_unshaped_port_sends_at_once() {
    let mut tm = port_1(PortConfig {
        delay_ns: 250,
        ..Default::default()
    });
    for item in 0..3 {
        tm.enqueue(1000, packet(0, 1500, item));
    }
    let sent = departures(&mut tm, 1000);
    assert_eq!(sent.len(), 3);
    assert!(
        sent.iter()
            .all(|departure| (departure.start_ns, departure.arrival_ns) == (1000, 1250))
    );
}

#[test]
fn packets_without_room_behind_the_port_wait_and_leave_from_the_instant_on_at_which_there_is_some() {
    let mut tm = port_1(PortConfig {
        rate_bps: 8_000_000,
        ..Default::default()
    });
    tm.set_room(0, 1, Some(0));
    for item in 0..3 {
        tm.enqueue(1000, packet(0, 1000, item));
    }
    assert!(departures(&mut tm, SECOND).is_empty());
    assert_eq!((tm.next_departure(), tm.length(1, 0)), (None, 3));
    tm.set_room(SECOND, 1, None);
    let starts: Vec<_> = departures(&mut tm, 2 * SECOND)
        .iter()
        .map(|departure| departure.start_ns - SECOND)
        .collect();
    assert_eq!(starts, [0, 1_000_000, 2_000_000]);
}

#[test]
fn only_as_many_packets_leave_as_there_is_room_for_and_the_most_urgent_first() {
    let mut tm = port_1(PortConfig::default());
    tm.set_room(0, 1, Some(2));
    for item in 0..4 {
        tm.enqueue(1000, packet(1, 1500, item));
    }
    assert_eq!(items(&mut tm, 1000), [0, 1]);
    tm.enqueue(2000, packet(7, 1500, 4));
    assert_eq!(items(&mut tm, SECOND), []);
    tm.set_room(SECOND, 1, Some(1));
    let sent = departures(&mut tm, SECOND);
    let urgent: Vec<_> = sent.iter().map(|sent| (sent.item, sent.start_ns)).collect();
    assert_eq!(urgent, [(4, SECOND)]);
    tm.set_room(2 * SECOND, 1, None);
    assert_eq!(items(&mut tm, 2 * SECOND), [2, 3]);
}

#[test]
fn a_packet_on_a_link_with_a_delay_takes_no_room() {
    let mut tm = port_1(PortConfig {
        delay_ns: 250,
        ..Default::default()
    });
    tm.set_room(0, 1, Some(1));
    for item in 0..3 {
        tm.enqueue(1000, packet(0, 1500, item));
    }
    assert_eq!(departures(&mut tm, 1000).len(), 3);
    tm.set_room(1000, 1, Some(0));
    tm.enqueue(1000, packet(0, 1500, 3));
    assert!(departures(&mut tm, SECOND).is_empty());
}

#[test]
fn a_shaped_frame_arrives_after_transmission_and_delay() {
    let mut tm = port_1(PortConfig {
        rate_bps: 10_000_000,
        delay_ns: 5_000_000,
        ..Default::default()
    });
    tm.enqueue(7, packet(0, 1250, 0));
    let departure = tm.dequeue(7).unwrap();
    // 1250 bytes at 10 Mbit/s take 1 ms, and the link adds 5 ms.
    assert_eq!(departure.arrival_ns, 7 + 1_000_000 + 5_000_000);
}

#[test]
fn a_frame_that_egress_made_shorter_occupies_the_link_for_its_new_length() {
    let mut tm = port_1(PortConfig {
        rate_bps: 10_000_000,
        delay_ns: 1000,
        ..Default::default()
    });
    tm.enqueue(0, packet(0, 1500, 0));
    tm.enqueue(0, packet(0, 1250, 1));
    tm.dequeue(0).unwrap();
    assert_eq!(tm.resize_departure(1, 1250), 1_000_000 + 1000);
    assert_eq!(tm.next_departure(), Some(1_000_000), "the next one follows at once");
}

#[test]
fn a_late_caller_loses_nothing() {
    let run = |late: bool| {
        let mut tm = port_1(PortConfig {
            rate_bps: 12_000_000,
            ..Default::default()
        });
        for item in 0..20 {
            tm.enqueue(0, packet(0, 1500, item));
        }
        let mut sent = Vec::new();
        while let Some(due) = tm.next_departure() {
            let wake = if late { due + 3_700_000 } else { due };
            sent.extend(departures(&mut tm, wake));
        }
        sent
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn ports_depart_in_the_order_of_time_and_the_lower_one_first() {
    let mut tm = TrafficManager::new();
    for (port, rate_bps) in [(9, 8_000_000), (2, 16_000_000), (300, 8_000_000)] {
        tm.set_port(
            0,
            port,
            PortConfig {
                rate_bps,
                ..Default::default()
            },
        )
        .unwrap();
    }
    for port in [300, 9, 2] {
        for _ in 0..2 {
            tm.enqueue(
                0,
                p4sched_traffic_manager::Offered {
                    port,
                    ..packet(0, 1000, 0)
                },
            );
        }
    }
    let order: Vec<_> = departures(&mut tm, SECOND)
        .iter()
        .map(|d| (d.start_ns, d.port))
        .collect();
    assert_eq!(
        order,
        [(0, 2), (0, 9), (0, 300), (500_000, 2), (1_000_000, 9), (1_000_000, 300)]
    );
}

#[test]
fn bmv2_packet_rates_limit_each_queue_by_itself() {
    let mut queues = [QueueConfig::default(); 8];
    queues[7].rate_pps = 1000;
    queues[0].rate_pps = 1000;
    let mut tm = port_1(PortConfig {
        queues,
        ..Default::default()
    });
    for item in 0..10 {
        tm.enqueue(0, packet(0, 1500, item));
        tm.enqueue(0, packet(7, 1500, 100 + item));
    }
    let sent = departures(&mut tm, SECOND);
    for (number, pair) in sent.chunks(2).enumerate() {
        let at = number as u64 * 1_000_000;
        assert_eq!(
            [(pair[0].queue, pair[0].start_ns), (pair[1].queue, pair[1].start_ns)],
            [(7, at), (0, at)]
        );
    }
}

#[test]
fn a_limited_queue_leaves_the_link_to_the_others() {
    let mut queues = [QueueConfig::default(); 8];
    queues[7].rate_pps = 100;
    let mut tm = port_1(PortConfig {
        queues,
        rate_bps: 12_000_000,
        ..Default::default()
    });
    for item in 0..3 {
        tm.enqueue(0, packet(7, 1500, item));
    }
    for item in 0..20 {
        tm.enqueue(0, packet(0, 1500, 100 + item));
    }
    // 1 ms per packet on the link, one urgent packet every 10 ms.
    let order = items(&mut tm, SECOND);
    let expected: Vec<u32> = [0]
        .into_iter()
        .chain(100..109)
        .chain([1])
        .chain(109..118)
        .chain([2])
        .chain(118..120)
        .collect();
    assert_eq!(order, expected);
}

#[test]
fn impossible_settings_are_refused_with_the_range_that_would_be_right() {
    let mut tm = TrafficManager::<u32>::new();
    let error = tm
        .set_port(
            0,
            3,
            PortConfig {
                rate_bps: 999,
                ..Default::default()
            },
        )
        .unwrap_err();
    assert_eq!(error, ConfigError::Rate { port: 3, rate_bps: 999 });
    assert_eq!(
        error.to_string(),
        "port 3: rate of 999 bit/s is too low; use at least 1000 bit/s, or 0 for no shaping"
    );
    assert!(
        tm.set_port(
            0,
            3,
            PortConfig {
                delay_ns: 61 * SECOND,
                ..Default::default()
            }
        )
        .is_err()
    );
    assert!(
        tm.set_port(
            0,
            3,
            PortConfig {
                quantum_bytes: 0,
                ..Default::default()
            }
        )
        .is_err()
    );
    assert_eq!(tm.ports().count(), 0);
}
