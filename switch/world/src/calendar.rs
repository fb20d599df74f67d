//! A calendar of events, ordered by time. Simultaneous events are ordered by rank, then by the order of planning.
//!
//! A wheel of slots holds the near events. A slot is so short that few events share it. Its events are sorted when its
//! turn comes. Events beyond the wheel wait in a heap until the wheel reaches them (Varghese and Lauck, "Hashed and
//! Hierarchical Timing Wheels", SOSP 1987).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use p4sched_traffic_manager::Nanos;

/// An event. The default value is never read.
pub trait CalendarEvent: Copy + Default + Ord {
    /// The type of a rank. With the unit type, simultaneous events are in the order of planning.
    type Rank: Ord;
    /// The rank among simultaneous events.
    fn rank(self) -> Self::Rank;
}

/// Number of slots of the wheel. More slots would not stay in the processor's cache.
const SLOTS: usize = 1024;
/// Number of slots per word of `filled`.
const WORD: usize = u64::BITS as usize;
const _: () = assert!(SLOTS <= WORD * WORD, "one word has a bit for each word");
/// Stands for no node.
const NONE: u32 = u32::MAX;
/// A slot of the wheel. The fields are valid only if the slot has events.
#[derive(Clone, Copy, Debug)]
struct Slot<E> {
    /// Time of the event that was planned first.
    at: Nanos,
    event: E,
    /// The node of the event that was planned last, if there are several.
    last: u32,
}

/// An event that was not the first one planned in its slot.
#[derive(Clone, Copy, Debug)]
struct Node<E> {
    at: Nanos,
    event: E,
    /// The node planned before it in the same slot; for a free node, the next free one.
    earlier: u32,
}

/// Planned events.
#[derive(Clone, Debug)]
pub struct Calendar<E> {
    /// Earliest time that an event can be planned for.
    now: Nanos,
    /// Length of a slot in ns, as a power of 2.
    slot_bits: u32,
    /// Number of the current slot, counted from time 0.
    turn: u64,
    /// Events of the current slot; the next one is last.
    present: Vec<(Nanos, E)>,
    /// Slot `n` is at place `n % SLOTS`. Most slots have one event, which is stored here because a link would cost
    /// time.
    slots: Vec<Slot<E>>,
    /// One bit per place: whether the slot has events. Events of the current slot are in `present`.
    filled: [u64; SLOTS / WORD],
    /// One bit per word of `filled`: whether the word is not 0.
    filled_words: u64,
    nodes: Vec<Node<E>>,
    free: u32,
    /// Events beyond the wheel, each with the value of `planned_far` when it was planned.
    far: BinaryHeap<Reverse<(Nanos, u64, E)>>,
    /// Slot of the first event in `far`.
    first_far: u64,
    planned_far: u64,
}

/// The place of a slot on the wheel.
fn place(slot: u64) -> usize {
    slot as usize % SLOTS
}

impl<E: CalendarEvent> Calendar<E> {
    /// An empty calendar. It is fastest if there is about one event every `gap` ns.
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

    /// Plans an event. A past time counts as the present.
    #[inline(always)]
    pub fn plan(&mut self, at: Nanos, event: E) {
        let at = at.max(self.now);
        let slot = at >> self.slot_bits;
        // The slot may even be earlier, because a run can stop before an event of the current slot.
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

    /// Whether no event is planned.
    pub fn is_empty(&self) -> bool {
        self.present.is_empty() && self.filled_words == 0 && self.far.is_empty()
    }

    #[inline(always)]
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

    /// Removes and returns the next event, if its time is at most `end`.
    #[inline(always)]
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

    /// The next slot with events. The current slot must be empty.
    #[inline(always)]
    fn next_slot(&self) -> Option<u64> {
        let first = self.turn + 1;
        let from = place(first);
        let mut index = from / WORD;
        let mut word = self.filled[index] & (!0 << (from % WORD));
        if word == 0 {
            // First the words after this one, then the words from the start up to this one, which wraps around.
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

    /// Makes a slot the current one.
    #[inline(always)]
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
            // The sort is stable, so events of equal time and rank stay in their order: the one planned last comes
            // first.
            self.present.sort_by_key(|&(at, event)| Reverse((at, event.rank())));
        }
    }

    /// Moves events from the heap to the wheel if their slots are within its reach.
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

    /// An event whose number is its rank.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    struct Ranked(u32);

    impl CalendarEvent for Ranked {
        type Rank = u32;

        fn rank(self) -> u32 {
            self.0
        }
    }

    /// An event with a number. All have the same rank.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    struct Plain(u32);

    impl CalendarEvent for Plain {
        type Rank = ();

        fn rank(self) {}
    }

    /// Plans events with these delays and takes some of them meanwhile. Returns the times and numbers of the planned
    /// events and of the taken events. `number` makes an event from its number.
    fn happen<E: CalendarEvent>(delays: &[u64], gap: u64, number: impl Fn(u32) -> E) -> [Vec<(Nanos, E)>; 2] {
        let mut calendar = Calendar::new(gap);
        let (mut planned, mut happened) = (Vec::new(), Vec::new());
        let mut now = 0;
        for (place, &delay) in (0..).zip(delays) {
            // In the current slot or the next one, near the end of the wheel, or far beyond it.
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
            // No event is taken while they are planned, so the order covers all of them.
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
