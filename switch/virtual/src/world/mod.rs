//! The network: switches, hosts and the wires between them. One loop takes what happens in the order of its time.
//!
//! A switch has the rate, the queues and the delay of the links that lead away from it, so a frame that it transmits is at the
//! far end at once. A host has an uplink of a rate and no delay. Things of one instant happen in the order of the nodes,
//! switches first, so the order in which they were planned makes no difference.

mod balance;
mod switch;
mod uplink;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use p4sched_dataplane::Nanos;
use p4sched_device::Device;
use p4sched_p4runtime::Job;
use p4sched_proto::p4sched::v1 as api;
use thiserror::Error;

pub use balance::Balance;
pub use switch::SwitchNode;

use crate::host::{Host, HostError, Outbox, TcpSettings};
use crate::run::Run;
use crate::topology::{HostPlace, Peer, Topology, TopologyError};
use uplink::Uplink;

/// What may happen at one instant. A network of the lab has a few dozen events at an instant; one whose frames go in a
/// circle without delay has no end of them.
const MOST_EVENTS_AT_ONCE: u64 = 10_000_000;

/// Times of a day from here on still fit into 64 bits.
pub const LAST_INSTANT: Nanos = Nanos::MAX / 2;

/// Why the network cannot go on, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WorldError {
    /// A host has failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Something goes round and round.
    #[error(
        "more than {MOST_EVENTS_AT_ONCE} things happen at {} s, and time does not go on: does a switch send frames in a circle?",
        *.0 as f64 / 1e9
    )]
    Endless(Nanos),
}

/// A frame at the far end of its link.
struct Moving {
    to: Peer,
    frame: Vec<u8>,
}

struct HostNode {
    place: HostPlace,
    host: Box<dyn Host>,
    /// Where its uplink leads to: a switch by its place, and the port.
    at: (usize, p4sched_dataplane::Port),
    uplink: Uplink,
    /// Frames sent and received.
    frames: (u64, u64),
}

/// The network at an instant.
pub struct World {
    now: Nanos,
    switches: Vec<SwitchNode>,
    hosts: Vec<HostNode>,
    /// Earliest first: when a node wants to act. An entry counts if `planned` has the same time.
    agenda: BinaryHeap<Reverse<(Nanos, usize)>>,
    planned: Vec<Option<Nanos>>,
    moving: VecDeque<Moving>,
    outbox: Outbox,
    /// Events since time went on.
    events: u64,
    /// Whether a switch has told its controllers something since the network began to go on.
    notified: bool,
    /// Names of all runs, in the order in which they were planned, and the host of each.
    runs: Vec<(String, usize)>,
}

impl World {
    /// A network at time 0. `host` makes each host; the devices have no programs yet.
    ///
    /// # Errors
    /// If the description is of no network.
    pub fn new(
        topology: &Topology,
        devices: Vec<Device>,
        mut host: impl FnMut(&HostPlace) -> Box<dyn Host>,
    ) -> Result<World, TopologyError> {
        let wiring = topology.wiring()?;
        let ends: Vec<_> = wiring
            .iter()
            .enumerate()
            .flat_map(|(switch, ports)| ports.iter().map(move |(&port, &peer)| (peer, (switch, port))))
            .collect();
        let at = |place| {
            ends.iter()
                .find(|(peer, _)| *peer == Peer::Host(place))
                .map(|end| end.1)
        };
        let hosts: Vec<_> = topology
            .hosts
            .iter()
            .enumerate()
            .filter_map(|(number, place)| {
                Some(HostNode {
                    host: host(place),
                    at: at(number)?,
                    uplink: Uplink::new(place.uplink_bps),
                    frames: (0, 0),
                    place: place.clone(),
                })
            })
            .collect();
        let described = topology.switches.iter().zip(wiring);
        let switches: Vec<_> = devices
            .into_iter()
            .zip(described)
            .map(|(device, (switch, ports))| SwitchNode::new(&switch.name, device, ports))
            .collect();
        let mut world = World {
            now: 0,
            planned: vec![None; switches.len() + hosts.len()],
            switches,
            hosts,
            agenda: BinaryHeap::new(),
            moving: VecDeque::new(),
            outbox: Outbox::default(),
            events: 0,
            notified: false,
            runs: Vec::new(),
        };
        // A kernel has something to do, also where nobody sends anything.
        (0..world.planned.len()).for_each(|node| world.plan(node));
        Ok(world)
    }

    /// What time it is.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// All switches, in the order of the description.
    pub fn switches(&self) -> &[SwitchNode] {
        &self.switches
    }

    /// Whether anything will ever happen by itself.
    pub fn is_at_rest(&self) -> bool {
        self.agenda.is_empty()
    }

    /// Where every frame is or went.
    pub fn balance(&self) -> Balance {
        let mut balance = Balance::default();
        for node in &self.hosts {
            balance.sent += node.frames.0;
            balance.delivered += node.frames.1;
            balance.on_uplinks += node.uplink.len() as u64;
        }
        for node in &self.switches {
            let switch = node.device().engine().balance();
            balance.added += switch.packets_out + switch.copies;
            balance.in_switches += switch.inside();
            balance.dropped += switch.dropped();
            balance.to_controllers += switch.packets_in;
            balance.unconnected += node.unconnected();
        }
        balance
    }

