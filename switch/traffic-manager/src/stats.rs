//! Counts. For every queue: enqueued = dequeued + pushed out + flushed + length, in packets and in bytes.

use crate::config::QUEUES;

/// Packets, and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Count {
    /// Counts one packet of `len` bytes.
    pub fn add(&mut self, len: u32) {
        self.packets += 1;
        self.bytes += u64::from(len);
    }

    pub(crate) fn subtract(&mut self, len: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(len);
    }
}

impl std::ops::Add for Count {
    type Output = Count;
    fn add(self, other: Count) -> Count {
        Count {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl std::iter::Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count::default(), |a, b| a + b)
    }
}

/// Counts of the packets of one priority. In a discipline with one buffer, too, the queue of a packet is its priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueStats {
    /// Waiting now.
    pub length: Count,
    /// Highest `length.packets` so far.
    pub max_length_packets: u32,
    /// Taken into the queue.
    pub enqueued: Count,
    /// Sent.
    pub dequeued: Count,
    /// Not taken, for want of room.
    pub dropped: Count,
    /// Taken, and given up later for another packet.
    pub pushed_out: Count,
    /// Taken, and removed by [`crate::TrafficManager::flush`].
    pub flushed: Count,
}

impl QueueStats {
    /// True if no packet and no byte is unaccounted for.
    pub fn balanced(&self) -> bool {
        self.enqueued == self.dequeued + self.pushed_out + self.flushed + self.length
    }

    /// Packets that were to be in the queue, and that never left it for the link.
    pub fn lost(&self) -> Count {
        self.dropped + self.pushed_out + self.flushed
    }
}

/// Counts of one port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortStats {
    /// By priority.
    pub queues: [QueueStats; QUEUES],
    /// Not taken because their priority is above 7.
    pub no_such_queue: Count,
    /// Highest number of packets in all queues together so far.
    pub max_length_packets: u32,
}

impl PortStats {
    /// One count, summed over the queues: `stats.total(|q| q.dropped)`.
    pub fn total(&self, count: impl Fn(&QueueStats) -> Count) -> Count {
        self.queues.iter().map(count).sum()
    }

    /// True if every queue is balanced.
    pub fn balanced(&self) -> bool {
        self.queues.iter().all(QueueStats::balanced)
    }
}
