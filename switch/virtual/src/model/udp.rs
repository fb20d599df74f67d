//! The UDP of a host: ranked flows of p4sched-traffic, and probes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::Ipv4Addr;

use p4sched_dataplane::Nanos;
use p4sched_traffic_generator::flow::{FLOW_HEADER_BYTES, UDP_FRAME_OVERHEAD, UdpFlow};
use p4sched_traffic_generator::udp::log::{self, Datagram};
use p4sched_traffic_generator::udp::schedule::Schedule;
use p4sched_traffic_generator::udp::{Received, Sent};

use super::connection::SocketPair;
use super::{ModelHost, Work, wire};
use crate::host::Outbox;
use crate::run::Program;

/// Payload of a probe in bytes (p4sched.lab.probe).
const PROBE_BYTES: usize = 64;
const SECOND: f64 = 1e9;

/// A probe packet: sequence number, time of sending in s, time of arrival in s.
pub(super) type Probe = (u64, f64, f64);

/// Due time of packet number `sent` of a probe, relative to its start.
pub(super) fn probe_due(sent: u64, packets_per_s: f64) -> Nanos {
    (sent as f64 / packets_per_s * SECOND).round() as Nanos
}

/// Due times of flows, earliest first, then in the order of the flows.
type Due = BinaryHeap<Reverse<(Nanos, usize)>>;

struct Sender {
    flow: UdpFlow,
    schedule: Schedule,
    port: u16,
    sent: u64,
}

/// Ranked flows that are being sent.
pub(super) struct UdpSending {
    senders: Vec<Sender>,
    due: Due,
    log: Option<Vec<Datagram>>,
}

impl UdpSending {
    /// Starts these flows, which must have been checked. `port` returns a new source port for each.
    pub(super) fn new(flows: &[UdpFlow], seed: u64, log: bool, mut port: impl FnMut() -> u16) -> UdpSending {
        let sender = |flow: &UdpFlow| {
            Some(Sender {
                schedule: Schedule::new(flow, seed).ok()?,
                flow: flow.clone(),
                port: port(),
                sent: 0,
            })
        };
        let senders: Vec<_> = flows.iter().filter_map(sender).collect();
        let due = |(place, sender): (usize, &Sender)| Reverse((sender.schedule.next_ns() as Nanos, place));
        UdpSending {
            due: senders.iter().enumerate().map(due).collect(),
            senders,
            log: log.then(Vec::new),
        }
    }

    /// Due time of the next datagram, relative to the start of the run. Without one it is now, so that the run ends.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        Some(self.due.peek().map_or(0, |due| due.0.0))
    }

    pub(super) fn reports(&self) -> Vec<Sent> {
        let report = |sender: &Sender| {
            let frame_bytes = sender.sent * u64::from(sender.flow.frame_bytes);
            Sent {
                flow: sender.flow.flow,
                packets: sender.sent,
                frame_bytes,
                refused: 0,
                rate_bps: frame_bytes as f64 * 8.0 / (sender.flow.stop_s - sender.flow.start_s),
                late_max_ns: 0,
            }
        };
        self.senders.iter().map(report).collect()
    }

    pub(super) fn log_text(&self) -> String {
        self.log.as_deref().map(log::text).unwrap_or_default()
    }
}

/// Ranked flows that are being received.
pub(super) struct UdpReceived {
    flows: BTreeMap<u32, Received>,
    log: Option<Vec<Datagram>>,
}

impl UdpReceived {
    pub(super) fn new(log: bool) -> UdpReceived {
        UdpReceived {
            flows: BTreeMap::new(),
            log: log.then(Vec::new),
        }
    }

    /// Records a datagram that arrived `elapsed` after the start of the run.
    fn take(&mut self, now: Nanos, elapsed: Nanos, interval: Nanos, datagram: &[u8]) {
        if datagram.len() < FLOW_HEADER_BYTES {
            return;
        }
        let long = |at: usize| u64::from_be_bytes(datagram[at..at + 8].try_into().expect("eight bytes"));
        let (rank, flow) = ((long(0) >> 32) as u32, long(0) as u32);
        let (sequence, sent_ns) = (long(8), long(16));
        if let Some(log) = &mut self.log {
            log.push(Datagram {
                flow,
                sequence,
                rank,
                sent_ns,
                received_ns: Some(now),
            });
        }
        let frame_bytes = datagram.len() as u64 + u64::from(UDP_FRAME_OVERHEAD);
        let seen = self.flows.entry(flow).or_insert_with(|| Received::of(flow));
        seen.note(
            sequence,
            now.saturating_sub(sent_ns),
            frame_bytes,
            (elapsed / interval) as usize,
        );
    }

