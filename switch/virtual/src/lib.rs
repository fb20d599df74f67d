//! A network in virtual time: P4Runtime switches and end hosts that exchange whole frames, without a wall clock.
//!
//! Programs, controllers and traffic are the same as in the emulation, but nothing is ever late: time advances only
//! while every participant of the lock step waits for it.
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
