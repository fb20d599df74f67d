//! FDPA: the band of a user, its payment, and the effect of a pause.

use p4sched_schedulers::fdpa::{Estimator, Fdpa, FdpaConfig, UNCLASSIFIED, UNIT_SCALE, band_edges, queue_sizes};
use p4sched_schedulers::{Nanos, Packet, Reference, Scheduler, Target, Variant, Variants, Verdict};

const MS: Nanos = 1_000_000;

fn packet(user: u32, flow: u32) -> Packet {
    Packet {
        id: 0,
        rank: 0,
        user,
        flow,
        len: 1000,
    }
}

fn config(estimator: Estimator) -> FdpaConfig {
    FdpaConfig {
        estimator,
        flowlet_gap_us: 0,
        queue_sizes: vec![100_000; 5],
        on: Target::V1model,
    }
}

/// A fair share of 10 kB per 30 ms, F(1 + 4 * 0.5).
fn average() -> FdpaConfig {
    config(Estimator::Average {
        interval_us: 30_000,
        edges: band_edges(10_000, 1000, 4, 500),
    })
}

fn queue(verdict: Verdict) -> usize {
    let Verdict::Queued { queue } = verdict else {
        panic!("{verdict:?}")
    };
    queue
}

/// The queue of the last packet, after one second of packets every `gap`.
fn steady_queue(fdpa: &mut Fdpa, user: u32, gap: Nanos) -> usize {
    let mut last = 0;
    for step in 1..=1000 * MS / gap {
        last = queue(fdpa.enqueue(step * gap, packet(user, user)));
    }
    last
}

#[test]
fn notation_and_queue_sizes_are_the_papers() {
    assert_eq!(band_edges(1000, 1000, 4, 500), [1000, 1500, 2000, 2500]);
    assert_eq!(queue_sizes(4166, 5), [4166, 1041, 154, 20, 20]);
}

#[test]
fn the_faster_a_user_sends_the_less_urgent_its_band() {
    for estimator in [
        average().estimator,
        // The same edges as token rates: 10 kB per 30 ms is 21,845 bytes per 65.536 ms.
        Estimator::TokenBuckets {
            rates: band_edges(21_845, 1000, 4, 500),
            burst: 3000,
        },
    ] {
        let mut fdpa = Fdpa::new(config(estimator.clone())).unwrap();
        let bands = [4 * MS, 5 * MS / 2, 17 * MS / 10, 13 * MS / 10, MS / 2];
        let queues: Vec<usize> = (1..)
            .zip(bands)
            .map(|(user, gap)| steady_queue(&mut fdpa, user, gap))
            .collect();
        if let Estimator::Average { .. } = estimator {
            assert_eq!(queues, [0, 1, 2, 3, 4]);
        } else {
            assert_eq!(
                queues[0], 0,
                "below its share a user is always paid from the first bucket"
            );
        }
    }
}

#[test]
fn token_buckets_give_a_user_each_band_up_to_its_edge() {
    let rates = band_edges(21_845, 1000, 4, 500);
    let mut fdpa = Fdpa::new(config(Estimator::TokenBuckets { rates, burst: 3000 })).unwrap();
    let mut packets = [0; 5];
    // 1 MB per second for one second: three times the fair share of 333 kB.
    for step in 1..=1000 {
        packets[queue(fdpa.enqueue(step * MS, packet(1, 1)))] += 1;
    }
    let expected: [i32; 5] = [333, 167, 167, 167, 166];
    for (got, want) in packets.iter().zip(expected) {
        assert!(
            (got - want).abs() <= 6,
            "{packets:?}: the burst allows 3 packets more at each edge"
        );
    }
}

#[test]
fn a_pause_earns_no_more_tokens_than_its_length_and_the_rate_allow() {
    // Two of 200 users at an RTT of 100 ms have a fair share of 312,500 B/s. Bursts of 41 packets every 100 ms are 615
    // kB/s, so half of the packets are above it.
    let rates = vec![20_480];
    let burst = 62_500;
    let queue_sizes = vec![1_000_000, 1_000_000];
    let config = FdpaConfig {
        queue_sizes,
        ..config(Estimator::TokenBuckets { rates, burst })
    };
    let mut fdpa = Fdpa::new(config).unwrap();
    let mut first_band_bytes = 0;
    for packet_number in 0..41 * 100 {
        let now = (1000 + 100 * (packet_number / 41)) * MS;
        let sent = Packet {
            len: 1500,
            ..packet(1, 1)
        };
        if queue(fdpa.enqueue(now, sent)) == 0 {
            first_band_bytes += 1500;
        }
    }
    let allowed = 312_500 * 10;
    assert!(
        (allowed - 1500..=allowed + 62_500).contains(&first_band_bytes),
        "{first_band_bytes} of {allowed} bytes in 10 s, and the burst that was there at the start"
    );
}

