//! An output port: a scheduler, and the wire behind it.
//!
//! A departure needs no event of its own. Nobody sees the queue until the next packet arrives, or until the packet on
//! the wire reaches its far end. At that time, all departures that are due happen, each with its own time.

use std::collections::VecDeque;

use p4sched_schedulers::dual_pi2::{self, Codepoint, DualPi2, Offered};
use p4sched_schedulers::flowlets::FlowletConfig;
use p4sched_schedulers::ideal::{FairAmong, Ideal};
use p4sched_schedulers::known::Knowledge;
use p4sched_schedulers::{Config, ConfigError, Model, Nanos, Packet, Rank, Scheduler, Scheme, Variants, Verdict};
use p4sched_traffic_manager::{self as traffic_manager, MemoryConfig};
use p4sched_transport::Ecn;
use p4sched_world::account::Account;
use p4sched_world::link::Link;
use p4sched_world::wire::{InTransit, Wire};
use p4sched_world::world::OutPort;

use super::by_queue::{ByQueue, QueueLengths};
use super::by_rank::ByRank;
use super::lengths::Lengths;
use super::order::{Order, OutOfOrder};
use super::packets::{Header, Packets};
use crate::ranked::{Ranked, StartTime};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets put on the wire.
    pub sent_packets: u64,
    /// Bytes put on the wire.
    pub sent_bytes: u64,
    /// Packets that found no room.
    pub full: u64,
    /// Packets that the admission rule refused.
    pub refused: u64,
    /// Packets that were pushed out while they waited.
    pub pushed_out: u64,
    /// Bytes of all lost packets.
    pub lost_bytes: u64,
    /// Packets with a congestion mark from this port.
    pub marked: u64,
}

/// The rule by which a port drops and sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// A scheme with programs.
    Scheme(Config),
    /// A discipline of the traffic manager that has no program.
    Ideal(traffic_manager::PortConfig),
    /// DualPI2, which marks packets itself.
    DualPi2(dual_pi2::Config),
}

impl Scheduling {
    /// The scheme, if it has programs.
    pub fn scheme(&self) -> Option<&Config> {
        match self {
            Scheduling::Scheme(config) => Some(config),
            Scheduling::Ideal(_) | Scheduling::DualPi2(_) => None,
        }
    }

    /// The scheme, if it has programs.
    ///
    /// # Errors
    /// The name of the discipline, if it has no program.
    pub fn programmed(&self) -> Result<&Config, String> {
        match self {
            Scheduling::Scheme(config) => Ok(config),
            Scheduling::Ideal(config) => Err(traffic_manager::name(config.discipline)),
            Scheduling::DualPi2(_) => Err(DUAL_PI2.to_owned()),
        }
    }

    /// True if a packet that finds the link idle leaves no trace in the scheduler.
    fn forgets(&self) -> bool {
        let scheme = self.scheme().map(Config::scheme);
        matches!(scheme, Some(Scheme::Fifo | Scheme::Pifo))
    }

    /// True if the scheduler does not see a packet that finds the link idle: AFQ as in Netbench.
    fn skips_idle(&self) -> bool {
        matches!(self, Scheduling::Ideal(config) if config.calendar.wraps)
    }

    fn queue(&self, port: &PortConfig) -> Result<Queue, ConfigError> {
        Ok(match self {
            Scheduling::Scheme(config) => {
                let mut ranked = Ranked::new(config, port.start_time)?;
                ranked.model_mut().vary(port.variants);
                ranked.model_mut().keep_flowlets(port.flowlets);
                ranked.model_mut().hold(port.hold_us);
                if port.knowledge != Knowledge::default() {
                    ranked.model_mut().know(port.knowledge);
                }
                Queue::Ranked(ranked)
            }
            Scheduling::Ideal(config) => Queue::Ideal(Box::new(Ideal::new(config, port.fair_among))),
            Scheduling::DualPi2(config) => Queue::DualPi2(Box::new(Coupled::new(*config))),
        })
    }
}

/// DualPI2's name in a scenario.
pub const DUAL_PI2: &str = "dual_pi2";

