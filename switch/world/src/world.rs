//! The loop that handles all events in the order of time.
//!
//! ```text
//! calendar --> a packet reaches the far end of a wire --> host or switch --> ports
//!          --> a host or a switch has work to do ---------------------> ports
//! ```
//!
//! A front end supplies the parts: [`Hosts`], [`Switches`], and the [`OutPort`] in front of each wire. To the loop a
//! packet is a number. The front end stores the packets in its memory of packets.

use std::collections::VecDeque;
use std::fmt::Debug;

use p4sched_traffic_manager::{Nanos, Port};

use crate::account::Account;
use crate::calendar::{Calendar, CalendarEvent};
use crate::simultaneous::Simultaneous;
use crate::topology::{Node, Topology};
use crate::wire::InTransit;

/// Limit of events at one instant. A network has a few dozen events at an instant. Without a limit, frames that go in a
/// circle without delay would never end.
const MOST_AT_ONCE: u64 = 10_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event<T> {
    /// A switch has work to do.
    Switch(u32),
    /// The first packet on a wire reaches the far end.
    Arrival(u32),
    /// The hosts have work to do.
    Host(T),
}

impl<T> Default for Event<T> {
    fn default() -> Event<T> {
        Event::Switch(0)
    }
}

/// Work of the hosts that is due at a time.
pub trait Timer: Copy + Debug + Ord {
    /// The type that orders simultaneous events. With the unit type, they are in the order of planning.
    type Rank: Ord;
    /// The rank of an event among simultaneous ones.
    fn rank(event: Event<Self>) -> Self::Rank;
}

impl<T: Timer> CalendarEvent for Event<T> {
    type Rank = T::Rank;

    #[inline]
    fn rank(self) -> T::Rank {
        T::rank(self)
    }
}

/// An output port and the wire behind it.
pub trait OutPort {
    /// The memory of packets.
    type Packets: Debug;

    /// Takes a packet at the port. Returns its arrival at the far end, if it is the only one on the wire. If departures
    /// are events ([`World::as_in_netbench`]), it returns the time of its departure, if it is sent now.
    fn offer(&mut self, now: Nanos, number: u32, packets: &mut Self::Packets, account: &mut Account) -> Option<Nanos>;

    /// Removes the first packet, which reached the far end. Returns it, and the arrival of the next one.
    fn arrive(&mut self, now: Nanos, packets: &mut Self::Packets) -> (InTransit, Option<Nanos>);
}

/// All hosts of a network.
pub trait Hosts {
    /// The type of their ports.
    type Port: OutPort + Debug;
    /// The type of their work.
    type Timer: Timer;
    /// The error that stops the network.
    type Error;

    /// Handles a packet that arrives at this host, and removes it from the memory of packets.
    ///
    /// # Errors
    /// If the network cannot continue.
    fn receive(&mut self, host: u32, number: u32, net: &mut Net<Self::Port, Self::Timer>) -> Result<(), Self::Error>;

    /// Does the work that is due.
    ///
    /// # Errors
    /// If the network cannot continue.
    fn wake(&mut self, timer: Self::Timer, net: &mut Net<Self::Port, Self::Timer>) -> Result<(), Self::Error>;
}

/// All switches of a network of these hosts.
pub trait Switches<H: Hosts> {
    /// Handles a packet that arrives at this port of a switch: offers it to another port, or removes it from the memory
    /// of packets.
    ///
    /// # Errors
    /// If the network cannot continue.
    fn receive(
        &mut self,
        switch: u32,
        port: Port,
        number: u32,
        net: &mut Net<H::Port, H::Timer>,
    ) -> Result<(), H::Error>;

    /// Does the work that is due. Packets at the far ends of the switch's links go to [`Net::deliver`].
    ///
    /// # Errors
    /// If the network cannot continue.
    fn wake(&mut self, switch: u32, net: &mut Net<H::Port, H::Timer>) -> Result<(), H::Error>;

    /// Plans the next wake-up of a switch.
    fn plan(&mut self, switch: u32, net: &mut Net<H::Port, H::Timer>);
}

/// A wire and the port in front of it.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Line<P> {
    to: FarEnd,
    pub port: P,
}

/// A host, or a port of a switch, stored in one word.
#[derive(Clone, Copy, Debug)]
struct FarEnd {
    number: u32,
    port: Port,
    is_host: bool,
}

impl FarEnd {
    fn new(node: Node, port: Port) -> FarEnd {
        let (number, is_host) = match node {
            Node::Host(number) => (number, true),
            Node::Switch(number) => (number, false),
        };
        FarEnd { number, port, is_host }
    }
}

/// A network without its nodes.
#[derive(Debug)]
pub struct Net<P: OutPort, T> {
    now: Nanos,
    calendar: Calendar<Event<T>>,
    /// The events of this instant, if their order is that of Netbench.
    simultaneous: Option<Simultaneous<Event<T>>>,
    /// Index = number of the wire.
    pub lines: Vec<Line<P>>,
    /// Packets that reached the far ends of links unknown to the loop, and wait for a node.
    undelivered: VecDeque<(u32, FarEnd)>,
    /// The memory of packets.
    pub packets: P::Packets,
    /// The account of all frames. The nodes and ports fill it in.
    pub account: Account,
    events: u64,
    /// Events at the current instant, except arrivals. Arrivals do not need a limit, because wires take time.
    at_once: u64,
}

impl<P: OutPort, T: Timer> Net<P, T> {
    /// The current time.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// The number of events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Whether no event is planned.
    pub fn is_idle(&self) -> bool {
        self.calendar.is_empty()
    }

    /// Plans an event. A past time counts as the present.
    #[inline]
    pub fn plan(&mut self, at: Nanos, event: Event<T>) {
        self.calendar.plan(at, event);
    }

