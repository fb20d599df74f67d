//! `p4sched-lsp`: the language server. Editors start it through `p4sched lsp`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::exit_code::exit_code;

/// Serves an editor on standard input and output, over the Language Server Protocol.
#[derive(Debug, Parser)]
#[command(name = "p4sched-lsp", version)]
struct Args {
    /// Directory to search for included files.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Serve on standard input and output. Some editors give this option; there is no other way.
    #[arg(long)]
    stdio: bool,
}

pub fn main(words: Vec<OsString>) -> ExitCode {
    let args = Args::parse_from(words);
    exit_code("p4sched-lsp", p4sched_language_server::run(&args.include))
}
