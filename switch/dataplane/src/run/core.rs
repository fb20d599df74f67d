//! What every architecture shares: code, state, tables of the packet replication engine, and buffers.

use std::collections::HashMap;

use super::layout::{Place, register};
use super::machine::run;
use super::native;
use super::observer::Observer;
use super::ops::Address;
use super::parser::ValueSet;
use super::program::{MetadataWord, Program};
use super::state::State;
use super::wire::write_header;
use crate::bits::to_bytes;
use crate::events::{Loss, What};
use crate::ids::{DigestId, Port};
use crate::packet::{DigestMessage, Outcomes, Packet};
use crate::values::CloneSession;

/// Buffers kept for packets to come.
const MAX_SPARE: usize = 1 << 14;

/// Positions of registers, counters and meters by name.
#[derive(Debug)]
pub(crate) struct Names {
    /// Calculations that the control plane may change, and their widths.
    pub crcs: HashMap<String, (u32, u32)>,
    pub registers: HashMap<String, u32>,
    pub counters: HashMap<String, u32>,
    pub meters: HashMap<String, u32>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Core {
    pub program: Program,
    pub state: State,
    pub sets: Vec<ValueSet>,
    pub names: Names,
    pub groups: HashMap<u16, Vec<(Port, u16)>>,
    pub sessions: HashMap<u16, CloneSession>,
    /// The port of the controller, for programs that copy packets to it.
    pub cpu_port: Option<Port>,
    spare_frames: Vec<Vec<u8>>,
    spare_phvs: Vec<Vec<u64>>,
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
        }
    }

    /// Runs a control to its end; an `exit` ends this control only.
    #[inline]
    pub fn run<O: Observer>(&mut self, control: Address, name: &'static str, seen: &mut O) {
        seen.see(|| What::ControlStarted { control: name });
        run(&self.program.code, &mut self.state, control, seen);
        self.state.words[register::EXIT as usize] = 0;
        seen.see(|| What::ControlEnded { control: name });
    }

    /// Tells which headers the deparser writes into a frame of this length.
    pub fn tell_deparsed<O: Observer>(&self, headers: &[u32], bytes: usize, seen: &mut O) {
        seen.see(|| {
            let layout = &self.program.code.layout;
            let headers = headers.iter().map(|&header| &layout.headers[header as usize]);
            let valid = headers.filter(|header| self.state.words[header.valid as usize] != 0);
            What::Deparsed {
                headers: valid.map(|header| header.name.clone()).collect(),
                bytes,
            }
        });
    }

    /// Valid headers in order, then the rest of the packet. `number`: of the parser that has read it.
    ///
    /// Takes the frame at work. Headers as long as those that were read are written in their place; else the frame is copied.
    #[inline]
    pub fn emit(&mut self, headers: &[u32], number: usize) -> Vec<u8> {
        if self.write_in_place(headers, number) {
            return std::mem::take(&mut self.state.frame);
        }
        let mut frame = self.spare_frame();
        let (program, state) = (&self.program, &self.state);
        let layout = &program.code.layout;
        for &header in headers {
            if state.words[layout.headers[header as usize].valid as usize] != 0 {
                write_header(layout, &program.code.plans, &state.words, header, &mut frame);
            }
        }
        frame.extend_from_slice(state.frame.get(state.payload..).unwrap_or(&[]));
        frame
    }

    /// Writes the valid headers over those that the parser has read, if they are as long.
    fn write_in_place(&mut self, headers: &[u32], number: usize) -> bool {
        let (program, state) = (&self.program, &mut self.state);
        if program.code.native.is_some() {
            return native::deparse(&program.code, state, number);
        }
        let layout = &program.code.layout;
        let words = &state.words;
        let valid = |&&header: &&u32| words[layout.headers[header as usize].valid as usize] != 0;
        let plans = || {
            let valid = headers.iter().filter(valid);
            valid.map(|&header| program.code.plans[header as usize].as_ref())
        };
        let lengths = plans().map(|plan| plan.map(|plan| plan.bytes));
        if lengths.sum::<Option<usize>>() != Some(state.payload) {
            return false;
        }
        let mut at = 0;
        for plan in plans().flatten() {
            plan.write(words, &mut state.frame[at..]);
            at += plan.bytes;
        }
        true
    }

    /// The digest that the program asked for, if it did.
    pub fn send_digest<O: Observer>(&mut self, out: &mut Outcomes, seen: &mut O) {
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
        seen.see(|| What::Digest {
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

    /// Takes up a packet for work; false if it belongs to another program.
    pub fn take(&mut self, packet: Packet) -> bool {
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
    pub fn finish(&mut self) {
        let frame = std::mem::take(&mut self.state.frame);
        self.recycle_frame(frame);
    }

    /// Takes back a packet's buffers.
    pub fn recycle(&mut self, packet: Packet) {
        self.recycle_frame(packet.frame);
        self.keep_phv(packet.phv);
    }

    /// Takes back a frame's buffer.
    pub fn recycle_frame(&mut self, frame: Vec<u8>) {
        if frame.capacity() > 0 && self.spare_frames.len() < MAX_SPARE {
            self.spare_frames.push(frame);
        }
    }

    pub fn keep_phv(&mut self, phv: Vec<u64>) {
        if phv.capacity() > 0 && self.spare_phvs.len() < MAX_SPARE {
            self.spare_phvs.push(phv);
        }
    }

    pub fn spare_frame(&mut self) -> Vec<u8> {
        let mut frame = self.spare_frames.pop().unwrap_or_default();
        frame.clear();
        frame
    }

    /// A copy of a frame.
    pub fn copy_frame(&mut self, frame: &[u8]) -> Vec<u8> {
        let mut copy = self.spare_frame();
        copy.extend_from_slice(frame);
        copy
    }

    pub fn spare_phv(&mut self) -> Vec<u64> {
        let mut phv = self.spare_phvs.pop().unwrap_or_default();
        phv.clear();
        phv
    }

    /// A copy of the PHV of the packet at work.
    pub fn copy_phv(&mut self) -> Vec<u64> {
        let mut phv = self.spare_phv();
        phv.extend_from_slice(&self.state.words[..self.program.blank.len()]);
        phv
    }
}

/// The packet goes no further.
pub(crate) fn lose<O: Observer>(why: Loss, out: &mut Outcomes, seen: &mut O) {
    out.dropped = true;
    seen.see(|| What::Dropped { why });
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
