//! The variants, beside the rules of the papers' text.

use crate::packet;
use p4sched_schedulers::aifo::{Aifo, AifoConfig};
use p4sched_schedulers::flowlets::FlowletConfig;
use p4sched_schedulers::packs::{Packs, PacksConfig};
use p4sched_schedulers::rifo::{Rifo, RifoConfig};
use p4sched_schedulers::sp_pifo::SpPifo;
use p4sched_schedulers::window::WindowConfig;
use p4sched_schedulers::{
    Headroom, Nanos, Packet, Rank, Reference, Scheduler, Scheme, Target, Variant, Variants, Verdict,
};
use proptest::prelude::*;

/// The verdicts on a burst, under the text and under a variant.
fn verdicts<S: Reference + Clone>(scheduler: &S, variant: Variant, burst: &[Rank]) -> [Vec<Verdict>; 2] {
    [Variants::NONE, Variants::of(&[variant])].map(|variants| {
        let mut scheduler = scheduler.clone();
        scheduler.vary(variants);
        burst.iter().map(|&rank| scheduler.enqueue(0, packet(rank))).collect()
    })
}

const IN: Verdict = Verdict::Queued { queue: 0 };
const REFUSED: Verdict = Verdict::DroppedByAdmission;

/// RIFO with B = 10 and k = 0.1: one waiting packet is within the headroom.
fn rifo(tracking_range: usize) -> Rifo {
    let config = RifoConfig {
        capacity: 10,
        tracking_range,
        ..RifoConfig::paper()
    };
    Rifo::new(config).unwrap()
}

#[test]
fn rifo_admits_equal_ranks_by_the_text_and_refuses_them_above_the_headroom_in_the_simulations() {
    let [text, simulated] = verdicts(&rifo(50), Variant::MaxAlone, &[0, 5, 5, 5]);
    assert_eq!(text, [IN, IN, REFUSED, REFUSED], "Max = 5, Min = 0: the score is 0");
    assert_eq!(simulated, text);
    let [text, simulated] = verdicts(&rifo(50), Variant::MaxAlone, &[5, 5, 5, 5]);
    assert_eq!(text, [IN; 4]);
    assert_eq!(simulated, [IN, IN, REFUSED, REFUSED]);
}

#[test]
fn rifo_refuses_the_first_packet_of_a_range_in_the_simulations_however_urgent_it_is() {
    // T = 2. The third packet resets the range. The fourth one is the first below Max, so its score is 1.
    let [text, simulated] = verdicts(&rifo(2), Variant::MaxAlone, &[9, 3, 1, 0]);
    assert_eq!(text, [IN; 4]);
    assert_eq!(simulated, [IN, IN, REFUSED, IN]);
}

#[test]
fn rifo_has_no_min_in_the_simulations_while_ranks_rise() {
    // Of 3, 4, 5, 4 the text has Min = 3, so rank 4 scores 1/2, less than the free 8/10. In the simulations it becomes
    // Min, and scores 1.
    let [text, simulated] = verdicts(&rifo(50), Variant::MaxAlone, &[3, 4, 5, 4]);
    assert_eq!(text, [IN, IN, REFUSED, REFUSED]);
    assert_eq!(simulated, [IN, IN, REFUSED, IN]);
}

#[test]
fn sp_pifo_keeps_its_bounds_in_the_simulations_if_queue_1_drops_the_packet() {
    for (variants, bounds) in [
        (Variants::NONE, [1, 3]),
        (Variants::of(&[Variant::DropsKeepBounds]), [3, 5]),
    ] {
        let mut sp_pifo = SpPifo::new(&[1, 1]).unwrap();
        sp_pifo.vary(variants);
        for rank in [5, 3] {
            assert!(sp_pifo.enqueue(0, packet(rank)).is_queued());
        }
        assert_eq!(sp_pifo.bounds(), [3, 5]);
        assert_eq!(sp_pifo.enqueue(0, packet(1)), Verdict::DroppedFull);
        assert_eq!(sp_pifo.bounds(), bounds);
        sp_pifo.dequeue(0);
        sp_pifo.dequeue(0);
        assert!(sp_pifo.enqueue(0, packet(0)).is_queued());
        assert_eq!(
            sp_pifo.bounds()[0],
            0,
            "a packet that is queued pushes down in any case"
        );
    }
}

