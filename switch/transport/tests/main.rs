//! Tests of TCP, segment by segment.

mod control;
mod property;
mod receiver;
mod recovery;
mod wire;
