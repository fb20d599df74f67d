//! An output port: a scheduler, and the wire behind it.
//!
//! A departure needs no event of its own. Nobody sees the queue before the next packet is offered or the packet on the wire
//! has arrived; then the departures that were due by then happen, each at its own time.

use std::collections::VecDeque;

use p4sched_schedulers::afq::{Afq, AfqConfig};
use p4sched_schedulers::{Config, ConfigError, Nanos, Packet, Scheduler, Scheme, Verdict};

use super::lengths::Lengths;
use super::packets::Header;
use crate::link::Link;
use crate::ranked::Ranked;

/// What the port has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that the wire took.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that found no room.
    pub full: u64,
    /// Packets that the admission rule refused.
    pub refused: u64,
    /// Packets that were pushed out while they waited.
    pub pushed_out: u64,
    /// Bytes of all these packets that were lost.
    pub lost_bytes: u64,
    /// Packets that got a congestion mark.
    pub marked: u64,
}

/// How a port chooses what to drop and what to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// A scheme that there are programs for.
    Scheme(Config),
    /// Approximate fair queueing. It has no program.
    Afq(AfqConfig),
}

impl Scheduling {
    /// The scheme, if there are programs for it.
    pub fn scheme(&self) -> Option<&Config> {
        match self {
            Scheduling::Scheme(config) => Some(config),
            Scheduling::Afq(_) => None,
        }
    }

    /// Whether a packet that finds no other one leaves no trace in it.
    fn forgets(&self) -> bool {
        let scheme = self.scheme().map(Config::scheme);
        matches!(scheme, Some(Scheme::Fifo | Scheme::Pifo))
    }

    fn queue(&self, start_time: bool) -> Result<Queue, ConfigError> {
        Ok(match self {
            Scheduling::Scheme(config) => Queue::Ranked(Ranked::new(config, start_time)?),
            Scheduling::Afq(config) => Queue::Rounds(Box::new(Afq::new(*config)?)),
        })
    }
}

/// What waits at a port.
#[derive(Clone, Debug)]
enum Queue {
    Ranked(Ranked),
    /// AFQ asks for no rank: it knows each packet's flow.
    Rounds(Box<Afq>),
}

impl Queue {
    fn enqueue(&mut self, now: Nanos, packet: Packet, scale: u32) -> Verdict {
        match self {
            Queue::Ranked(ranked) => ranked.enqueue(now, packet, scale),
            Queue::Rounds(afq) => afq.enqueue(now, packet),
        }
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        match self {
            Queue::Ranked(ranked) => ranked.dequeue(now),
            Queue::Rounds(afq) => afq.dequeue(now),
        }
    }
}

/// What a port is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// Its scheduler.
    pub scheduler: Scheduling,
    /// Ranks are virtual start times, whatever the packets say.
    pub start_time: bool,
    /// A packet that finds this many waiting is marked.
    pub mark_at: Option<u32>,
    /// Whether it remembers how long its queue was.
    pub measured: bool,
}

/// See the head of this file. A run looks at another port with each event: what each packet needs lies together.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Port {
    link: Link,
    delay_ns: Nanos,
    waiting: u32,
    mark_at: u32,
    waiting_bytes: u64,
    /// A packet that finds no other one leaves no trace in the scheduler.
    forgets: bool,
    in_transit_bytes: u64,
    /// Packets on the wire, and when the far end has all of each.
    in_transit: VecDeque<(Nanos, u32)>,
    queue: Queue,
    counts: Box<Counts>,
    lengths: Option<Box<Lengths>>,
}

impl Port {
    /// An empty port.
    ///
    /// # Errors
    /// If the model refuses the configuration.
    pub fn new(config: &PortConfig, rate_bps: u64, delay_ns: Nanos) -> Result<Port, ConfigError> {
        Ok(Port {
            queue: config.scheduler.queue(config.start_time)?,
            forgets: config.scheduler.forgets() && !config.start_time,
            link: Link::new(rate_bps),
            delay_ns,
            mark_at: config.mark_at.unwrap_or(u32::MAX),
            waiting: 0,
            waiting_bytes: 0,
            in_transit: VecDeque::new(),
            in_transit_bytes: 0,
            lengths: config.measured.then(Box::default),
            counts: Box::default(),
        })
    }

