//! Reference models of the packet schedulers that p4sched runs as P4 programs.
//!
//! Each scheduler is one file that reads like the algorithm in its paper. It uses the integer arithmetic of a switch:
//! no division, no floating point, and state in a few named cells. A P4 program and its model make the same decision
//! for every packet. So the differential test checks the programs against the models, and the simulator runs the
//! models.
//!
//! Everything here is pure: time, packets and randomness are arguments.
//!
//! [`each_scheme`] is the registry: one line in its list adds a scheme to the simulator, the differential test and the
//! commands. Three modules have no program: [`stfq`], start-time fair queueing as a rank function for any scheme,
//! [`ideal`], any discipline of the traffic manager, and [`dual_pi2`], which marks packets as they leave.

pub mod config;
pub mod described;
pub mod dual_pi2;
pub mod flowlets;
pub mod heap;
pub mod ideal;
pub mod known;
mod log2;
mod per_user;
pub mod priority_queues;
mod registry;
pub mod scheduler;
pub mod scheme;
pub mod stfq;
pub mod target;
pub mod variants;
pub mod window;
pub mod worker;

pub use config::{ConfigError, Headroom, Sizes};
pub use described::Described;
use rand::RngCore;
pub use scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
pub use scheme::{P4, Reference, StatePart};
pub use target::Target;
pub use variants::{Variant, Variants};

/// Calls a macro with the list of all schemes. Each entry is `module: Type, "description";`. The module has the name of
/// the scheme, and the type is a [`Reference`].
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

use described::{FolderConfig, FolderModel};
use flowlets::FlowletConfig;
use known::Knowledge;
use registry::schemes;
use scheme::TailDrop;
use worker::Worker;
each_scheme!(schemes);
