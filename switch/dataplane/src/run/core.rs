//! The parts that all architectures share: code, state, tables of the packet replication engine, and buffers.

use std::collections::HashMap;

use super::call;
use super::layout::{FieldOrValidity, register};
use super::machine::run;
use super::observer::Observer;
use super::ops::Address;
use super::program::{MetadataWord, Program};
use super::state::State;
use super::value_set::ValueSet;
use super::wire::write_header;
use crate::bits::to_bytes;
use crate::events::{Data, EventKind, Loss, PacketId};
use crate::frame::Frame;
use crate::ids::{DigestId, Nanos, Port};
use crate::packet::{Body, DigestMessage, Outcomes, Packet};
use crate::values::CloneSession;

/// Most buffers that are kept for later packets.
const MAX_SPARE: usize = 1 << 14;

/// Positions of registers, counters and meters by name.
#[derive(Debug)]
pub(crate) struct Names {
    /// Position and width of calculations that the control plane may change.
    pub crcs: HashMap<String, (u32, u32)>,
    pub registers: HashMap<String, u32>,
    pub counters: HashMap<String, u32>,
    pub meters: HashMap<String, u32>,
}

/// The part of a pipeline that all architectures share.
#[derive(Debug)]
pub(crate) struct Core {
    pub program: Program,
    pub state: State,
    pub sets: Vec<ValueSet>,
    pub names: Names,
    pub groups: HashMap<u16, Vec<(Port, u16)>>,
    pub sessions: HashMap<u16, CloneSession>,
    /// Port of the controller, for programs that copy packets to it.
    pub cpu_port: Option<Port>,
    spare_frames: Vec<Frame>,
    spare_phvs: Vec<Vec<u64>>,
    /// Packets without frames.
    spare_packets: Vec<Packet>,
}

impl Core {
    pub fn new(program: Program, state: State, sets: Vec<ValueSet>, names: Names) -> Core {
        Core {
            program,
            state,
            sets,
            names,
            groups: HashMap::new(),
            sessions: HashMap::new(),
            cpu_port: None,
            spare_frames: Vec::new(),
            spare_phvs: Vec::new(),
            spare_packets: Vec::new(),
        }
    }

    /// Numbers an arriving frame, and makes it the working frame. Returns a copy of it.
    #[inline]
    pub fn arrive<O: Observer>(&mut self, now: Nanos, (port, frame): (Port, &[u8]), observer: &mut O) -> Frame {
        let id = observer.number();
        observer.begin_packet(now, id);
        observer.event(|| EventKind::Received {
            port,
            bytes: frame.len(),
            data: Data(frame.to_vec()),
        });
        self.copy_frame(frame)
    }

    /// Runs a control to its end. An `exit` ends only this control. An `exit` in the parser ends the control before it
    /// starts (BMv2's `Pipeline::apply`).
    #[inline]
    pub fn run<O: Observer>(&mut self, control: Address, name: &'static str, observer: &mut O) {
        observer.event(|| EventKind::ControlStarted { control: name });
        if self.state.words[register::EXIT as usize] == 0 {
            run(&self.program.code, &mut self.state, control, observer);
        }
        self.state.words[register::EXIT as usize] = 0;
        observer.event(|| EventKind::ControlEnded { control: name });
    }

    /// Logs the headers that the deparser writes into a frame of this length.
    pub fn report_deparsed<O: Observer>(&self, headers: &[u32], bytes: usize, observer: &mut O) {
        observer.event(|| {
            let layout = &self.program.code.layout;
            let headers = headers.iter().map(|&header| &layout.headers[header as usize]);
            let valid = headers.filter(|header| self.state.words[header.valid as usize] != 0);
            EventKind::Deparsed {
                headers: valid.map(|header| header.name.clone()).collect(),
                bytes,
            }
        });
    }

