//! The clock that sender and receiver share: the kernel's monotonic clock is one for all network namespaces.

use std::time::Duration;

/// Nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The time from now until this instant of the monotonic clock; zero if that is past, or none is given.
pub fn until(instant_ns: Option<u64>) -> Duration {
    Duration::from_nanos(instant_ns.map_or(0, |instant| instant.saturating_sub(monotonic_ns())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_that_is_past_is_not_waited_for() {
        assert_eq!(until(None), Duration::ZERO);
        assert_eq!(until(Some(1)), Duration::ZERO);
        let ahead = until(Some(monotonic_ns() + 3_600_000_000_000));
        assert!(Duration::from_secs(3590) < ahead && ahead <= Duration::from_secs(3600));
    }
}
