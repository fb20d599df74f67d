//! What the timers of a sender count from.

use p4sched_schedulers::Nanos;

/// A tail loss probe that is on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailProbe {
    /// The next segment when it was sent (RFC 8985: TLP.end_seq).
    pub(super) end: u64,
    /// Whether it repeats a segment (RFC 8985: TLP.is_retrans).
    pub(super) repeats: bool,
}

/// What the timers count from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deadlines {
    /// The retransmission timer counts from here.
    pub(super) restarted: Nanos,
    /// The tail loss probe counts from here: the last new segment, or the last progress.
    pub(super) sent_or_advanced: Nanos,
    /// When a segment is lost that may only be late.
    pub(super) reordering: Option<Nanos>,
    pub(super) tail_probe: Option<TailProbe>,
}

impl Deadlines {
    pub(super) fn restart(&mut self, now: Nanos) {
        self.restarted = now;
    }

    /// RFC 6298 Section 5.1: a new segment starts the timer if it does not run.
    pub(super) fn sent_new(&mut self, now: Nanos, was_empty: bool) {
        self.sent_or_advanced = now;
        if was_empty {
            self.restarted = now;
        }
    }
}
