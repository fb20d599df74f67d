//! The experiment of PACKS 6.1 on a compiled P4 program: as [`crate::inversions`], but the engine decides instead of
//! the model.
//!
//! A frame of 1100 bytes arrives every 1000 ns, and the link sends it in 1100 ns. That is exactly 11 over 10 Gbit/s in
//! whole nanoseconds, so program and model agree on every packet.

use p4sched_schedulers::{Nanos, Rank, Scheme, Sizes};

use crate::arrivals::Arrival;
use crate::inversions::Outcome;
use crate::program::Program;
use crate::replay::{ReplayError, Scheduler};

/// Length of every frame, in bytes.
const FRAME_BYTES: u32 = 1100;
const GAP: Nanos = 1000;

/// Runs a compiled program over these ranks, and then drains it.
///
/// # Errors
/// If the program does not load, or cannot have these sizes.
pub fn run(program: &Program, scheme: Scheme, sizes: &Sizes, ranks: &[Rank]) -> Result<Outcome, ReplayError> {
    let arrivals = (0..).zip(ranks).map(|(index, &rank)| Arrival {
        at: index * GAP,
        rank,
        frame_bytes: FRAME_BYTES,
    });
    let arrivals: Vec<Arrival> = arrivals.collect();
    Ok(Scheduler::new(scheme, sizes, Some(program))?.play(&arrivals)?.outcome)
}