/// AIFO with C packets and no headroom, and a window with these ranks.
fn aifo(target: usize, window: WindowConfig, ranks: &[Rank]) -> Aifo {
    let config = AifoConfig {
        target,
        capacity: target,
        headroom: Headroom::NONE,
        window,
        on: Target::V1model,
    };
    let mut aifo = Aifo::new(config).unwrap();
    aifo.remember(ranks).unwrap();
    aifo
}

/// A window of two ranks that no packet of these tests enters.
const FIXED: WindowConfig = WindowConfig {
    size: 2,
    sample_every: 1000,
};

#[test]
fn aifo_compares_with_the_ranks_before_the_packet_in_the_simulations() {
    // A window of one rank: by the text, the packet's own.
    let aifo = aifo(2, WindowConfig::unsampled(1), &[9]);
    let [text, simulated] = verdicts(&aifo, Variant::CompareFirst, &[0, 7]);
    assert_eq!(text, [IN, IN]);
    assert_eq!(simulated, [IN, REFUSED], "quantile 1 > 1/2");
}

#[test]
fn aifo_refuses_a_quantile_at_the_threshold_in_the_simulations_except_within_the_headroom() {
    let at_threshold = aifo(2, FIXED, &[1, 9]);
    let [text, simulated] = verdicts(&at_threshold, Variant::StrictlyBelow, &[0, 5]);
    assert_eq!(text, [IN, IN], "1/2 <= 1/2");
    assert_eq!(simulated, [IN, REFUSED]);

    let mut within = at_threshold;
    let config = AifoConfig {
        target: 2,
        capacity: 2,
        headroom: Headroom::new(1, 1).unwrap(),
        window: FIXED,
        on: Target::V1model,
    };
    within.reconfigure(&config).unwrap();
    let [text, simulated] = verdicts(&within, Variant::StrictlyBelow, &[0, 10]);
    assert_eq!(text, [IN, IN]);
    assert_eq!(simulated, [IN, IN], "one packet waits, and k C = 1");
}

#[test]
fn aifo_and_packs_count_only_the_ranks_in_the_window_in_the_simulations() {
    // The third packet finds two smaller ranks in a window of four cells, one of them empty. Half of the buffer is free.
    let new = AifoConfig {
        target: 4,
        capacity: 4,
        headroom: Headroom::NONE,
        window: WindowConfig::unsampled(4),
        on: Target::V1model,
    };
    let aifo = Aifo::new(new).unwrap();
    let [text, simulated] = verdicts(&aifo, Variant::FillingWindow, &[1, 1, 5]);
    assert_eq!(text, [IN, IN, IN], "2/4 <= 1/2");
    assert_eq!(simulated, [IN, IN, REFUSED], "2/3 > 1/2");

    let packs = Packs::new(PacksConfig::new(&[4], 4)).unwrap();
    assert_eq!(verdicts(&packs, Variant::FillingWindow, &[1, 1, 5]), [text, simulated]);
}

#[test]
fn an_empty_window_admits_in_the_simulations() {
    let config = AifoConfig {
        window: WindowConfig {
            size: 20,
            sample_every: 1000,
        },
        ..AifoConfig::paper()
    };
    let mut aifo = Aifo::new(config).unwrap();
    aifo.vary(Variants::of(Scheme::Aifo.variants()));
    let verdicts: Vec<Verdict> = (0..21).map(|rank| aifo.enqueue(0, packet(rank))).collect();
    assert_eq!(verdicts[..20], [IN; 20]);
    assert_eq!(verdicts[20], Verdict::DroppedFull);
}

