//! Acknowledgements that come together: how many segments more than the bandwidth explains (Linux,
//! `bbr_update_ack_aggregation`). BBR lets as many more be in flight.

use super::bbr::segments_in;
use p4sched_schedulers::Nanos;

/// Number of round trips after which the older of two maxima is forgotten.
const ROUNDS: u32 = 5;
/// Segments after which an epoch ends.
const LONGEST: u32 = 1 << 20;
/// The result is at most what the bandwidth delivers in this time.
const MOST: Nanos = 100_000_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    /// Start of the epoch, and segments that have arrived since.
    since: Nanos,
    arrived: u32,
    /// The maximum of the last rounds, and that of the rounds before.
    most: [u32; 2],
    rounds: u32,
}

impl Aggregation {
    /// Begins an epoch.
    pub(super) fn restart(&mut self, now: Nanos) {
        (self.since, self.arrived) = (now, 0);
    }

    /// Takes an acknowledgement of `delivered` segments.
    pub(super) fn measure(&mut self, now: Nanos, delivered: u32, round_begins: bool, bandwidth: u64, cwnd: u32) {
        if round_begins {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                (self.most, self.rounds) = ([0, self.most[0]], 0);
            }
        }
        let mut expected = segments_in(bandwidth, now - self.since);
        if u64::from(self.arrived) <= expected || self.arrived + delivered >= LONGEST {
            self.restart(now);
            expected = 0;
        }
        self.arrived += delivered;
        let excess = u64::from(self.arrived).saturating_sub(expected).min(cwnd.into()) as u32;
        self.most[0] = self.most[0].max(excess);
    }

    /// Segments that may be in flight beyond the window.
    pub(super) fn segments(&self, bandwidth: u64) -> u32 {
        let most = self.most[0].max(self.most[1]);
        u64::from(most).min(segments_in(bandwidth, MOST)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;
    /// One segment each ms.
    const BANDWIDTH: u64 = 1_000_000;

    #[test]
    fn a_train_counts_beyond_what_the_bandwidth_explains() {
        let mut aggregation = Aggregation::default();
        // Ten segments each 10 ms, all at once.
        (1..=6).for_each(|train| aggregation.measure(10 * train * MS, 10, false, BANDWIDTH, 100));
        assert_eq!(aggregation.segments(BANDWIDTH), 10);
        assert_eq!(aggregation.segments(BANDWIDTH / 20), 5);
    }

    #[test]
    fn a_maximum_is_forgotten_after_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        aggregation.measure(MS, 30, false, BANDWIDTH, 100);
        let after: Vec<_> = (1..=12)
            .map(|round| {
                aggregation.measure(1000 * round * MS, 1, true, BANDWIDTH, 100);
                aggregation.segments(BANDWIDTH)
            })
            .collect();
        assert_eq!(after, [30, 30, 30, 30, 30, 30, 30, 30, 30, 1, 1, 1]);
    }
}