    /// Whether a packet that arrives now and is queued gets a congestion mark.
    pub fn marks(&self) -> bool {
        self.waiting >= self.mark_at
    }

    /// A packet arrives, after every departure that is due ([`Port::catch_up`]).
    pub fn offer(&mut self, now: Nanos, number: u32, header: &Header) -> Verdict {
        let packet = Packet {
            id: u64::from(number),
            rank: header.rank,
            user: header.user,
            flow: header.flow,
            len: header.len,
        };
        let verdict = self.queue.enqueue(now, packet, header.scale);
        if verdict.is_queued() {
            self.enter(now, header.len);
        }
        match verdict {
            Verdict::Queued { .. } => {}
            Verdict::PushedOut { victim, .. } => {
                self.leave(now, victim.len);
                self.counts.pushed_out += 1;
            }
            Verdict::DroppedByAdmission => self.counts.refused += 1,
            Verdict::DroppedFull => self.counts.full += 1,
        }
        self.counts.lost_bytes += verdict.lost(packet).map_or(0, |lost| u64::from(lost.len));
        verdict
    }

    /// Whether a packet that arrives now, after every departure that is due, may go straight to the wire.
    pub fn is_open(&self, now: Nanos) -> bool {
        self.forgets && self.waiting == 0 && self.link.free() <= now
    }

    /// A packet goes straight to the wire: what [`Port::offer`] and [`Port::send`] do where [`Port::is_open`]. Returns when it
    /// arrives, if it is the only one on the wire.
    pub fn pass(&mut self, now: Nanos, number: u32, len: u32) -> Option<Nanos> {
        let arrival = self.link.send(now, len) + self.delay_ns;
        self.counts.sent_packets += 1;
        self.counts.sent_bytes += u64::from(len);
        self.in_transit_bytes += u64::from(len);
        self.in_transit.push_back((arrival, number));
        (self.in_transit.len() == 1).then_some(arrival)
    }

    /// Notes that a packet which was offered got its mark.
    pub fn count_mark(&mut self) {
        self.counts.marked += 1;
    }

    fn enter(&mut self, now: Nanos, len: u32) {
        if let Some(lengths) = &mut self.lengths {
            lengths.note(now, self.waiting);
        }
        self.waiting += 1;
        self.waiting_bytes += u64::from(len);
    }

    fn leave(&mut self, now: Nanos, len: u32) {
        if let Some(lengths) = &mut self.lengths {
            lengths.note(now, self.waiting);
        }
        self.waiting -= 1;
        self.waiting_bytes -= u64::from(len);
    }

    /// Every departure that is due, of packets that found the wire busy. At the same instant, a departure comes before an
    /// arrival.
    pub fn catch_up(&mut self, now: Nanos) {
        while self.waiting > 0 && self.link.free() <= now {
            self.send(self.link.free());
        }
    }

    /// If the wire is free and a packet waits, sends it. Returns when it arrives, if it is the only one on the wire.
    pub fn send(&mut self, now: Nanos) -> Option<Nanos> {
        if self.link.free() > now {
            return None;
        }
        let packet = self.queue.dequeue(now)?;
        self.leave(now, packet.len);
        self.pass(now, packet.id as u32, packet.len)
    }

    /// The first packet on the wire has arrived, and has `len` bytes. Returns when the one behind it arrives.
    pub fn arrived(&mut self, now: Nanos, len: u32) -> Option<Nanos> {
        self.catch_up(now);
        self.in_transit.pop_front();
        self.in_transit_bytes -= u64::from(len);
        self.in_transit.front().map(|&(at, _)| at)
    }

    /// When the first packet on the wire arrives, and its number.
    pub fn first_in_transit(&self) -> Option<(Nanos, u32)> {
        self.in_transit.front().copied()
    }

    /// What it has counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Bytes that wait or are on the wire.
    pub fn held_bytes(&self) -> u64 {
        self.waiting_bytes + self.in_transit_bytes
    }

    /// Packets that wait.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// How long its queue was until `now`.
    pub fn lengths(&self, now: Nanos) -> Option<Lengths> {
        let mut lengths = self.lengths.as_deref()?.clone();
        lengths.note(now, self.waiting);
        Some(lengths)
    }
}
