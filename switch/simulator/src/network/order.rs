//! The order in which packets leave a port: inversions of ranks, and packets that overtake within their flow.
//!
//! An inversion is a packet that leaves while one of a lower rank waits, as in [`crate::inversions`]. A packet overtakes
//! if it leaves while one of its flow waits that came to the port before it.

use std::collections::VecDeque;

use p4sched_schedulers::{Packet, Rank, Verdict};

use crate::inversions::WaitingRanks;

/// Counts of packets that left out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutOfOrder {
    /// Packets that left while one of a lower rank waited.
    pub inversions: u64,
    /// Packets that left while an earlier one of their flow waited.
    pub overtakes: u64,
}

/// The packets that wait at a port, and the counts so far.
#[derive(Clone, Debug, Default)]
pub struct Order {
    counts: OutOfOrder,
    /// In the order of their arrivals.
    waiting: VecDeque<Waiting>,
    ranks: WaitingRanks,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    id: u64,
    rank: Rank,
    flow: u32,
}

impl Order {
    /// Counts an arrival. The rank of the packet is the one that the port schedules by.
    pub fn arrived(&mut self, packet: Packet, verdict: Verdict) {
        if verdict.is_queued() {
            let Packet { id, rank, flow, .. } = packet;
            self.waiting.push_back(Waiting { id, rank, flow });
            self.ranks.add(rank);
        }
        if let Verdict::PushedOut { victim, .. } = verdict {
            self.lost(victim.id);
        }
    }

    /// Removes a packet that was lost while it waited.
    pub fn lost(&mut self, id: u64) {
        if let Some((_, lost)) = self.take(id) {
            self.ranks.remove(lost.rank);
        }
    }

    /// Counts a departure.
    pub fn left(&mut self, id: u64) {
        if let Some((place, left)) = self.take(id) {
            self.counts.inversions += u64::from(self.ranks.inverted(left.rank));
            let earlier = self.waiting.iter().take(place).any(|other| other.flow == left.flow);
            self.counts.overtakes += u64::from(earlier);
        }
    }

    fn take(&mut self, id: u64) -> Option<(usize, Waiting)> {
        let place = self.waiting.iter().position(|waiting| waiting.id == id)?;
        self.waiting.remove(place).map(|taken| (place, taken))
    }

    pub fn counts(&self) -> OutOfOrder {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u64, rank: Rank, flow: u32) -> Packet {
        Packet {
            id,
            rank,
            user: 0,
            flow,
            len: 60,
        }
    }

    const QUEUED: Verdict = Verdict::Queued { queue: 0 };

    /// Counts after these packets have come, and left in this order.
    fn counts(arrivals: &[Packet], departures: &[u64]) -> (u64, u64) {
        let mut order = Order::default();
        for &arrival in arrivals {
            order.arrived(arrival, QUEUED);
        }
        for &id in departures {
            order.left(id);
        }
        (order.counts().inversions, order.counts().overtakes)
    }

    #[test]
    fn a_packet_counts_once_however_many_it_leaves_behind() {
        let waiting = [packet(0, 9, 1), packet(1, 2, 2), packet(2, 1, 3)];
        assert_eq!(counts(&waiting, &[0, 1, 2]), (2, 0), "9 before 2 and 1, and 2 before 1");
        assert_eq!(counts(&waiting, &[2, 1, 0]), (0, 0));
    }

    #[test]
    fn sorting_by_falling_ranks_overtakes_within_the_flow() {
        let flow = [packet(0, 30, 1), packet(1, 20, 1), packet(2, 10, 1)];
        assert_eq!(counts(&flow, &[2, 1, 0]), (0, 2));
        assert_eq!(counts(&flow, &[0, 1, 2]), (2, 0));
    }

    #[test]
    fn packets_of_another_flow_and_of_the_same_rank_do_not_count() {
        let waiting = [packet(0, 5, 1), packet(1, 5, 2)];
        assert_eq!(counts(&waiting, &[1, 0]), (0, 0));
    }

    #[test]
    fn a_packet_that_is_lost_waits_no_more() {
        let mut order = Order::default();
        order.arrived(packet(0, 3, 1), QUEUED);
        let victim = packet(0, 3, 1);
        order.arrived(packet(1, 2, 1), Verdict::PushedOut { queue: 0, victim });
        order.arrived(packet(2, 1, 1), Verdict::DroppedFull);
        order.arrived(packet(3, 1, 1), QUEUED);
        order.lost(3);
        order.left(1);
        assert_eq!(order.counts(), OutOfOrder::default());
    }
}
