//! The papers' theorems as properties of random configurations.

use proptest::prelude::*;

use p4sched_schedulers::aifo::{Aifo, AifoConfig};
use p4sched_schedulers::fifo::Fifo;
use p4sched_schedulers::packs::{Occupancy, Packs, PacksConfig};
use p4sched_schedulers::pifo::Pifo;
use p4sched_schedulers::rifo::{Products, Rifo, RifoConfig};
use p4sched_schedulers::sp_pifo::{SpPifo, SpPifoConfig};
use p4sched_schedulers::window::WindowConfig;
use p4sched_schedulers::{Headroom, Packet, Rank, Reference, Scheduler, Target, Verdict};
use p4sched_simulator::adversary::batch;
use p4sched_simulator::inversions::{Link, run};
use p4sched_simulator::workload::{RankDistribution, RankSampler, falling, independent, seeded};

/// An arrival or a departure.
#[derive(Clone, Copy, Debug)]
enum Event {
    Arrival(Rank),
    Departure,
}

/// Arrivals of ranks below a random limit, more or less often than departures.
fn events(count: usize) -> impl Strategy<Value = Vec<Event>> {
    (1u32..200, 1u32..10).prop_flat_map(move |(ranks, departures)| {
        let event = prop_oneof![
            10 => (0..ranks).prop_map(Event::Arrival),
            departures => Just(Event::Departure),
        ];
        prop::collection::vec(event, 1..count)
    })
}

fn headroom() -> impl Strategy<Value = Headroom> {
    (0u32..=8).prop_flat_map(|shift| (0..1u32 << shift).prop_map(move |k| Headroom::new(k, shift).unwrap()))
}

fn window() -> impl Strategy<Value = WindowConfig> {
    (1usize..60, 1usize..20).prop_map(|(size, sample_every)| WindowConfig { size, sample_every })
}

fn packet(id: usize, rank: Rank) -> Packet {
    Packet {
        id: id as u64,
        rank,
        user: 0,
        flow: rank % 3,
        len: 1500,
    }
}

/// Feeds the events to a scheduler, calls `check` after each, and returns the sent packets in order.
fn play<S: Scheduler>(scheduler: &mut S, events: &[Event], mut check: impl FnMut(&S)) -> Vec<Packet> {
    let mut sent = Vec::new();
    for (id, event) in events.iter().enumerate() {
        match *event {
            Event::Arrival(rank) => {
                scheduler.enqueue(0, packet(id, rank));
            }
            Event::Departure => sent.extend(scheduler.dequeue(0)),
        }
        check(scheduler);
    }
    sent.extend(std::iter::from_fn(|| scheduler.dequeue(0)));
    sent
}

/// AIFO with the buffer, window and headroom of a PACKS.
fn aifo_like(config: &PacksConfig) -> Aifo {
    let buffer = config.queue_sizes.iter().sum();
    let PacksConfig { headroom, window, .. } = *config;
    Aifo::new(AifoConfig {
        target: buffer,
        capacity: buffer,
        headroom,
        window,
        on: Target::V1model,
    })
    .unwrap()
}

fn packs_config() -> impl Strategy<Value = PacksConfig> {
    (prop::collection::vec(1usize..12, 1..9), window(), headroom()).prop_map(|(sizes, window, headroom)| PacksConfig {
        window,
        headroom,
        ..PacksConfig::new(&sizes, 1)
    })
}

