//! The network: its hosts and switches, and the requests that it handles.
//!
//! A switch has the rate, the queues and the delay of its outgoing links, so a frame that it transmits is at the far
//! end at once. A host has an uplink with a rate and no delay. Simultaneous events are in the order of the nodes,
//! switches first, so the order of planning makes no difference.

mod hosts;
mod resent;
mod switch;

use std::collections::{BTreeMap, BTreeSet};

use p4sched_dataplane::Nanos;
use p4sched_device::Device;
use p4sched_p4runtime::Job;
use p4sched_proto::p4sched::v1 as api;
use p4sched_transport::Retransmissions;
use p4sched_world::account::Account;
use p4sched_world::network_file::{HostPlace, NetworkFile};
use p4sched_world::topology::{Node, TopologyError};
use p4sched_world::world::{self, StopReason};

pub use switch::SwitchNode;

use crate::host::{Host, HostError, Outbox, TcpSettings};
use crate::run::{LAST_INSTANT, Run};
use hosts::{HostNode, LabHosts, Uplink};
use resent::ResentRanks;
use switch::LabSwitches;

/// Typical time between two events in a network of the lab, in ns.
const GAP_NS: Nanos = 4096;

/// Reason why the network cannot continue, as a sentence.
pub type WorldError = StopReason<HostError>;

/// The network at an instant.
pub struct World {
    world: world::World<LabHosts, LabSwitches>,
    /// Names of all runs in the order of planning, and the host of each.
    runs: Vec<(String, usize)>,
}

impl World {
    /// A network at time 0. `host` creates each host. The devices have no programs yet.
    ///
    /// # Errors
    /// If the description is not a valid network.
    pub fn new(
        file: &NetworkFile,
        devices: Vec<Device>,
        mut host: impl FnMut(&HostPlace) -> Box<dyn Host>,
    ) -> Result<World, TopologyError> {
        let topology = file.topology()?;
        let mut peers = vec![BTreeMap::new(); file.switches.len()];
        for wire in &topology.wires {
            if let Node::Switch(switch) = wire.from {
                peers[switch as usize].insert(wire.from_port, (wire.to, wire.to_port));
            }
        }
        let hosts = file.hosts.iter().map(|place| HostNode::new(place, host(place)));
        let described = devices.into_iter().zip(file.switches.iter().zip(peers));
        let switches = described.map(|(device, (switch, peers))| SwitchNode::new(&switch.name, device, peers));
        let uplinks = topology.wires.iter().map(|wire| Uplink::new(wire.cable.rate_bps));
        let (hosts, switches) = (LabHosts::new(hosts.collect()), LabSwitches::new(switches.collect()));
        let mut world = world::World::new(&topology, uplinks, Outbox::default(), GAP_NS, hosts, switches);
        // A kernel has work even if no host sends anything.
        for host in 0..file.hosts.len() {
            world.hosts.plan(host, &mut world.net);
        }
        Ok(World {
            world,
            runs: Vec::new(),
        })
    }

    /// The current time.
    pub fn now(&self) -> Nanos {
        self.world.net.now()
    }

    /// All switches, in the order of the description.
    pub fn switches(&self) -> &[SwitchNode] {
        &self.world.switches.nodes
    }

    /// Whether no event is planned.
    pub fn is_idle(&self) -> bool {
        self.world.net.is_idle()
    }

    /// The account of all frames.
    pub fn account(&self) -> Account {
        let net = &self.world.net;
        let mut account = net.account;
        account.on_uplinks = net.lines.iter().map(|line| line.port.frames()).sum();
        account.in_switches = net.undelivered() as u64;
        for node in self.switches() {
            let switch = node.device().engine().balance();
            account.added += switch.packets_out + switch.copies;
            account.in_switches += switch.inside();
            account.dropped += switch.dropped();
            account.to_controllers += switch.packets_in;
            account.unconnected += node.unconnected();
        }
        account
    }

