//! The TCP of a host: its connections, its listeners, and its counters.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use p4sched_dataplane::Nanos;
use p4sched_traffic_generator::flow::Tos;
use p4sched_transport::{Config, Control, Receiver, Segment, Sender};

use super::connection::{Connection, Greeting, Machine, SocketPair};
use super::wire::{self, TcpHeader, flags};
use super::{ModelHost, Net};
use crate::host::{Outbox, TcpSettings};
use crate::run::Program;

/// Timer tick in ns. The kernels of Debian, and those of guests, have 250 ticks per second.
const TICK: Nanos = 4_000_000;

/// All connections of a host.
#[derive(Default)]
pub(super) struct Tcp {
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// No code iterates over it, so its order does not matter.
    by_socket_pair: HashMap<SocketPair, usize>,
    settings: TcpSettings,
    /// Number of connections so far.
    opened: u32,
    scratch: Vec<Segment>,
}

/// Parameters of a new connection.
pub(super) struct ConnectionParameters {
    /// The number of its run, and its number in the run.
    pub(super) owner: (usize, usize),
    pub(super) from: Ipv4Addr,
    pub(super) to: (Ipv4Addr, u16),
    pub(super) tos: Tos,
    /// Number of bytes that it sends.
    pub(super) bytes: u64,
    /// The first of these bytes. All later bytes are zeros.
    pub(super) head: Vec<u8>,
    /// Whether it waits after the handshake until its flow starts.
    pub(super) held: bool,
}

/// The congestion control of this name.
///
/// # Errors
/// Says in a sentence that there is none.
pub(super) fn control(name: &str) -> Result<Control, String> {
    match name {
        "cubic" => Ok(Control::Cubic),
        "reno" => Ok(Control::NewReno),
        "dctcp" => Ok(Control::Dctcp),
        "bbr" => Ok(Control::Bbr),
        _ => Err(format!(
            "congestion control '{name}': a model host has cubic, reno, dctcp and bbr; --hosts kernel has those of its kernel"
        )),
    }
}

impl Tcp {
    pub(super) fn set(&mut self, settings: TcpSettings) {
        self.settings.rto_min = settings.rto_min.or(self.settings.rto_min);
        self.settings.initial_window = settings.initial_window.or(self.settings.initial_window);
    }

    pub(super) fn get(&self, slot: usize) -> Option<&Connection> {
        self.slots.get(slot)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut Connection> {
        self.slots.get_mut(slot)?.as_mut()
    }

    pub(super) fn take_scratch(&mut self) -> Vec<Segment> {
        std::mem::take(&mut self.scratch)
    }

    /// Configuration of connections with this congestion control.
    pub(super) fn config(&self, control: Control) -> Arc<Config> {
        let usual = Config::kernel(control);
        Arc::new(Config {
            min_rto: self.settings.rto_min.unwrap_or(usual.min_rto).min(usual.max_rto),
            initial_window: self.settings.initial_window.unwrap_or(usual.initial_window),
            tick: TICK,
            offload: true,
            ..usual
        })
    }

    /// Configuration for the name of a congestion control. The name must have been checked.
    pub(super) fn named_config(&self, name: &str) -> Arc<Config> {
        self.config(control(name).unwrap_or(Control::Cubic))
    }

    /// Adds one end of a connection. `ecn` is whether it uses ECN.
    pub(super) fn add(
        &mut self,
        ends: SocketPair,
        owner: (usize, usize),
        machine: Machine,
        tos: Tos,
        bytes: u64,
        ecn: bool,
    ) -> usize {
        self.opened = self.opened.wrapping_add(1);
        // Initial numbers differ between connections, as in Linux (RFC 6528), but without a secret.
        let initial = self.opened.wrapping_mul(0x9e37_79b9) ^ u32::from(ends.local.1) << 16 ^ ends.local.0.to_bits();
        let connection = Connection::new(ends, owner, machine, initial, tos, bytes, ecn);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(connection);
        self.by_socket_pair.insert(ends, slot);
        slot
    }

    /// Removes a connection. Segments that still arrive for it are ignored.
    pub(super) fn drop_connection(&mut self, slot: usize) -> Option<Connection> {
        let connection = self.slots.get_mut(slot)?.take()?;
        self.by_socket_pair.remove(&connection.ends);
        self.free.push(slot);
        Some(connection)
    }

    /// The slots of all connections of a run, in ascending order.
    pub(super) fn of_run(&self, run: usize) -> Vec<usize> {
        let of_run = |slot: &Option<Connection>| slot.as_ref().is_some_and(|connection| connection.owner.0 == run);
        let slots = self.slots.iter().enumerate();
        slots.filter(|(_, slot)| of_run(slot)).map(|(place, _)| place).collect()
    }
}

impl Net {
    fn send(&mut self, ends: SocketPair, ready: &super::connection::Ready, head: &[u8], out: &mut Outbox) {
        self.counters.segments_sent += 1;
        self.counters.frames_sent += 1;
        let path = self.path(ends);
        let (start, length) = ready.payload;
        let head = usize::try_from(start)
            .ok()
            .and_then(|start| head.get(start..))
            .unwrap_or_default();
        let head = &head[..head.len().min(length)];
        out.send(|frame| {
            wire::write_tcp(
                frame,
                &path,
                ready.tos,
                ready.identification,
                &ready.header,
                head,
                length,
            );
        });
    }
}

impl ModelHost {
    /// Opens a connection. Returns its slot.
    pub(super) fn open(
        &mut self,
        now: Nanos,
        opened: ConnectionParameters,
        config: &Arc<Config>,
        out: &mut Outbox,
    ) -> usize {
        let ConnectionParameters {
            owner,
            from,
            to,
            tos,
            bytes,
            head,
            held,
        } = opened;
        let ends = SocketPair {
            local: (from, self.net.port()),
            remote: to,
        };
        let sender = Machine::Sender(Sender::new(0, bytes, config.clone()));
        let slot = self.tcp.add(ends, owner, sender, tos, bytes, config.ecn);
        let mut segments = self.tcp.take_scratch();
        if let Some(connection) = self.tcp.get_mut(slot) {
            (connection.head, connection.held) = (head, held);
            connection.start(now, &mut segments);
        }
        self.emit(now, slot, segments, out);
        self.plan_connection(slot);
        slot
    }

