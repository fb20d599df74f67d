//! A switch of a network that runs a compiled program: frames go in, and come out at the far ends of links. If each
//! port has a model beside it, every decision and every departure is compared.

use std::collections::{BTreeMap, HashMap, VecDeque};

use p4sched_dataplane::{DigestMessage, MatchKey, Port as PortNumber};
use p4sched_engine::{Frame, FrameSink, Output};
use p4sched_proto::constants::{ECMP_BUCKETS, MAX_ROUTES, MAX_USERS, RANK_HEADER, RANK_STFQ};
use p4sched_schedulers::fdpa::UNCLASSIFIED;
use p4sched_schedulers::known::Knowledge;
use p4sched_schedulers::scheme::P4;
use p4sched_schedulers::{Config, Nanos, Variants, Verdict};
use p4sched_traffic_manager::{MemoryConfig, MemorySharing};
use p4sched_world::planned::WakeUp;
use p4sched_world::routes::Routes;
use p4sched_world::topology::{Node, Topology};

use super::by_queue::QueueLengths;
use super::lengths::Lengths;
use super::packets::Header;
use super::port::{Counts, Port, PortConfig};
use super::prefixes::{self, Route};
use crate::frames::{self, Datagram};
use crate::model::Decision;
use crate::parameters::Parameters;
use crate::program::{Program, ProgramError};
use crate::ranked::StartTime;
use crate::switch::{self, ArgumentError, Switch};

/// MAC address of every next hop; no host checks it.
const NEXT_HOP: u64 = 0x0200_0000_0001;

/// Reason why a network cannot run programs.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The program does not load.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The program cannot have these parameters.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// Too many routes at a switch.
    #[error("switch {0} needs {1} routes: the programs have room for {MAX_ROUTES}")]
    Routes(String, usize),
    /// Too many users.
    #[error("user {0}: the programs know users 0 to 4095")]
    User(u32),
    /// Two users with one address.
    #[error(
        "users {0} and {1} of a host have the same address or different weights; give them numbers that differ by less than 200"
    )]
    SameAddress(u32, u32),
    /// The scenario asks for congestion marks.
    #[error("mark_at_packets and mark_at_bytes: the programs give no congestion marks")]
    Marks,
    /// The scenario asks for a size in bytes.
    #[error("buffer_bytes: the programs have queues of packets; use the models")]
    Bytes,
    /// The scenario asks for a rule that only models have.
    #[error("variants and hold_us: the programs have the rules of the papers' text; use the models")]
    Variants,
    /// The scenario charges the packets of receivers.
    #[error("charge_answers: the programs know users by the addresses of senders; use the models")]
    Answers,
    /// The scenario counts start times otherwise.
    #[error(
        "start_time_bytes and charge_drops: the programs count start times in units of 256 bytes, and for packets that \
         are queued; use the models"
    )]
    StartTime,
    /// The scenario has the order of events of Netbench.
    #[error("events: a program's departures come before simultaneous arrivals; use the models")]
    Events,
    /// The scenario asks for counts that only models have.
    #[error("count_inversions: the models count, and not the programs; use the models")]
    Order,
    /// The scenario asks for lengths that only models can have.
    #[error("length_period_ns and cell_bytes: the programs see their queues; use the models")]
    Knowledge,
    /// The scenario asks for a memory that only models can have.
    #[error("memory: with programs no rule follows it, and no queue gives up packets (occamy); use the models")]
    Memory,
    /// The discipline is only a model.
    #[error("{0} has no P4 program")]
    NoProgram(String),
    /// A sorted queue without a model: nobody can say which packet it pushed out.
    #[error("only a model can say which packet a sorted queue pushed out: compare with the models (--check)")]
    PushOut,
}

