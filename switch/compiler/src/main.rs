//! `p4sched-p4c`: the compiler's command line, which takes the flags of `p4c-bm2-ss`. Under the name `p4c` it is the driver of that
//! name.

mod cli;
mod p4c_options;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
