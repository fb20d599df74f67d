//! UDP at a constant mean rate, without acknowledgement and congestion control.

use crate::endpoint::Endpoint;
use crate::random::mix;
use crate::segment::{Kind, Segment};
use crate::statistics::Statistics;
use p4sched_schedulers::Nanos;

/// Sends datagrams of `mss` bytes at equal intervals, each up to a jitter later. The last one may be shorter.
#[derive(Clone, Debug)]
pub(crate) struct UdpSender {
    pub(crate) statistics: Statistics,
    flow: u32,
    mss: u32,
    rate_bps: u64,
    bytes: u64,
    next: u64,
    started: Nanos,
    jitter_ns: Nanos,
    seed: u64,
}

impl UdpSender {
    pub(crate) fn new(flow: u32, bytes: u64, mss: u32, rate_bps: u64) -> Self {
        UdpSender {
            statistics: Statistics::default(),
            flow,
            mss,
            rate_bps,
            bytes,
            next: 0,
            started: 0,
            jitter_ns: 0,
            seed: 0,
        }
    }

    /// The same sender, with a random delay of up to `jitter_ns` before each datagram.
    pub(crate) fn with_jitter(self, jitter_ns: Nanos, seed: u64) -> Self {
        UdpSender {
            jitter_ns,
            seed,
            ..self
        }
    }

    /// Time at which the next datagram leaves: when all bytes before it have been sent at the rate, and its jitter
    /// later. The first time is computed from the start each time, so
    /// rounding errors do not add up.
    fn due(&self) -> Nanos {
        let after = (u128::from(self.next) * 8 * 1_000_000_000).div_ceil(u128::from(self.rate_bps));
        let due = self.started.saturating_add(u64::try_from(after).unwrap_or(u64::MAX));
        due.saturating_add(self.jitter())
    }

    /// Delay of the next datagram, from 0 to the jitter: a hash of its place.
    fn jitter(&self) -> Nanos {
        if self.jitter_ns == 0 {
            return 0;
        }
        let mut mixed = mix(self.seed.wrapping_add(u64::from(self.flow)));
        mixed = mix(mixed.wrapping_add(self.next));
        ((u128::from(mixed) * (u128::from(self.jitter_ns) + 1)) >> 64) as Nanos
    }
}

impl Endpoint for UdpSender {
    fn start(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        self.started = now;
        self.timer(now, out);
    }

    fn receive(&mut self, _now: Nanos, _segment: &Segment, _out: &mut Vec<Segment>) {}

    fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        while !self.finished() && self.due() <= now {
            let remaining = self.bytes - self.next;
            let len = u64::from(self.mss).min(remaining) as u32;
            out.push(Segment {
                flow: self.flow,
                kind: Kind::Data,
                seq: self.next,
                len,
                remaining,
                sent_at: now,
                ..Segment::default()
            });
            self.next += u64::from(len);
            self.statistics.sent += 1;
        }
    }

    fn next_timer(&self) -> Option<Nanos> {
        (!self.finished()).then(|| self.due())
    }

    fn finished(&self) -> bool {
        self.next == self.bytes
    }
}

/// Counts the datagrams of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct UdpReceiver {
    bytes: u64,
    received: u64,
}

impl UdpReceiver {
    pub(crate) fn new(bytes: u64) -> Self {
        UdpReceiver { bytes, received: 0 }
    }

    /// Number of bytes that have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Number of bytes that the application has received. It gets each datagram at once.
    pub(crate) fn delivered(&self) -> u64 {
        self.received
    }
}

impl Endpoint for UdpReceiver {
    fn start(&mut self, _now: Nanos, _out: &mut Vec<Segment>) {}

    fn receive(&mut self, _now: Nanos, segment: &Segment, _out: &mut Vec<Segment>) {
        self.received += u64::from(segment.len);
    }

    fn timer(&mut self, _now: Nanos, _out: &mut Vec<Segment>) {}

    fn next_timer(&self) -> Option<Nanos> {
        None
    }

    fn finished(&self) -> bool {
        self.received == self.bytes
    }
}
