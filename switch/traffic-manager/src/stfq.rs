//! Start-time fair queueing over users: a push-in first-out queue whose ranks are virtual start times, in bytes.
//!
//! Source: Goyal, Vin and Cheng, "Start-Time Fair Queueing", SIGCOMM 1996; as a rank function of a PIFO in Sivaraman et
//! al., SIGCOMM 2016, and in the AIFO paper, Fig. 1. A program can compute the same ranks at ingress, but it does not
//! see what the queue later drops or pushes out, so it charges users for these packets too. Here a user pays only for
//! packets that are sent. This is a choice: AIFO does not say what a drop costs.
//!
//! ```text
//! arrival:   start = max(virtual time, finish of the user)
//!            if full: if the arriving packet has the largest (start, arrival): drop it
//!                     else push out the packet with the largest (start, arrival); finish of its user = its start
//!            insert; finish of the user = start + length / weight
//! departure: the smallest (start, arrival); virtual time = its start
//! ```
//!
//! The packet that is pushed out is always the last one of its user, so its start is the user's finish without it.

use std::fmt::Debug;

use crate::config::PortConfig;
use crate::discipline::{Properties, Reads, Scheduling};
use crate::packet::{Element, Nanos, Verdict};
use crate::pifo::Pifo;
use crate::user_clocks::UserClocks;

/// The virtual clock: the virtual time, and the start of each user's next packet.
#[derive(Debug, Clone)]
pub struct StartTimes {
    finishes: UserClocks,
    virtual_time: u64,
}

impl StartTimes {
    /// A clock for a queue that sends in the order of start times. Virtual time never steps back, so old finishes are
    /// deleted.
    pub fn in_order() -> StartTimes {
        StartTimes {
            finishes: UserClocks::new(),
            virtual_time: 0,
        }
    }

    /// A clock for any other queue.
    pub fn in_any_order() -> StartTimes {
        StartTimes {
            finishes: UserClocks::keeping_all(),
            virtual_time: 0,
        }
    }

    /// The start time of the packet that left last, in bytes of a user of weight 1.
    pub fn virtual_time(&self) -> u64 {
        self.virtual_time
    }

    /// The start of the next packet of this user, if it arrives at the current virtual time.
    pub fn start(&self, user: u64) -> u64 {
        self.finishes.at_least(user, self.virtual_time)
    }

    /// Charges a user for a packet that waits. `scale` is 256 / weight of the user.
    pub fn charge(&mut self, user: u64, start: u64, bytes: u32, scale: u32) {
        let cost = (u64::from(bytes) * u64::from(scale)) >> 8;
        self.finishes.set(user, start + cost, self.virtual_time);
    }

    /// Cancels the charge for the last waiting packet of a user, which had this start and was pushed out.
    pub fn refund(&mut self, user: u64, start: u64) {
        self.finishes.set(user, start, self.virtual_time);
    }

    /// Sets the virtual time to the start of a packet that leaves.
    pub fn serve(&mut self, start: u64) {
        self.virtual_time = start;
    }
}

/// An element with its start time, which is its rank.
#[derive(Debug, Clone)]
struct Started<E> {
    element: E,
    start: u64,
}

impl<E: Element> Element for Started<E> {
    fn priority(&self) -> u8 {
        self.element.priority()
    }

    fn bytes(&self) -> u32 {
        self.element.bytes()
    }

    fn user(&self) -> u64 {
        self.element.user()
    }

    fn rank(&self) -> u64 {
        self.start
    }
}

/// Start-time fair queueing over users.
#[derive(Debug, Clone)]
pub struct Stfq<E> {
    queue: Pifo<Started<E>>,
    times: StartTimes,
}

impl<E> Stfq<E> {
    pub fn new(config: &PortConfig) -> Self {
        Stfq {
            queue: Pifo::new(config),
            times: StartTimes::in_order(),
        }
    }
}

impl<E: Element> Stfq<E> {
    fn started(&self, element: E) -> Started<E> {
        let start = self.times.start(element.user());
        Started { element, start }
    }
}

impl<E> Properties for Stfq<E> {
    const NESTS: bool = true;

    fn reads(_config: &PortConfig) -> Reads {
        Reads::USER
    }
}

impl<E: Element> Scheduling<E> for Stfq<E> {
    fn length(&self, priority: u8) -> usize {
        self.queue.length(priority)
    }

    fn offer(&mut self, now: Nanos, element: E) -> Verdict<E> {
        let (user, bytes, scale) = (element.user(), element.bytes(), element.scale());
        let started = self.started(element);
        let start = started.start;
        let verdict = match self.queue.offer(now, started) {
            Verdict::Refused(refused, reason) => return Verdict::Refused(refused.element, reason),
            Verdict::Taken => Verdict::Taken,
            Verdict::PushedOut(victim) => {
                self.times.refund(victim.user(), victim.start);
                Verdict::PushedOut(victim.element)
            }
        };
        self.times.charge(user, start, bytes, scale);
        verdict
    }

    fn append(&mut self, now: Nanos, element: E) {
        let started = self.started(element);
        let Started { element, start } = &started;
        self.times
            .charge(element.user(), *start, element.bytes(), element.scale());
        self.queue.append(now, started);
    }

    fn take(&mut self, at: Nanos) -> Option<E> {
        let Started { element, start } = self.queue.take(at)?;
        self.times.serve(start);
        Some(element)
    }

    /// Starts virtual time again from 0, because a user pays only for packets that are sent.
    fn drain(&mut self) -> Vec<E> {
        self.times = StartTimes::in_order();
        self.queue.drain().into_iter().map(|started| started.element).collect()
    }

    fn follow(&mut self, now: Nanos, config: &PortConfig) -> bool {
        self.queue.follow(now, config)
    }
}
