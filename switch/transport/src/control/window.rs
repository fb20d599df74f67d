//! The congestion window, and what the algorithms hear of it.

use p4sched_schedulers::Nanos;

/// The congestion window, counted in segments as Linux does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Segments that may be on their way: cwnd.
    pub(crate) cwnd: u32,
    /// Where slow start ends: ssthresh.
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

    /// One segment for each that was acknowledged, up to ssthresh (RFC 5681 Section 3.1, RFC 3465). Returns those left over.
    pub(super) fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let rest = acked - (grown - self.cwnd);
        self.cwnd = grown;
        rest
    }

    /// One segment for every `each` that were acknowledged. Credit from a larger `each` gives one segment at most.
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

/// Why a window is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A segment was lost.
    Loss,
    /// A queue has marked a segment.
    Mark,
}

/// What an acknowledgement says to the congestion control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    pub(crate) now: Nanos,
    /// Index of the first segment that is not acknowledged, and of the next new one.
    pub(crate) una: u64,
    pub(crate) next: u64,
    /// Segments that are known to have arrived since the last acknowledgement.
    pub(crate) delivered: u32,
    /// Whether it echoes a mark.
    pub(crate) marked: bool,
    /// Round-trip time of the newest segment that it is for.
    pub(crate) rtt: Option<Nanos>,
    /// What bursts may add to the length of a train of acknowledgements.
    pub(crate) burst_delay: Nanos,
}
