//! All ports together: which one sends next.

use std::fmt::Debug;
use std::ops::Range;

use crate::config::{ConfigError, PortConfig, QUEUES};
use crate::one_buffer;
use crate::packet::{Departure, Enqueued, Marks, NEVER, Nanos, Offered, Port, Removed};
use crate::port::PortQueues;
use crate::stats::PortStats;

/// Queues and links of all ports. `P` is the packet.
///
/// A port exists once it is configured or once a packet is enqueued for it; until configured it has the default
/// configuration.
#[derive(Debug)]
pub struct TrafficManager<P> {
    /// Sorted by port number.
    ports: Vec<PortQueues<P>>,
    /// Ideal start of each port's next transmission, side by side so that a scan for the earliest is fast.
    due: Vec<Nanos>,
    /// The earliest of these instants and its place, the lower if two are equal. Asked for far more often than it changes.
    first: (Nanos, usize),
    /// Index = port number; where it is in `ports`, or [`ABSENT`].
    places: Vec<u16>,
    queued: usize,
}

const ABSENT: u16 = u16::MAX;

impl<P: Debug + Send + 'static> Default for TrafficManager<P> {
    fn default() -> Self {
        TrafficManager::new()
    }
}

impl<P: Debug + Send + 'static> TrafficManager<P> {
    /// No port yet.
    pub fn new() -> Self {
        TrafficManager {
            ports: Vec::new(),
            due: Vec::new(),
            first: (NEVER, 0),
            places: Vec::new(),
            queued: 0,
        }
    }

    /// Configures a port at `now`. Packets that wait stay, even beyond a smaller room, and all counts go on. A frame on the
    /// link ends at the rate it began with; a shorter delay never lets a frame overtake the one before it.
    ///
    /// # Errors
    /// A value that a port can not work with; then nothing is changed.
    pub fn set_port(&mut self, now: Nanos, port: Port, config: PortConfig) -> Result<(), ConfigError> {
        config.check(port)?;
        let place = self.place(port);
        self.ports[place].configure(now, config);
        self.reschedule(place);
        Ok(())
    }

    /// What is behind a port takes so many packets more (`None`: any number). When they have left, everything waits in the
    /// queues of the port, and arrivals find them as they are. Once there is room again, transmissions start at `now` or later.
    ///
    /// A packet on a link with a propagation delay takes no room: it is not yet behind the port.
    pub fn set_room(&mut self, now: Nanos, port: Port, room: Option<u32>) {
        let place = self.place(port);
        self.ports[place].set_room(now, room);
        self.reschedule(place);
    }

    /// Configuration of a port.
    pub fn port_config(&self, port: Port) -> PortConfig {
        self.existing(port)
            .map_or_else(PortConfig::default, |port| port.config().clone())
    }

    /// The ports that exist, in ascending order.
    pub fn ports(&self) -> impl Iterator<Item = Port> {
        self.ports.iter().map(PortQueues::port)
    }

    /// Offers a packet at `now`. Everything due before `now` has to be dequeued first.
    pub fn enqueue(&mut self, now: Nanos, offered: Offered<P>) -> Enqueued<P> {
        let place = self.place(offered.port);
        let outcome = self.ports[place].enqueue(now, offered);
        if let Enqueued::Queued { .. } = outcome {
            self.queued += 1;
        }
        self.reschedule(place);
        outcome
    }

    /// Ideal start of the next transmission on any port; `None` if all queues are empty.
    pub fn next_departure(&self) -> Option<Nanos> {
        Some(self.first.0).filter(|&due| due != NEVER)
    }

    /// The packet with the earliest ideal start at or before `now`; on the lower port if two are equal. Call again until
    /// `None`.
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

    /// The packet that left this port last has this length on the link: egress has put bytes in front of it, or taken them off. To
    /// be called before anything else happens at the port. Returns when the far end has the packet.
    pub fn resize_departure(&mut self, port: Port, len: u32) -> Nanos {
        let place = self.place(port);
        let arrival_ns = self.ports[place].resize_departure(len);
        self.reschedule(place);
        arrival_ns
    }

    /// Removes every packet from every queue, counted as flushed.
    pub fn flush(&mut self, mut removed: impl FnMut(Removed<P>)) {
        for (port, due) in self.ports.iter_mut().zip(&mut self.due) {
            port.flush(&mut removed);
            *due = NEVER;
        }
        self.first = (NEVER, 0);
        self.queued = 0;
    }

    /// Asks again for what the discipline of a port reads in every packet that waits there.
    pub fn reclassify(&mut self, now: Nanos, port: Port, classify: impl FnMut(&P) -> Marks) {
        let place = self.place(port);
        self.ports[place].reclassify(now, classify);
        self.reschedule(place);
    }

    /// The round that the calendar of a port serves at `now`, counted from its beginning; none if it has no calendar.
    pub fn round(&self, now: Nanos, port: Port) -> Option<u64> {
        self.existing(port)?.round(now)
    }

    /// Counts of a port.
    pub fn stats(&self, port: Port) -> PortStats {
        self.existing(port)
            .map_or_else(PortStats::default, |port| port.stats().clone())
    }

    /// Packets that a packet of this priority would find: those of its queue, or those of the whole buffer of a one-buffer
    /// discipline.
    pub fn length(&self, port: Port, queue: u8) -> u32 {
        self.existing(port).map_or(0, |port| port.length(queue))
    }

    /// The same, and the priorities whose packets would find it: all of the port where they share one buffer.
    #[inline]
    pub fn length_found(&self, port: Port, queue: u8) -> (u32, Range<usize>) {
        let own = usize::from(queue)..usize::from(queue) + 1;
        match self.existing(port) {
            Some(port) if one_buffer(port.config().discipline) => (port.length(queue), 0..QUEUES),
            Some(port) => (port.length(queue), own),
            None => (0, own),
        }
    }

    /// True if all priorities of a port share one buffer.
    pub fn one_buffer(&self, port: Port) -> bool {
        self.existing(port)
            .is_some_and(|port| one_buffer(port.config().discipline))
    }

    /// Packets in all queues of a port.
    pub fn backlog(&self, port: Port) -> u32 {
        self.existing(port).map_or(0, PortQueues::backlog)
    }

    /// Packets in all queues of all ports.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Notes when a port sends next.
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

    /// The place of the port in `ports`. Makes the port if there is none.
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
