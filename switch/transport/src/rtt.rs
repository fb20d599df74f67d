//! Round-trip time and retransmission timeout: RFC 6298.

use crate::config::Config;
use p4sched_schedulers::Nanos;

/// Smoothed round-trip time and its variation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip {
    /// SRTT and RTTVAR; `None` before the first measurement.
    estimate: Option<(Nanos, Nanos)>,
    /// Number of timeouts since the last measurement.
    pub(crate) backoff: u32,
}

impl RoundTrip {
    /// Takes a measurement (RFC 6298 Section 2.2 and 2.3; alpha = 1/8, beta = 1/4) and ends the back-off. With the
    /// timestamp option each measurement belongs to a known transmission, so Karn's rule (Section 3) always holds.
    pub(crate) fn sample(&mut self, rtt: Nanos) {
        self.backoff = 0;
        self.estimate = Some(match self.estimate {
            None => (rtt, rtt / 2),
            Some((smoothed, variation)) => ((7 * smoothed + rtt) / 8, (3 * variation + smoothed.abs_diff(rtt)) / 4),
        });
    }

    /// The smoothed round-trip time; `None` before the first measurement.
    pub(crate) fn smoothed(&self) -> Option<Nanos> {
        self.estimate.map(|estimate| estimate.0)
    }

    /// The retransmission timeout (RFC 6298 Section 2) with the back-off of Section 5.5. As in Linux, at least
    /// `min_rto` is added to the smoothed round-trip time.
    pub(crate) fn timeout(&self, config: &Config) -> Nanos {
        let first = self.estimate.map_or(config.initial_rto, |(smoothed, variation)| {
            smoothed.saturating_add((4 * variation).max(config.min_rto))
        });
        first.saturating_mul(1 << self.backoff.min(30)).min(config.max_rto)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Control;

    const MS: Nanos = 1_000_000;

    #[test]
    fn the_estimate_is_that_of_rfc_6298() {
        let config = Config {
            min_rto: 1,
            ..Config::kernel(Control::NewReno)
        };
        let mut round_trip = RoundTrip::default();
        assert_eq!(round_trip.timeout(&config), 1000 * MS);
        round_trip.sample(100 * MS);
        assert_eq!(round_trip.timeout(&config), 300 * MS); // R + 4 R / 2
        round_trip.sample(180 * MS);
        // SRTT = 7/8 100 + 1/8 180 = 110, RTTVAR = 3/4 50 + 1/4 80 = 57.5
        assert_eq!(round_trip.timeout(&config), 340 * MS);
    }

    #[test]
    fn a_timeout_doubles_until_the_next_measurement() {
        let config = Config {
            max_rto: 1000 * MS,
            ..Config::kernel(Control::NewReno)
        };
        let mut round_trip = RoundTrip::default();
        round_trip.sample(10 * MS);
        let timeouts: Vec<_> = (0..5)
            .map(|backoff| RoundTrip { backoff, ..round_trip }.timeout(&config) / MS)
            .collect();
        assert_eq!(timeouts, [210, 420, 840, 1000, 1000]);
        round_trip.backoff = 2;
        round_trip.sample(10 * MS);
        assert_eq!(round_trip.timeout(&config), 210 * MS);
    }
}
