//! PIFO, the ideal: push-in first-out (Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016).
//!
//! One queue sorted by (rank, arrival).
//!
//!   enqueue: insert after every packet of the same or a smaller rank;
//!            if more than C packets wait then, drop the last one: the highest rank, the latest among equals.
//!            It may be the packet that just arrived.
//!   dequeue: the first packet: the smallest rank, the earliest among equals
//!
//! Neither BMv2 nor Tofino can sort a queue. Every other scheme is compared with this ideal.

use std::slice;

use p4sched_traffic_manager::Scheduling;
use p4sched_traffic_manager::pifo::Pifo as Queue;
use rand::RngCore;

use crate::config::{ConfigError, MAX_PACKETS, Sizes, in_range};
use crate::fifo::Fifo;
use crate::heap::Heap;
use crate::ideal::with_room;
use crate::scheduler::{Nanos, Packet, Scheduler, Verdict};
use crate::scheme::{Discipline, P4, Reference, TailDrop};
use crate::variants::{Variant, Variants};

/// A sorted queue that pushes out its least urgent packet when full. It is the discipline of the traffic manager, with
/// the packets of the models.
#[derive(Clone, Debug)]
pub struct Pifo {
    queue: Queue<Packet>,
    /// The packets, if equal ranks leave in the order of a heap; `queue` is empty then.
    heap: Option<Box<Heap>>,
    capacity: usize,
    /// The length from which the memory of the switch has no room for one more packet.
    threshold: usize,
}

impl Pifo {
    /// An empty queue of size `capacity` (C), in packets.
    ///
    /// # Errors
    /// If the capacity is 0 or above [`MAX_PACKETS`].
    pub fn new(capacity: usize) -> Result<Pifo, ConfigError> {
        in_range("queue size C", capacity, 1, MAX_PACKETS, "packets")?;
        Ok(Pifo {
            queue: Queue::new(&with_room(capacity)),
            heap: None,
            capacity,
            threshold: usize::MAX,
        })
    }
}

impl Scheduler for Pifo {
    #[inline]
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        if let Some(heap) = &mut self.heap {
            return heap.offer(self.capacity.min(self.threshold), packet);
        }
        let verdict = match self.len() >= self.threshold {
            true => self.queue.exchange(now, packet),
            false => self.queue.offer(now, packet),
        };
        Verdict::of(verdict, |victim| victim)
    }

    #[inline]
    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        match &mut self.heap {
            None => self.queue.take(now),
            Some(heap) => heap.take(),
        }
    }

    #[inline]
    fn len(&self) -> usize {
        match &self.heap {
            None => self.queue.length(0),
            Some(heap) => heap.waiting(),
        }
    }
}

impl Reference for Pifo {
    /// C, in packets.
    type Config = usize;

    /// The program of FIFO sets the rank of each packet, and the port sorts.
    const P4: P4 = P4 {
        discipline: Discipline::Pifo,
        rank_field: Some("meta.rank"),
        tail_drop: TailDrop::Queue,
        ..Fifo::P4
    };

    fn model(&capacity: &usize) -> Result<Pifo, ConfigError> {
        Pifo::new(capacity)
    }

    fn reconfigure(&mut self, &capacity: &usize) -> Result<(), ConfigError> {
        in_range("queue size C", capacity, self.len().max(1), MAX_PACKETS, "packets")?;
        self.queue.follow(0, &with_room(capacity));
        self.capacity = capacity;
        Ok(())
    }

    fn config(sizes: &Sizes) -> Result<usize, ConfigError> {
        Fifo::config(sizes)
    }

    /// The capacity stays the same, because a smaller one would have to push out waiting packets.
    fn draw(random: &mut dyn RngCore, before: Option<&usize>) -> usize {
        before.copied().unwrap_or_else(|| Fifo::draw(random, None))
    }

    const SHARES_MEMORY: bool = true;

    fn set_threshold(&mut self, _queue: usize, packets: usize) {
        self.threshold = packets;
    }

    fn give_up(&mut self, _queue: usize) -> Option<Packet> {
        match &mut self.heap {
            None => self.queue.give_up(0),
            Some(heap) => heap.take_largest(),
        }
    }

    const VARIANTS: &[Variant] = &[Variant::HeapOrder];

    fn vary(&mut self, variants: Variants) {
        self.heap = variants.has(Variant::HeapOrder).then(Box::default);
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
