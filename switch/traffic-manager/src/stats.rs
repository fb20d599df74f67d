//! Counters. For every queue: enqueued = dequeued + pushed out + flushed + length, in packets and in bytes.

use crate::config::QUEUES;

/// A number of packets and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    pub packets: u64,
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

/// Counters of the packets of one priority, also for disciplines with one shared buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueStats {
    /// Packets that wait.
    pub length: Count,
    /// Highest value of `length.packets` so far.
    pub max_length_packets: u32,
    /// Packets taken into the queue.
    pub enqueued: Count,
    /// Packets sent.
    pub dequeued: Count,
    /// Packets refused because there was no room.
    pub dropped: Count,
    /// Packets that were taken, and later pushed out for another packet.
    pub pushed_out: Count,
    /// Packets that were taken, and later removed by [`crate::TrafficManager::flush`].
    pub flushed: Count,
}

impl QueueStats {
    /// Whether every packet and every byte is accounted for.
    pub fn balanced(&self) -> bool {
        self.enqueued == self.dequeued + self.pushed_out + self.flushed + self.length
    }

    /// Packets offered to the queue that were never sent: dropped, pushed out or flushed.
    pub fn lost(&self) -> Count {
        self.dropped + self.pushed_out + self.flushed
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortStats {
    /// Counters by priority.
    pub queues: [QueueStats; QUEUES],
    /// Packets refused because their priority is above 7.
    pub no_such_queue: Count,
    /// Highest number of packets so far in all queues together.
    pub max_length_packets: u32,
}

impl PortStats {
    /// The sum of one counter over all queues, for example `stats.total(|q| q.dropped)`.
    pub fn total(&self, count: impl Fn(&QueueStats) -> Count) -> Count {
        self.queues.iter().map(count).sum()
    }

    pub fn balanced(&self) -> bool {
        self.queues.iter().all(QueueStats::balanced)
    }
}
