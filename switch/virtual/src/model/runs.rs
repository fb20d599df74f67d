//! The runs of a host: when each begins and ends, what it does meanwhile, and its report.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use p4sched_dataplane::Nanos;
use p4sched_proto::p4sched::v1::RunState;
use p4sched_proto::p4sched::v1::run_state::Phase;
use p4sched_traffic_generator::flow::{TcpFlow, Tos};
use p4sched_traffic_generator::observe::{self, Segment};
use p4sched_traffic_generator::tcp::{self, Completed, OPENED_AT_A_TIME, Outcome};
use p4sched_transport::{Config, Endpoint as _};
use serde_json::json;

use super::connection::Machine;
use super::udp::{Probed, UdpReceived, UdpSending, probe_due};
use super::{ModelHost, tcp as sockets};
use crate::host::Outbox;
use crate::run::{BulkSend, Program, Run};

/// How long iperf3 waits for its connections, as the laboratory tells it to.
const CONNECT: Nanos = 10_000_000_000;

/// A run, and what became of it so far.
pub(super) struct Running {
    pub(super) run: Run,
    phase: Phase,
    ended: Nanos,
    report: String,
    error: String,
    pub(super) log: Vec<u8>,
    pub(super) work: Work,
    /// When it is to be woken.
    pub(super) planned: Option<Nanos>,
}

/// What a run keeps while it is under way.
#[derive(Default)]
pub(super) enum Work {
    #[default]
    Nothing,
    Bulk(Bulk),
    Flows(Flows),
    Serve(Vec<Completed>),
    UdpSend(UdpSending),
    UdpReceive(UdpReceived),
    Observe(Vec<Segment>),
    ProbeSend(u64),
    ProbeReceive(Vec<Probed>),
}

/// Endless connections.
pub(super) struct Bulk {
    slots: Vec<usize>,
    /// Whether it was looked at once whether all are connected.
    looked: bool,
    /// Bytes acknowledged, bytes sent and segments repeated in the warm-up.
    warm_up: Option<(u64, u64, u64)>,
}

/// Flows of given sizes.
pub(super) struct Flows {
    config: Arc<Config>,
    /// In the order of their starts.
    starts: Vec<(Nanos, usize)>,
    started: usize,
    /// By flow: its connection, as long as it has one.
    slots: BTreeMap<usize, usize>,
    /// Connections opened ahead, and how many of them are not established yet.
    opened: usize,
    opening: usize,
    outcomes: Vec<Outcome>,
}