#[test]
fn the_largest_bucket_stays_full_while_it_is_filled() {
    // 10 Gbit/s into a bucket of 2^28 - 1 bytes.
    let estimator = Estimator::TokenBuckets {
        rates: vec![81_920_000],
        burst: (1 << 28) - 1,
    };
    let queue_sizes = vec![10, 10];
    let mut fdpa = Fdpa::new(FdpaConfig {
        queue_sizes,
        ..config(estimator)
    })
    .unwrap();
    for microsecond in 0..3 {
        let now = 1000 * MS + 1000 * microsecond;
        assert_eq!(queue(fdpa.enqueue(now, packet(1, 1))), 0);
    }
}

#[test]
fn a_user_of_double_weight_may_send_twice_as_fast() {
    let mut fdpa = Fdpa::new(average()).unwrap();
    fdpa.set_user_scale(2, UNIT_SCALE / 2);
    assert_eq!(steady_queue(&mut fdpa, 1, 2 * MS), 1);
    assert_eq!(steady_queue(&mut fdpa, 2, 2 * MS), 0);
}

/// Packets in each queue for a user that sends 100 bursts, one every `period`. A burst has `count` packets, one every
/// `gap`. The first burst comes after a long silence, so an interval begins with it.
fn bursts(fdpa: &mut Fdpa, gap: Nanos, count: u64, period: Nanos) -> [u64; 5] {
    let mut packets = [0; 5];
    for burst in 0..100 {
        for number in 0..count {
            packets[queue(fdpa.enqueue(1000 * MS + burst * period + number * gap, packet(1, 1)))] += 1;
        }
    }
    packets
}

#[test]
fn a_user_above_its_share_on_average_leaves_the_first_band_though_it_pauses() {
    // Half of a link of 20 users is ten fair shares: 1000 bytes per 0.3 ms. The user sends for 29.7 ms and pauses for
    // 30.8 ms, so it has 4.9 fair shares. Only in the first burst the estimator has no history.
    let mut fdpa = Fdpa::new(average()).unwrap();
    let found = bursts(&mut fdpa, 3 * MS / 10, 99, 121 * MS / 2);
    assert_eq!(found, [99, 0, 0, 0, 99 * 99]);
}

/// Packets in each queue for a user that knows the estimator. In every other interval of 30 ms it sends 99 packets, ten
/// fair shares, and in the others a single packet, so that the estimator sees a quiet interval.
fn pulses(fdpa: &mut Fdpa) -> [u64; 5] {
    let mut packets = [0; 5];
    for burst in 0..100 {
        let begin = 1000 * MS + burst * 60 * MS;
        let times = (0..99)
            .map(|number| begin + number * 3 * MS / 10)
            .chain([begin + 30 * MS]);
        for time in times {
            packets[queue(fdpa.enqueue(time, packet(1, 1)))] += 1;
        }
    }
    packets
}

#[test]
fn a_user_with_a_packet_in_every_other_interval_hides_its_bursts_from_the_average() {
    assert_eq!(pulses(&mut Fdpa::new(average()).unwrap()), [9900, 0, 0, 0, 100]);
}

#[test]
fn the_charges_of_the_current_interval_show_a_burst_at_once() {
    let mut fdpa = Fdpa::new(average()).unwrap();
    fdpa.vary(Variants::of(&[Variant::CurrentInterval]));
    assert_eq!(pulses(&mut fdpa), [1000, 500, 500, 500, 7500]);
    assert_eq!(steady_queue(&mut fdpa, 2, 2 * MS), 1, "15 packets in an interval");
}

#[test]
fn a_user_returns_to_a_more_urgent_band_only_after_the_hold_time() {
    let mut fdpa = Fdpa::new(average()).unwrap();
    fdpa.hold(100_000);
    assert_eq!(pulses(&mut fdpa), [99, 0, 0, 0, 9900 - 99 + 100]);
    // the last packet of band 5 came at 6970 ms
    let single = |fdpa: &mut Fdpa, at: Nanos| queue(fdpa.enqueue(at * MS, packet(1, 1)));
    assert_eq!(single(&mut fdpa, 7001), 4, "the rate is that of a single packet");
    assert_eq!(single(&mut fdpa, 7069), 4);
    assert_eq!(single(&mut fdpa, 7071), 0);
}

#[test]
fn the_longer_the_pause_between_equal_bursts_the_more_urgent_the_band() {
    // 96 kB per 24 ms; the fair share is 10 kB per interval of 30 ms. The mean is 288 ms / period fair shares.
    for (period, rate, band) in [
        (45, 96_000, 4),
        (60, 48_000, 4),
        (119, 48_000, 4),
        (120, 24_000, 3),
        (239, 24_000, 3),
        (240, 12_000, 1),
        (479, 12_000, 1),
        (480, 0, 0),
        (5000, 0, 0),
    ] {
        let mut fdpa = Fdpa::new(average()).unwrap();
        let mut expected = [0; 5];
        expected[0] += 96;
        expected[band] += 99 * 96;
        let found = bursts(&mut fdpa, MS / 4, 96, period * MS);
        assert_eq!(found, expected, "a burst every {period} ms");
        if rate > 0 {
            let mean = 96_000 * 30 / period;
            assert!(
                (mean..2 * mean + 2).contains(&rate),
                "{rate}, not {mean} bytes to twice that"
            );
        }
    }
}

