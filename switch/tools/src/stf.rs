//! `p4sched-stf`: runs one script against one program. `p4sched stf` calls it for whole folders.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use p4sched_stf::{run, script};

/// Runs a Simple Test Framework file against a program, in stepped time: exit code 0 if it passes, 1 if it fails, 2 if
/// it cannot run.
#[derive(Debug, Parser)]
#[command(name = "p4sched-stf", version)]
struct Args {
    /// Program (BMv2 JSON).
    program: PathBuf,
    /// Script (STF).
    script: PathBuf,
    /// Also print values that commands of the script read.
    #[arg(short, long)]
    verbose: bool,
}

/// The exit code if a file cannot be read or is malformed.
const CANNOT_RUN: u8 = 2;

pub fn main(words: Vec<OsString>) -> ExitCode {
    let args = Args::parse_from(words);
    let run = || -> Result<p4sched_stf::Outcome, String> {
        let read = |path: &PathBuf| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let (json, text) = (read(&args.program)?, read(&args.script)?);
        let lines = script::parse(&String::from_utf8_lossy(&text))?;
        run(&json, &lines).map_err(|problem| format!("{}: {problem}", args.program.display()))
    };
    match run() {
        Ok(outcome) => {
            if args.verbose {
                outcome.output.iter().for_each(|line| println!("{line}"));
            }
            outcome.failures.iter().for_each(|failure| println!("{failure}"));
            ExitCode::from(u8::from(!outcome.failures.is_empty()))
        }
        Err(problem) => {
            println!("{problem}");
            ExitCode::from(CANNOT_RUN)
        }
    }
}
