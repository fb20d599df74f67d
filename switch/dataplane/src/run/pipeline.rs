//! The loaded program at work: what simple_switch does around parser, ingress, egress and deparser
//! (its targets/simple_switch/simple_switch.cpp).

use std::collections::HashMap;

use super::layout::{Place, register};
use super::machine::run;
use super::parser::ValueSet;
use super::program::{MetadataWord, Program};
use super::state::State;
use super::wire::{header_bytes, write_header};
use crate::bits::{mask, to_bytes};
use crate::ids::{DROP_PORT, DigestId, FieldRef, Nanos, Port};
use crate::packet::{DigestMessage, Outcomes, Packet, Queueing, Recirculated, Transmit};
use crate::values::CloneSession;

/// Values of `instance_type`.
pub(crate) mod instance {
    pub const NORMAL: u64 = 0;
    pub const INGRESS_CLONE: u64 = 1;
    pub const EGRESS_CLONE: u64 = 2;
    pub const RECIRCULATED: u64 = 4;
    pub const REPLICATION: u64 = 5;
    pub const RESUBMITTED: u64 = 6;
}

/// Resubmissions of one packet; further ones drop it.
const MAX_RESUBMITS: u32 = 16;

/// Buffers kept for packets to come.
const MAX_SPARE: usize = 1 << 14;

const NANOS_PER_MICRO: Nanos = 1000;

/// Positions of registers, counters and meters by name.
#[derive(Debug)]
pub(crate) struct Names {
    pub registers: HashMap<String, u32>,
    pub counters: HashMap<String, u32>,
    pub meters: HashMap<String, u32>,
}

/// A loaded program with its tables, counters, meters and registers.
#[derive(Debug)]
pub struct Pipeline {
    pub(crate) program: Program,
    pub(crate) state: State,
    pub(crate) sets: Vec<ValueSet>,
    pub(crate) names: Names,
    pub(crate) groups: HashMap<u16, Vec<(Port, u16)>>,
    pub(crate) sessions: HashMap<u16, CloneSession>,
    spare_frames: Vec<Vec<u8>>,
    spare_phvs: Vec<Vec<u64>>,
}

impl Pipeline {
    pub(crate) fn new(program: Program, state: State, sets: Vec<ValueSet>, names: Names) -> Pipeline {
        Pipeline {
            program,
            state,
            sets,
            names,
            groups: HashMap::new(),
            sessions: HashMap::new(),
            spare_frames: Vec::new(),
            spare_phvs: Vec::new(),
        }
    }

    /// Seeds `random()`. The default seed is fixed.
    pub fn set_seed(&mut self, seed: u64) {
        self.state.random.0 = seed;
    }

    /// Parser, checksum verification and ingress for a frame that arrived on `port`.
    ///
    /// Resubmission happens inside, at most 16 times for one packet. What becomes of the packet is added to `out`.
    pub fn ingress(&mut self, now: Nanos, port: Port, frame: &[u8], out: &mut Outcomes) {
        self.state.now = now;
        let mut buffer = self.spare_frame();
        buffer.extend_from_slice(frame);
        self.state.frame = buffer;
        self.reset_words();
        self.set_length(frame.len() as u64);
        let metadata = &self.program.metadata;
        set(&mut self.state, Some(metadata.ingress_port), u64::from(port));
        set(&mut self.state, metadata.ingress_timestamp, now / NANOS_PER_MICRO);
        self.run_ingress(out);
    }

    /// As [`ingress`](Self::ingress), for a recirculated packet (`instance_type` 4).
    pub fn reingress(&mut self, now: Nanos, packet: Recirculated, out: &mut Outcomes) {
        self.state.now = now;
        if !self.take(packet.packet) {
            out.dropped = true;
            return;
        }
        self.set_length(self.state.frame.len() as u64);
        self.run_ingress(out);
    }

