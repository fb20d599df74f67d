//! The path of a packet through a Tofino program: between ingress and egress it is bytes, with metadata in front.
//!
//! ```text
//! metadata + frame -> parser -> ingress -> deparser -> bytes -> queue -> metadata + bytes -> parser -> egress -> deparser
//! ```
//!
//! The packet replication engine and the deparsers follow the public architecture (p4c's tofino1_base.p4).

use std::collections::HashMap;

use super::architecture::Architecture;
use super::calculation::Input;
use super::core::{Core, lose, set};
use super::intrinsic::{Chip, EgressMetadata, UNWRITTEN};
use super::layout::{Layout, register};
use super::observer::{Nobody, Observer};
use super::ops::Address;
use super::program::{MetadataWord, Parts};
use super::states::Parser;
use super::wire::write_field;
use crate::bits::Writer;
use crate::events::{EventKind, Loss, PacketId};
use crate::frame::Frame;
use crate::ids::{DROP_PORT, Nanos, Port};
use crate::packet::{Body, Enqueue, Outcomes, Packet, Queueing, Recirculated, Transmit};
use crate::values::CloneSession;

/// `drop_ctl`: no unicast, no multicast, no resubmission; at egress, drops the packet itself.
const DROP_PACKET: u64 = 1;
/// `drop_ctl`: no copy to the CPU.
const DROP_COPY_TO_CPU: u64 = 2;
/// `drop_ctl` at egress: no mirroring.
const DROP_MIRROR: u64 = 4;

/// Number of no field list (-1 in 16 bits).
const NO_FIELDS: u64 = 0xffff;

/// The parts of a Tofino program.
#[derive(Debug)]
pub(crate) struct Tna {
    pub chip: Chip,
    pub ingress: Gress,
    pub egress: Gress,
    /// True if ingress reads parser errors: then a packet with an error continues.
    pub parser_errors_read: bool,
    pub ghost: Option<Ghost>,
    /// Headers in front of mirrored and resubmitted packets, by number of the field list.
    pub prefixes: HashMap<u64, Prefix>,
    pub metadata: Metadata,
}

/// Ingress or egress.
#[derive(Debug)]
pub(crate) struct Gress {
    pub parser: Parser,
    pub control: Address,
    /// Code of the deparser that runs before it emits headers.
    pub deparser: Address,
    /// Headers in the order in which the deparser emits them.
    pub emit: Vec<u32>,
    pub timestamp: MetadataWord,
    pub parser_error: MetadataWord,
    pub drop_ctl: MetadataWord,
}

/// The ghost control, and the fields of its input.
#[derive(Debug)]
pub(crate) struct Ghost {
    pub control: Address,
    pub length: MetadataWord,
    pub queue: MetadataWord,
    pub pipe: MetadataWord,
}

/// Fields by which the program instructs the deparser and the traffic manager, besides `drop_ctl`.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub port: MetadataWord,
    pub bypass_egress: MetadataWord,
    pub queue: MetadataWord,
    pub cos: MetadataWord,
    pub copy_to_cpu: MetadataWord,
    pub cpu_cos: MetadataWord,
    pub groups: [MetadataWord; 2],
    /// Fields that are undefined until the program writes them.
    pub unwritten: Vec<MetadataWord>,
}

/// Fields and constants that form a header.
#[derive(Debug)]
pub(crate) struct Prefix(pub Vec<Input>);

impl Prefix {
    /// Appends the header. A field is written even if its header is invalid.
    fn write(&self, layout: &Layout, words: &[u64], out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        for input in &self.0 {
            match input {
                Input::Field(field) => write_field(layout, words, *field, &mut writer),
                Input::Header(header) => {
                    for field in layout.headers[*header as usize].fields() {
                        write_field(layout, words, field as u32, &mut writer);
                    }
                }
                Input::Valid(header) => writer.word(words[layout.headers[*header as usize].valid as usize] & 1, 1),
                Input::Constant(value, width) => writer.field(value, *width),
                Input::Run(_, plan) => plan.store(words, writer.bytes()),
            }
        }
        writer.finish();
    }
}

