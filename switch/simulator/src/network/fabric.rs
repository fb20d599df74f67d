//! The switches: the paths of packets, and the models or compiled programs that decide at ports.

use std::sync::Arc;

use p4sched_schedulers::Nanos;
use p4sched_transport::Ecn;
use p4sched_world::routes::{Multipath, Routes};
use p4sched_world::topology::Node;
use p4sched_world::world::{Event, OutPort as _, Switches};

use super::by_queue::QueueLengths;
use super::device::{self, Device, DeviceError, SwitchSettings};
use super::hosts::{Difference, FlowHosts, Net};
use super::lengths::Lengths;
use super::memory::Memories;
use super::port::{Counts, PortConfig};
use super::setup::{Events, Installation, Setup, SetupError, user_address};
use crate::frames::Datagram;

/// All switches of a network.
#[derive(Debug)]
pub struct Fabric {
    setup: Arc<Setup>,
    routes: Routes,
    /// Devices by switch, if programs decide; else empty.
    devices: Vec<Device>,
    /// The memories that ports share, if they do.
    memories: Option<Memories>,
}

/// The work of an event at a switch with a program.
enum Work {
    /// Departures inside this switch.
    Departures(u32),
    /// The first frame on this wire reaches the far end.
    Arrival(u32),
}

impl Fabric {
    /// Makes the switches, with empty queues.
    ///
    /// # Errors
    /// If two hosts have no path, or no program can run with these settings.
    pub fn new(setup: Arc<Setup>) -> Result<Fabric, SetupError> {
        let multipath = match setup.program {
            Some(_) => Multipath::Buckets,
            None => setup.multipath,
        };
        let routes = Routes::new(&setup.topology, multipath)?;
        let PortConfig { scheduler, memory, .. } = &setup.switch_ports;
        let memories = memory.zip(scheduler.scheme());
        Ok(Fabric {
            devices: devices(&setup, &routes)?,
            memories: memories.map(|(memory, scheme)| Memories::new(memory, scheme, &setup.topology)),
            routes,
            setup,
        })
    }

    pub fn has_programs(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Lengths over time of the queue of a port, if a program decides there.
    pub fn lengths(&self, now: Nanos, switch: u32, port: u16) -> Option<Lengths> {
        Some(self.devices.get(switch as usize)?.lengths(now, port))
    }

    /// Lengths of the queues of a port now, if a program decides there.
    pub fn queue_lengths(&self, switch: u32, port: u16) -> Option<QueueLengths> {
        Some(self.devices.get(switch as usize)?.queue_lengths(port))
    }

    /// Bytes held by programs.
    pub fn held_bytes(&self) -> u64 {
        self.devices.iter().map(Device::held_bytes).sum()
    }

    /// Counters of a port, if a program decides there.
    pub fn counts(&self, switch: u32, port: u16) -> Option<Counts> {
        Some(self.devices.get(switch as usize)?.counts(port))
    }

    /// Takes a packet that arrives at a switch with a program, and should leave by this wire.
    fn offer_to_program(&mut self, switch: u32, wire: u32, number: u32, net: &mut Net) -> Result<(), Difference> {
        let now = net.now();
        let header = *net.packets.header(number);
        let segment = net.packets.segment(number);
        let datagram = Datagram {
            id: u64::from(number),
            rank: header.rank,
            len: header.len,
            ..self.setup.datagram(segment.flow, segment.kind.is_from_sender())
        };
        let device = &mut self.devices[switch as usize];
        if let Some(memories) = self.memories.as_mut().filter(|_| device.checks()) {
            memories.prepare(switch, wire, net);
        }
        let port = &mut net.lines[wire as usize].port;
        let verdict = device.checks().then(|| {
            port.catch_up(now);
            port.enqueue(now, number, &header, Ecn::NotEct)
        });
        let number_of_port = self.setup.topology.wires[wire as usize].from_port;
        let model = verdict.map(|verdict| (verdict, &*port));
        let lost = device.receive(now, &header, &datagram, number_of_port, model)?;
        port.send(now);
        match verdict {
            Some(verdict) => net.packets.drop_lost(number, verdict, &mut net.account),
            None if lost => net.packets.drop(number, &mut net.account),
            None => {}
        }
        self.plan_device(switch, net);
        Ok(())
    }

    /// The work of an event. Events of switches have the numbers of the switches, and above them those of the wires.
    fn work(&self, event: u32) -> Work {
        match event.checked_sub(self.devices.len() as u32) {
            None => Work::Departures(event),
            Some(wire) => Work::Arrival(wire),
        }
    }

    fn plan_device(&mut self, switch: u32, net: &mut Net) {
        let switches = self.devices.len() as u32;
        let device = &mut self.devices[switch as usize];
        device.plan_arrivals(|wire, at| net.plan(at, Event::Switch(switches + wire)));
        if let Some(at) = device.wake(net.now()) {
            net.plan(at, Event::Switch(switch));
        }
    }

    /// Takes the frame that reaches the far end of a wire, and plans the arrival of the next one.
    fn arrive(&mut self, wire: u32, net: &mut Net) -> Result<(), Difference> {
        let now = net.now();
        let described = &self.setup.topology.wires[wire as usize];
        let (to, to_port) = (described.to, described.to_port);
        let Node::Switch(switch) = described.from else {
            unreachable!("hosts have no programs")
        };
        let device = &mut self.devices[switch as usize];
        let (number, due) = device.take_frame(now, described.from_port)?;
        if device.checks() {
            let port = &mut net.lines[wire as usize].port;
            port.catch_up(now);
            let expected = port.first_in_transit().map(|packet| (packet.arrival, packet.number));
            if expected != Some((due, number)) {
                let name = device.name();
                let difference = format!(
                    "switch {name}: packet {number} is at the far end of its link at {due} ns; the model says {expected:?}"
                );
                return Err(difference.into());
            }
            port.arrive(now, &mut net.packets);
        }
        self.plan_device(switch, net);
        net.deliver(number, to, to_port);
        Ok(())
    }
}

impl Switches<FlowHosts> for Fabric {
    #[inline(always)]
    fn receive(&mut self, switch: u32, _port: u16, number: u32, net: &mut Net) -> Result<(), Difference> {
        let header = net.packets.header(number);
        let next = self.routes.next(switch, header.destination, header.hash);
        if self.devices.is_empty() {
            match &mut self.memories {
                None => net.offer(next, number),
                Some(memories) => memories.offer(switch, next, number, net),
            }
            return Ok(());
        }
        self.offer_to_program(switch, next, number, net)
    }

