//! First in, first out, with tail drop.
//!
//! Source: the baseline of every scheduling paper. RFC 2309 section 2 names its weakness, lock-out.
//!
//! ```text
//! arrival:   if length < buffer: append; else drop the arriving packet
//! departure: the oldest packet
//! ```

use std::collections::VecDeque;
use std::fmt::Debug;

use crate::config::PortConfig;
use crate::discipline::{Properties, Scheduling};
use crate::packet::{DropReason, Nanos, Verdict};

/// One queue with tail drop.
#[derive(Debug, Clone)]
pub struct Fifo<E> {
    elements: VecDeque<E>,
    buffer: usize,
}

impl<E> Fifo<E> {
    pub fn new(config: &PortConfig) -> Self {
        Fifo {
            elements: VecDeque::new(),
            buffer: config.buffer_packets as usize,
        }
    }
}

impl<E> Properties for Fifo<E> {
    const NESTS: bool = true;
}

impl<E: Debug> Scheduling<E> for Fifo<E> {
    #[inline]
    fn length(&self, _priority: u8) -> usize {
        self.elements.len()
    }

    #[inline]
    fn offer(&mut self, now: Nanos, element: E) -> Verdict<E> {
        if self.elements.len() >= self.buffer {
            return Verdict::Refused(element, DropReason::Full);
        }
        self.append(now, element);
        Verdict::Taken
    }

    #[inline]
    fn append(&mut self, _now: Nanos, element: E) {
        self.elements.push_back(element);
    }

    #[inline]
    fn take(&mut self, _at: Nanos) -> Option<E> {
        self.elements.pop_front()
    }

    fn follow(&mut self, _now: Nanos, config: &PortConfig) -> bool {
        self.buffer = config.buffer_packets as usize;
        true
    }
}
