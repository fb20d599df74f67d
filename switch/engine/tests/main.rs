//! Tests of pipeline and queues together.

mod common;
#[path = "../../dataplane/tests/common/mod.rs"]
mod dataplane;
mod life_of_a_packet;
mod scheduling;
mod tofino;