/// DualPI2, and the packets on the wire that it has marked.
#[derive(Debug)]
struct Coupled {
    aqm: DualPi2,
    marked: VecDeque<u32>,
}

impl Coupled {
    fn new(config: dual_pi2::Config) -> Coupled {
        Coupled {
            aqm: DualPi2::new(config),
            marked: VecDeque::new(),
        }
    }

    fn enqueue(&mut self, now: Nanos, packet: Packet, ecn: Ecn) -> Verdict {
        let codepoint = match ecn {
            Ecn::NotEct => Codepoint::NotEct,
            Ecn::Ect => Codepoint::Classic,
            Ecn::Ect1 | Ecn::Ce => Codepoint::Scalable,
        };
        match self.aqm.enqueue(now, packet, codepoint) {
            Offered::Queued => Verdict::Queued { queue: 0 },
            Offered::Dropped => Verdict::DroppedByAdmission,
            Offered::Full => Verdict::DroppedFull,
        }
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        let (packet, marked) = self.aqm.dequeue(now)?;
        if marked {
            self.marked.push_back(packet.id as u32);
        }
        Some(packet)
    }
}

#[derive(Debug)]
enum Queue {
    Ranked(Ranked),
    Ideal(Box<Ideal>),
    DualPi2(Box<Coupled>),
}

impl Queue {
    #[inline(always)]
    fn enqueue(&mut self, now: Nanos, packet: Packet, scale: u32, ecn: Ecn) -> Verdict {
        match self {
            Queue::Ranked(ranked) => ranked.enqueue(now, packet, scale),
            Queue::Ideal(ideal) => ideal.enqueue(now, packet),
            Queue::DualPi2(coupled) => coupled.enqueue(now, packet, ecn),
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        match self {
            Queue::Ranked(ranked) => ranked.dequeue(now),
            Queue::Ideal(ideal) => ideal.dequeue(now),
            Queue::DualPi2(coupled) => coupled.dequeue(now),
        }
    }

    /// The rank of a packet that arrives now: its own, or its virtual start time here.
    fn rank(&self, packet: &Packet) -> Rank {
        match self {
            Queue::Ranked(ranked) => ranked.rank(packet),
            Queue::Ideal(_) | Queue::DualPi2(_) => packet.rank,
        }
    }

    /// The model, if it has a program. Only such models share memory.
    fn model_mut(&mut self) -> Option<&mut Model> {
        match self {
            Queue::Ranked(ranked) => Some(ranked.model_mut()),
            Queue::Ideal(_) | Queue::DualPi2(_) => None,
        }
    }
}

/// A memory, and what the rules at the ports know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    pub config: MemoryConfig,
    /// If given, the rules take the threshold of a queue for its size, as it was at the first packet of the switch
    /// after the last multiple of this time in ns; 0: as it is.
    pub follow_every: Option<Nanos>,
}

/// Settings of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    pub scheduler: Scheduling,
    /// Rules of the model that differ from the papers' text.
    pub variants: Variants,
    /// The table of flowlets, if they keep their queues.
    pub flowlets: FlowletConfig,
    /// Time after which FDPA's model lets a user return to a more urgent band, in microseconds.
    pub hold_us: u32,
    /// What a discipline without a program is fair among.
    pub fair_among: FairAmong,
    /// What the rule of the model knows of its queues.
    pub knowledge: Knowledge,
    /// The memory that the ports of a switch share, if they share one.
    pub memory: Option<Memory>,
    /// How ports count virtual start times, if these are the ranks. The ranks of the packets are then ignored.
    pub start_time: Option<StartTime>,
    /// A packet that finds this many waiting packets gets a congestion mark.
    pub mark_at: Option<u32>,
    /// A packet that finds this many waiting bytes gets a congestion mark.
    pub mark_at_bytes: Option<u64>,
    /// A packet that waits is dropped if more bytes than this would wait with it.
    pub buffer_bytes: Option<u64>,
    /// True if it records the length of its queue over time.
    pub measured: bool,
    /// True if samples have the length of each of its queues.
    pub sampled: bool,
    /// Number of ranks that are drawn, and that it counts; 0 if ranks have another source.
    pub drawn_ranks: usize,
    /// True if it counts packets that leave out of order.
    pub counts_order: bool,
    /// True if departures are events, as in Netbench.
    pub departure_events: bool,
}

