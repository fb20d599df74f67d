//! How long a round trip takes, and from that when to send again: RFC 6298.

use p4sched_schedulers::Nanos;

/// Smoothed round-trip time and its variation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    smoothed: Nanos,
    variation: Nanos,
    measured: bool,
}

impl RoundTrip {
    pub(crate) fn new() -> Self {
        RoundTrip {
            smoothed: 0,
            variation: 0,
            measured: false,
        }
    }

    /// Takes a measurement (RFC 6298 Section 2.2 and 2.3; alpha = 1/8, beta = 1/4).
    pub(crate) fn sample(&mut self, rtt: Nanos) {
        if self.measured {
            self.variation = (3 * self.variation + self.smoothed.abs_diff(rtt)) / 4;
            self.smoothed = (7 * self.smoothed + rtt) / 8;
        } else {
            *self = RoundTrip {
                smoothed: rtt,
                variation: rtt / 2,
                measured: true,
            };
        }
    }

    /// The retransmission timeout before back-off (RFC 6298 Section 2), not limited.
    pub(crate) fn timeout(&self) -> Option<Nanos> {
        self.measured.then_some(self.smoothed + 4 * self.variation)
    }
}
