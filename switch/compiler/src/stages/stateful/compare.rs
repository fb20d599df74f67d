//! Comparisons of a stateful ALU. It adds or subtracts a number of the cell, a number from outside and a constant, and
//! compares the sum with zero (p4c `bf-asm/salu_inst.cpp`: `CmpOP`).

use num_bigint::BigInt;

use super::{ALWAYS, Body, Source, When};
use crate::{
    ir::{Expr, ExprKind, Ty},
    stages::gateway::show,
    syntax::ast::{BinaryOp as B, UnaryOp},
};

/// A comparison: the sum is negative, or the sum is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    below: bool,
    signed: bool,
    sum: Sum,
}

/// A sum that is compared with zero. The flags mark subtracted parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    memory: Option<(usize, bool)>,
    outside: Option<(String, bool)>,
    constant: BigInt,
}

impl Sum {
    fn negated(self) -> Sum {
        Sum {
            memory: self.memory.map(|(m, n)| (m, !n)),
            outside: self.outside.map(|(o, n)| (o, !n)),
            constant: -self.constant,
        }
    }

    /// A test for zero has the same result with the opposite sign; this chooses one sign.
    fn with_first_positive(self) -> Sum {
        let first = self.memory.map(|(_, n)| n).or(self.outside.as_ref().map(|(_, n)| *n));
        if first == Some(true) { self.negated() } else { self }
    }
}

impl Body<'_> {
    /// Outcomes of the comparisons in which a condition holds.
    pub(super) fn condition(&mut self, e: &Expr, when: When) -> When {
        match &e.kind {
            ExprKind::Bool(value) => {
                if *value {
                    ALWAYS
                } else {
                    0
                }
            }
            ExprKind::Unary(UnaryOp::Not, a) => !self.condition(a, when),
            ExprKind::Binary(B::And, a, b) => self.condition(a, when) & self.condition(b, when),
            ExprKind::Binary(B::Or, a, b) => self.condition(a, when) | self.condition(b, when),
            ExprKind::Binary(op, a, b) if a.ty != Ty::Bool => {
                let (a, b) = (self.known(a, when), self.known(b, when));
                self.comparison(e, *op, &a, &b)
            }
            ExprKind::Binary(B::Eq, a, b) => !(self.condition(a, when) ^ self.condition(b, when)),
            ExprKind::Binary(B::NotEq, a, b) => self.condition(a, when) ^ self.condition(b, when),
            _ => {
                let known = self.known(e, when);
                if known != *e {
                    return self.condition(&known, when);
                }
                let zero = Expr::number(0, 1);
                self.comparison(e, B::NotEq, &known, &zero)
            }
        }
    }

    fn comparison(&mut self, e: &Expr, op: B, a: &Expr, b: &Expr) -> When {
        let mut sum = Sum::default();
        if !self.collect(e, a, false, &mut sum) || !self.collect(e, b, true, &mut sum) {
            return ALWAYS;
        }
        let signed = matches!(a.ty, Ty::Bits { signed: true, .. });
        let (below, negated, sum) = match op {
            B::Eq => (false, false, sum.with_first_positive()),
            B::NotEq => (false, true, sum.with_first_positive()),
            B::Less => (true, false, sum),
            B::GreaterEq => (true, true, sum),
            B::Greater => (true, false, sum.negated()),
            B::LessEq => (true, true, sum.negated()),
            _ => {
                self.too_much(e);
                return ALWAYS;
            }
        };
        self.constant(sum.constant.clone());
        let comparison = Comparison { below, signed, sum };
        let known = self.comparisons.iter().position(|c| *c == comparison);
        let at = known.unwrap_or_else(|| {
            self.comparisons.push(comparison);
            self.comparisons.len() - 1
        });
        // More than four comparisons are too many on every chip, so the result for them does not matter.
        let holds = [0xaaaa, 0xcccc, 0xf0f0, 0xff00][at.min(3)];
        if negated { !holds } else { holds }
    }

    /// Adds the parts of one side of a comparison. Reports an error and returns false if they do not fit.
    fn collect(&mut self, whole: &Expr, e: &Expr, minus: bool, sum: &mut Sum) -> bool {
        match &e.kind {
            ExprKind::Int(value) => {
                sum.constant += if minus { -value } else { value.clone() };
                return true;
            }
            ExprKind::Binary(B::Add, a, b) => {
                return self.collect(whole, a, minus, sum) && self.collect(whole, b, minus, sum);
            }
            ExprKind::Binary(B::Sub, a, b) => {
                return self.collect(whole, a, minus, sum) && self.collect(whole, b, !minus, sum);
            }
            ExprKind::Unary(UnaryOp::Minus, a) => return self.collect(whole, a, !minus, sum),
            // Leading zeros change nothing, so a widened sum equals the sum.
            ExprKind::Cast(inner) if inner.ty.width() <= e.ty.width() => {
                return self.collect(whole, inner, minus, sum);
            }
            ExprKind::Binary(B::BitAnd, a, b) if self.chip.comparisons > 2 => {
                // Tofino 2 can also mask the number of the register.
                let of = if b.is_known() { a } else { b };
                if matches!(self.source(of), Some(Source::Memory(_))) {
                    return self.collect(whole, of, minus, sum);
                }
            }
            _ => {}
        }
        let text = show(self.ir, whole);
        match self.source(e) {
            Some(Source::Memory(half)) if sum.memory.is_none() => {
                sum.memory = Some((half, minus));
                true
            }
            Some(Source::Memory(_)) => {
                self.error(format!(
                    "'{text}' compares two numbers of the register, but a comparison takes one from there. Keep them in two \
                     registers, and pass one to the other's RegisterAction as a field"
                ));
                false
            }
            Some(Source::Outside) if sum.outside.is_none() => {
                sum.outside = Some((show(self.ir, e), minus));
                true
            }
            Some(Source::Outside) => {
                self.error(format!(
                    "'{text}' compares two fields from outside of the register, but a comparison takes one from there. \
                     Subtract them in an earlier table"
                ));
                false
            }
            Some(Source::Constant) => true,
            None => {
                self.error(format!(
                    "'{text}' computes too much for a comparison of a stateful ALU: it adds or subtracts a number of the \
                     register, a field and a constant. Compute the rest in an earlier table"
                ));
                false
            }
        }
    }
}
