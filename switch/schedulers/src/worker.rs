//! Queue lengths that a worker packet carries to ingress (AIFO 4.4, figure 5; `p4/include/worker.p4`).
//!
//! The worker goes round and round. Each round it visits the port at egress, and takes with it what the last departure left
//! behind. One pass later it is at ingress. So ingress knows an old length, and an older one with each instant until the worker
//! comes again.

use std::collections::VecDeque;

use crate::scheduler::Nanos;

/// When a worker packet visits a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Its first visit at egress.
    pub first: Nanos,
    /// Between two visits; above 0.
    pub round: Nanos,
    /// From egress to ingress.
    pub pass: Nanos,
}

impl Worker {
    /// The last visit of which ingress knows at `now`. A worker that comes at the instant of an arrival comes before it.
    fn last_told(&self, now: Nanos) -> Option<Nanos> {
        let since = now.checked_sub(self.first + self.pass)?;
        Some(self.first + since / self.round * self.round)
    }
}

/// The length of a queue as a worker tells it.
#[derive(Clone, Debug)]
pub struct ToldLength {
    worker: Worker,
    /// Instant of a departure, and the packets that it left behind. The oldest is the one that ingress knows, or is to know next.
    departures: VecDeque<(Nanos, u64)>,
}

impl ToldLength {
    /// Of an empty queue.
    pub fn new(worker: Worker) -> ToldLength {
        ToldLength {
            worker,
            departures: VecDeque::new(),
        }
    }

    /// A packet departed, and left so many behind.
    pub fn left_behind(&mut self, now: Nanos, packets: u64) {
        let visit = self.worker.last_told(now);
        while let Some(&(next, _)) = self.departures.get(1)
            && visit.is_some_and(|visit| next <= visit)
        {
            self.departures.pop_front();
        }
        self.departures.push_back((now, packets));
    }

    /// The packets that wait, as far as ingress knows at `now`. A departure at the instant of the visit comes before it.
    pub fn at(&self, now: Nanos) -> u64 {
        let visit = self.worker.last_told(now);
        let known = |&&(departure, _): &&(Nanos, u64)| visit.is_some_and(|visit| departure <= visit);
        self.departures
            .iter()
            .rev()
            .find(known)
            .map_or(0, |&(_, packets)| packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ingress_knows_what_the_last_departure_before_the_visit_left_behind() {
        let mut length = ToldLength::new(Worker {
            first: 100,
            round: 50,
            pass: 20,
        });
        for (at, left) in [(90, 5), (100, 4), (101, 3), (140, 2), (160, 1)] {
            length.left_behind(at, left);
        }
        // Visits at 100, 150 and 200; each is known 20 later.
        for (now, known) in [
            (0, 0),
            (119, 0),
            (120, 4),
            (169, 4),
            (170, 2),
            (219, 2),
            (220, 1),
            (1000, 1),
        ] {
            assert_eq!(length.at(now), known, "at {now}");
        }
    }

    #[test]
    fn departures_that_a_later_visit_has_replaced_are_forgotten() {
        let mut length = ToldLength::new(Worker {
            first: 0,
            round: 10,
            pass: 5,
        });
        for at in 0..10_000 {
            length.left_behind(at, at);
            assert!(length.departures.len() <= 17, "{:?}", length.departures);
        }
        assert_eq!(length.at(10_004), 9990);
        assert_eq!(length.at(10_005), 9999);
    }
}
