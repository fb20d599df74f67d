//! Push-in first-out queue: always sends the smallest rank; when full, pushes out the largest.
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
//! Among equal ranks the latest arrival is pushed out, so the arriving packet loses on equal rank.

use std::fmt::Debug;

use crate::config::PortConfig;
use crate::discipline::{Properties, Reads, Scheduling};
use crate::packet::{DropReason, Element, Nanos, Verdict};
use crate::slab::Slab;
use crate::sorted::Sorted;

/// A queue sorted by rank.
#[derive(Debug, Clone)]
pub struct Pifo<E> {
    /// Places of the elements, sorted by rank.
    order: Sorted,
    elements: Slab<E>,
    buffer: usize,
}

impl<E> Pifo<E> {
    pub fn new(config: &PortConfig) -> Self {
        Pifo {
            order: Sorted::new(),
            elements: Slab::new(),
            buffer: config.buffer_packets as usize,
        }
    }
}

impl<E> Properties for Pifo<E> {
    const NESTS: bool = true;

    fn reads(_config: &PortConfig) -> Reads {
        Reads::RANK
    }
}

impl<E: Element> Scheduling<E> for Pifo<E> {
    fn length(&self, _priority: u8) -> usize {
        self.order.len()
    }

    fn offer(&mut self, now: Nanos, element: E) -> Verdict<E> {
        if self.order.len() >= self.buffer {
            return self.exchange(now, element);
        }
        self.append(now, element);
        Verdict::Taken
    }

    fn exchange(&mut self, now: Nanos, element: E) -> Verdict<E> {
        match self.order.largest() {
            Some(largest) if element.rank() < largest => {
                let victim = self.give_up(0);
                self.append(now, element);
                victim.map_or(Verdict::Taken, Verdict::PushedOut)
            }
            _ => Verdict::Refused(element, DropReason::Full),
        }
    }

    /// The largest (rank, arrival).
    fn give_up(&mut self, _priority: u8) -> Option<E> {
        self.order.pop_largest().map(|place| self.elements.remove(place))
    }

    fn take(&mut self, _at: Nanos) -> Option<E> {
        self.order.pop_smallest().map(|place| self.elements.remove(place))
    }

    fn append(&mut self, _now: Nanos, element: E) {
        let rank = element.rank();
        let place = self.elements.insert(element);
        self.order.insert(rank, place);
    }

    fn follow(&mut self, _now: Nanos, config: &PortConfig) -> bool {
        self.buffer = config.buffer_packets as usize;
        true
    }
}
