//! A path between a sender and a receiver: one link with a rate, a delay and a queue, and a list of faults.
//!
//! Segments to the receiver wait for the link. Acknowledgements only have the delay.

use p4sched_transport::{Config, Ecn, Endpoint, Kind, Receiver, Segment, Sender};
use std::collections::BTreeMap;
use std::sync::Arc;

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// The fate of a segment that does not arrive normally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Lost,
    /// Additional delay, in ns.
    Late(u64),
    /// The segment is marked.
    Marked,
}

/// A segment that one side has sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: u64,
    pub segment: Segment,
}

/// Number of segments that were sent at an event, and number in flight after it.
#[derive(Clone, Copy, Debug)]
pub struct Sends {
    pub sent: usize,
    pub in_flight: u32,
    pub cwnd: u32,
}

#[derive(Clone, Debug)]
pub struct Path {
    /// Payload rate in bit/s; 0: no limit.
    pub rate_bps: u64,
    /// Delay one way.
    pub delay: u64,
    /// Largest number of waiting segments; further ones are lost.
    pub queue: usize,
    /// An arriving segment is marked if this many segments wait.
    pub mark_at: usize,
    /// Fate of the sender's segments, by their number in the order of sending, from 0.
    pub fates: BTreeMap<u64, Fate>,
    /// The same for the receiver's segments.
    pub fates_back: BTreeMap<u64, Fate>,
}

impl Path {
    pub fn new(rate_bps: u64, delay: u64) -> Self {
        Path {
            rate_bps,
            delay,
            queue: usize::MAX,
            mark_at: usize::MAX,
            fates: BTreeMap::new(),
            fates_back: BTreeMap::new(),
        }
    }

    pub fn losing(mut self, numbers: impl IntoIterator<Item = u64>) -> Self {
        self.fates
            .extend(numbers.into_iter().map(|number| (number, Fate::Lost)));
        self
    }

    pub fn losing_back(mut self, numbers: impl IntoIterator<Item = u64>) -> Self {
        self.fates_back
            .extend(numbers.into_iter().map(|number| (number, Fate::Lost)));
        self
    }

    pub fn late(mut self, number: u64, by: u64) -> Self {
        self.fates.insert(number, Fate::Late(by));
        self
    }
}

pub struct Run {
    pub sender: Sender,
    pub receiver: Receiver,
    /// All segments in the order of sending.
    pub sent: Vec<Sent>,
    pub answers: Vec<Sent>,
    /// Time at which the receiver had all bytes, and time at which the sender knew it.
    pub received_at: Option<u64>,
    pub finished_at: Option<u64>,
    /// The window after each event: time and segments.
    pub windows: Vec<(u64, u32)>,
    /// Number of segments sent at each event of the sender.
    pub sends: Vec<Sends>,
    /// Number of waiting segments, at each arrival.
    pub waiting: Vec<usize>,
    /// Number of segments for which the queue had no room.
    pub dropped: u64,
}

impl Run {
    /// Numbers of the segments in the order of sending, after the handshake. Segments have `mss` bytes.
    pub fn sequence(&self) -> Vec<u64> {
        let data = self.sent.iter().filter(|sent| sent.segment.kind == Kind::Data);
        let mss = u64::from(self.sent.iter().map(|sent| sent.segment.len).max().unwrap_or(1));
        data.map(|sent| sent.segment.seq / mss).collect()
    }

    /// Times at which a segment was sent.
    pub fn times(&self, number: u64) -> Vec<u64> {
        let data = self.sent.iter().filter(|sent| sent.segment.kind == Kind::Data);
        let mss = u64::from(self.sent.iter().map(|sent| sent.segment.len).max().unwrap_or(1));
        data.filter(|sent| sent.segment.seq / mss == number)
            .map(|sent| sent.at)
            .collect()
    }

    pub fn acks(&self) -> Vec<u64> {
        self.answers
            .iter()
            .filter(|sent| sent.segment.kind == Kind::Ack)
            .map(|sent| sent.segment.ack)
            .collect()
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    ToReceiver(Segment),
    ToSender(Segment),
    SenderTimer,
    ReceiverTimer,
}

struct Loop<'a> {
    path: &'a Path,
    run: Run,
    /// Sorted by time, then by order of insertion.
    events: BTreeMap<(u64, u64), Event>,
    inserted: u64,
    link_free: u64,
    departures: Vec<u64>,
}