impl Architecture for Tna {
    fn parts(&self) -> Parts<'_> {
        let mut entries: Vec<Address> = self.ghost.iter().map(|ghost| ghost.control).collect();
        for gress in [&self.ingress, &self.egress] {
            entries.extend([gress.control, gress.deparser]);
            entries.extend(gress.parser.entries());
        }
        Parts {
            entries,
            parsers: vec![&self.ingress.parser, &self.egress.parser],
            emitted: vec![&self.ingress.emit, &self.egress.emit],
            ..Parts::default()
        }
    }

    fn mark_unwritten(&self, blank: &mut [u64]) {
        for field in &self.metadata.unwritten {
            blank[field.word as usize] = UNWRITTEN;
        }
    }

    /// Ingress for a frame that arrived: one pass, and a second one if it is resubmitted.
    fn ingress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        (port, frame): (Port, &[u8]),
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        let frame = core.arrive(now, (port, frame), observer);
        self.passes(core, now, (port, frame), out, observer);
    }

    /// Ingress for a packet that left by a recirculation port. It arrives by this port like any other frame.
    fn reingress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        packet: Recirculated,
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        observer.begin_packet(now, packet.packet.id());
        let Some(port) = packet.port else {
            return lose(Loss::OtherProgram, out, observer);
        };
        let Body { layout, phv, frame, .. } = core.open(packet.packet);
        core.keep_phv(phv);
        if layout == core.program.identity {
            observer.event(|| EventKind::Reentered { bytes: frame.len() });
            self.passes(core, now, (port, frame), out, observer);
        } else {
            lose(Loss::OtherProgram, out, observer);
            core.recycle_frame(frame);
        }
    }

    /// Egress for a packet that left its queue.
    fn egress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        packet: Packet,
        queueing: Queueing,
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        core.state.now = now;
        let Body {
            layout, phv, frame, id, ..
        } = core.open(packet);
        observer.begin_packet(now, id.into());
        if layout != core.program.identity || phv.len() != core.program.blank.len() {
            return lose(Loss::OtherProgram, out, observer);
        }
        if phv[self.metadata.bypass_egress.word as usize] != 0 {
            core.keep_phv(phv);
            return self.send(core, queueing.port, frame, out, observer);
        }
        core.state.words[..phv.len()].copy_from_slice(&phv);
        let replica = phv[register::REPLICA as usize];
        let metadata = EgressMetadata {
            port: queueing.port,
            enq_qdepth: queueing.enq_qdepth,
            deq_qdepth: queueing.deq_qdepth,
            enq_ns: queueing.enq_ns,
            delay_ns: now.saturating_sub(queueing.enq_ns),
            rid: replica as u16,
            rid_first: replica & register::REPLICA_FIRST != 0,
            qid: queueing.qid,
            cos: core.read_word(self.metadata.cos) as u8,
            bytes: frame.len() as u32,
        };
        let length = frame.len();
        core.state.frame = frame;
        core.state
            .write_in_front(|bytes| self.chip.write_egress(&metadata, bytes));
        // At egress, an error does not stop a packet.
        self.parse(core, &self.egress, length, out, observer);
        core.run(self.egress.control, "egress", observer);
        core.run(self.egress.deparser, "egress_deparser", observer);
        core.hand_out_log(out);
        let drops = core.read_word(self.egress.drop_ctl);
        let frame = core.emit(&self.egress.emit, self.egress.parser.number);
        core.report_deparsed(&self.egress.emit, frame.len(), observer);
        self.mirror_at_egress(core, drops, &frame, phv, out, observer);
        if drops & DROP_PACKET == 0 {
            self.send(core, queueing.port, frame, out, observer);
        } else {
            core.recycle_frame(frame);
            lose(Loss::Egress, out, observer);
        }
    }

    fn has_bytes_between(&self) -> bool {
        true
    }

    fn recirculates(&self, port: Port) -> bool {
        self.chip.recirculates(port)
    }

    fn has_ghost(&self) -> bool {
        self.ghost.is_some()
    }

    /// Runs the ghost control for a queue whose length has changed.
    fn ghost(&self, core: &mut Core, now: Nanos, port: Port, queue: u8, length: u32) {
        let Some(ghost) = &self.ghost else { return };
        core.state.now = now;
        core.state.words[register::ARRIVED as usize] = 0;
        set(
            &mut core.state,
            Some(ghost.length),
            u64::from(length).min(ghost.length.keep),
        );
        set(
            &mut core.state,
            Some(ghost.queue),
            u64::from(port) << 3 | u64::from(queue),
        );
        set(&mut core.state, Some(ghost.pipe), u64::from(port >> 7));
        // No packet is being processed.
        core.run(ghost.control, "ghost", &mut Nobody);
    }
}

