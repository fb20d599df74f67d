//! Segments that leave together: segmentation offload as in Linux (`tcp_write_xmit`, `tcp_tso_autosize`,
//! `tcp_tso_should_defer`).
//!
//! Linux builds large segments for any interface. If the interface cannot cut them, the layer below does. So segments
//! leave in bursts of about a millisecond of the flow's rate. An acknowledgement of two segments does not release two
//! segments.

use super::state::{Phase, TcpSender};
use p4sched_schedulers::Nanos;

const MS: Nanos = 1_000_000;
/// Largest size of a burst in bytes (Linux: `sk_gso_max_size`): 64 KiB without the headers.
const MOST: u64 = 65_215;
/// A burst has the bytes that the rate allows in 1 s / 1024, and at least two segments.
const BURSTS_IN_A_SECOND: u64 = 1024;
const LEAST: u64 = 2;
/// On short paths a burst may be larger: by `MOST`, halved for each 512 us of the shortest round trip.
const HALVING: Nanos = 512_000;
/// This fraction of the window, 1 / `WORTH`, is enough for a burst.
const WORTH: u32 = 3;
/// Expected rate as a percentage of window / round trip: in slow start, and near its end and after it.
const SLOW_START: u64 = 200;
const AVOIDANCE: u64 = 120;

impl TcpSender {
    /// Rate in bytes per second that the flow is expected to reach (`tcp_update_pacing_rate`); `None` before the first
    /// round trip.
    fn expected_rate(&self) -> Option<u64> {
        if let Some(rate) = self.control.rate() {
            return Some(rate);
        }
        let round_trip = self.round_trip.smoothed()?.max(1);
        let share = if self.window.cwnd < self.window.ssthresh / 2 {
            SLOW_START
        } else {
            AVOIDANCE
        };
        let segments = u64::from(self.window.cwnd.max(self.board.out()));
        let bytes = u128::from(segments * u64::from(self.config.mss) * share / 100);
        Some((bytes * 1_000_000_000 / u128::from(round_trip)) as u64)
    }

    /// Size of a full burst in segments.
    fn full_burst(&self) -> u64 {
        let of_rate = self.expected_rate().map_or(MOST, |rate| rate / BURSTS_IN_A_SECOND);
        let halvings = (self.rack.shortest() / HALVING).min(63);
        let bytes = (of_rate + (MOST >> halvings)).min(MOST);
        (bytes / u64::from(self.config.mss)).max(LEAST)
    }

    /// Number of new segments to send together. The receiver must permit at least one, and the window must not be full.
    /// 0 means that it is better to wait for the next acknowledgement.
    pub(super) fn burst(&self, now: Nanos) -> u32 {
        if !self.config.offload {
            return 1;
        }
        let window = self.window.cwnd;
        let free = window - self.in_flight();
        let full = self.full_burst();
        // The data of an application comes in pieces of this size.
        let piece = (MOST / u64::from(self.config.mss)).max(1);
        let next = self.board.next();
        let ready = (piece - next % piece).min(self.segments() - next);
        let room = self.room();
        let sendable = room.min(free.into());
        let is_last = next + ready == self.segments();
        let goes = ready == 1
            || !matches!(self.phase, Phase::Open | Phase::Marked)
            || now - self.wrote > MS
            || sendable >= full
            || (!is_last && sendable >= ready)
            || sendable >= u64::from(window / WORTH)
            || !self.acknowledgement_is_near(now);
        if !goes {
            return 0;
        }
        // At least two bursts should be in flight.
        let half = (window / 2).max(1).min(free);
        full.min(ready).min(room).min(half.into()) as u32
    }

    /// Whether an acknowledgement is expected within half a round trip, or within 1 ms if that is shorter.
    fn acknowledgement_is_near(&self, now: Nanos) -> bool {
        let (Some(sent_at), Some(round_trip)) = (self.board.first_sent_at(), self.round_trip.smoothed()) else {
            return false;
        };
        sent_at + round_trip <= now + (round_trip / 2).min(MS)
    }

    /// Time that bursts may add to a train of acknowledgements (`hystart_ack_delay`): that of four of the largest
    /// bursts, at most 1 ms.
    pub(super) fn burst_delay(&self) -> Nanos {
        match self.expected_rate() {
            Some(rate) if self.config.offload => (4 * MOST * 1000 * MS / rate.max(1)).min(MS),
            _ => 0,
        }
    }
}
