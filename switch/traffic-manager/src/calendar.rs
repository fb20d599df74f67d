//! A calendar of N FIFO queues, one for each of the coming rounds, in one shared buffer.
//!
//! Sources: Brown, "Calendar Queues", CACM 31(10), 1988; for switches Sharma et al., "Programmable Calendar Queues for
//! High-speed Packet Scheduling", NSDI 2020. A program decides how many rounds ahead a packet is filed. The head is the
//! round that is served. It moves on with time (a physical calendar) or when its queue has been served (a logical one).
//! Packets become more urgent while they wait, which a fixed priority cannot express.
//!
//! ```text
//! arrival:   round = head + 7 - priority   (place: priority)
//!                    head + rank           (place: ahead)
//!                    rank / width          (place: rank; a past round becomes the head; if the calendar is empty and
//!                                           does not turn by time, its head first moves to the round)
//!            if round >= head + N: drop the packet, it is too far ahead
//!            if the buffer or the round's queue is full: drop the packet
//!            append to the queue round modulo N
//! departure: the oldest packet of a round that is over; else the head's oldest
//! the head:  by time:  now / T, even if packets wait; nothing leaves before its round
//!            else:     moves to the next round with a packet when its queue is empty and a packet is to leave,
//!                      and by one when Q bytes have left in its round (Q = 0: no limit)
//! ```
//!
//! Packets of past rounds are late: they leave first, in order. So packets leave in the order of rounds and, within a
//! round, of arrival. The paper lets the program decide what happens to late packets; this is the choice made here.

use std::fmt::Debug;

use crate::config::{CalendarConfig, ConfigError, PortConfig, QUEUES};
use crate::discipline::{Properties, Reads, Scheduling};
use crate::packet::{DropReason, Element, Nanos, Port, Verdict};
use crate::rounds::Rounds;
use p4sched_proto::p4sched::v1::CalendarPlace;

/// A calendar whose head moves by time, by bytes, or when its queue is empty.
#[derive(Debug, Clone)]
pub struct Calendar<E> {
    rounds: Rounds<E>,
    /// Bytes that have left in the round of the head.
    served: u64,
    calendar: CalendarConfig,
    buffer: usize,
}

impl<E> Calendar<E> {
    pub fn new(config: &PortConfig) -> Self {
        Calendar {
            rounds: Rounds::new(config.calendar.queues),
            served: 0,
            calendar: config.calendar,
            buffer: config.buffer_packets as usize,
        }
    }

    /// Moves the head to its round at `now`, if it moves by time.
    fn turn(&mut self, now: Nanos) {
        if let Some(round) = now.checked_div(self.calendar.turn_ns) {
            self.rounds.advance(round);
        }
    }

    fn by_time(&self) -> bool {
        self.calendar.turn_ns != 0
    }
}

impl<E: Element> Calendar<E> {
    /// The round that an element is filed for. May move the head of an empty calendar.
    fn round_of(&mut self, element: &E) -> u64 {
        let head = self.rounds.head();
        match self.calendar.place {
            CalendarPlace::Ahead => head.saturating_add(element.rank()),
            CalendarPlace::Rank => {
                let round = element.rank() / self.calendar.rank_width;
                if self.rounds.len() == 0 && !self.by_time() {
                    self.rounds.advance(round);
                }
                round.max(self.rounds.head())
            }
            _ => head + (QUEUES - 1) as u64 - u64::from(element.priority()),
        }
    }
}

impl<E> Properties for Calendar<E> {
    fn reads(config: &PortConfig) -> Reads {
        match config.calendar.place {
            CalendarPlace::Ahead | CalendarPlace::Rank => Reads::RANK,
            _ => Reads::NOTHING,
        }
    }

    fn check(port: Port, config: &PortConfig) -> Result<(), ConfigError> {
        let CalendarConfig {
            turn_bytes,
            turn_ns,
            place,
            rank_width,
            ..
        } = config.calendar;
        if turn_bytes != 0 && turn_ns != 0 {
            return Err(ConfigError::CalendarTurn {
                port,
                turn_bytes,
                turn_ns,
            });
        }
        if place == CalendarPlace::Rank && rank_width == 0 {
            return Err(ConfigError::CalendarWidth { port });
        }
        Ok(())
    }
}

impl<E: Element> Scheduling<E> for Calendar<E> {
    fn length(&self, _priority: u8) -> usize {
        self.rounds.len()
    }

    fn offer(&mut self, now: Nanos, element: E) -> Verdict<E> {
        self.turn(now);
        if self.rounds.len() >= self.buffer {
            return Verdict::Refused(element, DropReason::Full);
        }
        let round = self.round_of(&element);
        if round > self.rounds.last() {
            return Verdict::Refused(element, DropReason::TooFar);
        }
        if self.rounds.len_of(round) >= self.calendar.room() {
            return Verdict::Refused(element, DropReason::Full);
        }
        self.rounds.push(round, element);
        Verdict::Taken
    }

    /// A packet that is too far ahead goes into the last round.
    fn append(&mut self, now: Nanos, element: E) {
        self.turn(now);
        let round = self.round_of(&element).min(self.rounds.last());
        self.rounds.push(round, element);
    }

    fn take(&mut self, at: Nanos) -> Option<E> {
        self.turn(at);
        let head = self.rounds.head();
        if self.by_time() && self.rounds.first() > head {
            return None;
        }
        let element = self.rounds.pop()?;
        if self.rounds.head() != head {
            self.served = 0;
        }
        self.served += u64::from(element.bytes());
        if self.calendar.turn_bytes != 0 && self.served >= self.calendar.turn_bytes {
            self.rounds.advance(self.rounds.head() + 1);
            self.served = 0;
        }
        Some(element)
    }

    fn ready(&self) -> Nanos {
        self.rounds.first().saturating_mul(self.calendar.turn_ns)
    }

    fn drain(&mut self) -> Vec<E> {
        self.rounds.drain()
    }

    fn follow(&mut self, _now: Nanos, config: &PortConfig) -> bool {
        self.buffer = config.buffer_packets as usize;
        self.calendar == config.calendar
    }

    fn round(&self, now: Nanos) -> Option<u64> {
        let by_time = now.checked_div(self.calendar.turn_ns).unwrap_or(0);
        Some(by_time.max(self.rounds.head()))
    }
}
