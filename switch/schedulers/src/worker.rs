//! Queue lengths that a worker packet carries to ingress (AIFO 4.4, figure 5; `p4/include/worker.p4`).
//!
//! The worker packet goes round and round. In each round it visits the port at egress and takes the length of the queue
//! after the last departure. One pass later it is at ingress. So ingress knows an old length. The length gets older
//! until the worker packet comes again.

use std::collections::VecDeque;

use crate::scheduler::Nanos;

/// The times at which a worker packet visits a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// First visit at egress.
    pub first: Nanos,
    /// Time between two visits, in ns; above 0.
    pub round: Nanos,
    /// Time from egress to ingress, in ns.
    pub pass: Nanos,
}

impl Worker {
    /// The last visit whose length is known at ingress at `now`. If the worker packet and another packet arrive at the
    /// same instant, the worker packet is first.
    fn last_known_visit(&self, now: Nanos) -> Option<Nanos> {
        let since = now.checked_sub(self.first + self.pass)?;
        Some(self.first + since / self.round * self.round)
    }
}

/// The length of a queue as a worker packet brings it to ingress.
#[derive(Clone, Debug)]
pub struct WorkerLength {
    worker: Worker,
    /// Departures: the instant, and the packets that remained. The length of the oldest is known at ingress, or will be
    /// known next.
    departures: VecDeque<(Nanos, u64)>,
}

impl WorkerLength {
    /// The length of an empty queue.
    pub fn new(worker: Worker) -> WorkerLength {
        WorkerLength {
            worker,
            departures: VecDeque::new(),
        }
    }

    /// Records a departure after which `packets` packets remained.
    pub fn record_departure(&mut self, now: Nanos, packets: u64) {
        let visit = self.worker.last_known_visit(now);
        while let Some(&(next, _)) = self.departures.get(1)
            && visit.is_some_and(|visit| next <= visit)
        {
            self.departures.pop_front();
        }
        self.departures.push_back((now, packets));
    }

    /// The queue length that ingress knows at `now`, in packets. If a departure and a visit are at the same instant,
    /// the departure is first.
    pub fn at(&self, now: Nanos) -> u64 {
        let visit = self.worker.last_known_visit(now);
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
        let mut length = WorkerLength::new(Worker {
            first: 100,
            round: 50,
            pass: 20,
        });
        for (at, left) in [(90, 5), (100, 4), (101, 3), (140, 2), (160, 1)] {
            length.record_departure(at, left);
        }
        // Visits at 100, 150 and 200. Each is known at ingress 20 later.
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
        let mut length = WorkerLength::new(Worker {
            first: 0,
            round: 10,
            pass: 5,
        });
        for at in 0..10_000 {
            length.record_departure(at, at);
            assert!(length.departures.len() <= 17, "{:?}", length.departures);
        }
        assert_eq!(length.at(10_004), 9990);
        assert_eq!(length.at(10_005), 9999);
    }
}
