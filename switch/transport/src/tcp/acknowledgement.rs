//! Processing of an acknowledgement, in the order of Linux's `tcp_ack`.

use super::deadlines::{SLACK, runs_out};
use super::quic::PACKET_THRESHOLD;
use super::rack::DUP_THRESH;
use super::scoreboard::Delivered;
use super::state::{Phase, TcpSender};
use crate::config::{Control, Recovery};
use crate::control::{Acknowledged, Cause, Measurement, Repair};
use crate::segment::{Bytes, Segment};
use p4sched_schedulers::Nanos;

/// The new information in an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    /// Whether the acknowledgement number has advanced.
    advanced: bool,
    /// Number of segments that have arrived.
    delivered: u32,
    /// Whether the receiver reports bytes that came twice (RFC 2883).
    duplicate_reported: bool,
    /// Sending times of the oldest and the newest of the arrived segments that were sent only once.
    oldest: Option<Nanos>,
    newest: Option<Nanos>,
}

/// Result of the search for losses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// Number of segments newly counted as lost.
    pub(super) newly: u32,
    /// Whether one of them had already been sent again.
    pub(super) again: bool,
}

impl TcpSender {
    pub(super) fn receive_ack(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        self.edge = self.edge.max(segment.ack.saturating_add(segment.window));
        let (out_before, in_flight_before) = (self.board.out(), self.in_flight());
        let mut news = self.take_news(now, segment);
        self.count_duplicates(segment, out_before, &mut news);
        self.measure(now, segment, &news);
        if self.probing {
            (self.probing, self.round_trip.backoff) = (false, 0);
        }
        if news.advanced {
            self.timers.restart(now);
            self.timers.sent_or_advanced = now;
        }
        self.judge_tail_probe(segment, &news);
        let losses = self.find_losses(now, news.advanced);
        self.end_phase(segment.echo, news.advanced);
        // Prague reduces its window by itself (`control/prague.rs`)
        let reduces = self.config.ecn && self.config.control != Control::Prague;
        self.begin_phase(losses, segment.ece && reduces);
        if self.pace.is_some() {
            self.resize_by_rate(now, &news, losses, in_flight_before);
        } else {
            self.resize(now, &news, losses, out_before);
        }
        self.transmit(now, out);
    }

    fn take_news(&mut self, now: Nanos, segment: &Segment) -> News {
        let mut news = News::default();
        let una = self.segments_before(segment.ack);
        news.advanced = una > self.board.una();
        let (mut is_ambiguous, mut is_overtaken) = (false, false);
        let (rack, quic, pace) = (&mut self.rack, &mut self.quic, &mut self.pace);
        let mut tell = |delivered: Delivered| {
            news.delivered += 1;
            is_overtaken |= rack.is_overtaken(&delivered);
            rack.delivered(now, &delivered);
            quic.delivered(now, &delivered, segment.echo);
            if let Some(pace) = pace {
                pace.delivery.arrived(&delivered);
            }
            is_ambiguous |= delivered.again;
            if !delivered.again {
                news.oldest.get_or_insert(delivered.sent_at);
                news.newest = Some(delivered.sent_at);
            }
        };
        self.board.acknowledge(una, &mut tell);
        let mss = u64::from(self.config.mss);
        if self.config.recovery == Recovery::GoBackN {
            self.refused = segment.sack[0].0 < segment.sack[0].1 && una == self.board.una();
            return news;
        }
        for (place, &(start, end)) in segment.sack.iter().enumerate().filter(|(_, block)| block.0 < block.1) {
            if place == 0 && is_duplicate((start, end), segment) {
                news.duplicate_reported = true;
                continue;
            }
            let end = if end >= self.bytes {
                self.bytes.div_ceil(mss)
            } else {
                end / mss
            };
            self.board.sack(start.div_ceil(mss), end, &mut tell);
        }
        self.statistics.reorderings += u64::from(is_overtaken);
        if is_ambiguous {
            (news.oldest, news.newest) = (None, None);
        }
        if news.duplicate_reported {
            self.rack.duplicate_reported(self.board.una(), self.board.next());
        }
        news
    }

