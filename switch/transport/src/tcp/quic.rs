//! Loss detection of QUIC (RFC 9002 Section 6.1): a packet is lost if it was sent before one that has arrived, and three
//! packets earlier or long enough ago.
//!
//! Packets are numbered by transmission. The time has no granularity (kGranularity), for round trips of microseconds.

use super::scoreboard::Delivered;
use p4sched_schedulers::Nanos;

/// kPacketThreshold.
pub(super) const PACKET_THRESHOLD: u32 = 3;

/// Timeouts in a row that count as persistent congestion (kPersistentCongestionThreshold): 3 in RFC 9002 Section 7.6,
/// where it is a time, and the second probe is sent after three times the first interval.
pub(super) const PERSISTENT: u32 = 3;

/// The packet with the largest number that has arrived, and its round-trip time (latest_rtt).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quic {
    largest: Option<(u32, Nanos)>,
}

impl Quic {
    /// Records a segment that has arrived. `echo`: the time at which the packet that arrived was sent. An
    /// acknowledgement of QUIC names the packet, so another transmission of the same segment does not count.
    pub(super) fn delivered(&mut self, now: Nanos, segment: &Delivered, echo: Nanos) {
        if segment.again && segment.sent_at != echo {
            return;
        }
        if self.largest.is_none_or(|(number, _)| number < segment.number) {
            self.largest = Some((segment.number, now - segment.sent_at));
        }
    }

    /// The largest number that has arrived, and the time after which a packet with a smaller number is lost.
    pub(super) fn judgement(&self, smoothed: Nanos) -> Option<(u32, Nanos)> {
        let (number, latest) = self.largest?;
        Some((number, smoothed.max(latest) / 8 * 9))
    }
}
