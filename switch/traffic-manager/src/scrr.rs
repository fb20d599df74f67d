//! SCRR: round robin over users whose turns are as long as their packets demand, in one shared buffer.
//!
//! Source: Sharafzadeh et al., "Self-Clocked Round-Robin Packet Scheduling", NSDI 2025, by the authors' Linux qdisc
//! `sch_scrr.c`. `schedulers/scrr/README.md` names it and describes its six versions. The last one is
//!
//! ```text
//! start:   virtual start of a packet, in bytes         advance:  the users of this round may send up to it
//! finish:  start + length; the user's next start       latest:   latest start of the packets that were sent
//!                                                      previous: the advance of the round before
//! arrival:   if the buffer is full, or the user has `flow_packets` packets: drop the packet
//!            append to the user. If the user is in no list:
//!                finish > advance, and there are other users: end of the old users    (it had its share)
//!                else: end of the new users, one turn more in this round
//! departure: the first new user, else the first old one; its first packet:
//!                start = finish if finish > previous, else previous + length
//!                finish = start + length;  latest = max(latest, start)
//!                no packet waits at the port: latest = finish, a new round
//!            no further packet of the user: it leaves its list, its turn is over
//!            finish > advance: it goes to the end of the old users, its turn is over
//! round:     after one turn for each user: previous = advance, advance = latest
//! ```
//!
//! The clocks can step back when the port becomes empty, as in the qdisc.

use std::collections::VecDeque;
use std::fmt::Debug;

use hashbrown::HashMap;

use crate::config::{ConfigError, PortConfig, SCRR_VERSIONS, ScrrConfig};
use crate::discipline::{Properties, Reads, Scheduling};
use crate::packet::{DropReason, Element, Nanos, Port, Verdict};
use crate::user_clocks::FEW_USERS;

/// The six qdiscs of the authors.
const BASIC: u32 = 0;
const NPM: u32 = 2;
const NMIA: u32 = 3;
const NMNE: u32 = 4;
const NEIA: u32 = 5;

#[derive(Debug, Clone)]
struct User<E> {
    /// Virtual start of its next packet, if it stays busy. Bytes.
    finish: u64,
    /// Waiting elements with their starts, if these are known on arrival.
    elements: VecDeque<(E, Option<u64>)>,
    in_list: bool,
}

/// Self-clocked round robin over users.
#[derive(Debug, Clone)]
pub struct Scrr<E> {
    users: HashMap<u64, User<E>>,
    /// Number of users at which those without an effect are forgotten.
    crowded: usize,
    /// Users that have just become busy. They are served first.
    new: VecDeque<u64>,
    old: VecDeque<u64>,
    advance: u64,
    latest: u64,
    previous: u64,
    turns_left: i64,
    length: usize,
    settings: ScrrConfig,
    buffer: usize,
}

impl<E: Element> Scrr<E> {
    pub fn new(config: &PortConfig) -> Self {
        Scrr {
            users: HashMap::new(),
            crowded: FEW_USERS,
            new: VecDeque::new(),
            old: VecDeque::new(),
            advance: 0,
            latest: 0,
            previous: 0,
            turns_left: 0,
            length: 0,
            settings: config.scrr,
            buffer: config.buffer_packets as usize,
        }
    }

    /// The starts of packets are computed when they arrive.
    fn at_arrival(&self) -> bool {
        self.settings.version < NPM
    }

    /// A user that was idle starts a length after the round before.
    fn initial_advance(&self) -> bool {
        matches!(self.settings.version, NMIA | NEIA)
    }

    /// A user without a packet leaves its list at once.
    fn leaves_when_empty(&self) -> bool {
        matches!(self.settings.version, BASIC | NMNE | NEIA)
    }

    /// A user that comes back joins the old ones if it had its share of the round.
    fn may_come_late(&self) -> bool {
        matches!(self.settings.version, NMNE | NEIA)
    }

    fn others(&mut self) -> &mut VecDeque<u64> {
        if self.new.is_empty() {
            &mut self.old
        } else {
            &mut self.new
        }
    }

    fn forget_idle_users(&mut self) {
        if self.users.len() >= self.crowded {
            let over = self.previous.min(self.advance);
            self.users
                .retain(|_, user| user.in_list || !user.elements.is_empty() || user.finish > over);
            self.crowded = FEW_USERS.max(2 * self.users.len());
        }
    }

    fn join(&mut self, number: u64, finish: u64) {
        if self.may_come_late() && !self.others().is_empty() && finish > self.advance {
            self.old.push_back(number);
        } else {
            self.new.push_back(number);
            self.turns_left += 1;
        }
    }

