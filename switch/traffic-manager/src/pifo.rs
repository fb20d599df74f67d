//! Push-in first-out queue: always sends the smallest rank, and when full gives up the largest.
//!
//! Source: Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016, with the push-out that the
//! AIFO paper's ideal assumes (section 2, Fig. 2).
//!
//! ```text
//! arrival:   if full: if the arriving packet has the largest (rank, arrival): drop it
//!                     else push out the packet with the largest (rank, arrival)
//!            insert
//! departure: the smallest (rank, arrival)
//! ```
//!
//! Among equal ranks the latest arrival is pushed out, so the arriving packet loses a tie.

use crate::min_max_heap::MinMaxHeap;
use crate::packet::{Queued, Verdict};
use crate::slab::Slab;

/// (rank, number of arrival, place of the packet)
type Key = (u64, u64, u32);

#[derive(Debug)]
pub(crate) struct Pifo<P> {
    order: MinMaxHeap<Key>,
    packets: Slab<Queued<P>>,
}

impl<P> Pifo<P> {
    pub fn new() -> Self {
        Pifo {
            order: MinMaxHeap::new(),
            packets: Slab::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn offer(&mut self, packet: Queued<P>, buffer: usize) -> Verdict<P> {
        let mut victim = None;
        if self.order.len() >= buffer {
            match self.order.max() {
                Some((rank, arrival, _)) if (packet.rank, packet.arrival) < (rank, arrival) => {
                    victim = self.order.pop_max().map(|(.., place)| self.packets.remove(place));
                }
                _ => return Verdict::Refused(packet),
            }
        }
        self.append(packet);
        victim.map_or(Verdict::Taken, Verdict::PushedOut)
    }

    pub fn take(&mut self) -> Option<Queued<P>> {
        self.order.pop_min().map(|(.., place)| self.packets.remove(place))
    }

    pub fn append(&mut self, packet: Queued<P>) {
        let (rank, arrival) = (packet.rank, packet.arrival);
        let place = self.packets.insert(packet);
        self.order.push((rank, arrival, place));
    }
}
