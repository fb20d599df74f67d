//! UDP flows of ranked packets. They are sent on a schedule of absolute times, so the rate is exact even if a packet is
//! late. The receiver counts them.

pub mod log;
pub mod schedule;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use socket2::{Domain, Protocol, Socket, Type};

use crate::clock::monotonic_ns;
use crate::error::{TrafficError, socket};
use crate::flow::{FLOW_HEADER_BYTES, UDP_FRAME_OVERHEAD, UdpFlow, distinct};
use log::Datagram;
use schedule::Schedule;

/// The sender's counters for one flow.
#[derive(Clone, Debug, Serialize)]
pub struct Sent {
    pub flow: u32,
    /// Number of datagrams handed to the kernel.
    pub packets: u64,
    /// Bytes of Ethernet frames.
    pub frame_bytes: u64,
    /// Number of datagrams that the kernel refused.
    pub refused: u64,
    /// Achieved rate, in bit/s of Ethernet frames. The time is the duration of the flow, or the time that sending took
    /// if that was longer.
    pub rate_bps: f64,
    /// Largest delay of a datagram, in ns.
    pub late_max_ns: u64,
}

struct Sender<'a> {
    flow: &'a UdpFlow,
    socket: UdpSocket,
    schedule: Schedule,
    payload: Vec<u8>,
    sent: u64,
    refused: u64,
    late_max_ns: u64,
    /// Time after the last packet, in ns from the start of the run.
    ended_ns: u64,
    log: Option<Vec<Datagram>>,
}

impl Sender<'_> {
    fn open(flow: &UdpFlow, seed: u64, logged: bool) -> Result<Sender<'_>, TrafficError> {
        flow.check()?;
        let from = SocketAddrV4::new(flow.src.unwrap_or(Ipv4Addr::UNSPECIFIED), 0);
        let udp = UdpSocket::bind(from).map_err(socket(format!("flow {}: cannot send from {from}", flow.flow)))?;
        let to = SocketAddrV4::new(flow.dst, flow.port);
        udp.connect(to)
            .map_err(socket(format!("flow {}: cannot send to {to}", flow.flow)))?;
        udp.set_nonblocking(true)
            .map_err(socket("cannot make a socket non-blocking"))?;
        Ok(Sender {
            flow,
            socket: udp,
            schedule: Schedule::new(flow, seed)?,
            payload: vec![0; (flow.frame_bytes - UDP_FRAME_OVERHEAD) as usize],
            sent: 0,
            refused: 0,
            late_max_ns: 0,
            ended_ns: 0,
            log: logged.then(Vec::new),
        })
    }

    fn send(&mut self) {
        let rank = self.schedule.next_rank();
        let now_ns = monotonic_ns();
        self.payload[..4].copy_from_slice(&rank.to_be_bytes());
        self.payload[4..8].copy_from_slice(&self.flow.flow.to_be_bytes());
        self.payload[8..16].copy_from_slice(&self.sent.to_be_bytes());
        self.payload[16..24].copy_from_slice(&now_ns.to_be_bytes());
        match self.socket.send(&self.payload) {
            Ok(_) => {
                if let Some(log) = &mut self.log {
                    log.push(Datagram {
                        flow: self.flow.flow,
                        sequence: self.sent,
                        rank,
                        sent_ns: now_ns,
                        received_ns: None,
                    });
                }
                self.sent += 1;
            }
            // The socket buffer was full, or an earlier datagram caused an ICMP error. This one is lost, and the
            // schedule continues.
            Err(_) => self.refused += 1,
        }
        self.schedule.advance();
    }

    fn report(&self) -> Sent {
        let frame_bytes = self.sent * u64::from(self.flow.frame_bytes);
        let stop_s = self.flow.stop_s.max(self.ended_ns as f64 / 1e9);
        Sent {
            flow: self.flow.flow,
            packets: self.sent,
            frame_bytes,
            refused: self.refused,
            rate_bps: frame_bytes as f64 * 8.0 / (stop_s - self.flow.start_s),
            late_max_ns: self.late_max_ns,
        }
    }
}

