//! Searches for a trace on which one scheduler does much worse than another.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use p4sched_schedulers::Scheme;
use p4sched_simulator::arrivals::{self, Arrival};
use p4sched_simulator::attack::{FRAME_BYTES, Objective, Traces, lowest_rank_delay, search, weighted_drops};
use p4sched_simulator::options::{self, DecisionSource, PortOptions};
use p4sched_simulator::replay::{ReplayResult, Scheduler};
use serde_json::{Value, json};

use crate::exit_code::exit_code;

/// Searches for a trace of packets at one port on which one scheduler does much worse than another. Writes the trace as
/// CSV and the results of both as JSON. `p4sched-stepped --arrivals TRACE` shows the same figures.
#[derive(Debug, Parser)]
#[command(name = "p4sched-attack", version)]
struct Args {
    /// Scheme that should do badly.
    #[arg(value_parser = options::scheme(options::is_ranked))]
    scheme: Scheme,
    /// Scheme that should do better.
    #[arg(long, value_parser = options::scheme(options::is_ranked))]
    against: Scheme,
    /// Measure: inversions, drops (weighted by urgency) or delay of packets of rank 0.
    #[arg(long, value_enum, default_value = "inversions")]
    objective: Badness,
    #[command(flatten)]
    port: PortOptions,
    /// Number of packets in the trace.
    #[arg(long, default_value_t = 100)]
    packets: usize,
    /// Number of ranks: 0 to N-1.
    #[arg(long, default_value_t = 16)]
    rank_count: u32,
    /// Seed of the search.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of traces to try [default: 20000, with programs 2000; without limit if a time is given].
    #[arg(long)]
    steps: Option<usize>,
    /// Time of the search, in seconds.
    #[arg(long)]
    seconds: Option<f64>,
    /// Output file for the trace.
    #[arg(long)]
    trace: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Badness {
    Inversions,
    Drops,
    Delay,
}

impl From<Badness> for Objective {
    fn from(badness: Badness) -> Objective {
        match badness {
            Badness::Inversions => Objective::Inversions,
            Badness::Drops => Objective::Drops,
            Badness::Delay => Objective::Delay,
        }
    }
}

/// The default number of steps for models and for programs; a program needs more time for a trace.
const STEPS: (usize, usize) = (20_000, 2000);

pub fn main(words: Vec<OsString>) -> ExitCode {
    exit_code("p4sched-attack", run(&Args::parse_from(words)))
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.scheme == args.against {
        return Err(format!("{} against itself: the two are always equal", args.scheme.name()).into());
    }
    let deadline = args.seconds.map(deadline).transpose()?;
    let traces = Traces::new(args.packets, args.rank_count)?;
    let sizes = args.port.sizes()?;
    let (program, other_program) = (args.port.program(args.scheme)?, args.port.program(args.against)?);
    let mut attacked = Scheduler::new(args.scheme, &sizes, program.as_ref())?;
    let mut against = Scheduler::new(args.against, &sizes, other_program.as_ref())?;
    let (objective, buffer) = (Objective::from(args.objective), sizes.buffer());
    // Reports a program that does not load before the search starts.
    attacked.play(&[])?;
    against.play(&[])?;
    let cost = |scheduler: &mut Scheduler<'_>, trace: &[Arrival]| {
        let played = scheduler.play(trace).expect("it has played before");
        objective.cost(&played, trace, buffer)
    };
    let steps = args.steps.unwrap_or(match (deadline, args.port.with) {
        (Some(_), _) => usize::MAX,
        (None, DecisionSource::Model) => STEPS.0,
        (None, DecisionSource::P4) => STEPS.1,
    });
    let most = match objective {
        Objective::Inversions => args.packets as i64,
        Objective::Drops => args.packets as i64 * i64::from(args.rank_count - 1),
        Objective::Delay => (args.packets * buffer) as i64 * i64::from(FRAME_BYTES),
    };
    let gap = |trace: &[Arrival]| cost(&mut attacked, trace) - cost(&mut against, trace);
    let go_on = || deadline.is_none_or(|deadline| Instant::now() < deadline);
    let found = search(&traces, steps, most, args.seed, gap, go_on);
    let trace = &found.arrivals;
    std::fs::write(&args.trace, arrivals::write(trace))
        .map_err(|error| format!("cannot write {}: {error}", args.trace.display()))?;
    let replay = |scheduler: &mut Scheduler<'_>| -> Result<Value, Box<dyn Error>> {
        let played = scheduler.play(trace)?;
        Ok(report(&played, trace, buffer))
    };
    let result = json!({
        "with": args.port.with.name(),
        "target": sizes.target.name(),
        "window": sizes.window,
        "queues": sizes.queues,
        "queue_size": sizes.queue_size,
        "headroom_256": args.port.headroom_256,
        "window_shift": sizes.window_shift,
        "packets": args.packets,
        "rank_count": args.rank_count,
        "seed": args.seed,
        "steps": found.steps,
        "gap": found.gap,
        "schemes": {args.scheme.name(): replay(&mut attacked)?, args.against.name(): replay(&mut against)?},
    });
    writeln!(io::stdout(), "{result:#}")?;
    Ok(())
}

fn deadline(seconds: f64) -> Result<Instant, String> {
    let duration = Duration::try_from_secs_f64(seconds).ok();
    let deadline = duration.and_then(|duration| Instant::now().checked_add(duration));
    deadline.ok_or_else(|| format!("--seconds {seconds}: must be 0 or more, and not too large"))
}

/// The result of a scheduler on the trace.
fn report(played: &ReplayResult, trace: &[Arrival], buffer: usize) -> Value {
    json!({
        "inversions": played.outcome.total_inversions(),
        "drops": played.outcome.total_drops(),
        "departures": played.outcome.sent.len(),
        "lowest_rank_dropped": played.outcome.lowest_rank_dropped(),
        "weighted_drops": weighted_drops(played, trace),
        "lowest_rank_delay_ns": lowest_rank_delay(played, trace, buffer),
        "waited_ns": played.waited,
    })
}