    pub(super) fn reports(&self) -> Vec<&Received> {
        self.flows.values().collect()
    }

    pub(super) fn log_text(&self) -> String {
        self.log.as_deref().map(log::text).unwrap_or_default()
    }
}

impl ModelHost {
    /// Sends the datagrams of a run that are due. Ends the run after the last one.
    pub(super) fn send_udp(&mut self, now: Nanos, run: usize, out: &mut Outbox) {
        let begun = self.runs[run].run.start;
        let Work::UdpSend(work) = &mut self.runs[run].work else {
            return;
        };
        while let Some(&Reverse((at, place))) = work.due.peek().filter(|due| begun + due.0.0 <= now) {
            work.due.pop();
            debug_assert!(begun + at <= now);
            let sender = &mut work.senders[place];
            let rank = sender.schedule.next_rank();
            let mut head = [0; FLOW_HEADER_BYTES];
            head[..4].copy_from_slice(&rank.to_be_bytes());
            head[4..8].copy_from_slice(&sender.flow.flow.to_be_bytes());
            head[8..16].copy_from_slice(&sender.sent.to_be_bytes());
            head[16..24].copy_from_slice(&now.to_be_bytes());
            if let Some(log) = &mut work.log {
                log.push(Datagram {
                    flow: sender.flow.flow,
                    sequence: sender.sent,
                    rank,
                    sent_ns: now,
                    received_ns: None,
                });
            }
            let path = self.net.path(SocketPair {
                local: (sender.flow.src.unwrap_or(self.net.addresses[0]), sender.port),
                remote: (sender.flow.dst, sender.flow.port),
            });
            let length = (sender.flow.frame_bytes - UDP_FRAME_OVERHEAD) as usize;
            let identification = sender.sent as u16;
            out.send(|frame| wire::write_udp(frame, &path, 0, identification, &head, length));
            self.net.counters.frames_sent += 1;
            sender.sent += 1;
            sender.schedule.advance();
            if sender.schedule.has_next_packet() {
                work.due.push(Reverse((sender.schedule.next_ns() as Nanos, place)));
            }
        }
        if work.due.is_empty() {
            self.stop_run(now, run);
        }
    }

    /// Sends the packets of a probe that are due.
    pub(super) fn send_probes(&mut self, now: Nanos, run: usize, out: &mut Outbox) {
        let running = &mut self.runs[run];
        let Program::ProbeSend {
            source,
            destination,
            port,
            packets_per_s,
        } = running.run.program
        else {
            return;
        };
        let begun = running.run.start;
        let Work::ProbeSend(sent) = &mut running.work else {
            return;
        };
        while begun + probe_due(*sent, packets_per_s) <= now {
            let mut head = [0; 16];
            head[..8].copy_from_slice(&sent.to_be_bytes());
            head[8..].copy_from_slice(&(now as f64 / SECOND).to_be_bytes());
            let path = self.net.path(SocketPair {
                local: (source, port),
                remote: (destination, port),
            });
            let identification = *sent as u16;
            out.send(|frame| wire::write_udp(frame, &path, 0, identification, &head, PROBE_BYTES));
            self.net.counters.frames_sent += 1;
            *sent += 1;
        }
    }

    /// Takes a datagram. Returns whether a run receives it.
    pub(super) fn receive_udp(&mut self, now: Nanos, to: (Ipv4Addr, u16), payload: &[u8]) -> bool {
        let mut taken = false;
        for running in &mut self.runs {
            let elapsed = now.saturating_sub(running.run.start);
            match (&running.run.program, &mut running.work) {
                (
                    Program::UdpReceive {
                        address,
                        ports,
                        interval,
                        ..
                    },
                    Work::UdpReceive(work),
                ) if *address == to.0 && ports.contains(&to.1) => {
                    work.take(now, elapsed, *interval, payload);
                    taken = true;
                }
                (Program::ProbeReceive { port }, Work::ProbeReceive(arrivals)) if *port == to.1 => {
                    let long = |at: usize| payload.get(at..at + 8)?.try_into().ok();
                    if let (Some(sequence), Some(sent)) = (long(0), long(8)) {
                        arrivals.push((
                            u64::from_be_bytes(sequence),
                            f64::from_be_bytes(sent),
                            now as f64 / SECOND,
                        ));
                    }
                    taken = true;
                }
                _ => {}
            }
        }
        taken
    }
}
