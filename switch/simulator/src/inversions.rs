//! The experiment of PACKS 6.1 in stepped time: a constant bit rate of packets over a slower link.
//!
//! Packets of one length arrive at rate a and leave at rate d. Both rates are exact: a packet arrives every d ticks of
//! the clock, and the link needs a ticks to send it. A packet on the wire has left its queue. If a packet arrives when
//! the link becomes free, the departure comes first.
//!
//! If a packet leaves while a packet of a lower rank waits, that is one inversion, counted for the rank of the leaving
//! packet. A drop is counted for the rank of the lost packet. With PIFO that may be a packet that was pushed out.

use std::collections::BTreeMap;

use p4sched_schedulers::{ConfigError, Nanos, Packet, Rank, Scheduler, Scheme, Sizes};

/// Length of every packet, in bytes.
pub const PACKET_BYTES: u32 = 1500;

/// A constant stream over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Arrival rate a. Only its ratio to the drain rate matters to the schedulers.
    pub arrival_mbps: u32,
    /// Drain rate d.
    pub drain_mbps: u32,
}

impl Link {
    /// The link of the paper: 11 Gbit/s over 10 Gbit/s.
    pub const PAPER: Link = Link {
        arrival_mbps: 11_000,
        drain_mbps: 10_000,
    };

    /// Number of packets of [`PACKET_BYTES`] that arrive in `duration`.
    pub fn arrivals_in(self, duration: Nanos) -> usize {
        (u128::from(duration) * u128::from(self.arrival_mbps) / (u128::from(PACKET_BYTES) * 8 * 1000)) as usize
    }
}

/// Result of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Inversions by the rank of the packet that left too early.
    pub inversions: BTreeMap<Rank, u64>,
    /// Lost packets by rank.
    pub drops: BTreeMap<Rank, u64>,
    /// Sent packets by rank.
    pub departures: BTreeMap<Rank, u64>,
    /// Identities of the sent packets, in order.
    pub sent: Vec<u64>,
}

impl Outcome {
    pub fn total_inversions(&self) -> u64 {
        self.inversions.values().sum()
    }

    pub fn total_drops(&self) -> u64 {
        self.drops.values().sum()
    }

    /// The most urgent rank that lost a packet.
    pub fn lowest_rank_dropped(&self) -> Option<Rank> {
        self.drops.keys().next().copied()
    }
}

/// Sends one packet of each rank, in order, through the scheduler, and then drains it.
pub fn run(scheduler: &mut impl Scheduler, link: Link, ranks: &[Rank]) -> Outcome {
    let mut run = Run {
        scheduler,
        waiting: WaitingRanks::default(),
        outcome: Outcome::default(),
        link_free: 0,
    };
    let service = Nanos::from(link.arrival_mbps);
    for (index, &rank) in ranks.iter().enumerate() {
        let now = index as Nanos * Nanos::from(link.drain_mbps);
        run.depart_until(now, service);
        let packet = Packet {
            id: index as u64,
            rank,
            user: rank,
            flow: rank,
            len: PACKET_BYTES,
        };
        run.arrive(now, packet);
    }
    run.depart_until(Nanos::MAX, service);
    run.outcome
}

/// The ranks of the packets that wait, and how many there are of each.
#[derive(Clone, Debug, Default)]
pub struct WaitingRanks(BTreeMap<Rank, u64>);

impl WaitingRanks {
    /// Adds a packet of this rank.
    pub fn add(&mut self, rank: Rank) {
        *self.0.entry(rank).or_default() += 1;
    }

    /// Removes a packet of this rank.
    pub fn remove(&mut self, rank: Rank) {
        if let Some(count) = self.0.get_mut(&rank) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&rank);
            }
        }
    }

    /// Removes a packet that leaves. True if it is an inversion: a packet of a lower rank waits.
    pub fn inverted(&mut self, leaving: Rank) -> bool {
        self.remove(leaving);
        self.0.first_key_value().is_some_and(|(&lowest, _)| lowest < leaving)
    }
}

struct Run<'a, S> {
    scheduler: &'a mut S,
    waiting: WaitingRanks,
    outcome: Outcome,
    /// End of the current transmission.
    link_free: Nanos,
}