impl Tna {
    fn passes<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        (port, frame): (Port, Frame),
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        core.state.now = now;
        core.state.frame = frame;
        if let Some(data) = self.pass(core, port, None, out, observer) {
            observer.event(|| EventKind::Resubmitted {});
            self.pass(core, port, Some(&data), out, observer);
            core.recycle_frame(data);
        }
        core.finish();
    }

    /// One pass of the working frame through ingress. Returns the data for a resubmission of this frame, if there is
    /// one.
    fn pass<O: Observer>(
        &self,
        core: &mut Core,
        port: Port,
        resubmitted: Option<&[u8]>,
        out: &mut Outcomes,
        observer: &mut O,
    ) -> Option<Frame> {
        let (now, length) = (core.state.now, core.state.frame.len());
        let in_front = |metadata: &mut Vec<u8>| self.chip.write_ingress(now, port, resubmitted, metadata);
        core.state.write_in_front(in_front);
        core.reset_words();
        let went_well = self.parse(core, &self.ingress, length, out, observer);
        if !went_well && !self.parser_errors_read {
            lose(Loss::ParserError, out, observer);
            return None;
        }
        core.run(self.ingress.control, "ingress", observer);
        core.run(self.ingress.deparser, "ingress_deparser", observer);
        core.hand_out_log(out);
        core.send_digest(out, observer);
        let drops = core.read_word(self.ingress.drop_ctl);
        if resubmitted.is_none() && drops & DROP_PACKET == 0 {
            let request = core.state.words[register::RESUBMIT as usize];
            if request & register::REQUESTED != 0 {
                let mut data = core.spare_frame();
                self.write_prefix(core, request & NO_FIELDS, data.tail());
                core.state.frame.replace_front(self.chip.ingress_bytes(), &[]);
                return Some(data);
            }
        }
        // A resubmitted packet has no other results (TNA 5.6).
        self.mirror_at_ingress(core, out, observer);
        self.leave_ingress(core, drops, out, observer);
        None
    }

    /// Parses `state.frame`, which has metadata and `length` bytes of the packet. Returns false after a parser error.
    fn parse<O: Observer>(
        &self,
        core: &mut Core,
        gress: &Gress,
        length: usize,
        out: &mut Outcomes,
        observer: &mut O,
    ) -> bool {
        core.state.words[register::LENGTH as usize] = length as u64;
        core.state.words[register::ARRIVED as usize] = length as u64;
        let now = core.state.now;
        set(&mut core.state, Some(gress.timestamp), now);
        observer.accept_fields(&core.state);
        let error = gress
            .parser
            .parse(&core.program.code, &core.sets, &mut core.state, observer);
        if let Some(error) = error {
            out.parser_error = true;
            let flags = gress.parser.errors.tofino_flags(error);
            set(&mut core.state, Some(gress.parser_error), flags);
            observer.compare_fields(&core.program.code, &core.state);
        }
        error.is_none()
    }

    /// Decisions of the traffic manager on a packet from the ingress deparser.
    fn leave_ingress<O: Observer>(&self, core: &mut Core, drops: u64, out: &mut Outcomes, observer: &mut O) {
        let metadata = &self.metadata;
        let frame = core.emit(&self.ingress.emit, self.ingress.parser.number);
        core.report_deparsed(&self.ingress.emit, frame.len(), observer);
        let before = out.enqueue.len();
        let queue = core.read_word(metadata.queue) as u8 & 7;
        if drops & DROP_PACKET == 0 {
            for group in metadata.groups {
                let group = core.read_word(group) as u16;
                self.multicast(core, group, queue, &frame, out, observer);
            }
        }
        if drops & DROP_COPY_TO_CPU == 0
            && core.read_word(metadata.copy_to_cpu) != 0
            && let Some(port) = core.cpu_port
        {
            let queue = core.read_word(metadata.cpu_cos) as u8 & 7;
            let copy = core.copy_frame(&frame);
            let phv = self.copy_phv(core, register::REPLICA_FIRST);
            let id = copied(port, 0, observer);
            enqueue(core, (port, id), queue, copy, phv, out);
        }
        // The port was written, and is not the value for no port.
        let port = core.read_word(metadata.port);
        if drops & DROP_PACKET == 0 && port < u64::from(DROP_PORT) {
            let phv = self.copy_phv(core, 0);
            enqueue(core, (port as Port, observer.id()), queue, frame, phv, out);
        } else {
            core.recycle_frame(frame);
        }
        if out.enqueue.len() == before {
            lose(Loss::Ingress, out, observer);
        }
    }

    /// Copies for the members of a multicast group; none if the group does not exist.
    fn multicast<O: Observer>(
        &self,
        core: &mut Core,
        group: u16,
        queue: u8,
        frame: &[u8],
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        let Some(replicas) = core.groups.remove(&group) else {
            return;
        };
        observer.event(|| EventKind::Multicast {
            group: u64::from(group),
        });
        for (index, &(port, rid)) in replicas.iter().enumerate() {
            let first = if index == 0 { register::REPLICA_FIRST } else { 0 };
            let phv = self.copy_phv(core, u64::from(rid) | first);
            let copy = core.copy_frame(frame);
            let id = copied(port, rid, observer);
            enqueue(core, (port, id), queue, copy, phv, out);
        }
        core.groups.insert(group, replicas);
    }

    /// The ingress PHV for a packet in a queue: port settings read user and rank from it.
    fn copy_phv(&self, core: &mut Core, replica: u64) -> Vec<u64> {
        let mut phv = core.copy_phv();
        phv[..register::COUNT as usize].copy_from_slice(&core.program.blank[..register::COUNT as usize]);
        phv[register::REPLICA as usize] = replica;
        phv[self.metadata.bypass_egress.word as usize] = core.read_word(self.metadata.bypass_egress);
        phv
    }

    /// Sends a copy of the frame as it arrived to egress, with the mirror's header in front.
    fn mirror_at_ingress<O: Observer>(&self, core: &mut Core, out: &mut Outcomes, observer: &mut O) {
        let Some((id, session, list)) = mirror_request(core, "ingress", observer) else {
            return;
        };
        let mut copy = core.spare_frame();
        let frame = core.state.frame.get(self.chip.ingress_bytes()..);
        self.write_mirrored(core, &session, list, frame.unwrap_or(&[]), &mut copy);
        let mut phv = self.copy_phv(core, 0);
        // Only the packet itself and its copies may bypass egress.
        phv[self.metadata.bypass_egress.word as usize] = 0;
        mirror(core, &session, copy, phv, out, observer);
        core.sessions.insert(id, session);
    }

    /// The mirror's header and the frame, with as many bytes as the session keeps.
    fn write_mirrored(&self, core: &Core, session: &CloneSession, list: u64, frame: &[u8], copy: &mut Frame) {
        let wanted = session.truncate_to.map_or(usize::MAX, |bytes| bytes as usize);
        self.write_prefix(core, list, copy.tail());
        copy.tail().extend_from_slice(&frame[..frame.len().min(wanted)]);
        copy.truncate(wanted);
    }

    fn write_prefix(&self, core: &Core, list: u64, out: &mut Vec<u8>) {
        if let Some(prefix) = self.prefixes.get(&list) {
            prefix.write(&core.program.code.layout, &core.state.words, out);
        }
    }

    /// Sends a copy of the frame as egress made it to egress, with the mirror's header in front. `phv`: PHV of the
    /// packet's ingress.
    fn mirror_at_egress<O: Observer>(
        &self,
        core: &mut Core,
        drops: u64,
        frame: &[u8],
        mut phv: Vec<u64>,
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        match mirror_request(core, "egress", observer) {
            Some((id, session, list)) if drops & DROP_MIRROR == 0 => {
                let mut copy = core.spare_frame();
                self.write_mirrored(core, &session, list, frame, &mut copy);
                phv[register::REPLICA as usize] = 0;
                mirror(core, &session, copy, phv, out, observer);
                core.sessions.insert(id, session);
            }
            Some((id, session, _)) => {
                core.sessions.insert(id, session);
                core.keep_phv(phv);
            }
            None => core.keep_phv(phv),
        }
    }

    /// Sends the frame by its port, which may lead back to ingress.
    fn send<O: Observer>(&self, core: &mut Core, port: Port, frame: Frame, out: &mut Outcomes, observer: &mut O) {
        if self.chip.recirculates(port) {
            observer.event(|| EventKind::Recirculated {});
            let packet = core.packet(observer.id(), Vec::new(), frame, 0);
            let port = Some(port);
            out.recirculate.push(Recirculated { packet, port });
        } else {
            out.frame = Some(Transmit { port, frame });
        }
    }
}

