//! Operations that neither jump nor end a block.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::arrays::Cells;
use super::function::Function;
use crate::bits::mask;
use crate::run::layout::register;
use crate::run::ops::{Address, HeaderOp, Op, Word};

/// Largest number of words that are copied or compared one by one.
const MAX_WORDS: u32 = 16;

impl Function<'_, '_> {
    /// Translates the operation at an address.
    pub fn operation(&mut self, at: Address) {
        let code = self.code;
        match code.ops[at as usize] {
            Op::Move { d, a, m } => self.unary(d, a, m, |_, a| a),
            Op::Not { d, a, m } => self.unary(d, a, m, |f, a| f.builder.ins().bnot(a)),
            Op::Add { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| f.builder.ins().iadd(a, b)),
            Op::Sub { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| f.builder.ins().isub(a, b)),
            Op::Mul { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| f.builder.ins().imul(a, b)),
            Op::And { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| f.builder.ins().band(a, b)),
            Op::Or { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| f.builder.ins().bor(a, b)),
            Op::Xor { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| f.builder.ins().bxor(a, b)),
            Op::Shl { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| {
                let shifted = f.builder.ins().ishl(a, b);
                f.unless_too_far(b, shifted)
            }),
            Op::Shr { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| {
                let shifted = f.builder.ins().ushr(a, b);
                f.unless_too_far(b, shifted)
            }),
            Op::Sar { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| {
                let most = f.constant(63);
                let b = f.builder.ins().umin(b, most);
                f.builder.ins().sshr(a, b)
            }),
            Op::Div { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| f.divide(a, b, false)),
            Op::Rem { d, a, b, m } => self.binary(d, a, b, m, |f, a, b| f.divide(a, b, true)),
            Op::SignExtend { d, a, shift } => {
                let a = self.get(a);
                let shifted = self.builder.ins().ishl_imm(a, i64::from(shift));
                let value = self.builder.ins().sshr_imm(shifted, i64::from(shift));
                self.set(d, value);
            }
            Op::Clamp { d, a, low, high } => {
                let (a, low, high) = (self.get(a), self.get(low), self.get(high));
                let value = self.builder.ins().umax(a, low);
                let value = self.builder.ins().umin(value, high);
                self.set(d, value);
            }
            Op::ClampSigned { d, a, low, high } => {
                let (a, low, high) = (self.get(a), self.get(low), self.get(high));
                let value = self.builder.ins().smax(a, low);
                let value = self.builder.ins().smin(value, high);
                self.set(d, value);
            }
            Op::Equal { d, a, b } => self.comparison(d, IntCC::Equal, a, b),
            Op::Less { d, a, b } => self.comparison(d, IntCC::UnsignedLessThan, a, b),
            Op::LessOrEqual { d, a, b } => self.comparison(d, IntCC::UnsignedLessThanOrEqual, a, b),
            Op::LessSigned { d, a, b } => self.comparison(d, IntCC::SignedLessThan, a, b),
            Op::LessOrEqualSigned { d, a, b } => self.comparison(d, IntCC::SignedLessThanOrEqual, a, b),
            Op::IsZero { d, a } => {
                let a = self.get(a);
                let zero = self.builder.ins().icmp_imm(IntCC::Equal, a, 0);
                let value = self.truth(zero);
                self.set(d, value);
            }
            Op::Select { d, c, a, b } => {
                let (c, a, b) = (self.get(c), self.get(a), self.get(b));
                let value = self.builder.ins().select(c, a, b);
                self.set(d, value);
            }
            Op::Copy { d, a, n } if n <= MAX_WORDS => {
                let values: Vec<Value> = (a..a + n).map(|word| self.get(word)).collect();
                (d..).zip(values).for_each(|(word, value)| self.set(word, value));
            }
            Op::EqualWords { d, a, b, n } if n <= MAX_WORDS => {
                let mut differ = self.constant(0);
                for i in 0..n {
                    let (a, b) = (self.get(a + i), self.get(b + i));
                    let bits = self.builder.ins().bxor(a, b);
                    differ = self.builder.ins().bor(differ, bits);
                }
                let equal = self.builder.ins().icmp_imm(IntCC::Equal, differ, 0);
                let value = self.truth(equal);
                self.set(d, value);
            }
            Op::RegisterRead {
                d,
                register,
                cell,
                m,
                missing,
            } => self.register_read(d, register, cell, m, missing),
            Op::RegisterWrite { register, cell, a } => self.register_write(register, cell, a),
            Op::Count { counter, cell } => self.count(counter, cell),
            Op::Truncate { a } => {
                let (a, keep) = (self.get(a), self.get(register::TRUNCATE));
                let value = self.builder.ins().umin(a, keep);
                self.set(register::TRUNCATE, value);
            }
            Op::Header { what, header } if code.layout.headers[header as usize].varbit.is_none() => {
                self.header(what, header);
            }
            _ => self.step(at),
        }
    }