    /// Deparses: valid headers in order, then the rest of the packet. `number`: the parser that has read it.
    ///
    /// Takes the working frame. The headers are written over the old ones, and the rest stays in place.
    #[inline]
    pub fn emit(&mut self, headers: &[u32], number: usize) -> Frame {
        let (program, state) = (&self.program, &mut self.state);
        if !call::deparse(&program.code, state, number) {
            let layout = &program.code.layout;
            let mut written = std::mem::take(&mut state.scratch);
            written.clear();
            for &header in headers {
                if state.words[layout.headers[header as usize].valid as usize] != 0 {
                    write_header(layout, &program.code.plans, &state.words, header, &mut written);
                }
            }
            state.frame.replace_front(state.payload, &written);
            state.scratch = written;
        }
        std::mem::take(&mut state.frame)
    }

    /// Moves the messages of `log_msg` to the results.
    #[inline]
    pub fn hand_out_log(&mut self, out: &mut Outcomes) {
        if !self.state.log.is_empty() {
            out.log.append(&mut self.state.log);
        }
    }

    /// Sends the digest that the program asked for, if any.
    #[inline]
    pub fn send_digest<O: Observer>(&mut self, out: &mut Outcomes, observer: &mut O) {
        let id = self.state.words[register::DIGEST as usize];
        if id != 0 {
            self.make_digest(id, out, observer);
        }
    }

    fn make_digest<O: Observer>(&mut self, id: u64, out: &mut Outcomes, observer: &mut O) {
        self.state.words[register::DIGEST as usize] = 0;
        let layout = &self.program.code.layout;
        let Some(index) = self.program.digests.iter().position(|digest| digest.id == id) else {
            return;
        };
        let words = &self.state.words;
        let bytes = |place: &FieldOrValidity| match *place {
            FieldOrValidity::Field(field) => {
                let field = &layout.fields[field as usize];
                to_bytes(&words[field.span()], field.width)
            }
            FieldOrValidity::Valid(header) => vec![words[layout.headers[header as usize].valid as usize] as u8],
        };
        let fields = self.program.digests[index].fields.iter().map(bytes).collect();
        observer.event(|| EventKind::Digest {
            digest: self.program.digests[index].name.clone(),
        });
        out.digests.push(DigestMessage {
            digest: DigestId(index as u32),
            fields,
        });
    }

    pub fn read_word(&self, field: MetadataWord) -> u64 {
        self.state.words[field.word as usize]
    }

    pub fn reset_words(&mut self) {
        let blank = &self.program.blank;
        self.state.words[..blank.len()].copy_from_slice(blank);
    }

    /// A packet of this program.
    pub fn packet(&mut self, id: PacketId, phv: Vec<u64>, frame: Frame, payload: usize) -> Packet {
        let mut packet = self.spare_packets.pop().unwrap_or_default();
        let before = std::mem::replace(
            &mut *packet.body,
            Body {
                layout: self.program.identity,
                phv,
                frame,
                payload: payload as u32,
                id: id.into(),
            },
        );
        self.keep_phv(before.phv);
        packet
    }

    /// The working packet, with its PHV; the words of the state are then those of a spare packet. The packet
    /// takes all words along, also constants and intermediate results, so none is copied.
    #[inline]
    pub fn take_packet(&mut self, id: PacketId, frame: Frame) -> Packet {
        let mut packet = self.spare_packet(id, frame);
        std::mem::swap(&mut packet.body.phv, &mut self.state.words);
        packet
    }

    /// A packet with a copy of the working PHV.
    #[inline]
    pub fn copy_packet(&mut self, id: PacketId, frame: Frame) -> Packet {
        let mut packet = self.spare_packet(id, frame);
        let phv = self.program.blank.len();
        packet.body.phv[..phv].copy_from_slice(&self.state.words[..phv]);
        packet
    }

