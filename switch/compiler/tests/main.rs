//! Tests of the compiler: input, messages and output.

mod command_line;
mod common;
mod language;
mod messages;
mod output;
mod robustness;
mod stages;