    /// Counts duplicates. Without SACK, a duplicate acknowledgement means that some segment has arrived (RFC 5681
    /// Section 2).
    fn count_duplicates(&mut self, segment: &Segment, out_before: u32, news: &mut News) {
        if self.config.recovery != Recovery::NewReno || self.phase == Phase::Timeout {
            self.duplicates = 0;
        } else if news.advanced {
            // One of the acknowledged segments filled the hole. The duplicates have already counted the others.
            let acked = news.delivered;
            news.delivered = acked.saturating_sub(self.duplicates).max(1);
            self.duplicates = self.duplicates.saturating_sub(acked - 1);
        } else if segment.ack == self.acknowledged() && out_before > self.duplicates + 1 {
            self.duplicates += 1;
            news.delivered = 1;
        }
    }

    fn measure(&mut self, now: Nanos, segment: &Segment, news: &News) {
        if let Some(sent_at) = news.oldest {
            self.round_trip.sample(now - sent_at);
        } else if news.advanced {
            self.round_trip.sample(now - segment.echo);
        }
        let measurement = Measurement {
            now,
            una: self.board.una(),
            next: self.board.next(),
            delivered: news.delivered,
            marked: segment.ece,
            rtt: news.newest.map(|sent_at| now - sent_at),
            burst_delay: self.burst_delay(),
        };
        self.control.measure(&measurement, &mut self.window);
    }

    /// RFC 8985 Section 7.4: if the probe alone repaired a loss, the window is reduced as for any other loss.
    fn judge_tail_probe(&mut self, segment: &Segment, news: &News) {
        let Some(probe) = self.timers.tail_probe else { return };
        let una = self.segments_before(segment.ack);
        if una < probe.end {
            return;
        }
        if !probe.repeats || news.duplicate_reported || (!news.advanced && news.delivered == 0) {
            self.timers.tail_probe = None;
        } else if una > probe.end {
            self.reduce(Cause::Loss);
            self.undo = None;
            if self.control.bbr().is_none() {
                self.window.cwnd = self.window.ssthresh;
            }
        }
    }

    /// Finds lost segments by the rule of the configuration.
    pub(super) fn find_losses(&mut self, now: Nanos, advanced: bool) -> Losses {
        let before = self.board.lost();
        let mut again = false;
        match self.config.recovery {
            Recovery::Timeouts => {}
            Recovery::NewReno => {
                let partial = self.phase == Phase::Recovery && advanced && self.board.una() < self.until;
                let third = matches!(self.phase, Phase::Open | Phase::Marked) && self.duplicates >= DUP_THRESH;
                if partial || third {
                    self.board.lose_first();
                }
            }
            Recovery::Sack => self.board.lose_below_sacked(DUP_THRESH),
            Recovery::Rack => {
                let recovers = matches!(self.phase, Phase::Recovery | Phase::Timeout);
                let judgement = self.rack.judgement(self.board.sacked(), recovers, self.smoothed());
                let lost = judgement.map(|(newest, wait)| self.board.lose_sent_before(now, newest, wait));
                again = self.wait_for_reordering(now, lost);
            }
            Recovery::Quic => {
                let judgement = self.quic.judgement(self.smoothed());
                let lost =
                    judgement.map(|(largest, wait)| self.board.lose_behind(now, largest, PACKET_THRESHOLD, wait));
                again = self.wait_for_reordering(now, lost);
            }
            Recovery::GoBackN => {
                if std::mem::take(&mut self.refused) {
                    self.board.lose_all_until(Nanos::MAX);
                }
            }
        }
        Losses {
            newly: self.board.lost() - before,
            again,
        }
    }

    /// Sets the timer for the next segment that would be lost. Returns whether a lost segment had been sent again.
    fn wait_for_reordering(&mut self, now: Nanos, lost: Option<(Option<Nanos>, bool)>) -> bool {
        let (due, again) = lost.unwrap_or_default();
        self.timers.reordering = due.map(|due| match self.config.tick {
            0 => due,
            tick => runs_out(now, due - now + SLACK, tick),
        });
        again
    }