    /// Egress, checksum update and deparser for a packet that left its queue.
    pub fn egress(&mut self, now: Nanos, packet: Packet, queueing: Queueing, out: &mut Outcomes) {
        self.state.now = now;
        if !self.take(packet) {
            out.dropped = true;
            return;
        }
        self.prepare_egress(now, &queueing);
        run(&self.program.code, &mut self.state, self.program.egress);
        self.state.words[register::EXIT as usize] = 0;
        self.clone_at_egress(out);
        out.log.append(&mut self.state.log);
        if self.read_word(self.program.metadata.egress_spec) == u64::from(DROP_PORT) {
            out.dropped = true;
            return self.finish();
        }
        let frame = self.deparse();
        let list = self.state.words[register::RECIRCULATE as usize];
        if list == 0 {
            out.frame = Some(Transmit {
                port: queueing.port,
                frame,
            });
        } else {
            out.recirculate.push(self.recirculated(frame, list));
        }
        self.finish();
    }

    fn prepare_egress(&mut self, now: Nanos, queueing: &Queueing) {
        let (state, metadata) = (&mut self.state, &self.program.metadata);
        let (now, enqueued) = (now / NANOS_PER_MICRO, queueing.enq_ns / NANOS_PER_MICRO);
        set(state, metadata.egress_timestamp, now);
        set(state, metadata.enq_timestamp, enqueued);
        set(state, metadata.enq_qdepth, u64::from(queueing.enq_qdepth));
        set(state, metadata.deq_timedelta, now.saturating_sub(enqueued));
        set(state, metadata.deq_qdepth, u64::from(queueing.deq_qdepth));
        set(state, metadata.qid, u64::from(queueing.qid));
        set(state, Some(metadata.egress_port), u64::from(queueing.port));
        // simple_switch makes sure that the packet is not dropped unless egress asks for it.
        set(state, Some(metadata.egress_spec), u64::from(DROP_PORT) + 1);
        let length = state.words[register::LENGTH as usize];
        set(state, Some(metadata.packet_length), length);
    }

    /// Parser to traffic manager, again for every resubmission.
    fn run_ingress(&mut self, out: &mut Outcomes) {
        let arrived = self.state.words[register::ARRIVED as usize];
        for _ in 0..=MAX_RESUBMITS {
            self.parse(out);
            run(&self.program.code, &mut self.state, self.program.ingress);
            self.state.words[register::EXIT as usize] = 0;
            out.log.append(&mut self.state.log);
            self.clone_at_ingress(out);
            self.send_digest(out);
            let list = self.state.words[register::RESUBMIT as usize];
            if list == 0 {
                return self.leave_ingress(out);
            }
            self.keep_only(list, instance::RESUBMITTED);
            self.set_length(arrived);
        }
        out.dropped = true;
        self.finish();
    }

    fn leave_ingress(&mut self, out: &mut Outcomes) {
        let metadata = &self.program.metadata;
        let group = metadata.mcast_grp.map_or(0, |field| self.read_word(field));
        let port = self.read_word(metadata.egress_spec);
        let instance_type = Some(metadata.instance_type);
        if group != 0 {
            set(&mut self.state, instance_type, instance::REPLICATION);
            let before = out.enqueue.len();
            self.multicast(group, out);
            out.dropped |= out.enqueue.len() == before;
        } else if port == u64::from(DROP_PORT) {
            out.dropped = true;
        } else {
            set(&mut self.state, instance_type, instance::NORMAL);
            let frame = std::mem::take(&mut self.state.frame);
            self.enqueue(port as Port, frame, 0, out);
        }
        self.finish();
    }

    /// Parses `state.frame`, verifies checksums, and notes errors in the metadata.
    fn parse(&mut self, out: &mut Outcomes) {
        let (program, state) = (&self.program, &mut self.state);
        let error = program.parser.parse(&program.code, &self.sets, state);
        out.parser_error |= error.is_some();
        set(state, program.metadata.parser_error, u64::from(error.unwrap_or(0)));
        let mut wrong = false;
        for checksum in &program.verify {
            let field = &program.code.layout.fields[checksum.field as usize];
            let header = &program.code.layout.headers[field.header as usize];
            if state.words[header.valid as usize] == 0 || !holds(program, state, checksum.condition) {
                continue;
            }
            let computed = program.code.compute(checksum.calculation, state);
            wrong |= computed != state.words[field.slot as usize];
        }
        set(state, program.metadata.checksum_error, u64::from(wrong));
    }

