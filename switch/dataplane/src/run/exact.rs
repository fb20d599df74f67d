//! Exact evaluation of any expression with integers of any size, as in BMv2.
//!
//! This is the slow path. An expression that provably fits into 64 bits becomes flat operations when a program is
//! loaded; all others are evaluated here.

use num_bigint::{BigInt, Sign};

use super::expr::{Arithmetic, Bool, Comparison, Data, HeaderExpr, UnionExpr};
use super::layout::Layout;
use super::state::Registers;
use crate::bits::{cut, words};

/// Results are cut to this many bits, so no program can make them grow without bound.
const MAX_BITS: u64 = 1 << 16;

/// An integer of any size, kept as `i128` if it fits.
#[derive(Clone, Debug)]
pub(crate) enum Int {
    Small(i128),
    Big(BigInt),
}

impl Int {
    fn big(&self) -> BigInt {
        match self {
            Int::Small(value) => BigInt::from(*value),
            Int::Big(value) => value.clone(),
        }
    }

    pub fn from_big(value: BigInt) -> Int {
        match i128::try_from(&value) {
            Ok(small) => Int::Small(small),
            Err(_) => Int::Big(value),
        }
    }

    /// An integer from words, least significant first.
    pub fn from_words(value: &[u64]) -> Int {
        match *value {
            [low] => Int::Small(i128::from(low)),
            [low, high] if high >> 63 == 0 => Int::Small(i128::from(high) << 64 | i128::from(low)),
            _ => {
                let halves = value.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).collect();
                Int::from_big(BigInt::new(Sign::Plus, halves))
            }
        }
    }

    /// Stores the two's complement of `width` bits as words, least significant first.
    pub fn store(&self, width: u32, out: &mut [u64]) {
        match self {
            Int::Small(value) => {
                let fill = if *value < 0 { u64::MAX } else { 0 };
                for (index, word) in out.iter_mut().enumerate() {
                    *word = match index {
                        0 => *value as u64,
                        1 => (*value >> 64) as u64,
                        _ => fill,
                    };
                }
            }
            Int::Big(value) => {
                let bytes = value.to_signed_bytes_le();
                let fill = if value.sign() == Sign::Minus { 0xff } else { 0 };
                for (index, word) in out.iter_mut().enumerate() {
                    let mut parts = [fill; 8];
                    for (part, byte) in parts.iter_mut().zip(bytes.iter().skip(index * 8)) {
                        *part = *byte;
                    }
                    *word = u64::from_le_bytes(parts);
                }
            }
        }
        cut(width, out);
    }

    pub fn low64(&self) -> u64 {
        let mut out = [0];
        self.store(64, &mut out);
        out[0]
    }

    /// An index or amount; `None` if negative or beyond 64 bits.
    fn to_u64(&self) -> Option<u64> {
        match self {
            Int::Small(value) => u64::try_from(*value).ok(),
            Int::Big(value) => u64::try_from(value).ok(),
        }
    }

    fn is_negative(&self) -> bool {
        match self {
            Int::Small(value) => *value < 0,
            Int::Big(value) => value.sign() == Sign::Minus,
        }
    }

    fn is_zero(&self) -> bool {
        matches!(self, Int::Small(0))
    }

    fn compare(&self, other: &Int) -> std::cmp::Ordering {
        match (self, other) {
            (Int::Small(a), Int::Small(b)) => a.cmp(b),
            _ => self.big().cmp(&other.big()),
        }
    }
}

/// Environment in which expressions are evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Env<'a> {
    pub layout: &'a Layout,
    pub words: &'a [u64],
    pub registers: &'a Registers,
}

