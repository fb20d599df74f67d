//! One loop lets everything happen, in the order of its time.
//!
//! ```text
//! calendar --> a packet is at the far end of a wire --> host or switch --> ports
//!          --> a host or a switch has something to do ------------------> ports
//! ```
//!
//! A front end brings what is at the nodes: [`Hosts`], [`Switches`], and the [`OutPort`] in front of each wire. Packets are numbers
//! to the loop; what they are is known to the front end's memory of packets.

use std::collections::VecDeque;
use std::fmt::Debug;

use p4sched_traffic_manager::{Nanos, Port};

use crate::account::Account;
use crate::calendar::{Calendar, Happening};
use crate::topology::{Node, Topology};
use crate::wire::InTransit;

/// What may happen at one instant. A network has a few dozen events at an instant; one whose frames go in a circle without
/// delay has no end of them.
const MOST_AT_ONCE: u64 = 10_000_000;

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event<T> {
    /// A switch has something to do.
    Switch(u32),
    /// The first packet on a wire is at its far end.
    Arrival(u32),
    /// The hosts have something to do.
    Host(T),
}

impl<T> Default for Event<T> {
    fn default() -> Event<T> {
        Event::Switch(0)
    }
}

/// What hosts have to do.
pub trait Timer: Copy + Debug + Ord {
    /// Orders simultaneous events. With the unit type, they come in the order of planning.
    type Rank: Ord;
    /// Where an event stands among simultaneous ones.
    fn rank(event: Event<Self>) -> Self::Rank;
}

impl<T: Timer> Happening for Event<T> {
    type Rank = T::Rank;

    #[inline]
    fn rank(self) -> T::Rank {
        T::rank(self)
    }
}

/// An output port, and the wire behind it.
pub trait OutPort {
    /// The memory of packets.
    type Packets: Debug;

    /// A packet arrives at the port. Returns when it is at the far end of the wire, if it is the only one there.
    fn offer(&mut self, now: Nanos, number: u32, packets: &mut Self::Packets, account: &mut Account) -> Option<Nanos>;

    /// The first packet on the wire is at the far end. Returns it, and when the next one is there.
    fn arrive(&mut self, now: Nanos) -> (InTransit, Option<Nanos>);
}

/// All hosts of a network.
pub trait Hosts {
    /// Their ports.
    type Port: OutPort + Debug;
    /// What they have to do.
    type Timer: Timer;
    /// Why the network cannot go on.
    type Error;

    /// A packet is at this host, which takes it out of the memory.
    ///
    /// # Errors
    /// If the network cannot go on.
    fn receive(&mut self, host: u32, number: u32, net: &mut Net<Self::Port, Self::Timer>) -> Result<(), Self::Error>;

    /// It is time.
    ///
    /// # Errors
    /// If the network cannot go on.
    fn wake(&mut self, timer: Self::Timer, net: &mut Net<Self::Port, Self::Timer>) -> Result<(), Self::Error>;
}

/// All switches of a network of these hosts.
pub trait Switches<H: Hosts> {
    /// A packet is at this port of a switch, which offers it to another port, or takes it out of the memory.
    ///
    /// # Errors
    /// If the network cannot go on.
    fn receive(
        &mut self,
        switch: u32,
        port: Port,
        number: u32,
        net: &mut Net<H::Port, H::Timer>,
    ) -> Result<(), H::Error>;

    /// It is time: what is at the far ends of its links goes to [`Net::hand_over`].
    ///
    /// # Errors
    /// If the network cannot go on.
    fn wake(&mut self, switch: u32, net: &mut Net<H::Port, H::Timer>) -> Result<(), H::Error>;

    /// Plans when a switch that was woken has something to do again.
    fn plan(&mut self, switch: u32, net: &mut Net<H::Port, H::Timer>);
}

/// A wire, and the port in front of it.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Line<P> {
    to: FarEnd,
    /// The port.
    pub port: P,
}

/// A host, or a port of a switch, in one word.
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

