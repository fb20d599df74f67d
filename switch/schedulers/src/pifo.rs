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

use std::slice;

use rand::RngCore;

use crate::config::{ConfigError, MAX_PACKETS, Sizes, in_range};
use crate::fifo::Fifo;
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
use crate::scheme::{Discipline, P4, Reference, TailDrop};

/// A sorted queue that pushes out its least urgent packet when full.
#[derive(Clone, Debug)]
pub struct Pifo {
    /// The first packet to leave is the last one. A switch has room for so few packets that moving some of them costs less than
    /// a tree.
    queue: Vec<Packet>,
    /// Their ranks once more, close together: here a packet looks for its place.
    ranks: Vec<Rank>,
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
            queue: Vec::new(),
            ranks: Vec::new(),
            capacity,
        })
    }

    /// How many packets leave after one of this rank that arrives now.
    fn behind(&self, rank: Rank) -> usize {
        self.ranks.partition_point(|&other| other > rank)
    }
}

impl Scheduler for Pifo {
    #[inline]
    fn enqueue(&mut self, _now: Nanos, packet: Packet) -> Verdict {
        let behind = self.behind(packet.rank);
        if self.queue.len() < self.capacity {
            self.queue.insert(behind, packet);
            self.ranks.insert(behind, packet.rank);
            return Verdict::Queued { queue: 0 };
        }
        // Those that leave after it move into the place of the last one.
        match self.queue[..behind].first().copied() {
            None => Verdict::DroppedFull,
            Some(victim) => {
                self.queue.copy_within(1..behind, 0);
                self.queue[behind - 1] = packet;
                self.ranks.copy_within(1..behind, 0);
                self.ranks[behind - 1] = packet.rank;
                Verdict::PushedOut { queue: 0, victim }
            }
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Nanos) -> Option<Packet> {
        self.ranks.pop();
        self.queue.pop()
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
