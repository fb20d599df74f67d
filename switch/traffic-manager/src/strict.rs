//! Eight queues with strict priority, 7 the most urgent; tail drop for each.
//!
//! Source: BMv2 `QueueingLogicPriRL` (bm/bm_sim/queueing.h), whose packet-rate limiter is here too: a packet is told at
//! its arrival when it may leave, one interval after the one before it in the same queue.
//!
//! ```text
//! arrival at queue q: if length[q] < size[q]: append, eligible = max(now, eligible of its predecessor + 1/rate[q])
//!                     else drop the arriving packet
//! departure:          the head of the most urgent queue whose head is eligible
//! ```
//!
//! Unlike in BMv2 the queues share one link, so a backlogged queue keeps every less urgent one waiting.

use std::collections::VecDeque;

use crate::config::{QUEUES, QueueConfig};
use crate::pace::Pace;
use crate::packet::{Nanos, Queued, Verdict};

#[derive(Debug)]
pub(crate) struct Strict<P> {
    queues: [VecDeque<Queued<P>>; QUEUES],
    /// When each queue's limiter lets the next packet go.
    limiters: [Pace; QUEUES],
    /// Bit q: queue q has a packet.
    backlogged: u8,
}

impl<P> Strict<P> {
    pub fn new() -> Self {
        Strict {
            queues: Default::default(),
            limiters: Default::default(),
            backlogged: 0,
        }
    }

    pub fn len(&self, queue: u8) -> usize {
        self.queues[usize::from(queue)].len()
    }

    pub fn offer(&mut self, mut packet: Queued<P>, config: &[QueueConfig; QUEUES]) -> Verdict<P> {
        let q = usize::from(packet.priority);
        if self.queues[q].len() >= config[q].size_packets as usize {
            return Verdict::Refused(packet);
        }
        packet.eligible_ns = self.limit(q, packet.enq_ns, config[q].rate_pps);
        self.append(packet);
        Verdict::Taken
    }

    pub fn append(&mut self, packet: Queued<P>) {
        let q = usize::from(packet.priority);
        self.queues[q].push_back(packet);
        self.backlogged |= 1 << q;
    }

    /// The earliest instant at which some packet may leave.
    pub fn ready(&self) -> Option<Nanos> {
        self.heads().map(|(_, head)| head.eligible_ns).min()
    }

    /// The most urgent packet that may leave at `at`.
    pub fn take(&mut self, at: Nanos) -> Option<Queued<P>> {
        let (q, _) = self.heads().find(|(_, head)| head.eligible_ns <= at)?;
        let packet = self.queues[q].pop_front();
        if self.queues[q].is_empty() {
            self.backlogged &= !(1 << q);
        }
        packet
    }

    /// Applies a new packet rate to the packets that wait, as if the limiter had been idle before `now`.
    pub fn rate_changed(&mut self, now: Nanos, q: usize, rate_pps: u64) {
        self.limiters[q] = Pace::default();
        let mut waiting = std::mem::take(&mut self.queues[q]);
        for packet in &mut waiting {
            packet.eligible_ns = self.limit(q, now, rate_pps);
        }
        self.queues[q] = waiting;
    }

    /// When a packet that came to queue `q` at `now` may leave.
    fn limit(&mut self, q: usize, now: Nanos, rate_pps: u64) -> Nanos {
        if rate_pps == 0 {
            return now;
        }
        let eligible = self.limiters[q].begin(now);
        self.limiters[q].work(1, rate_pps);
        eligible
    }

    /// Heads of the backlogged queues, most urgent first.
    fn heads(&self) -> impl Iterator<Item = (usize, &Queued<P>)> {
        let mut left = self.backlogged;
        std::iter::from_fn(move || {
            let q = left.checked_ilog2()? as usize;
            left &= !(1 << q);
            Some(q)
        })
        .filter_map(|q| self.queues[q].front().map(|head| (q, head)))
    }
}
