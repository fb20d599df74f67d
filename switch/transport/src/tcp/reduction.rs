//! Proportional rate reduction (RFC 6937), as in Linux (`tcp_cwnd_reduction`): during a reduction the window falls to
//! ssthresh gradually, as segments arrive, and not at once.

/// The state of one reduction, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// The window at the beginning (RecoverFS).
    prior: u32,
    /// Segments that have arrived since then, and segments that were sent since then (prr_delivered, prr_out).
    delivered: u32,
    pub(super) sent: u32,
}

impl Reduction {
    pub(super) fn new(cwnd: u32) -> Self {
        Reduction {
            prior: cwnd,
            delivered: 0,
            sent: 0,
        }
    }

    /// The window after `delivered` more segments have arrived. `progress` means that the acknowledgement advanced and
    /// shows no new loss. Then the window may grow as in slow start (PRR-SSRB); otherwise it only replaces what has
    /// arrived (PRR-CRB).
    pub(super) fn window(&mut self, delivered: u32, ssthresh: u32, in_flight: u32, progress: bool) -> u32 {
        self.delivered += delivered;
        let may_send = if in_flight > ssthresh {
            let share = (u64::from(ssthresh) * u64::from(self.delivered)).div_ceil(self.prior.max(1).into()) as u32;
            share.saturating_sub(self.sent)
        } else {
            let arrived = self.delivered.saturating_sub(self.sent).max(delivered) + u32::from(progress);
            arrived.min(ssthresh - in_flight)
        };
        // The first lost segment is sent again at once.
        in_flight + may_send.max(u32::from(self.sent == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 6937 Section 4: a window of 20, ssthresh 10, one loss. One segment leaves for every two that
    /// arrive.
    #[test]
    fn half_of_what_arrives_may_leave() {
        let (mut reduction, mut in_flight, mut sent) = (Reduction::new(20), 19, Vec::new());
        for _ in 0..19 {
            in_flight -= 1;
            let may_send = reduction.window(1, 10, in_flight, false) - in_flight;
            (reduction.sent, in_flight) = (reduction.sent + may_send, in_flight + may_send);
            sent.push(may_send);
        }
        assert_eq!(sent[..8], [1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(sent.iter().sum::<u32>(), 10);
        assert_eq!(in_flight, 10);
    }

    #[test]
    fn below_ssthresh_the_window_grows_only_with_progress() {
        let mut reduction = Reduction {
            prior: 20,
            delivered: 12,
            sent: 12,
        };
        assert_eq!(reduction.window(1, 10, 3, false), 4);
        let mut reduction = Reduction {
            prior: 20,
            delivered: 12,
            sent: 12,
        };
        assert_eq!(reduction.window(1, 10, 3, true), 5);
        assert_eq!(reduction.window(1, 10, 10, true), 10);
    }
}
