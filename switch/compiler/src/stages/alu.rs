//! Actions: the work of the ALUs of the fields' containers in one stage. Each field gets at most one operation with two
//! sources, one of which may be action data. All operations of an action read the values from the start of the stage
//! (p4c `mau/action_analysis.h`, `mau/instruction_selection.cpp`).

use super::{
    cells::{Cell, Cells, deposited, effect, strip, visit},
    chip::Chip,
    gateway::{field, show},
    nodes::{is_min_or_max, is_operand},
};
use crate::{
    ir::{Arg, Expr, ExprKind, FieldRef, Ir, Primitive},
    source::Span,
    syntax::ast::{BinaryOp as B, UnaryOp},
};

/// Width of the widest sum; a wider one would need a third carry.
const WIDEST_SUM: u32 = 64;
/// Width of the widest saturating sum, and of the widest minimum.
const WIDEST: u32 = 32;

/// Errors in the operations of one action, with their places.
pub fn check(ir: &Ir, chip: &Chip, code: &[Primitive]) -> Vec<(Span, String)> {
    let mut wrong = Vec::new();
    let mut computed = Cells::new();
    for p in code {
        if p.op == "_jump_if_zero" {
            wrong.push((p.span, BRANCH.to_owned()));
            return wrong;
        }
        let own = effect(ir, p);
        let late = |read: &Cells| {
            read.iter()
                .find(|c| computed.contains(c))
                .filter(|_| !read.is_disjoint(&computed))
        };
        if let Some(cell) = late(&own.reads).or(late(&own.inputs)) {
            let name = name_of(ir, cell);
            wrong.push((
                p.span,
                format!(
                    "'{name}' is computed and used in one action, whose operations all run at the same time. Use it in \
                     an action of a later table"
                ),
            ));
        }
        // The result of a register, hash or random number is a source like action data.
        let mut made = if own.uses.is_empty() {
            own.writes.clone()
        } else {
            Cells::new()
        };
        if let ("assign", [Arg::Target(to), Arg::Value(e)]) = (p.op, p.args.as_slice()) {
            if is_operand(e) || is_joined(e) {
                // An operation that reads the copy, or the joined fields, reads the originals.
                made = Cells::new();
            } else if let Err(message) = one_operation(ir, chip, to, e) {
                wrong.push((p.span, message));
            }
        }
        computed = computed.without(&own.writes);
        computed.extend(made);
    }
    wrong
}

pub const BRANCH: &str = "an action has an 'if', but an action has no branches. Apply tables or statements under the \
                      'if' in the control's apply, or make two actions of it";

fn name_of(ir: &Ir, (header, index): Cell) -> String {
    match index {
        Some(index) => field(ir, &FieldRef::new(crate::ir::HeaderRef::Static(header), index)),
        None => format!("{}.isValid()", ir.headers[header].name),
    }
}

/// True if an ALU takes the expression as a source: a field, a constant, action data, or the complement of one.
fn is_source(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Unary(UnaryOp::Complement, a) => is_operand(a),
        // A mask of low bits is a slice.
        ExprKind::Binary(B::Shr | B::BitAnd, a, b) => is_operand(a) && is_low_part(e, b),
        ExprKind::Cast(a) => is_source(a),
        _ => is_operand(e),
    }
}

fn is_low_part(e: &Expr, by: &Expr) -> bool {
    match (&e.kind, by.as_int()) {
        (ExprKind::Binary(B::Shr, ..), Some(_)) => true,
        (ExprKind::Binary(B::BitAnd, ..), Some(mask)) => (&mask & (&mask + 1)) == num_bigint::BigInt::ZERO,
        _ => false,
    }
}

/// Checks that an expression is one operation; the error has the reason and a hint.
pub fn one_operation(ir: &Ir, chip: &Chip, to: &FieldRef, e: &Expr) -> Result<(), String> {
    if let Some(value) = deposited(to, e).map(|d| d.value) {
        return if is_source(value) {
            Ok(())
        } else {
            one_operation(ir, chip, to, value)
        };
    }
    impossible(ir, e)?;
    if is_source(e) {
        return Ok(());
    }
    let too_much = || {
        Err(format!(
            "'{}' takes more than one operation, but an ALU does one on a field in a stage. Compute a part of it into a \
             field of the metadata in an earlier table",
            show(ir, e)
        ))
    };
    match &strip(e).kind {
        ExprKind::Unary(UnaryOp::Minus, a) if is_source(a) => Ok(()),
        ExprKind::Unary(UnaryOp::Not, a) if is_source(a) => Ok(()),
        ExprKind::Unary(UnaryOp::Complement, a) => one_operation(ir, chip, to, a),
        ExprKind::Binary(op, a, b) => {
            if is_joined(e) {
                return Ok(());
            }
            if !is_source(a) || !is_source(b) {
                return too_much();
            }
            binary(ir, chip, e, *op, a, b)
        }
        ExprKind::Conditional(_, a, b) if is_min_or_max(strip(e)) && is_source(a) && is_source(b) => {
            narrow_enough(ir, e, WIDEST)
        }
        ExprKind::Conditional(..) => Err(format!(
            "'{}' chooses in an action, but an action has no branches. Use 'if' in the control's apply",
            show(ir, e)
        )),
        _ => too_much(),
    }
}