/// Settings that all switches of a run share.
#[derive(Debug)]
pub struct SwitchSettings<'a> {
    pub program: &'a Program,
    /// The scheduler of every port.
    pub scheduler: &'a Config,
    /// Ranks are virtual start times.
    pub start_time: bool,
    /// The memory that all ports share, if they share one.
    pub memory: Option<MemoryConfig>,
    /// True if a model beside each port checks the program.
    pub check: bool,
    /// User, and 256 / weight, by source address; empty if the program ignores users.
    pub users: &'a BTreeMap<[u8; 4], (u32, u32)>,
}

/// The key of a program's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remembers {
    /// Ranks and queues, by port.
    Ports,
    /// Rates of users (FDPA).
    Users,
    /// Virtual finish times of flows (STFQ).
    Flows,
}

/// A frame at the far end of a link: number of the packet, time, and bytes.
type FrameAtFarEnd = (Option<u64>, Nanos, usize);

/// A link of the switch.
#[derive(Debug, Default)]
struct Out {
    /// Wire of the port; None: it has no link.
    wire: Option<u32>,
    /// True if the arrival of the first frame on it is planned.
    planned: bool,
    /// Frames at its far end that the network has not taken yet.
    frames: VecDeque<FrameAtFarEnd>,
    /// Packets that wait for it.
    waiting: u32,
    /// Lengths of its queue over time.
    lengths: Lengths,
}

/// The links of a switch, by port.
#[derive(Debug, Default)]
struct Links {
    ports: Vec<Out>,
    /// A frame on a port without a link: port and bytes.
    astray: Option<(PortNumber, usize)>,
}

impl FrameSink for Links {
    fn transmit(&mut self, port: PortNumber, frame: &mut Frame, due: Nanos) {
        match self.ports.get_mut(usize::from(port)) {
            Some(out) if out.wire.is_some() => out.frames.push_back((frames::id(frame), due, frame.len())),
            _ => {
                self.astray.get_or_insert((port, frame.len()));
            }
        }
    }
}

impl Output for Links {
    fn packet_in(&mut self, _frame: &[u8]) {}

    fn digest(&mut self, _digest: DigestMessage) {}
}

/// A switch that runs a compiled program.
#[derive(Debug)]
pub struct Device {
    name: String,
    switch: Switch,
    p4: P4,
    check: bool,
    links: Links,
    /// Counters by port, as they were at the last arrival.
    counted: Vec<switch::Counts>,
    frame: Vec<u8>,
    held_bytes: u64,
    /// Ports by key of the program's memory: the user, or the cell of a flow. The program has one memory for all ports,
    /// but each port's model has its own. So each key may appear at one port only.
    remembered: HashMap<u32, PortNumber>,
    remembers: Remembers,
    /// Planned event at which it wakes.
    planned: WakeUp,
}

impl Device {
    /// Makes switch number `number` of a network.
    ///
    /// # Errors
    /// If the program cannot do what the settings ask.
    pub fn new(
        installed: &SwitchSettings<'_>,
        topology: &Topology,
        routes: &Routes,
        number: u32,
    ) -> Result<Device, DeviceError> {
        let scheme = installed.scheduler.scheme();
        let mut switch = Switch::new(installed.program, scheme)?;
        let parameters = Parameters::new(installed.scheduler.clone(), installed.program.target());
        switch.check_arguments(&parameters.arguments())?;
        if let Some(memory) = installed.memory {
            switch.set_memory(memory);
        }
        let mut links = Links::default();
        for (wire, described) in (0..).zip(&topology.wires) {
            if described.from != Node::Switch(number) {
                continue;
            }
            let port = described.from_port;
            switch.set_port(port, &parameters, true, described.cable.rate_bps);
            switch.set_delay(port, described.cable.delay_ns);
            if links.ports.len() <= usize::from(port) {
                links.ports.resize_with(usize::from(port) + 1, Out::default);
            }
            links.ports[usize::from(port)].wire = Some(wire);
        }
        let p4 = scheme.p4();
        if p4.ranks {
            let source = if installed.start_time { RANK_STFQ } else { RANK_HEADER };
            switch.set_default("ranking.rank_sources", "set_rank_source", &[source]);
        }
        for (address, &(user, scale)) in installed.users {
            let key = [MatchKey::Lpm(address.to_vec(), 32)];
            let data = [u64::from(user), u64::from(scale)];
            switch.set_entry("users.users_by_prefix", &key, "set_user", &data);
        }
        let mut device = Device {
            name: topology.switches[number as usize].clone(),
            switch,
            p4,
            check: installed.check,
            counted: vec![switch::Counts::default(); links.ports.len()],
            links,
            frame: Vec::new(),
            held_bytes: 0,
            remembered: HashMap::new(),
            remembers: match (p4.ranks, installed.start_time) {
                (false, _) => Remembers::Users,
                (true, true) => Remembers::Flows,
                (true, false) => Remembers::Ports,
            },
            planned: WakeUp::default(),
        };
        device.install_routes(topology, routes, number)?;
        Ok(device)
    }