/// Runs one flow until it is finished, no event is left, or the time is `end`.
pub fn run(config: &Config, bytes: u64, path: &Path, end: u64) -> Run {
    let config = Arc::new(*config);
    let mut world = Loop {
        path,
        run: Run {
            sender: Sender::new(0, bytes, config.clone()),
            receiver: Receiver::new(0, bytes, config),
            sent: Vec::new(),
            answers: Vec::new(),
            received_at: None,
            finished_at: None,
            windows: Vec::new(),
            sends: Vec::new(),
            waiting: Vec::new(),
            dropped: 0,
        },
        events: BTreeMap::new(),
        inserted: 0,
        link_free: 0,
        departures: Vec::new(),
    };
    let mut out = Vec::new();
    world.run.sender.start(0, &mut out);
    world.forward(0, &mut out);
    while let Some((now, event)) = world.next().filter(|&(now, _)| now <= end) {
        world.step(now, event);
    }
    world.run
}

impl Loop<'_> {
    fn insert(&mut self, at: u64, event: Event) {
        self.events.insert((at, self.inserted), event);
        self.inserted += 1;
    }

    /// The next event. At the same time, a segment comes before a timer.
    fn next(&mut self) -> Option<(u64, Event)> {
        let arrival = self.events.first_key_value().map(|(&(at, _), _)| (at, 0));
        let sender = self.run.sender.next_timer().map(|at| (at, 1));
        let receiver = self.run.receiver.next_timer().map(|at| (at, 2));
        let (at, kind) = [arrival, sender, receiver].into_iter().flatten().min()?;
        Some(match kind {
            0 => (at, self.events.pop_first()?.1),
            1 => (at, Event::SenderTimer),
            _ => (at, Event::ReceiverTimer),
        })
    }

    fn step(&mut self, now: u64, event: Event) {
        let mut out = Vec::new();
        let sent_before = self.run.sent.len();
        match event {
            Event::ToReceiver(segment) => {
                self.run.receiver.receive(now, &segment, &mut out);
                self.backward(now, &mut out);
            }
            Event::ToSender(segment) => {
                self.run.sender.receive(now, &segment, &mut out);
                self.forward(now, &mut out);
            }
            Event::SenderTimer => {
                self.run.sender.timer(now, &mut out);
                self.forward(now, &mut out);
            }
            Event::ReceiverTimer => {
                self.run.receiver.timer(now, &mut out);
                self.backward(now, &mut out);
            }
        }
        if let Some(cwnd) = self.run.sender.cwnd() {
            let in_flight = self.run.sender.in_flight();
            let sent = self.run.sent.len() - sent_before;
            self.run.sends.push(Sends { sent, in_flight, cwnd });
            self.run.windows.push((now, cwnd));
        }
        if self.run.receiver.finished() {
            self.run.received_at.get_or_insert(now);
        }
        if self.run.sender.finished() {
            self.run.finished_at.get_or_insert(now);
        }
    }

    fn forward(&mut self, now: u64, out: &mut Vec<Segment>) {
        for mut segment in out.drain(..) {
            let number = self.run.sent.len() as u64;
            self.run.sent.push(Sent { at: now, segment });
            let fate = self.path.fates.get(&number).copied();
            self.departures.retain(|&departure| departure > now);
            self.run.waiting.push(self.departures.len());
            if fate == Some(Fate::Lost) {
                continue;
            }
            if self.departures.len() > self.path.queue {
                self.run.dropped += 1;
                continue;
            }
            let over = self.departures.len() >= self.path.mark_at;
            if matches!(segment.ecn, Ecn::Ect | Ecn::Ect1) && (over || fate == Some(Fate::Marked)) {
                segment.ecn = Ecn::Ce;
            }
            let bits = u128::from(segment.len) * 8 * u128::from(SECOND);
            let time = if self.path.rate_bps == 0 {
                0
            } else {
                bits.div_ceil(self.path.rate_bps.into()) as u64
            };
            self.link_free = self.link_free.max(now) + time;
            self.departures.push(self.link_free);
            let late = if let Some(Fate::Late(by)) = fate { by } else { 0 };
            self.insert(self.link_free + self.path.delay + late, Event::ToReceiver(segment));
        }
    }

    fn backward(&mut self, now: u64, out: &mut Vec<Segment>) {
        for segment in out.drain(..) {
            let number = self.run.answers.len() as u64;
            self.run.answers.push(Sent { at: now, segment });
            match self.path.fates_back.get(&number) {
                Some(Fate::Lost) => {}
                Some(Fate::Late(by)) => self.insert(now + self.path.delay + by, Event::ToSender(segment)),
                _ => self.insert(now + self.path.delay, Event::ToSender(segment)),
            }
        }
    }
}
