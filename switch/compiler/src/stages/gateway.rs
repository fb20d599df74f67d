//! Conditions: the comparisons that a gateway can do, and the number of gateways for a condition.
//!
//! A gateway is a small ternary table of four rows. It sees 4 bytes of fields, which it can also compare for equality
//! with 4 other bytes. Through the hash it sees 12 bits; each four of them can be looked up as a range (p4c
//! `mau/gateway.cpp`: `CanonGatewayExpr`, `CollectGatewayFields::compute_offsets`, `GatewayRangeMatch`,
//! `CheckGatewayExpr`).

use std::collections::BTreeMap;

use num_bigint::BigInt;

use super::{
    cells::slice_of,
    chip::{GATEWAY_BYTES, GATEWAY_HASH_BITS, GATEWAY_ROWS},
    nodes::is_operand,
};
use crate::{
    ir::{Expr, ExprKind, Ir, Ty},
    syntax::ast::{BinaryOp as B, UnaryOp},
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub gateways: u64,
    /// Bytes of the crossbar.
    pub bytes: u64,
    pub hash_bits: u64,
}

/// Fields in a condition.
#[derive(Default)]
struct Seen {
    /// Number of bits compared with constants, by operand in text form.
    equal: BTreeMap<String, u32>,
    /// Number of bits looked up as ranges, by operand in text form.
    ranges: BTreeMap<String, u32>,
    /// Number of bytes compared with other fields.
    pairs: u32,
}

impl Seen {
    /// Number of bits compared with constants and with other fields.
    fn bits(&self) -> u32 {
        self.equal.values().chain(self.ranges.values()).sum::<u32>() + self.pairs * 8
    }

    fn and(mut self, other: Seen) -> Seen {
        self.equal.extend(other.equal);
        self.ranges.extend(other.ranges);
        self.pairs += other.pairs;
        self
    }
}

/// Cost of a condition. The error has the reason why no gateway can evaluate it, and an alternative.
pub fn cost(ir: &Ir, condition: &Expr) -> Result<Cost, String> {
    let mut seen = Seen::default();
    let rows = ask(ir, condition, &mut seen)?.0;
    let row = widest(ir, condition, !rules_out(condition, true))?;
    if row.pairs > GATEWAY_BYTES || row.bits() > GATEWAY_BYTES * 8 + GATEWAY_HASH_BITS {
        return Err(format!(
            "'{}' looks at {} bits at once, but a gateway sees {GATEWAY_BYTES} bytes, which it also compares with other \
             fields, and {GATEWAY_HASH_BITS} bits more. Ask parts of it in nested 'if's, or match the fields in a table",
            show(ir, condition),
            row.bits()
        ));
    }
    let flags = seen.equal.values().filter(|w| **w == 1).count() as u32;
    let wide: u32 = seen.equal.values().filter(|w| **w > 1).map(|w| w.div_ceil(8)).sum();
    let bytes = flags.div_ceil(8) + wide + seen.pairs;
    let ranges: u32 = seen.ranges.values().sum();
    let fits =
        |n: u32| ranges <= GATEWAY_HASH_BITS * n && bytes * 8 + ranges <= (GATEWAY_BYTES * 8 + GATEWAY_HASH_BITS) * n;
    let by_width = (1..).find(|n| fits(*n)).unwrap_or(1);
    let gateways = by_width.max(rows.div_ceil(GATEWAY_ROWS) as u32);
    let overflow = (bytes * 8).saturating_sub(GATEWAY_BYTES * 8 * gateways);
    Ok(Cost {
        gateways: u64::from(gateways),
        bytes: u64::from(bytes + seen.pairs + ranges.div_ceil(8)),
        hash_bits: u64::from(ranges + overflow),
    })
}

/// Number of rows for the condition, and for its opposite.
type Rows = (usize, usize);

/// More rows than any hand-written condition needs.
const MANY: usize = 1 << 16;

