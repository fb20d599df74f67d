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

/// A packet on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InTransit {
    /// When the far end has all of it.
    pub arrival: Nanos,
    /// Its number.
    pub number: u32,
    /// Bytes of its frame.
    pub len: u32,
}

/// See the head of this file. A run looks at another port with each event: what each packet needs lies together, in this
/// order.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Port {
    link: Link,
    /// The first packet on the wire, if there is one.
    first: InTransit,
    on_wire: u32,
    waiting: u32,
    delay_ns: Nanos,
    /// Bytes that wait or are on the wire.
    held_bytes: u64,
    sent_packets: u64,
    sent_bytes: u64,
    queue: Queue,
    mark_at: u32,
    /// A packet that finds no other one leaves no trace in the scheduler.
    forgets: bool,
    lengths: Option<Box<Lengths>>,
    /// The packets on the wire behind the first one. Most wires are too short for any.
    behind: VecDeque<InTransit>,
    /// All but what was sent.
    counts: Box<Counts>,
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
            held_bytes: 0,
            sent_packets: 0,
            sent_bytes: 0,
            first: InTransit::default(),
            on_wire: 0,
            behind: VecDeque::new(),
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
            self.note(now);
            self.waiting += 1;
            self.held_bytes += u64::from(header.len);
        }
        match verdict {
            Verdict::Queued { .. } => return verdict,
            Verdict::PushedOut { victim, .. } => {
                self.waiting -= 1;
                self.held_bytes -= u64::from(victim.len);
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
    #[inline]
    pub fn pass(&mut self, now: Nanos, number: u32, len: u32) -> Option<Nanos> {
        self.held_bytes += u64::from(len);
        self.transmit(now, number, len)
    }

    #[inline]
    fn transmit(&mut self, now: Nanos, number: u32, len: u32) -> Option<Nanos> {
        let arrival = self.link.send(now, len) + self.delay_ns;
        self.sent_packets += 1;
        self.sent_bytes += u64::from(len);
        let packet = InTransit { arrival, number, len };
        self.on_wire += 1;
        if self.on_wire > 1 {
            self.behind.push_back(packet);
            return None;
        }
        self.first = packet;
        Some(arrival)
    }

    /// Notes that a packet which was offered got its mark.
    pub fn count_mark(&mut self) {
        self.counts.marked += 1;
    }

    /// The length of the queue is about to change.
    #[inline]
    fn note(&mut self, now: Nanos) {
        if let Some(lengths) = &mut self.lengths {
            lengths.note(now, self.waiting);
        }
    }

    /// Every departure that is due, of packets that found the wire busy. At the same instant, a departure comes before an
    /// arrival.
    #[inline]
    pub fn catch_up(&mut self, now: Nanos) {
        while self.waiting > 0 && self.link.free() <= now {
            self.send(self.link.free());
        }
    }

    /// If the wire is free and a packet waits, sends it. Returns when it arrives, if it is the only one on the wire.
    #[inline]
    pub fn send(&mut self, now: Nanos) -> Option<Nanos> {
        if self.link.free() > now {
            return None;
        }
        let packet = self.queue.dequeue(now)?;
        self.note(now);
        self.waiting -= 1;
        self.transmit(now, packet.id as u32, packet.len)
    }

    /// The first packet on the wire arrives. Returns it, and when the one behind it arrives.
    #[inline]
    pub fn arrive(&mut self, now: Nanos) -> (InTransit, Option<Nanos>) {
        let arrived = self.first;
        self.held_bytes -= u64::from(arrived.len);
        self.on_wire -= 1;
        if self.on_wire > 0 {
            self.first = self.behind.pop_front().unwrap_or_default();
        }
        self.catch_up(now);
        (arrived, (self.on_wire > 0).then_some(self.first.arrival))
    }

    /// The first packet on the wire.
    pub fn first_in_transit(&self) -> Option<InTransit> {
        (self.on_wire > 0).then_some(self.first)
    }

    /// What it has counted.
    pub fn counts(&self) -> Counts {
        Counts {
            sent_packets: self.sent_packets,
            sent_bytes: self.sent_bytes,
            ..*self.counts
        }
    }

    /// Bytes that wait or are on the wire.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes
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
