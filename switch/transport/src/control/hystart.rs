//! HyStart: ends slow start before it overruns the queue (Ha and Rhee, 2011), with the numbers of Linux
//! (`tcp_cubic.c`).
//!
//! Two signs end slow start. Either acknowledgements that follow each other closely have lasted for half of the
//! shortest round trip: then segments fill the path. Or the round trips of this round are longer than the shortest one:
//! then there is a queue.

use super::window::Measurement;
use p4sched_schedulers::Nanos;

const MS: Nanos = 1_000_000;
/// Smallest window, in segments, at which the signs count.
const LOW_WINDOW: u32 = 16;
/// Acknowledgements closer than this belong to one train.
const TRAIN_GAP: Nanos = 2 * MS;
/// Number of round-trip times per round that are examined.
const SAMPLES: u32 = 8;
/// Limits of the delay that counts as a queue, which is an eighth of the shortest round trip.
const DELAY: (Nanos, Nanos) = (4 * MS, 16 * MS);

#[derive(Clone, Debug, Default)]
pub(crate) struct HyStart {
    found: bool,
    /// The round ends when this segment is acknowledged.
    end: u64,
    started: Nanos,
    last_ack: Nanos,
    /// The shortest round trip of this round, and the number of samples.
    shortest: Nanos,
    samples: u32,
}

impl HyStart {
    /// Whether this acknowledgement shows that slow start must end. It returns true once.
    pub(crate) fn ends_slow_start(&mut self, measurement: &Measurement, shortest: Nanos, cwnd: u32) -> bool {
        let (now, Some(rtt)) = (measurement.now, measurement.rtt) else {
            return false;
        };
        if self.found {
            return false;
        }
        if measurement.una > self.end || self.started == 0 {
            (self.started, self.last_ack, self.end) = (now, now, measurement.next);
            (self.shortest, self.samples) = (Nanos::MAX, 0);
        }
        self.shortest = self.shortest.min(rtt);
        if cwnd < LOW_WINDOW {
            return false;
        }
        self.found =
            self.train_fills_the_path(now, shortest + measurement.burst_delay) || self.queue_is_there(shortest);
        self.found
    }

    fn train_fills_the_path(&mut self, now: Nanos, path: Nanos) -> bool {
        if now - self.last_ack > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        now - self.started > path / 2
    }

    fn queue_is_there(&mut self, shortest: Nanos) -> bool {
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.shortest > shortest + (shortest / 8).clamp(DELAY.0, DELAY.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(now: Nanos, una: u64, rtt: Nanos) -> Measurement {
        Measurement {
            now,
            una,
            next: una + 32,
            delivered: 1,
            marked: false,
            rtt: Some(rtt),
            burst_delay: 0,
        }
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        let mut hystart = HyStart::default();
        let ends = (0..20).find(|&n| hystart.ends_slow_start(&measurement((n + 1) * MS, 1 + n, 20 * MS), 20 * MS, 32));
        assert_eq!(ends, Some(11)); // The first one after more than 10 ms.
    }

    #[test]
    fn a_gap_ends_the_train() {
        let mut hystart = HyStart::default();
        assert!(!(0..20).any(|n| hystart.ends_slow_start(
            &measurement((3 * n + 1) * MS, 1 + n, 200 * MS),
            200 * MS,
            32
        )));
    }

    #[test]
    fn a_longer_round_trip_ends_slow_start_after_eight_samples() {
        let mut hystart = HyStart::default();
        let ends =
            (0..20).find(|&n| hystart.ends_slow_start(&measurement(3 * (n + 1) * MS, 1 + n, 105 * MS), 90 * MS, 32));
        assert_eq!(ends, Some(8)); // 105 > 90 + 90/8
    }

    #[test]
    fn small_windows_stay_in_slow_start() {
        let mut hystart = HyStart::default();
        assert!(!(0..20).any(|n| hystart.ends_slow_start(&measurement((n + 1) * MS, 1 + n, 20 * MS), 5 * MS, 15)));
    }
}
