//! The state of a sender, and its sending.

use super::deadlines::Deadlines;
use super::pacing::{Pace, UNPACED};
use super::quic::Quic;
use super::rack::Rack;
use super::reduction::Reduction;
use super::scoreboard::Scoreboard;
use crate::config::Config;
use crate::control::{Algorithm, Cause, Window};
use crate::rtt::RoundTrip;
use crate::segment::{Ecn, Kind, Segment};
use crate::statistics::Statistics;
use p4sched_schedulers::Nanos;
use std::sync::Arc;

/// The sender's reaction to losses and marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No losses or marks.
    Open,
    /// A mark reduces the window (RFC 3168 Section 6.1.2). Linux calls it CWR.
    Marked,
    /// Fast recovery from losses (RFC 6582, RFC 6675).
    Recovery,
    /// Slow start after a timeout (RFC 5681 Section 3.1).
    Timeout,
}

/// The state before a reduction, kept in case no segment was lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
    /// Time at which the first segment was sent again since then.
    pub(super) resent_at: Option<Nanos>,
}

/// The sender of one flow.
#[derive(Clone, Debug)]
pub(crate) struct TcpSender {
    pub(crate) statistics: Statistics,
    pub(super) config: Arc<Config>,
    pub(super) flow: u32,
    pub(super) bytes: u64,
    /// Whether the handshake is over.
    pub(super) established: bool,
    pub(super) board: Scoreboard,
    /// The receiver does not take bytes from this one on.
    pub(super) edge: u64,
    pub(super) window: Window,
    pub(super) control: Algorithm,
    /// Whether the congestion window stopped the last transmission, and not the receiver or the end of the flow.
    pub(super) limited: bool,
    pub(super) phase: Phase,
    /// The phase ends when the segments before this one are acknowledged (RFC 6582: recover).
    pub(super) until: u64,
    pub(super) reduction: Reduction,
    pub(super) undo: Option<Undo>,
    pub(super) rack: Rack,
    pub(super) quic: Quic,
    /// Go-back-N: whether the receiver has discarded the segment after those that it acknowledged.
    pub(super) refused: bool,
    /// Number of duplicate acknowledgements, without SACK. As many segments have arrived.
    pub(super) duplicates: u32,
    pub(super) round_trip: RoundTrip,
    pub(super) timers: Deadlines,
    /// `None` if the congestion control has no rate.
    pub(super) pace: Option<Box<Pace>>,
    /// Time at which data was last sent.
    pub(super) wrote: Nanos,
    /// Whether the next new segment tells the receiver that the window was reduced.
    pub(super) announces_reduction: bool,
    /// pFabric: whether it sends one byte at a time, until a byte is acknowledged.
    pub(super) probing: bool,
}

impl TcpSender {
    pub(crate) fn new(flow: u32, bytes: u64, config: Arc<Config>) -> Self {
        TcpSender {
            statistics: Statistics::default(),
            flow,
            bytes,
            established: false,
            board: Scoreboard::default(),
            edge: config.window,
            window: Window::new(config.initial_window),
            control: Algorithm::new(flow, &config),
            limited: false,
            phase: Phase::Open,
            until: 0,
            reduction: Reduction::default(),
            undo: None,
            rack: Rack::default(),
            quic: Quic::default(),
            refused: false,
            duplicates: 0,
            round_trip: RoundTrip::default(),
            timers: Deadlines::default(),
            pace: Pace::new(&config),
            wrote: 0,
            announces_reduction: false,
            probing: false,
            config,
        }
    }

    pub(crate) fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    /// Segments that may still be in the network.
    pub(crate) fn in_flight(&self) -> u32 {
        self.board.in_flight().saturating_sub(self.duplicates)
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.first_byte(self.board.una())
    }

    pub(super) fn segments(&self) -> u64 {
        self.bytes.div_ceil(self.config.mss.into())
    }

    fn first_byte(&self, index: u64) -> u64 {
        index.saturating_mul(self.config.mss.into()).min(self.bytes)
    }