    /// The frame as it goes out: updated checksums, valid headers in order, the rest of the packet.
    fn deparse(&mut self) -> Vec<u8> {
        let mut frame = self.spare_frame();
        let (program, state) = (&self.program, &mut self.state);
        let layout = &program.code.layout;
        for checksum in &program.update {
            if !holds(program, state, checksum.condition) {
                continue;
            }
            let computed = program.code.compute(checksum.calculation, state);
            let field = &layout.fields[checksum.field as usize];
            state.words[field.slot as usize] = computed & mask(field.width);
        }
        if let Some(code) = program.deparser_code {
            run(&program.code, state, code);
        }
        for &header in &program.emit {
            if state.words[layout.headers[header as usize].valid as usize] != 0 {
                write_header(layout, &program.code.plans, &state.words, header, &mut frame);
            }
        }
        frame.extend_from_slice(state.frame.get(state.payload..).unwrap_or(&[]));
        let keep = state.words[register::TRUNCATE as usize];
        frame.truncate(usize::try_from(keep).unwrap_or(usize::MAX));
        frame
    }

    /// Bytes the deparser would make now.
    pub(crate) fn frame_len(&self, frame: &[u8]) -> u32 {
        let (layout, words) = (&self.program.code.layout, &self.state.words);
        let valid = |&&header: &&u32| words[layout.headers[header as usize].valid as usize] != 0;
        let headers: usize = self
            .program
            .emit
            .iter()
            .filter(valid)
            .map(|&header| header_bytes(layout, words, header))
            .sum();
        let length = headers + frame.len().saturating_sub(self.state.payload);
        length.min(usize::try_from(words[register::TRUNCATE as usize]).unwrap_or(usize::MAX)) as u32
    }

    fn recirculated(&mut self, frame: Vec<u8>, list: u64) -> Recirculated {
        let mut phv = self.spare_phv();
        phv.extend_from_slice(&self.program.blank);
        self.copy_fields(list, &mut phv);
        set_in(&mut phv, self.program.metadata.instance_type, instance::RECIRCULATED);
        Recirculated {
            packet: Packet {
                layout: self.program.identity,
                phv,
                frame,
                payload: 0,
            },
        }
    }

    fn send_digest(&mut self, out: &mut Outcomes) {
        let id = self.state.words[register::DIGEST as usize];
        if id == 0 {
            return;
        }
        self.state.words[register::DIGEST as usize] = 0;
        let layout = &self.program.code.layout;
        let Some(index) = self.program.digests.iter().position(|digest| digest.id == id) else {
            return;
        };
        let words = &self.state.words;
        let bytes = |place: &Place| match *place {
            Place::Field(field) => {
                let field = &layout.fields[field as usize];
                to_bytes(&words[field.span()], field.width)
            }
            Place::Valid(header) => vec![words[layout.headers[header as usize].valid as usize] as u8],
        };
        let fields = self.program.digests[index].fields.iter().map(bytes).collect();
        out.digests.push(DigestMessage {
            digest: DigestId(index as u32),
            fields,
        });
    }

    /// Clears the PHV of the packet at work, except the fields of a field list.
    pub(crate) fn keep_only(&mut self, list: u64, instance_type: u64) {
        let mut phv = self.spare_phv();
        phv.extend_from_slice(&self.program.blank);
        self.copy_fields(list, &mut phv);
        self.state.words[..phv.len()].copy_from_slice(&phv);
        self.keep_phv(phv);
        let field = self.program.metadata.instance_type;
        set(&mut self.state, Some(field), instance_type);
    }

    /// Copies the fields of a field list from the working PHV.
    pub(crate) fn copy_fields(&self, list: u64, phv: &mut [u64]) {
        let fields = self.program.field_lists.get(&list).map_or(&[][..], |fields| fields);
        for &field in fields {
            let span = self.program.code.layout.fields[field as usize].span();
            phv[span.clone()].copy_from_slice(&self.state.words[span]);
        }
    }

