//! Strict-priority queues: n FIFO queues, of which the most urgent one that is not empty is served.

use std::collections::VecDeque;

use crate::config::{self, ConfigError};
use crate::scheduler::{Packet, Verdict};

/// The queues of a port under strict priority. Queue 0 is the most urgent.
#[derive(Clone, Debug)]
pub struct PriorityQueues {
    queues: Vec<VecDeque<Packet>>,
    sizes: Vec<usize>,
}

impl PriorityQueues {
    /// Empty queues of these sizes, in packets, the most urgent first.
    ///
    /// # Errors
    /// If there are none, one has size 0, or their number or sum is too large.
    pub fn new(sizes: &[usize]) -> Result<PriorityQueues, ConfigError> {
        config::queue_sizes(sizes)?;
        Ok(PriorityQueues {
            queues: vec![VecDeque::new(); sizes.len()],
            sizes: sizes.to_vec(),
        })
    }

    /// Changes the sizes. Packets that wait stay, even in a queue that is now too full.
    ///
    /// # Errors
    /// As [`PriorityQueues::new`], or if the number of queues would change.
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

    /// Changes the sizes and the number of queues. A queue that is gone takes no packet. Those that wait in it are served.
    ///
    /// # Errors
    /// As [`PriorityQueues::new`].
    pub fn replace(&mut self, sizes: &[usize]) -> Result<(), ConfigError> {
        config::queue_sizes(sizes)?;
        let count = self.queues.len().max(sizes.len());
        self.queues.resize(count, VecDeque::new());
        self.sizes = sizes.to_vec();
        self.sizes.resize(count, 0);
        Ok(())
    }

    /// n, the number of queues.
    pub fn count(&self) -> usize {
        self.queues.len()
    }

    /// B_i, in packets.
    pub fn size(&self, queue: usize) -> usize {
        self.sizes[queue]
    }

    /// b_i, in packets.
    pub fn occupancy(&self, queue: usize) -> usize {
        self.queues[queue].len()
    }

    /// Whether a packet more fits into this queue.
    pub fn has_room(&self, queue: usize) -> bool {
        self.occupancy(queue) < self.size(queue)
    }

    /// Appends a packet to a queue, or drops it if that queue is full.
    pub fn enqueue(&mut self, queue: usize, packet: Packet) -> Verdict {
        if !self.has_room(queue) {
            return Verdict::DroppedFull;
        }
        self.queues[queue].push_back(packet);
        Verdict::Queued { queue }
    }

    /// The oldest packet of the most urgent queue that is not empty.
    pub fn dequeue(&mut self) -> Option<Packet> {
        self.queues.iter_mut().find_map(VecDeque::pop_front)
    }

    /// Packets waiting, over all queues.
    pub fn len(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
