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
use crate::known::{Knowledge, Known};
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
    /// The length as the rule in front of the queue knows it, if that is old or in cells.
    known: Option<Known>,
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
            known: None,
        })
    }

    /// Appends a packet that the rule admitted, even to a full queue, if the memory has room. With a length that is old
    /// or in cells, the rule cannot tell whether there is room, so the queue does.
    #[inline]
    pub(crate) fn append(&mut self, now: Nanos, packet: Packet) -> Verdict {
        if self.known.is_some() {
            return self.enqueue(now, packet);
        }
        if self.len() >= self.threshold {
            return Verdict::DroppedFull;
        }
        self.queue.append(0, packet);
        Verdict::Queued { queue: 0 }
    }

    /// The length in full packets, as the rule knows it; `None` if it sees the queue itself.
    #[inline]
    pub(crate) fn known_length(&self) -> Option<u64> {
        self.known.as_ref().map(|known| known.length(0))
    }

    /// Makes the copy of the length that is due at `now`, before an arrival.
    #[inline]
    pub(crate) fn advance(&mut self, now: Nanos) {
        if let Some(known) = &mut self.known {
            known.advance(now);
        }
    }

    /// C, in packets.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Counts a packet that left.
    #[inline]
    fn left(&mut self, packet: Packet) -> Option<Packet> {
        if let Some(known) = &mut self.known {
            known.leave(0, &packet);
        }
        Some(packet)
    }

    /// Sets C, for a rule that compares the length itself.
    pub(crate) fn set_capacity(&mut self, packets: usize) {
        self.capacity = packets;
    }
}

impl Scheduler for Fifo {
    #[inline]
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        if self.len() >= self.threshold {
            return Verdict::DroppedFull;
        }
        let verdict = Verdict::of(self.queue.offer(now, packet), |victim| victim);
        if verdict.is_queued()
            && let Some(known) = &mut self.known
        {
            known.enter(0, &packet);
        }
        verdict
    }

    #[inline]
    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        let packet = self.queue.take(now)?;
        self.advance(now);
        self.left(packet)
    }

    #[inline]
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
        let packet = self.queue.give_up(0)?;
        self.left(packet)
    }

    fn know(&mut self, knowledge: Knowledge) {
        self.known = Some(Known::new(knowledge, 1));
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