#[test]
fn a_pause_of_many_long_intervals_does_not_overflow() {
    // 30 kB, and again three intervals of 2^30 microseconds later; four intervals would be 2^32.
    let interval_us = 1 << 30;
    let edges = band_edges(10_000, 1000, 4, 500);
    let mut fdpa = Fdpa::new(config(Estimator::Average { interval_us, edges })).unwrap();
    for _ in 0..30 {
        fdpa.enqueue(0, packet(1, 1));
    }
    assert_eq!(queue(fdpa.enqueue((3 << 30) * 1000, packet(1, 1))), 1, "15 kB");
}

#[test]
fn traffic_that_nobody_classified_stays_in_the_first_band() {
    let mut fdpa = Fdpa::new(average()).unwrap();
    assert_eq!(steady_queue(&mut fdpa, 1, MS / 2), 4);
    assert_eq!(steady_queue(&mut fdpa, UNCLASSIFIED, MS / 2), 0);
}

#[test]
fn a_flow_keeps_its_band_until_it_pauses() {
    let mut fdpa = Fdpa::new(FdpaConfig {
        flowlet_gap_us: 10_000,
        ..average()
    })
    .unwrap();
    assert_eq!(
        steady_queue(&mut fdpa, 1, MS / 2),
        0,
        "no pause since the first packet, of which nothing was known"
    );
    assert_eq!(queue(fdpa.enqueue(1011 * MS, packet(1, 1))), 4, "a pause of 11 ms");
}

#[test]
fn each_band_drops_at_its_own_depth() {
    let mut fdpa = Fdpa::new(FdpaConfig {
        queue_sizes: vec![2, 1, 1, 1, 1],
        ..average()
    })
    .unwrap();
    let verdicts: Vec<Verdict> = (0..3).map(|_| fdpa.enqueue(0, packet(1, 1))).collect();
    assert_eq!(verdicts[2], Verdict::DroppedFull);
}

#[test]
fn a_configuration_that_cannot_work_is_refused() {
    let wrong = FdpaConfig {
        queue_sizes: vec![10; 4],
        ..average()
    };
    let expected = "queue sizes L_q: 4 values given, 5 needed (one queue for each band, and one band more than edges)";
    assert_eq!(Fdpa::new(wrong).unwrap_err().to_string(), expected);
    let edges = vec![10, 30, 20, 40];
    let wrong = config(Estimator::Average {
        interval_us: 30_000,
        edges,
    });
    let expected = "band edges must rise strictly: number 3 is 20, the one before it is 30";
    assert_eq!(Fdpa::new(wrong).unwrap_err().to_string(), expected);
    assert!(
        Fdpa::new(config(Estimator::Average {
            interval_us: 0,
            edges: vec![1, 2, 3, 4]
        }))
        .is_err()
    );
}

/// FDPA as on a Tofino, with an interval that the chip supports: 2^25 ns. The fair share is 10 kB per 30 ms.
fn on_chip() -> FdpaConfig {
    let estimator = Estimator::Average {
        interval_us: 33_554,
        edges: band_edges(11_185, 1000, 4, 500),
    };
    Fdpa::on(config(estimator), Target::Tna)
}

#[test]
fn on_tofino_the_bands_are_the_same_if_the_interval_is_a_power_of_two() {
    let mut fdpa = Fdpa::new(on_chip()).unwrap();
    let gaps = [4 * MS, 5 * MS / 2, 17 * MS / 10, 13 * MS / 10, MS / 2];
    let queues: Vec<usize> = (1..)
        .zip(gaps)
        .map(|(user, gap)| steady_queue(&mut fdpa, user, gap))
        .collect();
    assert_eq!(queues, [0, 1, 2, 3, 4]);
}

#[test]
fn on_tofino_an_interval_without_packets_is_forgotten() {
    let mut fdpa = Fdpa::new(on_chip()).unwrap();
    let interval = 1 << 25;
    let mut queue_at = |now| queue(fdpa.enqueue(now, packet(1, 1)));
    let burst: Vec<usize> = (0..20).map(|step| queue_at(10 * interval + step)).collect();
    assert_eq!(burst, [0; 20], "nothing is known of the interval before");
    assert_eq!(queue_at(11 * interval), 2, "20 kB in the last interval");
    assert_eq!(queue_at(13 * interval), 0, "none in the last one");
}

#[test]
fn on_tofino_weights_are_rounded_to_powers_of_two() {
    // 24 kB per interval are in band 4. Half of that is in band 2.
    for (scale, expected) in [(256, 3), (192, 3), (191, 1), (128, 1), (96, 1)] {
        let mut fdpa = Fdpa::new(on_chip()).unwrap();
        fdpa.set_user_scale(1, scale);
        let interval = 1 << 25;
        for step in 0..24 {
            fdpa.enqueue(10 * interval + step, packet(1, 1));
        }
        assert_eq!(
            queue(fdpa.enqueue(11 * interval, packet(1, 1))),
            expected,
            "scale {scale}"
        );
    }
}