impl Running {
    pub(super) fn new(run: Run) -> Running {
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

    pub(super) fn is_running(&self) -> bool {
        self.phase == Phase::Running
    }

    pub(super) fn state(&self) -> RunState {
        RunState {
            name: self.run.name.clone(),
            phase: self.phase.into(),
            ended_ns: self.ended,
            report: self.report.clone(),
            error: self.error.clone(),
            log_bytes: self.log.len() as u64,
        }
    }

    /// When it has something to do by itself.
    pub(super) fn next_wake(&self) -> Option<Nanos> {
        let start = self.run.start;
        if self.phase == Phase::Planned {
            return Some(start);
        }
        match (&self.run.program, &self.work) {
            (Program::BulkSend(bulk), Work::Bulk(work)) => {
                let warm_up = work.warm_up.is_none().then_some(start + bulk.warm_up);
                let look = (!work.looked).then_some(start + CONNECT);
                [Some(start + bulk.warm_up + bulk.duration), warm_up, look]
                    .into_iter()
                    .flatten()
                    .min()
            }
            (Program::TcpSend { deadline, .. }, Work::Flows(work)) => {
                let next = work.starts.get(work.started).map(|next| start + next.0);
                next.into_iter().chain([start + deadline]).min()
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

fn text(report: &impl serde::Serialize) -> String {
    serde_json::to_string(report).expect("reports hold nothing that JSON cannot") + "\n"
}

impl ModelHost {
    /// The time has come for which a run was planned.
    pub(super) fn wake_run(&mut self, now: Nanos, run: usize, out: &mut Outbox) {
        if self.runs[run].phase == Phase::Planned {
            self.runs[run].phase = Phase::Running;
            self.begin(now, run, out);
        }
        let running = &self.runs[run];
        let start = running.run.start;
        match (&running.run.program, &running.work) {
            (Program::BulkSend(bulk), Work::Bulk(_)) => {
                let bulk = bulk.clone();
                self.wake_bulk(now, run, &bulk);
            }
            (Program::TcpSend { deadline, .. }, Work::Flows(_)) => {
                let over = now >= start + deadline;
                self.start_flows(now, run, out);
                if over {
                    self.end_flows(now, run);
                }
            }
            (Program::TcpServe { duration, .. }, Work::Serve(_))
            | (Program::UdpReceive { duration, .. }, Work::UdpReceive(_))
            | (Program::Observe { duration, .. }, Work::Observe(_))
                if now >= start + duration =>
            {
                self.stop_run(now, run);
            }
            (_, Work::UdpSend(_)) => self.send_udp(now, run, out),
            (Program::ProbeSend { .. }, Work::ProbeSend(_)) => self.send_probes(now, run, out),
            _ => {}
        }
    }

    fn begin(&mut self, now: Nanos, run: usize, out: &mut Outbox) {
        let program = self.runs[run].run.program.clone();
        let work = match program {
            Program::BulkSend(bulk) => Work::Bulk(self.open_bulk(now, run, &bulk, out)),
            Program::TcpSend {
                flows,
                congestion_control,
                ..
            } => {
                let Ok(control) = sockets::control(&congestion_control) else {
                    return;
                };
                let nanos = |flow: &TcpFlow| (flow.start_s * 1e9).round() as Nanos;
                let mut starts: Vec<_> = flows
                    .iter()
                    .enumerate()
                    .map(|(place, flow)| (nanos(flow), place))
                    .collect();
                starts.sort_unstable();
                Work::Flows(Flows {
                    config: self.tcp.config(control),
                    starts,
                    started: 0,
                    slots: BTreeMap::new(),
                    opened: 0,
                    opening: 0,
                    outcomes: Vec::new(),
                })
            }
            Program::TcpServe { .. } => Work::Serve(Vec::new()),
            Program::UdpSend { flows, seed, log } => {
                Work::UdpSend(UdpSending::new(&flows, seed, log, || self.net.port()))
            }
            Program::UdpReceive { log, .. } => Work::UdpReceive(UdpReceived::new(log)),
            Program::Observe { .. } => {
                self.observers += 1;
                Work::Observe(Vec::new())
            }
            Program::ProbeSend { .. } => Work::ProbeSend(0),
            Program::ProbeReceive { .. } => Work::ProbeReceive(Vec::new()),
            Program::BulkReceive { .. } | Program::Command { .. } => Work::Nothing,
        };
        let is_over = matches!(&work, Work::Flows(flows) if flows.starts.is_empty());
        self.runs[run].work = work;
        if is_over {
            return self.report_flows(now, run);
        }
        self.open_ahead(now, run, out);
    }

    /// Ends a run that ends by itself or is told to.
    pub(super) fn stop_run(&mut self, now: Nanos, run: usize) {
        let running = &mut self.runs[run];
        if running.phase == Phase::Planned {
            return running.end(now, String::new());
        }
        if running.phase != Phase::Running {
            return;
        }
        let work = std::mem::take(&mut running.work);
        let logged = match &running.run.program {
            Program::Observe { log, .. } => *log,
            _ => false,
        };
        let report = match work {
            Work::Nothing => String::new(),
            Work::Bulk(bulk) => self.bulk_report(now, run, &bulk),
            Work::Flows(_) => {
                self.runs[run].work = work;
                return self.end_flows(now, run);
            }
            Work::Serve(completed) => text(&completed),
            Work::UdpSend(sending) => {
                running.log = sending.log_text().into_bytes();
                text(&sending.reports())
            }
            Work::UdpReceive(received) => {
                running.log = received.log_text().into_bytes();
                text(&received.reports())
            }
            Work::Observe(segments) => {
                self.observers -= 1;
                if logged {
                    running.log = observe::text(&segments).into_bytes();
                }
                text(&observe::by_connection(&segments))
            }
            Work::ProbeSend(sent) => format!("{sent}\n"),
            Work::ProbeReceive(arrivals) => text(&arrivals),
        };
        self.runs[run].end(now, report);
        for slot in self.tcp.of_run(run) {
            // What is complete still answers what is sent again, as a kernel does for a program that has ended.
            let complete = |connection: &super::connection::Connection| match &connection.machine {
                Machine::Receiver(receiver) => receiver.finished(),
                Machine::Sender(_) => false,
            };
            if !self.tcp.get(slot).is_some_and(complete) {
                self.tcp.drop_connection(slot);
            }
        }
    }

    /// A TCP segment has arrived: those who observe note it.
    pub(super) fn observe(&mut self, now: Nanos, frame: &[u8]) {
        for running in &mut self.runs {
            if let Work::Observe(segments) = &mut running.work {
                segments.extend(observe::segment(&frame[14..], now));
            }
        }
    }

    /// Something has arrived for a connection.
    pub(super) fn progressed(&mut self, now: Nanos, slot: usize, out: &mut Outbox) {
        let Some(connection) = self.tcp.get_mut(slot) else {
            return;
        };
        let (run, flow) = connection.owner;
        match &mut self.runs[run].work {
            Work::Flows(_) => self.flow_progressed(now, run, flow, slot, out),
            Work::Serve(completed) => {
                let Machine::Receiver(receiver) = &connection.machine else {
                    return;
                };
                let greeting = connection.greeting.as_mut().filter(|greeting| !greeting.reported);
                let Some(greeting) = greeting.filter(|_| receiver.finished()) else {
                    return;
                };
                let Some((flow, size_bytes, started)) = greeting.read() else {
                    return;
                };
                greeting.reported = true;
                completed.push(Completed {
                    flow,
                    size_bytes,
                    fct_ns: now.saturating_sub(started),
                });
                let count = completed.len();
                if let Program::TcpServe {
                    flows: Some(wanted), ..
                } = self.runs[run].run.program
                    && count >= wanted
                {
                    self.stop_run(now, run);
                }
            }
            _ => {}
        }
    }

    /// The other end has broken a connection.
    pub(super) fn broken(&mut self, now: Nanos, slot: usize, out: &mut Outbox) {
        let Some(connection) = self.tcp.drop_connection(slot) else {
            return;
        };
        let (run, flow) = connection.owner;
        let why = if connection.established.is_some() {
            "Connection reset by peer (os error 104)"
        } else {
            "Connection refused (os error 111)"
        };
        match &mut self.runs[run].work {
            Work::Bulk(_) => {
                let reason = if connection.established.is_some() {
                    "the server has terminated"
                } else {
                    "unable to connect to server: Connection refused"
                };
                self.fail_bulk(now, run, reason);
            }
            Work::Flows(work) => {
                work.slots.remove(&flow);
                work.opening -= usize::from(connection.established.is_none() && work.opening > 0);
                self.flow_ended(now, run, flow, Err((why.into(), connection.established.is_none())));
                self.open_ahead(now, run, out);
            }
            _ => {}
        }
    }
}

/// Endless connections.
impl ModelHost {
    fn open_bulk(&mut self, now: Nanos, run: usize, bulk: &BulkSend, out: &mut Outbox) -> Bulk {
        let mut slots = Vec::new();
        if let Ok(control) = sockets::control(&bulk.congestion_control) {
            let (config, tos) = (self.tcp.config(control), Tos::Fixed(bulk.tos));
            for connection in 0..bulk.connections as usize {
                let to = (bulk.source, (bulk.destination, bulk.port));
                let owner = (run, connection);
                slots.push(self.open(now, owner, to, &config, tos, u64::MAX, Vec::new(), false, out));
            }
        }
        Bulk {
            slots,
            looked: false,
            warm_up: None,
        }
    }

    fn wake_bulk(&mut self, now: Nanos, run: usize, bulk: &BulkSend) {
        let start = self.runs[run].run.start;
        let Work::Bulk(work) = &self.runs[run].work else { return };
        let connected = |slot: &usize| {
            self.tcp
                .get(*slot)
                .is_some_and(|connection| connection.established.is_some())
        };
        let all_connected = work.slots.iter().all(connected);
        let totals = self.bulk_totals(&work.slots);
        let Work::Bulk(work) = &mut self.runs[run].work else {
            return;
        };
        if !work.looked && now >= start + CONNECT {
            work.looked = true;
            if !all_connected {
                return self.fail_bulk(now, run, "unable to connect to server: Connection timed out");
            }
        }
        if work.warm_up.is_none() && now >= start + bulk.warm_up {
            work.warm_up = Some(totals);
        }
        if now >= start + bulk.warm_up + bulk.duration {
            self.stop_run(now, run);
        }
    }

    fn bulk_totals(&self, slots: &[usize]) -> (u64, u64, u64) {
        let connections = slots.iter().filter_map(|&slot| self.tcp.get(slot));
        connections.fold((0, 0, 0), |(acknowledged, sent, again), connection| {
            (
                acknowledged + connection.progress,
                sent + connection.highest,
                again + connection.counted.retransmitted,
            )
        })
    }

    /// As iperf3 reports it, as far as the laboratory reads it.
    fn bulk_report(&self, now: Nanos, run: usize, bulk: &Bulk) -> String {
        let Program::BulkSend(asked) = &self.runs[run].run.program else {
            return String::new();
        };
        let (acknowledged, sent, again) = self.bulk_totals(&bulk.slots);
        let before = bulk.warm_up.unwrap_or((acknowledged, sent, again));
        let begun = self.runs[run].run.start + asked.warm_up;
        let seconds = now.saturating_sub(begun) as f64 / 1e9;
        let rate = |bytes: u64| {
            if seconds > 0.0 {
                bytes as f64 * 8.0 / seconds
            } else {
                0.0
            }
        };
        let (received, sent) = (acknowledged - before.0, sent - before.1);
        text(&json!({"end": {
            "sum_sent": {
                "seconds": seconds, "bytes": sent, "bits_per_second": rate(sent), "retransmits": again - before.2,
            },
            "sum_received": {"seconds": seconds, "bytes": received, "bits_per_second": rate(received)},
        }}))
    }

    fn fail_bulk(&mut self, now: Nanos, run: usize, reason: &str) {
        let running = &mut self.runs[run];
        running.work = Work::Nothing;
        running.report = text(&json!({ "error": reason }));
        running.fail(now, format!("iperf3: error - {reason}\n"));
        for slot in self.tcp.of_run(run) {
            self.tcp.drop_connection(slot);
        }
    }
}

/// Flows of given sizes.
impl ModelHost {
    /// The flow of a run, and whether connections are opened ahead.
    fn flow(&self, run: usize, place: usize) -> Option<(TcpFlow, bool)> {
        match &self.runs[run].run.program {
            Program::TcpSend { flows, open_ahead, .. } => Some((flows.get(place)?.clone(), *open_ahead)),
            _ => None,
        }
    }

    /// Opens the connection of a flow. `started`: when the flow starts, if that is now.
    fn open_flow(&mut self, now: Nanos, run: usize, place: usize, started: Option<Nanos>, out: &mut Outbox) {
        let Some((flow, _)) = self.flow(run, place) else { return };
        let Work::Flows(work) = &self.runs[run].work else {
            return;
        };
        let config = work.config.clone();
        let head = started.map_or(Vec::new(), |at| tcp::header(&flow, at).to_vec());
        let from = flow.src.unwrap_or(self.net.addresses[0]);
        let bytes = flow.size_bytes.saturating_add(tcp::HEADER_BYTES as u64);
        let to = (flow.dst, flow.port);
        let held = started.is_none();
        let slot = self.open(now, (run, place), (from, to), &config, flow.tos, bytes, head, held, out);
        if let Work::Flows(work) = &mut self.runs[run].work {
            work.slots.insert(place, slot);
        }
    }

    /// Opens connections ahead of their flows, a few at a time.
    fn open_ahead(&mut self, now: Nanos, run: usize, out: &mut Outbox) {
        loop {
            let Program::TcpSend {
                flows,
                open_ahead: true,
                ..
            } = &self.runs[run].run.program
            else {
                return;
            };
            let count = flows.len();
            let Work::Flows(work) = &mut self.runs[run].work else {
                return;
            };
            if work.opened == count || work.opening == OPENED_AT_A_TIME {
                return;
            }
            let place = work.opened;
            work.opened += 1;
            work.opening += 1;
            self.open_flow(now, run, place, None, out);
        }
    }

    /// Starts the flows whose time has come.
    fn start_flows(&mut self, now: Nanos, run: usize, out: &mut Outbox) {
        let begun = self.runs[run].run.start;
        loop {
            let Work::Flows(work) = &mut self.runs[run].work else {
                return;
            };
            let Some(&(_, place)) = work.starts.get(work.started).filter(|start| begun + start.0 <= now) else {
                return;
            };
            work.started += 1;
            let slot = work.slots.get(&place).copied();
            match self.flow(run, place) {
                Some((_, false)) => self.open_flow(now, run, place, Some(now), out),
                Some((_, true)) => {
                    if let Some(slot) = slot {
                        self.release(now, run, place, slot, out);
                    }
                }
                None => return,
            }
        }
    }

    /// Lets a flow start on its connection that is open already; if it is not, it starts when it is.
    fn release(&mut self, now: Nanos, run: usize, place: usize, slot: usize, out: &mut Outbox) {
        let Some((flow, _)) = self.flow(run, place) else { return };
        let Work::Flows(work) = &self.runs[run].work else {
            return;
        };
        let initial_window = work.config.initial_window;
        let mut segments = self.tcp.take_scratch();
        if let Some(connection) = self
            .tcp
            .get_mut(slot)
            .filter(|connection| connection.established.is_some())
        {
            connection.head = tcp::header(&flow, now).to_vec();
            connection.release(now, initial_window, &mut segments);
        }
        self.emit(now, slot, segments, out);
        self.plan_connection(slot);
    }

    fn flow_progressed(&mut self, now: Nanos, run: usize, flow: usize, slot: usize, out: &mut Outbox) {
        let Some(connection) = self.tcp.get(slot) else { return };
        let Machine::Sender(sender) = &connection.machine else {
            return;
        };
        if sender.finished() {
            let again = sender.statistics().retransmitted + connection.openings.saturating_sub(1);
            self.tcp.drop_connection(slot);
            if let Work::Flows(work) = &mut self.runs[run].work {
                work.slots.remove(&flow);
            }
            return self.flow_ended(now, run, flow, Ok(again));
        }
        if connection.held && connection.established.is_some() {
            let Work::Flows(work) = &mut self.runs[run].work else {
                return;
            };
            let is_due = work.starts[..work.started].iter().any(|start| start.1 == flow);
            if self
                .tcp
                .get_mut(slot)
                .is_some_and(super::connection::Connection::is_new)
            {
                work.opening = work.opening.saturating_sub(1);
            }
            if is_due {
                self.release(now, run, flow, slot, out);
            }
            self.open_ahead(now, run, out);
        }
    }

    /// Notes what became of a flow: segments sent again, or why it failed and whether it had no connection. The run ends
    /// with the last one.
    fn flow_ended(&mut self, now: Nanos, run: usize, place: usize, end: Result<u64, (String, bool)>) {
        let Some((flow, _)) = self.flow(run, place) else { return };
        let Program::TcpSend { flows, .. } = &self.runs[run].run.program else {
            return;
        };
        let count = flows.len();
        let Work::Flows(work) = &mut self.runs[run].work else {
            return;
        };
        let completed = end.is_ok();
        let unconnected = end.as_ref().is_err_and(|(_, unconnected)| *unconnected);
        work.outcomes.push(Outcome {
            flow: flow.flow,
            size_bytes: flow.size_bytes,
            completed,
            retransmitted: end.as_ref().ok().map(|&again| u32::try_from(again).unwrap_or(u32::MAX)),
            error: end.err().map(|(why, _)| why),
            unconnected,
        });
        if work.outcomes.len() == count {
            self.report_flows(now, run);
        }
    }

    /// Gives up what is not done, and ends the run.
    fn end_flows(&mut self, now: Nanos, run: usize) {
        let Program::TcpSend { flows, .. } = &self.runs[run].run.program else {
            return;
        };
        let flows: Vec<(u32, usize)> = flows.iter().map(|flow| flow.flow).zip(0..).collect();
        for slot in self.tcp.of_run(run) {
            self.tcp.drop_connection(slot);
        }
        for (flow, place) in flows {
            let Work::Flows(work) = &self.runs[run].work else {
                return;
            };
            if !work.outcomes.iter().any(|outcome| outcome.flow == flow) {
                self.flow_ended(now, run, place, Err(("not done by the deadline".into(), false)));
            }
        }
    }

    fn report_flows(&mut self, now: Nanos, run: usize) {
        let running = &mut self.runs[run];
        let Work::Flows(work) = std::mem::take(&mut running.work) else {
            return;
        };
        let mut outcomes = work.outcomes;
        outcomes.sort_by_key(|outcome| outcome.flow);
        running.end(now, text(&outcomes));
        if let Err(error) = tcp::all_connected(&outcomes) {
            running.fail(now, format!("p4sched-traffic: {error}\n"));
        }
    }
}

/// Earliest first, then in the order of the flows.
pub(super) type Due = std::collections::BinaryHeap<Reverse<(Nanos, usize)>>;
