//! Strict-priority queues: n FIFO queues. The most urgent one that is not empty is served.

use std::collections::VecDeque;

use crate::config::{self, ConfigError};
use crate::scheduler::{Packet, Verdict};

/// The queues of a port under strict priority. Queue 0 is the most urgent.
#[derive(Clone, Debug)]
pub struct PriorityQueues {
    queues: Vec<VecDeque<Packet>>,
    sizes: Vec<usize>,
    /// The lengths from which the memory of the switch has no room for one more packet.
    thresholds: Vec<usize>,
}

impl PriorityQueues {
    /// Empty queues of these sizes, in packets, the most urgent first.
    ///
    /// # Errors
    /// If there is no queue, a size is 0, or the number or the sum of the sizes is too large.
    pub fn new(sizes: &[usize]) -> Result<PriorityQueues, ConfigError> {
        config::queue_sizes(sizes)?;
        Ok(PriorityQueues {
            queues: vec![VecDeque::new(); sizes.len()],
            sizes: sizes.to_vec(),
            thresholds: vec![usize::MAX; sizes.len()],
        })
    }

    /// Changes the sizes. Waiting packets stay, even in a queue that becomes too full.
    ///
    /// # Errors
    /// See [`PriorityQueues::new`]. It is also an error if the number of queues would change.
    pub fn resize(&mut self, sizes: &[usize]) -> Result<(), ConfigError> {
        config::queue_sizes(sizes)?;
        if sizes.len() != self.sizes.len() {
            return Err(ConfigError::Count {
                parameter: "queue sizes B_i",
                found: sizes.len(),
                expected: self.sizes.len(),
                reason: "the number of queues is fixed while packets wait in them",
            });
        }
        self.sizes.copy_from_slice(sizes);
        Ok(())
    }

    /// Changes the sizes and the number of queues. A removed queue takes no packet, but the packets in it are still
    /// served.
    ///
    /// # Errors
    /// See [`PriorityQueues::new`].
    pub fn replace(&mut self, sizes: &[usize]) -> Result<(), ConfigError> {
        config::queue_sizes(sizes)?;
        let count = self.queues.len().max(sizes.len());
        self.queues.resize(count, VecDeque::new());
        self.sizes = sizes.to_vec();
        self.sizes.resize(count, 0);
        self.thresholds.resize(count, usize::MAX);
        Ok(())
    }

    /// n, the number of queues.
    pub fn count(&self) -> usize {
        self.queues.len()
    }

    /// B_i, in packets.
    #[inline]
    pub fn size(&self, queue: usize) -> usize {
        self.sizes[queue]
    }

    /// b_i, in packets.
    #[inline]
    pub fn occupancy(&self, queue: usize) -> usize {
        self.queues[queue].len()
    }

    /// Whether one more packet fits into this queue.
    #[inline]
    pub fn has_room(&self, queue: usize) -> bool {
        self.occupancy(queue) < self.size(queue)
    }

    /// Sets the length from which the memory of the switch has no room for one more packet of a queue.
    pub fn set_threshold(&mut self, queue: usize, packets: usize) {
        self.thresholds[queue] = packets;
    }

    /// Sets B_i, which may be 0.
    pub(crate) fn set_size(&mut self, queue: usize, packets: usize) {
        self.sizes[queue] = packets;
    }

    /// Removes the oldest packet of a queue.
    pub fn give_up(&mut self, queue: usize) -> Option<Packet> {
        self.queues[queue].pop_front()
    }

    /// Appends a packet to a queue, or drops it if that queue is full or the memory has no room for it.
    #[inline]
    pub fn enqueue(&mut self, queue: usize, packet: Packet) -> Verdict {
        if !self.has_room(queue) || self.occupancy(queue) >= self.thresholds[queue] {
            return Verdict::DroppedFull;
        }
        self.queues[queue].push_back(packet);
        Verdict::Queued { queue }
    }

    /// The queue with packets of this flow that wait, the most urgent one if there are several.
    pub fn of_flow(&self, flow: u32) -> Option<usize> {
        let has = |queue: &VecDeque<Packet>| queue.iter().any(|packet| packet.flow == flow);
        self.queues.iter().position(has)
    }

    /// The queue of the next packet.
    pub fn first(&self) -> Option<usize> {
        self.queues.iter().position(|queue| !queue.is_empty())
    }

    /// Removes the oldest packet of the most urgent queue that is not empty.
    #[inline]
    pub fn dequeue(&mut self) -> Option<Packet> {
        self.queues.iter_mut().find_map(VecDeque::pop_front)
    }

    /// Number of packets in all queues.
    #[inline]
    pub fn len(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
