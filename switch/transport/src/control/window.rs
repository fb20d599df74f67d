//! The congestion window, and the input of the congestion control algorithms.

use p4sched_schedulers::Nanos;

/// The congestion window, counted in segments as Linux does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// cwnd: number of segments that may be in flight.
    pub(crate) cwnd: u32,
    /// The window at which slow start ends.
    pub(crate) ssthresh: u32,
    /// Acknowledged segments for which cwnd has not grown yet.
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
    /// number of segments that are left.
    pub(super) fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let rest = acked - (grown - self.cwnd);
        self.cwnd = grown;
        rest
    }

    /// Grows by one segment for every `each` acknowledged ones. Credit from a larger `each` adds at most one segment.
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
    /// A queue marked a segment.
    Mark,
}

/// The content of an acknowledgement that congestion control needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    pub(crate) now: Nanos,
    /// Index of the first segment that is not acknowledged, and of the next new one.
    pub(crate) una: u64,
    pub(crate) next: u64,
    /// Segments newly known to have arrived.
    pub(crate) delivered: u32,
    /// Whether the acknowledgement echoes a mark.
    pub(crate) marked: bool,
    /// Round-trip time of the newest segment that it acknowledges.
    pub(crate) rtt: Option<Nanos>,
    /// Time that bursts may add to a train of acknowledgements.
    pub(crate) burst_delay: Nanos,
}
