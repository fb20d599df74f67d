//! Shared functions of the tests: offering packets and taking them out.

use p4sched_traffic_manager::{Departure, Enqueued, Nanos, Offered, PortConfig, TrafficManager};

pub const SECOND: Nanos = 1_000_000_000;

/// A packet for port 1. The test chooses its item.
pub fn packet(priority: u8, len: u32, item: u32) -> Offered<u32> {
    Offered {
        port: 1,
        priority,
        len,
        user: 0,
        rank: 0,
        levels: None,
        item,
    }
}

pub fn with_user(user: u64, len: u32, item: u32) -> Offered<u32> {
    Offered {
        user,
        ..packet(0, len, item)
    }
}

pub fn with_rank(rank: u64, item: u32) -> Offered<u32> {
    Offered {
        rank,
        ..packet(0, 1000, item)
    }
}

/// A traffic manager with this configuration of port 1.
pub fn port_1(config: PortConfig) -> TrafficManager<u32> {
    let mut tm = TrafficManager::new();
    tm.set_port(0, 1, config).unwrap();
    tm
}

/// Dequeues everything due at or before `until`.
pub fn departures(tm: &mut TrafficManager<u32>, until: Nanos) -> Vec<Departure<u32>> {
    std::iter::from_fn(|| tm.dequeue(until)).collect()
}

/// Dequeues everything due at or before `until` and returns the items.
pub fn items(tm: &mut TrafficManager<u32>, until: Nanos) -> Vec<u32> {
    departures(tm, until)
        .into_iter()
        .map(|departure| departure.item)
        .collect()
}

pub fn was_dropped(outcome: &Enqueued<u32>) -> bool {
    matches!(outcome, Enqueued::Dropped { .. })
}
