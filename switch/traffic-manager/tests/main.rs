//! Tests of the disciplines and of the shaper.

mod afq;
mod calendar;
mod common;
mod counts;
mod disciplines;
mod gearbox;
mod memory;
mod scrr;
mod shaper;
mod stfq;
mod tree;