/// PACKS with four queues of two packets, and a window with these ranks that no packet of these tests enters.
fn packs(ranks: &[Rank; 2]) -> Packs {
    let config = PacksConfig {
        window: FIXED,
        ..PacksConfig::new(&[2; 4], 2)
    };
    let mut packs = Packs::new(config).unwrap();
    packs.remember(ranks).unwrap();
    packs
}

#[test]
fn packs_by_the_total_occupancy_counts_a_packet_in_a_less_urgent_queue() {
    let [text, total] = verdicts(&packs(&[1, 9]), Variant::TotalOccupancy, &[10, 5]);
    assert_eq!(text[0], Verdict::Queued { queue: 3 }, "quantile 1");
    assert_eq!(text[1], Verdict::Queued { queue: 1 }, "1/2 <= 4/8");
    assert_eq!(total[1], Verdict::Queued { queue: 2 }, "1/2 <= 7/8 * 3/4");
}

#[test]
fn packs_by_the_total_occupancy_goes_on_to_the_next_queue_if_one_is_full() {
    let [_, total] = verdicts(&packs(&[1, 9]), Variant::TotalOccupancy, &[0, 0, 0]);
    let queues = [0, 0, 1].map(|queue| Verdict::Queued { queue });
    assert_eq!(total, queues);
}

#[test]
fn packs_takes_the_next_queue_at_a_threshold_in_the_simulations() {
    let [text, simulated] = verdicts(&packs(&[1, 9]), Variant::StrictlyBelow, &[5]);
    assert_eq!(text, [Verdict::Queued { queue: 1 }], "1/2 <= 4/8");
    assert_eq!(simulated, [Verdict::Queued { queue: 2 }], "1/2 < 6/8");
}

/// A packet of this user.
fn of_user(user: u32, rank: Rank) -> Packet {
    Packet { user, ..packet(rank) }
}

/// Verdicts on packets of two users, which have a window each.
fn of_two_users<S: Reference>(mut scheduler: S, burst: &[(u32, Rank)]) -> Vec<Verdict> {
    scheduler.vary(Variants::of(&[Variant::OwnWindow]));
    let packets = burst.iter().map(|&(user, rank)| of_user(user, rank));
    packets.map(|packet| scheduler.enqueue(0, packet)).collect()
}

#[test]
fn a_user_with_its_own_window_is_not_compared_with_the_ranks_of_others() {
    let config = AifoConfig {
        target: 4,
        capacity: 4,
        headroom: Headroom::NONE,
        window: WindowConfig::unsampled(2),
        on: Target::V1model,
    };
    let burst = [(1, 0), (1, 0), (1, 0), (2, 9)];
    let aifo = Aifo::new(config).unwrap();
    assert_eq!(
        of_two_users(aifo.clone(), &burst),
        [IN; 4],
        "equal ranks have quantile 0"
    );
    // half of the window is smaller, and a quarter of the queue is free
    let [text, _] = verdicts(&aifo, Variant::OwnWindow, &[0, 0, 0, 9]);
    assert_eq!(text, [IN, IN, IN, REFUSED]);
    let packs = Packs::new(PacksConfig::new(&[2, 2], 2)).unwrap();
    let own = of_two_users(packs.clone(), &burst);
    assert_eq!(own, [0, 0, 1, 1].map(|queue| Verdict::Queued { queue }));
    let [text, _] = verdicts(&packs, Variant::OwnWindow, &[0, 0, 0, 9]);
    assert_eq!(text[3], REFUSED);
}

#[test]
fn a_user_with_its_own_range_is_not_compared_with_the_ranks_of_others() {
    let burst = [(1, 0), (1, 0), (1, 0), (2, 9)];
    assert_eq!(of_two_users(rifo(50), &burst), [IN; 4], "its Max is its Min");
    let [text, _] = verdicts(&rifo(50), Variant::OwnWindow, &[0, 0, 0, 9]);
    assert_eq!(text[3], REFUSED);
    // within a user the order counts: behind 0 and 9 of the same user, 9 has the score 0
    let own = of_two_users(rifo(50), &[(1, 0), (1, 9), (1, 9)]);
    assert_eq!(own[2], REFUSED);
}

