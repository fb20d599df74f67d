//! The path of a packet through a v1model program: the work of simple_switch around parser, ingress, egress and
//! deparser (BMv2's targets/simple_switch/simple_switch.cpp).

use std::collections::HashMap;

use super::architecture::Architecture;
use super::call;
use super::core::{Core, lose, set, set_in};
use super::layout::register;
use super::machine::{compute, run};
use super::native::Native;
use super::observer::Observer;
use super::ops::Address;
use super::program::{Checksum, MetadataWord, Parts};
use super::states::Parser;
use super::wire::Lengths;
use crate::bits::mask;
use crate::events::{EventKind, Loss, PacketId};
use crate::frame::Frame;
use crate::ids::{DROP_PORT, Nanos, Port};
use crate::packet::{Outcomes, Packet, Queueing, Recirculated, Transmit};

/// Values of `instance_type`.
pub(crate) mod instance {
    pub const NORMAL: u64 = 0;
    pub const INGRESS_CLONE: u64 = 1;
    pub const EGRESS_CLONE: u64 = 2;
    pub const RECIRCULATED: u64 = 4;
    pub const REPLICATION: u64 = 5;
    pub const RESUBMITTED: u64 = 6;
}

/// Most resubmissions of one packet; the next one drops it.
const MAX_RESUBMITS: u32 = 16;

const NANOS_PER_MICRO: Nanos = 1000;

/// The parts of a v1model program.
#[derive(Debug)]
pub(crate) struct V1model {
    pub parser: Parser,
    pub ingress: Address,
    pub egress: Address,
    pub verify: Vec<Checksum>,
    pub update: Vec<Checksum>,
    /// Code that runs before the deparser.
    pub deparser_code: Option<Address>,
    /// Headers in the order in which the deparser emits them.
    pub emit: Vec<u32>,
    pub lengths: Lengths,
    /// Fields preserved by clone, resubmit and recirculate, by number of the field list.
    pub field_lists: HashMap<u64, Vec<u32>>,
    pub metadata: Intrinsic,
}

#[derive(Debug)]
pub(crate) struct Intrinsic {
    pub ingress_port: MetadataWord,
    pub packet_length: MetadataWord,
    pub instance_type: MetadataWord,
    pub egress_spec: MetadataWord,
    pub egress_port: MetadataWord,
    pub parser_error: Option<MetadataWord>,
    pub checksum_error: Option<MetadataWord>,
    pub ingress_timestamp: Option<MetadataWord>,
    pub egress_timestamp: Option<MetadataWord>,
    pub mcast_grp: Option<MetadataWord>,
    pub egress_rid: Option<MetadataWord>,
    pub priority: Option<MetadataWord>,
    pub enq_timestamp: Option<MetadataWord>,
    pub enq_qdepth: Option<MetadataWord>,
    pub deq_timedelta: Option<MetadataWord>,
    pub deq_qdepth: Option<MetadataWord>,
    pub qid: Option<MetadataWord>,
}

impl Architecture for V1model {
    fn parts(&self) -> Parts<'_> {
        let conditions = self
            .verify
            .iter()
            .chain(&self.update)
            .filter_map(|checksum| checksum.condition);
        let mut entries: Vec<Address> = conditions.map(|(code, _)| code).collect();
        entries.extend([self.ingress, self.egress]);
        entries.extend(self.deparser_code);
        entries.extend(self.parser.entries());
        Parts {
            entries,
            parsers: vec![&self.parser],
            emitted: vec![&self.emit],
            verified: Some(&self.verify),
            // Code of the deparser may read a checksum first.
            updated: self.deparser_code.is_none().then_some(&self.update),
        }
    }

    /// Parser, checksum verification and ingress for a frame that arrived on `port`.
    ///
    /// Resubmission happens inside, at most 16 times for one packet. The results are added to `out`.
    fn ingress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        (port, frame): (Port, &[u8]),
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        core.state.now = now;
        core.state.frame = core.arrive(now, (port, frame), observer);
        core.reset_words();
        self.set_length(core, frame.len() as u64);
        let metadata = &self.metadata;
        set(&mut core.state, Some(metadata.ingress_port), u64::from(port));
        set(&mut core.state, metadata.ingress_timestamp, now / NANOS_PER_MICRO);
        self.run_ingress(core, out, observer);
    }

    /// Same as [`ingress`](Self::ingress), for a recirculated packet (`instance_type` 4).
    fn reingress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        packet: Recirculated,
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        core.state.now = now;
        observer.begin_packet(now, packet.packet.id());
        if !core.take(packet.packet) {
            return lose(Loss::OtherProgram, out, observer);
        }
        let length = core.state.frame.len();
        observer.event(|| EventKind::Reentered { bytes: length });
        self.set_length(core, length as u64);
        self.run_ingress(core, out, observer);
    }

    /// Egress, checksum update and deparser for a packet that left its queue.
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
        observer.begin_packet(now, packet.id());
        if !core.take(packet) {
            return lose(Loss::OtherProgram, out, observer);
        }
        self.prepare_egress(core, now, &queueing);
        observer.accept_fields(&core.state);
        core.run(self.egress, "egress", observer);
        self.clone_at_egress(core, out, observer);
        core.hand_out_log(out);
        if core.read_word(self.metadata.egress_spec) == u64::from(DROP_PORT) {
            lose(Loss::Egress, out, observer);
            return core.finish();
        }
        let frame = self.deparse(core, observer);
        core.hand_out_log(out);
        let list = core.state.words[register::RECIRCULATE as usize];
        if list == 0 {
            out.frame = Some(Transmit {
                port: queueing.port,
                frame,
            });
        } else {
            observer.event(|| EventKind::Recirculated {});
            out.recirculate
                .push(self.recirculated(core, frame, list, observer.id()));
        }
        core.finish();
    }
}

