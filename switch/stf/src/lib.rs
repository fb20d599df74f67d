//! Simple Test Framework (STF): what enters a program, and what has to come out.
//!
//! Facts come from p4c (`tools/stf`, `backends/bmv2/bmv2stf.py`). A script runs in stepped time: no ports, no root.

mod names;
mod run;
pub mod script;
mod value;

pub use run::{Outcome, run};