impl Env<'_> {
    pub fn data(&self, data: &Data) -> Int {
        match data {
            Data::Const(value) => Int::from_big(value.clone()),
            Data::Field(field) => self.field(*field),
            Data::Valid(header) => Int::Small(i128::from(self.words[self.valid_word(*header)])),
            Data::Param(slot, width) => {
                let slot = *slot as usize;
                Int::from_words(&self.words[slot..slot + words(*width)])
            }
            Data::FieldOf(header, offset) => match self.header(header) {
                Some(header) => self.field(self.layout.headers[header as usize].first_field + offset),
                None => Int::Small(0),
            },
            Data::Register(register, index) => match self.data(index).to_u64() {
                Some(cell) => Int::from_words(self.registers.words(*register, cell)),
                None => Int::Small(0),
            },
            Data::StackCount(word) => Int::Small(i128::from(self.words[*word as usize])),
            Data::Binary(op, left, right) => arithmetic(*op, &self.data(left), &self.data(right)),
            Data::BitNot(data) => match self.data(data) {
                Int::Small(value) => Int::Small(!value),
                Int::Big(value) => Int::from_big(!value),
            },
            Data::FromBool(truth) => Int::Small(i128::from(self.bool(truth))),
            Data::Select(condition, left, right) => {
                if self.bool(condition) {
                    self.data(left)
                } else {
                    self.data(right)
                }
            }
        }
    }

    pub fn field(&self, field: u32) -> Int {
        let field = &self.layout.fields[field as usize];
        let value = Int::from_words(&self.words[field.span()]);
        if field.signed {
            two_comp(&value, u64::from(field.width))
        } else {
            value
        }
    }

    fn valid_word(&self, header: u32) -> usize {
        self.layout.headers[header as usize].valid as usize
    }

    pub fn bool(&self, truth: &Bool) -> bool {
        match truth {
            Bool::Const(value) => *value,
            Bool::Compare(op, left, right) => {
                let order = self.data(left).compare(&self.data(right));
                match op {
                    Comparison::Equal => order.is_eq(),
                    Comparison::Less => order.is_lt(),
                    Comparison::LessOrEqual => order.is_le(),
                }
            }
            Bool::Iff(left, right) => self.bool(left) == self.bool(right),
            Bool::HeaderEqual(left, right) => match (self.header(left), self.header(right)) {
                (Some(left), Some(right)) => self.same_header(left, right),
                _ => false,
            },
            Bool::UnionEqual(left, right) => match (self.union(left), self.union(right)) {
                (Some(left), Some(right)) => self.same_union(left, right),
                _ => false,
            },
            Bool::And(left, right) => self.bool(left) && self.bool(right),
            Bool::Or(left, right) => self.bool(left) || self.bool(right),
            Bool::Not(truth) => !self.bool(truth),
            Bool::Valid(header) => self.header(header).is_some_and(|h| self.words[self.valid_word(h)] != 0),
            Bool::ValidUnion(union) => self.union(union).is_some_and(|u| self.valid_member(u).is_some()),
            Bool::FromData(data) => !self.data(data).is_zero(),
            Bool::Select(condition, left, right) => {
                if self.bool(condition) {
                    self.bool(left)
                } else {
                    self.bool(right)
                }
            }
        }
    }

    pub fn header(&self, header: &HeaderExpr) -> Option<u32> {
        match header {
            HeaderExpr::Fixed(header) => Some(*header),
            HeaderExpr::Indexed(headers, index) => self.indexed(headers, index),
        }
    }

    pub fn union(&self, union: &UnionExpr) -> Option<u32> {
        match union {
            UnionExpr::Fixed(union) => Some(*union),
            UnionExpr::Indexed(unions, index) => self.indexed(unions, index),
        }
    }

    fn indexed(&self, list: &[u32], index: &Data) -> Option<u32> {
        let index = usize::try_from(self.data(index).to_u64()?).ok()?;
        list.get(index).copied()
    }

    /// Equality of headers in BMv2: both are valid, and all fields are equal.
    fn same_header(&self, left: u32, right: u32) -> bool {
        let (left, right) = (
            &self.layout.headers[left as usize],
            &self.layout.headers[right as usize],
        );
        left.kind == right.kind
            && self.words[left.valid as usize] != 0
            && self.words[left.block()] == self.words[right.block()]
    }

    fn valid_member(&self, union: u32) -> Option<usize> {
        let headers = &self.layout.unions[union as usize].headers;
        headers.iter().position(|&h| self.words[self.valid_word(h)] != 0)
    }

    fn same_union(&self, left: u32, right: u32) -> bool {
        match (self.valid_member(left), self.valid_member(right)) {
            (None, None) => true,
            (Some(l), Some(r)) if l == r => self.same_header(
                self.layout.unions[left as usize].headers[l],
                self.layout.unions[right as usize].headers[r],
            ),
            _ => false,
        }
    }
}

