//! PIFO, the ideal: push-in first-out (Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016).
//!
//! One queue sorted by (rank, arrival).
//!
//!   enqueue: insert behind every packet of the same or a smaller rank;
//!            if more than C packets wait then, drop the last one: the highest rank, the latest among equals.
//!            It may be the packet that just arrived.
//!   dequeue: the first packet: the smallest rank, the earliest among equals
//!
//! Neither BMv2 nor Tofino can do it; every other scheme is measured against it.

use std::collections::BTreeMap;

use crate::config::{ConfigError, MAX_PACKETS, in_range};
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};

/// A sorted queue that pushes out its least urgent packet when full.
#[derive(Clone, Debug)]
pub struct Pifo {
    /// By rank, then by order of arrival.
    queue: BTreeMap<(Rank, u64), Packet>,
    capacity: usize,
    arrivals: u64,
}

impl Pifo {
    /// An empty queue that holds `capacity` packets (C).
    ///
    /// # Errors
    /// If the capacity is 0 or above [`MAX_PACKETS`].
    pub fn new(capacity: usize) -> Result<Pifo, ConfigError> {
        in_range("queue size C", capacity, 1, MAX_PACKETS, "packets")?;
        Ok(Pifo {
            queue: BTreeMap::new(),
            capacity,
            arrivals: 0,
        })
    }
}

impl Scheduler for Pifo {
    fn enqueue(&mut self, _now: Nanos, packet: Packet) -> Verdict {
        let place = (packet.rank, self.arrivals);
        self.arrivals += 1;
        self.queue.insert(place, packet);
        if self.queue.len() <= self.capacity {
            return Verdict::Queued { queue: 0 };
        }
        match self.queue.pop_last() {
            Some((last, victim)) if last != place => Verdict::PushedOut { queue: 0, victim },
            _ => Verdict::DroppedFull,
        }
    }

    fn dequeue(&mut self, _now: Nanos) -> Option<Packet> {
        self.queue.pop_first().map(|(_, packet)| packet)
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