proptest! {
    #[test]
    fn packs_theorem_2_packs_drops_exactly_the_packets_aifo_drops(
        config in packs_config(), events in events(600)
    ) {
        let mut aifo = aifo_like(&config);
        let mut packs = Packs::new(config).unwrap();
        for (id, event) in events.into_iter().enumerate() {
            match event {
                Event::Arrival(rank) => {
                    let by_aifo = aifo.enqueue(0, packet(id, rank));
                    let by_packs = packs.enqueue(0, packet(id, rank));
                    prop_assert_eq!(by_aifo.is_queued(), by_packs.is_queued(), "packet {} of rank {}", id, rank);
                    if !by_aifo.is_queued() {
                        prop_assert_eq!(by_aifo, by_packs, "the reason is the same too");
                    }
                }
                Event::Departure => {
                    prop_assert_eq!(aifo.dequeue(0).is_some(), packs.dequeue(0).is_some());
                }
            }
            prop_assert_eq!(aifo.len(), packs.len());
        }
    }

    #[test]
    fn packs_theorem_3_on_a_batch_the_most_urgent_rank_suffers_no_more_inversions_than_with_aifo(
        config in packs_config(), ranks in prop::collection::vec(0u32..30, 1..150)
    ) {
        let by_aifo = batch(&mut aifo_like(&config), &ranks);
        let by_packs = batch(&mut Packs::new(config).unwrap(), &ranks);
        let most_urgent = *ranks.iter().min().unwrap();
        prop_assert!(by_packs.inversions_of(most_urgent) <= by_aifo.inversions_of(most_urgent));
    }

    #[test]
    fn with_one_queue_packs_is_aifo(window in window(), headroom in headroom(), size in 1usize..40, events in events(400)) {
        for occupancy in [Occupancy::PerQueue, Occupancy::Total] {
            let config = PacksConfig { window, headroom, occupancy, ..PacksConfig::new(&[size], 1) };
            let sent_by_aifo = play(&mut aifo_like(&config), &events, |_| ());
            prop_assert_eq!(sent_by_aifo, play(&mut Packs::new(config).unwrap(), &events, |_| ()));
        }
    }

    #[test]
    fn sp_pifo_bounds_stay_sorted(sizes in prop::collection::vec(1usize..6, 1..9), events in events(600)) {
        let mut sp_pifo = SpPifo::new(&sizes).unwrap();
        let mut sorted = true;
        play(&mut sp_pifo, &events, |sp_pifo| sorted &= sp_pifo.bounds().is_sorted());
        prop_assert!(sorted, "{:?}", sp_pifo.bounds());
    }

    #[test]
    fn sp_pifo_bounds_rise_by_push_ups_only_also_when_queues_come_and_go(
        counts in prop::collection::vec(1usize..9, 2..8), events in events(100)
    ) {
        let mut sp_pifo = SpPifo::new(&[3]).unwrap();
        for count in counts {
            let config = SpPifoConfig { queue_sizes: vec![3; count], on: Target::V1model };
            sp_pifo.reconfigure(&config).unwrap();
            for (id, event) in events.iter().enumerate() {
                let Event::Arrival(rank) = *event else {
                    sp_pifo.dequeue(0);
                    continue;
                };
                let before = sp_pifo.bounds().to_vec();
                sp_pifo.enqueue(0, packet(id, rank));
                for (&bound, &was) in sp_pifo.bounds().iter().zip(&before) {
                    prop_assert!(bound <= was || bound == rank, "{before:?}, then {:?}", sp_pifo.bounds());
                }
            }
        }
    }

    #[test]
    fn aifo_and_rifo_never_reorder(
        target in 1usize..40, capacity in 1usize..60, window in window(), headroom in headroom(),
        tracking_range in 1usize..50, events in events(600)
    ) {
        let mut aifo = Aifo::new(AifoConfig { target, capacity, headroom, window, on: Target::V1model }).unwrap();
        prop_assert!(play(&mut aifo, &events, |_| ()).is_sorted_by_key(|packet| packet.id));
        for products in [Products::Exact, Products::PowersOfTwo] {
            let mut rifo = Rifo::new(RifoConfig { capacity, tracking_range, headroom, products, on: Target::V1model }).unwrap();
            prop_assert!(play(&mut rifo, &events, |_| ()).is_sorted_by_key(|packet| packet.id));
        }
    }

    #[test]
    fn every_rank_gets_in_while_the_queue_is_within_its_headroom(
        capacity in 1usize..100, headroom in headroom(), window in window(), ranks in prop::collection::vec(0u32..50, 1..300)
    ) {
        let mut aifo = Aifo::new(AifoConfig { target: capacity, capacity, headroom, window, on: Target::V1model }).unwrap();
        let rifo = RifoConfig { capacity, tracking_range: 20, headroom, products: Products::Exact, on: Target::V1model };
        let mut rifo = Rifo::new(rifo).unwrap();
        for (id, &rank) in ranks.iter().enumerate() {
            let within = |length: usize| length as u64 * headroom.unit() <= headroom.numerator() * capacity as u64;
            let (aifo_within, rifo_within) = (within(aifo.len()), within(rifo.len()));
            prop_assert!(aifo.enqueue(0, packet(id, rank)).is_queued() || !aifo_within);
            prop_assert!(rifo.enqueue(0, packet(id, rank)).is_queued() || !rifo_within);
        }
    }

    #[test]
    fn extreme_ranks_sizes_and_shifts_are_only_numbers(
        ranks in prop::collection::vec(prop_oneof![Just(0), Just(Rank::MAX), any::<Rank>()], 1..60),
        size in prop_oneof![1usize..4, Just(1 << 24)], k in 0u32..1 << 16, window_shift in any::<i64>(),
        products in prop_oneof![Just(Products::Exact), Just(Products::PowersOfTwo)],
        occupancy in prop_oneof![Just(Occupancy::PerQueue), Just(Occupancy::Total)],
    ) {
        let headroom = Headroom::new(k, 16).unwrap();
        let window = WindowConfig::unsampled(1 << 16);
        let target = AifoConfig { target: size, capacity: size, headroom, window, on: Target::V1model };
        let rifo = RifoConfig { capacity: size, tracking_range: 7, headroom, products, on: Target::V1model };
        let packs = PacksConfig { queue_sizes: vec![size], headroom, window, occupancy, window_shift };
        let mut schedulers: [Box<dyn Scheduler>; 4] = [
            Box::new(Aifo::new(target).unwrap()),
            Box::new(Rifo::new(rifo).unwrap()),
            Box::new(Packs::new(packs).unwrap()),
            Box::new(SpPifo::new(&[size]).unwrap()),
        ];
        for scheduler in &mut schedulers {
            let queued = (0..).zip(&ranks).filter(|&(id, &rank)| scheduler.enqueue(0, packet(id, rank)).is_queued());
            let queued = queued.count();
            prop_assert_eq!(scheduler.len(), queued);
            prop_assert_eq!(std::iter::from_fn(|| scheduler.dequeue(0)).count(), queued);
        }
    }

    #[test]
    fn the_most_urgent_rank_is_dropped_only_for_want_of_room(
        config in packs_config(), events in events(400)
    ) {
        let mut aifo = aifo_like(&config);
        let mut packs = Packs::new(config).unwrap();
        for (id, event) in events.into_iter().enumerate() {
            if let Event::Arrival(rank) = event {
                // Rank 0 has quantile 0 in every window.
                for verdict in [aifo.enqueue(0, packet(id, rank % 3)), packs.enqueue(0, packet(id, rank % 3))] {
                    prop_assert!(rank % 3 != 0 || verdict != Verdict::DroppedByAdmission);
                }
            } else {
                aifo.dequeue(0);
                packs.dequeue(0);
            }
        }
    }
}