    /// The number of whole segments before a byte.
    pub(super) fn segments_before(&self, byte: u64) -> u64 {
        if byte >= self.bytes {
            self.segments()
        } else {
            byte / u64::from(self.config.mss)
        }
    }

    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.phase, Phase::Marked | Phase::Recovery)
    }

    pub(super) fn smoothed(&self) -> Nanos {
        self.round_trip.smoothed().unwrap_or(self.config.initial_rto)
    }

    /// Begins a reduction to a new ssthresh.
    pub(super) fn reduce(&mut self, cause: Cause) {
        self.until = self.board.next();
        self.reduction = Reduction::new(self.window.cwnd);
        self.remember();
        self.window.ssthresh = self.control.reduced(self.window.cwnd, cause);
        self.window.credit = 0;
        self.timers.tail_probe = None;
        self.announces_reduction = self.config.ecn;
    }

    /// Halves the window for each timeout of idle time, to at least `least` (RFC 2861; Linux, tcp_cwnd_restart). An
    /// idle time shorter than a timeout changes nothing. BBR keeps its window.
    pub(crate) fn restart_after_idle(&mut self, now: Nanos, idle: Nanos, least: u32) {
        if let Some(bbr) = self.control.bbr() {
            return bbr.idle(now);
        }
        let timeout = self.round_trip.timeout(&self.config).max(1);
        if idle <= timeout || !self.board.is_empty() {
            return;
        }
        // ssthresh keeps what slow start has reached.
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd / 4 * 3);
        let halvings = (idle - 1) / timeout;
        let least = least.min(self.window.cwnd);
        let halved = self.window.cwnd.checked_shr(halvings.min(31) as u32).unwrap_or(0);
        // The last halving may go below the limit, so it is corrected.
        self.window.cwnd = halved.max(least);
    }

    fn remember(&mut self) {
        // Linux, tcp_current_ssthresh: ssthresh keeps what slow start has reached.
        let cwnd = self.window.cwnd;
        let ssthresh = if self.is_reducing() {
            self.window.ssthresh
        } else {
            self.window.ssthresh.max(cwnd / 4 * 3)
        };
        self.undo = Some(Undo {
            cwnd,
            ssthresh,
            resent_at: None,
        });
    }

    fn header(&self, now: Nanos, kind: Kind) -> Segment {
        Segment {
            flow: self.flow,
            kind,
            remaining: self.bytes - self.acknowledged(),
            sent_at: now,
            ..Segment::default()
        }
    }

    pub(super) fn data(&mut self, now: Nanos, index: u64, is_new: bool, out: &mut Vec<Segment>) {
        self.statistics.sent += 1;
        self.wrote = now;
        // RFC 3168 Section 6.1.5: retransmissions are not ECN-capable. Those of DCTCP and Prague are (Linux, tcp_ecn_send).
        let control = self.config.control;
        let capable = self.config.ecn && (is_new || control.is_scalable());
        out.push(Segment {
            seq: self.first_byte(index),
            len: if self.probing { 1 } else { self.len(index) as u32 },
            ecn: if capable { control.capable() } else { Ecn::NotEct },
            cwr: is_new && std::mem::take(&mut self.announces_reduction),
            ..self.header(now, Kind::Data)
        });
        self.reduction.sent += u32::from(self.is_reducing());
    }

    fn len(&self, index: u64) -> u64 {
        self.first_byte(index + 1) - self.first_byte(index)
    }

    pub(super) fn may_send_new(&self) -> bool {
        self.room() > 0
    }

    /// Number of new segments that the receiver can take.
    pub(super) fn room(&self) -> u64 {
        self.segments_before(self.edge).saturating_sub(self.board.next())
    }

    pub(super) fn send_new(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        let was_empty = self.board.is_empty();
        let index = self.board.send(now);
        if let Some(pace) = &mut self.pace {
            pace.delivery.send_new(now);
        }
        self.timers.sent_new(now, was_empty);
        self.data(now, index, true, out);
    }

    pub(super) fn send_again(&mut self, now: Nanos, index: u64, out: &mut Vec<Segment>) {
        self.statistics.retransmitted += 1;
        self.board.resend(now, index);
        if let Some(pace) = &mut self.pace {
            pace.delivery.send_again(index);
        }
        if let Some(undo) = &mut self.undo {
            undo.resent_at.get_or_insert(now);
        }
        if index == self.board.una() {
            self.timers.restart(now);
        }
        self.data(now, index, false, out);
    }

    /// Ends the wait of a segment.
    fn stop_pacing(&mut self) {
        if let Some(pace) = &mut self.pace {
            pace.waits = false;
        }
    }

    /// Whether the next segment must wait for its time.
    fn must_wait(&mut self, now: Nanos) -> bool {
        let Some(pace) = &mut self.pace else { return false };
        pace.waits = now < pace.next;
        pace.waits
    }

    /// Delays the next transmission after these segments, which have left together.
    fn paced(&mut self, now: Nanos, segments: u32) {
        let (Some(pace), Some(rate)) = (&mut self.pace, self.control.rate()) else {
            return;
        };
        if self.statistics.sent >= UNPACED {
            pace.reserve(now, u64::from(segments) * u64::from(self.config.mss), rate);
        }
    }

    /// Sends what the windows allow: first lost segments, then new ones.
    pub(super) fn transmit(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        let mut waits = false;
        self.stop_pacing();
        while !self.probing && !waits && self.in_flight() < self.window.cwnd {
            if self.must_wait(now) {
                break;
            }
            if let Some(index) = self.board.next_lost() {
                self.send_again(now, index, out);
                self.paced(now, 1);
            } else if self.may_send_new() {
                let burst = self.burst(now);
                (0..burst).for_each(|_| self.send_new(now, out));
                self.paced(now, burst);
                waits = burst == 0;
            } else {
                break;
            }
        }
        self.limited = waits || self.in_flight() >= self.window.cwnd;
    }

    pub(super) fn synchronize(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        self.timers.restart(now);
        out.push(self.header(now, Kind::Syn));
    }

    pub(super) fn receive_syn_ack(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        out.push(self.header(now, Kind::Confirm));
        if self.established {
            return;
        }
        self.established = true;
        self.edge = segment.window;
        // Linux, tcp_init_transfer: if two of the first segments were lost, the window starts at one segment.
        if self.round_trip.backoff > 1 {
            self.window.cwnd = 1;
        }
        let rtt = now - segment.echo;
        self.round_trip.sample(rtt);
        if let Some(bbr) = self.control.bbr() {
            bbr.start(now, Some(rtt), self.window.cwnd);
        }
        self.transmit(now, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp_receiver::TcpReceiver;

    /// In addition, each segment in flight takes 16 bytes, and each hole takes 16 bytes.
    #[test]
    fn a_flow_takes_a_few_hundred_bytes() {
        assert!(
            std::mem::size_of::<TcpSender>() <= 600,
            "{}",
            std::mem::size_of::<TcpSender>()
        );
        assert!(
            std::mem::size_of::<TcpReceiver>() <= 256,
            "{}",
            std::mem::size_of::<TcpReceiver>()
        );
    }
}
