//! Simple Test Framework (STF): scripts of frames that enter a program and frames that must leave it.
//!
//! Facts come from p4c (`tools/stf`, `backends/bmv2/bmv2stf.py`). A script runs in stepped time, without ports and
//! without root.

mod names;
mod run;
pub mod script;
mod value;

pub use run::{Outcome, run};
