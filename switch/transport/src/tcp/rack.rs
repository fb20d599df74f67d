//! RACK (RFC 8985): a segment is lost if a later one has arrived and there was enough time for reordering.

use super::scoreboard::Delivered;
use p4sched_schedulers::Nanos;

/// Number of duplicates that count as a loss if there was never any reordering (RFC 5681 Section 3.2).
pub(super) const DUP_THRESH: u32 = 3;

/// Number of recoveries without a duplicate report after which the reordering window shrinks (RFC 8985 Section 6.2 step
/// 4).
const PERSIST: u32 = 16;

/// The state of RACK. Names in parentheses are those of RFC 8985 Section 5.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rack {
    /// Sending time of the newest segment that has arrived, and its number (RACK.xmit_ts, RACK.end_seq).
    newest: Option<(Nanos, u64)>,
    /// Round-trip time of that segment (RACK.rtt), and the shortest one (RACK.min_RTT).
    rtt: Nanos,
    shortest: Option<Nanos>,
    /// One past the highest segment that has arrived (RACK.fack).
    highest: u64,
    reordering_seen: bool,
    /// The reordering window in quarters of the shortest round trip (RACK.reo_wnd_mult); 0 before the first report.
    quarters: u32,
    persist: u32,
    /// Reports count at most once per round trip: the next one counts when this segment is acknowledged
    /// (RACK.dsack_round).
    report_round: Option<u64>,
}

impl Rack {
    /// Whether a later segment has arrived before this one (RFC 8985 Section 6.2 step 3).
    pub(super) fn is_overtaken(&self, segment: &Delivered) -> bool {
        !segment.again && segment.index < self.highest
    }

    /// RFC 8985 Section 6.2, steps 1 to 3. The echoed time does not help in step 2: while there is a hole, it belongs
    /// to a segment before the hole (RFC 7323 Section 4.3). Linux does not use it either.
    pub(super) fn delivered(&mut self, now: Nanos, segment: &Delivered) {
        let rtt = now - segment.sent_at;
        if segment.again {
            // The second transmission was too recent, so it was the first one that arrived.
            if self.shortest.is_some_and(|shortest| rtt < shortest) {
                return;
            }
        } else {
            self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
            self.reordering_seen |= self.is_overtaken(segment);
        }
        self.highest = self.highest.max(segment.index + 1);
        if self
            .newest
            .is_none_or(|newest| newest < (segment.sent_at, segment.index))
        {
            (self.newest, self.rtt) = (Some((segment.sent_at, segment.index)), rtt);
        }
    }

    /// Handles a report of a duplicate (RFC 2883): a segment that was sent again had only been late. The window grows.
    pub(super) fn duplicate_reported(&mut self, una: u64, next: u64) {
        if self.report_round.is_none_or(|round| una >= round) {
            (self.report_round, self.persist) = (Some(next), PERSIST);
            self.quarters = self.quarters.max(1) + 1;
        }
    }

    /// Handles the end of a recovery.
    pub(super) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 0;
        }
    }

    /// Records that a segment that was sent again had not been lost.
    pub(super) fn reordering_was_seen(&mut self) {
        self.reordering_seen = true;
    }

    /// The shortest round trip; 0 before the first one.
    pub(super) fn shortest(&self) -> Nanos {
        self.shortest.unwrap_or(0)
    }

    pub(super) fn has_seen_reordering(&self) -> bool {
        self.reordering_seen
    }

    /// The newest segment that has arrived, and the time after its transmission at which a segment counts as lost.
    pub(super) fn judgement(&self, sacked: u32, recovers: bool, smoothed: Nanos) -> Option<((Nanos, u64), Nanos)> {
        let at_once = !self.reordering_seen && (recovers || sacked >= DUP_THRESH);
        let quarter = self.shortest.unwrap_or(0) / 4;
        let window = if at_once {
            0
        } else {
            (quarter * u64::from(self.quarters.max(1))).min(smoothed)
        };
        Some((self.newest?, self.rtt + window))
    }

    /// At a timeout, segments sent after this time do not count as lost (Linux: `tcp_timeout_mark_lost`).
    pub(super) fn surely_late(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.rtt)
    }
}