/// Sends all flows, starting at once. Returns when the last one has ended. If there is a log file, every datagram is
/// written there.
///
/// # Errors
/// If a flow is invalid or its socket cannot be opened (then nothing was sent), or if the log cannot be written.
pub fn send(flows: &[UdpFlow], seed: u64, log: Option<&Path>) -> Result<Vec<Sent>, TrafficError> {
    distinct(flows.iter().map(|flow| flow.flow))?;
    let mut senders = flows
        .iter()
        .map(|flow| Sender::open(flow, seed, log.is_some()))
        .collect::<Result<Vec<_>, _>>()?;
    let mut due: BinaryHeap<Reverse<(u64, usize)>> = senders
        .iter()
        .enumerate()
        .map(|(index, sender)| Reverse((sender.schedule.next_ns() as u64, index)))
        .collect();
    let start = Instant::now();
    while let Some(Reverse((at_ns, index))) = due.pop() {
        let at = start + Duration::from_nanos(at_ns);
        let wait = at.saturating_duration_since(Instant::now());
        // A sleep shorter than the timer's slack takes longer than requested, so packets that are due soon are sent
        // together.
        if wait > Duration::from_micros(20) {
            std::thread::sleep(wait);
        }
        let sender = &mut senders[index];
        sender.send();
        sender.ended_ns = start.elapsed().as_nanos() as u64;
        sender.late_max_ns = sender.late_max_ns.max(sender.ended_ns.saturating_sub(at_ns));
        if sender.schedule.has_next_packet() {
            due.push(Reverse((sender.schedule.next_ns() as u64, index)));
        }
    }
    if let Some(path) = log {
        let mut all: Vec<Datagram> = senders.iter_mut().filter_map(|s| s.log.take()).flatten().collect();
        all.sort_by_key(|datagram| datagram.sent_ns);
        log::write(path, &all)?;
    }
    Ok(senders.iter().map(Sender::report).collect())
}

/// The receiver's counters for one flow.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Received {
    pub flow: u32,
    /// Number of datagrams that arrived.
    pub packets: u64,
    /// Bytes of Ethernet frames.
    pub frame_bytes: u64,
    /// Number of missing datagrams below the highest sequence number.
    pub missing: u64,
    /// Number of datagrams that arrived after a later one.
    pub reordered: u64,
    /// Mean time from sender to receiver, in ns.
    pub delay_mean_ns: f64,
    /// Longest time from sender to receiver, in ns.
    pub delay_max_ns: u64,
    /// Frame bytes in each interval since the receiver started.
    pub interval_bytes: Vec<u64>,
    #[serde(skip)]
    next_sequence: u64,
    #[serde(skip)]
    delay_sum_ns: u64,
}

impl Received {
    /// The counters of a flow before its first datagram.
    pub fn of(flow: u32) -> Received {
        Received {
            flow,
            ..Received::default()
        }
    }

    /// Counts a datagram that arrived in interval `interval`, `delay_ns` after it was sent.
    pub fn note(&mut self, sequence: u64, delay_ns: u64, frame_bytes: u64, interval: usize) {
        self.packets += 1;
        self.frame_bytes += frame_bytes;
        if sequence < self.next_sequence {
            self.reordered += 1;
        } else {
            self.next_sequence = sequence + 1;
        }
        self.missing = self.next_sequence.saturating_sub(self.packets);
        self.delay_sum_ns += delay_ns;
        self.delay_max_ns = self.delay_max_ns.max(delay_ns);
        self.delay_mean_ns = self.delay_sum_ns as f64 / self.packets as f64;
        if self.interval_bytes.len() <= interval {
            self.interval_bytes.resize(interval + 1, 0);
        }
        self.interval_bytes[interval] += frame_bytes;
    }
}

/// Receives ranked datagrams on these ports for the given time. If there is a log file, every datagram is written
/// there, in order of arrival.
///
/// # Errors
/// If a port cannot be bound or the log cannot be written.
pub fn receive(
    address: Ipv4Addr,
    ports: &[u16],
    duration: Duration,
    interval: Duration,
    log: Option<&Path>,
) -> Result<Vec<Received>, TrafficError> {
    let sockets = ports
        .iter()
        .map(|&port| bind(address, port))
        .collect::<Result<Vec<_>, _>>()?;
    let start = Instant::now();
    let logged = log.is_some();
    let threads: Vec<_> = sockets
        .into_iter()
        .map(|udp| std::thread::spawn(move || collect(&udp, start, duration, interval, logged)))
        .collect();
    let mut flows = BTreeMap::new();
    let mut all = Vec::new();
    for thread in threads {
        let (seen, datagrams) = thread.join().expect("a receiving thread does not panic");
        flows.extend(seen);
        all.extend(datagrams);
    }
    if let Some(path) = log {
        all.sort_by_key(|datagram| datagram.received_ns);
        log::write(path, &all)?;
    }
    Ok(flows.into_values().collect())
}