    /// Installs the fewest routes that lead to all hosts, and one group for each set of paths.
    ///
    /// # Errors
    /// If there are more routes than the programs have room for.
    fn install_routes(&mut self, topology: &Topology, routes: &Routes, number: u32) -> Result<(), DeviceError> {
        let mut ways_to: Vec<&[u32]> = Vec::new();
        let mut known: HashMap<&[u32], usize> = HashMap::new();
        let hosts = (0..).zip(&topology.hosts).filter_map(|(host, described)| {
            let ways = routes.ways_to(number, host);
            if ways.is_empty() {
                // This switch has no links to other switches.
                return None;
            }
            let next = *known.entry(ways).or_insert_with(|| {
                ways_to.push(ways);
                ways_to.len() - 1
            });
            Some((described.address, next))
        });
        let found = prefixes::fewest(hosts.collect());
        if found.len() > MAX_ROUTES {
            return Err(DeviceError::Routes(self.name.clone(), found.len()));
        }
        let port = |wire: u32| u64::from(topology.wires[wire as usize].from_port);
        let mut groups = 0;
        let mut group_of = vec![None; ways_to.len()];
        for Route { prefix, bits, next } in found {
            let key = [MatchKey::Lpm(prefix.to_vec(), bits)];
            let ways = ways_to[next];
            if let &[wire] = ways {
                self.switch
                    .set_entry(switch::ROUTES, &key, "forward", &[port(wire), NEXT_HOP]);
                continue;
            }
            let group = *group_of[next].get_or_insert_with(|| {
                groups += 1;
                groups
            });
            self.switch.set_entry(switch::ROUTES, &key, "choose_path", &[group]);
        }
        for (ways, group) in ways_to.iter().zip(group_of) {
            let Some(group) = group else { continue };
            for bucket in 0..ECMP_BUCKETS {
                let key = [
                    MatchKey::Exact(group.to_be_bytes().to_vec()),
                    MatchKey::Exact(bucket.to_be_bytes().to_vec()),
                ];
                let data = [port(ways[routes.dealt(number, bucket, ways.len())]), NEXT_HOP];
                self.switch.set_entry("forwarding.ecmp_paths", &key, "forward", &data);
            }
        }
        Ok(())
    }

