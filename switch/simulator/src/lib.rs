//! A simulator of packet schedulers in stepped time. It runs the reference models ([`p4sched_schedulers`]), and the
//! compiled P4 programs of `p4/` in the engine of the switch.
//!
//! Time, packets and randomness are arguments. The same seed gives the same result on every machine.
//!
//! | module | what it is |
//! |---|---|
//! | [`workload`] | distributions and sequences of ranks |
//! | [`flow_sizes`] | sizes and starts of flows |
//! | [`inversions`] | a constant-rate stream through a scheduler: inversions and drops by rank (PACKS 6.1) |
//! | [`adversary`] | search for traces on which one scheduler does much worse than another (PACKS, appendix B) |
//! | [`attack`] | the same search over longer traces that arrive at a port |
//! | [`arrivals`], [`replay`] | a trace at one port, and its result with a model or a program |
//! | [`model`], [`ranked`] | one port of the reference: a model, and the source of its ranks |
//! | [`network`] | whole networks: hosts, links, switches |
//! | [`program`] | a compiled P4 program |
//! | [`switch`] | a program in the engine |
//! | [`parameters`] | the parameters of a port, for the model and for the program |
//! | [`stepped`] | the experiment of PACKS 6.1 on a compiled program |
//! | [`controlled`] | one port of a compiled program whose parameters a controller changes between steps |
//! | [`folders`] | schemes that a file describes |
//! | [`frames`], [`traffic`] | packets as bytes, and random packets |
//! | [`options`] | schemes as options of a command |
//! | [`trace`] | arrivals and decisions for a switch whose time cannot be stepped |

pub mod adversary;
pub mod arrivals;
pub mod attack;
pub mod controlled;
pub mod decisions;
pub mod flow_sizes;
pub mod folders;
pub mod frames;
pub mod ideals;
pub mod inversions;
pub mod model;
pub mod network;
pub mod options;
pub mod parameters;
pub mod program;
pub mod ranked;
pub mod replay;
pub mod stepped;
pub mod steps;
pub mod switch;
pub mod trace;
pub mod traffic;
pub mod workload;
