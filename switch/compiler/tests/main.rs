//! What the compiler accepts, says and writes.

mod command_line;
mod common;
mod language;
mod messages;
mod output;
mod robustness;
mod stages;
