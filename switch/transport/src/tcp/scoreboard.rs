//! The scoreboard of RFC 6675: the state of each segment that was sent and is not acknowledged, with times for RFC
//! 8985.
//!
//! Segments have an index: segment i begins at byte i * mss. The scoreboard holds the segments from `una` (the first
//! one not acknowledged) to `next` (the first one not sent). Each takes 16 bytes.

use crate::ranges::Ranges;
use p4sched_schedulers::Nanos;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Sent once.
    Flying,
    /// Counted as lost, and waiting to be sent again.
    Lost,
    /// Sent again.
    Resent,
    /// The receiver has it.
    Sacked,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Time of the last transmission.
    at: Nanos,
    /// Number of the last transmission.
    number: u32,
    state: State,
    /// Whether it was sent more than once.
    again: bool,
}

/// A segment that an acknowledgement newly shows to have arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    pub(super) index: u64,
    pub(super) sent_at: Nanos,
    /// Number of the last transmission.
    pub(super) number: u32,
    /// Whether it was sent more than once.
    pub(super) again: bool,
}

/// The segments from `una` to `next`.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    una: u64,
    sent: VecDeque<Sent>,
    /// Transmissions so far.
    transmissions: u32,
    /// Indices of the sacked segments.
    sacked: Ranges,
    sacked_count: u32,
    lost_count: u32,
    /// No segment before this one is lost.
    first_lost: u64,
    /// No segment before this one is flying.
    first_flying: u64,
    /// Segments that were sent again, in the order of sending. An entry is invalid if its time is not that of its
    /// segment.
    resent: VecDeque<(Nanos, u64)>,
}

impl Scoreboard {
    /// The first segment that is not acknowledged.
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// The first segment that was never sent.
    pub(super) fn next(&self) -> u64 {
        self.una + self.sent.len() as u64
    }

