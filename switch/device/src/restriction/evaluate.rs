//! Evaluation of a checked restriction.

use num_bigint::{BigInt, Sign};
use p4sched_dataplane::MatchKind;

use super::syntax::Comparison;

/// A value in a restriction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A condition.
    Bool(bool),
    /// A number, a parameter or an exact field.
    Number(BigInt),
    /// A field with two parts: value and mask, value and prefix length, or low and high.
    Pair(MatchKind, BigInt, BigInt),
}

fn unsigned(bytes: &[u8]) -> BigInt {
    BigInt::from_bytes_be(Sign::Plus, bytes)
}

fn ones(width: u32) -> BigInt {
    (BigInt::from(1) << width) - 1
}

impl Value {
    /// A number from big-endian bytes.
    pub fn unsigned(bytes: &[u8]) -> Value {
        Value::Number(unsigned(bytes))
    }

    /// A field with two parts, both big-endian.
    pub fn pair(kind: MatchKind, first: &[u8], second: &[u8]) -> Value {
        Value::Pair(kind, unsigned(first), unsigned(second))
    }

    /// The match of a field of this kind that only this value meets.
    pub fn exactly(kind: MatchKind, width: u32, value: &[u8]) -> Value {
        exactly(kind, width, unsigned(value))
    }
}

fn exactly(kind: MatchKind, width: u32, value: BigInt) -> Value {
    match kind {
        MatchKind::Exact | MatchKind::Valid => Value::Number(value),
        // An optional match is a ternary match of all bits or none.
        MatchKind::Ternary | MatchKind::Optional => Value::Pair(MatchKind::Ternary, value, ones(width)),
        MatchKind::Lpm => Value::Pair(MatchKind::Lpm, value, BigInt::from(width)),
        MatchKind::Range => Value::Pair(MatchKind::Range, value.clone(), value),
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(value) => write!(f, "{value}"),
            Value::Pair(MatchKind::Lpm, value, length) => write!(f, "{value:#x}/{length}"),
            Value::Pair(MatchKind::Range, low, high) => write!(f, "{low}..{high}"),
            Value::Pair(_, value, mask) => write!(f, "{value:#x} &&& {mask:#x}"),
        }
    }
}

/// An expression whose types were checked.
#[derive(Debug)]
pub enum Term {
    Constant(Value),
    /// A value, by its position.
    Slot(usize),
    /// The first or the second part of a field; the first part of an exact field is the whole field.
    Part(Box<Term>, usize),
    Priority,
    Not(Box<Term>),
    Negate(Box<Term>),
    All(Vec<Term>),
    Any(Vec<Term>),
    Compare(Comparison, Box<Term>, Box<Term>),
    /// A number modulo 2 to the power of this width.
    Bits(Box<Term>, u32),
    /// The match that only this value meets.
    Exactly(Box<Term>, MatchKind, u32),
}

impl Term {
    /// The value of the term, from the values of the names and the entry's priority.
    pub fn evaluate(&self, values: &[Value], priority: i32) -> Value {
        let holds = |term: &Term| term.evaluate(values, priority) == Value::Bool(true);
        let number = |term: &Term| match term.evaluate(values, priority) {
            Value::Number(value) => value,
            // Impossible after the check of types.
            Value::Bool(_) | Value::Pair(..) => BigInt::default(),
        };
        match self {
            Term::Constant(value) => value.clone(),
            Term::Slot(slot) => values.get(*slot).cloned().unwrap_or(Value::Number(BigInt::default())),
            Term::Part(whole, part) => match (whole.evaluate(values, priority), part) {
                (Value::Pair(_, first, _), 0) => Value::Number(first),
                (Value::Pair(_, _, second), _) => Value::Number(second),
                (value, _) => value,
            },
            Term::Priority => Value::Number(BigInt::from(priority)),
            Term::Not(inner) => Value::Bool(!holds(inner)),
            Term::Negate(inner) => Value::Number(-number(inner)),
            Term::All(parts) => Value::Bool(parts.iter().all(holds)),
            Term::Any(parts) => Value::Bool(parts.iter().any(holds)),
            Term::Compare(Comparison::Equal, left, right) => {
                Value::Bool(left.evaluate(values, priority) == right.evaluate(values, priority))
            }
            Term::Compare(Comparison::NotEqual, left, right) => {
                Value::Bool(left.evaluate(values, priority) != right.evaluate(values, priority))
            }
            Term::Compare(comparison, left, right) => {
                let (left, right) = (number(left), number(right));
                Value::Bool(match comparison {
                    Comparison::Less => left < right,
                    Comparison::LessOrEqual => left <= right,
                    Comparison::Greater => left > right,
                    _ => left >= right,
                })
            }
            Term::Bits(inner, width) => {
                // Two's complement: negative numbers wrap around in P4.
                Value::Number(number(inner) & ones(*width))
            }
            Term::Exactly(inner, kind, width) => exactly(*kind, *width, number(inner)),
        }
    }
}