    /// Sends the segments of a connection and updates the counters. The list is kept for the next segments.
    pub(super) fn emit(&mut self, now: Nanos, slot: usize, mut segments: Vec<Segment>, out: &mut Outbox) {
        let Some(connection) = self.tcp.slots.get_mut(slot).and_then(Option::as_mut) else {
            return;
        };
        let openings = connection.openings;
        for segment in segments.drain(..) {
            let ready = connection.ready(now, &segment);
            self.net.send(connection.ends, &ready, &connection.head, out);
        }
        let counters = &mut self.net.counters;
        let again = connection.openings.saturating_sub(openings.max(1));
        counters.syn_retransmissions += again;
        counters.segments_retransmitted += again;
        if let Machine::Sender(sender) = &connection.machine {
            let (after, before) = (sender.statistics(), connection.counted);
            counters.segments_retransmitted += after.retransmitted - before.retransmitted;
            counters.timeouts += after.timeouts - before.timeouts;
            counters.reorderings_sack += after.reorderings - before.reorderings;
            counters.spurious_recoveries += after.undone - before.undone;
            connection.counted = after;
        }
        self.tcp.scratch = segments;
    }

    /// Handles a TCP segment that has arrived.
    pub(super) fn receive_tcp(
        &mut self,
        now: Nanos,
        ends: SocketPair,
        tos: u8,
        header: &TcpHeader,
        payload: &[u8],
        out: &mut Outbox,
    ) {
        let mut slot = self.tcp.by_socket_pair.get(&ends).copied();
        let opens = header.flags & (flags::SYN | flags::ACK | flags::RST) == flags::SYN;
        if slot.is_none() && opens {
            slot = self.accept(ends, tos, header);
        }
        let Some(slot) = slot else {
            self.net.counters.frames_unknown += 1;
            // Acknowledgements for removed connections need no answer.
            if header.flags & flags::RST == 0 && (opens || !payload.is_empty()) {
                self.refuse(ends, header, payload.len(), out);
            }
            return;
        };
        if header.flags & flags::RST != 0 {
            return self.broken(now, slot, out);
        }
        let mut segments = self.tcp.take_scratch();
        if let Some(connection) = self.tcp.get_mut(slot) {
            connection.receive(now, tos, header, payload, &mut segments);
        }
        self.emit(now, slot, segments, out);
        self.plan_connection(slot);
        self.progressed(now, slot, out);
    }

    /// Creates the end of a connection that a peer opens, if a run listens on its port. Returns its slot.
    fn accept(&mut self, ends: SocketPair, tos: u8, header: &TcpHeader) -> Option<usize> {
        let listens = |program: &Program| match program {
            Program::BulkReceive { port } => *port == ends.local.1,
            Program::TcpServe { address, port, .. } => (*address, *port) == ends.local,
            _ => false,
        };
        let mut running = self.runs.iter().enumerate();
        let (run, running) = running.find(|(_, running)| running.is_running() && listens(&running.run.program))?;
        let wants_greeting = matches!(running.run.program, Program::TcpServe { .. });
        let ecn = header.flags & (flags::ECE | flags::CWR) == flags::ECE | flags::CWR;
        // Only DCTCP sends a SYN that is ECN-capable.
        let control = if ecn && tos & 3 != 0 {
            Control::Dctcp
        } else {
            Control::Cubic
        };
        let config = self.tcp.config(control);
        let receiver = Machine::Receiver(Receiver::new(0, u64::MAX, config));
        let slot = self.tcp.add(ends, (run, 0), receiver, Tos::Fixed(0), 0, ecn);
        if let Some(connection) = self.tcp.get_mut(slot) {
            connection.greeting = wants_greeting.then(Greeting::default);
        }
        Some(slot)
    }

    /// Answers a segment that belongs to no connection (RFC 9293 Section 3.10.7.1).
    fn refuse(&mut self, ends: SocketPair, header: &TcpHeader, length: usize, out: &mut Outbox) {
        let counted = length as u32 + u32::from(header.flags & flags::SYN != 0);
        let ready = super::connection::Ready {
            header: TcpHeader {
                seq: if header.flags & flags::ACK != 0 { header.ack } else { 0 },
                ack: header.seq.wrapping_add(counted),
                flags: flags::RST | flags::ACK,
                ..TcpHeader::default()
            },
            tos: 0,
            identification: 0,
            payload: (0, 0),
        };
        self.net.send(ends, &ready, &[], out);
    }
}
