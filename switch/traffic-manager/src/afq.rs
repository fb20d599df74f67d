//! Approximate fair queueing: a calendar of FIFO queues, one for each of the coming rounds, in one shared buffer.
//!
//! Source: Sharma et al., "Approximating Fair Queueing on Reconfigurable Switches", NSDI 2018. Each round R gives every
//! user BpR bytes. A user's bid is the byte at which its next packet would end if users sent bit by bit in turn. Bids
//! are exact here. The paper uses a count-min sketch, which saves memory and can only make a bid too large.
//!
//! ```text
//! arrival:   bid = max(bid of the user, R BpR) + length
//!            if bid / BpR >= R + n: drop the packet, it is too far ahead
//!            if the buffer or the queue of round bid / BpR is full: drop the packet
//!            append to the queue of round bid / BpR, and keep the bid
//! departure: while the queue of round R is empty, R = R + 1; then send its oldest packet
//! ```
//!
//! So a user has at most n BpR bytes in the buffer.
//!
//! Netbench (AFQQueue.java of SP-PIFO's artifact) drops only what is more than n rounds ahead. The queue of a packet that
//! is n rounds ahead is the one that is served ([`CalendarConfig::wraps`]).

use std::fmt::Debug;

use crate::config::{CalendarConfig, ConfigError, LARGEST_FRAME_BYTES, PortConfig};
use crate::discipline::{Properties, Reads, Scheduling};
use crate::packet::{DropReason, Element, Nanos, Port, Verdict};
use crate::rounds::Rounds;
use crate::user_clocks::UserClocks;

/// A calendar in which every user may send BpR bytes per round.
#[derive(Debug, Clone)]
pub struct Afq<E> {
    rounds: Rounds<E>,
    bids: UserClocks,
    calendar: CalendarConfig,
    buffer: usize,
}

impl<E> Afq<E> {
    pub fn new(config: &PortConfig) -> Self {
        Afq {
            rounds: Rounds::new(config.calendar.queues),
            bids: UserClocks::new(),
            calendar: config.calendar,
            buffer: config.buffer_packets as usize,
        }
    }

    /// BpR, in bytes.
    fn bytes_per_round(&self) -> u64 {
        u64::from(self.calendar.bytes_per_round)
    }

    /// R BpR: the bytes that a user could have sent before the round that is served.
    fn served(&self) -> u64 {
        self.rounds.head() * self.bytes_per_round()
    }
}

impl<E: Element> Afq<E> {
    /// The element's bid, and the round in which it ends.
    fn bid(&self, element: &E) -> (u64, u64) {
        let bid = self.bids.at_least(element.user(), self.served()) + u64::from(element.bytes());
        (bid, bid / self.bytes_per_round())
    }

    /// The round whose queue takes an element that ends in this round; None if it is too far ahead.
    fn round_of_queue(&self, round: u64) -> Option<u64> {
        let last = self.rounds.last();
        match round {
            _ if round <= last => Some(round),
            _ if self.calendar.wraps && round == last + 1 => Some(self.rounds.head()),
            _ => None,
        }
    }

    fn file(&mut self, element: E, bid: u64, round: u64) {
        self.bids.set(element.user(), bid, self.served());
        self.rounds.push(round, element);
    }
}

impl<E> Properties for Afq<E> {
    fn reads(_config: &PortConfig) -> Reads {
        Reads::USER
    }

    fn check(port: Port, config: &PortConfig) -> Result<(), ConfigError> {
        let CalendarConfig {
            queues,
            bytes_per_round,
            ..
        } = config.calendar;
        if u64::from(queues) * u64::from(bytes_per_round) <= u64::from(LARGEST_FRAME_BYTES) {
            return Err(ConfigError::CalendarBytes {
                port,
                queues,
                bytes_per_round,
            });
        }
        Ok(())
    }
}

impl<E: Element> Scheduling<E> for Afq<E> {
    fn length(&self, _priority: u8) -> usize {
        self.rounds.len()
    }

    fn offer(&mut self, _now: Nanos, element: E) -> Verdict<E> {
        let (bid, round) = self.bid(&element);
        let Some(round) = self.round_of_queue(round) else {
            return Verdict::Refused(element, DropReason::TooFar);
        };
        if self.rounds.len() >= self.buffer || self.rounds.len_of(round) >= self.calendar.room() {
            return Verdict::Refused(element, DropReason::Full);
        }
        self.file(element, bid, round);
        Verdict::Taken
    }

    /// A packet that is too far ahead goes into the last round.
    fn append(&mut self, _now: Nanos, element: E) {
        let (bid, round) = self.bid(&element);
        self.file(element, bid, round.min(self.rounds.last()));
    }

    fn take(&mut self, _at: Nanos) -> Option<E> {
        self.rounds.pop()
    }

    /// Starts all rounds again from 0, because a user pays only for packets that are sent.
    fn drain(&mut self) -> Vec<E> {
        let elements = self.rounds.drain();
        self.rounds = Rounds::new(self.calendar.queues);
        self.bids = UserClocks::new();
        elements
    }

    fn follow(&mut self, _now: Nanos, config: &PortConfig) -> bool {
        self.buffer = config.buffer_packets as usize;
        self.calendar == config.calendar
    }

    fn round(&self, _now: Nanos) -> Option<u64> {
        Some(self.rounds.head())
    }
}
