//! Arithmetic on compile-time values of any width (specification section 8).

use num_bigint::BigInt;

use crate::syntax::ast::{BinaryOp, UnaryOp};

/// Largest shift distance and number of bits of a value of type `int`.
const MAX_BITS: u64 = 65_536;

fn two_to(width: u32) -> BigInt {
    BigInt::from(1) << width
}

/// `value` modulo 2^width, as two's complement if `signed`.
#[must_use]
pub fn wrap(value: &BigInt, signed: bool, width: u32) -> BigInt {
    let modulus = two_to(width);
    let mut low = value % &modulus;
    if low < BigInt::ZERO {
        low += &modulus;
    }
    if signed && width > 0 && low >= two_to(width - 1) {
        low -= modulus;
    }
    low
}

/// True if `value` needs no truncation.
#[must_use]
pub fn fits(value: &BigInt, signed: bool, width: u32) -> bool {
    wrap(value, signed, width) == *value
}

/// Limits of a type: `None` for `int`, otherwise its signedness and width.
pub type Limits = Option<(bool, u32)>;

fn truncate(value: BigInt, limits: Limits) -> BigInt {
    match limits {
        Some((signed, width)) => wrap(&value, signed, width),
        None => value,
    }
}

fn saturate(value: BigInt, limits: Limits) -> BigInt {
    let Some((signed, width)) = limits else { return value };
    let (low, high) = if signed {
        (-two_to(width.saturating_sub(1)), two_to(width.saturating_sub(1)) - 1)
    } else {
        (BigInt::ZERO, two_to(width) - 1)
    };
    value.clamp(low, high)
}

/// Applies `op` to two values of one type.
///
/// # Errors
/// Division by zero or of negative numbers, a negative shift, or a number that grows too large.
pub fn binary(op: BinaryOp, a: &BigInt, b: &BigInt, limits: Limits) -> Result<BigInt, &'static str> {
    use BinaryOp as B;
    if limits.is_none() && a.bits() + b.bits() > MAX_BITS {
        return Err("the number is too large");
    }
    let distance = || u32::try_from(b).ok().filter(|d| u64::from(*d) <= MAX_BITS);
    Ok(match op {
        B::Add => truncate(a + b, limits),
        B::Sub => truncate(a - b, limits),
        B::Mul => truncate(a * b, limits),
        B::SatAdd => saturate(a + b, limits),
        B::SatSub => saturate(a - b, limits),
        B::Div | B::Mod => {
            if *b == BigInt::ZERO {
                return Err("division by zero");
            }
            if *a < BigInt::ZERO || *b < BigInt::ZERO {
                return Err("division is not defined for negative numbers");
            }
            if op == B::Div { a / b } else { a % b }
        }
        B::Shl | B::Shr if *b < BigInt::ZERO => return Err("a shift distance cannot be negative"),
        B::Shl => match (distance(), limits) {
            (Some(d), _) => truncate(a << d, limits),
            (None, Some(_)) => BigInt::ZERO,
            (None, None) => return Err("the number is too large"),
        },
        B::Shr => match distance() {
            Some(d) => a >> d,
            None => BigInt::from(if *a < BigInt::ZERO { -1 } else { 0 }),
        },
        B::BitAnd => truncate(a & b, limits),
        B::BitOr => truncate(a | b, limits),
        B::BitXor => truncate(a ^ b, limits),
        _ => return Err("not an arithmetic operator"),
    })
}

/// Applies `op` to a value.
#[must_use]
pub fn unary(op: UnaryOp, a: &BigInt, limits: Limits) -> BigInt {
    match op {
        UnaryOp::Minus => truncate(-a, limits),
        UnaryOp::Complement => truncate(-a - 1, limits),
        UnaryOp::Plus | UnaryOp::Not => a.clone(),
    }
}

/// Evaluates a comparison.
#[must_use]
pub fn compare<T: Ord>(op: BinaryOp, a: &T, b: &T) -> Option<bool> {
    use BinaryOp as B;
    Some(match op {
        B::Eq => a == b,
        B::NotEq => a != b,
        B::Less => a < b,
        B::LessEq => a <= b,
        B::Greater => a > b,
        B::GreaterEq => a >= b,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_as_twos_complement() {
        assert_eq!(wrap(&BigInt::from(-1), false, 8), BigInt::from(255));
        assert_eq!(wrap(&BigInt::from(200), true, 8), BigInt::from(-56));
        assert_eq!(wrap(&BigInt::from(5), false, 0), BigInt::ZERO);
        assert!(fits(&BigInt::from(-128), true, 8) && !fits(&BigInt::from(128), true, 8));
    }

    #[test]
    fn saturation_stops_at_the_limits() {
        let (a, b) = (BigInt::from(250), BigInt::from(10));
        assert_eq!(
            binary(BinaryOp::SatAdd, &a, &b, Some((false, 8))),
            Ok(BigInt::from(255))
        );
        assert_eq!(binary(BinaryOp::SatSub, &b, &a, Some((false, 8))), Ok(BigInt::ZERO));
        assert_eq!(
            binary(
                BinaryOp::SatSub,
                &BigInt::from(-100),
                &BigInt::from(100),
                Some((true, 8))
            ),
            Ok((-128).into())
        );
    }

    #[test]
    fn what_has_no_value_is_refused() {
        let (one, zero) = (BigInt::from(1), BigInt::ZERO);
        assert!(binary(BinaryOp::Div, &one, &zero, None).is_err());
        assert!(binary(BinaryOp::Shl, &one, &BigInt::from(1u64 << 40), None).is_err());
        assert_eq!(
            binary(BinaryOp::Shl, &one, &BigInt::from(1u64 << 40), Some((false, 8))),
            Ok(zero)
        );
    }
}
