//! Tests of TCP, segment by segment.

mod bbr;
mod control;
mod property;
mod receiver;
mod recovery;
mod wire;