/// An output port. Each event of a run touches another port. So the fields that every packet needs lie together, in
/// this order.
#[derive(Debug)]
#[repr(C)]
pub struct Port {
    wire: Wire,
    /// Bytes that wait or are on the wire.
    held_bytes: u64,
    sent_packets: u64,
    sent_bytes: u64,
    queue: Queue,
    mark_at: u32,
    mark_at_bytes: u64,
    buffer_bytes: u64,
    /// Bytes that wait.
    waiting_bytes: u64,
    /// A packet that finds the link idle leaves no trace in the scheduler.
    forgets: bool,
    departure_events: bool,
    /// A packet is being sent, and its departure is an event that is planned.
    sending: bool,
    lengths: Option<Box<Lengths>>,
    by_rank: Option<Box<ByRank>>,
    by_queue: Option<Box<ByQueue>>,
    order: Option<Box<Order>>,
    /// All counters except those of sent packets.
    counts: Box<Counts>,
}

impl Port {
    /// An empty port.
    ///
    /// # Errors
    /// If the model refuses the configuration.
    pub fn new(config: &PortConfig, rate_bps: u64, delay_ns: Nanos) -> Result<Port, ConfigError> {
        let link = match config.departure_events {
            false => Link::new(rate_bps),
            true => Link::rounded_down(rate_bps),
        };
        let forgets = config.scheduler.forgets() && config.start_time.is_none();
        Ok(Port {
            queue: config.scheduler.queue(config)?,
            forgets: (forgets || config.scheduler.skips_idle()) && config.drawn_ranks == 0,
            wire: Wire::new(link, delay_ns),
            departure_events: config.departure_events,
            sending: false,
            mark_at: config.mark_at.unwrap_or(u32::MAX),
            mark_at_bytes: config.mark_at_bytes.unwrap_or(u64::MAX),
            buffer_bytes: config.buffer_bytes.unwrap_or(u64::MAX),
            waiting_bytes: 0,
            held_bytes: 0,
            sent_packets: 0,
            sent_bytes: 0,
            lengths: config.measured.then(Box::default),
            by_queue: config
                .sampled
                .then(|| Box::new(ByQueue::new(config.scheduler.scheme().map(|of| of.scheme().p4())))),
            by_rank: (config.drawn_ranks > 0).then(|| Box::new(ByRank::new(config.drawn_ranks))),
            order: config.counts_order.then(Box::default),
            counts: Box::default(),
        })
    }

    /// True if a packet that arrives now and is queued gets a congestion mark.
    fn marks(&self) -> bool {
        self.wire.waiting >= self.mark_at || self.waiting_bytes >= self.mark_at_bytes
    }

    /// True if a packet with so many bytes finds no room.
    fn is_full(&self, len: u32) -> bool {
        self.waiting_bytes.saturating_add(u64::from(len)) > self.buffer_bytes
    }

    /// Enqueues an arriving packet, after every departure that is due ([`Port::catch_up`]).
    #[inline(always)]
    pub fn enqueue(&mut self, now: Nanos, number: u32, header: &Header, ecn: Ecn) -> Verdict {
        let packet = Packet {
            id: u64::from(number),
            rank: header.rank,
            user: header.user,
            flow: header.flow,
            len: header.len,
        };
        let counted = match &self.order {
            Some(_) => self.queue.rank(&packet),
            None => packet.rank,
        };
        let verdict = if self.is_full(header.len) {
            Verdict::DroppedFull
        } else {
            self.queue.enqueue(now, packet, header.scale, ecn)
        };
        if let Some(by_rank) = &mut self.by_rank {
            by_rank.arrived(packet, verdict);
        }
        if let Some(by_queue) = &mut self.by_queue {
            by_queue.arrived(packet, verdict);
        }
        if let Some(order) = &mut self.order {
            order.arrived(
                Packet {
                    rank: counted,
                    ..packet
                },
                verdict,
            );
        }
        if verdict.is_queued() {
            self.note(now);
            self.wire.waiting += 1;
            self.waiting_bytes += u64::from(header.len);
            self.held_bytes += u64::from(header.len);
        }
        match verdict {
            Verdict::Queued { .. } => return verdict,
            Verdict::PushedOut { victim, .. } => {
                self.wire.waiting -= 1;
                self.waiting_bytes -= u64::from(victim.len);
                self.held_bytes -= u64::from(victim.len);
                self.counts.pushed_out += 1;
            }
            Verdict::DroppedByAdmission => self.counts.refused += 1,
            Verdict::DroppedFull => self.counts.full += 1,
        }
        self.counts.lost_bytes += verdict.lost(packet).map_or(0, |lost| u64::from(lost.len));
        verdict
    }

