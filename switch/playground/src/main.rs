//! `p4sched-playground`: the lab's programs for a browser. The page runs it in a worker, with its files in memory
//! (`playground/README.md`).
//!
//! `check` and `ask` read a request from standard input, as JSON, and print the answer as JSON. `p4c` is the compiler. All
//! other words are a program of `p4sched-tools` and its command line.

mod editor;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::iter;
use std::process::ExitCode;

use p4sched_compiler::cli;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().collect();
    match words.get(1).and_then(|word| word.to_str()) {
        Some("p4c") => cli::run(iter::once("p4sched-p4c".into()).chain(words.into_iter().skip(2))),
        Some("check") => answered(editor::check),
        Some("ask") => answered(editor::ask),
        _ => p4sched_tools::main(words, |_| None),
    }
}

/// Prints the answer to the request on standard input. An error is one line on standard error.
fn answered<R: DeserializeOwned>(rule: impl FnOnce(&R) -> Result<Value, String>) -> ExitCode {
    let request = serde_json::from_reader(io::stdin().lock()).map_err(|error| format!("the request: {error}"));
    let answer = request.and_then(|request| rule(&request));
    let written = match &answer {
        Ok(value) => writeln!(io::stdout(), "{value}"),
        Err(sentence) => writeln!(io::stderr(), "{sentence}"),
    };
    match answer.is_ok() && written.is_ok() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
