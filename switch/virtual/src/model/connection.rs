//! One end of a TCP connection: a state machine of p4sched-transport, whose segments become headers with 32-bit
//! numbers.
//!
//! The machine counts the bytes of a flow from 0; on the wire, the first byte follows the SYN. The machine's clock is
//! in nanoseconds. The timestamp option is in microseconds, as Linux supports (TCP_TIMESTAMP), so that an echo
//! identifies the transmission.

use std::net::Ipv4Addr;

use p4sched_dataplane::Nanos;
use p4sched_traffic_generator::flow::Tos;
use p4sched_traffic_generator::tcp::HEADER_BYTES;
use p4sched_transport::{Ecn, Endpoint as _, Kind, Receiver, Segment, Sender, Statistics};

use super::wire::{TcpHeader, flags};

/// MSS in a SYN at an MTU of 1500 bytes. It does not subtract options.
const ANNOUNCED_MSS: u16 = 1460;
/// Window scale: units of 2^7 bytes, which are enough for the 6 MB of a receive window.
const WINDOW_SCALE: u8 = 7;
/// Window in a SYN and a SYN-ACK, which is not scaled. Same value as in Linux.
const FIRST_WINDOW: u16 = 64240;
/// Default number of segments before the first acknowledgement (RFC 6928).
const USUAL_INITIAL_WINDOW: u32 = 10;
/// ECN bits of the TOS byte (RFC 3168 Section 5).
const ECN_BITS: u8 = 3;
const ECT_0: u8 = 2;
const CE: u8 = 3;

/// Address and port of both ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketPair {
    /// This end.
    pub local: (Ipv4Addr, u16),
    /// The other end.
    pub remote: (Ipv4Addr, u16),
}

/// The state machine of this end.
pub enum Machine {
    /// The sender of the flow.
    Sender(Sender),
    /// The receiver of the flow.
    Receiver(Receiver),
}

/// A segment that can be written into a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    pub header: TcpHeader,
    /// TOS byte, including the ECN bits.
    pub tos: u8,
    /// Identification field of IPv4.
    pub identification: u16,
    /// First byte of its payload in the flow, and length of the payload.
    pub payload: (u64, usize),
}

/// The first bytes of a flow of p4sched-traffic that have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Greeting {
    bytes: [u8; HEADER_BYTES],
    /// One bit for each byte that has arrived.
    there: u32,
    /// Whether the end of the flow was reported.
    pub reported: bool,
}

impl Greeting {
    fn take(&mut self, seq: u64, payload: &[u8]) {
        for (place, &byte) in (seq..)
            .zip(payload)
            .take_while(|(place, _)| *place < HEADER_BYTES as u64)
        {
            self.bytes[place as usize] = byte;
            self.there |= 1 << place;
        }
    }

    /// The flow's number, size in bytes and start, once all of these bytes have arrived.
    pub fn read(&self) -> Option<(u32, u64, Nanos)> {
        let number = |at: usize| u64::from_be_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"));
        let flow = u32::from_be_bytes(self.bytes[..4].try_into().expect("four bytes"));
        (self.there == (1 << HEADER_BYTES) - 1).then(|| (flow, number(4), number(12)))
    }
}

/// One end of a connection.
pub struct Connection {
    /// Addresses and ports of both ends.
    pub ends: SocketPair,
    /// The number of its run, and its number in the run.
    pub owner: (usize, usize),
    pub machine: Machine,
    /// End of the handshake.
    pub established: Option<Nanos>,
    /// At a sender: bytes that the receiver has acknowledged. At a receiver: bytes that the application has.
    pub progress: u64,
    /// Size of the flow in bytes, for the rank of the remaining bytes.
    pub bytes: u64,
    /// Statistics that are already included in the counters of the host.
    pub counted: Statistics,
    /// Number of SYN or SYN-ACK segments sent.
    pub openings: u64,
    /// Whether the connection was opened ahead and must not send data yet.
    pub held: bool,
    /// Whether the run knows that the handshake has ended.
    announced: bool,
    /// The receive window, which a held sender does not get yet.
    window: u64,
    /// Planned time of the machine's timer.
    pub planned: Option<Nanos>,
    /// The first bytes of the flow. All later bytes are zeros.
    pub head: Vec<u8>,
    /// The first bytes of the flow that have arrived, if they are needed.
    pub greeting: Option<Greeting>,
    initial: u32,
    remote_initial: Option<u32>,
    tos: Tos,
    /// The end of the highest byte that was sent.
    pub highest: u64,
    identification: u16,
    /// The other end's timestamp, without wrapping around.
    remote_clock: u64,
    remote_scale: u8,
    ecn: bool,
}

impl Connection {
    /// One end of a new connection. `initial` is its initial sequence number.
    pub fn new(
        ends: SocketPair,
        owner: (usize, usize),
        machine: Machine,
        initial: u32,
        tos: Tos,
        bytes: u64,
        ecn: bool,
    ) -> Self {
        Connection {
            ends,
            owner,
            machine,
            established: None,
            progress: 0,
            bytes,
            counted: Statistics::default(),
            openings: 0,
            held: false,
            announced: false,
            window: 0,
            planned: None,
            head: Vec::new(),
            greeting: None,
            initial,
            remote_initial: None,
            tos,
            highest: 0,
            identification: initial as u16,
            remote_clock: 0,
            remote_scale: 0,
            ecn,
        }
    }