    /// A packet's length on arrival, for the program and for the counters.
    fn set_length(&mut self, length: u64) {
        self.state.words[register::LENGTH as usize] = length;
        self.state.words[register::ARRIVED as usize] = length;
        set(&mut self.state, Some(self.program.metadata.packet_length), length);
    }

    pub(crate) fn read_word(&self, field: MetadataWord) -> u64 {
        self.state.words[field.word as usize]
    }

    pub(crate) fn reset_words(&mut self) {
        let blank = &self.program.blank;
        self.state.words[..blank.len()].copy_from_slice(blank);
    }

    /// Takes up a packet for work; false if it belongs to another program.
    fn take(&mut self, packet: Packet) -> bool {
        let ours = packet.layout == self.program.identity && packet.phv.len() == self.program.blank.len();
        if ours {
            self.state.words[..packet.phv.len()].copy_from_slice(&packet.phv);
            self.state.payload = packet.payload;
            self.state.frame = packet.frame;
            self.keep_phv(packet.phv);
        }
        ours
    }

    /// Puts the working frame's buffer aside.
    pub(crate) fn finish(&mut self) {
        let frame = std::mem::take(&mut self.state.frame);
        self.recycle_frame(frame);
    }

    /// Takes back a packet that will not be sent, so that its buffers are used again.
    pub fn recycle(&mut self, packet: Packet) {
        self.recycle_frame(packet.frame);
        self.keep_phv(packet.phv);
    }

    /// Takes back the buffer of a transmitted frame.
    pub fn recycle_frame(&mut self, frame: Vec<u8>) {
        if frame.capacity() > 0 && self.spare_frames.len() < MAX_SPARE {
            self.spare_frames.push(frame);
        }
    }

    pub(crate) fn keep_phv(&mut self, phv: Vec<u64>) {
        if phv.capacity() > 0 && self.spare_phvs.len() < MAX_SPARE {
            self.spare_phvs.push(phv);
        }
    }

    pub(crate) fn spare_frame(&mut self) -> Vec<u8> {
        let mut frame = self.spare_frames.pop().unwrap_or_default();
        frame.clear();
        frame
    }

    pub(crate) fn spare_phv(&mut self) -> Vec<u64> {
        let mut phv = self.spare_phvs.pop().unwrap_or_default();
        phv.clear();
        phv
    }

    /// A field by the name P4 programmers use: `ipv4.src_addr`, `hdr.ipv4.src_addr`, `meta.user`,
    /// `standard_metadata.egress_spec`. `meta.` means the program's user metadata.
    pub fn field(&self, name: &str) -> Option<FieldRef> {
        self.program.code.layout.find_p4(name).map(FieldRef)
    }

    /// The value of a field in a packet; the low 128 bits of wider ones, 0 for another program's packet.
    pub fn read(&self, packet: &Packet, field: FieldRef) -> u128 {
        let Some(field) = self.program.code.layout.fields.get(field.index()) else {
            return 0;
        };
        if packet.layout != self.program.identity {
            return 0;
        }
        match packet.phv.get(field.span()) {
            Some([low]) => u128::from(*low),
            Some([low, high, ..]) => u128::from(*high) << 64 | u128::from(*low),
            _ => 0,
        }
    }

    /// How often an `assert` or `assume` of the program failed. BMv2 would have stopped.
    pub fn failed_assertions(&self) -> u64 {
        self.state.failed_assertions
    }
}

/// Whether a checksum's condition holds; no condition does.
fn holds(program: &Program, state: &mut State, condition: Option<(u32, u32)>) -> bool {
    condition.is_none_or(|(code, word)| {
        run(&program.code, state, code);
        state.words[word as usize] != 0
    })
}

/// Stores a value in a metadata field, cut to its width, if the program has the field.
#[inline]
pub(crate) fn set(state: &mut State, field: Option<MetadataWord>, value: u64) {
    if let Some(field) = field {
        set_in(&mut state.words, field, value);
    }
}

#[inline]
pub(crate) fn set_in(phv: &mut [u64], field: MetadataWord, value: u64) {
    phv[field.word as usize] = value & field.keep;
}