    fn wake(&mut self, event: u32, net: &mut Net) -> Result<(), Difference> {
        if self.setup.events == Events::Netbench {
            depart(event, net);
            return Ok(());
        }
        match self.work(event) {
            Work::Departures(switch) => self.devices[switch as usize].advance(net.now()),
            Work::Arrival(wire) => self.arrive(wire, net)?,
        }
        Ok(())
    }

    fn plan(&mut self, event: u32, net: &mut Net) {
        if let Work::Departures(switch) = self.work(event) {
            self.plan_device(switch, net);
        }
    }
}

/// Ends the departure of a packet of this wire, where departures are events.
fn depart(wire: u32, net: &mut Net) {
    let now = net.now();
    let (arrival, next) = net.lines[wire as usize].port.departed(now);
    net.plan(arrival, Event::Arrival(wire));
    if let Some(at) = next {
        net.plan_sent(wire, at);
    }
}

/// Makes a device for each switch, if programs decide.
fn devices(setup: &Setup, routes: &Routes) -> Result<Vec<Device>, DeviceError> {
    let Some(Installation { program, check }) = &setup.program else {
        return Ok(Vec::new());
    };
    if setup.charge_answers {
        return Err(DeviceError::Answers);
    }
    if setup.events == Events::Netbench {
        return Err(DeviceError::Events);
    }
    let hosts = &setup.topology.hosts;
    let PortConfig {
        scheduler,
        start_time,
        memory,
        ..
    } = &setup.switch_ports;
    let scheduler = scheduler.programmed().map_err(DeviceError::NoProgram)?;
    let users_count = start_time.is_some() || !scheduler.scheme().p4().ranks || scheduler.scheme().tells_users_apart();
    let users = device::users(setup.flows.iter().filter(|_| users_count).map(|flow| {
        let address = user_address(hosts[flow.source as usize].address, flow.user);
        (address, flow.user, flow.scale)
    }))?;
    let installed = SwitchSettings {
        program,
        scheduler,
        start_time: start_time.is_some(),
        memory: memory.map(|memory| memory.config),
        check: *check,
        users: &users,
    };
    device::check(&installed, &setup.switch_ports)?;
    (0..setup.topology.switches.len() as u32)
        .map(|number| Device::new(&installed, &setup.topology, routes, number))
        .collect()
}