/// True if an expression joins sources bit by bit: `a ++ b`, which is lowered to a shift and an or.
pub fn is_joined(e: &Expr) -> bool {
    let part = |e: &Expr| is_source(e) || is_joined(e);
    match &widened(e).kind {
        ExprKind::Binary(B::Concat, a, b) => part(a) && part(b),
        ExprKind::Binary(B::BitOr, high, low) => {
            let low = widened(low);
            let bits = low.as_int().map_or(u64::from(low.ty.width()), |v| v.bits());
            match &widened(high).kind {
                ExprKind::Binary(B::Shl, high, by) => {
                    by.as_int().is_some_and(|by| by >= bits.into()) && part(widened(high)) && part(low)
                }
                ExprKind::Int(high) => high.trailing_zeros().is_none_or(|zeros| zeros >= bits) && part(low),
                _ => false,
            }
        }
        _ => false,
    }
}

/// An expression without leading zeros.
fn widened(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Cast(inner) if inner.ty.width() <= e.ty.width() => widened(inner),
        _ => e,
    }
}

fn narrow_enough(ir: &Ir, e: &Expr, limit: u32) -> Result<(), String> {
    let width = strip(e).ty.width();
    if width <= limit {
        return Ok(());
    }
    Err(format!(
        "'{}' computes with {width} bits, but ALUs reach {limit} here. Split the number in two fields",
        show(ir, e)
    ))
}

fn binary(ir: &Ir, chip: &Chip, e: &Expr, op: B, a: &Expr, b: &Expr) -> Result<(), String> {
    let data = |e: &Expr| {
        let mut found = false;
        visit(e, &mut |e| found |= matches!(e.kind, ExprKind::Param(_)));
        found
    };
    if data(a) && data(b) {
        return Err(format!(
            "both sources of '{}' are action data, but an ALU takes one from there. Give the action the result as a \
             parameter, or copy one into the metadata in an earlier table",
            show(ir, e)
        ));
    }
    match op {
        B::Add | B::Sub => narrow_enough(ir, e, WIDEST_SUM),
        B::SatAdd | B::SatSub => narrow_enough(ir, e, WIDEST),
        B::Eq | B::NotEq | B::Less | B::LessEq | B::Greater | B::GreaterEq | B::And | B::Or if !chip.compares => {
            Err(format!(
                "'{}' is kept as a value, but ALUs of {} do not compare. Write 'if' with the condition, and set the value \
                 in its branches",
                show(ir, e),
                chip.name
            ))
        }
        _ => Ok(()),
    }
}

/// Finds an operation in an expression that no ALU of an action can do.
fn impossible(ir: &Ir, e: &Expr) -> Result<(), String> {
    let mut wrong = None;
    visit(e, &mut |e| {
        let ExprKind::Binary(op, a, b) = &e.kind else { return };
        let power = |e: &Expr| {
            let value = e.as_int();
            value.is_some_and(|v| v > num_bigint::BigInt::ZERO && (&v & (&v - 1)) == num_bigint::BigInt::ZERO)
        };
        let message = match op {
            B::Mul if !power(a) && !power(b) => format!(
                "'{}' multiplies, which no ALU of the chip does. Shift by a constant, look the product up in a table, or \
                 add logarithms",
                show(ir, e)
            ),
            B::Div | B::Mod if !power(b) => format!(
                "'{}' divides, which no ALU of an action does. Shift by a constant, or look the quotient up in a table",
                show(ir, e)
            ),
            B::Shl | B::Shr if !b.is_known() => format!(
                "'{}' shifts by a field, but the number of bits must be a constant. Look the number up in a table that has \
                 an action for each shift",
                show(ir, e)
            ),
            _ => return,
        };
        wrong.get_or_insert(message);
    });
    wrong.map_or(Ok(()), Err)
}
