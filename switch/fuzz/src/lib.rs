//! Inputs that nobody would make, for the switch and the compiler.
//!
//! Every input is a text. Four kinds of text go to four targets; an input that makes one of them panic, take too long or
//! contradict itself is a find.

pub mod mutate;
mod programs;
mod script;
pub mod shorten;
pub mod target;

/// The folder of the inputs, with a folder for each target.
pub const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");

pub use script::Sessions;
pub use target::Target;
