//! The exit of a program.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// The exit code. An error is printed as one line on standard error, after the program's name.
pub fn exit_code(program: &str, result: Result<(), impl Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If this fails too, nobody reads the error.
            let _ = writeln!(io::stderr(), "{program}: {error}");
            ExitCode::FAILURE
        }
    }
}