#[test]
fn packs_theorem_2_does_not_carry_over_to_the_total_occupancy_of_tofino_2() {
    // Two queues of one packet, |W| = 2. Both fill with rank 1, then queue 1 sends. For rank 5 one of two ranks is
    // smaller and half of the buffer is free: 1/2 <= 1/2 i/2 holds for i = 2 only, and queue 2 is full.
    let events = [
        Event::Arrival(1),
        Event::Arrival(1),
        Event::Departure,
        Event::Arrival(5),
    ];
    let per_queue = PacksConfig::new(&[1, 1], 2);
    let total = PacksConfig {
        occupancy: Occupancy::Total,
        ..per_queue.clone()
    };
    let ranks = |sent: Vec<Packet>| sent.into_iter().map(|packet| packet.rank).collect::<Vec<Rank>>();
    let by_packs = |config| ranks(play(&mut Packs::new(config).unwrap(), &events, |_| ()));
    assert_eq!(ranks(play(&mut aifo_like(&per_queue), &events, |_| ())), [1, 1, 5]);
    assert_eq!(by_packs(per_queue).len(), 3);
    assert_eq!(by_packs(total), [1, 1]);
}

#[test]
fn packs_theorem_3_does_not_carry_over_to_departures_between_arrivals() {
    // Two queues of one packet, |W| = 2. The second packet of rank 0 finds queue 1 full and goes to queue 2. After a
    // departure, rank 5 takes the free place in queue 1 and leaves first. The proof assumes that a packet which arrives
    // later does not leave earlier. That holds as long as full queues stay full, that is for a batch.
    let events = [
        Event::Arrival(0),
        Event::Arrival(0),
        Event::Departure,
        Event::Arrival(5),
    ];
    let config = PacksConfig::new(&[1, 1], 2);
    let ranks = |sent: Vec<Packet>| sent.into_iter().map(|packet| packet.rank).collect::<Vec<Rank>>();
    assert_eq!(ranks(play(&mut aifo_like(&config), &events, |_| ())), [0, 0, 5]);
    assert_eq!(
        ranks(play(&mut Packs::new(config).unwrap(), &events, |_| ())),
        [0, 5, 0]
    );
}

