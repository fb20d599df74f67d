//! FIFO: one queue, tail drop. The baseline of every paper.
//!
//!   enqueue: if the queue holds C packets, drop; else append
//!   dequeue: the oldest packet

use std::slice;

use p4sched_traffic_manager::Scheduling;
use p4sched_traffic_manager::fifo::Fifo as Queue;
use rand::{Rng, RngCore};

use crate::config::{ConfigError, MAX_PACKETS, Sizes, in_range};
use crate::ideal::with_room;
use crate::scheduler::{Nanos, Packet, Scheduler, Verdict};
use crate::scheme::{self, Discipline, P4, Reference, TailDrop};
use crate::target::Target;

/// One queue with tail drop. It is the discipline of the traffic manager, with the packets of the models.
#[derive(Clone, Debug)]
pub struct Fifo {
    queue: Queue<Packet>,
    capacity: usize,
    /// The length from which the memory of the switch has no room for one more packet.
    threshold: usize,
}

impl Fifo {
    /// An empty queue of size `capacity` (C), in packets.
    ///
    /// # Errors
    /// If the capacity is 0 or above [`MAX_PACKETS`].
    pub fn new(capacity: usize) -> Result<Fifo, ConfigError> {
        in_range("queue size C", capacity, 1, MAX_PACKETS, "packets")?;
        Ok(Fifo {
            queue: Queue::new(&with_room(capacity)),
            capacity,
            threshold: usize::MAX,
        })
    }

    /// Appends a packet, even to a full queue, if the memory has room.
    pub(crate) fn append(&mut self, packet: Packet) -> Verdict {
        if self.len() >= self.threshold {
            return Verdict::DroppedFull;
        }
        self.queue.append(0, packet);
        Verdict::Queued { queue: 0 }
    }

    /// C, in packets.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Sets C, for a rule that compares the length itself.
    pub(crate) fn set_capacity(&mut self, packets: usize) {
        self.capacity = packets;
    }
}

impl Scheduler for Fifo {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        if self.len() >= self.threshold {
            return Verdict::DroppedFull;
        }
        Verdict::of(self.queue.offer(now, packet), |victim| victim)
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        self.queue.take(now)
    }

    fn len(&self) -> usize {
        self.queue.length(0)
    }
}

impl Reference for Fifo {
    /// C, in packets.
    type Config = usize;

    const P4: P4 = P4 {
        program: "fifo",
        table: "fifo_params",
        action: "set_depth",
        parameters: &["depth"],
        discipline: Discipline::Fifo,
        rank_field: None,
        tail_drop: TailDrop::Either,
        ranks: true,
        verdicts: false,
    };
    const TARGETS: &[Target] = &[Target::V1model, Target::Tna];

    fn model(&capacity: &usize) -> Result<Fifo, ConfigError> {
        Fifo::new(capacity)
    }

    fn reconfigure(&mut self, &capacity: &usize) -> Result<(), ConfigError> {
        in_range("queue size C", capacity, 1, MAX_PACKETS, "packets")?;
        self.capacity = capacity;
        self.queue.follow(0, &with_room(capacity));
        Ok(())
    }

    fn config(sizes: &Sizes) -> Result<usize, ConfigError> {
        Ok(sizes.buffer())
    }

    fn draw(random: &mut dyn RngCore, _before: Option<&usize>) -> usize {
        random.random_range(1..=40)
    }

    /// On a Tofino always the program: ingress counts arrivals up to the size, so it knows when the queue is full.
    fn tail_drop(target: Target) -> TailDrop {
        match target {
            Target::V1model => TailDrop::Either,
            Target::Tna | Target::T2na => TailDrop::Program,
        }
    }

    const SHARES_MEMORY: bool = true;

    fn set_threshold(&mut self, _queue: usize, packets: usize) {
        self.threshold = packets;
    }

    fn give_up(&mut self, _queue: usize) -> Option<Packet> {
        self.queue.give_up(0)
    }

    fn queue_sizes(capacity: &usize) -> &[usize] {
        slice::from_ref(capacity)
    }

    fn arguments(_capacity: &usize, sizes: &[usize]) -> Vec<u64> {
        vec![sizes.first().map_or(0, |&size| size as u64)]
    }

    fn from_arguments(arguments: &[u64]) -> Result<usize, ConfigError> {
        Ok(scheme::whole(arguments[0]))
    }
}
