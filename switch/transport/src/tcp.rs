//! The sender of TCP: NewReno (RFC 5681, RFC 6582).

use crate::config::Config;
use crate::endpoint::Endpoint;
use crate::rtt::RoundTrip;
use crate::segment::{Kind, Segment};
use crate::sender::Statistics;
use p4sched_schedulers::Nanos;
use std::sync::Arc;

/// The sender of one TCP flow.
#[derive(Clone, Debug)]
pub(crate) struct TcpSender {
    pub(crate) statistics: Statistics,
    config: Arc<Config>,
    flow: u32,
    bytes: u64,
    established: bool,
    /// The oldest byte without acknowledgement (SND.UNA), the next one to send (SND.NXT) and the highest ever sent.
    acknowledged: u64,
    next: u64,
    highest: u64,
    window: u64,
    congestion_window: u64,
    slow_start_threshold: u64,
    duplicates: u32,
    /// Recovery lasts until this byte is acknowledged: RFC 6582's `recover`.
    recover: Option<u64>,
    round_trip: RoundTrip,
    backoff: u32,
    expires: Option<Nanos>,
}

impl TcpSender {
    pub(crate) fn new(flow: u32, bytes: u64, config: Arc<Config>) -> Self {
        TcpSender {
            statistics: Statistics::default(),
            flow,
            bytes,
            established: !config.handshake,
            acknowledged: 0,
            next: 0,
            highest: 0,
            window: config.window,
            congestion_window: u64::from(config.initial_window) * u64::from(config.mss),
            slow_start_threshold: u64::MAX,
            duplicates: 0,
            recover: None,
            round_trip: RoundTrip::new(),
            backoff: 0,
            expires: None,
            config,
        }
    }

    fn mss(&self) -> u64 {
        self.config.mss.into()
    }

    /// RFC 6298 Section 2 and, for the back-off, Section 5.5.
    fn timeout(&self) -> Nanos {
        let timeout = self
            .round_trip
            .timeout()
            .map_or(self.config.initial_rto, |rto| rto.max(self.config.min_rto));
        timeout
            .saturating_mul(1 << self.backoff.min(30))
            .min(self.config.max_rto)
    }

    fn send(&mut self, now: Nanos, seq: u64, out: &mut Vec<Segment>) {
        let len = self.mss().min(self.bytes - seq);
        self.statistics.sent += 1;
        self.statistics.retransmitted += u64::from(seq < self.highest);
        self.highest = self.highest.max(seq + len);
        out.push(Segment {
            flow: self.flow,
            kind: Kind::Data,
            seq,
            len: len as u32,
            remaining: self.bytes - self.acknowledged,
            sent_at: now,
            ..Segment::default()
        });
        if self.expires.is_none() {
            self.expires = Some(now + self.timeout());
        }
    }

    fn fill_window(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        let inflation = u64::from(self.duplicates) * self.mss();
        let allowed = self.acknowledged + self.window.min(self.congestion_window + inflation);
        while self.next < self.bytes && self.next + self.mss().min(self.bytes - self.next) <= allowed {
            self.send(now, self.next, out);
            self.next += self.mss().min(self.bytes - self.next);
        }
    }

    fn halve(&mut self) {
        self.slow_start_threshold = ((self.next - self.acknowledged) / 2).max(2 * self.mss());
    }

    fn acknowledge(&mut self, now: Nanos, ack: u64, out: &mut Vec<Segment>) {
        let newly = ack - self.acknowledged;
        self.acknowledged = ack;
        self.next = self.next.max(ack);
        self.duplicates = 0;
        self.backoff = 0;
        self.expires = (ack < self.highest).then(|| now + self.timeout());
        match self.recover {
            // A partial acknowledgement: the next segment is lost too (RFC 6582 Section 3.2, step 3).
            Some(recover) if ack < recover => self.send(now, ack, out),
            Some(_) => (self.recover, self.congestion_window) = (None, self.slow_start_threshold),
            None if self.congestion_window < self.slow_start_threshold => {
                self.congestion_window += newly.min(self.mss() * 2);
            }
            None => self.congestion_window += (self.mss() * newly / self.congestion_window).max(1),
        }
    }
}

impl Endpoint for TcpSender {
    fn start(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        if self.established {
            return self.fill_window(now, out);
        }
        self.expires = Some(now + self.timeout());
        out.push(Segment {
            flow: self.flow,
            kind: Kind::Syn,
            remaining: self.bytes,
            sent_at: now,
            ..Segment::default()
        });
    }

    fn receive(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        match segment.kind {
            Kind::SynAck => {
                out.push(Segment {
                    flow: self.flow,
                    kind: Kind::Confirm,
                    sent_at: now,
                    ..Segment::default()
                });
                if self.established {
                    return;
                }
                (self.established, self.backoff, self.expires) = (true, 0, None);
                self.round_trip.sample(now - segment.echo);
            }
            Kind::Ack if segment.ack > self.acknowledged => {
                self.round_trip.sample(now - segment.echo);
                self.acknowledge(now, segment.ack, out);
            }
            Kind::Ack if self.acknowledged < self.next => {
                self.duplicates += 1;
                if self.duplicates == 3 && self.recover.is_none() {
                    self.halve();
                    self.recover = Some(self.highest);
                    self.congestion_window = self.slow_start_threshold;
                    self.send(now, self.acknowledged, out);
                }
            }
            _ => {}
        }
        self.fill_window(now, out);
    }

    fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        if self.expires.is_none_or(|expires| now < expires) {
            return;
        }
        self.statistics.timeouts += 1;
        self.backoff += 1;
        if !self.established {
            return self.start(now, out);
        }
        self.halve();
        (self.congestion_window, self.next) = (self.mss(), self.acknowledged);
        (self.recover, self.duplicates) = (None, 0);
        self.expires = Some(now + self.timeout());
        self.fill_window(now, out);
    }

    fn next_timer(&self) -> Option<Nanos> {
        self.expires
    }

    fn finished(&self) -> bool {
        self.acknowledged == self.bytes
    }
}