    /// Whether the handshake has ended since the last call.
    pub fn is_new(&mut self) -> bool {
        self.established.is_some() && !std::mem::replace(&mut self.announced, true)
    }

    /// Time at which the machine wants to be woken.
    pub fn next_timer(&self) -> Option<Nanos> {
        match &self.machine {
            Machine::Sender(sender) => sender.next_timer(),
            Machine::Receiver(receiver) => receiver.next_timer(),
        }
    }

    pub fn start(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        match &mut self.machine {
            Machine::Sender(sender) => sender.start(now, out),
            Machine::Receiver(receiver) => receiver.start(now, out),
        }
    }

    /// Does the work that is due at the machine's timer.
    pub fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        match &mut self.machine {
            Machine::Sender(sender) => sender.timer(now, out),
            Machine::Receiver(receiver) => receiver.timer(now, out),
        }
    }

    /// Lets a sender that was opened ahead send its data.
    ///
    /// After an idle time, Linux starts again with the initial window of the route. If the TOS byte of a connection
    /// changes, it loses its route until it sends again (`__ip_sock_set_tos`), so it starts with 10 segments.
    pub fn release(&mut self, now: Nanos, initial_window: u32, out: &mut Vec<Segment>) {
        self.held = false;
        if let (Machine::Sender(sender), Some(since)) = (&mut self.machine, self.established) {
            let forgets_route = self.tos.byte(self.bytes) != self.tos.of_handshake();
            let least = if forgets_route {
                USUAL_INITIAL_WINDOW
            } else {
                initial_window
            };
            sender.restart_after_idle(now, now - since, least);
            // The sender gets a window update.
            let update = Segment {
                kind: Kind::Ack,
                window: self.window,
                sent_at: now,
                echo: now,
                ..Segment::default()
            };
            sender.receive(now, &update, out);
        }
    }

    /// Takes a segment that has arrived. An invalid segment is ignored.
    pub fn receive(&mut self, now: Nanos, tos: u8, header: &TcpHeader, payload: &[u8], out: &mut Vec<Segment>) {
        let Some(segment) = self.segment(now, tos, header, payload.len()) else {
            return;
        };
        match &mut self.machine {
            Machine::Sender(sender) => {
                if segment.kind == Kind::SynAck {
                    self.established.get_or_insert(now);
                }
                self.progress = self.progress.max(segment.ack);
                sender.receive(now, &segment, out);
            }
            Machine::Receiver(receiver) => {
                if segment.kind != Kind::Syn {
                    self.established.get_or_insert(now);
                }
                if let Some(greeting) = self.greeting.as_mut().filter(|greeting| greeting.read().is_none()) {
                    greeting.take(segment.seq, payload);
                    if let Some((_, bytes, _)) = greeting.read() {
                        receiver.set_bytes(bytes.saturating_add(HEADER_BYTES as u64));
                    }
                }
                receiver.receive(now, &segment, out);
                self.progress = receiver.delivered();
            }
        }
    }

    /// The segment of a header; `None` if this end cannot use it.
    fn segment(&mut self, now: Nanos, tos: u8, header: &TcpHeader, length: usize) -> Option<Segment> {
        let is_syn = header.flags & flags::SYN != 0;
        let is_ack = header.flags & flags::ACK != 0;
        if is_syn {
            self.remote_initial = Some(header.seq);
            self.remote_scale = header.opening.map_or(0, |opening| opening.1);
        }
        let remote_initial = self.remote_initial?;
        let (value, echo) = header.timestamp.unwrap_or_default();
        self.remote_clock = if is_syn {
            // The clock starts far above 0, because an unwrapped number cannot be below 0.
            1 << 32 | u64::from(value)
        } else {
            unwrapped(self.remote_clock, value)
        };
        let scale = if is_syn { 0 } else { self.remote_scale };
        let mut segment = Segment {
            ecn: match tos & ECN_BITS {
                0 => Ecn::NotEct,
                CE => Ecn::Ce,
                _ => Ecn::Ect,
            },
            window: u64::from(header.window) << scale,
            ..Segment::default()
        };
        match &self.machine {
            Machine::Sender(_) => {
                segment.kind = if is_syn { Kind::SynAck } else { Kind::Ack };
                let in_flow = |number: u32| unwrapped(self.progress, number.wrapping_sub(self.initial.wrapping_add(1)));
                if !is_ack || (is_syn && in_flow(header.ack) != 0) {
                    return None;
                }
                segment.ack = in_flow(header.ack);
                // Data that was never sent cannot have arrived (RFC 9293 Section 3.10.7.4).
                if segment.ack > self.highest {
                    return None;
                }
                segment.ece = !is_syn && header.flags & flags::ECE != 0;
                for (block, (first, end)) in segment.sack.iter_mut().zip(header.sack) {
                    if (first, end) != (0, 0) {
                        *block = (in_flow(first), in_flow(end));
                    }
                }
                segment.echo = time_of(now, echo);
                if self.held && is_syn {
                    // The sender gets the window when it may send.
                    self.window = std::mem::take(&mut segment.window);
                }
            }
            Machine::Receiver(receiver) => {
                segment.kind = match (is_syn, length) {
                    (true, _) => Kind::Syn,
                    (false, 0) => Kind::Confirm,
                    (false, _) => Kind::Data,
                };
                let offset = header.seq.wrapping_sub(remote_initial.wrapping_add(1));
                segment.seq = unwrapped(receiver.delivered(), offset);
                segment.len = length as u32;
                segment.cwr = header.flags & flags::CWR != 0;
                segment.sent_at = self.remote_clock;
                // A confirmation on a connection that already has data is an empty acknowledgement.
                if segment.kind == Kind::Syn {
                    segment.seq = 0;
                }
            }
        }
        Some(segment)
    }

    /// The header and the TOS byte for a segment that this end sends at `now`.
    pub fn ready(&mut self, now: Nanos, segment: &Segment) -> Ready {
        let is_opening = matches!(segment.kind, Kind::Syn | Kind::SynAck);
        let start = self.initial.wrapping_add(u32::from(!is_opening));
        let their_start = self.remote_initial.unwrap_or_default().wrapping_add(1);
        let on_the_wire = |byte: u64| their_start.wrapping_add(byte as u32);
        let mut header = TcpHeader {
            seq: start,
            ack: self.remote_initial.map_or(0, |_| their_start),
            flags: if segment.kind == Kind::Syn {
                flags::SYN
            } else {
                flags::ACK
            },
            window: FIRST_WINDOW,
            timestamp: Some(((now / 1000) as u32, segment.echo as u32)),
            ..TcpHeader::default()
        };
        if is_opening {
            self.openings += 1;
            header.flags |= flags::SYN;
            header.opening = Some((ANNOUNCED_MSS, WINDOW_SCALE));
            if self.ecn {
                header.flags |= if segment.kind == Kind::Syn {
                    flags::ECE | flags::CWR
                } else {
                    flags::ECE
                };
            }
        }
        let mut tos = self.tos.of_handshake();
        match segment.kind {
            Kind::Syn | Kind::SynAck => {}
            Kind::Confirm => header.timestamp = Some(((now / 1000) as u32, self.remote_clock as u32)),
            Kind::Data => {
                header.seq = start.wrapping_add(segment.seq as u32);
                header.timestamp = Some(((now / 1000) as u32, self.remote_clock as u32));
                let end = segment.seq + u64::from(segment.len);
                // A retransmission has the current rank of its flow.
                let sent = if end > self.highest { segment.seq } else { self.highest };
                tos = self.tos.byte(self.bytes - sent.min(self.bytes));
                self.highest = self.highest.max(end);
                header.flags |= if end == self.bytes { flags::PSH } else { 0 };
                header.flags |= if segment.cwr { flags::CWR } else { 0 };
            }
            Kind::Ack => {
                header.ack = on_the_wire(segment.ack);
                header.window = u16::try_from(segment.window >> WINDOW_SCALE).unwrap_or(u16::MAX);
                header.flags |= if segment.ece { flags::ECE } else { 0 };
                for (block, (first, end)) in header.sack.iter_mut().zip(segment.sack) {
                    if (first, end) != (0, 0) {
                        *block = (on_the_wire(first), on_the_wire(end));
                    }
                }
            }
        }
        // A SYN of DCTCP has ECT too. It tells the other end how to echo marks (Linux, tcp_ca_needs_ecn).
        let capable = segment.ecn != Ecn::NotEct || (segment.kind == Kind::Syn && self.ecn);
        let identification = self.identification;
        self.identification = identification.wrapping_add(1);
        Ready {
            header,
            tos: tos | if capable { ECT_0 } else { 0 },
            identification,
            payload: (segment.seq, segment.len as usize),
        }
    }
}

/// The number nearest to `near` that has these low 32 bits, but at least 0.
fn unwrapped(near: u64, bits: u32) -> u64 {
    let ahead = bits.wrapping_sub(near as u32).cast_signed();
    near.saturating_add_signed(ahead.into())
}

/// The end of the microsecond of an echoed timestamp of this host, but not after `now`.
fn time_of(now: Nanos, echo: u32) -> Nanos {
    (unwrapped(now / 1000, echo) * 1000 + 999).min(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_where_32_bits_begin_again() {
        assert_eq!(unwrapped(0xffff_fff0, 0x10), 0x1_0000_0010);
        assert_eq!(unwrapped(0x1_0000_0010, 0xffff_fff0), 0xffff_fff0);
        assert_eq!(unwrapped(5, 0xffff_ffff), 0);
        let hours = 7_200_000_000_000;
        assert_eq!(
            time_of(hours, ((hours - 5_000_000) / 1000) as u32),
            hours - 5_000_000 + 999
        );
        assert_eq!(time_of(hours + 500, (hours / 1000) as u32), hours + 500);
    }
}