fn bind(address: Ipv4Addr, port: u16) -> Result<UdpSocket, TrafficError> {
    let at = SocketAddrV4::new(address, port);
    let open = || -> std::io::Result<UdpSocket> {
        let raw = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        // The buffer is as large as the system allows, so that no burst is lost here.
        raw.set_recv_buffer_size(4 << 20)?;
        raw.bind(&at.into())?;
        raw.set_read_timeout(Some(Duration::from_millis(50)))?;
        Ok(raw.into())
    };
    open().map_err(socket(format!("cannot receive at {at}")))
}

fn collect(
    udp: &UdpSocket,
    start: Instant,
    duration: Duration,
    interval: Duration,
    logged: bool,
) -> (BTreeMap<u32, Received>, Vec<Datagram>) {
    let mut flows: BTreeMap<u32, Received> = BTreeMap::new();
    let mut log = Vec::new();
    let mut datagram = [0; 2048];
    while start.elapsed() < duration {
        let Ok(length) = udp.recv(&mut datagram) else { continue };
        if length < FLOW_HEADER_BYTES {
            continue;
        }
        let field = |at: usize| u64::from_be_bytes(datagram[at..at + 8].try_into().expect("eight bytes"));
        let flow = u32::from_be_bytes(datagram[4..8].try_into().expect("four bytes"));
        let (sent_ns, received_ns) = (field(16), monotonic_ns());
        if logged {
            log.push(Datagram {
                flow,
                sequence: field(8),
                rank: u32::from_be_bytes(datagram[..4].try_into().expect("four bytes")),
                sent_ns,
                received_ns: Some(received_ns),
            });
        }
        let bin = (start.elapsed().as_nanos() / interval.as_nanos().max(1)) as usize;
        let frame_bytes = length as u64 + u64::from(UDP_FRAME_OVERHEAD);
        let seen = flows.entry(flow).or_insert_with(|| Received::of(flow));
        seen.note(field(8), received_ns.saturating_sub(sent_ns), frame_bytes, bin);
    }
    (flows, log)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::Arrivals;
    use crate::rank::Ranks;

    #[test]
    fn what_is_sent_over_loopback_is_received_in_order_and_in_number() {
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let flow = UdpFlow {
            flow: 7,
            src: None,
            dst: Ipv4Addr::LOCALHOST,
            port,
            rate_bps: 8_000_000,
            frame_bytes: 1000,
            ranks: Ranks::Drawn {
                distribution: "uniform".into(),
                below: 100,
            },
            arrivals: Arrivals::Constant,
            start_s: 0.1,
            stop_s: 0.6,
        };
        let folder = tempfile::tempdir().unwrap();
        let (sent_log, received_log) = (folder.path().join("sent.csv"), folder.path().join("received.csv"));
        let received_log_path = received_log.clone();
        let receiver = std::thread::spawn(move || {
            receive(
                Ipv4Addr::LOCALHOST,
                &[port],
                Duration::from_millis(1500),
                Duration::from_secs(1),
                Some(&received_log),
            )
            .unwrap()
        });
        let sent = send(std::slice::from_ref(&flow), 1, Some(&sent_log)).unwrap();
        let received = receiver.join().unwrap();
        let lines = |path| {
            std::fs::read_to_string(path)
                .unwrap()
                .lines()
                .map(String::from)
                .collect::<Vec<_>>()
        };
        let (sent_lines, received_lines) = (lines(&sent_log), lines(&received_log_path));
        assert_eq!((sent_lines.len(), received_lines.len()), (501, 501));
        assert!(
            received_lines[500].starts_with(&sent_lines[500]),
            "{}",
            received_lines[500]
        );
        // 8 Mbit/s of 8000-bit frames for half a second.
        assert_eq!((sent[0].packets, sent[0].refused), (500, 0));
        assert_eq!(
            (received[0].packets, received[0].missing, received[0].reordered),
            (500, 0, 0)
        );
        assert_eq!(received[0].interval_bytes.iter().sum::<u64>(), 500_000);
    }

    #[test]
    fn loss_and_reordering_are_told_apart() {
        let mut seen = Received::default();
        for sequence in [0, 1, 3, 2, 6] {
            seen.note(sequence, 10, 100, 0);
        }
        assert_eq!((seen.packets, seen.missing, seen.reordered), (5, 2, 1));
    }
}
