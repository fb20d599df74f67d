//! Queues and shapers.

mod afq;
mod common;
mod counts;
mod disciplines;
mod shaper;
mod stfq;
