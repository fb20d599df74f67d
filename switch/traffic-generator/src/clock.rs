//! The clock that sender and receiver share: the kernel's monotonic clock is one for all network namespaces.

/// Nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