    /// A packet with a blank PHV and nothing parsed.
    pub fn blank_packet(&mut self, id: PacketId, frame: Frame) -> Packet {
        let mut packet = self.spare_packet(id, frame);
        packet.body.payload = 0;
        let blank = &self.program.blank;
        packet.body.phv[..blank.len()].copy_from_slice(blank);
        packet
    }

    /// A packet with words of its own for any PHV.
    #[inline]
    fn spare_packet(&mut self, id: PacketId, frame: Frame) -> Packet {
        let mut packet = self.spare_packets.pop().unwrap_or_default();
        let body = &mut *packet.body;
        if body.phv.len() != self.state.words.len() {
            body.phv.clone_from(&self.state.words);
        }
        body.layout = self.program.identity;
        body.frame = frame;
        body.payload = self.state.payload as u32;
        body.id = id.into();
        packet
    }

    /// Takes the body out of a packet, and keeps the packet for reuse.
    #[inline]
    pub fn open(&mut self, mut packet: Packet) -> Body {
        let body = std::mem::take(&mut *packet.body);
        self.keep_packet(packet);
        body
    }

    /// Makes a packet the working packet. Returns false if it belongs to another program.
    #[inline]
    pub fn take(&mut self, mut packet: Packet) -> bool {
        let Body {
            layout,
            phv,
            frame,
            payload,
            ..
        } = &mut *packet.body;
        let ours = *layout == self.program.identity && phv.len() == self.state.words.len();
        let frame = std::mem::take(frame);
        if ours {
            std::mem::swap(&mut self.state.words, phv);
            self.state.payload = *payload as usize;
            self.state.frame = frame;
        } else {
            self.recycle_frame(frame);
        }
        self.keep_packet(packet);
        ours
    }

    /// Keeps a packet without a frame, and its words, for reuse.
    #[inline]
    fn keep_packet(&mut self, mut packet: Packet) {
        if packet.body.layout != self.program.identity {
            packet.body.phv = Vec::new();
        }
        if self.spare_packets.len() < MAX_SPARE {
            self.spare_packets.push(packet);
        }
    }

    /// Keeps the buffer of the working frame, unless the packet took it along.
    #[inline]
    pub fn finish(&mut self) {
        if self.state.frame.has_room() {
            let frame = std::mem::take(&mut self.state.frame);
            self.recycle_frame(frame);
        }
    }

    /// Takes back the buffers of a packet.
    pub fn recycle(&mut self, mut packet: Packet) {
        let frame = std::mem::take(&mut packet.body.frame);
        self.recycle_frame(frame);
        self.keep_packet(packet);
    }

    /// Takes back the buffer of a frame.
    pub fn recycle_frame(&mut self, frame: Frame) {
        if frame.has_room() && self.spare_frames.len() < MAX_SPARE {
            self.spare_frames.push(frame);
        }
    }

    pub fn keep_phv(&mut self, phv: Vec<u64>) {
        if phv.capacity() > 0 && self.spare_phvs.len() < MAX_SPARE {
            self.spare_phvs.push(phv);
        }
    }

    pub fn spare_frame(&mut self) -> Frame {
        let mut frame = self.spare_frames.pop().unwrap_or_default();
        frame.clear();
        frame
    }

    pub fn copy_frame(&mut self, frame: &[u8]) -> Frame {
        let mut copy = self.spare_frame();
        copy.tail().extend_from_slice(frame);
        copy
    }

    pub fn spare_phv(&mut self) -> Vec<u64> {
        let mut phv = self.spare_phvs.pop().unwrap_or_default();
        phv.clear();
        phv
    }

    /// A copy of the working PHV.
    pub fn copy_phv(&mut self) -> Vec<u64> {
        let mut phv = self.spare_phv();
        phv.extend_from_slice(&self.state.words[..self.program.blank.len()]);
        phv
    }
}

/// Drops the packet.
pub(crate) fn lose<O: Observer>(why: Loss, out: &mut Outcomes, observer: &mut O) {
    out.dropped = true;
    observer.event(|| EventKind::Dropped { why });
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