fn ask(ir: &Ir, e: &Expr, seen: &mut Seen) -> Result<Rows, String> {
    match &e.kind {
        ExprKind::Bool(_) | ExprKind::Int(_) => Ok((1, 1)),
        ExprKind::Unary(UnaryOp::Not, a) => ask(ir, a, seen).map(|(yes, no)| (no, yes)),
        ExprKind::Binary(B::And, a, b) => {
            let (a, b) = (ask(ir, a, seen)?, ask(ir, b, seen)?);
            Ok(((a.0 * b.0).min(MANY), (a.1 + b.1).min(MANY)))
        }
        ExprKind::Binary(B::Or, a, b) => {
            let (a, b) = (ask(ir, a, seen)?, ask(ir, b, seen)?);
            Ok(((a.0 + b.0).min(MANY), (a.1 * b.1).min(MANY)))
        }
        ExprKind::Binary(B::Eq | B::NotEq, a, b) => equal(ir, a, b, seen),
        ExprKind::Binary(op @ (B::Less | B::LessEq | B::Greater | B::GreaterEq), a, b) => {
            match (a.as_int(), b.as_int()) {
                (_, Some(constant)) => range(ir, e, a, matches!(op, B::LessEq | B::Greater), constant, seen),
                (Some(constant), _) => range(ir, e, b, matches!(op, B::GreaterEq | B::Less), constant, seen),
                _ => {
                    let (a, b) = (show(ir, a), show(ir, b));
                    Err(format!(
                        "'{a}' and '{b}' are compared by size outside of a register; a gateway compares by size with \
                         constants only. Subtract in an earlier table (a |-| b is 0 where a <= b, without a sign), and \
                         compare the difference with 0"
                    ))
                }
            }
        }
        ExprKind::Cast(inner) if e.ty == Ty::Bool => ask(ir, inner, seen),
        _ if is_operand(e) => {
            seen.equal.insert(show(ir, e), e.ty.width());
            Ok((1, 1))
        }
        _ => Err(computed(ir, e)),
    }
}

/// Fields in the widest row for this `outcome` of the condition. Gateways share rows, but not the fields of one row.
fn widest(ir: &Ir, e: &Expr, outcome: bool) -> Result<Seen, String> {
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not, a) => widest(ir, a, !outcome),
        ExprKind::Binary(op @ (B::And | B::Or), a, b) => {
            let alone = |e: &Expr| rules_out(e, outcome);
            let joined = (*op == B::And) == outcome && !alone(a) && !alone(b);
            let part = |e: &Expr| widest(ir, e, outcome != alone(e));
            let (a, b) = (part(a)?, part(b)?);
            Ok(match joined {
                true => a.and(b),
                false if b.bits() > a.bits() => b,
                false => a,
            })
        }
        _ => {
            let mut seen = Seen::default();
            ask(ir, e, &mut seen)?;
            Ok(seen)
        }
    }
}

/// True if a condition with this outcome only excludes values. A row matches values, so rows for the opposite come
/// first.
fn rules_out(e: &Expr, outcome: bool) -> bool {
    !is_equalities(e, outcome) && is_equalities(e, !outcome)
}

/// True if a condition with this outcome consists of equalities of fields.
fn is_equalities(e: &Expr, outcome: bool) -> bool {
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not, a) => is_equalities(a, !outcome),
        ExprKind::Binary(B::And | B::Or, a, b) => is_equalities(a, outcome) && is_equalities(b, outcome),
        ExprKind::Binary(B::Eq, ..) => outcome,
        ExprKind::Binary(B::NotEq, ..) => !outcome,
        _ => true,
    }
}

fn computed(ir: &Ir, e: &Expr) -> String {
    format!(
        "'{}' is computed in a condition; a gateway only looks at fields. Compute it in an action of its own first, \
         which takes a stage",
        show(ir, e)
    )
}

/// The operand of a mask, and the number of its bits.
fn masked(e: &Expr) -> Option<(&Expr, u32)> {
    match &e.kind {
        ExprKind::Binary(B::BitAnd, a, b) => {
            let (of, mask) = match (a.as_int(), b.as_int()) {
                (_, Some(mask)) => (a, mask),
                (Some(mask), _) => (b, mask),
                _ => return None,
            };
            let bits = (0..u64::from(of.ty.width())).filter(|bit| mask.bit(*bit)).count() as u32;
            is_operand(of).then_some((of, bits))
        }
        ExprKind::Cast(inner) if e.ty.width() >= inner.ty.width() => masked(inner),
        _ => None,
    }
}

fn equal(ir: &Ir, a: &Expr, b: &Expr, seen: &mut Seen) -> Result<Rows, String> {
    let (a, b) = if a.is_known() { (b, a) } else { (a, b) };
    // A comparison of a condition with true or false.
    if a.ty == Ty::Bool && !is_operand(a) {
        let (yes, no) = ask(ir, a, seen)?;
        let (other_yes, other_no) = ask(ir, b, seen)?;
        return Ok((yes * other_yes + no * other_no, yes * other_no + no * other_yes));
    }
    let (of, bits) = masked(a).unwrap_or((a, narrow(a).ty.width()));
    if !is_operand(of) {
        return Err(computed(ir, of));
    }
    if b.is_known() {
        seen.equal.insert(show(ir, of), bits);
        return Ok((1, 1));
    }
    let (other, _) = masked(b).unwrap_or((b, 0));
    if !is_operand(other) {
        return Err(computed(ir, other));
    }
    seen.pairs += bits.div_ceil(8);
    Ok((1, 1))
}

