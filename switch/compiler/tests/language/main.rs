//! What programs do: each feature of the language compiled, run on the data plane, and compared with the specification.

#[path = "../common/mod.rs"]
mod common;

mod arithmetic;
mod calls;
mod expressions;
mod externs;
mod headers;
mod operands;
mod parsers;
mod statements;
mod tables;