    /// Offers a packet to the port in front of a wire.
    pub fn offer(&mut self, wire: u32, number: u32) {
        let port = &mut self.lines[wire as usize].port;
        if let Some(at) = port.offer(self.now, number, &mut self.packets, &mut self.account) {
            self.plan_sent(wire, at);
        }
    }

    /// Plans the event that a port returns for a packet that it sends.
    #[inline]
    pub fn plan_sent(&mut self, wire: u32, at: Nanos) {
        let event = match self.simultaneous {
            None => Event::Arrival(wire),
            Some(_) => Event::Switch(wire),
        };
        self.calendar.plan(at, event);
    }

    #[inline(always)]
    fn next(&mut self, end: Nanos) -> Option<(Nanos, Event<T>)> {
        match &mut self.simultaneous {
            None => self.calendar.next(end),
            Some(simultaneous) => simultaneous.next(&mut self.calendar, end),
        }
    }

    /// The number of packets that were handed over and wait for a node.
    pub fn undelivered(&self) -> usize {
        self.undelivered.len()
    }

    /// Hands over a packet that reached the far end of a link that the loop does not know.
    pub fn deliver(&mut self, number: u32, to: Node, port: Port) {
        self.undelivered.push_back((number, FarEnd::new(to, port)));
    }
}

/// Reason why a network cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopReason<E> {
    /// An error of a node.
    #[error("{0}")]
    Node(E),
    /// Too many events at one instant.
    #[error(
        "more than {MOST_AT_ONCE} events at {} s, and time does not advance: does a switch send frames in a loop?",
        *.0 as f64 / 1e9
    )]
    Endless(Nanos),
}

impl<E> From<E> for StopReason<E> {
    fn from(error: E) -> StopReason<E> {
        StopReason::Node(error)
    }
}

/// A network at an instant.
#[derive(Debug)]
pub struct World<H: Hosts, S> {
    /// All parts except the nodes.
    pub net: Net<H::Port, H::Timer>,
    pub hosts: H,
    pub switches: S,
}

impl<H: Hosts, S: Switches<H>> World<H, S> {
    /// A network at time 0, with one port for each wire. It is fastest if there is about one event every `gap` ns.
    pub fn new(
        topology: &Topology,
        ports: impl IntoIterator<Item = H::Port>,
        packets: <H::Port as OutPort>::Packets,
        gap: Nanos,
        hosts: H,
        switches: S,
    ) -> World<H, S> {
        let lines = topology.wires.iter().zip(ports).map(|(wire, port)| Line {
            to: FarEnd::new(wire.to, wire.to_port),
            port,
        });
        World {
            net: Net {
                now: 0,
                calendar: Calendar::new(gap),
                simultaneous: None,
                lines: lines.collect(),
                undelivered: VecDeque::new(),
                packets,
                account: Account::default(),
                events: 0,
                at_once: 0,
            },
            hosts,
            switches,
        }
    }

    /// Gives simultaneous events the order of Netbench. Departures are events then: `Event::Switch`, with the number of
    /// the wire.
    pub fn as_in_netbench(mut self) -> World<H, S> {
        self.net.simultaneous = Some(Simultaneous::default());
        self
    }

    /// Handles the next event, if its time is at most `end`. Returns false if there is none.
    ///
    /// # Errors
    /// If the network cannot continue.
    #[inline(always)]
    pub fn step(&mut self, end: Nanos) -> Result<bool, StopReason<H::Error>> {
        let Some((now, event)) = self.net.next(end) else {
            return Ok(false);
        };
        if now > self.net.now {
            (self.net.now, self.net.at_once) = (now, 0);
        }
        self.net.events += 1;
        match event {
            Event::Arrival(wire) => {
                let Line { to, port } = &mut self.net.lines[wire as usize];
                let to = *to;
                let (packet, next) = port.arrive(now, &mut self.net.packets);
                if let Some(next) = next {
                    self.net.calendar.plan(next, event);
                }
                self.pass_on(packet.number, to)?;
            }
            Event::Host(timer) => {
                self.count()?;
                self.hosts.wake(timer, &mut self.net)?;
            }
            Event::Switch(switch) => {
                self.count()?;
                self.switches.wake(switch, &mut self.net)?;
                self.settle()?;
                self.switches.plan(switch, &mut self.net);
            }
        }
        if !self.net.undelivered.is_empty() {
            self.settle()?;
        }
        Ok(true)
    }

    /// Gives all handed-over packets to their nodes.
    ///
    /// # Errors
    /// If the network cannot continue.
    pub fn settle(&mut self) -> Result<(), StopReason<H::Error>> {
        while !self.net.undelivered.is_empty() {
            self.count()?;
            if let Some((number, to)) = self.net.undelivered.pop_front() {
                self.pass_on(number, to)?;
            }
        }
        Ok(())
    }

    /// Advances the time. There must be no event before `until`.
    pub fn wait(&mut self, until: Nanos) {
        self.net.now = self.net.now.max(until);
    }

    #[inline(always)]
    fn pass_on(&mut self, number: u32, to: FarEnd) -> Result<(), StopReason<H::Error>> {
        if to.is_host {
            self.hosts.receive(to.number, number, &mut self.net)?;
        } else {
            self.switches.receive(to.number, to.port, number, &mut self.net)?;
        }
        Ok(())
    }

    #[inline]
    fn count(&mut self) -> Result<(), StopReason<H::Error>> {
        self.net.at_once += 1;
        match self.net.at_once > MOST_AT_ONCE {
            true => Err(StopReason::Endless(self.net.now)),
            false => Ok(()),
        }
    }
}
