//! The log of packets: records their events.

use super::code::{Code, Mark};
use super::layout::{Field, register};
use super::observer::Observer;
use super::ops::{Address, Assignment, Op, Target};
use super::state::State;
use crate::bits::{to_bytes, words};
use crate::events::{Event, EventKind, Matched, Named, Number, PacketId};
use crate::ids::Nanos;

/// Most packets whose copies are numbered at the same time. For an older packet, the numbers start again.
const PACKETS_WITH_COPIES: usize = 1 << 12;

/// Recorder of the events of packets.
#[derive(Debug)]
pub(crate) struct Tracer {
    pub events: Vec<Event>,
    now: Nanos,
    id: PacketId,
    /// Number of frames so far.
    frames: u64,
    /// The packet at each place, and the number of its copies so far.
    copies: Vec<(u64, u16)>,
    /// The PHV at the last recorded change.
    before: Vec<u64>,
}

impl Tracer {
    /// `frames`: the number of the first frame.
    pub fn new(frames: u64) -> Tracer {
        Tracer {
            events: Vec::new(),
            now: 0,
            id: PacketId::default(),
            frames,
            copies: vec![(u64::MAX, 0); PACKETS_WITH_COPIES],
            before: Vec::new(),
        }
    }

    pub fn frames(&self) -> u64 {
        self.frames
    }

    fn push(&mut self, what: EventKind) {
        self.events.push(Event {
            time_ns: self.now,
            id: self.id,
            what,
        });
    }
}

fn number(words: &[u64], width: u32) -> Number {
    Number {
        width,
        bytes: to_bytes(words, width),
    }
}

/// Value of a field. A variable-length field has its current length.
fn value(field: &Field, words: &[u64]) -> Number {
    let width = field.length.map_or(field.width, |length| {
        u32::try_from(words[length as usize])
            .unwrap_or(u32::MAX)
            .min(field.width)
    });
    number(&words[field.span()], width)
}

/// An action and its stored arguments.
fn action(code: &Code, state: &State, action: u32, through: Option<(u32, Option<u32>)>) -> EventKind {
    let action = &code.actions[action as usize];
    let mut at = code.param_base;
    let arguments = action.params.iter().map(|(name, width)| {
        let words = &state.words[at..at + words(*width)];
        at += words.len();
        Named {
            name: name.clone(),
            value: number(words, *width),
        }
    });
    let arguments = arguments.collect();
    EventKind::Action {
        action: action.name.clone(),
        arguments,
        group: through.and_then(|(_, group)| group),
        member: through.map(|(member, _)| member),
    }
}

impl Observer for Tracer {
    fn begin_packet(&mut self, now: Nanos, id: PacketId) {
        (self.now, self.id) = (now, id);
    }

    fn number(&mut self) -> PacketId {
        let packet = self.frames;
        self.frames += 1;
        PacketId { packet, copy: 0 }
    }

    fn id(&self) -> PacketId {
        self.id
    }

    fn copy(&mut self) -> PacketId {
        let packet = self.id.packet;
        let place = &mut self.copies[packet as usize % PACKETS_WITH_COPIES];
        if place.0 != packet {
            *place = (packet, 0);
        }
        place.1 = place.1.wrapping_add(1);
        PacketId { packet, copy: place.1 }
    }

    fn event(&mut self, what: impl FnOnce() -> EventKind) {
        self.push(what());
    }

    fn accept_fields(&mut self, state: &State) {
        self.before.clear();
        self.before.extend_from_slice(&state.words);
    }

    fn before_op(&mut self, code: &Code, state: &State, at: Address) {
        for mark in code.marks.get(&at).map_or(&[][..], |marks| marks) {
            match mark {
                Mark::Condition(..) => {}
                Mark::Statement(source) => self.push(EventKind::Statement {
                    source: source.as_ref().clone(),
                }),
                Mark::Table(table) => self.push(EventKind::Table {
                    table: code.tables[*table as usize].name.clone(),
                    key: Vec::new(),
                    hit: false,
                    entry: None,
                }),
                Mark::Action(index) => self.push(action(code, state, *index, None)),
            }
        }
    }

