//! All ports together, and the choice of the port that sends next.

use std::fmt::Debug;
use std::ops::Range;

use crate::config::{ConfigError, PortConfig, QUEUES};
use crate::memory::{MemoryConfig, MemorySharing, Share};
use crate::one_buffer;
use crate::packet::{Departure, Enqueued, Marks, NEVER, Nanos, Offered, Port, Removed};
use crate::port::PortQueues;
use crate::stats::PortStats;

/// Queues and links of all ports. `P` is the packet.
///
/// A port exists once it is configured or once a packet is enqueued for it. Until it is configured it has the default
/// configuration.
#[derive(Debug)]
pub struct TrafficManager<P> {
    /// Sorted by port number.
    ports: Vec<PortQueues<P>>,
    /// Ideal start of each port's next transmission. They are stored side by side, so that a scan for the earliest is
    /// fast.
    due: Vec<Nanos>,
    /// The earliest of these instants and its place; the lower place if two are equal. Cached, because it is read
    /// often.
    first: (Nanos, usize),
    /// Index = port number; value = place in `ports`, or [`ABSENT`].
    places: Vec<u16>,
    queued: usize,
    memory: MemoryConfig,
    /// The queues that share the memory, with the places of their ports. Used within one call.
    shares: Vec<Share>,
    owners: Vec<usize>,
    /// The queue that last gave up a packet: its port, and its priority.
    gave_up: (Port, u8),
}

const ABSENT: u16 = u16::MAX;

impl<P: Debug + Send + 'static> Default for TrafficManager<P> {
    fn default() -> Self {
        TrafficManager::new()
    }
}

