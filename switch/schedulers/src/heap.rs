//! A queue sorted by rank in which equal ranks leave in no order of their own: that of the papers' simulator.
//!
//! Netbench's PIFO is a binary heap of Java (`PIFOQueue.java` of github.com/mostafaei/RIFO, commit 1b09a01). The steps of
//! `java.util.concurrent.PriorityBlockingQueue` decide which of several equal ranks is first.

use crate::scheduler::{Packet, Verdict};

/// A binary heap of packets, the smallest rank first.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    packets: Vec<Packet>,
}

impl Heap {
    /// Number of packets that wait.
    pub fn waiting(&self) -> usize {
        self.packets.len()
    }

    /// Adds a packet. If more than `capacity` packets wait then, the largest rank is lost; of equal ones that with the
    /// last place.
    pub fn offer(&mut self, capacity: usize, packet: Packet) -> Verdict {
        self.packets.push(packet);
        self.rise(self.packets.len() - 1);
        if self.packets.len() <= capacity {
            return Verdict::Queued { queue: 0 };
        }
        match self.take_largest() {
            Some(victim) if victim.id != packet.id => Verdict::PushedOut { queue: 0, victim },
            _ => Verdict::DroppedFull,
        }
    }

    /// Removes the first packet, of the smallest rank.
    pub fn take(&mut self) -> Option<Packet> {
        let last = self.packets.pop()?;
        let Some(first) = self.packets.first_mut() else {
            return Some(last);
        };
        let taken = std::mem::replace(first, last);
        self.sink(0);
        Some(taken)
    }

    /// Removes the packet with the largest rank.
    pub fn take_largest(&mut self) -> Option<Packet> {
        let (place, _) = self.packets.iter().enumerate().max_by_key(|(_, packet)| packet.rank)?;
        let last = self.packets.pop()?;
        if place == self.packets.len() {
            return Some(last);
        }
        let taken = std::mem::replace(&mut self.packets[place], last);
        self.sink(place);
        if self.packets[place].id == last.id {
            self.rise(place);
        }
        Some(taken)
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.packets[place].rank >= self.packets[parent].rank {
                break;
            }
            self.packets.swap(place, parent);
            place = parent;
        }
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let Some(found) = self.packets.get(left) else {
                break;
            };
            let child = match self.packets.get(right) {
                Some(other) if found.rank > other.rank => right,
                _ => left,
            };
            if self.packets[place].rank <= self.packets[child].rank {
                break;
            }
            self.packets.swap(place, child);
            place = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u64, rank: u32) -> Packet {
        Packet {
            id,
            rank,
            user: 0,
            flow: 0,
            len: 60,
        }
    }

    /// Ids of packets with these ranks, in the order in which they leave.
    fn order(ranks: &[u32]) -> Vec<u64> {
        let mut heap = Heap::default();
        for (id, &rank) in (0..).zip(ranks) {
            heap.offer(ranks.len(), packet(id, rank));
        }
        std::iter::from_fn(|| heap.take().map(|packet| packet.id)).collect()
    }

    #[test]
    fn equal_ranks_leave_in_the_order_of_java() {
        // a PriorityBlockingQueue of Java 17 with a comparator of the ranks
        assert_eq!(order(&[7, 7, 7, 7]), [0, 3, 2, 1]);
        assert_eq!(order(&[3, 1, 3, 1, 3, 1, 2, 2]), [1, 3, 5, 7, 6, 0, 4, 2]);
    }

    #[test]
    fn the_largest_rank_is_lost_and_of_equal_ones_that_with_the_last_place() {
        let mut heap = Heap::default();
        for id in 0..3 {
            assert_eq!(heap.offer(3, packet(id, 5)), Verdict::Queued { queue: 0 });
        }
        assert_eq!(heap.offer(3, packet(3, 5)), Verdict::DroppedFull);
        assert_eq!(heap.offer(3, packet(4, 9)), Verdict::DroppedFull);
        let pushed_out = Verdict::PushedOut {
            queue: 0,
            victim: packet(1, 5),
        };
        assert_eq!(heap.offer(3, packet(5, 1)), pushed_out);
        assert_eq!(heap.take().map(|first| first.id), Some(5));
    }
}