    /// Handles the events up to `limit`, but at most `most` of them. Stops after an event in which a switch notified
    /// its controllers. Returns whether all events up to `limit` are handled. The time is then `limit`, unless `limit`
    /// is after [`LAST_INSTANT`].
    ///
    /// # Errors
    /// If the network cannot continue.
    /// If the network cannot go on.
    pub fn advance(&mut self, limit: Nanos, most: usize) -> Result<bool, WorldError> {
        self.world.switches.notified = false;
        for _ in 0..most {
            if self.world.switches.notified {
                break;
            }
            if !self.world.step(limit)? {
                if limit <= LAST_INSTANT {
                    self.world.wait(limit);
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs a request on a switch at the current time.
    ///
    /// # Errors
    /// If the network cannot continue.
    pub fn request(&mut self, switch: usize, job: Job) -> Result<(), WorldError> {
        self.world.switches.request(switch, job, &mut self.world.net);
        self.world.settle()
    }
}

/// Traffic and hosts.
impl World {
    pub fn describe_hosts(&self) -> Vec<api::VirtualHost> {
        let of = |node: &HostNode| api::VirtualHost {
            name: node.place.name.clone(),
            kind: node.host.kind().into(),
            addresses: node.place.addresses().map(|address| address.to_string()).collect(),
            switch: node.place.switch.clone(),
            port: node.place.port.into(),
        };
        self.nodes().iter().map(of).collect()
    }

    /// Plans runs in hosts. If one of them is invalid, none is planned.
    ///
    /// # Errors
    /// Outer error: which run is refused, and why. Inner error: the network cannot continue.
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
            self.nodes()[place].host.check(&run).map_err(refused)?;
            found.push((place, run));
        }
        let of_both_ends = |(place, run): &(usize, Run)| run.program.of_both_ends(self.nodes()[*place].place.address);
        let ends: BTreeSet<_> = found.iter().flat_map(of_both_ends).collect();
        for (one, other) in ends
            .iter()
            .flat_map(|&(source, destination)| [(source, destination), (destination, source)])
        {
            let has = |node: &HostNode| node.place.addresses().any(|own| own == one);
            if let Some(place) = self.nodes().iter().position(has) {
                let now = self.now();
                self.change(place, |host| host.expect_dctcp(now, other));
            }
        }
        for (place, run) in found {
            self.runs.push((run.name.clone(), place));
            let now = self.now();
            self.change(place, |host| host.plan(now, run));
        }
        Ok(self.world.settle())
    }

    /// Ends runs, as SIGTERM ends a program. An empty list stands for all runs.
    ///
    /// # Errors
    /// Outer error: a name is unknown. Inner error: the network cannot continue.
    pub fn stop(&mut self, names: &[String]) -> Result<Result<(), WorldError>, String> {
        for (name, place) in self.named(names)? {
            let world::World { net, hosts, .. } = &mut self.world;
            hosts.nodes[place].host.stop(net.now(), &name, &mut net.packets);
            hosts.post(place, net);
        }
        Ok(self.world.settle())
    }

    /// The states of runs. An empty list stands for all runs.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn states(&self, names: &[String]) -> Result<Vec<api::RunState>, String> {
        let named = self.named(names)?;
        Ok(named
            .iter()
            .filter_map(|(name, place)| self.nodes()[*place].host.state(name))
            .collect())
    }

    /// The log of a run.
    ///
    /// # Errors
    /// If the name is unknown.
    pub fn log(&self, name: &str) -> Result<Vec<u8>, String> {
        let named = self.named(std::slice::from_ref(&name.to_owned()))?;
        Ok(named
            .first()
            .map(|(name, place)| self.nodes()[*place].host.log(name))
            .unwrap_or_default())
    }

    /// Changes the TCP settings of hosts, and the rank of the data that they send again. An empty list stands for all
    /// hosts.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn set_hosts(
        &mut self,
        names: &[String],
        settings: TcpSettings,
        again: Option<Retransmissions>,
    ) -> Result<(), String> {
        for place in self.named_hosts(names)? {
            if settings != TcpSettings::default() {
                self.change(place, |host| host.set_tcp(settings));
            }
            if let Some(rule) = again {
                self.world.hosts.nodes[place].resent_ranks = Some(ResentRanks::new(rule));
            }
        }
        Ok(())
    }

    /// The counters of hosts. An empty list stands for all hosts.
    ///
    /// # Errors
    /// Outer error: a name is unknown. Inner error: the network cannot continue.
    pub fn counters(&mut self, names: &[String]) -> Result<Result<Vec<api::HostCounters>, WorldError>, String> {
        let mut found = Vec::new();
        for place in self.named_hosts(names)? {
            let now = self.now();
            // A kernel runs for a moment to answer. Its next wake-up may change.
            let counters = self.change(place, |host| host.counters(now));
            match counters {
                Ok(counters) => found.push(api::HostCounters {
                    name: self.nodes()[place].place.name.clone(),
                    ..counters
                }),
                Err(error) => return Ok(Err(error.into())),
            }
        }
        Ok(Ok(found))
    }

    fn nodes(&self) -> &[HostNode] {
        &self.world.hosts.nodes
    }

    /// Changes a host and plans its next wake-up.
    fn change<R>(&mut self, place: usize, change: impl FnOnce(&mut dyn Host) -> R) -> R {
        let world::World { net, hosts, .. } = &mut self.world;
        let result = change(&mut *hosts.nodes[place].host);
        hosts.plan(place, net);
        result
    }

    fn host(&self, name: &str) -> Result<usize, String> {
        let found = self.nodes().iter().position(|node| node.place.name == name);
        found.ok_or_else(|| format!("there is no host '{name}'"))
    }

    fn named_hosts(&self, names: &[String]) -> Result<Vec<usize>, String> {
        if names.is_empty() {
            return Ok((0..self.nodes().len()).collect());
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
