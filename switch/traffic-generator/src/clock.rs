//! The clock that sender and receiver share. The kernel's monotonic clock is the same in all network namespaces.

use std::time::Duration;

use crate::error::TrafficError;

/// Longest time from now to an agreed start. Senders that start together agree on an instant shortly before it.
const LONGEST_LEAD: Duration = Duration::from_secs(60);

/// Current time of the monotonic clock in ns.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The time from now until this instant of the monotonic clock. It is zero if the instant is past, or `None`.
///
/// # Errors
/// If the instant is more than a minute ahead. It then belongs to another clock.
pub fn until(instant_ns: Option<u64>) -> Result<Duration, TrafficError> {
    let ahead = Duration::from_nanos(instant_ns.map_or(0, |instant| instant.saturating_sub(monotonic_ns())));
    if ahead > LONGEST_LEAD {
        return Err(TrafficError::Flow(format!(
            "the start is {:.0} s ahead on the monotonic clock: it can be at most {} s",
            ahead.as_secs_f64(),
            LONGEST_LEAD.as_secs()
        )));
    }
    Ok(ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_that_is_past_is_not_waited_for() {
        assert_eq!(until(None).unwrap(), Duration::ZERO);
        assert_eq!(until(Some(1)).unwrap(), Duration::ZERO);
        let ahead = until(Some(monotonic_ns() + 60_000_000_000)).unwrap();
        assert!(Duration::from_secs(50) < ahead && ahead <= Duration::from_secs(60));
    }

    #[test]
    fn an_instant_of_another_clock_is_refused() {
        let refusal = until(Some(u64::MAX)).unwrap_err().to_string();
        assert!(
            refusal.ends_with("s ahead on the monotonic clock: it can be at most 60 s"),
            "{refusal}"
        );
    }
}