impl V1model {
    #[inline(always)]
    fn prepare_egress(&self, core: &mut Core, now: Nanos, queueing: &Queueing) {
        let (words, metadata) = (core.state.words.as_mut_slice(), &self.metadata);
        let (now, enqueued) = (now / NANOS_PER_MICRO, queueing.enq_ns / NANOS_PER_MICRO);
        let mut set = |field: Option<MetadataWord>, value: u64| {
            if let Some(field) = field {
                set_in(words, field, value);
            }
        };
        set(metadata.egress_timestamp, now);
        set(metadata.enq_timestamp, enqueued);
        set(metadata.enq_qdepth, u64::from(queueing.enq_qdepth));
        set(metadata.deq_timedelta, now.saturating_sub(enqueued));
        set(metadata.deq_qdepth, u64::from(queueing.deq_qdepth));
        set(metadata.qid, u64::from(queueing.qid));
        set(Some(metadata.egress_port), u64::from(queueing.port));
        // As in simple_switch, the packet is not dropped unless egress asks for it.
        set(Some(metadata.egress_spec), u64::from(DROP_PORT) + 1);
        let length = core.state.words[register::LENGTH as usize];
        set_in(&mut core.state.words, metadata.packet_length, length);
    }

    /// Runs a packet from the parser to the traffic manager; again for every resubmission.
    fn run_ingress<O: Observer>(&self, core: &mut Core, out: &mut Outcomes, observer: &mut O) {
        let arrived = core.state.words[register::ARRIVED as usize];
        for _ in 0..=MAX_RESUBMITS {
            observer.accept_fields(&core.state);
            self.parse(core, out, observer);
            core.run(self.ingress, "ingress", observer);
            core.hand_out_log(out);
            self.clone_at_ingress(core, out, observer);
            core.send_digest(out, observer);
            let list = core.state.words[register::RESUBMIT as usize];
            if list == 0 {
                return self.leave_ingress(core, out, observer);
            }
            observer.event(|| EventKind::Resubmitted {});
            self.keep_only(core, list, instance::RESUBMITTED);
            self.set_length(core, arrived);
        }
        lose(Loss::Resubmissions, out, observer);
        core.finish();
    }

    fn leave_ingress<O: Observer>(&self, core: &mut Core, out: &mut Outcomes, observer: &mut O) {
        let metadata = &self.metadata;
        let group = metadata.mcast_grp.map_or(0, |field| core.read_word(field));
        let port = core.read_word(metadata.egress_spec);
        let instance_type = Some(metadata.instance_type);
        if group != 0 {
            set(&mut core.state, instance_type, instance::REPLICATION);
            let before = out.enqueue.len();
            observer.event(|| EventKind::Multicast { group });
            self.multicast(core, group, out, observer);
            if out.enqueue.len() == before {
                lose(Loss::EmptyGroup, out, observer);
            }
        } else if port == u64::from(DROP_PORT) {
            lose(Loss::Ingress, out, observer);
        } else {
            set(&mut core.state, instance_type, instance::NORMAL);
            let frame = std::mem::take(&mut core.state.frame);
            let frame_len = self.frame_len(core, &frame);
            let packet = core.take_packet(observer.id(), frame);
            self.enqueue(core, (packet, frame_len), port as Port, 0, out, observer);
        }
        core.finish();
    }

    /// Parses `state.frame`, verifies checksums, and writes errors to the metadata.
    fn parse<O: Observer>(&self, core: &mut Core, out: &mut Outcomes, observer: &mut O) {
        let error = self
            .parser
            .parse(&core.program.code, &core.sets, &mut core.state, observer);
        out.parser_error |= error.is_some();
        set(
            &mut core.state,
            self.metadata.parser_error,
            u64::from(error.unwrap_or(0)),
        );
        let wrong = match call::verify(&core.program.code, &mut core.state) {
            Some(wrong) => wrong,
            None => self.verify(core, observer),
        };
        set(&mut core.state, self.metadata.checksum_error, u64::from(wrong));
        observer.compare_fields(&core.program.code, &core.state);
    }

