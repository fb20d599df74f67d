//! A network in virtual time: P4Runtime switches, end hosts that speak whole frames, and no wall clock.
//!
//! The same programs, the same controllers and the same traffic as in the emulation, but nothing is ever late: time goes on
//! when every participant of the lock step waits for it.

pub mod host;
pub mod run;
pub mod topology;
