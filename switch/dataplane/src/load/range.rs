//! Ranges of expressions. They decide whether one word holds the exact value.

use super::builder::RegisterShape;
use crate::run::expr::{Arithmetic, Data, HeaderExpr};
use crate::run::layout::{Field, Layout};

/// The smallest and largest value of an expression; `None` if beyond 128 bits.
pub(crate) type Range = Option<(i128, i128)>;

/// Range of an unsigned word.
pub(crate) const UNSIGNED: (i128, i128) = (0, u64::MAX as i128);
/// Range of a signed word.
pub(crate) const SIGNED: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

pub(crate) fn fits(range: Range, limits: (i128, i128)) -> bool {
    range.is_some_and(|(low, high)| low >= limits.0 && high <= limits.1)
}

/// The range of an expression's exact value.
pub(crate) fn of(layout: &Layout, registers: &[RegisterShape], data: &Data) -> Range {
    let of = |data: &Data| of(layout, registers, data);
    match data {
        Data::Const(value) => i128::try_from(value).ok().map(|v| (v, v)),
        Data::Field(index) => field(&layout.fields[*index as usize]),
        Data::Valid(_) | Data::FromBool(_) => Some((0, 1)),
        Data::Param(_, width) => unsigned_bits(*width),
        Data::FieldOf(header, offset) => field_of(layout, header, *offset),
        Data::Register(register, _) => unsigned_bits(registers[*register as usize].width),
        Data::StackCount(_) => Some((0, 1024)),
        Data::Binary(op, left, right) => binary_range(*op, of(left), of(right)),
        Data::BitNot(inner) => of(inner).map(|(low, high)| (!high, !low)),
        Data::Select(_, left, right) => join(of(left), of(right)),
    }
}

fn field_of(layout: &Layout, header: &HeaderExpr, offset: u32) -> Range {
    let headers = match header {
        HeaderExpr::Fixed(header) => std::slice::from_ref(header),
        HeaderExpr::Indexed(headers, _) => headers,
    };
    let first = |header: u32| layout.headers[header as usize].first_field;
    let ranges = headers
        .iter()
        .map(|&header| field(&layout.fields[(first(header) + offset) as usize]));
    // A header that does not exist reads as 0.
    ranges.fold(Some((0, 0)), join)
}

fn field(field: &Field) -> Range {
    if field.signed {
        signed_bits(field.width)
    } else {
        unsigned_bits(field.width)
    }
}

fn unsigned_bits(width: u32) -> Range {
    (width < 127).then(|| (0, (1i128 << width) - 1))
}

fn signed_bits(width: u32) -> Range {
    (1..=127)
        .contains(&width)
        .then(|| (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1))
}

fn join(left: Range, right: Range) -> Range {
    let ((a, b), (c, d)) = (left?, right?);
    Some((a.min(c), b.max(d)))
}

/// The range of all numbers with as many bits as `high`, if it is not negative.
fn bits_of(high: i128) -> Range {
    unsigned_bits(128 - high.leading_zeros())
}

fn binary_range(op: Arithmetic, left: Range, right: Range) -> Range {
    // Bounds of the result that do not need both ranges.
    let nonnegative = |range: Range| range.filter(|(low, _)| *low >= 0);
    match op {
        Arithmetic::And => {
            return match (nonnegative(left), nonnegative(right)) {
                (Some((_, a)), Some((_, b))) => Some((0, a.min(b))),
                (Some((_, a)), None) | (None, Some((_, a))) => Some((0, a)),
                (None, None) => {
                    // If both numbers fit into a signed word, so does their AND.
                    (fits(left, SIGNED) && fits(right, SIGNED)).then_some(SIGNED)
                }
            };
        }
        Arithmetic::TwoComp => return constant(right).and_then(signed_bits),
        Arithmetic::SaturateUnsigned => return constant(right).and_then(unsigned_bits),
        Arithmetic::SaturateSigned => return constant(right).and_then(signed_bits),
        _ => {}
    }
    let ((a, b), (c, d)) = (left?, right?);
    match op {
        Arithmetic::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
        Arithmetic::Sub => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
        Arithmetic::Mul => {
            let corners = [
                a.checked_mul(c)?,
                a.checked_mul(d)?,
                b.checked_mul(c)?,
                b.checked_mul(d)?,
            ];
            Some((*corners.iter().min()?, *corners.iter().max()?))
        }
        Arithmetic::Or | Arithmetic::Xor if a >= 0 && c >= 0 => bits_of(b.max(d)),
        Arithmetic::Or | Arithmetic::Xor => (fits(left, SIGNED) && fits(right, SIGNED)).then_some(SIGNED),
        Arithmetic::Shl if c >= 0 && d < 127 => {
            let factor = 1i128 << d;
            Some((a.min(0).checked_mul(factor)?, b.max(0).checked_mul(factor)?))
        }
        Arithmetic::Shr if c >= 0 => Some(if a >= 0 { (0, b >> c.min(127)) } else { (a, b.max(0)) }),
        Arithmetic::Shr => Some((a.min(0), b.max(0))),
        // Division by zero gives 0.
        Arithmetic::Div if a >= 0 && c >= 0 => Some((0, b)),
        Arithmetic::Mod if a >= 0 && c >= 0 => Some((0, b.min((d - 1).max(0)))),
        Arithmetic::Div | Arithmetic::Mod => Some((0, b.max(0))),
        _ => None,
    }
}

fn constant(range: Range) -> Option<u32> {
    let (low, high) = range?;
    (low == high).then(|| u32::try_from(low).ok()).flatten()
}
