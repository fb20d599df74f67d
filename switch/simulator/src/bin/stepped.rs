//! The experiment of PACKS 6.1 in stepped time: 11 Gbit/s of ranked packets over 10 Gbit/s, through the reference models or
//! through the compiled P4 programs. Prints JSON.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use p4sched_schedulers::{Headroom, Rank, Scheme, Sizes, Target};
use p4sched_simulator::inversions::{self, Outcome};
use p4sched_simulator::program::Program;
use p4sched_simulator::workload::{RankDistribution, RankSampler, independent, seeded};
use p4sched_simulator::{options, stepped};
use serde_json::{Map, Value, json};

/// Window of the paper, in ranks.
const PAPER_WINDOW: usize = 1000;

/// PACKS 6.1 in stepped time: 11 Gbit/s of ranked packets over a link of 10 Gbit/s.
#[derive(Debug, Parser)]
#[command(name = "p4sched-stepped", version)]
struct Args {
    /// Prints all schemes that there are, a line of JSON for each, and does nothing else.
    #[arg(long)]
    list_schemes: bool,
    /// What decides: the reference models or the compiled P4 programs.
    #[arg(long, value_enum, default_value = "model")]
    with: With,
    /// Distribution of the ranks: uniform, poisson, exponential, inverse-exponential or convex.
    #[arg(long, default_value = "uniform")]
    ranks: RankDistribution,
    /// Ranks are 0 to this, exclusive.
    #[arg(long, default_value_t = 100)]
    rank_count: usize,
    /// Whose programs, or whose rules in the models: v1model, tna or t2na.
    #[arg(long, default_value = "v1model")]
    target: Target,
    /// |W| of AIFO and PACKS and T of RIFO, in packets [default: 1000 for the models, 32 for P4, 16 for a Tofino].
    #[arg(long)]
    window: Option<usize>,
    /// Schemes, separated by commas [default: all that there is a program for].
    #[arg(long, value_delimiter = ',', value_parser = options::scheme(options::is_ranked))]
    schemes: Vec<Scheme>,
    /// Seed of the ranks.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Packets that arrive; 916666 are one second of 1500-byte packets at 11 Gbit/s.
    #[arg(long, default_value_t = 916_666, value_parser = count::<0, 100_000_000>)]
    packets: usize,
    /// Queues of SP-PIFO and PACKS.
    #[arg(long, default_value_t = 8, value_parser = count::<1, 64>)]
    queues: usize,
    /// Packets in each queue; the single queues of the others hold as many as all queues together.
    #[arg(long, default_value_t = 10, value_parser = count::<1, 16_777_216>)]
    queue_size: usize,
    /// Headroom k in 1/256.
    #[arg(long, default_value_t = 0)]
    headroom_256: u32,
    /// Added to the ranks in the window of PACKS when they are compared; the models only.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    window_shift: i64,
    /// Where the P4 programs are [default: p4, tofino-port or tofino-port/t2na].
    #[arg(long)]
    p4_dir: Option<PathBuf>,
    /// Where the JSON goes [default: standard output].
    #[arg(long)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum With {
    /// The reference models.
    Model,
    /// The compiled P4 programs.
    P4,
}

/// A number within bounds.
fn count<const LEAST: usize, const MOST: usize>(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(value) if (LEAST..=MOST).contains(&value) => Ok(value),
        _ => Err(format!("it is a number from {LEAST} to {MOST}")),
    }
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to be told when that fails too.
            let _ = writeln!(io::stderr(), "p4sched-stepped: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.list_schemes {
        return print(&options::listing());
    }
    if args.with == With::P4 && args.window_shift != 0 {
        return Err("--window-shift: the P4 programs cannot shift their windows; use --with model".into());
    }
    let window = args.window.unwrap_or(match (args.with, args.target) {
        (With::Model, Target::V1model) => PAPER_WINDOW,
        _ => args.target.max_window(),
    });
    if args.target != Target::V1model && window > args.target.max_window() {
        let most = args.target.max_window();
        return Err(format!(
            "--window {window}: the programs for {} hold at most {most} ranks",
            args.target.name()
        )
        .into());
    }
    let sizes = Sizes {
        queues: args.queues,
        queue_size: args.queue_size,
        window,
        headroom: Headroom::new(args.headroom_256, 8)?,
        window_shift: args.window_shift,
        target: args.target,
    };
    let sampler = RankSampler::new(args.ranks, args.rank_count)?;
    let ranks = independent(&sampler, args.packets, &mut seeded(args.seed));
    let mut schemes = Map::new();
    let directory = args.p4_dir.clone();
    let directory = directory.unwrap_or_else(|| PathBuf::from(args.target.directory()));
    let has_program = |scheme: &Scheme| scheme.targets().contains(&args.target);
    let mut asked = args.schemes.clone();
    if asked.is_empty() {
        let ranked = Scheme::ALL.iter().filter(|&&scheme| options::is_ranked(scheme));
        asked = ranked.copied().filter(has_program).collect();
    }
    for scheme in asked {
        if !has_program(&scheme) {
            return Err(format!("there is no program of {} for {}", scheme.name(), args.target.name()).into());
        }
        // Both refuse sizes that they cannot work with.
        sizes.model(scheme, &[])?;
        let outcome = match args.with {
            With::Model => inversions::of_scheme(scheme, &sizes, &ranks)?,
            With::P4 => {
                let program = Program::compile(&directory, scheme.p4().program, args.target)?;
                stepped::run(&program, scheme, &sizes, &ranks)?
            }
        };
        schemes.insert(scheme.name().to_owned(), summary(&outcome, args.rank_count));
    }
    let summary = json!({
        "with": if args.with == With::P4 { "p4" } else { "model" },
        "target": args.target.name(),
        "ranks": args.ranks.name(),
        "rank_count": args.rank_count,
        "packets": args.packets,
        "seed": args.seed,
        "window": window,
        "queues": args.queues,
        "queue_size": args.queue_size,
        "headroom_256": args.headroom_256,
        "window_shift": args.window_shift,
        "schemes": schemes,
    });
    let text = format!("{summary:#}\n");
    match &args.output {
        None => print(&text)?,
        Some(file) => {
            std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        }
    }
    Ok(())
}

fn print(text: &str) -> Result<(), Box<dyn Error>> {
    let printed = io::stdout().write_all(text.as_bytes());
    printed.map_err(|error| format!("cannot write to standard output: {error}").into())
}

fn summary(outcome: &Outcome, rank_count: usize) -> Value {
    let by_rank = |counts: &BTreeMap<Rank, u64>| -> Vec<u64> {
        let count = |rank| counts.get(&rank).copied().unwrap_or(0);
        (0..rank_count as Rank).map(count).collect()
    };
    json!({
        "inversions": outcome.total_inversions(),
        "drops": outcome.total_drops(),
        "departures": outcome.sent.len(),
        "lowest_rank_dropped": outcome.lowest_rank_dropped(),
        "inversions_by_rank": by_rank(&outcome.inversions),
        "drops_by_rank": by_rank(&outcome.drops),
        "departures_by_rank": by_rank(&outcome.departures),
    })
}
