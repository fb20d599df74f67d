//! Assignment, comparison and validity for values of any type.

use num_bigint::BigInt;

use super::{
    Lowerer,
    value::{Loc, Value, overlap},
};
use crate::{
    ir::{self, Arg, Expr, ExprKind, FieldRef, HeaderRef, Stmt, Ty},
    source::Span,
    syntax::ast::BinaryOp,
};

impl Lowerer<'_> {
    /// Writes `value` to `to`.
    pub(super) fn assign(&mut self, to: &Loc, value: Value, span: Span, out: &mut Vec<Stmt>) {
        if !self.spend(span, 1) {
            return;
        }
        match (to, value) {
            (Loc::Nowhere, _) | (_, Value::Nothing) => {}
            (Loc::Field(field, ty), Value::Scalar(e)) => self.assign_field(field, *ty, &e, span, out),
            (Loc::Slice(field, ty, high, low), Value::Scalar(e)) => {
                let merged = merge_slice(field, *ty, *high, *low, e);
                self.assign_field(field, *ty, &merged, span, out);
            }
            (Loc::Struct(parts), Value::List(values)) => self.assign_parts(parts, values, span, out),
            (Loc::Header(to, _), Value::Place(Loc::Header(from, _))) => {
                self.each_element(to, span, out, &mut |l, to, out| {
                    l.each_element(&from, span, out, &mut |_, from, out| {
                        if to != from {
                            let args = vec![Arg::Header(to.clone()), Arg::Header(from)];
                            Self::push(out, "assign_header", args, span);
                        }
                    });
                });
            }
            (Loc::Header(to, id), Value::Header(values)) => {
                let parts = self.header_fields(to, *id);
                let values = self.saved_if_read(&parts, values, span, out);
                self.on_header("add_header", to, span, out);
                self.assign_parts(&parts, values, span, out);
            }
            (Loc::Header(..) | Loc::Union(..) | Loc::Stack(..) | Loc::UnionStack(..), Value::Invalid) => {
                self.invalidate(to, span, out);
            }
            (Loc::Stack(to, _), Value::Place(Loc::Stack(from, _))) => {
                Self::push(
                    out,
                    "assign_header_stack",
                    vec![Arg::Stack(*to), Arg::Stack(from)],
                    span,
                );
            }
            (Loc::Stack(to, id), Value::List(values)) => {
                let elements = self.ir.stacks[*to].elements.clone();
                for (header, value) in elements.into_iter().zip(values) {
                    self.assign(&Loc::Header(HeaderRef::Static(header), *id), value, span, out);
                }
            }
            (Loc::Union(to, _), Value::Place(Loc::Union(from, _))) => {
                Self::push(out, "assign_union", vec![Arg::Union(*to), Arg::Union(from)], span);
            }
            (Loc::UnionStack(to, _), Value::Place(Loc::UnionStack(from, _))) => {
                Self::push(
                    out,
                    "assign_union_stack",
                    vec![Arg::UnionStack(*to), Arg::UnionStack(from)],
                    span,
                );
            }
            _ => self.error(span, "this assignment is not supported by BMv2"),
        }
    }

    fn assign_field(&mut self, field: &FieldRef, ty: Ty, value: &Expr, span: Span, out: &mut Vec<Stmt>) {
        if value.kind == ExprKind::Field(field.clone()) {
            return;
        }
        let op = if matches!(ty, Ty::Varbit(_)) {
            "assign_VL"
        } else {
            "assign"
        };
        self.each_element(&field.header, span, out, &mut |_, header, out| {
            let field = FieldRef::new(header, field.field);
            Self::push(out, op, vec![Arg::Target(field), Arg::Value(value.clone())], span);
        });
    }

    /// A primitive whose only argument is a header.
    pub(super) fn on_header(&mut self, op: &'static str, header: &HeaderRef, span: Span, out: &mut Vec<Stmt>) {
        self.each_element(header, span, out, &mut |_, header, out| {
            Self::push(out, op, vec![Arg::Header(header)], span);
        });
    }

    /// Code for an element of a stack at an index known only at run time: one decision for each element, because BMv2
    /// stops at an index beyond the end. Other headers are used directly.
    fn each_element(
        &mut self,
        header: &HeaderRef,
        span: Span,
        out: &mut Vec<Stmt>,
        rule: &mut dyn FnMut(&mut Self, HeaderRef, &mut Vec<Stmt>),
    ) {
        let HeaderRef::Element(stack, index) = header else {
            return rule(self, header.clone(), out);
        };
        let elements = self.ir.stacks[*stack].elements.clone();
        if !self.spend(span, elements.len()) {
            return;
        }
        let mut chosen = Vec::new();
        self.search(&elements, 0, index, span, &mut chosen, rule);
        match below(index, elements.len()) {
            Some(inside) => out.push(Stmt::If(inside, chosen, Vec::new(), span)),
            None => out.extend(chosen),
        }
    }

    /// Finds an element by binary search from element `first` on, so decisions are not nested deeply.
    fn search(
        &mut self,
        elements: &[usize],
        first: usize,
        index: &Expr,
        span: Span,
        out: &mut Vec<Stmt>,
        rule: &mut dyn FnMut(&mut Self, HeaderRef, &mut Vec<Stmt>),
    ) {
        if let [only] = elements {
            return rule(self, HeaderRef::Static(*only), out);
        }
        let (low, high) = elements.split_at(elements.len() / 2);
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        self.search(low, first, index, span, &mut yes, rule);
        match below(index, first + low.len()) {
            Some(test) => {
                self.search(high, first + low.len(), index, span, &mut no, rule);
                out.push(Stmt::If(test, yes, no, span));
            }
            None => out.extend(yes),
        }
    }

    fn assign_parts(&mut self, parts: &[Loc], values: Vec<Value>, span: Span, out: &mut Vec<Stmt>) {
        let values = self.saved_if_read(parts, values, span, out);
        for (part, value) in parts.iter().zip(values) {
            self.assign(part, value, span, out);
        }
    }

    /// The values, saved in new variables if writing one part would change another value (as in `{a, b} = {b, a}`).
    fn saved_if_read(&mut self, parts: &[Loc], values: Vec<Value>, span: Span, out: &mut Vec<Stmt>) -> Vec<Value> {
        let clash = parts.len() > 1
            && parts.iter().enumerate().any(|(i, part)| {
                let written = part.cells(&self.ir);
                values
                    .iter()
                    .enumerate()
                    .any(|(k, v)| k > i && overlap(&written, &v.cells(&self.ir)))
            });
        if !clash {
            return values;
        }
        values.into_iter().map(|v| self.saved(v, span, out)).collect()
    }

    /// The value, saved in new variables, so that later writes do not change it. Headers stay in place.
    pub(super) fn saved(&mut self, value: Value, span: Span, out: &mut Vec<Stmt>) -> Value {
        match value {
            Value::Scalar(e) if !e.is_known() && !matches!(e.kind, ExprKind::Param(_)) => {
                let variable = self.temporary(e.ty, span);
                self.assign(&variable, Value::Scalar(e), span, out);
                variable.read()
            }
            Value::List(parts) => Value::List(parts.into_iter().map(|p| self.saved(p, span, out)).collect()),
            other => other,
        }
    }

    /// Makes every header of a place invalid.
    pub(super) fn invalidate(&mut self, loc: &Loc, span: Span, out: &mut Vec<Stmt>) {
        match loc {
            Loc::Header(header, _) => self.on_header("remove_header", header, span, out),
            Loc::Struct(parts) => {
                for part in parts {
                    self.invalidate(part, span, out);
                }
            }
            Loc::Stack(..) | Loc::Union(..) | Loc::UnionStack(..) => {
                for header in self.headers_in(loc) {
                    Self::push(out, "remove_header", vec![Arg::Header(HeaderRef::Static(header))], span);
                }
            }
            _ => {}
        }
    }

    /// Validity of a header or union.
    pub(super) fn validity(&mut self, loc: &Loc, span: Span) -> Expr {
        let kind = match loc {
            Loc::Header(header, _) => ExprKind::Valid(header.clone()),
            Loc::Union(union, _) => ExprKind::ValidUnion(*union),
            _ => {
                self.error(span, "BMv2 cannot tell whether this is valid");
                ExprKind::Bool(false)
            }
        };
        Expr::new(kind, Ty::Bool)
    }

    /// Equality of two values (specification section 8.18).
    pub(super) fn equal(&mut self, a: &Value, b: &Value, span: Span) -> Expr {
        let eq = |a: Expr, b: Expr| Expr::binary(BinaryOp::Eq, a, b, Ty::Bool);
        let all = |l: &mut Self, a: &[Value], b: &[Value]| {
            let list = a.iter().zip(b).map(|(a, b)| l.equal(a, b, span)).collect();
            Expr::joined(BinaryOp::And, list, true)
        };
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => eq(a.clone(), b.clone()),
            (Value::List(a), Value::List(b)) => all(self, a, b),
            (Value::Place(Loc::Struct(_)), _) | (_, Value::Place(Loc::Struct(_))) => {
                self.equal(&a.clone().read(), &b.clone().read(), span)
            }
            (Value::Place(loc @ Loc::Header(..)), Value::Invalid)
            | (Value::Invalid, Value::Place(loc @ Loc::Header(..))) => {
                let valid = self.validity(loc, span);
                Expr::unary(crate::syntax::ast::UnaryOp::Not, valid)
            }
            (Value::Place(x @ Loc::Header(h, id)), Value::Place(y @ Loc::Header(g, _))) => {
                let (vx, vy) = (self.validity(x, span), self.validity(y, span));
                let read = |l: &Self, h: &HeaderRef| l.header_fields(h, *id).iter().map(Loc::read).collect::<Vec<_>>();
                let (a, b) = (read(self, h), read(self, g));
                let fields = all(self, &a, &b);
                let neither = Expr::binary(BinaryOp::Or, vx.clone(), vy.clone(), Ty::Bool);
                let neither = Expr::unary(crate::syntax::ast::UnaryOp::Not, neither);
                Expr::binary(BinaryOp::Or, neither, vx.and(vy).and(fields), Ty::Bool)
            }
            (Value::Place(x @ Loc::Header(h, id)), Value::Header(values))
            | (Value::Header(values), Value::Place(x @ Loc::Header(h, id))) => {
                let valid = self.validity(x, span);
                let fields: Vec<Value> = self.header_fields(h, *id).iter().map(Loc::read).collect();
                valid.and(all(self, &fields, values))
            }
            (Value::Place(Loc::Stack(a, id)), Value::Place(Loc::Stack(b, _))) => {
                let elements = |l: &Self, s: usize| -> Vec<Value> {
                    let headers = l.ir.stacks[s].elements.iter();
                    headers
                        .map(|h| Value::Place(Loc::Header(HeaderRef::Static(*h), *id)))
                        .collect()
                };
                let (a, b) = (elements(self, *a), elements(self, *b));
                all(self, &a, &b)
            }
            (Value::Nothing, _) | (_, Value::Nothing) => Expr::bool(false),
            _ => {
                self.error(span, "this comparison is not supported by BMv2");
                Expr::bool(false)
            }
        }
    }
}

