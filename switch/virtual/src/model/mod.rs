//! A host as a state machine. It speaks TCP and UDP as Linux does, and runs the traffic programs of the laboratory.
//!
//! ```text
//! frame --> wire --> connection: p4sched-transport --> segments --> wire --> frame
//!                        |
//!                      runs: what flows, when, and the reports
//! ```

mod bulk;
mod connection;
mod flows;
mod runs;
mod tcp;
mod udp;
pub mod wire;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::Ipv4Addr;

use p4sched_dataplane::Nanos;
use p4sched_proto::p4sched::v1::run_state::Phase;
use p4sched_proto::p4sched::v1::{HostCounters, HostKind, RunState};
use p4sched_traffic_generator::observe::Segment;
use p4sched_traffic_generator::tcp::CompletedFlow;
use p4sched_world::network_file::HostPlace;

use crate::host::{Host, HostError, Outbox, TcpSettings};
use crate::run::{Program, Run};
use bulk::Bulk;
use connection::SocketPair;
use flows::Flows;
use tcp::Tcp;
use udp::{Probe, UdpReceived, UdpSending, probe_due};
use wire::{Content, Path};

/// The first port that a host assigns to its own connections and sockets, and the number of such ports (Linux,
/// ip_local_port_range).
const FIRST_OWN_PORT: u16 = 32768;
const OWN_PORTS: u16 = 28232;

/// A part of a host that can be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sleeper {
    Run(usize),
    Connection(usize),
}

/// A host that is a state machine.
pub struct ModelHost {
    net: Net,
    tcp: Tcp,
    /// All runs, in the order of planning.
    runs: Vec<Running>,
    /// Number of runs that observe at the moment.
    observers: usize,
    /// Wake-ups, earliest first. An entry counts only if the sleeper is planned for the same time.
    alarms: BinaryHeap<Reverse<(Nanos, Sleeper)>>,
}

/// A run and its current state.
struct Running {
    run: Run,
    phase: Phase,
    ended: Nanos,
    report: String,
    error: String,
    log: Vec<u8>,
    work: Work,
    /// The planned time of its next wake-up.
    planned: Option<Nanos>,
}

/// The working state of a run.
#[derive(Default)]
enum Work {
    #[default]
    Nothing,
    Bulk(Bulk),
    Flows(Flows),
    Serve(Vec<CompletedFlow>),
    UdpSend(UdpSending),
    UdpReceive(UdpReceived),
    Observe(Vec<Segment>),
    ProbeSend(u64),
    ProbeReceive(Vec<Probe>),
}

impl Running {
    fn new(run: Run) -> Running {
        Running {
            run,
            phase: Phase::Planned,
            ended: 0,
            report: String::new(),
            error: String::new(),
            log: Vec::new(),
            work: Work::Nothing,
            planned: None,
        }
    }

    fn is_running(&self) -> bool {
        self.phase == Phase::Running
    }

    fn state(&self) -> RunState {
        RunState {
            name: self.run.name.clone(),
            phase: self.phase.into(),
            ended_ns: self.ended,
            report: self.report.clone(),
            error: self.error.clone(),
            log_bytes: self.log.len() as u64,
        }
    }

    /// The time of its next own work.
    fn next_wake(&self) -> Option<Nanos> {
        let start = self.run.start;
        if self.phase == Phase::Planned {
            return Some(start);
        }
        match (&self.run.program, &self.work) {
            (Program::BulkSend(bulk), Work::Bulk(work)) => Some(work.next_wake(start, bulk)),
            (Program::TcpSend { deadline, .. }, Work::Flows(work)) => {
                Some(work.next_start().unwrap_or(*deadline).min(*deadline) + start)
            }
            (Program::TcpServe { duration, .. }, Work::Serve(_))
            | (Program::UdpReceive { duration, .. }, Work::UdpReceive(_))
            | (Program::Observe { duration, .. }, Work::Observe(_)) => Some(start + duration),
            (_, Work::UdpSend(work)) => work.next_due().map(|due| start + due),
            (Program::ProbeSend { packets_per_s, .. }, Work::ProbeSend(sent)) => {
                Some(start + probe_due(*sent, *packets_per_s))
            }
            _ => None,
        }
    }

