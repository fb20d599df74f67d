//! Unusual inputs for the switch and the compiler.
//!
//! Every input is a text. Each of the four targets takes its own kind of text. An input is a *find* if the target
//! panics, takes too long or contradicts itself.

pub mod mutate;
mod programs;
mod script;
pub mod shorten;
pub mod target;

/// The folder of the inputs, with one folder for each target.
pub const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");

pub use script::Sessions;
pub use target::Target;
