//! Every program makes the same decisions as its model, for every packet. A wrong model is detected.

mod lane;
mod lockstep;
mod trial;

use std::path::Path;

use lockstep::run;
use p4sched_schedulers::{Config, Headroom, Packet, Scheme, Sizes, Target};
use p4sched_simulator::parameters::Parameters;
use p4sched_simulator::program::Program;
use p4sched_simulator::switch::Switch;
use p4sched_simulator::workload::{RankDistribution, RankSampler, independent, seeded};
use p4sched_simulator::{inversions, stepped};
use trial::{Mismatch, Tally, Trial};

/// The number of packets for each program. With the interpreter, they test the same program a second time.
fn packets() -> u64 {
    match (cfg!(debug_assertions), interprets()) {
        (true, _) => 20_000,
        (false, true) => 100_000,
        (false, false) => 1_000_000,
    }
}

/// The number of packets in one trial. Each trial loads the program again, with other flows and numbers of queues.
const PER_TRIAL: u64 = if cfg!(debug_assertions) { 5_000 } else { 20_000 };

/// The macros for building a program, with or without worker packets.
fn macros(worker: bool) -> &'static [&'static str] {
    if worker { &["WORKER_PACKETS"] } else { &[] }
}

/// Whether programs are interpreted instead of compiled. `make test` runs the tests both ways.
fn interprets() -> bool {
    std::env::var_os("P4SCHED_INTERPRET").is_some()
}

fn program(scheme: Scheme, target: Target, worker: bool) -> Program {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(target.directory());
    let program = Program::compile_with(&directory, scheme.p4().program, target, macros(worker));
    let mut program = program.unwrap_or_else(|error| panic!("{error}"));
    if interprets() {
        program.interpret();
    }
    program
}

/// Runs a program and its model side by side over this many packets, one trial after the other.
fn check(scheme: Scheme, target: Target, worker: bool, packets: u64) -> Tally {
    let program = program(scheme, target, worker);
    let mut tally = Tally::default();
    for seed in 0..packets / PER_TRIAL {
        let trial = Trial {
            scheme,
            target,
            worker,
            seed,
            packets: PER_TRIAL,
            mistake: None,
        };
        tally += run(&program, &trial).unwrap_or_else(|mismatch| panic!("\n{mismatch}"));
    }
    println!("{scheme:?} for {}, {:?}: {tally:?}", target.name(), macros(worker));
    assert_eq!(tally.packets, packets);
    assert!(tally.queued > packets / 10, "hardly anything was queued: {tally:?}");
    assert!(tally.full > packets / 100, "hardly any queue was full: {tally:?}");
    assert!(tally.changes > packets / 1000, "hardly anything changed: {tally:?}");
    tally
}

/// Checks a scheme on every target for which it has a program.
fn check_all(scheme: Scheme) {
    for &target in scheme.targets() {
        check(scheme, target, false, packets());
    }
}

macro_rules! test_each {
    ($($module:ident: $Scheme:ident, $what:literal;)*) => {
        $(
            #[doc = $what]
            #[test]
            fn $module() {
                super::check_all(p4sched_schedulers::Scheme::$Scheme);
            }
        )*
    };
}

/// One test for each scheme, with the name of the scheme.
mod decides_as_its_model {
    p4sched_schedulers::each_scheme!(test_each);

    /// AIFO as its authors built it: a worker packet brings the length of the queue to ingress.
    #[test]
    fn aifo_with_worker_packets() {
        for target in [super::Target::V1model, super::Target::Tna] {
            super::check(super::Scheme::Aifo, target, true, super::packets());
        }
    }
}

#[test]
fn admission_rules_refuse_often_and_a_sorted_queue_often_pushes_out() {
    let packets = 5 * PER_TRIAL;
    for scheme in [Scheme::Aifo, Scheme::Rifo, Scheme::Packs] {
        assert!(
            check(scheme, Target::V1model, false, packets).refused > packets / 100,
            "{scheme:?}"
        );
    }
    assert!(check(Scheme::Pifo, Target::V1model, false, packets).pushed_out > packets / 100);
    assert_eq!(check(Scheme::Fifo, Target::V1model, false, packets).refused, 0);
}

#[test]
fn the_registry_names_the_parameters_of_each_program() {
    for &scheme in Scheme::ALL {
        let p4 = scheme.p4();
        for &target in scheme.targets() {
            let switch = Switch::new(&program(scheme, target, false), scheme).unwrap();
            let params = switch.action_params(p4.table, p4.action).iter();
            let names: Vec<&str> = params.map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, p4.parameters, "{scheme:?} for {}", target.name());
        }
    }
}

/// The report about a model with this mistake.
fn report(scheme: Scheme, mistake: fn(&mut Parameters, &mut Packet)) -> String {
    let trial = Trial {
        scheme,
        target: Target::V1model,
        worker: false,
        seed: 3,
        packets: 20_000,
        mistake: Some(mistake),
    };
    match run(&program(scheme, Target::V1model, false), &trial) {
        Err(Mismatch::Differ(report)) => report,
        other => panic!("the mistake was not found: {other:?}"),
    }
}