/// Session and field list of a mirror call, if there was one and the session is configured. The session is taken out of
/// the map while copies are made; the caller puts it back.
fn mirror_request<O: Observer>(
    core: &mut Core,
    at: &'static str,
    observer: &mut O,
) -> Option<(u16, CloneSession, u64)> {
    let request = core.state.words[register::CLONE as usize];
    let list = core.state.words[register::CLONE_FIELDS as usize];
    core.state.words[register::CLONE as usize] = 0;
    if request & register::REQUESTED == 0 {
        return None;
    }
    let id = request as u16;
    observer.event(|| EventKind::Cloned {
        at,
        session: id,
        known: core.sessions.contains_key(&id),
    });
    Some((id, core.sessions.remove(&id)?, list))
}

/// Enqueues a mirrored frame for each replica of its session.
fn mirror<O: Observer>(
    core: &mut Core,
    session: &CloneSession,
    frame: Frame,
    mut phv: Vec<u64>,
    out: &mut Outcomes,
    observer: &mut O,
) {
    let queue = session.class_of_service & 7;
    let Some((&(port, rid), others)) = session.replicas.split_last() else {
        core.keep_phv(phv);
        return core.recycle_frame(frame);
    };
    for &(port, rid) in others {
        let mut replica = core.spare_phv();
        replica.extend_from_slice(&phv);
        replica[register::REPLICA as usize] = u64::from(rid);
        let copy = core.copy_frame(&frame);
        let id = copied(port, rid, observer);
        enqueue(core, (port, id), queue, copy, replica, out);
    }
    phv[register::REPLICA as usize] = u64::from(rid);
    let id = copied(port, rid, observer);
    enqueue(core, (port, id), queue, frame, phv, out);
}

/// Numbers a copy of the working packet.
fn copied<O: Observer>(port: Port, instance: u16, observer: &mut O) -> PacketId {
    let id = observer.copy();
    observer.event(|| EventKind::Copied {
        to: id.copy,
        port,
        instance,
    });
    id
}

fn enqueue(
    core: &mut Core,
    (port, id): (Port, PacketId),
    priority: u8,
    frame: Frame,
    phv: Vec<u64>,
    out: &mut Outcomes,
) {
    let frame_len = frame.len() as u32;
    let packet = core.packet(id, phv, frame, 0);
    out.enqueue.push(Enqueue {
        packet,
        port,
        priority,
        frame_len,
    });
}