/// All of a network but its nodes.
#[derive(Debug)]
pub struct Net<P: OutPort, T> {
    now: Nanos,
    calendar: Calendar<Event<T>>,
    /// By number of the wire.
    pub lines: Vec<Line<P>>,
    /// Packets that are at the far ends of their links.
    handed_over: VecDeque<(u32, FarEnd)>,
    /// The memory of packets.
    pub packets: P::Packets,
    /// Where everything is; filled in by the nodes and ports.
    pub account: Account,
    events: u64,
    /// What has happened since time went on, but for arrivals: time goes on with what is on a wire.
    at_once: u64,
}

impl<P: OutPort, T: Timer> Net<P, T> {
    /// What time it is.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// True if nothing is planned.
    pub fn is_at_rest(&self) -> bool {
        self.calendar.is_empty()
    }

    /// Plans an event. A time that has passed counts as the present.
    #[inline]
    pub fn plan(&mut self, at: Nanos, event: Event<T>) {
        self.calendar.plan(at, event);
    }

    /// Offers a packet to the port in front of a wire.
    pub fn offer(&mut self, wire: u32, number: u32) {
        let port = &mut self.lines[wire as usize].port;
        if let Some(at) = port.offer(self.now, number, &mut self.packets, &mut self.account) {
            self.calendar.plan(at, Event::Arrival(wire));
        }
    }

    /// Packets that were handed over, and that nobody has taken yet.
    pub fn handed_over(&self) -> usize {
        self.handed_over.len()
    }

    /// A packet is at the far end of a link that the loop does not know: here.
    pub fn hand_over(&mut self, number: u32, to: Node, port: Port) {
        self.handed_over.push_back((number, FarEnd::new(to, port)));
    }
}

/// Why a network cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped<E> {
    /// A node says so.
    #[error("{0}")]
    Node(E),
    /// Something goes round and round.
    #[error(
        "more than {MOST_AT_ONCE} things happen at {} s, and time does not go on: does a switch send frames in a circle?",
        *.0 as f64 / 1e9
    )]
    Endless(Nanos),
}

impl<E> From<E> for Stopped<E> {
    fn from(error: E) -> Stopped<E> {
        Stopped::Node(error)
    }
}

/// A network, at an instant.
#[derive(Debug)]
pub struct World<H: Hosts, S> {
    /// All but the nodes.
    pub net: Net<H::Port, H::Timer>,
    /// The hosts.
    pub hosts: H,
    /// The switches.
    pub switches: S,
}

impl<H: Hosts, S: Switches<H>> World<H, S> {
    /// A network at time 0. `ports`: one for each wire. It is quickest if there is an event every `gap` nanoseconds or so.
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
                lines: lines.collect(),
                handed_over: VecDeque::new(),
                packets,
                account: Account::default(),
                events: 0,
                at_once: 0,
            },
            hosts,
            switches,
        }
    }

    /// Lets the next event happen, if it comes by `end`. Returns false if none does.
    ///
    /// # Errors
    /// If the network cannot go on.
    #[inline]
    pub fn step(&mut self, end: Nanos) -> Result<bool, Stopped<H::Error>> {
        let Some((now, event)) = self.net.calendar.next(end) else {
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
                let (packet, next) = port.arrive(now);
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
        if !self.net.handed_over.is_empty() {
            self.settle()?;
        }
        Ok(true)
    }

    /// Gives all packets that were handed over to who is there.
    ///
    /// # Errors
    /// If the network cannot go on.
    pub fn settle(&mut self) -> Result<(), Stopped<H::Error>> {
        while !self.net.handed_over.is_empty() {
            self.count()?;
            if let Some((number, to)) = self.net.handed_over.pop_front() {
                self.pass_on(number, to)?;
            }
        }
        Ok(())
    }

    /// Time goes on, and nothing happens until then.
    pub fn wait(&mut self, until: Nanos) {
        self.net.now = self.net.now.max(until);
    }

    #[inline(always)]
    fn pass_on(&mut self, number: u32, to: FarEnd) -> Result<(), Stopped<H::Error>> {
        if to.is_host {
            self.hosts.receive(to.number, number, &mut self.net)?;
        } else {
            self.switches.receive(to.number, to.port, number, &mut self.net)?;
        }
        Ok(())
    }

    #[inline]
    fn count(&mut self) -> Result<(), Stopped<H::Error>> {
        self.net.at_once += 1;
        match self.net.at_once > MOST_AT_ONCE {
            true => Err(Stopped::Endless(self.net.now)),
            false => Ok(()),
        }
    }
}
