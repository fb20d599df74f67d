//! Every program makes the decisions of its model, for every packet; and a wrong model is found out.

mod lockstep;
mod state;

use std::path::Path;

use lockstep::{Mismatch, Tally, Trial, run};
use p4sched_schedulers::{Headroom, Packet};
use p4sched_simulator::inversions::{self, Setup};
use p4sched_simulator::parameters::{Parameters, Scheme};
use p4sched_simulator::program::Program;
use p4sched_simulator::stepped;
use p4sched_simulator::workload::{RankDistribution, RankSampler, independent, seeded};

/// Packets of each program.
const PACKETS: u64 = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
/// Packets of one trial: a freshly loaded program, other flows, other numbers of queues.
const PER_TRIAL: u64 = if cfg!(debug_assertions) { 5_000 } else { 20_000 };

fn program(scheme: Scheme) -> Program {
    let p4 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
    Program::compile(&p4, scheme.program()).unwrap_or_else(|error| panic!("{error}"))
}

fn check(scheme: Scheme) -> Tally {
    let program = program(scheme);
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
    assert_eq!(tally.packets, PACKETS);
    assert!(tally.queued > PACKETS / 10, "hardly anything was queued: {tally:?}");
    assert!(tally.full > PACKETS / 100, "hardly any queue was full: {tally:?}");
    assert!(tally.changes > PACKETS / 1000, "hardly anything changed: {tally:?}");
    tally
}

#[test]
fn fifo_decides_as_its_model() {
    assert_eq!(check(Scheme::Fifo).refused, 0);
}

#[test]
fn fifo_on_a_sorted_port_is_pifo() {
    assert!(check(Scheme::Pifo).pushed_out > PACKETS / 100);
}

#[test]
fn fdpa_decides_as_its_model() {
    check(Scheme::Fdpa);
}

#[test]
fn aifo_decides_as_its_model() {
    assert!(check(Scheme::Aifo).refused > PACKETS / 100);
}

#[test]
fn rifo_decides_as_its_model() {
    assert!(check(Scheme::Rifo).refused > PACKETS / 100);
}

#[test]
fn packs_decides_as_its_model() {
    assert!(check(Scheme::Packs).refused > PACKETS / 100);
}

#[test]
fn sp_pifo_decides_as_its_model() {
    check(Scheme::SpPifo);
}

/// The report on a model that is wrong like this.
fn report(scheme: Scheme, mistake: fn(&mut Parameters, &mut Packet)) -> String {
    let trial = Trial {
        scheme,
        seed: 3,
        packets: 20_000,
        mistake: Some(mistake),
    };
    match run(&program(scheme), &trial) {
        Err(Mismatch::Differ(report)) => report,
        other => panic!("the mistake was not found: {other:?}"),
    }
}

#[test]
fn a_model_with_another_headroom_is_found_out() {
    let report = report(Scheme::Aifo, |parameters, _| {
        if let Parameters::Aifo(config) = parameters {
            let other = config.headroom.numerator() as u32 ^ 8;
            config.headroom = Headroom::new(other, 8).unwrap();
        }
    });
    for part in [
        "aifo.p4 differs",
        "seed",
        "3, 20000 packets",
        "number",
        "headroom",
        "window, by register",
    ] {
        assert!(report.contains(part), "no '{part}' in\n{report}");
    }
}

#[test]
fn a_model_whose_queue_holds_one_packet_more_is_found_out() {
    let report = report(Scheme::Rifo, |parameters, _| {
        if let Parameters::Rifo(config) = parameters {
            config.capacity += 1;
        }
    });
    assert!(report.contains("decision: the model says Queued"), "{report}");
}

#[test]
fn a_model_that_now_and_then_misreads_a_rank_is_found_out() {
    let report = report(Scheme::Packs, |_, packet| {
        if packet.id % 100 == 0 {
            packet.rank ^= 1;
        }
    });
    assert!(report.contains("window, by register"), "{report}");
}

#[test]
fn a_model_that_charges_a_user_a_byte_more_is_found_out() {
    let report = report(Scheme::Fdpa, |_, packet| packet.len += 1);
    assert!(report.contains("fdpa.p4 differs"), "{report}");
}

/// A directory like `p4/`, in which `include/rate_estimator.p4` has `new` for `old`.
fn with_other_estimator(old: &str, new: &str) -> tempfile::TempDir {
    let p4 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
    let copy = tempfile::tempdir().unwrap();
    for folder in ["", "include", "shared"] {
        std::fs::create_dir_all(copy.path().join(folder)).unwrap();
        for entry in std::fs::read_dir(p4.join(folder)).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "p4") {
                std::fs::copy(&file, copy.path().join(folder).join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    let file = copy.path().join("include/rate_estimator.p4");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches(old).count(), 1, "'{old}' in {}", file.display());
    std::fs::write(&file, text.replace(old, new)).unwrap();
    copy
}

#[test]
fn a_wrong_shift_for_a_pause_of_any_length_is_found_out() {
    for (old, new) in [
        ("elapsed >> 1", "elapsed >> 2"),
        ("elapsed >> 2", "elapsed >> 1"),
        ("elapsed >> 3", "elapsed >> 2"),
        ("elapsed >> 4", "elapsed >> 5"),
        ("bytes >> 1", "bytes >> 2"),
        ("bytes >> 2", "bytes >> 1"),
        ("bytes >> 3", "bytes >> 4"),
        ("rate = 0", "rate = bytes >> 4"),
    ] {
        let p4 = with_other_estimator(old, new);
        let program = Program::compile(p4.path(), "fdpa").unwrap();
        let found = (0..10).find(|&seed| {
            let trial = Trial {
                scheme: Scheme::Fdpa,
                seed,
                packets: 20_000,
                mistake: None,
            };
            matches!(run(&program, &trial), Err(Mismatch::Differ(_)))
        });
        println!("'{new}' for '{old}': found by seed {found:?}");
        assert!(found.is_some(), "'{new}' for '{old}' was not found out");
    }
}

#[test]
fn programs_and_models_agree_on_the_inversions_of_the_packs_paper() {
    let count = if cfg!(debug_assertions) { 2_000 } else { 50_000 };
    for (distribution, seed) in [
        (RankDistribution::Uniform, 1),
        (RankDistribution::InverseExponential, 2),
    ] {
        let sampler = RankSampler::new(distribution, 100).unwrap();
        let ranks = independent(&sampler, count, &mut seeded(seed));
        let setup = Setup {
            window: 20,
            ..Setup::PAPER
        };
        for scheme in inversions::Scheme::ALL {
            let compiled = program(stepped::scheme(scheme));
            let found = stepped::run(&compiled, stepped::scheme(scheme), &setup, &ranks).unwrap();
            let expected = setup.run(scheme, &ranks).unwrap();
            assert!(found == expected, "{} of {distribution:?} ranks", scheme.name());
            assert!(expected.total_drops() > 0);
        }
    }
}

#[test]
fn a_window_longer_than_the_programs_have_is_refused() {
    let error = stepped::run(&program(Scheme::Packs), Scheme::Packs, &Setup::PAPER, &[1]).unwrap_err();
    assert!(error.to_string().contains("1 to 32 ranks"), "{error}");
}