    /// Lets things happen up to `limit`, but no more than `most` of them, and none after one in which a switch told its
    /// controllers something. Returns whether everything has happened that is due; it is `limit` then, unless that is beyond
    /// all time.
    ///
    /// # Errors
    /// If the network cannot go on.
    pub fn advance(&mut self, limit: Nanos, most: usize) -> Result<bool, WorldError> {
        self.notified = false;
        for _ in 0..most {
            if self.notified {
                break;
            }
            let Some(&Reverse((at, node))) = self.agenda.peek().filter(|entry| entry.0.0 <= limit) else {
                if limit <= LAST_INSTANT {
                    self.now = self.now.max(limit);
                }
                return Ok(true);
            };
            self.agenda.pop();
            if self.planned[node] != Some(at) {
                continue;
            }
            self.planned[node] = None;
            if self.next_event(node).is_some_and(|next| next <= at) {
                if at > self.now {
                    (self.now, self.events) = (at, 0);
                }
                self.act(node)?;
            }
            self.plan(node);
        }
        Ok(false)
    }

    /// Runs a request on a switch, now.
    ///
    /// # Errors
    /// If the network cannot go on.
    pub fn request(&mut self, switch: usize, job: Job) -> Result<(), WorldError> {
        self.switches[switch].request(self.now, job);
        self.forward(switch);
        self.settle()
    }

    /// When a node next has something to do.
    fn next_event(&self, node: usize) -> Option<Nanos> {
        match node.checked_sub(self.switches.len()) {
            None => self.switches[node].next_event(),
            Some(host) => {
                let HostNode { host, uplink, .. } = &self.hosts[host];
                host.next_event().into_iter().chain(uplink.next_arrival()).min()
            }
        }
    }

    /// Notes when a node wants to act, if that is earlier than what was noted.
    fn plan(&mut self, node: usize) {
        let Some(at) = self.next_event(node) else { return };
        let at = at.max(self.now);
        if self.planned[node].is_none_or(|planned| at < planned) {
            self.planned[node] = Some(at);
            self.agenda.push(Reverse((at, node)));
        }
    }

    /// Lets a node do what is due.
    fn act(&mut self, node: usize) -> Result<(), WorldError> {
        self.count()?;
        match node.checked_sub(self.switches.len()) {
            None => {
                self.switches[node].advance(self.now);
                self.forward(node);
            }
            Some(host) => {
                while let Some(frame) = self.hosts[host].uplink.arrived(self.now) {
                    let (switch, port) = self.hosts[host].at;
                    self.moving.push_back(Moving {
                        to: Peer::Switch(switch, port),
                        frame,
                    });
                }
                self.settle()?;
                let node = &mut self.hosts[host];
                if node.host.next_event().is_some_and(|at| at <= self.now) {
                    node.host.advance(self.now, &mut self.outbox)?;
                    self.post(host);
                }
            }
        }
        self.settle()
    }

    /// Gives all frames that are at the far end of their links to who is there.
    fn settle(&mut self) -> Result<(), WorldError> {
        while let Some(Moving { to, frame }) = self.moving.pop_front() {
            self.count()?;
            match to {
                Peer::Host(place) => {
                    let node = &mut self.hosts[place];
                    node.frames.1 += 1;
                    node.host.receive(self.now, &frame, &mut self.outbox);
                    self.post(place);
                }
                Peer::Switch(place, port) => {
                    self.switches[place].receive(self.now, port, &frame);
                    self.forward(place);
                }
            }
            self.outbox.give_back(frame);
        }
        Ok(())
    }

    /// Puts what a host sends on its uplink.
    fn post(&mut self, place: usize) {
        let node = &mut self.hosts[place];
        for frame in self.outbox.drain() {
            node.frames.0 += 1;
            node.uplink.send(self.now, frame);
        }
        self.plan(self.switches.len() + place);
    }

    /// Takes what a switch transmitted to the far ends.
    fn forward(&mut self, place: usize) {
        let node = &mut self.switches[place];
        while let Some((to, frame)) = node.take_sent(&mut self.outbox) {
            self.moving.push_back(Moving { to, frame });
        }
        self.notified |= node.has_notified();
        self.plan(place);
    }

    fn count(&mut self) -> Result<(), WorldError> {
        self.events += 1;
        if self.events > MOST_EVENTS_AT_ONCE {
            return Err(WorldError::Endless(self.now));
        }
        Ok(())
    }
}

/// Traffic and hosts.
impl World {
    /// What hosts there are.
    pub fn describe_hosts(&self) -> Vec<api::VirtualHost> {
        let of = |node: &HostNode| api::VirtualHost {
            name: node.place.name.clone(),
            kind: node.host.kind().into(),
            addresses: node.place.addresses().map(|address| address.to_string()).collect(),
            switch: node.place.switch.clone(),
            port: node.place.port.into(),
        };
        self.hosts.iter().map(of).collect()
    }

