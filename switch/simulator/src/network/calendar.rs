//! What happens when: events in the order of their time, and at the same time in the order in which they were planned.
//!
//! A wheel of slots holds what happens soon: a slot is a quarter of a microsecond, the wheel 65 µs. A slot's
//! events are sorted when its turn comes. What is further away waits in a heap, until the wheel has come so near.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use p4sched_schedulers::Nanos;

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// Nanoseconds of a slot, as a power of 2.
const SLOT_BITS: u32 = 8;
/// Slots of the wheel. More would not stay in the processor's cache.
const SLOTS: usize = 256;
/// Slots that share a word of the bits.
const WORD: usize = u64::BITS as usize;

/// Planned events.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// Nothing is planned before.
    now: Nanos,
    /// Number of the slot whose turn it is, counted from time 0.
    present: u64,
    /// Slot `n` has place `n % SLOTS`. Only the present one is in order.
    slots: Vec<Vec<(Nanos, Event)>>,
    /// By place: whether the slot has events; not of the present one.
    filled: [u64; SLOTS / WORD],
    /// Events of the present slot that have happened.
    happened: usize,
    /// Events behind the end of the wheel, each with the number of events that were planned here before it.
    far: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    planned_far: u64,
}

impl Default for Calendar {
    fn default() -> Calendar {
        Calendar {
            now: 0,
            present: 0,
            slots: vec![Vec::new(); SLOTS],
            filled: [0; SLOTS / WORD],
            happened: 0,
            far: BinaryHeap::new(),
            planned_far: 0,
        }
    }
}

/// Place of a slot on the wheel.
fn place(slot: u64) -> usize {
    slot as usize % SLOTS
}

impl Calendar {
    /// Plans an event. A time that has passed counts as the present.
    pub fn plan(&mut self, at: Nanos, event: Event) {
        let at = at.max(self.now);
        let slot = at >> SLOT_BITS;
        if slot == self.present {
            let events = &mut self.slots[place(slot)];
            let earlier = events[self.happened..].partition_point(|&(other, _)| other <= at);
            events.insert(self.happened + earlier, (at, event));
        } else if slot - self.present < SLOTS as u64 {
            self.push(slot, at, event);
        } else {
            self.far.push(Reverse((at, self.planned_far, event)));
            self.planned_far += 1;
        }
    }

    fn push(&mut self, slot: u64, at: Nanos, event: Event) {
        let place = place(slot);
        self.slots[place].push((at, event));
        self.filled[place / WORD] |= 1 << (place % WORD);
    }

    /// The next event, if it comes by `end`; removed.
    pub fn next(&mut self, end: Nanos) -> Option<(Nanos, Event)> {
        loop {
            if let Some(&next) = self.slots[place(self.present)].get(self.happened) {
                if next.0 > end {
                    return None;
                }
                self.happened += 1;
                self.now = next.0;
                return Some(next);
            }
            let next = self.next_slot()?;
            if next << SLOT_BITS > end {
                return None;
            }
            self.turn_to(next);
        }
    }

    /// The next slot that has events. The present one has none left.
    fn next_slot(&self) -> Option<u64> {
        let first = self.present + 1;
        let from = place(first);
        // The word of the first slot comes twice: at last for the slots in front of it.
        for turn in 0..=self.filled.len() {
            let index = (from / WORD + turn) % self.filled.len();
            let mut word = self.filled[index];
            if turn == 0 {
                word &= !0 << (from % WORD);
            }
            if word != 0 {
                let found = index * WORD + word.trailing_zeros() as usize;
                let ahead = (found + SLOTS - from) % SLOTS;
                return Some(first + ahead as u64);
            }
        }
        let &Reverse((at, ..)) = self.far.peek()?;
        Some(at >> SLOT_BITS)
    }

    /// Makes a slot the present one.
    fn turn_to(&mut self, slot: u64) {
        self.slots[place(self.present)].clear();
        self.happened = 0;
        self.present = slot;
        while let Some(&Reverse((at, _, event))) = self.far.peek() {
            let slot = at >> SLOT_BITS;
            if slot - self.present >= SLOTS as u64 {
                break;
            }
            self.far.pop();
            self.push(slot, at, event);
        }
        let place = place(slot);
        self.filled[place / WORD] &= !(1 << (place % WORD));
        self.slots[place].sort_by_key(|&(at, _)| at);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn events_come_by_time_and_then_in_the_order_of_planning(delays in prop::collection::vec(0_u64..64, 1..200)) {
            let mut calendar = Calendar::default();
            let mut planned = Vec::new();
            let mut happened = Vec::new();
            let mut now = 0;
            for (number, &delay) in (0..).zip(&delays) {
                // In the present slot or the next one, about the end of the wheel, far away.
                let at = now
                    + match delay {
                        0..24 => 13 * delay,
                        24..44 => (delay - 20) << 12,
                        _ => 1 << (delay - 20),
                    };
                calendar.plan(at, Event::Arrival(number));
                planned.push((at, number));
                if delay % 3 != 0 && let Some((at, Event::Arrival(number))) = calendar.next(u64::MAX) {
                    now = at;
                    happened.push((at, number));
                }
            }
            if let Some(before) = now.checked_sub(1) {
                prop_assert_eq!(calendar.next(before), None);
            }
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