/// The operand without casts that only add zeros.
fn narrow(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Cast(inner) if inner.ty.width() <= e.ty.width() && is_operand(inner) => narrow(inner),
        _ => e,
    }
}

/// `a < constant` and similar comparisons; `next` if the smaller side includes the constant, as in `<=`.
fn range(ir: &Ir, whole: &Expr, a: &Expr, next: bool, constant: BigInt, seen: &mut Seen) -> Result<Rows, String> {
    let a = narrow(a);
    if !is_operand(a) {
        return Err(computed(ir, a));
    }
    let width = a.ty.width();
    let limit = constant + u8::from(next);
    let signed = matches!(a.ty, Ty::Bits { signed: true, .. });
    if limit == BigInt::ZERO {
        // Only the sign bit, or no bit.
        seen.equal.insert(show(ir, a), 1);
        return Ok((1, 1));
    }
    let zeros = limit.trailing_zeros().unwrap_or(0).min(u64::from(width)) as u32;
    let bits = width - zeros;
    if !signed && limit == BigInt::from(1) << zeros {
        // Below a power of two, the higher bits are zero.
        seen.equal.insert(show(ir, a), bits.max(1));
        return Ok((1, 1));
    }
    if bits > GATEWAY_HASH_BITS {
        return Err(format!(
            "'{}' compares by size on {bits} bits, but a gateway has {GATEWAY_HASH_BITS} for that. Compare with a power of \
             two or a multiple of a large one, or use a key of kind range or a RegisterAction",
            show(ir, whole)
        ));
    }
    let known = seen.ranges.entry(show(ir, a)).or_default();
    *known = bits.max(*known);
    Ok((bits.div_ceil(4) as usize, bits.div_ceil(4) as usize))
}

/// An expression as text, similar to its source.
pub fn show(ir: &Ir, e: &Expr) -> String {
    if let Some((of, low, width)) = slice_of(e)
        && !matches!(of.kind, ExprKind::Int(_))
        && width < of.ty.width()
    {
        return format!("{}[{}:{low}]", show(ir, of), low + width - 1);
    }
    match &e.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Field(f) => field(ir, f),
        ExprKind::Param(_) => "a parameter of the action".to_owned(),
        ExprKind::Valid(h) => {
            let header = super::cells::headers(ir, h)
                .first()
                .map(|h| ir.headers[*h].name.clone());
            format!("{}.isValid()", header.unwrap_or_default())
        }
        ExprKind::Unary(op, a) => {
            let op = match op {
                UnaryOp::Not => "!",
                UnaryOp::Complement => "~",
                UnaryOp::Minus => "-",
                UnaryOp::Plus => "+",
            };
            format!("{op}{}", show(ir, a))
        }
        ExprKind::Binary(op, a, b) => format!("{} {} {}", show(ir, a), op.text(), show(ir, b)),
        ExprKind::Conditional(a, b, c) => format!("{} ? {} : {}", show(ir, a), show(ir, b), show(ir, c)),
        ExprKind::Cast(a) => show(ir, a),
        _ => "this expression".to_owned(),
    }
}

/// Name of a field; metadata and variables without the header in which the compiler stores them.
pub fn field(ir: &Ir, f: &crate::ir::FieldRef) -> String {
    let name = ir.field(f).name.clone();
    let header = super::cells::headers(ir, &f.header).first().map(|h| &ir.headers[*h]);
    match header {
        Some(h) if h.name.contains("scalars") => {
            // Names of parameters for the cell and the results of a RegisterAction; usual names for metadata.
            let own = ir
                .register_actions
                .iter()
                .find_map(|a| name.strip_prefix(&format!("{}.", a.name)));
            let name = own.unwrap_or(&name);
            let name = name.strip_prefix("egress.").unwrap_or(name);
            name.strip_prefix("userMetadata.")
                .map_or(name.to_owned(), |n| format!("meta.{n}"))
        }
        Some(h) => format!("{}.{name}", h.name),
        None => name,
    }
}
