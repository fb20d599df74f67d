//! Starting points of a sender's timers.

use p4sched_schedulers::Nanos;

/// A tail loss probe in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailProbe {
    /// The next new segment at the time of sending (RFC 8985: TLP.end_seq).
    pub(super) end: u64,
    /// Whether it repeats a segment (RFC 8985: TLP.is_retrans).
    pub(super) repeats: bool,
}

/// Time that Linux adds to its timers of a few round trips (`TCP_TIMEOUT_MIN_US`), because a tick is coarser than they
/// are.
pub(super) const SLACK: Nanos = 2_000_000;

/// The time at which a timer expires that is set at `from` for `duration`. `tick` is the interval between two ticks, or
/// 0.
///
/// Linux rounds the duration up to whole ticks, and the end to the next tick. From 63 ticks on, timers end at a
/// multiple of 8 ticks; from 504 on, at a multiple of 64; and so on (`kernel/time/timer.c`, `calc_index`).
pub(crate) fn runs_out(from: Nanos, duration: Nanos, tick: Nanos) -> Nanos {
    if tick == 0 {
        return from.saturating_add(duration);
    }
    let ticks = duration.div_ceil(tick);
    let (mut grain, mut limit) = (1, 63);
    while ticks >= limit && limit < 1 << 40 {
        (grain, limit) = (grain * 8, limit * 8);
    }
    let end = from / tick + ticks;
    ((end / grain + 1) * grain).saturating_mul(tick)
}

/// Starting points of the timers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deadlines {
    /// Start of the retransmission timer.
    pub(super) restarted: Nanos,
    /// Start of the tail loss probe's timer: the last new segment or the last progress.
    pub(super) sent_or_advanced: Nanos,
    /// Time at which a segment that may only be late counts as lost.
    pub(super) reordering: Option<Nanos>,
    pub(super) tail_probe: Option<TailProbe>,
}

impl Deadlines {
    pub(super) fn restart(&mut self, now: Nanos) {
        self.restarted = now;
    }

    /// RFC 6298 Section 5.1: a new segment starts the timer if it is not running.
    pub(super) fn sent_new(&mut self, now: Nanos, was_empty: bool) {
        self.sent_or_advanced = now;
        if was_empty {
            self.restarted = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    #[test]
    fn a_timer_never_runs_out_early_and_longer_ones_are_coarser() {
        let after = |from, duration| runs_out(from * MS, duration * MS, 4 * MS) / MS;
        assert_eq!(
            [after(0, 12), after(1, 12), after(3, 13), after(4, 12)],
            [16, 16, 20, 20]
        );
        // Up to 62 ticks are exact. From 63 on, timers end at a multiple of 8, from 504 on, at a multiple of 64.
        assert_eq!([after(0, 248), after(0, 252), after(4, 256)], [252, 256, 288]);
        assert_eq!(after(0, 2016), 2048);
        assert_eq!(runs_out(5, 7, 0), 12);
        assert_eq!(runs_out(Nanos::MAX, 7, 0), Nanos::MAX);
    }
}
