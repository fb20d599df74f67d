//! First in, first out, with tail drop.
//!
//! Source: the baseline of every scheduling paper; RFC 2309 section 2 names its fault, lock-out.
//!
//! ```text
//! arrival:   if length < buffer: append; else drop the arriving packet
//! departure: the oldest
//! ```

use std::collections::VecDeque;

use crate::packet::{Queued, Verdict};

#[derive(Debug)]
pub(crate) struct Fifo<P> {
    packets: VecDeque<Queued<P>>,
}

impl<P> Fifo<P> {
    pub fn new() -> Self {
        Fifo {
            packets: VecDeque::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    pub fn offer(&mut self, packet: Queued<P>, buffer: usize) -> Verdict<P> {
        if self.packets.len() >= buffer {
            return Verdict::Refused(packet);
        }
        self.append(packet);
        Verdict::Taken
    }

    pub fn append(&mut self, packet: Queued<P>) {
        self.packets.push_back(packet);
    }

    pub fn take(&mut self) -> Option<Queued<P>> {
        self.packets.pop_front()
    }
}
