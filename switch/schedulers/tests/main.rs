//! Tests of the models.

mod fdpa;
mod parameters;
mod variants;
mod worked_examples;

use p4sched_schedulers::{Packet, Rank};

fn packet(rank: Rank) -> Packet {
    Packet {
        id: 0,
        rank,
        user: 0,
        flow: 0,
        len: 1500,
    }
}
