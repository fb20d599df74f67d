//! The worked examples of the papers, with their numbers.

use crate::packet;
use p4sched_schedulers::aifo::{Aifo, AifoConfig};
use p4sched_schedulers::fifo::Fifo;
use p4sched_schedulers::packs::{Packs, PacksConfig, batch_bounds};
use p4sched_schedulers::pifo::Pifo;
use p4sched_schedulers::priority_queues::PriorityQueues;
use p4sched_schedulers::rifo::{Products, Rifo, RifoConfig};
use p4sched_schedulers::sp_pifo::{SpPifo, SpPifoConfig};
use p4sched_schedulers::window::{Window, WindowConfig};
use p4sched_schedulers::{Headroom, Packet, Rank, Reference, Scheduler, Target, Verdict};

fn drain(scheduler: &mut impl Scheduler) -> Vec<Rank> {
    std::iter::from_fn(|| scheduler.dequeue(0))
        .map(|packet| packet.rank)
        .collect()
}

/// The packets of a burst into an empty buffer that are kept, in order of departure.
fn kept(scheduler: &mut impl Scheduler, burst: &[Rank]) -> Vec<Rank> {
    for &rank in burst {
        scheduler.enqueue(0, packet(rank));
    }
    drain(scheduler)
}

const AIFO_FIGURE_2: [Rank; 6] = [1, 4, 5, 1, 2, 2];

#[test]
fn aifo_figure_2_pifo_keeps_the_most_urgent_and_fifo_the_first() {
    assert_eq!(kept(&mut Pifo::new(4).unwrap(), &AIFO_FIGURE_2), [1, 1, 2, 2]);
    assert_eq!(kept(&mut Fifo::new(4).unwrap(), &AIFO_FIGURE_2), [1, 4, 5, 1]);
}

#[test]
fn aifo_figure_2_and_3_a_threshold_of_3_makes_a_fifo_keep_what_pifo_keeps() {
    let behind_the_threshold = |arrivals: [Rank; 6]| {
        let admitted: Vec<Rank> = arrivals.into_iter().filter(|&rank| rank <= 3).collect();
        kept(&mut Fifo::new(4).unwrap(), &admitted)
    };
    assert_eq!(behind_the_threshold(AIFO_FIGURE_2), [1, 1, 2, 2]);
    // Figure 3 has the same set in another order. Section 3 says that the third and the fourth arrival are swapped, but
    // that changes nothing. Swapping the fourth and the fifth gives the figure.
    assert_eq!(behind_the_threshold([1, 4, 1, 5, 2, 2]), [1, 1, 2, 2]);
    let figure_3 = [1, 4, 5, 2, 1, 2];
    assert_eq!(behind_the_threshold(figure_3), [1, 2, 1, 2]);
    assert_eq!(kept(&mut Pifo::new(4).unwrap(), &figure_3), [1, 1, 2, 2]);
}

#[test]
fn pifo_pushes_out_the_latest_of_the_highest_rank() {
    let mut pifo = Pifo::new(2).unwrap();
    pifo.enqueue(0, Packet { id: 1, ..packet(5) });
    pifo.enqueue(0, Packet { id: 2, ..packet(5) });
    let victim = Packet { id: 2, ..packet(5) };
    assert_eq!(
        pifo.enqueue(0, Packet { id: 3, ..packet(4) }),
        Verdict::PushedOut { queue: 0, victim }
    );
    assert_eq!(pifo.enqueue(0, Packet { id: 4, ..packet(5) }), Verdict::DroppedFull);
}

/// AIFO with C = 6, k = 1/6 and a window in which rank 5 is at the 50 % quantile, for any number of queued packets.
fn aifo_figure_4(queued: usize) -> Aifo {
    let mut aifo = Aifo::new(AifoConfig {
        target: 6,
        capacity: 6,
        headroom: Headroom::at_least(1, 6).unwrap(),
        window: WindowConfig {
            size: 4,
            sample_every: 1000,
        },
        on: Target::V1model,
    })
    .unwrap();
    aifo.remember(&[1, 2, 7, 8]).unwrap();
    for _ in 0..queued {
        assert_eq!(aifo.enqueue(0, packet(0)), Verdict::Queued { queue: 0 });
    }
    aifo
}

