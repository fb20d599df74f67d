//! `p4sched-p4c`: the compiler's command line, which takes the flags of `p4c-bm2-ss`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
