//! Searches for the trace on which one scheduler does worst compared with another.

use std::path::Path;

use p4sched_schedulers::{Scheme, Sizes, Target};
use p4sched_simulator::adversary::Space as _;
use p4sched_simulator::arrivals::Arrival;
use p4sched_simulator::attack::{Objective, SearchResult, Traces, search};
use p4sched_simulator::program::Program;
use p4sched_simulator::replay::Scheduler;
use rand::Rng;

const SIZES: Sizes = Sizes {
    queues: 3,
    queue_size: 4,
    window: 8,
    ..Sizes::PAPER
};

fn program(scheme: Scheme, target: Target) -> Program {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(target.directory());
    Program::compile(&directory, scheme.p4().program, target).unwrap()
}

fn attack(scheme: Scheme, against: Scheme, objective: Objective, steps: usize, seed: u64) -> SearchResult {
    let mut attacked = Scheduler::new(scheme, &SIZES, None).unwrap();
    let mut against = Scheduler::new(against, &SIZES, None).unwrap();
    let gap = |trace: &[Arrival]| {
        let cost = |port: &mut Scheduler<'_>| objective.cost(&port.play(trace).unwrap(), trace, SIZES.buffer());
        cost(&mut attacked) - cost(&mut against)
    };
    search(&Traces::new(40, 12).unwrap(), steps, 100, seed, gap, || true)
}

#[test]
fn the_same_seed_and_steps_find_the_same_and_more_steps_find_no_less() {
    let found = attack(Scheme::SpPifo, Scheme::Packs, Objective::Drops, 3000, 7);
    assert_eq!(attack(Scheme::SpPifo, Scheme::Packs, Objective::Drops, 3000, 7), found);
    assert_eq!(found.steps, 3000);
    assert!(attack(Scheme::SpPifo, Scheme::Packs, Objective::Drops, 6000, 7).gap >= found.gap);
    assert_ne!(
        attack(Scheme::SpPifo, Scheme::Packs, Objective::Drops, 3000, 8).arrivals,
        found.arrivals
    );
}

#[test]
fn a_search_that_is_stopped_keeps_what_it_found() {
    let mut left = 10;
    let found = search(
        &Traces::new(5, 3).unwrap(),
        usize::MAX,
        9,
        1,
        |trace| trace[0].rank.into(),
        || {
            left -= 1;
            left > 0
        },
    );
    assert!(found.steps < 10);
    assert_eq!(i64::from(found.arrivals[0].rank), found.gap);
}

#[test]
fn fifo_against_pifo_nearly_each_packet_is_an_inversion_and_pifo_has_no_worse_trace_than_fifo() {
    let found = attack(Scheme::Fifo, Scheme::Pifo, Objective::Inversions, 5000, 1);
    assert!(found.gap >= 25, "{found:?}");
    assert_eq!(
        attack(Scheme::Pifo, Scheme::Fifo, Objective::Inversions, 2000, 1).gap,
        0
    );
    assert!(attack(Scheme::Pifo, Scheme::Fifo, Objective::Delay, 2000, 1).gap <= 0);
}

#[test]
fn packs_and_aifo_drop_the_same_packets_on_every_trace_that_is_found() {
    // PACKS, theorem 2: both have the same admission rule over the same buffer.
    assert_eq!(attack(Scheme::Aifo, Scheme::Packs, Objective::Drops, 3000, 1).gap, 0);
    assert!(attack(Scheme::Aifo, Scheme::Packs, Objective::Inversions, 5000, 1).gap > 15);
}

#[test]
fn programs_and_models_make_the_same_of_a_trace_to_the_nanosecond() {
    let random = &mut p4sched_simulator::workload::seeded(3);
    let mut at = 0;
    let trace: Vec<Arrival> = (0..300)
        .map(|_| {
            at += u64::from(random.random_range(0..4u32) * random.random_range(0..500u32));
            Arrival {
                at,
                rank: random.random_range(0..20),
                frame_bytes: random.random_range(60..1500),
            }
        })
        .collect();
    for &scheme in Scheme::ALL.iter().filter(|scheme| scheme.p4().ranks) {
        let program = program(scheme, Target::V1model);
        let by_model = Scheduler::new(scheme, &SIZES, None).unwrap().play(&trace).unwrap();
        let by_program = Scheduler::new(scheme, &SIZES, Some(&program))
            .unwrap()
            .play(&trace)
            .unwrap();
        assert_eq!(by_program, by_model, "{}", scheme.name());
        assert!(by_model.outcome.total_drops() > 0, "{}", scheme.name());
        let lost = by_model.waited.iter().filter(|waited| waited.is_none()).count() as u64;
        assert_eq!(lost, by_model.outcome.total_drops());
    }
}

#[test]
fn a_program_that_has_played_a_trace_plays_the_next_one_as_if_it_were_new() {
    let traces = Traces::new(60, 12).unwrap();
    let random = &mut p4sched_simulator::workload::seeded(5);
    let [one, other] = [(); 2].map(|()| Traces::arrivals(&traces.draw(random)));
    for &target in Target::ALL {
        let ranked = Scheme::ALL.iter().filter(|scheme| scheme.p4().ranks);
        for &scheme in ranked.filter(|scheme| scheme.targets().contains(&target)) {
            let program = program(scheme, target);
            let new = || Scheduler::new(scheme, &Sizes { target, ..SIZES }, Some(&program)).unwrap();
            let expected = [new().play(&one).unwrap(), new().play(&other).unwrap()];
            assert_ne!(expected[0], expected[1]);
            let mut same = new();
            let found = [&one, &other, &one].map(|trace| same.play(trace).unwrap());
            let name = scheme.name();
            assert_eq!(found[..2], expected, "{name}, {}", target.name());
            assert_eq!(found[2], expected[0], "{name}, {}", target.name());
        }
    }
}

#[test]
fn sizes_of_traces_have_bounds() {
    assert!(Traces::new(1, 5).is_err());
    assert!(Traces::new(10_001, 5).is_err());
    assert!(Traces::new(5, 1).is_err());
}
