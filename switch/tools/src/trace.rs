//! Prints a trace of arrivals and of the model's decisions, for a switch that runs in real time.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;
use p4sched_schedulers::Scheme;
use p4sched_simulator::{options, trace};

use crate::exit_code::exit_code;

/// Arrivals, the reference model's decision on each, and the packet that departs after each burst, as JSON.
#[derive(Debug, Parser)]
#[command(name = "p4sched-trace", version)]
struct Args {
    /// A scheme with one queue that is served in order.
    #[arg(value_parser = options::scheme(trace::has_trace))]
    scheme: Scheme,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Smallest number of packets.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    packets: u32,
}

pub fn main(words: Vec<OsString>) -> ExitCode {
    exit_code("p4sched-trace", run(&Args::parse_from(words)))
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let trace = trace::trace(args.scheme, args.seed, args.packets as usize)?;
    writeln!(io::stdout(), "{trace}")?;
    Ok(())
}