    fn after_op(&mut self, code: &Code, state: &State, op: &Op) {
        let word = |word: u32| state.words[word as usize];
        let cell = |register: u32, index: u64| {
            let array = &state.registers.0[register as usize];
            let cell = usize::try_from(index).ok().and_then(|index| array.cell(index));
            (array.name.clone(), cell.map(|cell| number(cell, array.width)))
        };
        match op {
            Op::RegisterRead {
                register, cell: index, ..
            } => {
                let index = word(*index);
                let (register, value) = cell(*register, index);
                self.push(EventKind::RegisterRead { register, index, value });
            }
            Op::RegisterWrite {
                register, cell: index, ..
            } => {
                let index = word(*index);
                let (register, value) = cell(*register, index);
                self.push(EventKind::RegisterWritten { register, index, value });
            }
            Op::Assign(assignment) => {
                if let Assignment {
                    to: Target::Register(register, index),
                    ..
                } = assignment.as_ref()
                {
                    let index = code.env(state).data(index).low64();
                    let (register, value) = cell(*register, index);
                    self.push(EventKind::RegisterWritten { register, index, value });
                }
            }
            Op::Count { counter, cell } => self.push(EventKind::Counted {
                counter: state.counters[*counter as usize].name.clone(),
                index: word(*cell),
            }),
            Op::Log(_) => {
                if let Some(message) = state.log.last() {
                    let message = message.clone();
                    self.push(EventKind::Log { message });
                }
            }
            Op::Assert { a } if word(*a) == 0 => self.push(EventKind::AssertionFailed {}),
            _ => {}
        }
        self.compare_fields(code, state);
    }

    fn after_branch(&mut self, code: &Code, at: Address, holds: bool) {
        for mark in code.marks.get(&at).map_or(&[][..], |marks| marks) {
            if let Mark::Condition(name, source) = mark {
                self.push(EventKind::Condition {
                    condition: name.clone(),
                    source: source.as_deref().cloned(),
                    holds,
                });
            }
        }
    }

    fn after_lookup(&mut self, code: &Code, state: &State, table: u32, slot: Option<u32>) {
        let program = &code.tables[table as usize];
        let entries = &state.tables[table as usize].entries;
        let key = entries.specs.iter().map(|spec| {
            let slot = spec.slot as usize;
            let mut key = state.words[slot..slot + words(spec.width)].to_vec();
            if let Some(mask) = &spec.mask {
                key.iter_mut().zip(mask).for_each(|(key, mask)| *key &= mask);
            }
            Named {
                name: spec.name.clone(),
                value: number(&key, spec.width),
            }
        });
        let key = key.collect();
        let entry = slot.map(|slot| {
            let priority = entries.origin(slot).priority;
            Matched::new(entries.handle(slot), &entries.unpack(slot), priority)
        });
        self.push(EventKind::Table {
            table: program.name.clone(),
            key,
            hit: slot.is_some(),
            entry,
        });
        // The table may have written the colour of a direct meter.
        self.compare_fields(code, state);
    }

    fn before_action(&mut self, code: &Code, state: &State, index: u32, through: Option<(u32, Option<u32>)>) {
        self.push(action(code, state, index, through));
    }

    fn compare_fields(&mut self, code: &Code, state: &State) {
        let layout = &code.layout;
        let (now, before) = (&state.words[..layout.words], &self.before[..layout.words]);
        if now[register::COUNT as usize..] == before[register::COUNT as usize..] {
            return;
        }
        let mut changes = Vec::new();
        for header in &layout.headers {
            if now[header.block()] == before[header.block()] {
                continue;
            }
            let valid = header.valid as usize;
            if now[valid] != before[valid] {
                changes.push(EventKind::Validity {
                    header: header.name.clone(),
                    valid: now[valid] != 0,
                });
            }
            for index in header.fields() {
                let field = &layout.fields[index];
                let (before, after) = (value(field, before), value(field, now));
                if before != after {
                    changes.push(EventKind::Changed {
                        field: layout.field_name(index as u32),
                        before,
                        after,
                    });
                }
            }
        }
        changes.into_iter().for_each(|change| self.push(change));
        self.accept_fields(state);
    }

    fn extracted(&mut self, code: &Code, state: &State, header: u32, bytes: usize) {
        let layout = &code.layout;
        let header = &layout.headers[header as usize];
        let named = |field: &Field| Named {
            name: field.name.clone(),
            value: value(field, &state.words),
        };
        self.push(EventKind::Extracted {
            header: header.name.clone(),
            bytes,
            fields: layout.fields[header.fields()].iter().map(named).collect(),
        });
        self.accept_fields(state);
    }
}
