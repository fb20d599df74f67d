//! The differential test: compiled P4 programs against the reference models, packet by packet.
//!
//! A P4 program of `p4/` is compiled and runs in the switch's own engine (pipeline and traffic manager) under stepped
//! time. The same random packets go through the model of the scheduler ([`p4sched_schedulers`]) behind a link of the
//! same rate. After each packet both must agree: on the decision, on the length of every queue, and on which packets
//! have left, in which order and when. Parameters and link rates change while packets wait.
//!
//! | module | what it is |
//! |---|---|
//! | [`program`] | a compiled program |
//! | [`parameters`] | what a scheduler is told, as the model takes it and as the action data of the P4 program |
//! | [`model`] | a model with a link: one port of the reference |
//! | [`switch`] | the P4 program in the engine |
//! | [`state`] | registers of the program beside the cells of the model |
//! | [`frames`] | packets as bytes |
//! | [`traffic`] | random packets |
//! | [`lockstep`] | both driven side by side, and the report when they differ |
//! | [`stepped`] | the experiment of PACKS 6.1 on a compiled program |
//! | [`trace`] | arrivals and decisions for a switch whose time cannot be stepped |
//! | [`controlled`] | one port of a compiled program whose parameters a controller changes between steps |

pub mod controlled;
pub mod frames;
pub mod lockstep;
pub mod model;
pub mod parameters;
pub mod program;
pub mod state;
pub mod stepped;
pub mod switch;
pub mod trace;
pub mod traffic;

pub use lockstep::{Mismatch, Tally, Trial, run};
pub use parameters::Scheme;
