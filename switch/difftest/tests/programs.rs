//! Every program makes the decisions of its model, for every packet.

use std::path::Path;

use p4sched_difftest::program::Program;
use p4sched_difftest::{Scheme, Tally, Trial, run};

/// Packets of each program.
const PACKETS: u64 = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
/// Packets of one trial: a freshly loaded program, other flows, other numbers of queues.
const PER_TRIAL: u64 = if cfg!(debug_assertions) { 5_000 } else { 20_000 };

fn check(scheme: Scheme) -> Tally {
    let p4 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
    let program = Program::compile(&p4, scheme.program()).unwrap_or_else(|error| panic!("{error}"));
    let mut tally = Tally::default();
    for seed in 0..PACKETS / PER_TRIAL {
        let trial = Trial {
            scheme,
            seed,
            packets: PER_TRIAL,
            mistake: None,
        };
        tally += run(&program, &trial).unwrap_or_else(|mismatch| panic!("\n{mismatch}"));
    }
    println!("{scheme:?}: {tally:?}");
    tally
}

#[test]
fn aifo_decides_as_its_model() {
    let tally = check(Scheme::Aifo);
    assert!(tally.packets == PACKETS && tally.queued > 0 && tally.refused > 0 && tally.full > 0);
}
