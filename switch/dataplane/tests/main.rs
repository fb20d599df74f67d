//! Programs run packet by packet.

mod common;
mod externs;
mod parser;
mod robustness;
mod switch;
mod tables;
mod tofino;
mod tofino_programs;
