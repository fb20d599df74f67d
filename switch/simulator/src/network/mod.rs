//! Whole networks in virtual time: hosts with transport protocols, links, switches.
//!
//! ```text
//! scenario --> setup --> world --> results
//!                          |
//!    connections: the ends of flows (p4sched-transport)
//!         | segments
//!    ports: scheduler, link, wire --> routes --> ports --> ...
//! ```
//!
//! One loop takes the events of a [`calendar`] in their order. A run is a function of its [`world::Setup`]: the same setup
//! gives the same results, byte for byte.

pub mod calendar;
pub mod connections;
pub mod device;
pub mod flows;
pub mod lab_file;
pub mod lengths;
pub mod packets;
pub mod port;
pub mod results;
pub mod routes;
pub mod scenario;
pub mod shapes;
pub mod topology;
pub mod world;
