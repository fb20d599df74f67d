//! The timers of the sender: retransmission (RFC 6298), tail loss probe and reordering (RFC 8985), pFabric's probes.

use super::acknowledgement::Losses;
use super::deadlines::{SLACK, TailProbe, runs_out};
use super::quic::PERSISTENT;
use super::state::{Phase, TcpSender};
use crate::config::{Control, Recovery};
use crate::control::Cause;
use crate::endpoint::Endpoint;
use crate::segment::Segment;
use p4sched_schedulers::Nanos;

/// pFabric Section 4.3: after this many timeouts in a row a flow only probes.
const TIMEOUTS_BEFORE_PROBES: u32 = 5;

/// The kind of a timer. If two expire at the same time, the first one in this list acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Pacing,
    Reordering,
    TailProbe,
    Retransmission,
}

impl TcpSender {
    /// The timer that expires first.
    pub(super) fn next_deadline(&self) -> Option<(Nanos, Timer)> {
        let pacing = self.pace.as_ref().and_then(|pace| pace.due());
        let pacing = pacing.filter(|_| !self.finished()).map(|at| (at, Timer::Pacing));
        if self.finished() || (self.established && self.board.is_empty()) {
            return pacing;
        }
        let timeout = self.round_trip.timeout(&self.config);
        let timeout = runs_out(self.timers.restarted, timeout, self.config.tick);
        let reordering = self.timers.reordering.map(|at| (at, Timer::Reordering));
        let probe = self.tail_probe_due().map(|at| (at.min(timeout), Timer::TailProbe));
        [Some((timeout, Timer::Retransmission)), reordering, probe, pacing]
            .into_iter()
            .flatten()
            .min()
    }

    /// RFC 8985 Section 7.2. A single segment may wait for a delayed acknowledgement; Linux then adds the shortest
    /// timeout.
    fn tail_probe_due(&self) -> Option<Nanos> {
        let is_calm = matches!(self.phase, Phase::Open | Phase::Marked) && self.board.sacked() == 0;
        if self.config.recovery != Recovery::Rack || !is_calm || self.timers.tail_probe.is_some() || !self.established {
            return None;
        }
        let further = match self.board.out() {
            1 => self.config.min_rto,
            _ if self.config.tick > 0 => SLACK,
            _ => 0,
        };
        let wait = 2 * self.round_trip.smoothed()? + further;
        Some(runs_out(self.timers.sent_or_advanced, wait, self.config.tick))
    }

    pub(super) fn expire(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        match self.next_deadline().filter(|&(at, _)| at <= now) {
            None => {}
            Some((_, Timer::Pacing)) => self.transmit(now, out),
            Some((_, Timer::Reordering)) => self.stop_waiting(now, out),
            Some((_, Timer::TailProbe)) => self.probe_tail(now, out),
            Some((_, Timer::Retransmission)) => self.time_out(now, out),
        }
    }

    /// RFC 8985 Section 6.2 step 5: segments that may have been late count as lost.
    fn stop_waiting(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        let losses = self.find_losses(now, false);
        if losses.newly == 0 {
            return;
        }
        if self.phase != Phase::Recovery {
            self.begin_phase(Losses { again: true, ..losses }, false);
        }
        if self.control.bbr().is_none() {
            let in_flight = self.in_flight();
            self.window.cwnd = self.reduction.window(1, self.window.ssthresh, in_flight, false);
        }
        self.transmit(now, out);
    }

    /// RFC 8985 Section 7.3: sends one segment beyond the window, so that its acknowledgement shows which earlier ones
    /// are lost.
    fn probe_tail(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        let repeats = !self.may_send_new();
        if repeats {
            self.send_again(now, self.board.next() - 1, out);
        } else {
            self.send_new(now, out);
        }
        self.timers.tail_probe = Some(TailProbe {
            end: self.board.next(),
            repeats,
        });
        self.timers.restart(now);
    }

    fn time_out(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        self.statistics.timeouts += 1;
        let is_first = self.round_trip.backoff == 0;
        self.round_trip.backoff += 1;
        if !self.established {
            return self.synchronize(now, out);
        }
        if self.config.recovery == Recovery::Quic && self.round_trip.backoff < PERSISTENT {
            return self.probe(now, out);
        }
        self.lose_the_window(now, is_first);
        self.timers.restart(now);
        self.probing = self.config.control == Control::PFabric && self.round_trip.backoff >= TIMEOUTS_BEFORE_PROBES;
        if self.probing {
            return self.data(now, self.board.una(), false, out);
        }
        self.transmit(now, out);
    }

    /// RFC 9002 Section 6.2.4: a probe with new data, or else with the first segment again. Nothing counts as lost.
    fn probe(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        if self.may_send_new() {
            self.send_new(now, out);
        } else {
            self.send_again(now, self.board.una(), out);
        }
        self.timers.restart(now);
    }

    /// RFC 5681 Section 3.1 with RFC 6298 Section 5.4; Linux, `tcp_enter_loss`. A second timeout for the same segment,
    /// or a timeout during a recovery, does not reduce ssthresh again.
    fn lose_the_window(&mut self, now: Nanos, is_first: bool) {
        let is_new = match self.phase {
            Phase::Open => true,
            Phase::Timeout => is_first,
            Phase::Marked | Phase::Recovery => self.board.una() >= self.until,
        };
        if is_new {
            self.reduce(Cause::Loss);
        }
        self.control.timeout();
        let until = if self.config.recovery == Recovery::Rack {
            self.rack.surely_late(now)
        } else {
            Nanos::MAX
        };
        self.board.lose_all_until(until);
        (self.phase, self.until, self.duplicates) = (Phase::Timeout, self.board.next(), 0);
        (self.timers.tail_probe, self.timers.reordering) = (None, None);
        self.window.cwnd = self.in_flight() + 1;
        self.window.credit = 0;
        self.announces_reduction = self.config.ecn;
    }
}