#[test]
fn aifo_figure_4_the_50_percent_quantile_is_admitted_at_length_2_and_dropped_at_5() {
    assert_eq!(
        aifo_figure_4(2).enqueue(0, packet(5)),
        Verdict::Queued { queue: 0 },
        "50 % <= 80 %"
    );
    assert_eq!(
        aifo_figure_4(5).enqueue(0, packet(5)),
        Verdict::DroppedByAdmission,
        "50 % > 20 %"
    );
}

#[test]
fn aifo_admits_every_rank_within_the_headroom() {
    assert_eq!(aifo_figure_4(1).enqueue(0, packet(100)), Verdict::Queued { queue: 0 });
    assert_eq!(
        aifo_figure_4(2).enqueue(0, packet(100)),
        Verdict::DroppedByAdmission,
        "100 % > 80 %"
    );
}

#[test]
fn aifo_figure_6_counts_the_smaller_ranks_and_not_the_larger_ones() {
    // 16 registers and an arriving rank of 5. Six registers are above it, and the paper's hardware text calls 6/16 its
    // quantile. The admission rule needs the share below it.
    let ranks = [1, 2, 3, 4, 5, 5, 1, 2, 3, 4, 9, 8, 7, 6, 9, 8];
    let mut window = Window::new(WindowConfig::unsampled(16)).unwrap();
    window.fill(&ranks).unwrap();
    assert_eq!(window.smaller_than(5), 8);
    assert_eq!(window.smaller_than(1), 0, "the most urgent rank has quantile 0");
}

#[test]
fn rifo_figure_4_rank_5_is_dropped_and_rank_4_admitted_into_the_last_slot() {
    let no_headroom = RifoConfig {
        capacity: 3,
        tracking_range: 6,
        headroom: Headroom::NONE,
        products: Products::Exact,
        on: Target::V1model,
    };
    let mut rifo = Rifo::new(no_headroom).unwrap();
    assert_eq!(rifo.enqueue(0, packet(1)), Verdict::Queued { queue: 0 });
    assert_eq!(rifo.enqueue(0, packet(6)), Verdict::DroppedByAdmission);
    assert_eq!(rifo.enqueue(0, packet(1)), Verdict::Queued { queue: 0 });
    assert_eq!((rifo.range(), rifo.len()), ((1, 6), 2));
    assert_eq!(rifo.enqueue(0, packet(5)), Verdict::DroppedByAdmission, "1/5 < 1/3");
    assert_eq!(rifo.enqueue(0, packet(4)), Verdict::Queued { queue: 0 }, "2/5 >= 1/3");
}

#[test]
fn rifo_admits_when_all_ranks_are_equal_and_leaves_the_rest_to_tail_drop() {
    let mut rifo = Rifo::new(RifoConfig::paper()).unwrap();
    let verdicts: Vec<Verdict> = (0..22).map(|_| rifo.enqueue(0, packet(7))).collect();
    assert!(verdicts[..20].iter().all(|verdict| verdict.is_queued()));
    assert_eq!(verdicts[20..], [Verdict::DroppedFull; 2]);
}

#[test]
fn rifo_forgets_its_range_after_t_arrivals() {
    let mut rifo = Rifo::new(RifoConfig {
        tracking_range: 3,
        ..RifoConfig::paper()
    })
    .unwrap();
    let mut range_after = |rank| {
        rifo.enqueue(0, packet(rank));
        rifo.range()
    };
    assert_eq!(
        [9, 4, 6, 5, 7].map(&mut range_after),
        [(9, 9), (4, 9), (4, 9), (5, 5), (5, 7)]
    );
}

