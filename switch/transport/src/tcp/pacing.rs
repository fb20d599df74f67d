//! Pacing: the times at which the segments of a flow may leave, if its congestion control has a rate. As in Linux
//! without the queue discipline `fq` (`tcp_update_skb_after_send`, `tcp_pacing_check`).

use super::delivery::DeliveryRate;
use crate::config::{Config, Control};
use p4sched_schedulers::Nanos;

/// Number of first segments that are not paced.
pub(super) const UNPACED: u64 = 10;
const SECOND: u64 = 1_000_000_000;

/// Additional state of a paced flow.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    pub(super) delivery: DeliveryRate,
    /// No segment leaves before this time.
    pub(super) next: Nanos,
    /// Whether a segment waits for it.
    pub(super) waits: bool,
}

impl Pace {
    /// `None` for a congestion control without a rate.
    pub(super) fn new(config: &Config) -> Option<Box<Self>> {
        (config.control == Control::Bbr).then(|| {
            Box::new(Pace {
                delivery: DeliveryRate::new(),
                next: 0,
                waits: false,
            })
        })
    }

    /// Time of the next transmission, if a segment waits for it.
    pub(super) fn due(&self) -> Option<Nanos> {
        self.waits.then_some(self.next)
    }

    /// Reserves the time of `bytes` at a rate in bytes per second. Time that passed without a segment shortens it, at
    /// most to half.
    pub(super) fn reserve(&mut self, now: Nanos, bytes: u64, rate: u64) {
        let time = (u128::from(bytes) * u128::from(SECOND) / u128::from(rate.max(1))) as Nanos;
        let unused = now.saturating_sub(self.next);
        self.next = self.next.max(now) + time - unused.min(time / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_shortens_the_next_gap_at_most_to_half() {
        let mut pace = Pace::new(&Config::kernel(Control::Bbr)).unwrap();
        let mut after = |now| {
            pace.reserve(now, 1000, 1_000_000); // 1 ms
            pace.next
        };
        assert_eq!(after(5_000_000), 5_500_000);
        assert_eq!(after(5_500_000), 6_500_000);
        assert_eq!(after(6_600_000), 7_500_000);
        assert_eq!(after(9_000_000), 9_500_000);
    }
}