    fn end(&mut self, now: Nanos, report: String) {
        (self.phase, self.ended, self.report) = (Phase::Ended, now, report);
    }

    fn fail(&mut self, now: Nanos, error: String) {
        (self.phase, self.ended, self.error) = (Phase::Failed, now, error);
    }
}

/// A report in the form that a program prints.
fn text(report: &impl serde::Serialize) -> String {
    serde_json::to_string(report).expect("reports hold nothing that JSON cannot") + "\n"
}

/// The interface of a host: its addresses and its counters.
struct Net {
    mac: [u8; 6],
    gateway_mac: [u8; 6],
    addresses: Vec<Ipv4Addr>,
    counters: HostCounters,
    /// The next port for a connection or a socket.
    next_port: u16,
}

impl Net {
    fn path(&self, ends: SocketPair) -> Path {
        Path {
            from_mac: self.mac,
            to_mac: self.gateway_mac,
            from: ends.local,
            to: ends.remote,
        }
    }

    fn port(&mut self) -> u16 {
        let port = FIRST_OWN_PORT + self.next_port % OWN_PORTS;
        self.next_port = (self.next_port + 1) % OWN_PORTS;
        port
    }

    /// Checks that the host has this address.
    ///
    /// # Errors
    /// Says in a sentence that it does not.
    fn own(&self, address: Ipv4Addr) -> Result<(), String> {
        if self.addresses.contains(&address) {
            return Ok(());
        }
        Err(format!(
            "{address} is not an address of this host; it has {}{}",
            self.addresses[0],
            match self.addresses.len() - 1 {
                0 => String::new(),
                others => format!(" and {others} more"),
            }
        ))
    }
}

impl ModelHost {
    /// The host at this place.
    pub fn new(place: &HostPlace) -> ModelHost {
        ModelHost {
            net: Net {
                mac: place.mac.0,
                gateway_mac: place.gateway_mac.0,
                addresses: place.addresses().collect(),
                counters: HostCounters::default(),
                next_port: 0,
            },
            tcp: Tcp::default(),
            runs: Vec::new(),
            observers: 0,
            alarms: BinaryHeap::new(),
        }
    }

    fn wake(&mut self, now: Nanos, sleeper: Sleeper, out: &mut Outbox) {
        match sleeper {
            Sleeper::Run(run) => {
                if self.runs[run].planned.is_none_or(|at| at > now) {
                    return;
                }
                self.runs[run].planned = None;
                self.wake_run(now, run, out);
                self.plan_run(run);
            }
            Sleeper::Connection(slot) => {
                let Some(connection) = self.tcp.get_mut(slot) else {
                    return;
                };
                if connection.planned.is_none_or(|at| at > now) {
                    return;
                }
                connection.planned = None;
                let mut segments = self.tcp.take_scratch();
                if let Some(connection) = self.tcp.get_mut(slot) {
                    connection.timer(now, &mut segments);
                }
                self.emit(now, slot, segments, out);
            }
        }
    }

    fn plan_run(&mut self, run: usize) {
        let running = &mut self.runs[run];
        let Some(at) = running.next_wake() else { return };
        if running.planned.is_none_or(|planned| at < planned) {
            running.planned = Some(at);
            self.alarms.push(Reverse((at, Sleeper::Run(run))));
        }
    }

