//! One port: a discipline, a link, and counts.

use crate::afq::Afq;
use crate::config::{Discipline, PortConfig, QUEUES};
use crate::drr::Drr;
use crate::fifo::Fifo;
use crate::pace::Pace;
use crate::packet::{Departure, DropReason, Enqueued, Nanos, Offered, Port, Queued, Removed, Verdict};
use crate::pifo::Pifo;
use crate::stats::PortStats;
use crate::stfq::Stfq;
use crate::strict::Strict;

/// Instant of "never".
pub(crate) const NEVER: Nanos = Nanos::MAX;

#[derive(Debug)]
enum Buffer<P> {
    Strict(Strict<P>),
    Fifo(Fifo<P>),
    Drr(Drr<P>),
    Afq(Afq<P>),
    Stfq(Stfq<P>),
    Pifo(Pifo<P>),
}

impl<P> Buffer<P> {
    fn new(config: &PortConfig) -> Self {
        match config.discipline {
            Discipline::Strict => Buffer::Strict(Strict::new()),
            Discipline::Fifo => Buffer::Fifo(Fifo::new()),
            Discipline::Drr => Buffer::Drr(Drr::new()),
            Discipline::Afq => Buffer::Afq(Afq::new(config.calendar)),
            Discipline::Stfq => Buffer::Stfq(Stfq::new()),
            Discipline::Pifo => Buffer::Pifo(Pifo::new()),
        }
    }

    fn offer(&mut self, packet: Queued<P>, config: &PortConfig) -> Verdict<P> {
        let room = config.buffer_packets as usize;
        match self {
            Buffer::Strict(strict) => strict.offer(packet, &config.queues),
            Buffer::Fifo(fifo) => fifo.offer(packet, room),
            Buffer::Drr(drr) => drr.offer(packet, room),
            Buffer::Afq(afq) => afq.offer(packet, room),
            Buffer::Stfq(stfq) => stfq.offer(packet, room),
            Buffer::Pifo(pifo) => pifo.offer(packet, room),
        }
    }

    fn take(&mut self, at: Nanos, config: &PortConfig) -> Option<Queued<P>> {
        match self {
            Buffer::Strict(strict) => strict.take(at),
            Buffer::Fifo(fifo) => fifo.take(),
            Buffer::Drr(drr) => drr.take(config.quantum_bytes),
            Buffer::Afq(afq) => afq.take(),
            Buffer::Stfq(stfq) => stfq.take(),
            Buffer::Pifo(pifo) => pifo.take(),
        }
    }

    /// Takes a packet even if the buffer is full.
    fn append(&mut self, packet: Queued<P>) {
        match self {
            Buffer::Strict(strict) => strict.append(packet),
            Buffer::Fifo(fifo) => fifo.append(packet),
            Buffer::Drr(drr) => drr.append(packet),
            Buffer::Afq(afq) => afq.append(packet),
            Buffer::Stfq(stfq) => stfq.append(packet),
            Buffer::Pifo(pifo) => pifo.append(packet),
        }
    }

    /// Packets that one of this priority would find.
    fn length(&self, queue: u8) -> u32 {
        let length = match self {
            Buffer::Strict(strict) => strict.len(queue),
            Buffer::Fifo(fifo) => fifo.len(),
            Buffer::Drr(drr) => drr.len(),
            Buffer::Afq(afq) => afq.len(),
            Buffer::Stfq(stfq) => stfq.len(),
            Buffer::Pifo(pifo) => pifo.len(),
        };
        length as u32
    }

