//! A network in virtual time: P4Runtime switches, end hosts that speak whole frames, and no wall clock.
//!
//! The same programs, the same controllers and the same traffic as in the emulation, but nothing is ever late: time advances
//! when every participant of the lock step waits for it.
//!
//! ```text
//! controllers --P4Runtime--> p4sched_p4runtime --jobs--+
//! the laboratory --Simulation--> service --requests----+--> lockstep --> world: switches, hosts, wires
//! ```

pub mod host;
pub mod kernel;
pub mod lockstep;
pub mod model;
pub mod run;
pub mod server;
pub mod service;
pub mod world;
