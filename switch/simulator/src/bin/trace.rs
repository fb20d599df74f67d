//! Prints a trace of arrivals and of the model's decisions, for a switch whose time cannot be stepped.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;
use p4sched_schedulers::Scheme;
use p4sched_simulator::{options, trace};

/// Arrivals, what the reference model decides on each, and which packet departs after each burst, as JSON.
#[derive(Debug, Parser)]
#[command(name = "p4sched-trace", version)]
struct Args {
    /// A scheme with one queue that is served in order.
    #[arg(value_parser = options::scheme(trace::has_trace))]
    scheme: Scheme,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Packets that arrive, at least.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    packets: u32,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to be told when that fails too.
            let _ = writeln!(io::stderr(), "p4sched-trace: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let trace = trace::trace(args.scheme, args.seed, args.packets as usize)?;
    writeln!(io::stdout(), "{trace}")?;
    Ok(())
}