#[test]
fn many_packets_of_one_user_leave_the_windows_of_others_as_they_are() {
    let mut aifo = Aifo::new(AifoConfig {
        target: 100,
        capacity: 100,
        window: WindowConfig::unsampled(4),
        ..AifoConfig::paper()
    })
    .unwrap();
    aifo.vary(Variants::of(&[Variant::OwnWindow]));
    let mut scheduler = aifo.clone();
    for rank in [7, 5, 6] {
        scheduler.enqueue(0, of_user(2, rank));
    }
    for _ in 0..40 {
        scheduler.enqueue(0, of_user(1, 0));
        scheduler.dequeue(0);
    }
    let waiting = scheduler.len();
    let verdict = scheduler.enqueue(0, of_user(2, 8));
    // the same packets of user 2 alone, in front of as long a queue
    for rank in [7, 5, 6] {
        aifo.enqueue(0, of_user(2, rank));
    }
    assert_eq!(waiting, aifo.len());
    assert_eq!(verdict, aifo.enqueue(0, of_user(2, 8)));
}

#[test]
fn each_variant_belongs_to_a_scheme_and_has_a_name_of_its_own() {
    for &variant in Variant::ALL {
        let schemes = Scheme::ALL.iter().filter(|scheme| scheme.variants().contains(&variant));
        assert!(schemes.count() > 0, "{variant:?}");
        let same = Variant::ALL.iter().filter(|other| other.name() == variant.name());
        assert_eq!(same.count(), 1, "{variant:?}");
    }
}

/// RIFO's rule of the authors' simulations in their numbers: 32-bit integers, and quotients in double precision.
struct InDoubles {
    max: i32,
    min: i32,
    count: usize,
}

/// Max and Min after a reset.
const RESET: (i32, i32) = (i32::MIN, i32::MAX);

impl InDoubles {
    fn admits(&mut self, rank: Rank, length: usize, capacity: usize, tracking_range: usize) -> bool {
        let (rank, size) = (rank.cast_signed(), capacity as f64);
        if rank > self.max {
            self.max = rank;
        } else if rank < self.min {
            self.min = rank;
        }
        let score = f64::from(self.max - rank) / f64::from(self.max - self.min);
        self.count += 1;
        if self.count == tracking_range {
            (self.max, self.min) = RESET;
            self.count = 0;
        }
        length as f64 <= f64::from(0.1_f32) * size || score >= (size - length as f64) / size
    }
}

proptest! {
    #[test]
    fn rifo_decides_as_the_simulations_do_in_double_precision(
        capacity in prop::sample::select(vec![10_usize, 20, 50, 100]), tracking_range in 1_usize..60,
        spread in 1_u32..100, events in prop::collection::vec((0_u32..2, any::<u32>()), 1..600),
    ) {
        let mut rifo = Rifo::new(RifoConfig { capacity, tracking_range, ..RifoConfig::paper() }).unwrap();
        rifo.vary(Variants::of(&[Variant::MaxAlone]));
        let mut oracle = InDoubles { max: RESET.0, min: RESET.1, count: 0 };
        for (departures, drawn) in events {
            for _ in 0..departures {
                rifo.dequeue(0);
            }
            let (rank, length) = (drawn % spread, rifo.len());
            let admitted = oracle.admits(rank, length, capacity, tracking_range);
            let verdict = rifo.enqueue(0, packet(rank));
            prop_assert_eq!(verdict.is_queued(), admitted && length < capacity, "rank {}, {} wait", rank, length);
        }
    }
}