#[test]
fn rifo_on_tofino_shifts_by_the_next_power_of_two() {
    // Length 3 of 6. Exact: 3 * 6 >= 6 * 3 admits rank 4 of 1..7. By shifts: 3 * 8 >= 6 * 4 admits it too. Neither
    // admits rank 5.
    let with = |products| {
        Rifo::new(RifoConfig {
            capacity: 6,
            tracking_range: 100,
            headroom: Headroom::NONE,
            products,
            on: Target::V1model,
        })
        .unwrap()
    };
    for products in [Products::Exact, Products::PowersOfTwo] {
        let mut rifo = with(products);
        for rank in [1, 1, 1, 7] {
            rifo.enqueue(0, packet(rank));
        }
        assert_eq!(rifo.len(), 3);
        assert_eq!(rifo.clone().enqueue(0, packet(5)), Verdict::DroppedByAdmission);
        assert_eq!(rifo.enqueue(0, packet(4)), Verdict::Queued { queue: 0 });
    }
    // Length 1 of 6, five free: the exact rule needs 5/6 of the range, the shifts need 8/8.
    let verdict = |products| {
        let mut rifo = with(products);
        rifo.enqueue(0, packet(1));
        rifo.enqueue(0, packet(13));
        rifo.enqueue(0, packet(2))
    };
    assert_eq!(verdict(Products::Exact), Verdict::Queued { queue: 0 });
    assert_eq!(verdict(Products::PowersOfTwo), Verdict::DroppedByAdmission);
}

#[test]
fn rifo_on_tofino_leaves_a_full_queue_to_tail_drop_too() {
    for products in [Products::Exact, Products::PowersOfTwo] {
        let mut rifo = Rifo::new(RifoConfig {
            capacity: 2,
            tracking_range: 100,
            headroom: Headroom::NONE,
            products,
            on: Target::V1model,
        })
        .unwrap();
        for rank in [9, 1] {
            assert!(rifo.enqueue(0, packet(rank)).is_queued());
        }
        assert_eq!(
            rifo.enqueue(0, packet(9)),
            Verdict::DroppedFull,
            "{products:?}: score 0"
        );
    }
}

/// PACKS figure 5: 2 1 2 5 4 1; the packet on the right arrives first.
const PACKS_FIGURE_5: [Rank; 6] = [1, 4, 5, 2, 1, 2];

#[test]
fn packs_figure_5_the_bounds_of_the_batch_sort_what_is_admitted() {
    let bounds = batch_bounds(&PACKS_FIGURE_5, &[2, 2]);
    assert_eq!(bounds, [Some(1), Some(2)], "q_1 = 1, q_2 = 2, r_drop = 3");
    let mut queues = PriorityQueues::new(&[2, 2]).unwrap();
    for rank in PACKS_FIGURE_5 {
        if let Some(queue) = bounds.iter().position(|&bound| Some(rank) <= bound) {
            assert!(queues.enqueue(queue, packet(rank)).is_queued());
        }
    }
    let output: Vec<Rank> = std::iter::from_fn(|| queues.dequeue())
        .map(|packet| packet.rank)
        .collect();
    assert_eq!(output, [1, 1, 2, 2]);
}

#[test]
fn packs_fills_the_next_queue_when_a_burst_of_one_rank_fills_the_first() {
    // SP-PIFO maps all of them to one queue and drops (PACKS 4.3).
    let burst = [3; 12];
    let mut packs = Packs::new(PacksConfig::new(&[4, 4, 4], 4)).unwrap();
    assert_eq!(kept(&mut packs, &burst).len(), 12);
    assert_eq!(kept(&mut SpPifo::new(&[4, 4, 4]).unwrap(), &burst).len(), 4);
}

#[test]
fn packs_figure_2_sp_pifo_sorts_but_loses_urgent_packets() {
    // The example fixes the bounds at 1 and 2: queue 1 for rank 1, queue 2 for the others, two packets each.
    let mut queues = PriorityQueues::new(&[2, 2]).unwrap();
    for rank in PACKS_FIGURE_5 {
        queues.enqueue(usize::from(rank >= 2), packet(rank));
    }
    let output: Vec<Rank> = std::iter::from_fn(|| queues.dequeue())
        .map(|packet| packet.rank)
        .collect();
    assert_eq!(output, [1, 1, 4, 5]);
    assert_eq!(kept(&mut Pifo::new(4).unwrap(), &PACKS_FIGURE_5), [1, 1, 2, 2]);
}

