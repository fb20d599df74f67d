//! The experiment of PACKS section 6.1 in stepped time: 11 Gbit/s of ranked packets over 10 Gbit/s, through the
//! reference models or the compiled P4 programs. Prints JSON.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use p4sched_schedulers::{Rank, Scheme, Sizes};
use p4sched_simulator::arrivals::{self, Arrival};
use p4sched_simulator::attack::{lowest_rank_delay, weighted_drops};
use p4sched_simulator::inversions::{self, Outcome};
use p4sched_simulator::options::{self, PortOptions, count};
use p4sched_simulator::replay::{ReplayResult, Scheduler};
use p4sched_simulator::stepped;
use p4sched_simulator::workload::{RankDistribution, RankSampler, independent, seeded};
use serde_json::{Map, Value, json};

use crate::exit_code::exit_code;

/// PACKS 6.1 in stepped time: 11 Gbit/s of ranked packets over a link of 10 Gbit/s.
#[derive(Debug, Parser)]
#[command(name = "p4sched-stepped", version)]
struct Args {
    /// Print all schemes, a line of JSON for each, and exit.
    #[arg(long)]
    list_schemes: bool,
    /// Distribution of the ranks: uniform, poisson, exponential, inverse-exponential or convex.
    #[arg(long, default_value = "uniform")]
    ranks: RankDistribution,
    /// Number of ranks: 0 to N-1.
    #[arg(long, default_value_t = 100)]
    rank_count: usize,
    #[command(flatten)]
    port: PortOptions,
    /// Schemes, separated by commas [default: all that have a program].
    #[arg(long, value_delimiter = ',', value_parser = options::scheme(options::is_ranked))]
    schemes: Vec<Scheme>,
    /// Seed of the ranks.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of packets; 916666 are one second of 1500-byte packets at 11 Gbit/s.
    #[arg(long, default_value_t = 916_666, value_parser = count::<0, 100_000_000>)]
    packets: usize,
    /// Use the packets of this CSV file instead of random ones; `p4sched-traffic udp-schedule` and `p4sched-attack`
    /// write such files. The link has 8 Gbit/s, one byte a nanosecond.
    #[arg(long, conflicts_with_all = ["ranks", "rank_count", "seed", "packets"])]
    arrivals: Option<PathBuf>,
    /// Output file for the JSON [default: standard output].
    #[arg(long)]
    output: Option<PathBuf>,
}

pub fn main(words: Vec<OsString>) -> ExitCode {
    exit_code("p4sched-stepped", run(&Args::parse_from(words)))
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.list_schemes {
        return print(&options::listing());
    }
    let sizes = args.port.sizes()?;
    let schemes = requested_schemes(args, &sizes)?;
    let summary = match &args.arrivals {
        None => at_random(args, &sizes, &schemes)?,
        Some(file) => replayed(args, &sizes, &schemes, &arrivals::read_file(file)?)?,
    };
    let text = format!("{summary:#}\n");
    match &args.output {
        None => print(&text)?,
        Some(file) => {
            std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        }
    }
    Ok(())
}

/// The requested schemes. Refuses sizes that do not suit one of them.
fn requested_schemes(args: &Args, sizes: &Sizes) -> Result<Vec<Scheme>, Box<dyn Error>> {
    let mut schemes = args.schemes.clone();
    if schemes.is_empty() {
        let ranked = Scheme::ALL.iter().filter(|&&scheme| options::is_ranked(scheme));
        let has_program = |scheme: &Scheme| scheme.targets().contains(&args.port.target);
        schemes = ranked.copied().filter(has_program).collect();
    }
    for &scheme in &schemes {
        sizes.model(scheme, &[])?;
    }
    Ok(schemes)
}

fn at_random(args: &Args, sizes: &Sizes, requested: &[Scheme]) -> Result<Value, Box<dyn Error>> {
    let sampler = RankSampler::new(args.ranks, args.rank_count)?;
    let ranks = independent(&sampler, args.packets, &mut seeded(args.seed));
    let mut schemes = Map::new();
    for &scheme in requested {
        let outcome = match args.port.program(scheme)? {
            None => inversions::of_scheme(scheme, sizes, &ranks)?,
            Some(program) => stepped::run(&program, scheme, sizes, &ranks)?,
        };
        schemes.insert(scheme.name().to_owned(), summary(&outcome, args.rank_count));
    }
    Ok(json!({
        "with": args.port.with.name(),
        "target": sizes.target.name(),
        "ranks": args.ranks.name(),
        "rank_count": args.rank_count,
        "packets": args.packets,
        "seed": args.seed,
        "window": sizes.window,
        "queues": sizes.queues,
        "queue_size": sizes.queue_size,
        "headroom_256": args.port.headroom_256,
        "window_shift": sizes.window_shift,
        "schemes": schemes,
    }))
}

/// Runs the packets of a trace.
fn replayed(args: &Args, sizes: &Sizes, requested: &[Scheme], trace: &[Arrival]) -> Result<Value, Box<dyn Error>> {
    let mut schemes = Map::new();
    for &scheme in requested {
        let program = args.port.program(scheme)?;
        let played = Scheduler::new(scheme, sizes, program.as_ref())?.play(trace)?;
        let ReplayResult { outcome, .. } = &played;
        let report = json!({
            "inversions": outcome.total_inversions(),
            "drops": outcome.total_drops(),
            "departures": outcome.sent.len(),
            "lowest_rank_dropped": outcome.lowest_rank_dropped(),
            "weighted_drops": weighted_drops(&played, trace),
            "lowest_rank_delay_ns": lowest_rank_delay(&played, trace, sizes.buffer()),
        });
        schemes.insert(scheme.name().to_owned(), report);
    }
    Ok(json!({
        "with": args.port.with.name(),
        "target": sizes.target.name(),
        "packets": trace.len(),
        "window": sizes.window,
        "queues": sizes.queues,
        "queue_size": sizes.queue_size,
        "headroom_256": args.port.headroom_256,
        "window_shift": sizes.window_shift,
        "schemes": schemes,
    }))
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
