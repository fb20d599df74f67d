//! One port: a discipline, a link and counters.

use std::fmt::Debug;

use crate::config::{PortConfig, QUEUES};
use crate::discipline::{Reads, Scheduling};
use crate::pace::Pace;
use crate::packet::{Departure, DropReason, Enqueued, Marks, NEVER, Nanos, Offered, Port, Queued, Removed, Verdict};
use crate::stats::PortStats;
use crate::{one_buffer, reads, scheduling};

#[derive(Debug)]
pub(crate) struct PortQueues<P> {
    port: Port,
    config: PortConfig,
    buffer: Box<dyn Scheduling<Queued<P>> + Send>,
    link: Pace,
    /// The instant at which the last frame is at the far end. No later frame arrives earlier, even if the delay becomes
    /// shorter.
    last_arrival_ns: Nanos,
    /// The link and `last_arrival_ns` as they were before the latest departure.
    before: (Pace, Nanos),
    /// The instant at which the buffer last became non-empty. No packet leaves before it.
    backlogged_since: Nanos,
    /// Packets that the receiver behind the port can take; `None`: any number.
    room: Option<u32>,
    backlog: u32,
    arrivals: u64,
    stats: PortStats,
}

impl<P: Debug + Send + 'static> PortQueues<P> {
    pub fn new(port: Port) -> Self {
        let config = PortConfig::default();
        PortQueues {
            port,
            buffer: scheduling(&config),
            config,
            link: Pace::default(),
            last_arrival_ns: 0,
            before: (Pace::default(), 0),
            backlogged_since: 0,
            room: None,
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
        self.buffer.length(queue) as u32
    }

    /// Number of queues that share the memory: those of strict priority, or the one buffer.
    pub fn queues(&self) -> usize {
        if one_buffer(self.config.discipline) { 1 } else { QUEUES }
    }

    /// The lengths of these queues. The one buffer is queue 0.
    pub fn lengths(&self) -> [u32; QUEUES] {
        std::array::from_fn(|queue| {
            if queue < self.queues() {
                self.length(queue as u8)
            } else {
                0
            }
        })
    }

    /// Ideal start of the next transmission; [`NEVER`] if no packet waits or the receiver behind the port has no room.
    pub fn due(&self) -> Nanos {
        if self.room == Some(0) || self.backlog == 0 {
            return NEVER;
        }
        (self.buffer.ready())
            .max(self.backlogged_since)
            .max(self.link.free_ns())
    }

    /// Offers a packet. `threshold`: the length from which the memory has no room for one more packet in its queue.
    pub fn enqueue(&mut self, now: Nanos, offered: Offered<P>, threshold: u32) -> Enqueued<P> {
        let Offered {
            priority: queue,
            len,
            user,
            rank,
            levels,
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
        let length_before = self.length(queue);
        let arrival = self.arrivals;
        self.arrivals += 1;
        let packet = Queued {
            priority: queue,
            len,
            enq_length: length_before,
            enq_ns: now,
            arrival,
            user,
            rank,
            levels,
            item,
        };
        let verdict = match length_before >= threshold {
            true => self.buffer.exchange(now, packet),
            false => self.buffer.offer(now, packet),
        };
        match verdict {
            Verdict::Refused(packet, reason) => {
                self.stats.queues[usize::from(queue)].dropped.add(len);
                Enqueued::Dropped {
                    queue,
                    item: packet.item,
                    reason,
                }
            }
            Verdict::Taken => {
                self.count_in(now, queue, len);
                Enqueued::Queued { queue, length_before }
            }
            Verdict::PushedOut(victim) => {
                let victim = self.pushed_out(victim);
                self.count_in(now, queue, len);
                Enqueued::PushedOut {
                    queue,
                    length_before,
                    victim,
                }
            }
        }
    }

    /// Removes the packet that a queue gives up to the memory.
    pub fn give_up(&mut self, queue: u8) -> Option<Removed<P>> {
        let victim = self.buffer.give_up(queue)?;
        Some(self.pushed_out(victim))
    }

    fn pushed_out(&mut self, victim: Queued<P>) -> Removed<P> {
        self.count_out(&victim);
        self.stats.queues[usize::from(victim.priority)]
            .pushed_out
            .add(victim.len);
        self.removed(victim)
    }

    /// Sends the packet that is due at [`PortQueues::due`].
    pub fn dequeue(&mut self) -> Option<Departure<P>> {
        let due = self.due();
        let packet = self.buffer.take(due)?;
        self.count_out(&packet);
        self.stats.queues[usize::from(packet.priority)].dequeued.add(packet.len);
        self.take_room();

        let start_ns = self.link.begin(due.max(packet.enq_ns));
        self.before = (self.link, self.last_arrival_ns);
        let arrival_ns = self.carry(packet.len);
        Some(Departure {
            port: self.port,
            queue: packet.priority,
            len: packet.len,
            enq_ns: packet.enq_ns,
            enq_length: packet.enq_length,
            length_after: self.length(packet.priority),
            start_ns,
            arrival_ns,
            item: packet.item,
        })
    }

    /// Sends `len` bytes on the link. Returns the instant at which the far end has them.
    fn carry(&mut self, len: u32) -> Nanos {
        let sent_ns = match self.config.rate_bps {
            0 => self.link.free_ns(),
            rate => self.link.work(u64::from(len) * 8, rate),
        };
        self.last_arrival_ns = sent_ns.saturating_add(self.config.delay_ns).max(self.last_arrival_ns);
        self.last_arrival_ns
    }

    /// Changes the length on the link of the latest departure. Returns the instant at which the far end has it.
    pub fn resize_departure(&mut self, len: u32) -> Nanos {
        (self.link, self.last_arrival_ns) = self.before;
        self.carry(len)
    }

    /// Lets this number of packets depart (`None`: any number). If the room was 0, the link is free from `now` on.
    pub fn set_room(&mut self, now: Nanos, room: Option<u32>) {
        if self.room == Some(0) && room != Some(0) {
            self.link.begin(now);
        }
        self.room = room;
    }

    /// Uses up room for one packet. A link with a delay uses none, because the packet is not yet at the far end.
    fn take_room(&mut self) {
        if let Some(room) = &mut self.room
            && self.config.delay_ns == 0
        {
            *room -= 1;
        }
    }

    /// Applies a new configuration. Waiting packets stay, even beyond a smaller buffer. They keep their order of
    /// arrival and their time of enqueueing. A frame on the link ends at the rate it began with.
    pub fn configure(&mut self, now: Nanos, config: PortConfig) {
        let old = std::mem::replace(&mut self.config, config);
        if old.rate_bps != self.config.rate_bps {
            self.link.rate_changed();
        }
        if old.discipline == self.config.discipline && self.buffer.follow(now, &self.config) {
            return;
        }
        let packets = self.drain();
        self.buffer = scheduling(&self.config);
        for packet in packets {
            self.buffer.append(now, packet);
        }
        self.backlogged_since = now;
    }

    /// Updates the marks of every waiting packet.
    pub fn reclassify(&mut self, now: Nanos, mut classify: impl FnMut(&P) -> Marks) {
        if reads(&self.config) == Reads::NOTHING {
            return;
        }
        for mut packet in self.drain() {
            Marks {
                user: packet.user,
                rank: packet.rank,
                levels: packet.levels,
            } = classify(&packet.item);
            self.buffer.append(now, packet);
        }
    }

    pub fn round(&self, now: Nanos) -> Option<u64> {
        self.buffer.round(now)
    }

    /// Removes all packets from the buffer, in order of arrival.
    fn drain(&mut self) -> Vec<Queued<P>> {
        let mut packets = self.buffer.drain();
        packets.sort_by_key(|packet| packet.arrival);
        packets
    }

    /// Removes all packets, in order of arrival, and counts them as flushed.
    pub fn flush(&mut self, mut removed: impl FnMut(Removed<P>)) {
        for packet in self.drain() {
            self.count_out(&packet);
            self.stats.queues[usize::from(packet.priority)].flushed.add(packet.len);
            removed(self.removed(packet));
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
