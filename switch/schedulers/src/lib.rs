//! Reference models of the packet schedulers that p4sched runs as P4 programs.
//!
//! Each scheduler is one file that reads like the algorithm in its paper, in the integer arithmetic a switch has:
//! no division, no floating point, state in a few named cells. A P4 program and its model make the same decision for
//! every packet, so the models are the oracle of the differential tests and the schedulers of the simulator.
//!
//! Everything here is pure: time, packets and randomness are arguments.
//!
//! | module | scheduler | from |
//! |---|---|---|
//! | [`fifo`] | tail drop | baseline of every paper |
//! | [`pifo`] | push-in first-out, the ideal | Sivaraman et al., SIGCOMM 2016 |
//! | [`sp_pifo`] | strict-priority queues with adaptive bounds | Alcoz et al., NSDI 2020 |
//! | [`aifo`] | one FIFO behind a quantile admission | Yu et al., SIGCOMM 2021 |
//! | [`rifo`] | one FIFO behind a min-max admission | "RIFO: Pushing the Efficiency of Programmable Packet Schedulers" |
//! | [`packs`] | quantile admission and queue mapping | Alcoz et al., NSDI 2025 |
//! | [`fdpa`] | rate bands per user over strict priorities | Cascone et al., 2017 |
//! | [`afq`] | approximate fair queueing, a calendar of rounds | Sharma et al., NSDI 2018 |
//! | [`drr`] | deficit round robin | Shreedhar and Varghese, SIGCOMM 1995 |
//! | [`stfq`] | start-time fair queueing as a rank function | Goyal et al., SIGCOMM 1996 |

pub mod afq;
pub mod aifo;
pub mod config;
pub mod drr;
pub mod fdpa;
pub mod fifo;
pub mod packs;
pub mod pifo;
pub mod priority_queues;
pub mod rifo;
pub mod scheduler;
pub mod sp_pifo;
pub mod stfq;
pub mod window;

pub use config::{ConfigError, Headroom};
pub use scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
