//! Lowers expressions to flat 64-bit operations wherever the result is provably that of BMv2.
//!
//! BMv2 computes with unlimited precision. One word is nearly always enough, for two reasons:
//! - Addition, subtraction, multiplication, left shift and the bitwise operators need only the low 64 bits of their
//!   operands to give the low 64 bits of the exact result. A store keeps at most these.
//! - Comparison, right shift, division and saturation need the exact value. They are exact on a word if the range of
//!   the operand fits into 64 bits, signed or unsigned. Ranges are tracked here.
//!
//! All other expressions become an `Evaluate` operation.

use super::builder::Builder;
use super::range::{self, Range, SIGNED, UNSIGNED, fits};
use crate::bits::{mask, words};
use crate::run::exact::Int;
use crate::run::expr::{Arithmetic, Bool, Comparison, Data, HeaderExpr, UnionExpr};
use crate::run::ops::{Op, Word};

impl Builder<'_> {
    /// The range of an expression's exact value.
    pub fn range(&self, data: &Data) -> Range {
        range::of(self.layout, self.registers, data)
    }

    /// Puts the low 64 bits of an expression into a word.
    pub fn value(&mut self, data: &Data) -> Word {
        match self.in_place(data) {
            Some(word) => word,
            None => {
                let d = self.temporary();
                self.value_into(data, d, u64::MAX);
                d
            }
        }
    }

    /// The word that already holds the low 64 bits of an expression.
    fn in_place(&mut self, data: &Data) -> Option<Word> {
        match data {
            Data::Const(value) => Some(self.constant(Int::from_big(value.clone()).low64())),
            Data::Field(field) => {
                let field = &self.layout.fields[*field as usize];
                (!field.signed || field.width >= 64).then_some(field.slot)
            }
            Data::Valid(header) => Some(self.layout.headers[*header as usize].valid),
            Data::Param(slot, _) => Some(*slot),
            Data::StackCount(word) => Some(*word),
            _ => None,
        }
    }

    /// d = the low 64 bits of an expression, ANDed with `keep`.
    pub fn value_into(&mut self, data: &Data, d: Word, keep: u64) {
        if let Some(a) = self.in_place(data) {
            let m = self.constant(keep);
            return self.push(Op::Move { d, a, m });
        }
        match data {
            Data::Field(field) => {
                let field = &self.layout.fields[*field as usize];
                let (a, shift) = (field.slot, 64 - field.width.clamp(1, 64));
                self.push(Op::SignExtend { d, a, shift });
                self.keep(d, keep);
            }
            Data::FieldOf(header, offset) => self.field_of(data, header, *offset, d, keep),
            Data::Register(register, index) if self.registers[*register as usize].width <= 64 => {
                let cell = self.cell(index);
                let m = self.constant(keep);
                let missing = self.constant(0);
                self.push(Op::RegisterRead {
                    d,
                    register: *register,
                    cell,
                    m,
                    missing,
                });
            }
            Data::Binary(op, left, right) => self.binary(data, *op, left, right, d, keep),
            Data::BitNot(inner) => {
                let a = self.value(inner);
                let m = self.constant(keep);
                self.push(Op::Not { d, a, m });
            }
            Data::FromBool(truth) => {
                self.truth_into(truth, d);
                self.keep(d, keep);
            }
            Data::Select(condition, left, right) => {
                let c = self.truth(condition);
                let (a, b) = (self.value(left), self.value(right));
                self.push(Op::Select { d, c, a, b });
                self.keep(d, keep);
            }
            _ => self.evaluate(data, d, keep),
        }
    }

    fn keep(&mut self, d: Word, keep: u64) {
        if keep != u64::MAX {
            let m = self.constant(keep);
            self.push(Op::Move { d, a: d, m });
        }
    }

    fn evaluate(&mut self, data: &Data, d: Word, keep: u64) {
        self.push(Op::Evaluate {
            d,
            expr: Box::new(data.clone()),
        });
        self.keep(d, keep);
    }

    /// A word with an index. A negative or too large value becomes an index beyond the end of every array.
    pub fn cell(&mut self, index: &Data) -> Word {
        let word = self.value(index);
        if fits(self.range(index), UNSIGNED) || fits(self.range(index), SIGNED) {
            return word;
        }
        let d = self.temporary();
        let exact = Data::Binary(
            Arithmetic::SaturateUnsigned,
            Box::new(index.clone()),
            Box::new(Data::Const(64.into())),
        );
        self.evaluate(&exact, d, u64::MAX);
        d
    }

    fn field_of(&mut self, data: &Data, header: &HeaderExpr, offset: u32, d: Word, keep: u64) {
        let HeaderExpr::Indexed(headers, index) = header else {
            return self.evaluate(data, d, keep);
        };
        match self.word_offset(headers, offset) {
            Some((word_offset, _)) => {
                let list = self.list(headers);
                let i = self.cell(index);
                self.push(Op::Load {
                    d,
                    list,
                    i,
                    offset: word_offset,
                });
                self.keep(d, keep);
            }
            None => self.evaluate(data, d, keep),
        }
    }

    /// The offset of a field in the words of each of these headers, and its width. `None` unless it is an unsigned
    /// field of one word.
    pub fn word_offset(&self, headers: &[u32], offset: u32) -> Option<(u32, u32)> {
        let header = &self.layout.headers[*headers.first()? as usize];
        let field = &self.layout.fields[(header.first_field + offset) as usize];
        let plain = !field.signed && !field.saturating && field.length.is_none() && field.width <= 64;
        let same = headers
            .iter()
            .all(|&h| self.layout.headers[h as usize].kind == header.kind);
        (plain && same).then_some((field.slot - header.valid, field.width))
    }

    fn binary(&mut self, whole: &Data, op: Arithmetic, left: &Data, right: &Data, d: Word, keep: u64) {
        // The mask that p4c writes around an addition is combined with the mask of the store.
        if let (Arithmetic::And, Data::Const(constant)) = (op, right)
            && constant.sign() != num_bigint::Sign::Minus
        {
            return self.value_into(left, d, keep & Int::from_big(constant.clone()).low64());
        }
        let (l, r) = (self.range(left), self.range(right));
        let unsigned = fits(l, UNSIGNED) && fits(r, UNSIGNED);
        let exact = match op {
            Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul => true,
            Arithmetic::And | Arithmetic::Or | Arithmetic::Xor => true,
            Arithmetic::Shl => fits(r, UNSIGNED),
            Arithmetic::Shr => (fits(l, UNSIGNED) || fits(l, SIGNED)) && fits(r, UNSIGNED),
            Arithmetic::Div | Arithmetic::Mod => unsigned,
            Arithmetic::TwoComp | Arithmetic::SaturateUnsigned | Arithmetic::SaturateSigned => {
                return self.cast(whole, op, left, right, d, keep);
            }
        };
        if !exact {
            return self.evaluate(whole, d, keep);
        }
        let (a, b) = (self.value(left), self.value(right));
        let m = self.constant(keep);
        self.push(match op {
            Arithmetic::Add => Op::Add { d, a, b, m },
            Arithmetic::Sub => Op::Sub { d, a, b, m },
            Arithmetic::Mul => Op::Mul { d, a, b, m },
            Arithmetic::And => Op::And { d, a, b, m },
            Arithmetic::Or => Op::Or { d, a, b, m },
            Arithmetic::Xor => Op::Xor { d, a, b, m },
            Arithmetic::Shl => Op::Shl { d, a, b, m },
            Arithmetic::Shr if fits(l, UNSIGNED) => Op::Shr { d, a, b, m },
            Arithmetic::Shr => Op::Sar { d, a, b, m },
            Arithmetic::Div => Op::Div { d, a, b, m },
            _ => Op::Rem { d, a, b, m },
        });
    }

    fn cast(&mut self, whole: &Data, op: Arithmetic, left: &Data, right: &Data, d: Word, keep: u64) {
        let bits = match right {
            Data::Const(bits) => u32::try_from(bits).unwrap_or(u32::MAX),
            _ => u32::MAX,
        };
        let range = self.range(left);
        if !(1..=63).contains(&bits) {
            return self.evaluate(whole, d, keep);
        }
        if op == Arithmetic::TwoComp {
            let a = self.value(left);
            self.push(Op::SignExtend { d, a, shift: 64 - bits });
            return self.keep(d, keep);
        }
        let (low, high) = match op {
            Arithmetic::SaturateUnsigned => (0, mask(bits)),
            _ => (!mask(bits - 1), mask(bits - 1)),
        };
        if fits(range, SIGNED) {
            let a = self.value(left);
            let (low, high) = (self.constant(low), self.constant(high));
            self.push(Op::ClampSigned { d, a, low, high });
        } else if fits(range, UNSIGNED) {
            let a = self.value(left);
            let (low, high) = (self.constant(0), self.constant(high));
            self.push(Op::Clamp { d, a, low, high });
        } else {
            return self.evaluate(whole, d, keep);
        }
        self.keep(d, keep);
    }

    /// Puts a condition, as 0 or 1, into a word.
    pub fn truth(&mut self, truth: &Bool) -> Word {
        match truth {
            Bool::Const(value) => self.constant(u64::from(*value)),
            Bool::Valid(HeaderExpr::Fixed(header)) => self.layout.headers[*header as usize].valid,
            // d2b(b2d(x)) is x.
            Bool::FromData(data) if matches!(**data, Data::FromBool(_)) => match &**data {
                Data::FromBool(inner) => self.truth(inner),
                _ => unreachable!("matched above"),
            },
            _ => {
                let d = self.temporary();
                self.truth_into(truth, d);
                d
            }
        }
    }

    pub fn truth_into(&mut self, truth: &Bool, d: Word) {
        match truth {
            Bool::Const(_) | Bool::Valid(HeaderExpr::Fixed(_)) => {
                let a = self.truth(truth);
                let m = self.all_ones();
                self.push(Op::Move { d, a, m });
            }
            Bool::Compare(op, left, right) => self.compare(truth, *op, left, right, d),
            Bool::And(left, right) => {
                let (a, b) = (self.truth(left), self.truth(right));
                let m = self.all_ones();
                self.push(Op::And { d, a, b, m });
            }
            Bool::Or(left, right) => {
                let (a, b) = (self.truth(left), self.truth(right));
                let m = self.all_ones();
                self.push(Op::Or { d, a, b, m });
            }
            Bool::Not(inner) => {
                let a = self.truth(inner);
                self.push(Op::IsZero { d, a });
            }
            Bool::Iff(left, right) => {
                let (a, b) = (self.truth(left), self.truth(right));
                self.push(Op::Equal { d, a, b });
            }
            Bool::Select(condition, left, right) => {
                let c = self.truth(condition);
                let (a, b) = (self.truth(left), self.truth(right));
                self.push(Op::Select { d, c, a, b });
            }
            Bool::FromData(data) if fits(self.range(data), UNSIGNED) || fits(self.range(data), SIGNED) => {
                let a = self.value(data);
                self.push(Op::IsZero { d, a });
                self.push(Op::IsZero { d, a: d });
            }
            Bool::ValidUnion(UnionExpr::Fixed(union)) => {
                let layout = self.layout;
                let zero = self.constant(0);
                let m = self.all_ones();
                self.push(Op::Move { d, a: zero, m });
                for &header in &layout.unions[*union as usize].headers {
                    self.push(Op::Or {
                        d,
                        a: d,
                        b: layout.headers[header as usize].valid,
                        m,
                    });
                }
            }
            Bool::Valid(HeaderExpr::Indexed(headers, index)) => {
                let list = self.list(headers);
                let i = self.cell(index);
                self.push(Op::Load { d, list, i, offset: 0 });
            }
            _ => self.push(Op::EvaluateBool {
                d,
                expr: Box::new(truth.clone()),
            }),
        }
    }

    fn compare(&mut self, whole: &Bool, op: Comparison, left: &Data, right: &Data, d: Word) {
        let (l, r) = (self.range(left), self.range(right));
        let unsigned = fits(l, UNSIGNED) && fits(r, UNSIGNED);
        let signed = fits(l, SIGNED) && fits(r, SIGNED);
        if !unsigned && !signed {
            if let (Comparison::Equal, Some((a, b, n))) = (op, self.same_width(left, right)) {
                return self.push(Op::EqualWords { d, a, b, n });
            }
            return self.push(Op::EvaluateBool {
                d,
                expr: Box::new(whole.clone()),
            });
        }
        let (a, b) = (self.value(left), self.value(right));
        self.push(match op {
            Comparison::Equal => Op::Equal { d, a, b },
            Comparison::Less if unsigned => Op::Less { d, a, b },
            Comparison::Less => Op::LessSigned { d, a, b },
            Comparison::LessOrEqual if unsigned => Op::LessOrEqual { d, a, b },
            Comparison::LessOrEqual => Op::LessOrEqualSigned { d, a, b },
        });
    }

    /// The words of both sides, if both are unsigned and in place with the same number of words.
    fn same_width(&mut self, left: &Data, right: &Data) -> Option<(Word, Word, u32)> {
        let width = self.place_width(left).or_else(|| self.place_width(right))?;
        let a = self.wide_place(left, width)?;
        let b = self.wide_place(right, width)?;
        Some((a, b, words(width) as u32))
    }

    fn place_width(&self, data: &Data) -> Option<u32> {
        match data {
            Data::Field(field) => {
                let field = &self.layout.fields[*field as usize];
                (!field.signed && field.length.is_none()).then_some(field.width)
            }
            Data::Param(_, width) => Some(*width),
            _ => None,
        }
    }

    /// The first word of an unsigned value, stored in as many words as `width` needs.
    pub fn wide_place(&mut self, data: &Data, width: u32) -> Option<Word> {
        match data {
            Data::Const(value) if value.sign() != num_bigint::Sign::Minus && value.bits() <= u64::from(width) => {
                Some(self.wide_constant(value, width))
            }
            Data::Field(field) => {
                let own = self.place_width(data)?;
                let slot = self.layout.fields[*field as usize].slot;
                (words(own) == words(width)).then_some(slot)
            }
            Data::Param(slot, own) => (words(*own) == words(width)).then_some(*slot),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
