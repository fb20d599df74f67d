//! The runs of a host: their beginning, their work, their end and their reports.

use p4sched_dataplane::Nanos;
use p4sched_proto::p4sched::v1::run_state::Phase;
use p4sched_traffic_generator::observe;
use p4sched_traffic_generator::tcp::CompletedFlow;
use p4sched_transport::Endpoint as _;

use super::connection::Machine;
use super::flows::Flows;
use super::udp::{UdpReceived, UdpSending};
use super::{ModelHost, Work, text};
use crate::host::Outbox;
use crate::run::Program;

impl ModelHost {
    /// Does the work of a run that is due.
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
            } => Work::Flows(Flows::new(&flows, self.tcp.named_config(&congestion_control))),
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
        self.runs[run].work = work;
        if matches!(&self.runs[run].work, Work::Flows(flows) if flows.are_none()) {
            return self.report_flows(now, run);
        }
        self.open_ahead(now, run, out);
    }

    /// Ends a run that ends by itself or on request.
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
            // A complete connection still answers retransmissions, as a kernel does after the program has ended.
            let complete = |connection: &super::connection::Connection| match &connection.machine {
                Machine::Receiver(receiver) => receiver.finished(),
                Machine::Sender(_) => false,
            };
            if !self.tcp.get(slot).is_some_and(complete) {
                self.tcp.drop_connection(slot);
            }
        }
    }

    /// Records an arriving TCP segment for all runs that observe.
    pub(super) fn observe(&mut self, now: Nanos, frame: &[u8]) {
        for running in &mut self.runs {
            if let Work::Observe(segments) = &mut running.work {
                segments.extend(observe::segment(&frame[14..], now));
            }
        }
    }

    /// Handles new data or a new acknowledgement of a connection.
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
                completed.push(CompletedFlow {
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

    /// Handles a connection that the other end has reset.
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
            Work::Flows(_) => {
                self.flow_broken(now, run, flow, (why, connection.established.is_some()), out);
            }
            _ => {}
        }
    }
}
