//! Eight queues with strict priority; 7 is the most urgent. Each queue has tail drop.
//!
//! Source: BMv2 `QueueingLogicPriRL` (bm/bm_sim/queueing.h), with its packet-rate limiter. At its arrival a packet gets
//! the instant from which it may leave: one interval after the packet before it in the same queue.
//!
//! ```text
//! arrival at queue q: if length[q] < size[q]: append, eligible = max(now, eligible of its predecessor + 1/rate[q])
//!                     else drop the arriving packet
//! departure:          the head of the most urgent queue whose head is eligible
//! ```
//!
//! Unlike in BMv2, the queues share one link, so a backlogged queue delays every less urgent one.

use std::collections::VecDeque;
use std::fmt::Debug;

use crate::config::{PortConfig, QUEUES, QueueConfig};
use crate::discipline::{Properties, Scheduling};
use crate::pace::Pace;
use crate::packet::{DropReason, Element, NEVER, Nanos, Verdict};

/// Eight queues with strict priority.
#[derive(Debug, Clone)]
pub struct Strict<E> {
    /// Each element has the instant from which it may leave. It differs from the arrival only behind a packet-rate
    /// limiter.
    queues: [VecDeque<(Nanos, E)>; QUEUES],
    /// The instant at which each queue's limiter lets the next packet leave.
    limiters: [Pace; QUEUES],
    configs: [QueueConfig; QUEUES],
    /// Bit q is set if queue q has a packet.
    backlogged: u8,
}

impl<E> Strict<E> {
    pub fn new(config: &PortConfig) -> Self {
        Strict {
            queues: std::array::from_fn(|_| VecDeque::new()),
            limiters: Default::default(),
            configs: config.queues,
            backlogged: 0,
        }
    }

    /// Applies a new packet rate to the waiting packets, as if the limiter had been idle before `now`.
    fn rate_changed(&mut self, now: Nanos, q: usize) {
        self.limiters[q] = Pace::default();
        let mut waiting = std::mem::take(&mut self.queues[q]);
        for (eligible, _) in &mut waiting {
            *eligible = self.limit(q, now);
        }
        self.queues[q] = waiting;
    }

    /// The instant from which a packet that came to queue `q` at `now` may leave.
    fn limit(&mut self, q: usize, now: Nanos) -> Nanos {
        let rate_pps = self.configs[q].rate_pps;
        if rate_pps == 0 {
            return now;
        }
        let eligible = self.limiters[q].begin(now);
        self.limiters[q].work(1, rate_pps);
        eligible
    }

    /// The backlogged queues, most urgent first, and the instants from which their heads may leave.
    fn heads(&self) -> impl Iterator<Item = (usize, Nanos)> {
        let mut left = self.backlogged;
        std::iter::from_fn(move || {
            let q = left.checked_ilog2()? as usize;
            left &= !(1 << q);
            Some(q)
        })
        .filter_map(|q| self.queues[q].front().map(|&(eligible, _)| (q, eligible)))
    }
}

impl<E> Properties for Strict<E> {
    const ONE_BUFFER: bool = false;
}

impl<E: Element> Scheduling<E> for Strict<E> {
    fn length(&self, priority: u8) -> usize {
        self.queues[usize::from(priority)].len()
    }

    fn offer(&mut self, now: Nanos, element: E) -> Verdict<E> {
        let q = usize::from(element.priority());
        if self.queues[q].len() >= self.configs[q].size_packets as usize {
            return Verdict::Refused(element, DropReason::Full);
        }
        self.append(now, element);
        Verdict::Taken
    }

    fn append(&mut self, now: Nanos, element: E) {
        let q = usize::from(element.priority());
        let eligible = self.limit(q, now);
        self.queues[q].push_back((eligible, element));
        self.backlogged |= 1 << q;
    }

    fn take(&mut self, at: Nanos) -> Option<E> {
        let (q, _) = self.heads().find(|&(_, eligible)| eligible <= at)?;
        self.give_up(q as u8)
    }

    fn give_up(&mut self, priority: u8) -> Option<E> {
        let q = usize::from(priority);
        let head = self.queues[q].pop_front();
        if self.queues[q].is_empty() {
            self.backlogged &= !(1 << q);
        }
        head.map(|(_, element)| element)
    }

    fn ready(&self) -> Nanos {
        self.heads().map(|(_, eligible)| eligible).min().unwrap_or(NEVER)
    }

    fn follow(&mut self, now: Nanos, config: &PortConfig) -> bool {
        let old = std::mem::replace(&mut self.configs, config.queues);
        for (q, (old, new)) in old.iter().zip(&config.queues).enumerate() {
            if old.rate_pps != new.rate_pps {
                self.rate_changed(now, q);
            }
        }
        true
    }
}