    /// Takes an arriving packet whose path leads to this wire. `model`: the verdict of the model at that port, and the
    /// port itself, if they are compared. Returns true if the packet is lost.
    ///
    /// # Errors
    /// A description of the difference, if the model decided otherwise.
    pub fn receive(
        &mut self,
        now: Nanos,
        header: &Header,
        datagram: &Datagram,
        port: PortNumber,
        model: Option<(Verdict, &Port)>,
    ) -> Result<bool, String> {
        if model.is_some() {
            self.check_memory(header, port)?;
        }
        datagram.write(&mut self.frame);
        self.switch.advance(now, &mut self.links);
        let dropped = self.switch.dropped();
        self.switch.receive(now, &self.frame, &mut self.links);
        let lost = self.switch.dropped() > dropped;
        if let Some((verdict, model)) = model {
            let counts = self.switch.counts(port);
            let before = std::mem::replace(&mut self.counted[usize::from(port)], counts);
            let (expected, found) = (self.decision(verdict), counts.decision_since(&before));
            if found != Some(expected) {
                return Err(format!(
                    "at {now} ns, switch {}, port {port}: the model says {expected:?}, the program {found:?} to {datagram:?}; \
                     {} packets wait in the model; counters {before:?} became {counts:?}",
                    self.name,
                    model.waiting(),
                ));
            }
        }
        let victim = match model {
            Some((Verdict::PushedOut { victim, .. }, _)) => victim.len,
            _ if lost => datagram.len,
            _ => 0,
        };
        self.held_bytes += u64::from(datagram.len);
        self.held_bytes -= u64::from(victim);
        // The link may have become free.
        self.switch.advance(now, &mut self.links);
        self.note_lengths(now);
        Ok(lost)
    }

    /// Records the lengths of the queues up to now. It is called at the time of each change: arrivals are events, and
    /// the device is woken at each departure.
    fn note_lengths(&mut self, now: Nanos) {
        for (port, out) in (0..).zip(&mut self.links.ports) {
            let waiting = self.switch.waiting(port);
            if waiting != out.waiting {
                out.lengths.note(now, out.waiting);
                out.waiting = waiting;
            }
        }
    }

    /// Lengths of the queues of a port now.
    pub fn queue_lengths(&self, port: PortNumber) -> QueueLengths {
        self.switch.counts(port).lengths
    }

    /// Lengths of the queue of a port over time, until `now`.
    pub fn lengths(&self, now: Nanos, port: PortNumber) -> Lengths {
        let out = &self.links.ports[usize::from(port)];
        let mut lengths = out.lengths.clone();
        lengths.note(now, out.waiting);
        lengths
    }

    /// # Errors
    /// If the program keeps one memory for what the models keep by port.
    fn check_memory(&mut self, header: &Header, port: PortNumber) -> Result<(), String> {
        let (what, key) = match self.remembers {
            Remembers::Users if header.user != UNCLASSIFIED => ("user", header.user),
            Remembers::Flows => ("cell of flows", header.flow),
            _ => return Ok(()),
        };
        let first = *self.remembered.entry(key).or_insert(port);
        if first == port {
            return Ok(());
        }
        Err(format!(
            "in what they remember: {what} {key} leaves switch {} by ports {first} and {port}; the program remembers it once, \
             and the models at each port. Do without --check",
            self.name
        ))
    }

    fn decision(&self, verdict: Verdict) -> Decision {
        match verdict {
            Verdict::Queued { queue } => Decision::Queued {
                priority: self.p4.priority(queue),
            },
            Verdict::PushedOut { .. } => Decision::PushedOut,
            Verdict::DroppedByAdmission => Decision::Refused,
            Verdict::DroppedFull => Decision::Full,
        }
    }

    /// Runs every event that is due.
    pub fn advance(&mut self, now: Nanos) {
        self.planned.woken(now);
        self.switch.advance(now, &mut self.links);
        self.note_lengths(now);
    }

    /// Time at which it must wake, if that is not planned yet. Arrivals at the far ends of its links need no wake-up.
    pub fn wake(&mut self, now: Nanos) -> Option<Nanos> {
        self.planned.wake_at(now, self.switch.next_departure())
    }

