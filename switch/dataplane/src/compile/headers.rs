//! Headers from bytes and back, as planned by `run/wire.rs`: a chunk of bytes is one load or store, its fields are
//! shifts.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value, types};

use super::function::Function;
use crate::bits::words;
use crate::run::ops::Word;
use crate::run::wire::{Piece, Plan, Segment};

/// Bytes of a frame exist, but are not aligned.
fn frame_memory() -> MemFlags {
    let mut flags = MemFlags::new();
    flags.set_notrap();
    flags
}

/// The loads or stores of 8, 4, 2 and 1 bytes that make up `bytes`: the offset of each, and the number of bytes after
/// it.
fn parts(bytes: usize) -> impl Iterator<Item = (Type, i32, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes - at;
        let (part, size) = match rest {
            8.. => (types::I64, 8),
            4.. => (types::I32, 4),
            2.. => (types::I16, 2),
            1 => (types::I8, 1),
            0 => return None,
        };
        let offset = at as i32;
        at += size;
        Some((part, offset, bytes - at))
    })
}

impl Function<'_, '_> {
    /// Loads a big-endian number of at most 8 bytes.
    fn load_bytes(&mut self, place: Value, offset: i32, bytes: usize) -> Value {
        let mut value = None;
        for (part, at, behind) in parts(bytes) {
            let loaded = self.builder.ins().load(part, frame_memory(), place, offset + at);
            let mut loaded = if part == types::I8 {
                loaded
            } else {
                self.builder.ins().bswap(loaded)
            };
            if part != types::I64 {
                loaded = self.builder.ins().uextend(types::I64, loaded);
            }
            let shifted = self.builder.ins().ishl_imm(loaded, 8 * behind as i64);
            value = Some(match value {
                None => shifted,
                Some(value) => self.builder.ins().bor(value, shifted),
            });
        }
        value.unwrap_or_else(|| self.constant(0))
    }

    fn store_bytes(&mut self, value: Value, place: Value, offset: i32, bytes: usize) {
        for (part, at, behind) in parts(bytes) {
            let mut shifted = self.builder.ins().ushr_imm(value, 8 * behind as i64);
            if part != types::I64 {
                shifted = self.builder.ins().ireduce(part, shifted);
            }
            let swapped = if part == types::I8 {
                shifted
            } else {
                self.builder.ins().bswap(shifted)
            };
            self.builder.ins().store(frame_memory(), swapped, place, offset + at);
        }
    }

    /// Combines the fields of a chunk into one number.
    pub fn gather(&mut self, pieces: &[Piece]) -> Value {
        let mut whole = self.constant(0);
        for piece in pieces {
            let value = self.get(piece.slot);
            let value = self.builder.ins().band_imm(value, piece.keep as i64);
            let value = self.builder.ins().ishl_imm(value, i64::from(piece.shift));
            whole = self.builder.ins().bor(whole, value);
        }
        whole
    }

    /// The words of a wide field, most significant first, and the bytes of each.
    fn wide(slot: usize, width: u32) -> impl Iterator<Item = (Word, usize)> {
        let (count, bytes) = (words(width), (width / 8) as usize);
        (0..count).rev().map(move |index| {
            let below = 8 * index;
            ((slot + index) as Word, (bytes - below).min(8))
        })
    }

    /// Loads the fields of a plan from `place`.
    pub fn load_plan(&mut self, plan: &Plan, place: Value) {
        let mut at = 0;
        for segment in plan.segments() {
            match segment {
                Segment::Chunk { bytes, pieces } => {
                    let whole = self.load_bytes(place, at, *bytes);
                    for piece in pieces {
                        let shifted = self.builder.ins().ushr_imm(whole, i64::from(piece.shift));
                        // There are no bits above the first field.
                        let value = match piece.shift + piece.keep.count_ones() == 8 * *bytes as u32 {
                            true => shifted,
                            false => self.builder.ins().band_imm(shifted, piece.keep as i64),
                        };
                        self.set(piece.slot, value);
                    }
                    at += *bytes as i32;
                }
                Segment::Wide { slot, width } => {
                    for (word, bytes) in Self::wide(*slot, *width) {
                        let value = self.load_bytes(place, at, bytes);
                        self.set(word, value);
                        at += bytes as i32;
                    }
                }
            }
        }
    }

    /// Stores the fields of a plan to `place`.
    pub fn store_plan(&mut self, plan: &Plan, place: Value) {
        let mut at = 0;
        for segment in plan.segments() {
            match segment {
                Segment::Chunk { bytes, pieces } => {
                    let whole = self.gather(pieces);
                    self.store_bytes(whole, place, at, *bytes);
                    at += *bytes as i32;
                }
                Segment::Wide { slot, width } => {
                    for (word, bytes) in Self::wide(*slot, *width) {
                        let value = self.get(word);
                        self.store_bytes(value, place, at, bytes);
                        at += bytes as i32;
                    }
                }
            }
        }
    }

    /// The deparser: writes the valid headers in front of a place that has `room` bytes in front of it. Returns the
    /// number of bytes written plus 1, or 0 if there is not enough room.
    pub fn write_headers(&mut self, emitted: &[(Word, &Plan)], end: Value, room: Value) {
        let mut total = self.constant(0);
        for &(valid, plan) in emitted {
            let valid = self.get(valid);
            let (bytes, nothing) = (self.constant(plan.bytes as u64), self.constant(0));
            let added = self.builder.ins().select(valid, bytes, nothing);
            total = self.builder.ins().iadd(total, added);
        }
        let fits = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, total, room);
        let (write, leave) = (self.block(), self.block());
        self.builder.ins().brif(fits, write, &[], leave, &[]);
        self.builder.switch_to_block(leave);
        let no = self.constant(0);
        self.builder.ins().return_(&[no]);
        self.builder.switch_to_block(write);
        let place = self.builder.declare_var(types::I64);
        let start = self.builder.ins().isub(end, total);
        self.builder.def_var(place, start);
        for &(valid, plan) in emitted {
            let valid = self.get(valid);
            self.only_if(
                valid,
                |f| {
                    let here = f.builder.use_var(place);
                    f.store_plan(plan, here);
                    let behind = f.builder.ins().iadd_imm(here, plan.bytes as i64);
                    f.builder.def_var(place, behind);
                },
                |_| {},
            );
        }
        let written = self.builder.ins().iadd_imm(total, 1);
        self.builder.ins().return_(&[written]);
    }
}
