//! FIFO: one queue, tail drop. The baseline of every paper.
//!
//!   enqueue: if the queue holds C packets, drop; else append
//!   dequeue: the oldest packet

use std::collections::VecDeque;

use crate::config::{ConfigError, MAX_PACKETS, in_range};
use crate::scheduler::{Nanos, Packet, Scheduler, Verdict};

/// One queue with tail drop.
#[derive(Clone, Debug)]
pub struct Fifo {
    queue: VecDeque<Packet>,
    capacity: usize,
}

impl Fifo {
    /// An empty queue that holds `capacity` packets (C).
    ///
    /// # Errors
    /// If the capacity is 0 or above [`MAX_PACKETS`].
    pub fn new(capacity: usize) -> Result<Fifo, ConfigError> {
        in_range("queue size C", capacity, 1, MAX_PACKETS, "packets")?;
        Ok(Fifo {
            queue: VecDeque::new(),
            capacity,
        })
    }

    /// Changes the capacity, in packets. Packets that wait stay.
    ///
    /// # Errors
    /// As [`Fifo::new`].
    pub fn resize(&mut self, capacity: usize) -> Result<(), ConfigError> {
        in_range("queue size C", capacity, 1, MAX_PACKETS, "packets")?;
        self.capacity = capacity;
        Ok(())
    }
}

impl Scheduler for Fifo {
    fn enqueue(&mut self, _now: Nanos, packet: Packet) -> Verdict {
        if self.queue.len() >= self.capacity {
            return Verdict::DroppedFull;
        }
        self.queue.push_back(packet);
        Verdict::Queued { queue: 0 }
    }

    fn dequeue(&mut self, _now: Nanos) -> Option<Packet> {
        self.queue.pop_front()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
