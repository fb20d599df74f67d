//! A link: it sends one packet after another.

use p4sched_traffic_manager::{Nanos, Pace};

/// Nanoseconds per second, times bits per byte.
const BYTE_WORK: u64 = 8_000_000_000;

/// A link of a constant rate. It keeps fractions of a nanosecond ([`Pace`]), so a busy link carries exactly its rate.
#[derive(Clone, Debug)]
pub struct Link {
    speed: Speed,
    pace: Pace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speed {
    /// Nanoseconds per byte, if that is a whole number. No division is needed.
    Byte(Nanos),
    /// Bits per second.
    Bits(u64),
    /// Bits per second. Each packet takes whole nanoseconds, rounded up.
    BitsRoundedUp(u64),
    /// Bits per second. Each packet takes whole nanoseconds, rounded down.
    BitsRoundedDown(u64),
}

impl Link {
    /// A free link of this rate. The rate must be above 0.
    pub fn new(rate_bps: u64) -> Link {
        Link {
            speed: speed(rate_bps, Speed::Bits),
            pace: Pace::default(),
        }
    }

    /// A free link of this rate, above 0. The time of each packet is rounded up to whole nanoseconds.
    pub fn rounded_up(rate_bps: u64) -> Link {
        Link {
            speed: speed(rate_bps, Speed::BitsRoundedUp),
            pace: Pace::default(),
        }
    }

    /// A free link of this rate, above 0. The time of each packet is rounded down to whole nanoseconds.
    pub fn rounded_down(rate_bps: u64) -> Link {
        Link {
            speed: speed(rate_bps, Speed::BitsRoundedDown),
            pace: Pace::default(),
        }
    }

    /// Changes the rate. A packet that is being sent ends at the rate it began with.
    pub fn set_rate(&mut self, rate_bps: u64) {
        let speed = speed(rate_bps, Speed::Bits);
        if speed != self.speed {
            self.speed = speed;
            self.pace.rate_changed();
        }
    }

    /// The time at which the link becomes free, or became free.
    #[inline]
    pub fn free(&self) -> Nanos {
        self.pace.free_ns()
    }

    /// Sends a packet of `len` bytes, at `start` or when the link becomes free. Returns the time at which its last bit
    /// is sent.
    #[inline(always)]
    pub fn send(&mut self, start: Nanos, len: u32) -> Nanos {
        let len = u64::from(len);
        self.pace.begin(start);
        match self.speed {
            Speed::Byte(ns) => self.pace.take(len * ns),
            Speed::Bits(rate) => self.pace.work(len * 8, rate),
            Speed::BitsRoundedUp(rate) => self.pace.take((len * BYTE_WORK).div_ceil(rate)),
            Speed::BitsRoundedDown(rate) => self.pace.take(len * BYTE_WORK / rate),
        }
    }
}

fn speed(rate_bps: u64, in_bits: impl FnOnce(u64) -> Speed) -> Speed {
    match BYTE_WORK % rate_bps {
        0 => Speed::Byte(BYTE_WORK / rate_bps),
        _ => in_bits(rate_bps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// End times of three packets of 100 bytes at 3 Gbit/s. Each takes 266.67 ns.
    fn ends(mut link: Link) -> [Nanos; 3] {
        [0; 3].map(|start| link.send(start, 100))
    }

    #[test]
    fn a_busy_link_carries_its_rate_and_a_rounded_one_a_little_less() {
        assert_eq!(ends(Link::new(3_000_000_000)), [266, 533, 800]);
        assert_eq!(ends(Link::rounded_up(3_000_000_000)), [267, 534, 801]);
        assert_eq!(ends(Link::rounded_down(3_000_000_000)), [266, 532, 798]);
        assert_eq!(ends(Link::new(1_000_000_000)), [800, 1600, 2400]);
        assert_eq!(ends(Link::rounded_up(1_000_000_000)), [800, 1600, 2400]);
    }
}