#[test]
fn packs_drops_at_a_full_first_queue_without_the_fall_through() {
    let [text, first] = verdicts(&packs(&[1, 9]), Variant::NoFallThrough, &[0, 0, 0]);
    assert_eq!(text[2], Verdict::Queued { queue: 1 });
    assert_eq!(first[2], Verdict::DroppedFull);
}

/// A scheduler that follows a variant, with a table of flowlets.
fn varied<S: Reference>(mut scheduler: S, variant: Variant, gap: Nanos, cells: usize) -> S {
    scheduler.vary(Variants::of(&[variant]));
    scheduler.keep_flowlets(FlowletConfig { gap, cells });
    scheduler
}

/// Verdicts on arrivals of flows and ranks, and flows of the packets that leave; each flow's packets are numbered.
fn passed(mut scheduler: impl Scheduler, arrivals: &[(u32, Rank)]) -> (Vec<Verdict>, Vec<(u32, u64)>) {
    let (mut verdicts, mut left) = (Vec::new(), Vec::new());
    for (id, &(flow, rank)) in (0..).zip(arrivals) {
        let arriving = packet(rank);
        verdicts.push(scheduler.enqueue(id, Packet { id, flow, ..arriving }));
        // two arrivals for each departure
        if id % 2 == 1 {
            left.extend(scheduler.dequeue(id));
        }
    }
    left.extend(std::iter::from_fn(|| scheduler.dequeue(u64::MAX)));
    (verdicts, left.iter().map(|packet| (packet.flow, packet.id)).collect())
}

fn in_order(left: &[(u32, u64)]) -> bool {
    (0..4).all(|flow| left.iter().filter(|(of, _)| *of == flow).is_sorted())
}

/// Four queues of five packets under SP-PIFO and PACKS.
fn mapping() -> (SpPifo, Packs) {
    let packs = Packs::new(PacksConfig::new(&[5; 4], 8)).unwrap();
    (SpPifo::new(&[5; 4]).unwrap(), packs)
}

proptest! {
    #[test]
    fn no_packet_overtakes_one_of_its_flow_if_flows_keep_their_queue(
        arrivals in prop::collection::vec((0_u32..4, 0_u32..100), 1..200)
    ) {
        let (sp_pifo, packs) = mapping();
        prop_assert!(in_order(&passed(varied(sp_pifo, Variant::FlowQueue, 0, 1), &arrivals).1));
        prop_assert!(in_order(&passed(varied(packs, Variant::FlowQueue, 0, 1), &arrivals).1));
    }

    #[test]
    fn no_packet_overtakes_one_of_its_flow_if_the_gap_is_above_the_time_that_it_waits(
        arrivals in prop::collection::vec((0_u32..4, 0_u32..100), 1..200), cells in 1_usize..5
    ) {
        let (sp_pifo, packs) = mapping();
        let gap = arrivals.len() as Nanos;
        prop_assert!(in_order(&passed(varied(sp_pifo, Variant::FlowletQueue, gap, cells), &arrivals).1));
        prop_assert!(in_order(&passed(varied(packs, Variant::FlowletQueue, gap, cells), &arrivals).1));
    }

    #[test]
    fn with_a_gap_of_0_no_flow_keeps_its_queue(
        arrivals in prop::collection::vec((0_u32..4, 0_u32..100), 1..200), cells in 1_usize..5
    ) {
        let (sp_pifo, packs) = mapping();
        let flowlets = varied(sp_pifo.clone(), Variant::FlowletQueue, 0, cells);
        prop_assert_eq!(passed(flowlets, &arrivals), passed(sp_pifo, &arrivals));
        let flowlets = varied(packs.clone(), Variant::FlowletQueue, 0, cells);
        prop_assert_eq!(passed(flowlets, &arrivals), passed(packs, &arrivals));
    }
}

