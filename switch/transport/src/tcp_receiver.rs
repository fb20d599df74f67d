//! The receiver of TCP and UDP: what has arrived, and when to say so.

use crate::config::{Config, Control};
use crate::endpoint::Endpoint;
use crate::ranges::Ranges;
use crate::segment::{Kind, Segment};
use p4sched_schedulers::Nanos;
use std::sync::Arc;

/// The receiver of one flow.
#[derive(Clone, Debug)]
pub(crate) struct TcpReceiver {
    config: Arc<Config>,
    flow: u32,
    bytes: u64,
    /// The next byte that is expected: RCV.NXT.
    next: u64,
    beyond: Ranges,
    /// Bytes that came for the first time.
    received: u64,
    unacknowledged: u32,
    echo: Nanos,
    acknowledge_at: Option<Nanos>,
}

impl TcpReceiver {
    /// The receiver of a flow of `bytes` bytes.
    pub(crate) fn new(flow: u32, bytes: u64, config: Arc<Config>) -> Self {
        TcpReceiver {
            config,
            flow,
            bytes,
            next: 0,
            beyond: Ranges::default(),
            received: 0,
            unacknowledged: 0,
            echo: 0,
            acknowledge_at: None,
        }
    }

    /// Bytes that have arrived, each counted once.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Bytes that the application has: all before this one.
    pub(crate) fn delivered(&self) -> u64 {
        self.next
    }

    fn acknowledge(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        (self.unacknowledged, self.acknowledge_at) = (0, None);
        out.push(Segment {
            flow: self.flow,
            kind: Kind::Ack,
            ack: self.next,
            window: self.config.window,
            sent_at: now,
            echo: self.echo,
            ..Segment::default()
        });
    }

    fn take(&mut self, segment: &Segment) {
        let (start, end) = (segment.seq, segment.seq + u64::from(segment.len));
        if end <= self.next || self.beyond.covering((start, end)).is_some() {
            return;
        }
        self.received += u64::from(segment.len);
        self.beyond.insert((start, end));
        if let Some(range) = self.beyond.take_from(self.next) {
            self.next = self.next.max(range.1);
        }
    }
}

impl Endpoint for TcpReceiver {
    fn start(&mut self, _now: Nanos, _out: &mut Vec<Segment>) {}

    fn receive(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        match segment.kind {
            Kind::Syn => out.push(Segment {
                flow: self.flow,
                kind: Kind::SynAck,
                window: self.config.window,
                sent_at: now,
                echo: segment.sent_at,
                ..Segment::default()
            }),
            Kind::Data => {
                let in_order = segment.seq == self.next;
                if self.unacknowledged == 0 {
                    self.echo = segment.sent_at;
                }
                self.take(segment);
                if matches!(self.config.control, Control::Udp { .. }) {
                    return;
                }
                self.unacknowledged += 1;
                match self.config.delayed_ack {
                    Some(delay) if in_order && self.unacknowledged < 2 => self.acknowledge_at = Some(now + delay),
                    _ => self.acknowledge(now, out),
                }
            }
            Kind::Confirm | Kind::SynAck | Kind::Ack => {}
        }
    }

    fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        if self.acknowledge_at.is_some_and(|at| at <= now) {
            self.acknowledge(now, out);
        }
    }

    fn next_timer(&self) -> Option<Nanos> {
        self.acknowledge_at
    }

    fn finished(&self) -> bool {
        self.received == self.bytes
    }
}
