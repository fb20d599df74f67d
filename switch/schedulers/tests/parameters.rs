//! Parameters: invalid values are refused, and a change while packets wait loses no packet.

use crate::packet;
use p4sched_schedulers::aifo::{Aifo, AifoConfig};
use p4sched_schedulers::packs::{Occupancy, Packs, PacksConfig};
use p4sched_schedulers::rifo::{Rifo, RifoConfig};
use p4sched_schedulers::sp_pifo::{SpPifo, SpPifoConfig};
use p4sched_schedulers::window::WindowConfig;
use p4sched_schedulers::{Headroom, Reference, Scheduler, Target, Verdict};

fn message<T>(result: Result<T, impl ToString>) -> String {
    result.err().expect("refused").to_string()
}

#[test]
fn zero_lengths_windows_and_samplings_are_refused_by_name() {
    let aifo = AifoConfig::paper();
    let target = Aifo::new(AifoConfig { target: 0, ..aifo });
    assert_eq!(
        message(target),
        "target queue length C = 0 is out of range: 1 to 16777216 packets"
    );
    assert!(message(Aifo::new(AifoConfig { capacity: 0, ..aifo })).starts_with("queue size = 0"));
    let window = WindowConfig {
        size: 20,
        sample_every: 0,
    };
    assert!(message(Aifo::new(AifoConfig { window, ..aifo })).starts_with("sampling S = 0"));

    let tracking_range = Rifo::new(RifoConfig {
        tracking_range: 0,
        ..RifoConfig::paper()
    });
    assert!(message(tracking_range).starts_with("tracking range T = 0"));
    assert!(
        message(Rifo::new(RifoConfig {
            capacity: 0,
            ..RifoConfig::paper()
        }))
        .starts_with("queue size B = 0")
    );

    assert!(message(Packs::new(PacksConfig::new(&[10, 0], 16))).starts_with("queue size B_i = 0"));
    assert!(message(Packs::new(PacksConfig::new(&[10; 65], 16))).starts_with("number of queues n = 65"));
    assert!(message(SpPifo::new(&[])).starts_with("number of queues n = 0"));
}

#[test]
fn the_number_of_queues_stays_while_packets_wait_in_them() {
    let mut packs = Packs::new(PacksConfig::new(&[10; 4], 16)).unwrap();
    let fewer = packs.reconfigure(&PacksConfig::new(&[10; 3], 16));
    let expected =
        "queue sizes B_i: 3 values given, 4 needed (the number of queues is fixed while packets wait in them)";
    assert_eq!(message(fewer), expected);
}

#[test]
fn a_change_of_parameters_loses_no_packet_and_applies_to_the_next() {
    let mut aifo = Aifo::new(AifoConfig::paper()).unwrap();
    let mut rifo = Rifo::new(RifoConfig::paper()).unwrap();
    let mut packs = Packs::new(PacksConfig::new(&[5; 4], 16)).unwrap();
    let mut sp_pifo = SpPifo::new(&[5; 4]).unwrap();
    for _ in 0..5 {
        for scheduler in [&mut aifo as &mut dyn Scheduler, &mut rifo, &mut packs, &mut sp_pifo] {
            assert!(scheduler.enqueue(0, packet(3)).is_queued());
        }
    }
    aifo.reconfigure(&AifoConfig {
        target: 3,
        capacity: 3,
        ..AifoConfig::paper()
    })
    .unwrap();
    rifo.reconfigure(&RifoConfig {
        capacity: 3,
        ..RifoConfig::paper()
    })
    .unwrap();
    packs.reconfigure(&PacksConfig::new(&[1; 4], 4)).unwrap();
    sp_pifo
        .reconfigure(&SpPifoConfig {
            queue_sizes: vec![1; 4],
            on: Target::V1model,
        })
        .unwrap();
    assert_eq!(
        aifo.enqueue(0, packet(3)),
        Verdict::DroppedByAdmission,
        "longer than its target"
    );
    assert_eq!(rifo.enqueue(0, packet(3)), Verdict::DroppedFull);
    assert_eq!(sp_pifo.enqueue(0, packet(3)), Verdict::DroppedFull);
    assert_eq!(
        packs.enqueue(0, packet(0)),
        Verdict::Queued { queue: 1 },
        "queue 0 holds five, more than its size"
    );
    for (scheduler, waiting) in [
        (&mut aifo as &mut dyn Scheduler, 5),
        (&mut rifo, 5),
        (&mut packs, 6),
        (&mut sp_pifo, 5),
    ] {
        assert_eq!(std::iter::from_fn(|| scheduler.dequeue(0)).count(), waiting);
    }
}

#[test]
fn a_target_below_the_physical_queue_holds_back_even_the_most_urgent_rank_above_it() {
    let config = AifoConfig {
        target: 2,
        capacity: 10,
        headroom: Headroom::NONE,
        window: WindowConfig::unsampled(4),
        on: Target::V1model,
    };
    let mut aifo = Aifo::new(config).unwrap();
    let verdicts: Vec<bool> = (0..5).map(|_| aifo.enqueue(0, packet(0)).is_queued()).collect();
    assert_eq!(
        verdicts,
        [true, true, true, false, false],
        "at the target a quantile of 0 still passes"
    );
}

#[test]
fn packs_on_tofino_2_shares_the_total_occupancy_over_the_queues() {
    // q / |W| <= (B - b)/B i/n with B = 8, n = 4 and quantile 1/2 for all: queue 3 of 4 when 2 of 8 places are taken.
    let window = WindowConfig {
        size: 4,
        sample_every: 1000,
    };
    let config = PacksConfig {
        window,
        occupancy: Occupancy::Total,
        ..PacksConfig::new(&[2; 4], 4)
    };
    let mut packs = Packs::new(config).unwrap();
    packs.remember(&[1, 1, 9, 9]).unwrap();
    assert_eq!(
        packs.enqueue(0, packet(5)),
        Verdict::Queued { queue: 1 },
        "1/2 <= 1 * 2/4"
    );
    packs.enqueue(0, packet(0));
    assert_eq!(
        packs.enqueue(0, packet(5)),
        Verdict::Queued { queue: 2 },
        "1/2 <= 6/8 * 3/4 = 9/16"
    );
    packs.enqueue(0, packet(0));
    assert_eq!(
        packs.enqueue(0, packet(5)),
        Verdict::Queued { queue: 3 },
        "1/2 <= 4/8 * 4/4"
    );
    assert_eq!(packs.enqueue(0, packet(5)), Verdict::DroppedByAdmission, "1/2 > 3/8");
}
