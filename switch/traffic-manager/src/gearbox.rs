//! Gearbox: fair queueing by virtual finish times in levels of FIFO queues, in one shared buffer.
//!
//! Source: Gao et al., "Gearbox: A Hierarchical Packet Scheduler for Approximate Weighted Fair Queuing", NSDI 2022, by the
//! code of its authors; `schedulers/gearbox/README.md` names it and says where its versions differ. A FIFO of level i holds
//! the packets of N^i rounds. Packets that leave soon are in a fine level, the others in a coarse one.
//!
//! ```text
//! VC: the round that is served;  g: bytes of a user of weight 1 in a round;  level i: 2 N FIFOs, the top level N
//! arrival:   finish = max(VC g, finish of the user) + bytes / weight;  round = finish / g
//!            if round is `burst` rounds ahead of VC, or N FIFOs of the top level: drop the packet, it is too far ahead
//!            level = the finest i with round / N^(i+1) - VC / N^(i+1) <= 1
//!            while VC is in or before the FIFO of the user's last packet: level = max(level, level of that packet)
//!            if the buffer or the FIFO is full: drop the packet
//!            append to the FIFO round / N^level of the level, and keep the finish
//! departure: in each round, the finest level first:
//!                level 0: the FIFO of round VC, until it is empty
//!                level i: bytes in its current FIFO / rounds that the FIFO has left; all of it in its last round
//!            nothing left: VC = the next round in which a FIFO has a packet
//! ```
//!
//! The rank of a packet is 256 / weight of its user; 0 stands for weight 1. Without `whole_sets` the level is the finest
//! i with round - VC < N^(i+1), as in the authors' hardware. Then a user's packets can leave in another order.

use std::collections::VecDeque;
use std::fmt::Debug;

use hashbrown::HashMap;

use crate::config::{CalendarConfig, ConfigError, MAX_LEVELS, MAX_ROUNDS, PortConfig};
use crate::discipline::{Properties, Reads, Scheduling};
use crate::packet::{DropReason, Element, Nanos, Port, SCALE_OF_WEIGHT_1, Verdict};
use crate::user_clocks::FEW_USERS;

/// The FIFOs of a level.
#[derive(Debug, Clone)]
struct Level<E> {
    /// Rounds of each FIFO: N^i.
    width: u64,
    /// The FIFO of the rounds from `turn * width` on is at index `turn` modulo the number of FIFOs.
    fifos: Vec<VecDeque<E>>,
    /// Bytes in each FIFO.
    bytes: Vec<u64>,
    /// Bytes that the current FIFO may still send in this round.
    share: i64,
}

impl<E: Element> Level<E> {
    fn new(width: u64, fifos: u32) -> Level<E> {
        Level {
            width,
            fifos: (0..fifos).map(|_| VecDeque::new()).collect(),
            bytes: vec![0; fifos as usize],
            share: 0,
        }
    }

    fn place(&self, round: u64) -> usize {
        (round / self.width % self.fifos.len() as u64) as usize
    }

    fn push(&mut self, round: u64, element: E) {
        let place = self.place(round);
        self.bytes[place] += u64::from(element.bytes());
        self.fifos[place].push_back(element);
    }

    /// Removes the oldest element of the FIFO of a round, if it may leave in this round.
    fn pop(&mut self, round: u64) -> Option<E> {
        let last = (round + 1).is_multiple_of(self.width);
        if !last && self.share <= 0 {
            return None;
        }
        let place = self.place(round);
        let element = self.fifos[place].pop_front()?;
        self.bytes[place] -= u64::from(element.bytes());
        self.share -= i64::from(element.bytes());
        Some(element)
    }

    /// Begins a round: sets the share of its FIFO.
    fn begin(&mut self, round: u64) {
        let rounds_left = self.width - round % self.width;
        self.share = self.bytes[self.place(round)].div_ceil(rounds_left) as i64;
    }

    /// The first round, from this one on, in which a FIFO has an element.
    fn next(&self, round: u64) -> Option<u64> {
        let turn = round / self.width;
        let mut turns = turn..turn + self.fifos.len() as u64;
        let found = turns.find(|turn| !self.fifos[self.place(turn * self.width)].is_empty())?;
        Some(round.max(found * self.width))
    }
}

/// The last element of a user.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    /// Its virtual finish time, in 1/256 byte of a user of weight 1.
    finish: u128,
    level: usize,
}

/// Levels of FIFOs behind one virtual clock.
#[derive(Debug, Clone)]
pub struct Gearbox<E> {
    levels: Vec<Level<E>>,
    /// VC.
    clock: u64,
    last: HashMap<u64, Last>,
    /// Number of users at which those without an effect are forgotten.
    crowded: usize,
    length: usize,
    calendar: CalendarConfig,
    buffer: usize,
}

impl<E: Element> Gearbox<E> {
    pub fn new(config: &PortConfig) -> Self {
        let CalendarConfig { queues, levels, .. } = config.calendar;
        let sets = |level: u32| if level + 1 < levels { 2 } else { 1 };
        let level = |level: u32| Level::new(u64::from(queues).pow(level), queues * sets(level));
        Gearbox {
            levels: (0..levels).map(level).collect(),
            clock: 0,
            last: HashMap::new(),
            crowded: FEW_USERS,
            length: 0,
            calendar: config.calendar,
            buffer: config.buffer_packets as usize,
        }
    }