    fn end_phase(&mut self, echo: Nanos, advanced: bool) {
        if self.phase == Phase::Open {
            return;
        }
        // RFC 3522: the echo is older than the second transmission, so the first transmission filled the hole.
        let is_spurious = self
            .undo
            .and_then(|undo| undo.resent_at)
            .is_some_and(|resent_at| echo < resent_at);
        let may_undo = !matches!(self.config.recovery, Recovery::Quic | Recovery::GoBackN);
        if advanced && is_spurious && may_undo && self.phase != Phase::Marked {
            return self.take_back();
        }
        let una = self.board.una();
        // Without SACK, duplicates of segments that were sent twice must not look like a new loss (RFC 6582 Section 4).
        let must_pass = self.phase == Phase::Marked || self.config.recovery == Recovery::NewReno;
        if una < self.until + u64::from(must_pass) {
            return;
        }
        if self.is_reducing() && self.control.bbr().is_none() {
            self.window.cwnd = self.window.ssthresh;
        }
        if self.phase == Phase::Recovery {
            self.rack.recovered();
        }
        (self.phase, self.undo, self.duplicates) = (Phase::Open, None, 0);
    }

    /// Restores the window, because no segment was lost.
    fn take_back(&mut self) {
        if let Some(undo) = self.undo.take() {
            self.statistics.undone += 1;
            if let Some(bbr) = self.control.bbr() {
                bbr.undone();
            } else {
                self.window.cwnd = self.window.cwnd.max(undo.cwnd);
                self.window.ssthresh = self.window.ssthresh.max(undo.ssthresh);
            }
        }
        if self.phase == Phase::Recovery {
            self.rack.reordering_was_seen();
        }
        self.board.lose_none();
        (self.phase, self.duplicates) = (Phase::Open, 0);
    }

    pub(super) fn begin_phase(&mut self, losses: Losses, marked: bool) {
        let recovers = match self.phase {
            Phase::Open | Phase::Marked => self.board.lost() > 0,
            Phase::Timeout => losses.again,
            Phase::Recovery => false,
        };
        if recovers {
            self.statistics.recoveries += 1;
            if self.phase == Phase::Marked {
                self.undo = None;
            } else {
                self.reduce(Cause::Loss);
            }
            self.phase = Phase::Recovery;
        } else if marked && self.phase == Phase::Open {
            self.reduce(Cause::Mark);
            (self.phase, self.undo) = (Phase::Marked, None);
        }
    }

    /// BBR's window and rate.
    fn resize_by_rate(&mut self, now: Nanos, news: &News, losses: Losses, in_flight_before: u32) {
        let in_flight = self.in_flight();
        let (Some(bbr), Some(pace)) = (self.control.bbr(), &mut self.pace) else {
            return;
        };
        let sample = pace.delivery.sample(now, self.board.una(), self.rack.shortest());
        let acknowledged = Acknowledged {
            now,
            sample,
            delivered: news.delivered,
            delivered_in_all: pace.delivery.delivered(),
            lost: losses.newly,
            in_flight_before,
            in_flight,
            rtt: news.newest.map(|sent_at| now - sent_at),
            smoothed: self.round_trip.smoothed(),
            repair: match self.phase {
                Phase::Open | Phase::Marked => Repair::Nothing,
                Phase::Recovery => Repair::Recovery,
                Phase::Timeout => Repair::AfterTimeout,
            },
            next_send: pace.next,
        };
        bbr.acknowledged(&acknowledged, &mut self.window);
        if bbr.probes_round_trip() {
            pace.delivery.limit(in_flight);
        }
    }

    fn resize(&mut self, now: Nanos, news: &News, losses: Losses, out_before: u32) {
        if news.delivered == 0 {
            return;
        }
        if self.is_reducing() {
            let progress = news.advanced && losses.newly == 0;
            let in_flight = self.in_flight();
            self.window.cwnd = self
                .reduction
                .window(news.delivered, self.window.ssthresh, in_flight, progress);
        } else if news.advanced || self.rack.has_seen_reordering() || self.config.recovery == Recovery::Quic {
            // RFC 7661: a window that is not used does not grow. In slow start, using half of it is enough (Linux,
            // tcp_is_cwnd_limited).
            let is_used = if self.window.in_slow_start() {
                self.window.cwnd < out_before.saturating_mul(2)
            } else {
                self.limited
            };
            if is_used {
                self.control.grow(now, news.delivered, &mut self.window);
            }
        }
    }
}

/// RFC 2883 Section 4: the first block is below the acknowledgement, or within the second block.
fn is_duplicate(block: Bytes, segment: &Segment) -> bool {
    let second = segment.sack[1];
    block.1 <= segment.ack || (second.0 <= block.0 && block.1 <= second.1)
}