    /// Enqueues an arriving packet, as [`Port::enqueue`], and marks it if it waits and this port marks.
    #[inline(always)]
    pub fn take(&mut self, now: Nanos, number: u32, packets: &mut Packets) -> Verdict {
        let marks = self.marks();
        let ecn = packets.segment(number).ecn;
        let verdict = self.enqueue(now, number, packets.header(number), ecn);
        if marks && verdict.is_queued() {
            let segment = packets.segment_mut(number);
            if matches!(segment.ecn, Ecn::Ect | Ecn::Ect1) {
                segment.ecn = Ecn::Ce;
                self.counts.marked += 1;
            }
        }
        verdict
    }

    /// Packets in a queue.
    pub fn length(&self, queue: usize) -> u32 {
        match &self.queue {
            Queue::Ranked(ranked) => ranked.model().length(queue) as u32,
            Queue::Ideal(_) | Queue::DualPi2(_) => self.wire.waiting,
        }
    }

    /// Sets the length from which the memory has no room for one more packet of a queue.
    pub fn set_threshold(&mut self, queue: usize, packets: usize) {
        if let Some(model) = self.queue.model_mut() {
            model.set_threshold(queue, packets);
        }
    }

    /// Makes the rule take this for the size of a queue.
    pub fn set_size(&mut self, queue: usize, packets: usize) {
        if let Some(model) = self.queue.model_mut() {
            model.set_size(queue, packets);
        }
    }

    /// Removes the packet that a queue gives up to the memory.
    pub fn give_up(&mut self, now: Nanos, queue: usize) -> Option<Packet> {
        let victim = self.queue.model_mut()?.give_up(queue)?;
        self.note(now);
        self.wire.waiting -= 1;
        self.waiting_bytes -= u64::from(victim.len);
        self.held_bytes -= u64::from(victim.len);
        self.counts.pushed_out += 1;
        self.counts.lost_bytes += u64::from(victim.len);
        if let Some(by_rank) = &mut self.by_rank {
            by_rank.given_up(victim.rank);
        }
        if let Some(order) = &mut self.order {
            order.lost(victim.id);
        }
        Some(victim)
    }

    /// True if a packet that arrives now, after every departure that is due, may go straight to the wire.
    fn is_open(&self, now: Nanos) -> bool {
        self.forgets && self.wire.waiting == 0 && self.wire.free() <= now && !self.sending
    }

    /// Puts a packet straight on the wire: the same as [`Port::enqueue`] and [`Port::send`] if [`Port::is_open`].
    /// Returns the same.
    #[inline(always)]
    fn pass(&mut self, now: Nanos, number: u32, len: u32) -> Option<Nanos> {
        self.held_bytes += u64::from(len);
        self.transmit(now, number, len)
    }

    #[inline(always)]
    fn transmit(&mut self, now: Nanos, number: u32, len: u32) -> Option<Nanos> {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(len);
        let arrival = self.wire.send(now, number, len);
        if self.departure_events {
            self.sending = true;
            return Some(self.wire.free());
        }
        arrival
    }

    /// Ends the departure that was planned for `now`. Returns the arrival of its packet, and the next departure.
    pub fn departed(&mut self, now: Nanos) -> (Nanos, Option<Nanos>) {
        self.sending = false;
        (now + self.wire.delay_ns(), self.send(now))
    }

