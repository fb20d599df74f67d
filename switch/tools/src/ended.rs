//! Exit of a program.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// The exit code. An error is one line on standard error, behind the program's name.
pub fn ended(program: &str, result: Result<(), impl Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to be told when that fails too.
            let _ = writeln!(io::stderr(), "{program}: {error}");
            ExitCode::FAILURE
        }
    }
}