/// `index < limit`; `None` if every index of this width is smaller.
fn below(index: &Expr, limit: usize) -> Option<Expr> {
    let most = (BigInt::from(1) << index.ty.width()) - 1;
    let limit = BigInt::from(limit);
    if most < limit {
        return None;
    }
    let limit = Expr::int(&limit, Ty::bit(index.ty.width()));
    Some(Expr::binary(BinaryOp::Less, index.clone(), limit, Ty::Bool))
}

/// The field with bits `high` to `low` replaced by `value`.
fn merge_slice(field: &FieldRef, ty: Ty, high: u32, low: u32, value: Expr) -> Expr {
    let width = ty.width();
    let whole = Ty::bit(width);
    let ones = (BigInt::from(1) << (high - low + 1)) - 1;
    let hole: BigInt = ones << low;
    let keep = (BigInt::from(1) << width) - 1 - hole;
    let old = Expr::new(ExprKind::Field(field.clone()), ty).cast(whole);
    let kept = Expr::binary(BinaryOp::BitAnd, old, Expr::int(&keep, whole), whole);
    let wide = value.cast(Ty::bit(high - low + 1)).cast(whole);
    let moved = if low == 0 {
        wide
    } else {
        Expr::binary(BinaryOp::Shl, wide, Expr::number(u64::from(low), 32), whole)
    };
    let merged = if high - low + 1 == width {
        moved
    } else {
        Expr::binary(BinaryOp::BitOr, kept, moved, whole)
    };
    merged.cast(ty)
}

/// Argument for a target that must be a whole field.
pub(super) fn target(loc: &Loc) -> Option<ir::FieldRef> {
    match loc {
        Loc::Field(field, _) => Some(field.clone()),
        _ => None,
    }
}
