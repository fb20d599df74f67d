//! Inversions, drops and departures of a port, by rank.
//!
//! An inversion is a packet that leaves while one of a lower rank waits, as in [`crate::inversions`]. The authors of
//! SP-PIFO counted those of FIFO in another way: packets that are queued while one of a higher rank waits.

use p4sched_schedulers::{Packet, Rank, Verdict};

/// Counts of packets by rank 0, 1, ...
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByRank {
    /// Packets that left while one of a lower rank waited.
    pub inversions: Vec<u64>,
    /// Packets that were queued while one of a higher rank waited.
    pub behind_higher: Vec<u64>,
    /// Lost packets.
    pub drops: Vec<u64>,
    /// Packets put on the wire.
    pub departures: Vec<u64>,
    /// Packets that were queued, by queue 0, 1, ... and then by rank; queue 0 is the most urgent one.
    pub queued: Vec<Vec<u64>>,
    waiting: Vec<u32>,
}

impl ByRank {
    /// Counts of ranks below `ranks`.
    pub fn new(ranks: usize) -> ByRank {
        ByRank {
            inversions: vec![0; ranks],
            behind_higher: vec![0; ranks],
            drops: vec![0; ranks],
            departures: vec![0; ranks],
            queued: Vec::new(),
            waiting: vec![0; ranks],
        }
    }

    /// Counts an arrival.
    pub fn arrived(&mut self, packet: Packet, verdict: Verdict) {
        let rank = packet.rank as usize;
        if let Verdict::Queued { queue } | Verdict::PushedOut { queue, .. } = verdict {
            if queue >= self.queued.len() {
                self.queued.resize(queue + 1, vec![0; self.waiting.len()]);
            }
            self.queued[queue][rank] += 1;
            let higher = self.waiting[rank + 1..].iter().any(|&count| count > 0);
            self.behind_higher[rank] += u64::from(higher);
            self.waiting[rank] += 1;
        }
        if let Some(lost) = verdict.lost(packet) {
            self.drops[lost.rank as usize] += 1;
            self.waiting[lost.rank as usize] -= u32::from(verdict.is_queued());
        }
    }

    /// Counts a packet that its queue gave up to the memory.
    pub fn given_up(&mut self, rank: Rank) {
        self.drops[rank as usize] += 1;
        self.waiting[rank as usize] -= 1;
    }

    /// Counts a departure.
    pub fn left(&mut self, rank: Rank) {
        let rank = rank as usize;
        self.waiting[rank] -= 1;
        let lower = self.waiting[..rank].iter().any(|&count| count > 0);
        self.inversions[rank] += u64::from(lower);
        self.departures[rank] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(rank: Rank) -> Packet {
        Packet {
            id: 0,
            rank,
            user: 0,
            flow: 0,
            len: 60,
        }
    }

    #[test]
    fn a_packet_in_front_of_a_lower_rank_counts_when_it_leaves() {
        let mut counts = ByRank::new(4);
        for rank in [2, 1, 3] {
            counts.arrived(packet(rank), Verdict::Queued { queue: 1 });
        }
        assert_eq!(counts.behind_higher, [0, 1, 0, 0]);
        assert_eq!(counts.queued, [[0; 4], [0, 1, 1, 1]]);
        for rank in [2, 1, 3] {
            counts.left(rank);
        }
        assert_eq!(counts.inversions, [0, 0, 1, 0]);
        assert_eq!(counts.departures, [0, 1, 1, 1]);
    }

    #[test]
    fn a_packet_that_is_pushed_out_waits_no_more() {
        let mut counts = ByRank::new(4);
        counts.arrived(packet(3), Verdict::Queued { queue: 0 });
        let victim = packet(3);
        counts.arrived(packet(2), Verdict::PushedOut { queue: 0, victim });
        counts.arrived(packet(1), Verdict::DroppedFull);
        counts.left(2);
        assert_eq!((counts.drops, counts.inversions), (vec![0, 1, 0, 1], vec![0; 4]));
        assert_eq!(counts.behind_higher, [0, 0, 1, 0]);
    }
}
