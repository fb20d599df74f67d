//! Inputs that nobody would make: what the switch and the compiler do with them.
//!
//! Every input is a text. Four kinds of text go to four targets; an input that makes one of them panic, take too long or
//! contradict itself is a find.

pub mod mutate;
mod programs;
mod script;
pub mod shorten;
pub mod target;

pub use script::Sessions;
pub use target::Target;