/// A result that P4 leaves undefined (division by zero, a negative shift) is 0.
pub(crate) fn arithmetic(op: Arithmetic, left: &Int, right: &Int) -> Int {
    if let (Int::Small(l), Int::Small(r)) = (left, right)
        && let Some(small) = small_arithmetic(op, *l, *r)
    {
        return Int::Small(small);
    }
    let result = match op {
        Arithmetic::Add => left.big() + right.big(),
        Arithmetic::Sub => left.big() - right.big(),
        Arithmetic::Mul => left.big() * right.big(),
        Arithmetic::And => left.big() & right.big(),
        Arithmetic::Or => left.big() | right.big(),
        Arithmetic::Xor => left.big() ^ right.big(),
        Arithmetic::Div | Arithmetic::Mod if right.is_zero() || right.is_negative() || left.is_negative() => {
            return Int::Small(0);
        }
        Arithmetic::Div => left.big() / right.big(),
        Arithmetic::Mod => left.big() % right.big(),
        Arithmetic::Shl => match right.to_u64() {
            Some(amount) if amount < MAX_BITS => left.big() << amount,
            _ => return Int::Small(0),
        },
        Arithmetic::Shr => match right.to_u64() {
            Some(amount) => left.big() >> amount.min(2 * MAX_BITS),
            None => return Int::Small(0),
        },
        Arithmetic::TwoComp => return two_comp(left, amount(right)),
        Arithmetic::SaturateUnsigned => return clamp(left, BigInt::ZERO, ones(amount(right))),
        Arithmetic::SaturateSigned => {
            let top = BigInt::from(1) << amount(right).saturating_sub(1);
            return clamp(left, -top.clone(), top - 1);
        }
    };
    if result.bits() > MAX_BITS {
        return Int::from_big(result & ones(MAX_BITS));
    }
    Int::from_big(result)
}

/// The common cases, without big integers; `None` if the result might not fit.
fn small_arithmetic(op: Arithmetic, left: i128, right: i128) -> Option<i128> {
    match op {
        Arithmetic::Add => left.checked_add(right),
        Arithmetic::Sub => left.checked_sub(right),
        Arithmetic::Mul => left.checked_mul(right),
        Arithmetic::And => Some(left & right),
        Arithmetic::Or => Some(left | right),
        Arithmetic::Xor => Some(left ^ right),
        Arithmetic::Div if left >= 0 && right > 0 => Some(left / right),
        Arithmetic::Mod if left >= 0 && right > 0 => Some(left % right),
        Arithmetic::Shl if (0..127).contains(&right) => {
            let shifted = left << right;
            (shifted >> right == left).then_some(shifted)
        }
        Arithmetic::Shr if right >= 0 => Some(left >> right.min(127)),
        _ => None,
    }
}

fn amount(int: &Int) -> u64 {
    int.to_u64().unwrap_or(0).min(MAX_BITS)
}

fn ones(bits: u64) -> BigInt {
    (BigInt::from(1) << bits) - 1
}

fn clamp(value: &Int, low: BigInt, high: BigInt) -> Int {
    Int::from_big(value.big().clamp(low, high))
}

/// The low bits as a two's complement number.
fn two_comp(value: &Int, bits: u64) -> Int {
    if bits == 0 {
        return Int::Small(0);
    }
    if let Int::Small(small) = value
        && bits <= 128
    {
        let shift = 128 - bits;
        return Int::Small(small << shift >> shift);
    }
    let low = value.big() & ones(bits);
    if low.bit(bits - 1) {
        Int::from_big(low - (BigInt::from(1) << bits))
    } else {
        Int::from_big(low)
    }
}

impl std::fmt::Display for Int {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Int::Small(value) => write!(f, "{value}"),
            Int::Big(value) => write!(f, "{value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BMv2's examples of casts (JSON_format.md) and of two's complement arithmetic.
    #[test]
    fn casts_follow_bmv2() {
        let compute = |op, value: i128, width: i128| arithmetic(op, &Int::Small(value), &Int::Small(width)).to_string();
        assert_eq!(compute(Arithmetic::TwoComp, 257, 8), "1");
        assert_eq!(compute(Arithmetic::TwoComp, -129, 8), "127");
        assert_eq!(compute(Arithmetic::SaturateUnsigned, 300, 8), "255");
        assert_eq!(compute(Arithmetic::SaturateUnsigned, -1, 8), "0");
        assert_eq!(compute(Arithmetic::SaturateSigned, -200, 8), "-128");
        assert_eq!(compute(Arithmetic::SaturateSigned, 200, 8), "127");
        assert_eq!(compute(Arithmetic::Shr, -8, 1), "-4");
        assert_eq!(compute(Arithmetic::Div, 7, 0), "0");
    }
}