impl<S: Scheduler> Run<'_, S> {
    fn arrive(&mut self, now: Nanos, packet: Packet) {
        if self.scheduler.is_empty() {
            self.link_free = self.link_free.max(now);
        }
        self.waiting.add(packet.rank);
        if let Some(lost) = self.scheduler.enqueue(now, packet).lost(packet) {
            self.waiting.remove(lost.rank);
            *self.outcome.drops.entry(lost.rank).or_default() += 1;
        }
    }

    /// Makes every departure that starts at or before `now`.
    fn depart_until(&mut self, now: Nanos, service: Nanos) {
        while self.link_free <= now {
            let Some(packet) = self.scheduler.dequeue(self.link_free) else {
                return;
            };
            self.link_free += service;
            if self.waiting.inverted(packet.rank) {
                *self.outcome.inversions.entry(packet.rank).or_default() += 1;
            }
            *self.outcome.departures.entry(packet.rank).or_default() += 1;
            self.outcome.sent.push(packet.id);
        }
    }
}

/// Runs the model of a scheme over these ranks at the rates of the paper, from an empty window.
///
/// # Errors
/// Those of [`Sizes::model`].
pub fn of_scheme(scheme: Scheme, sizes: &Sizes, ranks: &[Rank]) -> Result<Outcome, ConfigError> {
    Ok(run(&mut sizes.model(scheme, &[])?, Link::PAPER, ranks))
}

#[cfg(test)]
mod tests {
    use p4sched_schedulers::fifo::Fifo;
    use p4sched_schedulers::pifo::Pifo;

    use super::*;

    #[test]
    fn a_second_of_the_papers_stream_is_916666_packets() {
        assert_eq!(Link::PAPER.arrivals_in(1_000_000_000), 916_666);
    }

    #[test]
    fn an_inversion_is_counted_once_for_the_packet_that_leaves_too_early() {
        // Three arrivals for each departure: 5 is sent at once, then 9, 1, 2 wait. FIFO sends 9 before 1 and 2.
        let link = Link {
            arrival_mbps: 3,
            drain_mbps: 1,
        };
        let outcome = run(&mut Fifo::new(10).unwrap(), link, &[5, 9, 1, 2]);
        assert_eq!(outcome.inversions, BTreeMap::from([(9, 1)]));
        assert_eq!(outcome.sent, [0, 1, 2, 3]);
        let outcome = run(&mut Pifo::new(10).unwrap(), link, &[5, 9, 1, 2]);
        assert_eq!((outcome.total_inversions(), outcome.sent), (0, vec![0, 2, 3, 1]));
        let outcome = run(&mut Fifo::new(10).unwrap(), link, &[5, 5, 5, 5]);
        assert_eq!(
            outcome.total_inversions(),
            0,
            "a packet of the same rank waits, not of a lower one"
        );
    }

    #[test]
    fn a_drop_is_counted_for_the_rank_that_is_lost() {
        let link = Link {
            arrival_mbps: 3,
            drain_mbps: 1,
        };
        // 1 pushes out 9; 8 finds 2 in the only place of the buffer.
        let outcome = run(&mut Pifo::new(1).unwrap(), link, &[5, 9, 1, 2, 8]);
        assert_eq!(outcome.drops, BTreeMap::from([(8, 1), (9, 1)]));
        assert_eq!(outcome.lowest_rank_dropped(), Some(8));
        assert_eq!(outcome.departures, BTreeMap::from([(1, 1), (2, 1), (5, 1)]));
    }

    #[test]
    fn a_link_faster_than_the_stream_loses_and_inverts_nothing() {
        let link = Link {
            arrival_mbps: 10,
            drain_mbps: 11,
        };
        let ranks: Vec<Rank> = (0..1000).map(|index| index * 37 % 100).collect();
        let sizes = Sizes {
            window: 20,
            ..Sizes::PAPER
        };
        for mut model in Scheme::ALL.iter().filter_map(|&scheme| sizes.model(scheme, &[]).ok()) {
            let outcome = run(&mut model, link, &ranks);
            assert_eq!((outcome.total_drops(), outcome.total_inversions()), (0, 0), "{model:?}");
            assert_eq!(outcome.sent.len(), 1000);
        }
    }
}