/// SP-PIFO with two queues of two packets, whose bounds are 0 and 50.
fn two_queues(variant: Variant, gap: Nanos, cells: usize) -> SpPifo {
    let mut sp_pifo = varied(SpPifo::new(&[2; 2]).unwrap(), variant, gap, cells);
    of_flow(&mut sp_pifo, 0, 9, 50);
    sp_pifo.dequeue(0);
    assert_eq!(sp_pifo.bounds(), [0, 50]);
    sp_pifo
}

/// The verdict on a packet of this flow and rank.
fn of_flow(scheduler: &mut impl Scheduler, now: Nanos, flow: u32, rank: Rank) -> Verdict {
    let arriving = packet(rank);
    scheduler.enqueue(now, Packet { flow, ..arriving })
}

const SECOND: Verdict = Verdict::Queued { queue: 1 };

#[test]
fn a_flowlet_keeps_its_queue_though_none_of_its_packets_waits() {
    let second = |variant, at| {
        let mut sp_pifo = two_queues(variant, 100, 4096);
        assert_eq!(of_flow(&mut sp_pifo, 1000, 1, 60), SECOND);
        sp_pifo.dequeue(1000);
        of_flow(&mut sp_pifo, at, 1, 10)
    };
    assert_eq!(second(Variant::FlowQueue, 1001), IN, "the queue is empty");
    assert_eq!(second(Variant::FlowletQueue, 1099), SECOND);
    assert_eq!(second(Variant::FlowletQueue, 1100), IN, "the gap has passed");
}

#[test]
fn with_an_endless_gap_a_flow_has_one_queue_for_ever() {
    let mut sp_pifo = two_queues(Variant::FlowletQueue, Nanos::MAX, 4096);
    for now in 0..1000 {
        assert_eq!(
            of_flow(&mut sp_pifo, now * 1_000_000_000, 1, 1000 - now as Rank),
            SECOND
        );
        sp_pifo.dequeue(now * 1_000_000_000);
    }
    assert_eq!(sp_pifo.bounds(), [0, 1000], "a kept queue moves no bound");
}

#[test]
fn flows_that_share_a_cell_go_to_the_same_queue() {
    let other = |cells| {
        let mut sp_pifo = two_queues(Variant::FlowletQueue, 100, cells);
        of_flow(&mut sp_pifo, 1000, 1, 60);
        of_flow(&mut sp_pifo, 1001, 2, 10)
    };
    assert_eq!(other(1), SECOND);
    assert_eq!(other(4096), IN);
}

#[test]
fn a_packet_that_its_kept_queue_drops_does_not_prolong_the_flowlet() {
    let mut sp_pifo = two_queues(Variant::FlowletQueue, 100, 4096);
    for now in [1000, 1001] {
        assert_eq!(of_flow(&mut sp_pifo, now, 1, 60), SECOND);
    }
    assert_eq!(of_flow(&mut sp_pifo, 1100, 1, 10), Verdict::DroppedFull);
    assert_eq!(of_flow(&mut sp_pifo, 1101, 1, 10), IN);
}

#[test]
fn packs_refuses_what_no_queue_admits_though_its_flowlet_has_a_queue() {
    // one rank of two is below 5, so half of the buffer must be free
    let mut packs = varied(packs(&[1, 9]), Variant::FlowletQueue, 100, 4096);
    assert_eq!(of_flow(&mut packs, 0, 1, 5), SECOND);
    for flow in 2..7 {
        of_flow(&mut packs, 0, flow, 0);
    }
    for _ in 0..3 {
        packs.dequeue(0);
    }
    for flow in 7..9 {
        assert_eq!(of_flow(&mut packs, 1, flow, 0), IN);
    }
    assert_eq!((packs.len(), packs.length(1)), (5, 1));
    assert_eq!(of_flow(&mut packs, 1, 1, 5), Verdict::DroppedByAdmission);
    packs.dequeue(1);
    let by_the_rule = of_flow(&mut packs.clone(), 1, 9, 5);
    assert_eq!(by_the_rule, Verdict::Queued { queue: 3 });
    assert_eq!(of_flow(&mut packs, 1, 1, 5), SECOND);
}
