//! Approximate fair queueing: a calendar of FIFO queues, one for each of the coming rounds, in one shared buffer.
//!
//! Source: Sharma et al., "Approximating Fair Queueing on Reconfigurable Switches", NSDI 2018. Each round R gives every user
//! BpR bytes. A user's bid is the byte at which its next packet would end if users sent bit by bit in turn. Bids are kept
//! exactly; the paper's count-min sketch saves memory and can only make a bid too large.
//!
//! ```text
//! arrival:   if the buffer is full: drop the packet
//!            bid = max(bid of the user, R BpR) + length
//!            if bid / BpR >= R + n: drop the packet, it is too far ahead
//!            append to the queue of round bid / BpR, and keep the bid
//! departure: while the queue of round R is empty, R = R + 1; then its oldest packet
//! ```
//!
//! So a user has at most n BpR bytes in the buffer.

use std::collections::VecDeque;

use crate::config::Calendar;
use crate::packet::{Queued, Verdict};
use crate::user_clocks::UserClocks;

#[derive(Debug)]
pub(crate) struct Afq<P> {
    /// BpR.
    bytes_per_round: u64,
    /// n queues; the first is that of round R.
    calendar: VecDeque<VecDeque<Queued<P>>>,
    /// R.
    round: u64,
    bids: UserClocks,
    length: usize,
}

impl<P> Afq<P> {
    pub fn new(calendar: Calendar) -> Self {
        Afq {
            bytes_per_round: u64::from(calendar.bytes_per_round),
            calendar: (0..calendar.queues).map(|_| VecDeque::new()).collect(),
            round: 0,
            bids: UserClocks::new(),
            length: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn offer(&mut self, packet: Queued<P>, buffer: usize) -> Verdict<P> {
        let (bid, ahead) = self.bid(&packet);
        if self.length >= buffer || ahead >= self.calendar.len() {
            return Verdict::Refused(packet);
        }
        self.file(packet, bid, ahead);
        Verdict::Taken
    }

    /// Takes a packet even if the buffer is full. A packet that is too far ahead goes into the last round.
    pub fn append(&mut self, packet: Queued<P>) {
        let (bid, ahead) = self.bid(&packet);
        self.file(packet, bid, ahead.min(self.calendar.len() - 1));
    }

    pub fn take(&mut self) -> Option<Queued<P>> {
        if self.length == 0 {
            return None;
        }
        loop {
            if let Some(packet) = self.calendar.front_mut()?.pop_front() {
                self.length -= 1;
                return Some(packet);
            }
            self.calendar.rotate_left(1);
            self.round += 1;
        }
    }

    /// R BpR.
    fn served(&self) -> u64 {
        self.round * self.bytes_per_round
    }

    /// The packet's bid, and how many rounds after R it is due.
    fn bid(&self, packet: &Queued<P>) -> (u64, usize) {
        let bid = self.bids.at_least(packet.user, self.served()) + u64::from(packet.len);
        (bid, (bid / self.bytes_per_round - self.round) as usize)
    }

    fn file(&mut self, packet: Queued<P>, bid: u64, ahead: usize) {
        self.bids.set(packet.user, bid, self.served());
        self.calendar[ahead].push_back(packet);
        self.length += 1;
    }
}
