//! What happens when: events in the order of their time, and at the same time in the order in which they were planned.
//!
//! A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, JACM 1990) of base 256, also known as a hierarchical timing wheel. A time
//! has eight digits. An event goes to the level of the highest digit in which its time differs from the present, and there to
//! the slot of this digit. Time goes from slot to slot of level 0, where a slot is one nanosecond. When none is left there,
//! the next slot of the lowest level that has one is dealt out to the levels below it. Events of one time are always in
//! one slot, in the order in which they were planned.

use p4sched_schedulers::Nanos;

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The next flow of the list starts.
    FlowStart,
    /// The first packet on this wire is at its far end.
    Arrival(u32),
    /// The timer of a flow's sender.
    SenderTimer(u32),
    /// The timer of a flow's receiver.
    ReceiverTimer(u32),
    /// This switch, which runs a program, has something to do.
    Switch(u32),
}

/// Bits of a digit.
const DIGIT: usize = 8;
/// Slots of a level.
const SLOTS: usize = 1 << DIGIT;
/// Digits of a time.
const LEVELS: usize = Nanos::BITS as usize / DIGIT;

/// Events of a slot.
type Slot = Vec<(Nanos, Event)>;

/// Planned events.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// Nothing is planned before.
    now: Nanos,
    /// By level and digit.
    slots: Vec<Slot>,
    /// By level: a bit for each slot that is not empty.
    filled: [[u64; SLOTS / 64]; LEVELS],
    /// Events of the present slot of level 0 that have happened.
    happened: usize,
    /// Empty between calls.
    spare: Slot,
}

impl Default for Calendar {
    fn default() -> Calendar {
        Calendar {
            now: 0,
            slots: vec![Vec::new(); LEVELS * SLOTS],
            filled: [[0; SLOTS / 64]; LEVELS],
            happened: 0,
            spare: Vec::new(),
        }
    }
}

/// A digit of a time.
fn digit(at: Nanos, level: usize) -> usize {
    (at >> (level * DIGIT)) as usize % SLOTS
}

impl Calendar {
    /// Plans an event. A time that has passed counts as the present.
    pub fn plan(&mut self, at: Nanos, event: Event) {
        let at = at.max(self.now);
        let level = (at ^ self.now).checked_ilog2().map_or(0, |bit| bit as usize / DIGIT);
        let slot = digit(at, level);
        self.slots[level * SLOTS + slot].push((at, event));
        self.filled[level][slot / 64] |= 1 << (slot % 64);
    }

    /// The next event, if it comes by `end`; removed.
    pub fn next(&mut self, end: Nanos) -> Option<(Nanos, Event)> {
        while self.now <= end {
            let present = digit(self.now, 0);
            if let Some(&next) = self.slots[present].get(self.happened) {
                self.happened += 1;
                return Some(next);
            }
            self.slots[present].clear();
            self.happened = 0;
            self.take_slot(0, present);
            let (level, slot) = (0..LEVELS).find_map(|level| Some((level, self.next_slot(level)?)))?;
            // The digits above stay, the ones below are 0.
            let above = self.now.checked_shr((DIGIT * (level + 1)) as u32).unwrap_or(0);
            let start = (above << DIGIT | slot as u64) << (DIGIT * level);
            if start > end {
                return None;
            }
            self.now = start;
            if level > 0 {
                self.deal_out(level, slot);
            }
        }
        None
    }

    /// The first slot of a level from the present one on that is not empty.
    fn next_slot(&self, level: usize) -> Option<usize> {
        let present = digit(self.now, level);
        let words = &self.filled[level];
        let first = words[present / 64] & (!0 << (present % 64));
        if first != 0 {
            return Some(present / 64 * 64 + first.trailing_zeros() as usize);
        }
        let after = (present / 64 + 1..words.len()).find(|&word| words[word] != 0)?;
        Some(after * 64 + words[after].trailing_zeros() as usize)
    }

    /// Notes that a slot is empty now.
    fn take_slot(&mut self, level: usize, slot: usize) {
        self.filled[level][slot / 64] &= !(1 << (slot % 64));
    }

    /// Moves the events of a slot that begins now to the levels below.
    fn deal_out(&mut self, level: usize, slot: usize) {
        self.take_slot(level, slot);
        let spare = std::mem::take(&mut self.spare);
        let mut moved = std::mem::replace(&mut self.slots[level * SLOTS + slot], spare);
        for &(at, event) in &moved {
            self.plan(at, event);
        }
        moved.clear();
        self.spare = moved;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn events_come_by_time_and_then_in_the_order_of_planning(delays in prop::collection::vec(0_u64..40, 1..200)) {
            let mut calendar = Calendar::default();
            let mut planned = Vec::new();
            let mut happened = Vec::new();
            let mut now = 0;
            for (number, &delay) in (0..).zip(&delays) {
                // Some are far away.
                let at = now + if delay > 30 { 1 << delay } else { delay };
                calendar.plan(at, Event::Arrival(number));
                planned.push((at, number));
                if delay % 3 != 0 && let Some((at, Event::Arrival(number))) = calendar.next(u64::MAX) {
                    now = at;
                    happened.push((at, number));
                }
            }
            prop_assert_eq!(calendar.next(now.saturating_sub(1)), None);
            while let Some((at, Event::Arrival(number))) = calendar.next(u64::MAX) {
                happened.push((at, number));
            }
            planned.sort_unstable();
            prop_assert_eq!(happened, planned);
        }
    }

    #[test]
    fn what_comes_after_the_end_stays() {
        let mut calendar = Calendar::default();
        calendar.plan(10, Event::Arrival(1));
        assert_eq!(calendar.next(9), None);
        calendar.plan(5, Event::Arrival(2));
        assert_eq!(calendar.next(9), Some((5, Event::Arrival(2))));
        assert_eq!(calendar.next(10), Some((10, Event::Arrival(1))));
    }
}
