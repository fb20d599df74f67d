//! Whole networks in virtual time: hosts with transport protocols, links, switches.
//!
//! ```text
//! scenario --> setup --> world --> results
//!                          |
//!    hosts: both ends of each flow (p4sched-transport)
//!         | packets
//!    ports: scheduler, wire --> fabric: routes, models or programs --> ports --> ...
//! ```
//!
//! The loop is that of [`p4sched_world::world`]. A run is a function of its [`setup::Setup`]: the same setup gives the same
//! results, byte for byte.

pub mod by_queue;
pub mod by_rank;
pub mod connections;
pub mod device;
pub mod fabric;
pub mod flows;
pub mod hosts;
pub mod lengths;
pub mod memory;
pub mod order;
pub mod packets;
pub mod port;
pub mod prefixes;
pub mod results;
pub mod scenario;
pub mod setup;
pub mod warnings;
pub mod world;
