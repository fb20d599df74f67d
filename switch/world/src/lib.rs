//! A network in virtual time: its topology, its events, and an account of every frame.
//!
//! It is pure: time, packets and the text of files are arguments. Two front ends use it: `p4sched-simulate`
//! (`switch/simulator`) and `p4sched-virtual` (`switch/virtual`).

pub mod account;
pub mod calendar;
pub mod described;
pub mod lab_file;
pub mod link;
pub mod network_file;
pub mod planned;
pub mod routes;
pub mod shapes;
pub mod simultaneous;
pub mod topology;
pub mod wire;
pub mod world;
