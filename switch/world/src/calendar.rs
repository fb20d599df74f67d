//! What happens when: events in the order of their time; simultaneous ones in the order of their rank, and then of planning.
//!
//! A wheel of slots holds what happens soon. A slot is so short that few events share it, and they are sorted when its turn
//! comes. What is further away waits in a heap, until the wheel has come so near (Varghese and Lauck, "Hashed and
//! Hierarchical Timing Wheels", SOSP 1987).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use p4sched_traffic_manager::Nanos;

/// Something that will happen. The default is never looked at.
pub trait Happening: Copy + Default + Ord {
    /// Where it stands among simultaneous events. With the unit type, they come in the order of planning.
    type Rank: Ord;
    /// Its rank.
    fn rank(self) -> Self::Rank;
}

/// Slots of the wheel. More would not stay in the processor's cache.
const SLOTS: usize = 1024;
/// Slots that share a word of the bits.
const WORD: usize = u64::BITS as usize;
const _: () = assert!(SLOTS <= WORD * WORD, "one word has a bit for each word");
/// No node.
const NONE: u32 = u32::MAX;
/// A slot of the wheel, if it has events.
#[derive(Clone, Copy, Debug)]
struct Slot<E> {
    /// The event that was planned first.
    at: Nanos,
    event: E,
    /// The node of the one that was planned last, if there are several.
    last: u32,
}

/// An event that shares its slot with one that was planned before it.
#[derive(Clone, Copy, Debug)]
struct Node<E> {
    at: Nanos,
    event: E,
    /// The node that was planned before it in the same slot, or free before it.
    earlier: u32,
}

/// Planned events.
#[derive(Clone, Debug)]
pub struct Calendar<E> {
    /// Nothing is planned before.
    now: Nanos,
    /// Nanoseconds of a slot, as a power of 2.
    slot_bits: u32,
    /// Number of the slot whose turn it is, counted from time 0.
    turn: u64,
    /// Events of this slot, the next one last.
    present: Vec<(Nanos, E)>,
    /// Slot `n` has place `n % SLOTS`. Most have one event: to read them in turn is quicker than to follow links.
    slots: Vec<Slot<E>>,
    /// By place: whether the slot has events. Those of the present slot are elsewhere.
    filled: [u64; SLOTS / WORD],
    /// By word of `filled`: whether it has a bit.
    filled_words: u64,
    nodes: Vec<Node<E>>,
    free: u32,
    /// Events behind the end of the wheel, each with the number of events that were planned here before it.
    far: BinaryHeap<Reverse<(Nanos, u64, E)>>,
    /// Slot of the first of them.
    first_far: u64,
    planned_far: u64,
}

/// Place of a slot on the wheel.
fn place(slot: u64) -> usize {
    slot as usize % SLOTS
}

impl<E: Happening> Calendar<E> {
    /// Nothing is planned. It is quickest if there is an event every `gap` nanoseconds or so.
    pub fn new(gap: Nanos) -> Calendar<E> {
        let empty = Slot {
            at: 0,
            event: E::default(),
            last: NONE,
        };
        Calendar {
            now: 0,
            slot_bits: gap.max(1).ilog2(),
            turn: 0,
            present: Vec::new(),
            slots: vec![empty; SLOTS],
            filled: [0; SLOTS / WORD],
            filled_words: 0,
            nodes: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
            first_far: u64::MAX,
            planned_far: 0,
        }
    }

    /// Plans an event. A time that has passed counts as the present.
    pub fn plan(&mut self, at: Nanos, event: E) {
        let at = at.max(self.now);
        let slot = at >> self.slot_bits;
        // It may be earlier, where a run has paused in front of an event of its slot.
        if slot <= self.turn {
            let later =
                (self.present).partition_point(|&(other_at, other)| (other_at, other.rank()) > (at, event.rank()));
            self.present.insert(later, (at, event));
        } else if slot - self.turn < SLOTS as u64 {
            self.push(slot, at, event);
        } else {
            self.first_far = self.first_far.min(slot);
            self.far.push(Reverse((at, self.planned_far, event)));
            self.planned_far += 1;
        }
    }