    /// Time of the last transmission of the first segment that is not acknowledged.
    pub(super) fn first_sent_at(&self) -> Option<Nanos> {
        self.sent.front().map(|segment| segment.at)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// Number of segments from `una` to `next`.
    pub(super) fn out(&self) -> u32 {
        self.sent.len() as u32
    }

    /// Segments that may still be in the network (RFC 6675 Section 4: pipe).
    pub(super) fn in_flight(&self) -> u32 {
        self.out() - self.sacked_count - self.lost_count
    }

    pub(super) fn sacked(&self) -> u32 {
        self.sacked_count
    }

    /// Number of segments that wait to be sent again.
    pub(super) fn lost(&self) -> u32 {
        self.lost_count
    }

    /// Records that a new segment is sent. Returns its index.
    pub(super) fn send(&mut self, now: Nanos) -> u64 {
        let number = self.count();
        self.sent.push_back(Sent {
            at: now,
            number,
            state: State::Flying,
            again: false,
        });
        self.next() - 1
    }

    /// The first segment that waits to be sent again.
    pub(super) fn next_lost(&mut self) -> Option<u64> {
        if self.lost_count == 0 {
            return None;
        }
        while self.sent[(self.first_lost - self.una) as usize].state != State::Lost {
            self.first_lost += 1;
        }
        Some(self.first_lost)
    }

    /// The number of the next transmission.
    fn count(&mut self) -> u32 {
        self.transmissions += 1;
        self.transmissions
    }

    /// Records that a segment is sent again.
    pub(super) fn resend(&mut self, now: Nanos, index: u64) {
        let number = self.count();
        let segment = &mut self.sent[(index - self.una) as usize];
        self.lost_count -= u32::from(segment.state == State::Lost);
        *segment = Sent {
            at: now,
            number,
            state: State::Resent,
            again: true,
        };
        self.resent.push_back((now, index));
    }

    /// Records that all segments before `una` have arrived. Calls `tell` for each one that is new.
    pub(super) fn acknowledge(&mut self, una: u64, mut tell: impl FnMut(Delivered)) {
        while self.una < una {
            let Some(segment) = self.sent.pop_front() else { break };
            match segment.state {
                State::Sacked => self.sacked_count -= 1,
                State::Lost => self.lost_count -= 1,
                State::Flying | State::Resent => {}
            }
            if segment.state != State::Sacked {
                tell(Delivered {
                    index: self.una,
                    sent_at: segment.at,
                    number: segment.number,
                    again: segment.again,
                });
            }
            self.una += 1;
        }
        self.sacked.remove_before(self.una);
        self.first_lost = self.first_lost.max(self.una);
        self.first_flying = self.first_flying.max(self.una);
        while self.resent.front().is_some_and(|&entry| !self.is_resent(entry)) {
            self.resent.pop_front();
        }
    }

    fn is_resent(&self, (at, index): (Nanos, u64)) -> bool {
        let segment = index
            .checked_sub(self.una)
            .and_then(|place| self.sent.get(place as usize));
        segment.is_some_and(|segment| segment.state == State::Resent && segment.at == at)
    }

    /// Records that the segments from `start` to before `end` have arrived. Calls `tell` for each one that is new.
    pub(super) fn sack(&mut self, start: u64, end: u64, mut tell: impl FnMut(Delivered)) {
        let (start, end) = (start.max(self.una), end.min(self.next()));
        if start >= end || self.sacked.covering((start, end)).is_some() {
            return;
        }
        for (from, to) in self.sacked.holes((start, end)) {
            for index in from..to {
                let segment = &mut self.sent[(index - self.una) as usize];
                self.lost_count -= u32::from(segment.state == State::Lost);
                segment.state = State::Sacked;
                self.sacked_count += 1;
                tell(Delivered {
                    index,
                    sent_at: segment.at,
                    number: segment.number,
                    again: segment.again,
                });
            }
        }
        self.sacked.insert((start, end));
    }

    fn lose(&mut self, index: u64) {
        self.sent[(index - self.una) as usize].state = State::Lost;
        self.lost_count += 1;
        self.first_lost = self.first_lost.min(index);
    }

    /// RFC 6675 Section 4, IsLost: marks segments as lost that have `above` sacked ones above them. Segments that were
    /// sent again are not judged.
    pub(super) fn lose_below_sacked(&mut self, above: u32) {
        let mut left = u64::from(above);
        let limit = self.sacked.iter().rev().find_map(|(start, end)| {
            let found = end - start >= left;
            let limit = end.saturating_sub(left);
            left = left.saturating_sub(end - start);
            found.then_some(limit)
        });
        while self.first_flying < limit.unwrap_or(0) {
            if self.sent[(self.first_flying - self.una) as usize].state == State::Flying {
                self.lose(self.first_flying);
            }
            self.first_flying += 1;
        }
    }

    /// Marks the first segment as lost (RFC 6582 Section 3.2, steps 2 and 3).
    pub(super) fn lose_first(&mut self) {
        if self.sent.front().is_some_and(|segment| segment.state == State::Flying) {
            self.lose(self.una);
        }
    }

    /// RFC 8985 Section 6.2 step 5: marks segments as lost that were sent before the newest one that has arrived, after
    /// `wait`. Returns the time at which the next one would be lost, and whether a lost segment had been sent again.
    pub(super) fn lose_sent_before(&mut self, now: Nanos, newest: (Nanos, u64), wait: Nanos) -> (Option<Nanos>, bool) {
        let (mut due, mut again) = (None, false);
        // Both lists are in the order of sending, so the loops end at the first segment that is not lost.
        while let Some(segment) = self
            .first_flying
            .checked_sub(self.una)
            .and_then(|place| self.sent.get(place as usize))
        {
            if segment.state == State::Flying {
                if (segment.at, self.first_flying) >= newest {
                    break;
                }
                if segment.at + wait > now {
                    due = Some(segment.at + wait);
                    break;
                }
                self.lose(self.first_flying);
            }
            self.first_flying += 1;
        }
        while let Some(&entry) = self.resent.front() {
            if self.is_resent(entry) {
                if entry >= newest {
                    break;
                }
                if entry.0 + wait > now {
                    due = Some(due.map_or(entry.0 + wait, |due: Nanos| due.min(entry.0 + wait)));
                    break;
                }
                self.lose(entry.1);
                again = true;
            }
            self.resent.pop_front();
        }
        (due, again)
    }

    /// RFC 9002 Section 6.1: marks segments as lost that were sent before transmission `largest`, by at least `above`
    /// transmissions or `wait` ago. Returns the same as [`Scoreboard::lose_sent_before`].
    pub(super) fn lose_behind(&mut self, now: Nanos, largest: u32, above: u32, wait: Nanos) -> (Option<Nanos>, bool) {
        let is_lost = |segment: &Sent| segment.number + above <= largest || segment.at + wait <= now;
        let (mut due, mut again) = (None::<Nanos>, false);
        // Both lists are in the order of sending.
        while let Some(&segment) = self
            .first_flying
            .checked_sub(self.una)
            .and_then(|place| self.sent.get(place as usize))
        {
            if segment.state == State::Flying {
                if segment.number >= largest {
                    break;
                }
                if !is_lost(&segment) {
                    due = Some(segment.at + wait);
                    break;
                }
                self.lose(self.first_flying);
            }
            self.first_flying += 1;
        }
        while let Some(&entry) = self.resent.front() {
            if self.is_resent(entry) {
                let segment = self.sent[(entry.1 - self.una) as usize];
                if segment.number >= largest {
                    break;
                }
                if !is_lost(&segment) {
                    let at = segment.at + wait;
                    due = Some(due.map_or(at, |due| due.min(at)));
                    break;
                }
                self.lose(entry.1);
                again = true;
            }
            self.resent.pop_front();
        }
        (due, again)
    }

    /// Marks the first segment as lost, and all others that were sent at `until` or before, because the timer expired.
    pub(super) fn lose_all_until(&mut self, until: Nanos) {
        for index in self.una..self.next() {
            let segment = self.sent[(index - self.una) as usize];
            if matches!(segment.state, State::Flying | State::Resent) && (index == self.una || segment.at <= until) {
                self.lose(index);
            }
        }
    }

    /// Marks no segment as lost. Those that wait to be sent again count as in flight.
    pub(super) fn lose_none(&mut self) {
        while let Some(index) = self.next_lost() {
            let segment = &mut self.sent[(index - self.una) as usize];
            segment.state = if segment.again { State::Resent } else { State::Flying };
            self.lost_count -= 1;
            self.first_flying = self.first_flying.min(index);
        }
    }
}
