//! An exact clock for work at a fixed rate.

use crate::packet::Nanos;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// The instant from which a rate-limited resource is free: `free_ns + rest / rate` ns.
///
/// The fraction is kept as a numerator over the rate, so rounding errors do not add up. Over any busy period the work
/// done is exactly rate * time, to less than a nanosecond.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    free_ns: Nanos,
    rest: u64,
}

impl Pace {
    /// The instant from which the resource is free, rounded down to ns.
    #[inline]
    pub fn free_ns(&self) -> Nanos {
        self.free_ns
    }

    /// Returns the instant at which work that is ready at `ready` begins: `ready`, or the instant from which the
    /// resource is free, if that is later. Idle time is not saved up.
    #[inline]
    pub fn begin(&mut self, ready: Nanos) -> Nanos {
        if ready > self.free_ns {
            self.free_ns = ready;
            self.rest = 0;
        }
        self.free_ns
    }

    /// Adds `units` of work at `rate` units per second (not 0). Returns the instant of its end.
    #[inline]
    pub fn work(&mut self, units: u64, rate: u64) -> Nanos {
        let (whole, rest) = match units
            .checked_mul(NANOS_PER_SECOND)
            .and_then(|n| n.checked_add(self.rest))
        {
            Some(n) => (n / rate, n % rate),
            None => {
                let n = u128::from(units) * u128::from(NANOS_PER_SECOND) + u128::from(self.rest);
                let rate = u128::from(rate);
                (u64::try_from(n / rate).unwrap_or(u64::MAX), (n % rate) as u64)
            }
        };
        self.free_ns = self.free_ns.saturating_add(whole);
        self.rest = rest;
        self.free_ns
    }

    /// Adds work of whole nanoseconds. Returns the instant of its end.
    #[inline]
    pub fn take(&mut self, ns: Nanos) -> Nanos {
        self.free_ns = self.free_ns.saturating_add(ns);
        self.free_ns
    }

    /// Forgets the fraction, because its denominator was the old rate.
    pub fn rate_changed(&mut self) {
        self.rest = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_packets_a_second_are_seven_in_every_second() {
        let mut pace = Pace::default();
        for second in 1..=1000 {
            for _ in 0..7 {
                pace.work(1, 7);
            }
            assert_eq!(pace.free_ns(), second * NANOS_PER_SECOND);
        }
    }

    #[test]
    fn work_too_large_for_64_bits_is_still_exact() {
        let mut pace = Pace::default();
        assert_eq!(pace.work(40_000_000_000, 1_000_000_000), 40 * NANOS_PER_SECOND);
    }

    #[test]
    fn idle_time_is_not_saved_up() {
        let mut pace = Pace::default();
        pace.work(1, 1);
        assert_eq!(pace.begin(5 * NANOS_PER_SECOND), 5 * NANOS_PER_SECOND);
        assert_eq!(pace.work(1, 1), 6 * NANOS_PER_SECOND);
        assert_eq!(pace.begin(0), 6 * NANOS_PER_SECOND);
    }
}
