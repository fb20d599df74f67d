//! One port of a compiled ranked program in stepped time. Commands are JSON lines on standard input:
//!
//! - `{"parameters": [20, 20, 26, 20, 15]}` sets the program's parameters;
//! - `{"run_until_ns": 100000000}` advances time; the answer on standard output is a line with the program's counters.
//!
//! When the input ends, all waiting packets are sent. Then the output file gets one line for each arrival: the time in
//! ns at which its last bit left, or -1 if it was dropped.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{BufRead, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use p4sched_schedulers::{Scheme, Target};
use p4sched_simulator::arrivals;
use p4sched_simulator::controlled::ControlledPort;
use p4sched_simulator::options;
use p4sched_simulator::program::Program;
use serde_json::Value;

use crate::exit_code::exit_code;

/// One port of a compiled program in stepped time, with a controller at standard input and output.
#[derive(Debug, Parser)]
#[command(name = "p4sched-stepped-port", version)]
struct Args {
    /// A scheme that knows ranks.
    #[arg(long, value_parser = options::scheme(options::is_ranked))]
    scheme: Scheme,
    /// Rate of the link in bit/s of Ethernet frames.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000_000))]
    rate_bps: u64,
    /// Packets that each queue of the traffic manager holds.
    #[arg(long, default_value_t = 65_535, value_parser = clap::value_parser!(u32).range(1..))]
    room: u32,
    /// Arrivals, written by `p4sched-traffic udp-schedule`.
    #[arg(long)]
    arrivals: PathBuf,
    /// Folder of the P4 programs.
    #[arg(long, default_value = "p4")]
    p4_dir: PathBuf,
    /// File for the departures.
    #[arg(long)]
    output: PathBuf,
}

pub fn main(words: Vec<OsString>) -> ExitCode {
    exit_code("p4sched-stepped-port", run(&Args::parse_from(words)))
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let arrivals = arrivals::read_file(&args.arrivals)?;
    let program = Program::of_scheme(args.scheme, &args.p4_dir, Target::V1model)?;
    let mut port = ControlledPort::new(&program, args.scheme, args.rate_bps, args.room, arrivals)?;
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line?)?;
        if let Some(data) = numbers(&command["parameters"]) {
            port.set_parameters(&data)?;
        } else if let Some(now) = command["run_until_ns"].as_u64() {
            port.run_until(now);
            writeln!(output, "{}", port.counters()?)?;
            output.flush()?;
        } else {
            return Err(format!("unknown command {command}: use parameters or run_until_ns").into());
        }
    }
    let mut lines = String::new();
    for departed in port.finish() {
        match departed {
            Some(at) => writeln!(lines, "{at}")?,
            None => lines.push_str("-1\n"),
        }
    }
    std::fs::write(&args.output, lines).map_err(|error| format!("cannot write {}: {error}", args.output.display()))?;
    Ok(())
}

fn numbers(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}