impl<P: Debug + Send + 'static> TrafficManager<P> {
    /// A traffic manager without ports.
    pub fn new() -> Self {
        TrafficManager {
            ports: Vec::new(),
            due: Vec::new(),
            first: (NEVER, 0),
            places: Vec::new(),
            queued: 0,
            memory: MemoryConfig::default(),
            shares: Vec::new(),
            owners: Vec::new(),
            gave_up: (0, 0),
        }
    }

    /// Configures a port at `now`. Waiting packets stay, even beyond a smaller buffer, and all counters continue. A
    /// frame on the link ends at the rate it began with. A shorter delay never lets a frame overtake the one before it.
    ///
    /// # Errors
    /// A value is invalid. Then nothing is changed.
    pub fn set_port(&mut self, now: Nanos, port: Port, config: PortConfig) -> Result<(), ConfigError> {
        config.check(port)?;
        let place = self.place(port);
        self.ports[place].configure(now, config);
        self.reschedule(place);
        Ok(())
    }

    /// Configures the memory that all ports share. Waiting packets stay, even beyond a smaller memory.
    ///
    /// # Errors
    /// A value is invalid. Then nothing is changed.
    pub fn set_memory(&mut self, config: MemoryConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.memory = config;
        Ok(())
    }

    pub fn memory(&self) -> MemoryConfig {
        self.memory
    }

    /// Sets how many more packets the receiver behind a port can take (`None`: any number). After that number, packets
    /// wait in the queues of the port. When there is room again, transmissions start at `now` or later.
    ///
    /// A packet on a link with a propagation delay uses no room, because it is not yet behind the port.
    pub fn set_room(&mut self, now: Nanos, port: Port, room: Option<u32>) {
        let place = self.place(port);
        self.ports[place].set_room(now, room);
        self.reschedule(place);
    }

    pub fn port_config(&self, port: Port) -> PortConfig {
        self.existing(port)
            .map_or_else(PortConfig::default, |port| port.config().clone())
    }

    /// The ports that exist, in ascending order.
    pub fn ports(&self) -> impl Iterator<Item = Port> {
        self.ports.iter().map(PortQueues::port)
    }

    /// Offers a packet at `now`. Everything that is due before `now` must be dequeued first.
    pub fn enqueue(&mut self, now: Nanos, offered: Offered<P>) -> Enqueued<P> {
        let place = self.place(offered.port);
        let threshold = match self.memory.packets {
            0 => u32::MAX,
            _ => self.threshold(place, offered.priority),
        };
        let mut outcome = self.ports[place].enqueue(now, offered, threshold);
        if let Enqueued::Queued { queue, length_before } = outcome {
            match self.reclaim() {
                None => self.queued += 1,
                Some(victim) => {
                    outcome = Enqueued::PushedOut {
                        queue,
                        length_before,
                        victim,
                    }
                }
            }
        }
        self.reschedule(place);
        outcome
    }

    /// Lists the queues that share the memory: those of strict priority, and the one buffer of other ports.
    fn list_shares(&mut self) {
        self.shares.clear();
        self.owners.clear();
        for (place, port) in self.ports.iter().enumerate() {
            let lengths = port.lengths();
            let busy = lengths.iter().filter(|&&length| length > 0).count() as u32;
            for (priority, length) in (0..).zip(lengths).take(port.queues()) {
                self.owners.push(place);
                self.shares.push(Share { priority, length, busy });
            }
        }
    }

    /// The length from which the memory has no room for one more packet in a queue.
    fn threshold(&mut self, place: usize, priority: u8) -> u32 {
        self.list_shares();
        let queue = match self.ports[place].queues() {
            1 => 0,
            _ => priority,
        };
        let found = (self.shares.iter().zip(&self.owners))
            .find(|&(share, &owner)| owner == place && share.priority == queue)
            .map(|(share, _)| *share);
        found.map_or(u32::MAX, |mut share| {
            // with the arriving packet this queue holds packets, too
            share.busy += u32::from(share.length == 0);
            self.memory.threshold(&self.shares, &share)
        })
    }

    /// Removes a packet from a queue that is longer than its threshold, if the memory is shared so.
    fn reclaim(&mut self) -> Option<Removed<P>> {
        if self.memory.packets == 0 || self.memory.sharing != MemorySharing::Occamy {
            return None;
        }
        self.list_shares();
        let names =
            || (self.owners.iter().zip(&self.shares)).map(|(&owner, share)| (self.ports[owner].port(), share.priority));
        let last = names()
            .rposition(|name| name <= self.gave_up)
            .unwrap_or(self.shares.len() - 1);
        let over = self.memory.over(&self.shares, last)?;
        self.gave_up = names().nth(over)?;
        let place = self.owners[over];
        let victim = self.ports[place].give_up(self.shares[over].priority);
        self.reschedule(place);
        victim
    }

    /// Ideal start of the next transmission on any port; `None` if no packet may leave.
    pub fn next_departure(&self) -> Option<Nanos> {
        Some(self.first.0).filter(|&due| due != NEVER)
    }

    /// Removes the packet with the earliest ideal start at or before `now`; the lower port if two are equal. The caller
    /// repeats this until it returns `None`.
    pub fn dequeue(&mut self, now: Nanos) -> Option<Departure<P>> {
        let (due, place) = self.first;
        if due > now || due == NEVER {
            return None;
        }
        let departure = self.ports[place].dequeue()?;
        self.queued -= 1;
        self.reschedule(place);
        Some(departure)
    }

    /// Changes the length on the link of the latest departure of a port, because egress has added or removed bytes. It
    /// must be called before anything else happens at the port. Returns the instant at which the far end has the
    /// packet.
    pub fn resize_departure(&mut self, port: Port, len: u32) -> Nanos {
        let place = self.place(port);
        let arrival_ns = self.ports[place].resize_departure(len);
        self.reschedule(place);
        arrival_ns
    }

    /// Removes all packets from all queues and counts them as flushed.
    pub fn flush(&mut self, mut removed: impl FnMut(Removed<P>)) {
        for (port, due) in self.ports.iter_mut().zip(&mut self.due) {
            port.flush(&mut removed);
            *due = NEVER;
        }
        self.first = (NEVER, 0);
        self.queued = 0;
    }

    /// Updates the marks of every waiting packet of a port.
    pub fn reclassify(&mut self, now: Nanos, port: Port, classify: impl FnMut(&P) -> Marks) {
        let place = self.place(port);
        self.ports[place].reclassify(now, classify);
        self.reschedule(place);
    }

    /// The round that the calendar of a port serves at `now`, counted from 0; `None` if it has no calendar.
    pub fn round(&self, now: Nanos, port: Port) -> Option<u64> {
        self.existing(port)?.round(now)
    }

    pub fn stats(&self, port: Port) -> PortStats {
        self.existing(port)
            .map_or_else(PortStats::default, |port| port.stats().clone())
    }

    /// The queue length that a packet of this priority would see: packets of its queue, or of the whole buffer under a
    /// one-buffer discipline.
    pub fn length(&self, port: Port, queue: u8) -> u32 {
        self.existing(port).map_or(0, |port| port.length(queue))
    }

    /// The same length, and the priorities for which it is the same: all of them if they share one buffer.
    #[inline]
    pub fn length_found(&self, port: Port, queue: u8) -> (u32, Range<usize>) {
        let own = usize::from(queue)..usize::from(queue) + 1;
        match self.existing(port) {
            Some(port) if one_buffer(port.config().discipline) => (port.length(queue), 0..QUEUES),
            Some(port) => (port.length(queue), own),
            None => (0, own),
        }
    }

    /// Whether all priorities of a port share one buffer.
    pub fn one_buffer(&self, port: Port) -> bool {
        self.existing(port)
            .is_some_and(|port| one_buffer(port.config().discipline))
    }

    pub fn backlog(&self, port: Port) -> u32 {
        self.existing(port).map_or(0, PortQueues::backlog)
    }

    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Updates when a port sends next.
    #[inline]
    fn reschedule(&mut self, place: usize) {
        let due = self.ports[place].due();
        self.due[place] = due;
        if (due, place) <= self.first {
            self.first = (due, place);
        } else if self.first.1 == place {
            self.first = self.earliest();
        }
    }

    fn earliest(&self) -> (Nanos, usize) {
        let all = self.due.iter().enumerate().map(|(place, &due)| (due, place));
        all.min().unwrap_or((NEVER, 0))
    }

    fn existing(&self, port: Port) -> Option<&PortQueues<P>> {
        let place = *self.places.get(usize::from(port))?;
        self.ports.get(usize::from(place))
    }

    /// The place of the port in `ports`. Creates the port if it does not exist.
    #[inline]
    fn place(&mut self, port: Port) -> usize {
        match self.places.get(usize::from(port)) {
            Some(&place) if place != ABSENT => usize::from(place),
            _ => self.add_port(port),
        }
    }

    #[cold]
    fn add_port(&mut self, port: Port) -> usize {
        let place = self.ports.partition_point(|other| other.port() < port);
        self.ports.insert(place, PortQueues::new(port));
        self.due.insert(place, NEVER);
        self.first = self.earliest();
        if self.places.len() <= usize::from(port) {
            self.places.resize(usize::from(port) + 1, ABSENT);
        }
        for (place, queues) in self.ports.iter().enumerate() {
            self.places[usize::from(queues.port())] = place as u16;
        }
        place
    }
}