    fn start_of(&self, finish: u64, bytes: u64) -> u64 {
        if finish > self.previous {
            finish
        } else if self.initial_advance() {
            self.previous + bytes
        } else {
            self.advance
        }
    }

    /// Sends the first element of the user whose turn it is, if there is one.
    fn send(&mut self, number: u64) -> Option<E> {
        let user = self.users.get_mut(&number)?;
        let (element, start) = user.elements.pop_front()?;
        let (kept, empty) = (user.finish, user.elements.is_empty());
        self.length -= 1;
        let bytes = u64::from(element.bytes());
        let known = start.is_some();
        let start = start.unwrap_or_else(|| self.start_of(kept, bytes));
        let finish = start + bytes;
        if !known && let Some(user) = self.users.get_mut(&number) {
            user.finish = finish;
        }
        if self.length == 0 {
            self.latest = finish;
            self.begin_round();
        } else {
            self.latest = self.latest.max(start);
        }
        if empty && self.leaves_when_empty() {
            self.leave(number);
        } else if empty || finish > self.advance {
            self.end_turn();
            self.others().pop_front();
            if self.settings.version == BASIC {
                self.new.push_back(number);
            } else {
                self.old.push_back(number);
            }
        }
        Some(element)
    }

    fn leave(&mut self, number: u64) {
        self.others().pop_front();
        if let Some(user) = self.users.get_mut(&number) {
            user.in_list = false;
        }
        self.end_turn();
    }

    /// Counts a turn. The first turn after the last one of a round begins a round.
    fn end_turn(&mut self) {
        if self.turns_left <= 0 {
            if self.latest != self.advance {
                self.begin_round();
            }
            self.turns_left = (self.new.len() + self.old.len()) as i64;
        }
        self.turns_left -= 1;
    }

    fn begin_round(&mut self) {
        self.previous = std::mem::replace(&mut self.advance, self.latest);
    }
}

impl<E> Properties for Scrr<E> {
    fn reads(_config: &PortConfig) -> Reads {
        Reads::USER
    }

    fn check(port: Port, config: &PortConfig) -> Result<(), ConfigError> {
        let version = config.scrr.version;
        if version >= SCRR_VERSIONS {
            return Err(ConfigError::ScrrVersion { port, version });
        }
        Ok(())
    }
}

impl<E: Element> Scheduling<E> for Scrr<E> {
    fn length(&self, _priority: u8) -> usize {
        self.length
    }

    fn offer(&mut self, now: Nanos, element: E) -> Verdict<E> {
        let waiting = self.users.get(&element.user()).map_or(0, |user| user.elements.len());
        if self.length >= self.buffer || waiting >= self.settings.room() {
            return Verdict::Refused(element, DropReason::Full);
        }
        self.append(now, element);
        Verdict::Taken
    }

    fn append(&mut self, _now: Nanos, element: E) {
        let number = element.user();
        self.forget_idle_users();
        let previous = self.previous;
        let user = self.users.entry(number).or_insert_with(|| User {
            finish: previous,
            elements: VecDeque::new(),
            in_list: false,
        });
        let (finish, was_listed) = (user.finish, std::mem::replace(&mut user.in_list, true));
        if !was_listed {
            self.join(number, finish);
        }
        let start = self.at_arrival().then(|| self.advance.max(finish));
        let user = self.users.get_mut(&number).expect("the user has just joined");
        if let Some(start) = start {
            user.finish = start + u64::from(element.bytes());
        }
        user.elements.push_back((element, start));
        self.length += 1;
    }

    fn take(&mut self, _at: Nanos) -> Option<E> {
        while self.length > 0 {
            let number = *self.others().front()?;
            let sent = self.send(number);
            if sent.is_some() {
                return sent;
            }
            self.leave(number);
        }
        None
    }

    /// Starts all clocks again from 0, because a user pays only for packets that are sent.
    fn drain(&mut self) -> Vec<E> {
        let elements = std::iter::from_fn(|| self.take(Nanos::MAX)).collect();
        self.users = HashMap::new();
        (self.new, self.old) = (VecDeque::new(), VecDeque::new());
        (self.advance, self.latest, self.previous, self.turns_left) = (0, 0, 0, 0);
        elements
    }

    fn follow(&mut self, _now: Nanos, config: &PortConfig) -> bool {
        self.buffer = config.buffer_packets as usize;
        self.settings.flow_packets = config.scrr.flow_packets;
        self.settings == config.scrr
    }
}