    /// Records the length of the queue, just before it changes.
    #[inline]
    fn note(&mut self, now: Nanos) {
        if let Some(lengths) = &mut self.lengths {
            lengths.note(now, self.wire.waiting);
        }
    }

    /// Makes every departure that is due, of packets that found the wire busy. At the same time, a departure comes
    /// before an arrival.
    #[inline]
    pub fn catch_up(&mut self, now: Nanos) {
        while self.wire.waiting > 0 && self.wire.free() <= now && !self.sending {
            self.send(self.wire.free());
        }
    }

    /// Sends a packet, if the wire is free and a packet waits. Returns its arrival time, if it is the only packet on
    /// the wire; if departures are events, the time of its departure.
    #[inline]
    pub fn send(&mut self, now: Nanos) -> Option<Nanos> {
        if self.wire.free() > now || self.sending {
            return None;
        }
        let packet = self.queue.dequeue(now)?;
        self.note(now);
        self.wire.waiting -= 1;
        self.waiting_bytes -= u64::from(packet.len);
        if let Some(by_rank) = &mut self.by_rank {
            by_rank.left(packet.rank);
        }
        if let Some(by_queue) = &mut self.by_queue {
            by_queue.left(packet.id);
        }
        if let Some(order) = &mut self.order {
            order.left(packet.id);
        }
        self.transmit(now, packet.id as u32, packet.len)
    }

    /// The first packet on the wire.
    pub fn first_in_transit(&self) -> Option<InTransit> {
        self.wire.first()
    }

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

    pub fn waiting(&self) -> u32 {
        self.wire.waiting
    }

    /// Counts by rank, if ranks are drawn.
    pub fn by_rank(&self) -> Option<&ByRank> {
        self.by_rank.as_deref()
    }

    /// Packets that left out of order, if it counts them.
    pub fn out_of_order(&self) -> Option<OutOfOrder> {
        self.order.as_deref().map(Order::counts)
    }

    /// Lengths of its queues now, if samples have them.
    pub fn queue_lengths(&self) -> Option<QueueLengths> {
        self.by_queue.as_deref().map(ByQueue::lengths)
    }

    /// Bounds of its queues now, if its rule has them.
    pub fn bounds(&self) -> Vec<Rank> {
        match &self.queue {
            Queue::Ranked(ranked) => ranked.model().bounds(),
            Queue::Ideal(_) | Queue::DualPi2(_) => Vec::new(),
        }
    }

    /// Lengths of its queue over time, until `now`.
    pub fn lengths(&self, now: Nanos) -> Option<Lengths> {
        let mut lengths = self.lengths.as_deref()?.clone();
        lengths.note(now, self.wire.waiting);
        Some(lengths)
    }
}

impl OutPort for Port {
    type Packets = Packets;

    #[inline(always)]
    fn offer(&mut self, now: Nanos, number: u32, packets: &mut Packets, account: &mut Account) -> Option<Nanos> {
        self.catch_up(now);
        if !self.marks() && self.is_open(now) {
            return self.pass(now, number, packets.header(number).len);
        }
        let verdict = self.take(now, number, packets);
        let arrival = self.send(now);
        packets.drop_lost(number, verdict, account);
        arrival
    }

    #[inline(always)]
    fn arrive(&mut self, now: Nanos, packets: &mut Packets) -> (InTransit, Option<Nanos>) {
        let arrived = self.wire.arrive();
        if let Queue::DualPi2(coupled) = &mut self.queue
            && coupled.marked.front() == Some(&arrived.number)
        {
            coupled.marked.pop_front();
            let segment = packets.segment_mut(arrived.number);
            self.counts.marked += u64::from(segment.ecn != Ecn::Ce);
            segment.ecn = Ecn::Ce;
        }
        self.held_bytes -= u64::from(arrived.len);
        self.catch_up(now);
        let next = self.wire.first().filter(|_| !self.departure_events);
        (arrived, next.map(|next| next.arrival))
    }
}