#[test]
fn sp_pifo_pushes_bounds_up_and_down() {
    let mut sp_pifo = SpPifo::new(&[4, 4, 4]).unwrap();
    let mut bounds_after = |rank| {
        sp_pifo.enqueue(0, packet(rank));
        sp_pifo.bounds().to_vec()
    };
    assert_eq!(
        bounds_after(6),
        [0, 0, 6],
        "the first queue from below takes it and is pushed up"
    );
    assert_eq!(bounds_after(4), [0, 4, 6]);
    assert_eq!(bounds_after(3), [3, 4, 6]);
    assert_eq!(
        bounds_after(1),
        [1, 2, 4],
        "an inversion of 2 pushes every bound down by 2"
    );
}

#[test]
fn sp_pifo_does_not_push_up_for_a_packet_it_drops() {
    let mut sp_pifo = SpPifo::new(&[1, 1]).unwrap();
    sp_pifo.enqueue(0, packet(5));
    assert_eq!(sp_pifo.enqueue(0, packet(9)), Verdict::DroppedFull);
    assert_eq!(sp_pifo.bounds(), [0, 5]);
}

fn queues(sizes: &[usize]) -> SpPifoConfig {
    SpPifoConfig {
        queue_sizes: sizes.to_vec(),
        on: Target::V1model,
    }
}

/// SP-PIFO as on a Tofino.
fn on_chip(sizes: &[usize]) -> SpPifo {
    SpPifo::model(&SpPifo::on(queues(sizes), Target::Tna)).unwrap()
}

#[test]
fn sp_pifo_on_tofino_pushes_up_for_a_packet_it_drops() {
    let mut sp_pifo = on_chip(&[1, 1]);
    sp_pifo.enqueue(0, packet(5));
    assert_eq!(sp_pifo.enqueue(0, packet(9)), Verdict::DroppedFull);
    assert_eq!(sp_pifo.bounds(), [0, 9]);
}

#[test]
fn sp_pifo_on_tofino_pushes_down_as_the_papers_do() {
    let mut sp_pifo = on_chip(&[4, 4, 4]);
    for rank in [6, 4, 3, 1] {
        sp_pifo.enqueue(0, packet(rank));
    }
    assert_eq!(sp_pifo.bounds(), [1, 2, 4]);
}

#[test]
fn sp_pifo_on_tofino_sends_rank_0_to_queue_1_or_to_the_more_urgent_queue_of_a_pair() {
    let mut sp_pifo = on_chip(&[4; 4]);
    assert_eq!(sp_pifo.enqueue(0, packet(0)), Verdict::Queued { queue: 0 });
    assert_eq!(sp_pifo.enqueue(0, packet(7)), Verdict::Queued { queue: 3 });
    assert_eq!(sp_pifo.bounds(), [0, 0, 0, 7]);
    assert_eq!(sp_pifo.enqueue(0, packet(0)), Verdict::Queued { queue: 2 });
}

#[test]
fn aifo_on_tofino_knows_what_the_last_departure_left_behind() {
    let config = AifoConfig {
        target: 2,
        capacity: 4,
        headroom: Headroom::NONE,
        window: WindowConfig::unsampled(2),
        on: Target::V1model,
    };
    let mut aifo = Aifo::new(Aifo::on(config, Target::Tna)).unwrap();
    // Half of the window is more urgent than rank 9, so half of C must be free for it.
    for rank in [1, 9, 1, 9] {
        assert!(aifo.enqueue(0, packet(rank)).is_queued(), "nothing has departed yet");
    }
    aifo.dequeue(0);
    assert_eq!(
        aifo.enqueue(0, packet(1)),
        Verdict::DroppedByAdmission,
        "three are left, more than C"
    );
    aifo.dequeue(0);
    assert_eq!(aifo.enqueue(0, packet(9)), Verdict::DroppedByAdmission);
    assert!(aifo.enqueue(0, packet(1)).is_queued(), "two are left");
    aifo.dequeue(0);
    aifo.dequeue(0);
    assert!(aifo.enqueue(0, packet(9)).is_queued(), "one is left");
}