#[test]
fn a_model_with_another_headroom_is_found_out() {
    let report = report(Scheme::Aifo, |parameters, _| {
        if let Config::Aifo(config) = &mut parameters.config {
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
        if let Config::Rifo(config) = &mut parameters.config {
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

/// Copies the programs of all targets and replaces `old` by `new` in one file. The path of the file starts at the
/// target's folder.
fn with_other_line(target: Target, file: &str, old: &str, new: &str) -> tempfile::TempDir {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let copy = tempfile::tempdir().unwrap();
    for folder in ["p4", "p4/include", "p4/shared", "tofino-port", "tofino-port/include"] {
        std::fs::create_dir_all(copy.path().join(folder)).unwrap();
        for entry in std::fs::read_dir(project.join(folder)).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "p4") {
                std::fs::copy(&file, copy.path().join(folder).join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    let file = copy.path().join(target.directory()).join(file);
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches(old).count(), 1, "'{old}' in {}", file.display());
    std::fs::write(&file, text.replace(old, new)).unwrap();
    copy
}

/// Whether a trial of the program with `new` instead of `old` ends in a mismatch.
fn is_found_out(scheme: Scheme, target: Target, worker: bool, file: &str, old: &str, new: &str) {
    let copy = with_other_line(target, file, old, new);
    let directory = copy.path().join(target.directory());
    let program = Program::compile_with(&directory, scheme.p4().program, target, macros(worker)).unwrap();
    let found = (0..10).find(|&seed| {
        let trial = Trial {
            scheme,
            target,
            worker,
            seed,
            packets: 20_000,
            mistake: None,
        };
        matches!(run(&program, &trial), Err(Mismatch::Differ(_)))
    });
    println!("'{new}' for '{old}': found by seed {found:?}");
    assert!(found.is_some(), "'{new}' for '{old}' was not found out");
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
        is_found_out(
            Scheme::Fdpa,
            Target::V1model,
            false,
            "include/rate_estimator.p4",
            old,
            new,
        );
    }
}

#[test]
fn a_wrong_line_about_worker_packets_is_found_out() {
    for (target, old, new) in [
        (Target::V1model, "= hdr.worker.port + 1", "= hdr.worker.port + 2"),
        (
            Target::V1model,
            "standard_metadata.deq_qdepth",
            "standard_metadata.enq_qdepth",
        ),
        (Target::Tna, "= hdr.worker.port + 1", "= hdr.worker.port + 2"),
        (Target::Tna, "eg_intr_md.deq_qdepth", "eg_intr_md.enq_qdepth"),
    ] {
        is_found_out(Scheme::Aifo, target, true, "include/worker.p4", old, new);
    }
}

#[test]
fn a_wrong_line_in_a_program_for_tofino_is_found_out() {
    for (scheme, file, old, new) in [
        (Scheme::Rifo, "product", "other << 7", "other << 6"),
        (Scheme::Rifo, "rank_range", "value >= last", "value > last"),
        (Scheme::Rifo, "rifo_admission", "range == 0xffffffff", "range == 0"),
        (
            Scheme::Rifo,
            "rifo_admission",
            "surplus = score |-| share",
            "surplus = share |-| score",
        ),
        (Scheme::Rifo, "rifo_admission", "3: shift_3()", "3: shift_2()"),
        (
            Scheme::SpPifo,
            "sp_pifo_mapping",
            "bound.more_urgent |-| cost",
            "bound.more_urgent",
        ),
        (
            Scheme::SpPifo,
            "sp_pifo_mapping",
            "excess = bound |-| rank",
            "excess = 0",
        ),
        (Scheme::SpPifo, "sp_pifo_mapping", "taken != rank", "taken == rank"),
        (
            Scheme::SpPifo,
            "sp_pifo_mapping",
            "(0, 0, _): scan_only_more()",
            "(0, 0, _): scan()",
        ),
        (Scheme::Fdpa, "rate_estimator", "age == 1", "age != 0"),
        (
            Scheme::Fdpa,
            "rate_estimator",
            "0x00000600 &&& 0xfffffe00: every_5()",
            "0x00000600 &&& 0xfffffe00: every_4()",
        ),
        (
            Scheme::Fdpa,
            "rate_estimator",
            "last_seen > before",
            "last_seen >= before",
        ),
        (
            Scheme::Fdpa,
            "fdpa_bands",
            "rate |-| edges.edge_2",
            "rate |-| edges.edge_1",
        ),
    ] {
        is_found_out(scheme, Target::Tna, false, &format!("include/{file}.p4"), old, new);
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
        for &scheme in Scheme::ALL.iter().filter(|scheme| scheme.p4().ranks) {
            for &target in scheme.targets() {
                let sizes = Sizes {
                    window: target.max_window().min(20),
                    target,
                    ..Sizes::PAPER
                };
                let found = stepped::run(&program(scheme, target, false), scheme, &sizes, &ranks).unwrap();
                let expected = inversions::of_scheme(scheme, &sizes, &ranks).unwrap();
                let what = format!("{} for {} of {distribution:?} ranks", scheme.name(), target.name());
                assert!(found == expected, "{what}");
                assert!(expected.total_drops() > 0, "{what}");
            }
        }
    }
}

#[test]
fn a_window_longer_than_the_programs_have_is_refused() {
    let error = stepped::run(
        &program(Scheme::Packs, Target::V1model, false),
        Scheme::Packs,
        &Sizes::PAPER,
        &[1],
    )
    .unwrap_err();
    assert!(error.to_string().contains("1 to 32 ranks"), "{error}");
}