    fn plan_connection(&mut self, slot: usize) {
        let Some(connection) = self.tcp.get_mut(slot) else {
            return;
        };
        let Some(at) = connection.next_timer() else { return };
        if connection.planned.is_none_or(|planned| at < planned) {
            connection.planned = Some(at);
            self.alarms.push(Reverse((at, Sleeper::Connection(slot))));
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.runs.iter().position(|running| running.run.name == name)
    }
}

impl Host for ModelHost {
    fn kind(&self) -> HostKind {
        HostKind::Model
    }

    fn receive(&mut self, now: Nanos, frame: &[u8], out: &mut Outbox) {
        self.net.counters.frames_received += 1;
        let is_mine = frame.get(..6).is_some_and(|mac| mac == self.net.mac);
        let packet = wire::read(frame).filter(|packet| is_mine && self.net.addresses.contains(&packet.to));
        let Some(packet) = packet else {
            self.net.counters.frames_unknown += 1;
            return;
        };
        match packet.content {
            Content::Tcp {
                from,
                to,
                header,
                payload,
            } => {
                if self.observers > 0 {
                    self.observe(now, frame);
                }
                let ends = SocketPair {
                    local: (packet.to, to),
                    remote: (packet.from, from),
                };
                self.receive_tcp(now, ends, packet.tos, &header, payload, out);
            }
            Content::Udp { to, payload, .. } => {
                if !self.receive_udp(now, (packet.to, to), payload) {
                    self.net.counters.frames_unknown += 1;
                }
            }
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.alarms.peek().map(|alarm| alarm.0.0)
    }

    fn advance(&mut self, now: Nanos, out: &mut Outbox) -> Result<(), HostError> {
        while let Some(&Reverse((_, sleeper))) = self.alarms.peek().filter(|alarm| alarm.0.0 <= now) {
            self.alarms.pop();
            self.wake(now, sleeper, out);
            if let Sleeper::Connection(slot) = sleeper {
                self.plan_connection(slot);
            }
        }
        Ok(())
    }

    fn check(&self, run: &Run) -> Result<(), String> {
        match &run.program {
            Program::BulkSend(bulk) => {
                self.net.own(bulk.source)?;
                tcp::control(&bulk.congestion_control).map(|_| ())
            }
            Program::TcpSend {
                flows,
                congestion_control,
                ..
            } => {
                let mut sources = flows.iter().filter_map(|flow| flow.src);
                sources.try_for_each(|source| self.net.own(source))?;
                tcp::control(congestion_control).map(|_| ())
            }
            Program::UdpSend { flows, .. } => {
                let mut sources = flows.iter().filter_map(|flow| flow.src);
                sources.try_for_each(|source| self.net.own(source))
            }
            Program::UdpReceive { address, .. } | Program::TcpServe { address, .. } => self.net.own(*address),
            Program::ProbeSend { source, .. } => self.net.own(*source),
            Program::BulkReceive { .. } | Program::Observe { .. } | Program::ProbeReceive { .. } => Ok(()),
            Program::Command { words } => Err(format!(
                "a model host has no programs, so it cannot run '{}'; --hosts kernel has them",
                words.join(" ")
            )),
        }
    }

    fn plan(&mut self, now: Nanos, run: Run) {
        self.runs.push(Running::new(Run {
            start: run.start.max(now),
            ..run
        }));
        self.plan_run(self.runs.len() - 1);
    }

    fn stop(&mut self, now: Nanos, name: &str, _out: &mut Outbox) {
        if let Some(run) = self.find(name) {
            self.stop_run(now, run);
        }
    }

    fn state(&self, name: &str) -> Option<RunState> {
        self.find(name).map(|run| self.runs[run].state())
    }

    fn log(&self, name: &str) -> Vec<u8> {
        self.find(name)
            .map(|run| self.runs[run].log.clone())
            .unwrap_or_default()
    }

    fn set_tcp(&mut self, settings: TcpSettings) {
        self.tcp.set(settings);
    }

    fn counters(&mut self, _now: Nanos) -> Result<HostCounters, HostError> {
        Ok(self.net.counters.clone())
    }
}