    /// g, in 1/256 byte.
    fn unit(&self) -> u128 {
        u128::from(self.calendar.bytes_per_round) * u128::from(SCALE_OF_WEIGHT_1)
    }

    /// The last round that the top level reaches.
    fn last_round(&self) -> u64 {
        let top = self.levels[self.levels.len() - 1].width;
        (self.clock / top + u64::from(self.calendar.queues)) * top - 1
    }

    fn last_of(&self, user: u64) -> Last {
        self.last.get(&user).copied().unwrap_or_default()
    }

    /// The element's virtual finish time, and its round.
    fn finish(&self, element: &E) -> (u128, u64) {
        let scale = match element.rank() {
            0 => u64::from(SCALE_OF_WEIGHT_1),
            scale => scale,
        };
        let start = self
            .last_of(element.user())
            .finish
            .max(u128::from(self.clock) * self.unit());
        let finish = start + u128::from(element.bytes()) * u128::from(scale);
        (finish, u64::try_from(finish / self.unit()).unwrap_or(u64::MAX))
    }

    /// The level of an element of a user that is filed for a round.
    fn level(&self, user: u64, round: u64) -> usize {
        self.natural_level(round).max(self.pinned_level(self.last_of(user)))
    }

    /// The finest level that reaches a round.
    fn natural_level(&self, round: u64) -> usize {
        let reached = |above: &Level<E>| match self.calendar.whole_sets {
            true => round / above.width - self.clock / above.width <= 1,
            false => round - self.clock < above.width,
        };
        let found = self.levels[1..].iter().position(reached);
        found.unwrap_or(self.levels.len() - 1)
    }

    /// The level that a user must not go below, because its last element may still wait there.
    fn pinned_level(&self, last: Last) -> usize {
        let width = self.levels[last.level].width;
        let over = last.finish / self.unit() / u128::from(width) < u128::from(self.clock / width);
        if over { 0 } else { last.level }
    }

    fn file(&mut self, element: E, finish: u128, round: u64, level: usize) {
        if self.last.len() >= self.crowded {
            let mut last = std::mem::take(&mut self.last);
            let begun = u128::from(self.clock) * self.unit();
            last.retain(|_, last| last.finish > begun || self.pinned_level(*last) > 0);
            self.crowded = FEW_USERS.max(2 * last.len());
            self.last = last;
        }
        self.last.insert(element.user(), Last { finish, level });
        self.levels[level].push(round, element);
        self.length += 1;
    }
}

impl<E> Properties for Gearbox<E> {
    fn reads(_config: &PortConfig) -> Reads {
        Reads {
            user: true,
            ..Reads::RANK
        }
    }

    fn check(port: Port, config: &PortConfig) -> Result<(), ConfigError> {
        let CalendarConfig {
            queues,
            levels,
            bytes_per_round,
            ..
        } = config.calendar;
        let rounds = u64::from(queues).checked_pow(levels).unwrap_or(u64::MAX);
        if !(1..=MAX_LEVELS).contains(&levels) || rounds > MAX_ROUNDS || bytes_per_round == 0 {
            return Err(ConfigError::Gearbox {
                port,
                levels,
                queues,
                bytes_per_round,
            });
        }
        Ok(())
    }
}

impl<E: Element> Scheduling<E> for Gearbox<E> {
    fn length(&self, _priority: u8) -> usize {
        self.length
    }

    fn offer(&mut self, _now: Nanos, element: E) -> Verdict<E> {
        let (finish, round) = self.finish(&element);
        let burst = u64::from(self.calendar.burst_rounds);
        if round > self.last_round() || (burst > 0 && round - self.clock >= burst) {
            return Verdict::Refused(element, DropReason::TooFar);
        }
        let level = self.level(element.user(), round);
        let fifos = &self.levels[level];
        if self.length >= self.buffer || fifos.fifos[fifos.place(round)].len() >= self.calendar.room() {
            return Verdict::Refused(element, DropReason::Full);
        }
        self.file(element, finish, round, level);
        Verdict::Taken
    }

    /// A packet that is too far ahead goes into the last round.
    fn append(&mut self, _now: Nanos, element: E) {
        let (finish, round) = self.finish(&element);
        let round = round.min(self.last_round());
        let level = self.level(element.user(), round);
        self.file(element, finish, round, level);
    }

    fn take(&mut self, _at: Nanos) -> Option<E> {
        if self.length == 0 {
            return None;
        }
        loop {
            let clock = self.clock;
            if let Some(element) = self.levels.iter_mut().find_map(|level| level.pop(clock)) {
                self.length -= 1;
                return Some(element);
            }
            let rounds = self.levels.iter().filter_map(|level| level.next(clock + 1));
            self.clock = rounds.min().expect("an element waits");
            for level in &mut self.levels {
                level.begin(self.clock);
            }
        }
    }

    /// Starts all rounds again from 0, because a user pays only for packets that are sent.
    fn drain(&mut self) -> Vec<E> {
        let elements = std::iter::from_fn(|| self.take(Nanos::MAX)).collect();
        for level in &mut self.levels {
            level.share = 0;
        }
        self.last = HashMap::new();
        self.clock = 0;
        elements
    }

    fn follow(&mut self, _now: Nanos, config: &PortConfig) -> bool {
        self.buffer = config.buffer_packets as usize;
        self.calendar == config.calendar
    }

    fn round(&self, _now: Nanos) -> Option<u64> {
        Some(self.clock)
    }
}
