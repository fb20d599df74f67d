//! The switches: paths of packets, and what decides at ports, models or compiled programs.

use std::sync::Arc;

use p4sched_world::routes::{Multipath, Routes};
use p4sched_world::world::{Event, OutPort as _, Switches};

use super::device::{self, Device, DeviceError, Installed};
use super::hosts::{Difference, Ends, Net};
use super::port::{Counts, PortConfig};
use super::setup::{Installation, Setup, SetupError, user_address};
use crate::frames::Datagram;

/// See the head of this file.
#[derive(Debug)]
pub struct Fabric {
    setup: Arc<Setup>,
    routes: Routes,
    /// By switch, if programs decide; else empty.
    devices: Vec<Device>,
    /// Frames that a switch has handed on: wire, number, and when they are there; empty between events.
    frames: Vec<(u32, u32, u64)>,
}

impl Fabric {
    /// Switches through which nothing has passed yet.
    ///
    /// # Errors
    /// If two hosts have no path, or no program can do what is asked.
    pub fn new(setup: Arc<Setup>) -> Result<Fabric, SetupError> {
        let multipath = match setup.program {
            Some(_) => Multipath::Buckets,
            None => setup.multipath,
        };
        let routes = Routes::new(&setup.topology, multipath)?;
        Ok(Fabric {
            devices: devices(&setup, &routes)?,
            routes,
            frames: Vec::new(),
            setup,
        })
    }

    /// Whether programs decide.
    pub fn has_programs(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Whether models stand at the ports: alone, or to compare programs with them.
    pub fn has_models(&self) -> bool {
        self.devices.first().is_none_or(Device::checks)
    }

    /// Bytes that programs hold.
    pub fn held_bytes(&self) -> u64 {
        self.devices.iter().map(Device::held_bytes).sum()
    }

    /// What a port has counted, if a program decides there.
    pub fn counts(&self, switch: u32, port: u16) -> Option<Counts> {
        Some(self.devices.get(switch as usize)?.counts(port))
    }

    /// A packet arrives at a switch that runs a program, and should leave it by this wire.
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
        let port = &mut net.lines[wire as usize].port;
        let verdict = device.checks().then(|| {
            port.catch_up(now);
            port.enqueue(now, number, &header)
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

    fn plan_device(&mut self, switch: u32, net: &mut Net) {
        if let Some(at) = self.devices[switch as usize].wake(net.now()) {
            net.plan(at, Event::Switch(switch));
        }
    }
}

impl Switches<Ends> for Fabric {
    #[inline(always)]
    fn receive(&mut self, switch: u32, _port: u16, number: u32, net: &mut Net) -> Result<(), Difference> {
        let header = net.packets.header(number);
        let next = self.routes.next(switch, header.destination, header.hash);
        if self.devices.is_empty() {
            net.offer(next, number);
            return Ok(());
        }
        self.offer_to_program(switch, next, number, net)
    }

    fn wake(&mut self, switch: u32, net: &mut Net) -> Result<(), Difference> {
        let now = net.now();
        let device = &mut self.devices[switch as usize];
        device.advance(now);
        device.take_frames(&mut self.frames)?;
        for (wire, number, due) in self.frames.drain(..) {
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
                port.arrive(now);
            }
            let wire = &self.setup.topology.wires[wire as usize];
            net.hand_over(number, wire.to, wire.to_port);
        }
        Ok(())
    }

    fn plan(&mut self, switch: u32, net: &mut Net) {
        self.plan_device(switch, net);
    }
}

/// A switch with the program for each switch, if programs decide.
fn devices(setup: &Setup, routes: &Routes) -> Result<Vec<Device>, DeviceError> {
    let Some(Installation { program, check }) = &setup.program else {
        return Ok(Vec::new());
    };
    let hosts = &setup.topology.hosts;
    let PortConfig {
        scheduler, start_time, ..
    } = &setup.switch_ports;
    let scheduler = scheduler.programmed().map_err(DeviceError::NoProgram)?;
    let users_count = *start_time || !scheduler.scheme().p4().ranks;
    let users = device::users(setup.flows.iter().filter(|_| users_count).map(|flow| {
        let address = user_address(hosts[flow.source as usize].address, flow.user);
        (address, flow.user, flow.scale)
    }))?;
    let installed = Installed {
        program,
        scheduler,
        start_time: *start_time,
        check: *check,
        users: &users,
    };
    device::check(&installed, hosts.len(), setup.switch_ports.mark_at.is_some())?;
    (0..setup.topology.switches.len() as u32)
        .map(|number| Device::new(&installed, &setup.topology, routes, number))
        .collect()
}