    /// True if a checksum is wrong.
    fn verify<O: Observer>(&self, core: &mut Core, observer: &mut O) -> bool {
        let mut wrong = false;
        for checksum in &self.verify {
            let layout = &core.program.code.layout;
            let field = &layout.fields[checksum.field as usize];
            let (slot, valid) = (field.slot, layout.headers[field.header as usize].valid);
            if core.state.words[valid as usize] == 0 || !holds(core, checksum.condition, observer) {
                continue;
            }
            let computed = compute(&core.program.code, checksum.calculation, &mut core.state);
            let right = computed == core.state.words[slot as usize];
            observer.event(|| EventKind::Verified {
                field: core.program.code.layout.field_name(checksum.field),
                right,
            });
            wrong |= !right;
        }
        wrong
    }

    /// Updates the checksums in their fields.
    fn update<O: Observer>(&self, core: &mut Core, observer: &mut O) {
        for checksum in &self.update {
            if !holds(core, checksum.condition, observer) {
                continue;
            }
            let computed = compute(&core.program.code, checksum.calculation, &mut core.state);
            let field = &core.program.code.layout.fields[checksum.field as usize];
            core.state.words[field.slot as usize] = computed & mask(field.width);
        }
    }

    /// The frame to send: updated checksums, valid headers in order, and the rest of the packet.
    fn deparse<O: Observer>(&self, core: &mut Core, observer: &mut O) -> Frame {
        if !core.program.code.native.as_ref().is_some_and(Native::updates) {
            self.update(core, observer);
        }
        observer.compare_fields(&core.program.code, &core.state);
        if let Some(code) = self.deparser_code {
            run(&core.program.code, &mut core.state, code, observer);
        }
        let mut frame = core.emit(&self.emit, self.parser.number);
        let keep = core.state.words[register::TRUNCATE as usize];
        frame.truncate(usize::try_from(keep).unwrap_or(usize::MAX));
        core.report_deparsed(&self.emit, frame.len(), observer);
        frame
    }

    /// Number of bytes that the deparser would write now.
    #[inline(always)]
    pub fn frame_len(&self, core: &Core, frame: &[u8]) -> u32 {
        let words = &core.state.words;
        let headers = self.lengths.bytes(&core.program.code.layout, words);
        let length = headers + frame.len().saturating_sub(core.state.payload);
        length.min(usize::try_from(words[register::TRUNCATE as usize]).unwrap_or(usize::MAX)) as u32
    }

    fn recirculated(&self, core: &mut Core, frame: Frame, list: u64, id: PacketId) -> Recirculated {
        let mut packet = core.blank_packet(id, frame);
        let phv = packet.body.phv.as_mut_slice();
        self.copy_fields(core, list, phv);
        set_in(phv, self.metadata.instance_type, instance::RECIRCULATED);
        Recirculated { packet, port: None }
    }

    /// Clears the working PHV, except the fields of a field list.
    pub fn keep_only(&self, core: &mut Core, list: u64, instance_type: u64) {
        let mut phv = core.spare_phv();
        phv.extend_from_slice(&core.program.blank);
        self.copy_fields(core, list, &mut phv);
        core.state.words[..phv.len()].copy_from_slice(&phv);
        core.keep_phv(phv);
        let field = self.metadata.instance_type;
        set(&mut core.state, Some(field), instance_type);
    }

    /// Copies the fields of a field list from the working PHV.
    pub fn copy_fields(&self, core: &Core, list: u64, phv: &mut [u64]) {
        let fields = self.field_lists.get(&list).map_or(&[][..], |fields| fields);
        for &field in fields {
            let span = core.program.code.layout.fields[field as usize].span();
            phv[span.clone()].copy_from_slice(&core.state.words[span]);
        }
    }

    /// Sets a packet's length on arrival, for the program and the counters.
    fn set_length(&self, core: &mut Core, length: u64) {
        core.state.words[register::LENGTH as usize] = length;
        core.state.words[register::ARRIVED as usize] = length;
        set(&mut core.state, Some(self.metadata.packet_length), length);
    }
}

/// True if the condition of a checksum holds, or if it has none.
fn holds<O: Observer>(core: &mut Core, condition: Option<(u32, u32)>, observer: &mut O) -> bool {
    condition.is_none_or(|(code, word)| {
        run(&core.program.code, &mut core.state, code, observer);
        core.state.words[word as usize] != 0
    })
}
