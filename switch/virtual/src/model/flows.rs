//! Flows of given sizes, like those of `p4sched-traffic tcp-send`.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4sched_dataplane::Nanos;
use p4sched_traffic_generator::flow::TcpFlow;
use p4sched_traffic_generator::tcp::{self, OPENED_AT_A_TIME, Outcome};
use p4sched_transport::{Config, Endpoint as _};

use super::connection::Machine;
use super::tcp::ConnectionParameters;
use super::{ModelHost, Work, text};
use crate::host::Outbox;
use crate::run::Program;

pub(super) struct Flows {
    config: Arc<Config>,
    /// Start of each flow and its place in the list, sorted by time.
    starts: Vec<(Nanos, usize)>,
    started: usize,
    /// Indexed by place of the flow: the slot of its connection.
    slots: BTreeMap<usize, usize>,
    /// Number of connections opened ahead, and number of those that are not established yet.
    opened: usize,
    opening: usize,
    outcomes: Vec<Outcome>,
}

impl Flows {
    pub(super) fn new(flows: &[TcpFlow], config: Arc<Config>) -> Flows {
        let start = |flow: &TcpFlow| (flow.start_s * 1e9).round() as Nanos;
        let mut starts: Vec<_> = flows
            .iter()
            .enumerate()
            .map(|(place, flow)| (start(flow), place))
            .collect();
        starts.sort_unstable();
        Flows {
            config,
            starts,
            started: 0,
            slots: BTreeMap::new(),
            opened: 0,
            opening: 0,
            outcomes: Vec::new(),
        }
    }

    /// Start of the next flow, relative to the start of the run.
    pub(super) fn next_start(&self) -> Option<Nanos> {
        self.starts.get(self.started).map(|start| start.0)
    }

    /// Whether there are no flows.
    pub(super) fn are_none(&self) -> bool {
        self.starts.is_empty()
    }
}

impl ModelHost {
    /// A flow of a run, and whether the run opens connections ahead.
    fn flow(&self, run: usize, place: usize) -> Option<(TcpFlow, bool)> {
        match &self.runs[run].run.program {
            Program::TcpSend { flows, open_ahead, .. } => Some((flows.get(place)?.clone(), *open_ahead)),
            _ => None,
        }
    }

    /// Opens the connection of a flow. `started` is the start of the flow if it starts at the same time.
    fn open_flow(&mut self, now: Nanos, run: usize, place: usize, started: Option<Nanos>, out: &mut Outbox) {
        let Some((flow, _)) = self.flow(run, place) else { return };
        let Work::Flows(work) = &self.runs[run].work else {
            return;
        };
        let config = work.config.clone();
        let head = started.map_or(Vec::new(), |at| tcp::header(&flow, at).to_vec());
        let opened = ConnectionParameters {
            owner: (run, place),
            from: flow.src.unwrap_or(self.net.addresses[0]),
            to: (flow.dst, flow.port),
            tos: flow.tos,
            bytes: flow.size_bytes.saturating_add(tcp::HEADER_BYTES as u64),
            head,
            held: started.is_none(),
        };
        let slot = self.open(now, opened, &config, out);
        if let Work::Flows(work) = &mut self.runs[run].work {
            work.slots.insert(place, slot);
        }
    }

    /// Opens connections ahead of their flows, a few at the same time.
    pub(super) fn open_ahead(&mut self, now: Nanos, run: usize, out: &mut Outbox) {
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

    /// Starts the flows that are due.
    pub(super) fn start_flows(&mut self, now: Nanos, run: usize, out: &mut Outbox) {
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

    /// Starts a flow on a connection that was opened ahead. If it is not established, the flow starts when it is.
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

    pub(super) fn flow_progressed(&mut self, now: Nanos, run: usize, flow: usize, slot: usize, out: &mut Outbox) {
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

    /// Handles a connection of a flow that the other end has reset: the reason, and whether it was established.
    pub(super) fn flow_broken(
        &mut self,
        now: Nanos,
        run: usize,
        flow: usize,
        (why, established): (&str, bool),
        out: &mut Outbox,
    ) {
        let Work::Flows(work) = &mut self.runs[run].work else {
            return;
        };
        work.slots.remove(&flow);
        if !established {
            work.opening = work.opening.saturating_sub(1);
        }
        self.flow_ended(now, run, flow, Err((why.into(), !established)));
        self.open_ahead(now, run, out);
    }

    /// Records the result of a flow: the number of segments sent again, or why it failed and whether it had no
    /// connection. The run ends with its last flow.
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

    /// Gives up unfinished flows and ends the run.
    pub(super) fn end_flows(&mut self, now: Nanos, run: usize) {
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

    pub(super) fn report_flows(&mut self, now: Nanos, run: usize) {
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
