//! Bandwidths of BBR.

use p4sched_schedulers::Nanos;

const SECOND: Nanos = 1_000_000_000;
/// Bandwidths are in thousandths of a segment per second.
pub(super) const SCALE: u64 = 1000;

/// Number of segments that a bandwidth delivers in this time.
pub(super) fn segments_in(bandwidth: u64, time: Nanos) -> u64 {
    (u128::from(bandwidth) * u128::from(time) / u128::from(SECOND * SCALE)) as u64
}

/// The bandwidth that delivers so many segments in this time.
pub(super) fn bandwidth(segments: u64, time: Nanos) -> u64 {
    (u128::from(segments) * u128::from(SECOND * SCALE) / u128::from(time.max(1))) as u64
}
