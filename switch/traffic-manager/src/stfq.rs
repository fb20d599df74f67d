//! Start-time fair queueing over users: a push-in first-out queue whose ranks are virtual start times, in bytes.
//!
//! Source: Goyal, Vin and Cheng, "Start-Time Fair Queueing", SIGCOMM 1996; as a rank function of a PIFO in Sivaraman et al.,
//! SIGCOMM 2016, and in the AIFO paper, Fig. 1. A program can compute the same ranks at ingress, but does not learn what
//! the queue refuses or pushes out later and so charges users for it. Here nobody pays for a packet that is not sent: a
//! choice, AIFO does not say what a drop costs.
//!
//! ```text
//! arrival:   start = max(virtual time, finish of the user)
//!            if full: if the arriving packet has the largest (start, arrival): drop it
//!                     else push out the packet with the largest; finish of its user = its start
//!            insert; finish of the user = start + length
//! departure: the smallest (start, arrival); virtual time = its start
//! ```
//!
//! The packet that is pushed out is the last one of its user, so its start is where its user stood without it.

use crate::packet::{Queued, Verdict};
use crate::pifo::Pifo;
use crate::user_clocks::UserClocks;

#[derive(Debug)]
pub(crate) struct Stfq<P> {
    /// By start.
    queue: Pifo<P>,
    finishes: UserClocks,
    virtual_time: u64,
}

impl<P> Stfq<P> {
    pub fn new() -> Self {
        Stfq {
            queue: Pifo::new(),
            finishes: UserClocks::new(),
            virtual_time: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn offer(&mut self, packet: Queued<P>, buffer: usize) -> Verdict<P> {
        let packet = self.started(packet);
        let (user, finish) = (packet.user, packet.rank + u64::from(packet.len));
        let verdict = self.queue.offer(packet, buffer);
        if let Verdict::Refused(_) = verdict {
            return verdict;
        }
        if let Verdict::PushedOut(victim) = &verdict {
            self.finishes.set(victim.user, victim.rank, self.virtual_time);
        }
        self.finishes.set(user, finish, self.virtual_time);
        verdict
    }

    pub fn append(&mut self, packet: Queued<P>) {
        let packet = self.started(packet);
        self.finishes
            .set(packet.user, packet.rank + u64::from(packet.len), self.virtual_time);
        self.queue.append(packet);
    }

    pub fn take(&mut self) -> Option<Queued<P>> {
        let packet = self.queue.take()?;
        self.virtual_time = packet.rank;
        Some(packet)
    }

    /// The packet, ranked by its start.
    fn started(&self, packet: Queued<P>) -> Queued<P> {
        let rank = self.finishes.at_least(packet.user, self.virtual_time);
        Queued { rank, ..packet }
    }
}
