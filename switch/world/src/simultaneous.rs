//! The order of simultaneous events in the simulator of the papers.
//!
//! Netbench collects the events of an instant in the order in which they were planned, and runs one that it draws from
//! them, until none is left. It makes a new generator with seed 1 for each draw (`Simulator.java` of
//! github.com/mostafaei/RIFO, commit 1b09a01), so the same number of events always gives the same draw: of two, the
//! one that was planned last.

use p4sched_traffic_manager::Nanos;

use crate::calendar::{Calendar, CalendarEvent};

/// The first 31 bits of a generator of Java with seed 1.
const DRAW: u64 = 1_569_548_985;

/// The events of an instant that have not happened yet, in the order of planning.
#[derive(Clone, Debug)]
pub struct Simultaneous<E> {
    at: Nanos,
    left: Vec<E>,
}

impl<E> Default for Simultaneous<E> {
    fn default() -> Simultaneous<E> {
        let left = Vec::new();
        Simultaneous { at: 0, left }
    }
}

impl<E: CalendarEvent> Simultaneous<E> {
    /// Removes and returns the next event, if its time is at most `end`.
    pub fn next(&mut self, calendar: &mut Calendar<E>, end: Nanos) -> Option<(Nanos, E)> {
        if self.left.is_empty() {
            let (at, first) = calendar.next(end)?;
            self.at = at;
            self.left.push(first);
            while let Some((_, other)) = calendar.next(at) {
                self.left.push(other);
            }
        }
        let place = drawn(self.left.len());
        Some((self.at, self.left.remove(place)))
    }
}

/// The number below `count` that a new generator of Java with seed 1 draws (`java.util.Random.nextInt`).
fn drawn(count: usize) -> usize {
    let count = count as u64;
    let number = if count.is_power_of_two() {
        (count * DRAW) >> 31
    } else {
        DRAW % count
    };
    number as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    struct Number(u32);

    impl CalendarEvent for Number {
        type Rank = ();

        fn rank(self) {}
    }

    /// The order of so many events of one instant.
    fn order(count: u32) -> Vec<u32> {
        let mut calendar = Calendar::new(1);
        for number in 0..count {
            calendar.plan(5, Number(number));
        }
        let mut simultaneous = Simultaneous::default();
        let next = || simultaneous.next(&mut calendar, 9).map(|(_, Number(number))| number);
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn the_draws_are_those_of_java() {
        // `new Random(1).nextInt(count)` of Java 17
        let java = [0, 1, 0, 2, 0, 3, 4, 5, 6, 5, 4, 9, 4, 11, 0, 11, 15];
        assert_eq!((1..=java.len()).map(drawn).collect::<Vec<_>>(), java);
    }

    #[test]
    fn of_two_events_the_later_one_comes_first() {
        assert_eq!(order(2), [1, 0]);
        assert_eq!(order(3), [0, 2, 1]);
        assert_eq!(order(4), [2, 0, 3, 1]);
    }

    #[test]
    fn an_event_planned_for_this_instant_waits_for_those_that_are_left() {
        let mut calendar = Calendar::new(1);
        let mut simultaneous = Simultaneous::default();
        calendar.plan(5, Number(0));
        calendar.plan(5, Number(1));
        assert_eq!(simultaneous.next(&mut calendar, 4), None);
        assert_eq!(simultaneous.next(&mut calendar, 5), Some((5, Number(1))));
        calendar.plan(5, Number(2));
        assert_eq!(simultaneous.next(&mut calendar, 5), Some((5, Number(0))));
        assert_eq!(simultaneous.next(&mut calendar, 5), Some((5, Number(2))));
        assert_eq!(simultaneous.next(&mut calendar, 5), None);
    }
}
