//! See the library: this is the program.

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    p4sched_tools::main(env::args_os().collect(), |_| None)
}