    /// Plans runs in hosts: all, or none if one of them makes no sense.
    ///
    /// # Errors
    /// The outer one: which run is refused and why. The inner one: the network cannot go on.
    pub fn start(&mut self, asked: Vec<api::Run>) -> Result<Result<(), WorldError>, String> {
        let mut found: Vec<(usize, Run)> = Vec::new();
        for run in asked {
            let place = self.host(&run.host)?;
            let run = Run::new(run)?;
            let taken = self.runs.iter().any(|(name, _)| *name == run.name);
            if taken || found.iter().any(|(_, other)| other.name == run.name) {
                return Err(format!(
                    "run '{}' is there already: each has a name of its own",
                    run.name
                ));
            }
            let refused = |problem| format!("run '{}': {problem}", run.name);
            self.hosts[place].host.check(&run).map_err(refused)?;
            found.push((place, run));
        }
        let of_both_ends = |(place, run): &(usize, Run)| run.program.of_both_ends(self.hosts[*place].place.address);
        let ends: BTreeSet<_> = found.iter().flat_map(of_both_ends).collect();
        for (one, other) in ends
            .iter()
            .flat_map(|&(source, destination)| [(source, destination), (destination, source)])
        {
            let has = |node: &HostNode| node.place.addresses().any(|own| own == one);
            if let Some(place) = self.hosts.iter().position(has) {
                self.hosts[place].host.expect_dctcp(self.now, other);
                self.plan(self.switches.len() + place);
            }
        }
        for (place, run) in found {
            self.runs.push((run.name.clone(), place));
            self.hosts[place].host.plan(self.now, run);
            self.post(place);
        }
        Ok(self.settle())
    }

    /// Ends runs as SIGTERM ends a program; none named: all.
    ///
    /// # Errors
    /// The outer one: there is no such run. The inner one: the network cannot go on.
    pub fn stop(&mut self, names: &[String]) -> Result<Result<(), WorldError>, String> {
        for (name, place) in self.named(names)? {
            self.hosts[place].host.stop(self.now, &name, &mut self.outbox);
            self.post(place);
        }
        Ok(self.settle())
    }

    /// What became of runs; none named: all.
    ///
    /// # Errors
    /// There is no such run.
    pub fn states(&self, names: &[String]) -> Result<Vec<api::RunState>, String> {
        let named = self.named(names)?;
        Ok(named
            .iter()
            .filter_map(|(name, place)| self.hosts[*place].host.state(name))
            .collect())
    }

    /// The log of a run.
    ///
    /// # Errors
    /// There is no such run.
    pub fn log(&self, name: &str) -> Result<Vec<u8>, String> {
        let named = self.named(std::slice::from_ref(&name.to_owned()))?;
        Ok(named
            .first()
            .map(|(name, place)| self.hosts[*place].host.log(name))
            .unwrap_or_default())
    }

    /// Changes TCP in hosts; none named: all.
    ///
    /// # Errors
    /// There is no such host.
    pub fn set_hosts(&mut self, names: &[String], settings: TcpSettings) -> Result<(), String> {
        for place in self.named_hosts(names)? {
            self.hosts[place].host.set_tcp(settings);
            self.plan(self.switches.len() + place);
        }
        Ok(())
    }

    /// The counters of hosts; none named: all.
    ///
    /// # Errors
    /// The outer one: there is no such host. The inner one: the network cannot go on.
    pub fn counters(&mut self, names: &[String]) -> Result<Result<Vec<api::HostCounters>, WorldError>, String> {
        let mut found = Vec::new();
        for place in self.named_hosts(names)? {
            let node = &mut self.hosts[place];
            match node.host.counters(self.now) {
                Ok(counters) => found.push(api::HostCounters {
                    name: node.place.name.clone(),
                    ..counters
                }),
                Err(error) => return Ok(Err(error.into())),
            }
            // A kernel runs on for a moment to answer, and may then want to go on at another time.
            self.plan(self.switches.len() + place);
        }
        Ok(Ok(found))
    }

    fn host(&self, name: &str) -> Result<usize, String> {
        let found = self.hosts.iter().position(|node| node.place.name == name);
        found.ok_or_else(|| format!("there is no host '{name}'"))
    }

    fn named_hosts(&self, names: &[String]) -> Result<Vec<usize>, String> {
        if names.is_empty() {
            return Ok((0..self.hosts.len()).collect());
        }
        names.iter().map(|name| self.host(name)).collect()
    }

    fn named(&self, names: &[String]) -> Result<Vec<(String, usize)>, String> {
        if names.is_empty() {
            return Ok(self.runs.clone());
        }
        let find = |name: &String| {
            let found = self.runs.iter().find(|(known, _)| known == name);
            found.cloned().ok_or_else(|| format!("there is no run '{name}'"))
        };
        names.iter().map(find).collect()
    }
}