    /// Passes on the arrivals at the far ends of its links that must be planned: wires and times.
    ///
    /// At most one arrival of each wire is planned, as in the models ([`Port`]): that of a packet that finds the wire
    /// empty when its transmission begins, and that of the next packet when the one before it arrives. So simultaneous
    /// arrivals are planned in the same order, and happen in the same order.
    pub fn plan_arrivals(&mut self, mut plan: impl FnMut(u32, Nanos)) {
        for (port, out) in (0..).zip(&mut self.links.ports) {
            let Some(wire) = out.wire.filter(|_| !out.planned) else {
                continue;
            };
            let here = out.frames.front().map(|&(_, due, _)| due);
            if let Some(due) = here.or_else(|| self.switch.next_arrival(port)) {
                out.planned = true;
                plan(wire, due);
            }
        }
    }

    /// Takes the frame whose arrival at the far end of a port's link was planned for now: number of the packet, and
    /// time of its arrival.
    ///
    /// # Errors
    /// If the frame holds no packet of the run, or a frame left by a port without a link.
    pub fn take_frame(&mut self, now: Nanos, port: PortNumber) -> Result<(u32, Nanos), String> {
        self.switch.advance(now, &mut self.links);
        self.note_lengths(now);
        let out = &mut self.links.ports[usize::from(port)];
        out.planned = false;
        let taken = out.frames.pop_front();
        let unexplained = match (self.links.astray, taken) {
            (None, Some((id, due, bytes))) => match id.and_then(|id| u32::try_from(id).ok()) {
                Some(number) => {
                    self.held_bytes -= bytes as u64;
                    return Ok((number, due));
                }
                None => (port, bytes),
            },
            (Some(astray), _) => astray,
            (None, None) => (port, 0),
        };
        let (port, bytes) = unexplained;
        Err(format!(
            "switch {} sent {bytes} bytes by port {port}, which no packet explains",
            self.name
        ))
    }

    /// True if models beside its ports check the program.
    pub fn checks(&self) -> bool {
        self.check
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes that wait or are on links.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Counters of one of its ports.
    pub fn counts(&self, port: PortNumber) -> Counts {
        let counts = self.switch.counts(port);
        let sent = self.switch.transmitted(port);
        Counts {
            sent_packets: sent.packets,
            sent_bytes: sent.bytes,
            full: counts.full,
            refused: counts.refused,
            pushed_out: counts.pushed_out,
            ..Counts::default()
        }
    }
}

/// Users by address, from the flows of the run.
///
/// # Errors
/// If two users share an address, or one has two weights.
pub fn users(flows: impl Iterator<Item = ([u8; 4], u32, u32)>) -> Result<BTreeMap<[u8; 4], (u32, u32)>, DeviceError> {
    let mut users = BTreeMap::new();
    for (address, user, scale) in flows {
        if user >= MAX_USERS {
            return Err(DeviceError::User(user));
        }
        let known = *users.entry(address).or_insert((user, scale));
        if known != (user, scale) {
            return Err(DeviceError::SameAddress(known.0, user));
        }
    }
    Ok(users)
}

/// # Errors
/// If no program can run with these settings of the ports.
pub fn check(installed: &SwitchSettings<'_>, ports: &PortConfig) -> Result<(), DeviceError> {
    let sorted = installed.scheduler.scheme().p4().rank_field.is_some();
    if ports.buffer_bytes.is_some() {
        return Err(DeviceError::Bytes);
    }
    if ports.counts_order {
        return Err(DeviceError::Order);
    }
    if ports.mark_at.is_some() || ports.mark_at_bytes.is_some() {
        Err(DeviceError::Marks)
    } else if ports.variants != Variants::NONE || ports.hold_us != 0 {
        Err(DeviceError::Variants)
    } else if ports.start_time.is_some_and(|counted| counted != StartTime::default()) {
        Err(DeviceError::StartTime)
    } else if ports.knowledge != Knowledge::default() {
        Err(DeviceError::Knowledge)
    } else if ports
        .memory
        .is_some_and(|memory| memory.follow_every.is_some() || memory.config.sharing == MemorySharing::Occamy)
    {
        Err(DeviceError::Memory)
    } else if sorted && !installed.check {
        Err(DeviceError::PushOut)
    } else {
        Ok(())
    }
}
