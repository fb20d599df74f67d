//! All hosts, and their uplinks.

use p4sched_dataplane::Nanos;
use p4sched_world::account::Account;
use p4sched_world::link::Link;
use p4sched_world::network_file::HostPlace;
use p4sched_world::planned::WakeUp;
use p4sched_world::wire::{InTransit, Wire};
use p4sched_world::world::{self, Event, Hosts, OutPort};

use super::resent::ResentRanks;
use crate::host::{Host, HostError, Outbox};

/// Work of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wake(u32);

impl world::Timer for Wake {
    /// Switches come before hosts, each in the order of their numbers. Frames of a host come before its own work.
    type Rank = (bool, u32, bool);

    fn rank(event: Event<Wake>) -> (bool, u32, bool) {
        match event {
            Event::Switch(switch) => (false, switch, false),
            Event::Arrival(wire) => (true, host(wire), false),
            Event::Host(Wake(host)) => (true, host, true),
        }
    }
}

/// The wire from a host to its switch. The links of hosts come first in a topology.
fn uplink(host: usize) -> u32 {
    2 * host as u32
}

fn host(wire: u32) -> u32 {
    wire / 2
}

/// The network without its hosts and switches.
pub type Net = world::Net<Uplink, Wake>;

/// The link from a host to its switch: it has a rate, no loss and no delay.
#[derive(Debug)]
pub struct Uplink(Wire);

impl Uplink {
    /// An uplink of this rate, in bit/s.
    pub fn new(rate_bps: u64) -> Uplink {
        Uplink(Wire::new(Link::rounded_up(rate_bps), 0))
    }

    /// Number of frames on the uplink.
    pub fn frames(&self) -> u64 {
        self.0.packets().into()
    }
}

impl OutPort for Uplink {
    type Packets = Outbox;

    fn offer(&mut self, now: Nanos, number: u32, frames: &mut Outbox, _: &mut Account) -> Option<Nanos> {
        self.0.send(now, number, frames.frame(number).len() as u32)
    }

    fn arrive(&mut self, _: Nanos, _: &mut Outbox) -> (InTransit, Option<Nanos>) {
        let arrived = self.0.arrive();
        (arrived, self.0.first().map(|next| next.arrival))
    }
}

/// A host and its place in the network.
pub struct HostNode {
    pub place: HostPlace,
    pub host: Box<dyn Host>,
    /// Changes the ranks of data that the host sends again; `None`: they stay as the host writes them.
    pub resent_ranks: Option<ResentRanks>,
    planned: WakeUp,
}

impl HostNode {
    pub fn new(place: &HostPlace, host: Box<dyn Host>) -> HostNode {
        HostNode {
            place: place.clone(),
            host,
            resent_ranks: None,
            planned: WakeUp::default(),
        }
    }
}

pub struct LabHosts {
    pub nodes: Vec<HostNode>,
}

impl LabHosts {
    pub fn new(nodes: Vec<HostNode>) -> LabHosts {
        LabHosts { nodes }
    }

    /// Puts the frames that a host sends on its uplink.
    pub fn post(&mut self, place: usize, net: &mut Net) {
        while let Some(number) = net.packets.next_sent() {
            net.account.sent += 1;
            if let Some(ranks) = &mut self.nodes[place].resent_ranks {
                ranks.write(net.packets.frame_mut(number));
            }
            net.offer(uplink(place), number);
        }
        self.plan(place, net);
    }

    /// Plans the next work of a host.
    pub fn plan(&mut self, place: usize, net: &mut Net) {
        let HostNode { host, planned, .. } = &mut self.nodes[place];
        if let Some(at) = planned.wake_at(net.now(), host.next_event()) {
            net.plan(at, Event::Host(Wake(place as u32)));
        }
    }
}

impl Hosts for LabHosts {
    type Port = Uplink;
    type Timer = Wake;
    type Error = HostError;

    fn receive(&mut self, host: u32, number: u32, net: &mut Net) -> Result<(), HostError> {
        let place = host as usize;
        let frame = net.packets.take(number);
        net.account.delivered += 1;
        self.nodes[place].host.receive(net.now(), &frame, &mut net.packets);
        net.packets.give_back(number, frame);
        self.post(place, net);
        Ok(())
    }

    fn wake(&mut self, Wake(host): Wake, net: &mut Net) -> Result<(), HostError> {
        let (place, now) = (host as usize, net.now());
        let HostNode { host, planned, .. } = &mut self.nodes[place];
        planned.woken(now);
        if host.next_event().is_some_and(|at| at <= now) {
            host.advance(now, &mut net.packets)?;
        }
        self.post(place, net);
        Ok(())
    }
}
