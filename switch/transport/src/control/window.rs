//! The congestion window, and what the algorithms hear of it.

use p4sched_schedulers::Nanos;

/// The congestion window, counted in segments as Linux does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Segments that may be on their way: cwnd.
    pub(crate) cwnd: u32,
    /// End of slow start.
    pub(crate) ssthresh: u32,
    /// Acknowledged segments that cwnd has not grown for yet.
    pub(crate) credit: u32,
}

impl Window {
    pub(crate) fn new(cwnd: u32) -> Self {
        Window {
            cwnd,
            ssthresh: u32::MAX,
            credit: 0,
        }
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by one segment for each acknowledged one, up to ssthresh (RFC 5681 Section 3.1, RFC 3465). Returns the
    /// rest.
    pub(super) fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let rest = acked - (grown - self.cwnd);
        self.cwnd = grown;
        rest
    }

    /// Grows by one segment for every `each` acknowledged ones. Credit from a larger `each` gives at most one segment.
    pub(super) fn additive(&mut self, each: u32, acked: u32) {
        if self.credit >= each {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        self.cwnd += self.credit / each;
        self.credit %= each;
    }
}

/// Reason for a reduction of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A segment was lost.
    Loss,
    /// A queue has marked a segment.
    Mark,
}

/// Content of an acknowledgement for the congestion control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    pub(crate) now: Nanos,
    /// Index of the first segment that is not acknowledged, and of the next new one.
    pub(crate) una: u64,
    pub(crate) next: u64,
    /// Segments that are known to have arrived since the last acknowledgement.
    pub(crate) delivered: u32,
    /// True if it echoes a mark.
    pub(crate) marked: bool,
    /// Round-trip time of the newest segment that it is for.
    pub(crate) rtt: Option<Nanos>,
    /// Time that bursts may add to a train of acknowledgements.
    pub(crate) burst_delay: Nanos,
}
