//! Deficit round robin over users, in one shared buffer.
//!
//! Source: Shreedhar and Varghese, "Efficient Fair Queuing using Deficit Round Robin", SIGCOMM 1995. As in the paper, a
//! packet that arrives at a full buffer pushes one out of the longest queue (McKenney's buffer stealing). With plain
//! tail drop, a user that fills the buffer would lock the others out.
//!
//! ```text
//! arrival:   if the buffer is full:
//!                if the arriving user's queue, with this packet, is a longest one (in packets): drop the packet
//!                else push out the latest packet of the longest queue
//!            append to the user's queue; a queue that was empty joins the end of the round with deficit 0
//! departure: when a visit to the user at the head of the round begins: deficit += quantum
//!            if its first packet is no larger than the deficit: send it, deficit -= its length;
//!                if its queue is empty then, it leaves the round and loses its deficit
//!            else the user goes to the end of the round and keeps its deficit
//! ```
//!
//! While two users have packets waiting, the bytes sent for them differ by at most quantum + 2 * largest frame size.

use std::collections::VecDeque;
use std::fmt::Debug;

use crate::config::PortConfig;
use crate::discipline::{Properties, Reads, Scheduling};
use crate::packet::{DropReason, Element, Nanos, Verdict};
use crate::user_queues::{UserPlace, UserQueues};

/// Deficit round robin over users.
#[derive(Debug, Clone)]
pub struct Drr<E> {
    queues: UserQueues<E>,
    /// Users with a waiting packet, in the order of service.
    round: VecDeque<UserPlace>,
    /// Bytes that each user may still send in this round; index = place of the user.
    deficits: Vec<u64>,
    /// Whether the user at the head of the round has received its quantum for this visit.
    granted: bool,
    quantum: u64,
    buffer: usize,
}

impl<E: Element> Drr<E> {
    pub fn new(config: &PortConfig) -> Self {
        Drr {
            queues: UserQueues::new(),
            round: VecDeque::new(),
            deficits: Vec::new(),
            granted: false,
            quantum: u64::from(config.quantum_bytes),
            buffer: config.buffer_packets as usize,
        }
    }
}

impl<E> Properties for Drr<E> {
    const NESTS: bool = true;

    fn reads(_config: &PortConfig) -> Reads {
        Reads::USER
    }
}

impl<E: Element> Scheduling<E> for Drr<E> {
    fn length(&self, _priority: u8) -> usize {
        self.queues.len()
    }

    fn offer(&mut self, now: Nanos, element: E) -> Verdict<E> {
        let mut victim = None;
        if self.queues.len() >= self.buffer {
            let length_with_it = self.queues.len_of(element.user()) + 1;
            match self.queues.longest() {
                // The other queue is longer than one that holds a packet, so it holds at least two: its user stays in
                // the round.
                Some((place, length)) if length > length_with_it => victim = Some(self.queues.pop_back(place).0),
                _ => return Verdict::Refused(element, DropReason::Full),
            }
        }
        self.append(now, element);
        victim.map_or(Verdict::Taken, Verdict::PushedOut)
    }

    fn take(&mut self, _at: Nanos) -> Option<E> {
        loop {
            let user = *self.round.front()?;
            let deficit = &mut self.deficits[user as usize];
            if !std::mem::replace(&mut self.granted, true) {
                *deficit += self.quantum;
            }
            let bytes = u64::from(self.queues.head_bytes(user));
            if bytes <= *deficit {
                *deficit -= bytes;
                let (element, was_last) = self.queues.pop_front(user);
                if was_last {
                    self.round.pop_front();
                    self.granted = false;
                }
                return Some(element);
            }
            self.round.rotate_left(1);
            self.granted = false;
        }
    }

    fn append(&mut self, _now: Nanos, element: E) {
        let (user, was_empty) = self.queues.push_back(element);
        if was_empty {
            if self.deficits.len() <= user as usize {
                self.deficits.resize(user as usize + 1, 0);
            }
            self.deficits[user as usize] = 0;
            self.round.push_back(user);
        }
    }

    fn follow(&mut self, _now: Nanos, config: &PortConfig) -> bool {
        (self.quantum, self.buffer) = (u64::from(config.quantum_bytes), config.buffer_packets as usize);
        true
    }
}