    fn unary(&mut self, d: Word, a: Word, m: Word, make: impl FnOnce(&mut Self, Value) -> Value) {
        let a = self.get(a);
        let value = make(self, a);
        let value = self.keep(value, m);
        self.set(d, value);
    }

    fn binary(&mut self, d: Word, a: Word, b: Word, m: Word, make: impl FnOnce(&mut Self, Value, Value) -> Value) {
        let (a, b) = (self.get(a), self.get(b));
        let value = make(self, a, b);
        let value = self.keep(value, m);
        self.set(d, value);
    }

    fn comparison(&mut self, d: Word, how: IntCC, a: Word, b: Word) {
        let truth = self.compare(how, a, b);
        let value = self.truth(truth);
        self.set(d, value);
    }

    /// The result of a shift, or 0 if the amount is 64 or more. The processor uses only the low six bits of an amount.
    fn unless_too_far(&mut self, amount: Value, shifted: Value) -> Value {
        let near = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, amount, 64);
        let nothing = self.constant(0);
        self.builder.ins().select(near, shifted, nothing)
    }

    /// Quotient, or remainder if `rest`; division by zero gives 0.
    fn divide(&mut self, a: Value, b: Value, rest: bool) -> Value {
        let (nothing, one) = (self.constant(0), self.constant(1));
        let by_zero = self.builder.ins().icmp_imm(IntCC::Equal, b, 0);
        let safe = self.builder.ins().select(by_zero, one, b);
        let value = match rest {
            true => self.builder.ins().urem(a, safe),
            false => self.builder.ins().udiv(a, safe),
        };
        self.builder.ins().select(by_zero, nothing, value)
    }

    /// True if the cell exists.
    fn is_cell(&mut self, cells: Cells, cell: Value) -> Value {
        let count = self.constant(cells.count as u64);
        self.builder.ins().icmp(IntCC::UnsignedLessThan, cell, count)
    }

    /// Place in memory of a cell of `words` words.
    fn place(&mut self, cells: Cells, cell: Value, words: i64) -> Value {
        let start = self.constant(cells.start as u64);
        let offset = self.builder.ins().imul_imm(cell, words * 8);
        self.builder.ins().iadd(start, offset)
    }

    fn register_read(&mut self, d: Word, register: u32, cell: Word, m: Word, missing: Word) {
        let cells = self.arrays.registers[register as usize].cells;
        let missing = self.get(missing);
        if cells.count == 0 {
            return self.set(d, missing);
        }
        let cell = self.get(cell);
        let exists = self.is_cell(cells, cell);
        // This avoids a jump: if the cell does not exist, the first cell is read and its value ignored.
        let first = self.constant(0);
        let some = self.builder.ins().select(exists, cell, first);
        let place = self.place(cells, some, 1);
        let value = self.builder.ins().load(types::I64, Self::MEMORY, place, 0);
        let value = self.keep(value, m);
        let value = self.builder.ins().select(exists, value, missing);
        self.set(d, value);
    }

    fn register_write(&mut self, register: u32, cell: Word, a: Word) {
        let array = self.arrays.registers[register as usize];
        let (cell, a) = (self.get(cell), self.get(a));
        let bits = self.constant(mask(array.width));
        let value = self.builder.ins().band(a, bits);
        let exists = self.is_cell(array.cells, cell);
        let flag = self.constant(array.protected as u64);
        let protected = self.builder.ins().load(types::I8, Self::MEMORY, flag, 0);
        let free = self.builder.ins().icmp_imm(IntCC::Equal, protected, 0);
        let both = self.builder.ins().band(exists, free);
        self.only_if(
            both,
            |f| {
                let place = f.place(array.cells, cell, 1);
                f.builder.ins().store(Self::MEMORY, value, place, 0);
            },
            |_| {},
        );
    }

    fn count(&mut self, counter: u32, cell: Word) {
        let cells = self.arrays.counters[counter as usize];
        let (cell, length) = (self.get(cell), self.get(register::ARRIVED));
        let exists = self.is_cell(cells, cell);
        self.only_if(
            exists,
            |f| {
                let place = f.place(cells, cell, 2);
                for (offset, added) in [(0, None), (8, Some(length))] {
                    let before = f.builder.ins().load(types::I64, Self::MEMORY, place, offset);
                    let after = match added {
                        None => f.builder.ins().iadd_imm(before, 1),
                        Some(added) => f.builder.ins().iadd(before, added),
                    };
                    f.builder.ins().store(Self::MEMORY, after, place, offset);
                }
            },
            |_| {},
        );
    }

    /// Makes a header of fixed length valid or invalid.
    fn header(&mut self, what: HeaderOp, index: u32) {
        let code = self.code;
        let header = &code.layout.headers[index as usize];
        let bytes = i64::from(header.fixed_bytes);
        if what == HeaderOp::MarkValid {
            return self.mark_valid(index);
        }
        let valid = self.get(header.valid);
        let length = self.get(register::LENGTH);
        let block = header.valid..header.valid + header.len;
        let changes = match what {
            HeaderOp::Add => self.builder.ins().icmp_imm(IntCC::Equal, valid, 0),
            _ => self.builder.ins().icmp_imm(IntCC::NotEqual, valid, 0),
        };
        self.only_if(
            changes,
            |f| {
                let nothing = f.constant(0);
                let after = if what == HeaderOp::Add {
                    block.clone().for_each(|word| f.set(word, nothing));
                    f.mark_valid(index);
                    f.builder.ins().iadd_imm(length, bytes)
                } else {
                    f.set(header.valid, nothing);
                    let less = f.constant(bytes as u64);
                    let enough = f.builder.ins().umax(length, less);
                    f.builder.ins().isub(enough, less)
                };
                f.set(register::LENGTH, after);
            },
            |known| {
                known.forget_range(block.clone());
                header.rivals.iter().for_each(|&rival| known.forget(rival));
                known.forget(register::LENGTH);
            },
        );
    }

    /// Makes a member of a union valid, and all other members invalid.
    pub fn mark_valid(&mut self, header: u32) {
        let code = self.code;
        let header = &code.layout.headers[header as usize];
        let one = self.constant(1);
        self.set(header.valid, one);
        for &rival in &header.rivals {
            let nothing = self.constant(0);
            self.set(rival, nothing);
        }
    }

    /// Calls the interpreter for the operation at an address.
    fn step(&mut self, at: Address) {
        let (code, step) = (self.code, self.calls.step);
        self.call_back(step, u64::from(at));
        match code.ops[at as usize] {
            Op::Evaluate { d, .. }
            | Op::EvaluateBool { d, .. }
            | Op::EqualWords { d, .. }
            | Op::Load { d, .. }
            | Op::Meter { d, .. }
            | Op::Filter { d, .. }
            | Op::Hash { d, .. }
            | Op::Random { d, .. } => self.known.forget(d),
            Op::Assert { .. } | Op::Log(_) => {}
            Op::Copy { d, n, .. } => self.known.forget_range(d..d + n),
            _ => self.known.forget_all(),
        }
    }
}