#[test]
fn rifo_on_tofino_counts_what_it_refuses_until_the_next_departure() {
    let config = RifoConfig {
        capacity: 4,
        headroom: Headroom::NONE,
        ..RifoConfig::paper()
    };
    let mut rifo = Rifo::new(Rifo::on(config, Target::Tna)).unwrap();
    assert!(rifo.enqueue(0, packet(1)).is_queued());
    // One packet waits, and 3 of 4 places are free. Rounded to a power of two, 3 is 4: only the lowest rank may enter.
    assert_eq!(rifo.enqueue(0, packet(9)), Verdict::DroppedByAdmission);
    assert_eq!(rifo.enqueue(0, packet(9)), Verdict::DroppedByAdmission);
    assert_eq!(rifo.enqueue(0, packet(9)), Verdict::DroppedByAdmission);
    assert_eq!(
        rifo.enqueue(0, packet(1)),
        Verdict::DroppedFull,
        "ingress has counted four"
    );
    rifo.dequeue(0);
    assert!(
        rifo.enqueue(0, packet(9)).is_queued(),
        "the departure left an empty queue behind"
    );
}

#[test]
fn a_queue_that_comes_later_starts_with_the_bound_0_and_one_that_goes_is_still_served() {
    let mut sp_pifo = SpPifo::new(&[4, 4]).unwrap();
    for rank in [5, 9, 7, 4] {
        sp_pifo.enqueue(0, packet(rank));
    }
    // 5 and 9 raised b_2, and 7 raised b_1. 4 < b_1 lowered both by 3.
    assert_eq!(sp_pifo.bounds(), [4, 6]);
    sp_pifo.reconfigure(&queues(&[4, 4, 4])).unwrap();
    assert_eq!(sp_pifo.bounds(), [4, 6, 0]);
    assert_eq!(sp_pifo.enqueue(0, packet(8)), Verdict::Queued { queue: 2 });
    assert_eq!(sp_pifo.enqueue(0, packet(7)), Verdict::Queued { queue: 1 });
    assert_eq!(sp_pifo.bounds(), [4, 7, 8]);
    sp_pifo.reconfigure(&queues(&[4])).unwrap();
    assert_eq!(sp_pifo.enqueue(0, packet(9)), Verdict::Queued { queue: 0 });
    let ranks: Vec<u32> = std::iter::from_fn(|| sp_pifo.dequeue(0))
        .map(|packet| packet.rank)
        .collect();
    assert_eq!(ranks, [7, 4, 9, 5, 9, 7, 8]);
    sp_pifo.reconfigure(&queues(&[4, 4])).unwrap();
    assert_eq!(sp_pifo.bounds(), [9, 0], "queue 2 was missing when 9 came");
}

#[test]
fn the_bounds_of_packs_follow_window_and_room() {
    let mut packs = Packs::new(PacksConfig::new(&[2, 2], 4)).unwrap();
    packs.remember(&[10, 20, 30, 40]).unwrap();
    // two of four places for two of four ranks, and all places for all
    assert_eq!(Reference::bounds(&packs), [30, Rank::MAX]);
    packs.enqueue(0, packet(5));
    // the window has 5, 20, 30 and 40; one place is taken
    assert_eq!(Reference::bounds(&packs), [20, 40]);
    assert_eq!(packs.enqueue(0, packet(20)), Verdict::Queued { queue: 0 });
    assert_eq!(
        Reference::bounds(&packs)[0],
        5,
        "no place: only the smallest rank of the window"
    );
}

#[test]
fn the_bounds_of_sp_pifo_are_the_last_ranks() {
    let mut sp_pifo = SpPifo::new(&[2, 2]).unwrap();
    assert_eq!(Reference::bounds(&sp_pifo), [0, 0]);
    sp_pifo.enqueue(0, packet(5));
    sp_pifo.enqueue(0, packet(3));
    assert_eq!(Reference::bounds(&sp_pifo), [3, 5]);
}
