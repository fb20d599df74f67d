//! The wake-up of a node that may postpone it.

use p4sched_traffic_manager::Nanos;

/// A time that never comes.
const NEVER: Nanos = Nanos::MAX;

/// The earliest planned wake-up of a node. A postponed wake-up stays in the calendar; the node is then woken and does
/// nothing.
#[derive(Clone, Copy, Debug)]
pub struct WakeUp(Nanos);

impl Default for WakeUp {
    fn default() -> WakeUp {
        WakeUp(NEVER)
    }
}

impl WakeUp {
    /// Records that the node was woken.
    #[inline]
    pub fn woken(&mut self, now: Nanos) {
        if self.0 == now {
            self.0 = NEVER;
        }
    }

    /// The node wants to act at `at`. Returns the time of a wake-up that must be planned, if any.
    #[inline]
    pub fn wake_at(&mut self, now: Nanos, at: Option<Nanos>) -> Option<Nanos> {
        let at = at?.max(now);
        if at >= self.0 {
            return None;
        }
        self.0 = at;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_earlier_time_is_planned() {
        let mut planned = WakeUp::default();
        assert_eq!(planned.wake_at(0, None), None);
        assert_eq!(planned.wake_at(0, Some(20)), Some(20));
        assert_eq!(planned.wake_at(0, Some(30)), None);
        assert_eq!(planned.wake_at(5, Some(3)), Some(5));
        planned.woken(5);
        assert_eq!(planned.wake_at(5, Some(30)), Some(30));
    }
}