    /// True if nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.present.is_empty() && self.filled_words == 0 && self.far.is_empty()
    }

    fn push(&mut self, slot: u64, at: Nanos, event: E) {
        let place = place(slot);
        let (word, bit) = (&mut self.filled[place / WORD], 1 << (place % WORD));
        let slot = &mut self.slots[place];
        if *word & bit == 0 {
            *word |= bit;
            self.filled_words |= 1 << (place / WORD);
            *slot = Slot { at, event, last: NONE };
            return;
        }
        let earlier = slot.last;
        let node = Node { at, event, earlier };
        slot.last = self.free;
        match self.nodes.get_mut(self.free as usize) {
            Some(free) => self.free = std::mem::replace(free, node).earlier,
            None => {
                slot.last = self.nodes.len() as u32;
                self.nodes.push(node);
            }
        }
    }

    /// The next event, if it comes by `end`; removed.
    #[inline]
    pub fn next(&mut self, end: Nanos) -> Option<(Nanos, E)> {
        loop {
            if let Some(&next) = self.present.last() {
                if next.0 > end {
                    return None;
                }
                self.present.pop();
                self.now = next.0;
                return Some(next);
            }
            let next = self.next_slot()?;
            if next << self.slot_bits > end {
                return None;
            }
            self.turn_to(next);
        }
    }

    /// The next slot that has events. The present one has none left.
    fn next_slot(&self) -> Option<u64> {
        let first = self.turn + 1;
        let from = place(first);
        let mut index = from / WORD;
        let mut word = self.filled[index] & (!0 << (from % WORD));
        if word == 0 {
            // The words behind this one, and then those in front of it with its own first bits.
            let behind = self.filled_words & (!1 << index);
            let words = if behind == 0 { self.filled_words } else { behind };
            if words == 0 {
                return (self.first_far != u64::MAX).then_some(self.first_far);
            }
            index = words.trailing_zeros() as usize;
            word = self.filled[index];
        }
        let found = index * WORD + word.trailing_zeros() as usize;
        Some(first + ((found + SLOTS - from) % SLOTS) as u64)
    }

    /// Makes a slot the present one.
    fn turn_to(&mut self, slot: u64) {
        self.turn = slot;
        if self.first_far - slot < SLOTS as u64 {
            self.fetch();
        }
        let place = place(slot);
        let word = &mut self.filled[place / WORD];
        *word &= !(1 << (place % WORD));
        if *word == 0 {
            self.filled_words &= !(1 << (place / WORD));
        }
        let Slot { at, event, last } = self.slots[place];
        let mut number = last;
        while let Some(node) = self.nodes.get_mut(number as usize) {
            self.present.push((node.at, node.event));
            let earlier = std::mem::replace(&mut node.earlier, self.free);
            self.free = std::mem::replace(&mut number, earlier);
        }
        self.present.push((at, event));
        if last != NONE {
            // Those of one instant and rank stay as they are: the one that was planned last comes first.
            self.present.sort_by_key(|&(at, event)| Reverse((at, event.rank())));
        }
    }

    /// Brings what is not far away any more to the wheel.
    fn fetch(&mut self) {
        self.first_far = u64::MAX;
        while let Some(&Reverse((at, _, event))) = self.far.peek() {
            let slot = at >> self.slot_bits;
            if slot - self.turn >= SLOTS as u64 {
                self.first_far = slot;
                return;
            }
            self.far.pop();
            self.push(slot, at, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Its number, and so its rank.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    struct Ranked(u32);

    impl Happening for Ranked {
        type Rank = u32;

        fn rank(self) -> u32 {
            self.0
        }
    }

    /// Its number. All have one rank.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    struct Plain(u32);

    impl Happening for Plain {
        type Rank = ();

        fn rank(self) {}
    }

    /// Plans events with these delays, and lets some happen meanwhile: the times and numbers of what was planned, and of what
    /// happened. `number` makes the event
    /// that is planned at this place.
    fn happen<E: Happening>(delays: &[u64], gap: u64, number: impl Fn(u32) -> E) -> [Vec<(Nanos, E)>; 2] {
        let mut calendar = Calendar::new(gap);
        let (mut planned, mut happened) = (Vec::new(), Vec::new());
        let mut now = 0;
        for (place, &delay) in (0..).zip(delays) {
            // In the present slot or the next one, about the end of the wheel, far away.
            let at = now
                + match delay {
                    0..24 => 13 * delay,
                    24..44 => (delay - 20) << 12,
                    _ => 1 << (delay - 20),
                };
            calendar.plan(at, number(place));
            planned.push((at, number(place)));
            if delay % 3 != 0
                && let Some(next) = calendar.next(u64::MAX)
            {
                now = next.0;
                happened.push(next);
            }
        }
        assert_eq!(calendar.is_empty(), planned.len() == happened.len());
        if let Some(before) = now.checked_sub(1) {
            assert!(calendar.next(before).is_none());
        }
        while let Some(next) = calendar.next(u64::MAX) {
            happened.push(next);
        }
        assert!(calendar.is_empty());
        [planned, happened]
    }

    proptest! {
        #[test]
        fn events_come_by_time_and_then_in_the_order_of_planning(
            delays in prop::collection::vec(0_u64..64, 1..200),
            gap in 0_u64..300,
        ) {
            let [mut planned, happened] = happen(&delays, gap, Plain);
            planned.sort_unstable();
            prop_assert_eq!(happened, planned);
        }

        #[test]
        fn simultaneous_events_come_by_rank(
            delays in prop::collection::vec(0_u64..64, 1..200),
            gap in 0_u64..300,
        ) {
            // Nothing happens while they are planned, so the order is one of all.
            let delays: Vec<_> = delays.iter().map(|delay| delay / 3 * 3).collect();
            let [mut planned, happened] = happen(&delays, gap, |place| Ranked(1000 - place));
            planned.sort_unstable();
            prop_assert_eq!(happened, planned);
        }
    }

    #[test]
    fn what_comes_after_the_end_stays() {
        let mut calendar = Calendar::new(4);
        calendar.plan(10, Plain(1));
        assert_eq!(calendar.next(9), None);
        calendar.plan(5, Plain(2));
        assert_eq!(calendar.next(9), Some((5, Plain(2))));
        assert_eq!(calendar.next(10), Some((10, Plain(1))));
    }
}
