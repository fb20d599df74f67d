//! `p4sched-p4c`: the command line of the compiler, with the flags of `p4c-bm2-ss`. Under the name `p4c` it works like
//! the driver `p4c`.

use std::process::ExitCode;

fn main() -> ExitCode {
    p4sched_compiler::cli::run(std::env::args_os())
}
