//! The way from a host to its switch: a rate, no loss, no delay.

use std::collections::VecDeque;

use p4sched_dataplane::Nanos;

/// Frames on their way, one behind the other.
pub struct Uplink {
    rate_bps: u64,
    /// When the last frame is through.
    free_at: Nanos,
    frames: VecDeque<(Nanos, Vec<u8>)>,
}

impl Uplink {
    /// An uplink of this rate.
    pub fn new(rate_bps: u64) -> Uplink {
        Uplink {
            rate_bps,
            free_at: 0,
            frames: VecDeque::new(),
        }
    }

    /// Puts a frame behind those that are on their way.
    pub fn send(&mut self, now: Nanos, frame: Vec<u8>) {
        let takes = (frame.len() as u128 * 8_000_000_000).div_ceil(self.rate_bps.into());
        let takes = Nanos::try_from(takes).unwrap_or(Nanos::MAX);
        self.free_at = self.free_at.max(now).saturating_add(takes);
        self.frames.push_back((self.free_at, frame));
    }

    /// When the first frame is at the switch.
    pub fn next_arrival(&self) -> Option<Nanos> {
        self.frames.front().map(|frame| frame.0)
    }

    /// Frames on their way.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// The first frame, if it is at the switch.
    pub fn arrived(&mut self, now: Nanos) -> Option<Vec<u8>> {
        let due = self.next_arrival()? <= now;
        due.then(|| self.frames.pop_front()).flatten().map(|frame| frame.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_one_instant_arrive_one_behind_the_other() {
        let mut uplink = Uplink::new(1_000_000_000);
        uplink.send(100, vec![0; 125]);
        uplink.send(100, vec![1; 125]);
        assert_eq!((uplink.next_arrival(), uplink.arrived(1099)), (Some(1100), None));
        assert_eq!(uplink.arrived(1100), Some(vec![0; 125]));
        assert_eq!((uplink.arrived(1100), uplink.next_arrival()), (None, Some(2100)));
    }
}
