//! The decisions of a program and of its model on each packet of a trace. A request is a line of standard input with a
//! JSON object (`decisions.rs`). An answer is a line of standard output: the decisions, or `{"error": "..."}`.

use std::ffi::OsString;
use std::io::{self, BufRead, Write as _};
use std::process::ExitCode;

use clap::Parser;
use p4sched_simulator::decisions::{Decisions, Request};
use serde_json::json;

use crate::exit_code::exit_code;

/// Decisions of a program and its model on each packet of a trace: requests as JSON lines on standard input, answers as
/// JSON lines on standard output.
#[derive(Debug, Parser)]
#[command(name = "p4sched-decisions", version)]
struct Args {}

pub fn main(words: Vec<OsString>) -> ExitCode {
    Args::parse_from(words);
    // A panic becomes an answer; a stack trace is not needed.
    std::panic::set_hook(Box::new(|_| {}));
    exit_code("p4sched-decisions", run())
}

fn run() -> io::Result<()> {
    let mut output = io::stdout().lock();
    let mut decisions = Decisions::default();
    for line in io::stdin().lock().lines() {
        let request = serde_json::from_str::<Request>(&line?).map_err(|error| error.to_string());
        let answered = request.and_then(|request| decisions.answer(&request));
        writeln!(output, "{}", answered.unwrap_or_else(|error| json!({"error": error})))?;
        output.flush()?;
    }
    Ok(())
}