#[test]
fn packs_theorem_3_still_holds_by_far_on_the_papers_stream() {
    // Packets of higher ranks that left while a packet of rank 0 waited, divided by all packets of rank 0.
    let suffered = |mut scheduler: Box<dyn Scheduler>| {
        let sampler = RankSampler::new(RankDistribution::Uniform, 100).unwrap();
        let ranks = independent(&sampler, 100_000, &mut seeded(6));
        let (mut waiting, mut inversions) = (0, 0);
        for (id, rank) in ranks.into_iter().enumerate() {
            let queued = scheduler.enqueue(0, packet(id, rank)).is_queued();
            waiting += u64::from(queued && rank == 0);
            // 11 over 10 Gbit/s: a departure at every arrival except each eleventh.
            if id % 11 == 10 {
                continue;
            }
            if let Some(sent) = scheduler.dequeue(0) {
                if sent.rank == 0 {
                    waiting -= 1;
                } else {
                    inversions += waiting;
                }
            }
        }
        inversions
    };
    let config = PacksConfig::new(&[10; 8], 1000);
    let by_aifo = suffered(Box::new(aifo_like(&config)));
    let by_packs = suffered(Box::new(Packs::new(config).unwrap()));
    assert!(by_packs * 20 < by_aifo, "{by_packs} against {by_aifo}");
}

#[test]
fn remaining_size_ranks_are_reordered_by_sp_pifo_and_pifo_but_not_by_single_queues() {
    // AIFO figure 13: the rank of a flow falls with its remaining bytes.
    let ranks = falling(300, 300);
    let link = Link {
        arrival_mbps: 20,
        drain_mbps: 10,
    };
    let out_of_order = |mut scheduler: Box<dyn Scheduler>| {
        let sent = run(&mut scheduler, link, &ranks).sent;
        sent.windows(2).filter(|pair| pair[0] > pair[1]).count()
    };
    let aifo = AifoConfig {
        headroom: Headroom::NONE,
        ..AifoConfig::paper()
    };
    assert_eq!(out_of_order(Box::new(Fifo::new(20).unwrap())), 0);
    assert_eq!(out_of_order(Box::new(Aifo::new(aifo).unwrap())), 0);
    assert_eq!(out_of_order(Box::new(Rifo::new(RifoConfig::paper()).unwrap())), 0);
    let by_pifo = out_of_order(Box::new(Pifo::new(20).unwrap()));
    assert!(by_pifo > 10, "{by_pifo}");
    // Two flows whose ranks fall from different sizes, so SP-PIFO spreads them over its queues.
    let mixed: Vec<Rank> = falling(300, 300)
        .into_iter()
        .flat_map(|rank| [rank, 2 * rank + 300])
        .collect();
    let sent = run(&mut SpPifo::new(&[10; 8]).unwrap(), link, &mixed).sent;
    let flow = |parity: u64| sent.iter().filter(move |&&id| id % 2 == parity);
    assert!(
        !flow(0).is_sorted() || !flow(1).is_sorted(),
        "some packet of a flow overtakes an earlier one"
    );
}
