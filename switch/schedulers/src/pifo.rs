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

use std::collections::VecDeque;
use std::slice;

use rand::RngCore;

use crate::config::{ConfigError, MAX_PACKETS, Sizes, in_range};
use crate::fifo::Fifo;
use crate::scheduler::{Nanos, Packet, Scheduler, Verdict};
use crate::scheme::{Discipline, P4, Reference, TailDrop};

/// A sorted queue that pushes out its least urgent packet when full.
#[derive(Clone, Debug)]
pub struct Pifo {
    /// By rank, then by order of arrival. A switch has room for so few packets that moving some of them costs less than a tree.
    queue: VecDeque<Packet>,
    capacity: usize,
}

impl Pifo {
    /// An empty queue that holds `capacity` packets (C).
    ///
    /// # Errors
    /// If the capacity is 0 or above [`MAX_PACKETS`].
    pub fn new(capacity: usize) -> Result<Pifo, ConfigError> {
        in_range("queue size C", capacity, 1, MAX_PACKETS, "packets")?;
        Ok(Pifo {
            queue: VecDeque::new(),
            capacity,
        })
    }

    /// Behind every packet of the same or a smaller rank.
    fn insert(&mut self, packet: Packet) {
        let last = self.queue.back();
        if last.is_none_or(|last| last.rank <= packet.rank) {
            self.queue.push_back(packet);
        } else {
            let place = self.queue.partition_point(|other| other.rank <= packet.rank);
            self.queue.insert(place, packet);
        }
    }
}

impl Scheduler for Pifo {
    #[inline]
    fn enqueue(&mut self, _now: Nanos, packet: Packet) -> Verdict {
        if self.queue.len() < self.capacity {
            self.insert(packet);
            return Verdict::Queued { queue: 0 };
        }
        match self.queue.back().copied() {
            Some(victim) if victim.rank > packet.rank => {
                self.queue.pop_back();
                self.insert(packet);
                Verdict::PushedOut { queue: 0, victim }
            }
            _ => Verdict::DroppedFull,
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Nanos) -> Option<Packet> {
        self.queue.pop_front()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}

impl Reference for Pifo {
    /// C, in packets.
    type Config = usize;

    /// The program of FIFO gives each packet its rank; the port sorts.
    const P4: P4 = P4 {
        discipline: Discipline::Pifo {
            rank_field: "meta.rank",
        },
        tail_drop: TailDrop::Queue,
        ..Fifo::P4
    };

    fn model(&capacity: &usize) -> Result<Pifo, ConfigError> {
        Pifo::new(capacity)
    }

    fn reconfigure(&mut self, &capacity: &usize) -> Result<(), ConfigError> {
        in_range(
            "queue size C",
            capacity,
            self.queue.len().max(1),
            MAX_PACKETS,
            "packets",
        )?;
        self.capacity = capacity;
        Ok(())
    }

    fn config(sizes: &Sizes) -> Result<usize, ConfigError> {
        Fifo::config(sizes)
    }

    /// A capacity that stays: a smaller one would have to push out the packets that wait.
    fn draw(random: &mut dyn RngCore, before: Option<&usize>) -> usize {
        before.copied().unwrap_or_else(|| Fifo::draw(random, None))
    }

    fn queue_sizes(capacity: &usize) -> &[usize] {
        slice::from_ref(capacity)
    }

    fn arguments(capacity: &usize, sizes: &[usize]) -> Vec<u64> {
        Fifo::arguments(capacity, sizes)
    }

    fn from_arguments(arguments: &[u64]) -> Result<usize, ConfigError> {
        Fifo::from_arguments(arguments)
    }
}
