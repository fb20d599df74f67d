//! Reference models of the packet schedulers that p4sched runs as P4 programs.
//!
//! Each scheduler is one file that reads like the algorithm in its paper, in the integer arithmetic a switch has:
//! no division, no floating point, state in a few named cells. A P4 program and its model make the same decision for
//! every packet. So the models are the oracle of the differential test, and the simulator runs them.
//!
//! Everything here is pure: time, packets and randomness are arguments.
//!
//! The list in [`each_scheme`] is the registry: one line makes a file of `src/` a scheme that the simulator, the differential
//! test and the commands know. Two more have no program: [`stfq`], start-time fair queueing as a rank function for any scheme,
//! and [`ideal`], any discipline of the traffic manager.

pub mod config;
pub mod ideal;
mod log2;
pub mod priority_queues;
mod registry;
pub mod scheduler;
pub mod scheme;
pub mod stfq;
pub mod target;
pub mod window;
pub mod worker;

pub use config::{ConfigError, Headroom, Sizes};
use rand::RngCore;
pub use scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
pub use scheme::{Compared, P4, Reference};
pub use target::Target;

/// Calls a macro with the list of all schemes: `module: Type, "what it is";` for each. The module has the scheme's name,
/// its type is a [`Reference`].
#[macro_export]
macro_rules! each_scheme {
    ($call:ident) => {
        $call! {
            fifo: Fifo, "Tail drop, the baseline of every paper.";
            pifo: Pifo, "Push-in first-out, the ideal (Sivaraman et al., SIGCOMM 2016).";
            sp_pifo: SpPifo, "Strict-priority queues with adaptive bounds (Alcoz et al., NSDI 2020).";
            aifo: Aifo, "One FIFO behind a quantile admission (Yu et al., SIGCOMM 2021).";
            rifo: Rifo, "One FIFO behind a min-max admission (RIFO).";
            packs: Packs, "Quantile admission and queue mapping (Alcoz et al., NSDI 2025).";
            fdpa: Fdpa, "Rate bands per user over strict priorities (Cascone et al., 2017).";
        }
    };
}

use registry::schemes;
use scheme::TailDrop;
use worker::Worker;
each_scheme!(schemes);