    /// Takes every packet out, in order of arrival.
    fn empty(&mut self, config: &PortConfig) -> Vec<Queued<P>> {
        let mut packets: Vec<_> = std::iter::from_fn(|| self.take(NEVER, config)).collect();
        packets.sort_by_key(|packet| packet.arrival);
        if let Buffer::Afq(_) | Buffer::Stfq(_) = self {
            // A user pays for sent packets only, and pays once for a packet that is filed again.
            *self = Buffer::new(config);
        }
        packets
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct PortQueues<P> {
    port: Port,
    config: PortConfig,
    buffer: Buffer<P>,
    link: Pace,
    /// When the last frame is at the far end. No later frame is there earlier, even if the delay becomes shorter.
    last_arrival_ns: Nanos,
    /// The link and `last_arrival_ns` before the packet that left last.
    before: (Pace, Nanos),
    /// When the buffer last became non-empty. The packets of a one-buffer discipline may leave from then on.
    backlogged_since: Nanos,
    /// What is behind the port takes no frame: nothing departs.
    held: bool,
    backlog: u32,
    arrivals: u64,
    stats: PortStats,
}

impl<P> PortQueues<P> {
    pub fn new(port: Port) -> Self {
        let config = PortConfig::default();
        PortQueues {
            port,
            buffer: Buffer::new(&config),
            config,
            link: Pace::default(),
            last_arrival_ns: 0,
            before: (Pace::default(), 0),
            backlogged_since: 0,
            held: false,
            backlog: 0,
            arrivals: 0,
            stats: PortStats::default(),
        }
    }

    pub fn port(&self) -> Port {
        self.port
    }

    pub fn config(&self) -> &PortConfig {
        &self.config
    }

    pub fn stats(&self) -> &PortStats {
        &self.stats
    }

    /// Packets in all queues.
    pub fn backlog(&self) -> u32 {
        self.backlog
    }

    pub fn length(&self, queue: u8) -> u32 {
        self.buffer.length(queue)
    }

    /// Ideal start of the next transmission, [`NEVER`] without a packet and while the port is held.
    pub fn due(&self) -> Nanos {
        if self.held {
            return NEVER;
        }
        let ready = match &self.buffer {
            Buffer::Strict(strict) => strict.ready(),
            _ => (self.backlog > 0).then_some(self.backlogged_since),
        };
        ready.map_or(NEVER, |ready| ready.max(self.link.free_ns()))
    }

    pub fn enqueue(&mut self, now: Nanos, offered: Offered<P>) -> Enqueued<P> {
        let Offered {
            priority: queue,
            len,
            user,
            rank,
            item,
            ..
        } = offered;
        if usize::from(queue) >= QUEUES {
            self.stats.no_such_queue.add(len);
            return Enqueued::Dropped {
                queue,
                item,
                reason: DropReason::NoSuchQueue,
            };
        }
        let length_before = self.buffer.length(queue);
        let arrival = self.arrivals;
        self.arrivals += 1;
        let packet = Queued {
            priority: queue,
            len,
            enq_length: length_before,
            enq_ns: now,
            eligible_ns: now,
            arrival,
            user,
            rank,
            item,
        };
        match self.buffer.offer(packet, &self.config) {
            Verdict::Refused(packet) => {
                self.stats.queues[usize::from(queue)].dropped.add(len);
                Enqueued::Dropped {
                    queue,
                    item: packet.item,
                    reason: DropReason::Full,
                }
            }
            Verdict::Taken => {
                self.count_in(now, queue, len);
                Enqueued::Queued { queue, length_before }
            }
            Verdict::PushedOut(victim) => {
                self.count_out(&victim);
                self.count_in(now, queue, len);
                self.stats.queues[usize::from(victim.priority)]
                    .pushed_out
                    .add(victim.len);
                Enqueued::PushedOut {
                    queue,
                    length_before,
                    victim: self.removed(victim),
                }
            }
        }
    }

    /// Sends the packet that is due at [`PortQueues::due`].
    pub fn dequeue(&mut self) -> Option<Departure<P>> {
        let due = self.due();
        let packet = self.buffer.take(due, &self.config)?;
        self.count_out(&packet);
        self.stats.queues[usize::from(packet.priority)].dequeued.add(packet.len);

        let start_ns = self.link.begin(due.max(packet.enq_ns));
        self.before = (self.link, self.last_arrival_ns);
        let arrival_ns = self.carry(packet.len);
        Some(Departure {
            port: self.port,
            queue: packet.priority,
            len: packet.len,
            enq_ns: packet.enq_ns,
            enq_length: packet.enq_length,
            length_after: self.buffer.length(packet.priority),
            start_ns,
            arrival_ns,
            item: packet.item,
        })
    }

    /// The link carries so many bytes. Returns when the far end has them.
    fn carry(&mut self, len: u32) -> Nanos {
        let sent_ns = match self.config.rate_bps {
            0 => self.link.free_ns(),
            rate => self.link.work(u64::from(len) * 8, rate),
        };
        self.last_arrival_ns = sent_ns.saturating_add(self.config.delay_ns).max(self.last_arrival_ns);
        self.last_arrival_ns
    }

    /// The packet that left last has this length on the link, another one than in its queue.
    pub fn resize_departure(&mut self, len: u32) -> Nanos {
        (self.link, self.last_arrival_ns) = self.before;
        self.carry(len)
    }

    /// Lets nothing depart until the port is no longer held; then the link is free from `now` on.
    pub fn hold(&mut self, now: Nanos, held: bool) {
        if self.held && !held {
            self.link.begin(now);
        }
        self.held = held;
    }

    /// Takes a new configuration. Packets that wait stay, even beyond a smaller room, and keep their order of arrival
    /// and their time of enqueueing; a frame on the link ends at the rate it began with.
    pub fn configure(&mut self, now: Nanos, config: PortConfig) {
        let old = std::mem::replace(&mut self.config, config);
        if old.rate_bps != self.config.rate_bps {
            self.link.rate_changed();
        }
        let refiled = old.discipline != self.config.discipline
            || (old.discipline == Discipline::Afq && old.calendar != self.config.calendar);
        if refiled {
            let mut packets = self.buffer.empty(&old);
            for packet in &mut packets {
                packet.eligible_ns = now;
            }
            self.buffer = Buffer::new(&self.config);
            self.refile(packets);
            self.backlogged_since = now;
        }
        if let Buffer::Strict(strict) = &mut self.buffer {
            for (q, (old, new)) in old.queues.iter().zip(&self.config.queues).enumerate() {
                if old.rate_pps != new.rate_pps || (refiled && new.rate_pps != 0) {
                    strict.rate_changed(now, q, new.rate_pps);
                }
            }
        }
    }

    /// Asks again for the user and the rank of every packet that waits.
    pub fn reclassify(&mut self, mut classify: impl FnMut(&P) -> (u64, u64)) {
        let mut packets = self.buffer.empty(&self.config);
        for packet in &mut packets {
            (packet.user, packet.rank) = classify(&packet.item);
        }
        self.refile(packets);
    }

    /// Removes every packet, in order of arrival.
    pub fn flush(&mut self, mut removed: impl FnMut(Removed<P>)) {
        for packet in self.buffer.empty(&self.config) {
            self.count_out(&packet);
            self.stats.queues[usize::from(packet.priority)].flushed.add(packet.len);
            removed(self.removed(packet));
        }
    }

    fn refile(&mut self, packets: Vec<Queued<P>>) {
        for packet in packets {
            self.buffer.append(packet);
        }
    }

    fn count_in(&mut self, now: Nanos, queue: u8, len: u32) {
        if self.backlog == 0 {
            self.backlogged_since = now;
        }
        self.backlog += 1;
        self.stats.max_length_packets = self.stats.max_length_packets.max(self.backlog);
        let stats = &mut self.stats.queues[usize::from(queue)];
        stats.enqueued.add(len);
        stats.length.add(len);
        stats.max_length_packets = stats.max_length_packets.max(stats.length.packets as u32);
    }

    fn count_out(&mut self, packet: &Queued<P>) {
        self.backlog -= 1;
        self.stats.queues[usize::from(packet.priority)]
            .length
            .subtract(packet.len);
    }

    fn removed(&self, packet: Queued<P>) -> Removed<P> {
        Removed {
            port: self.port,
            queue: packet.priority,
            len: packet.len,
            enq_ns: packet.enq_ns,
            item: packet.item,
        }
    }
}
