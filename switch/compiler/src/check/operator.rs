//! Operators and casts (specification sections 8.5 to 8.11).

use num_bigint::BigInt;

use super::{
    Checker,
    constant::{self, Limits, compare},
    fits,
    types::MAX_WIDTH,
    wrap,
};
use crate::{
    source::Span,
    syntax::ast::{self, BinaryOp, Composite, TypeExpr, UnaryOp},
    typed::{
        tree::{Expr, ExprKind},
        types::Type,
    },
};

fn limits(ty: &Type) -> Limits {
    match ty {
        Type::Bits { signed, width } => Some((*signed, *width)),
        _ => None,
    }
}

impl Checker<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &ast::Expr, span: Span) -> Expr {
        let operand = self.expr(operand, None);
        if operand.ty == Type::Unknown {
            return Self::unknown(span);
        }
        if op == UnaryOp::Not {
            let operand = self.convert(operand, &Type::Bool, "the operand of '!'");
            let kind = match operand.kind {
                ExprKind::Bool(value) => ExprKind::Bool(!value),
                _ => ExprKind::Unary(op, Box::new(operand)),
            };
            return Expr::new(kind, Type::Bool, span);
        }
        let operand = self.as_number(operand);
        let ty = operand.ty.clone();
        let allowed = match ty {
            Type::Bits { .. } => true,
            Type::Integer => op != UnaryOp::Complement,
            _ => false,
        };
        if !allowed {
            let shown = self.show(&ty);
            return self.refused(span, format!("this operator takes bit<N> or int<N>, not {shown}"), span);
        }
        let kind = match operand.as_int() {
            Some(value) => ExprKind::Int(constant::unary(op, value, limits(&ty))),
            None if op == UnaryOp::Plus => return Expr { span, ..operand },
            None => ExprKind::Unary(op, Box::new(operand)),
        };
        Expr::new(kind, ty, span)
    }

    /// Converts a member of an enum with an underlying type to its number.
    fn as_number(&self, e: Expr) -> Expr {
        match e.ty {
            Type::Enum(_) => Expr {
                ty: self.program.types.base(&e.ty),
                ..e
            },
            _ => e,
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr, span: Span) -> Expr {
        use BinaryOp as B;
        let (left, right) = (self.expr(left, None), self.expr(right, None));
        if left.ty == Type::Unknown || right.ty == Type::Unknown {
            return Self::unknown(span);
        }
        match op {
            B::And | B::Or => self.logical(op, left, right, span),
            B::Shl | B::Shr => self.shift(op, left, right, span),
            B::Concat => self.concatenation(left, right, span),
            B::Eq | B::NotEq => self.equality(op, left, right, span),
            B::Less | B::LessEq | B::Greater | B::GreaterEq => {
                let Some((left, right)) = self.same_numbers(op, left, right, span) else {
                    return Self::unknown(span);
                };
                self.comparison(op, left, right, span)
            }
            _ => self.arithmetic(op, left, right, span),
        }
    }

    /// Checks `a op= b`, whose left side is already checked.
    pub(super) fn binary_checked(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        match op {
            _ if left.ty == Type::Unknown || right.ty == Type::Unknown => Self::unknown(span),
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, left, right, span),
            _ => self.arithmetic(op, left, right, span),
        }
    }

    fn logical(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let what = format!("the operand of '{}'", op.text());
        let left = self.convert(left, &Type::Bool, &what);
        let right = self.convert(right, &Type::Bool, &what);
        let is_and = op == BinaryOp::And;
        match (&left.kind, &right.kind) {
            (ExprKind::Bool(value), _) if *value == is_and => return Expr { span, ..right },
            (ExprKind::Bool(_), _) => return Expr { span, ..left },
            (_, ExprKind::Bool(value)) if *value == is_and => return Expr { span, ..left },
            _ => {}
        }
        Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), Type::Bool, span)
    }

    fn shift(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let (left, right) = (self.as_number(left), self.as_number(right));
        if !matches!(left.ty, Type::Bits { .. } | Type::Integer) {
            let shown = self.show(&left.ty);
            let message = format!("'{}' shifts bit<N> or int<N>, not {shown}", op.text());
            return self.refused(left.span, message, span);
        }
        match (&right.ty, right.as_int()) {
            (Type::Integer, Some(distance)) if *distance < BigInt::ZERO => {
                return self.refused(right.span, "a shift distance cannot be negative", span);
            }
            (Type::Integer, Some(_)) | (Type::Bits { signed: false, .. }, _) => {}
            _ => {
                let shown = self.show(&right.ty);
                let message = format!("a shift distance must be bit<N> or a known integer, not {shown}");
                return self.refused(right.span, message, span);
            }
        }
        let ty = left.ty.clone();
        if let (Some(a), Some(b)) = (left.as_int(), right.as_int()) {
            return self.folded(constant::binary(op, a, b, limits(&ty)), ty, span);
        }
        if ty == Type::Integer {
            return self.refused(left.span, "the shifted value needs a width, as in 32w1", span);
        }
        Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span)
    }

    fn folded(&mut self, value: Result<BigInt, &'static str>, ty: Type, span: Span) -> Expr {
        match value {
            Ok(value) => Expr::new(ExprKind::Int(value), ty, span),
            Err(message) => self.refused(span, message, span),
        }
    }

    fn concatenation(&mut self, left: Expr, right: Expr, span: Span) -> Expr {
        let (left, right) = (self.as_number(left), self.as_number(right));
        let (Type::Bits { signed, width: a }, Type::Bits { width: b, .. }) = (&left.ty, &right.ty) else {
            let bad = if matches!(left.ty, Type::Bits { .. }) {
                &right
            } else {
                &left
            };
            let shown = self.show(&bad.ty);
            let hint = if bad.ty == Type::Integer {
                "; give it a width, as in 8w1"
            } else {
                ""
            };
            let message = format!("'++' joins values of known width, not {shown}{hint}");
            return self.refused(bad.span, message, span);
        };
        if a + b > MAX_WIDTH {
            return self.refused(span, format!("the result is wider than {MAX_WIDTH} bits"), span);
        }
        let ty = Type::Bits {
            signed: *signed,
            width: a + b,
        };
        if let (Some(x), Some(y)) = (left.as_int(), right.as_int()) {
            let value = (x << *b) + wrap(y, false, *b);
            return Expr::new(ExprKind::Int(wrap(&value, *signed, a + b)), ty, span);
        }
        Expr::new(
            ExprKind::Binary(BinaryOp::Concat, Box::new(left), Box::new(right)),
            ty,
            span,
        )
    }

    /// Converts both operands to numbers of one type; an `int` takes the type of the other operand.
    fn same_numbers(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Option<(Expr, Expr)> {
        let (mut left, mut right) = (self.as_number(left), self.as_number(right));
        for e in [&left, &right] {
            if !matches!(e.ty, Type::Bits { .. } | Type::Integer) {
                let shown = self.show(&e.ty);
                let hint = match e.ty {
                    Type::Bool => "; '&&' and '||' take bool",
                    _ => "",
                };
                self.error(
                    e.span,
                    format!("'{}' takes bit<N> or int<N>, not {shown}{hint}", op.text()),
                );
                return None;
            }
        }
        match (&left.ty, &right.ty) {
            (a, b) if a == b => {}
            (Type::Integer, ty) => left = self.convert(left, &ty.clone(), "the left side"),
            (ty, Type::Integer) => right = self.convert(right, &ty.clone(), "the right side"),
            (a, b) => {
                let (a, b) = (self.show(a), self.show(b));
                self.error(
                    span,
                    format!(
                        "'{}' takes two values of one type, not {a} and {b}; cast one",
                        op.text()
                    ),
                );
                return None;
            }
        }
        Some((left, right))
    }

    fn arithmetic(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let Some((left, right)) = self.same_numbers(op, left, right, span) else {
            return Self::unknown(span);
        };
        let ty = left.ty.clone();
        if ty == Type::Integer && matches!(op, BinaryOp::SatAdd | BinaryOp::SatSub) {
            return self.refused(span, format!("'{}' needs values with a width", op.text()), span);
        }
        if let (Some(a), Some(b)) = (left.as_int(), right.as_int()) {
            return self.folded(constant::binary(op, a, b, limits(&ty)), ty, span);
        }
        if matches!(op, BinaryOp::Div | BinaryOp::Mod) {
            if left.as_int() == Some(&BigInt::ZERO) {
                // The right side is evaluated for its effects.
                let kind = ExprKind::Binary(op, Box::new(left.clone()), Box::new(right.clone()));
                return if right.has_effects() {
                    Expr::new(kind, ty, span)
                } else {
                    left
                };
            }
            return self.division(op, left, right, span);
        }
        Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span)
    }

    /// Checks a division that is not known at compile time: targets without a divider can only divide by a power of
    /// two.
    fn division(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let ty = left.ty.clone();
        let Some(divisor) = right.as_int() else {
            let what = if op == BinaryOp::Div {
                "divides"
            } else {
                "takes the remainder of a division"
            };
            let message = format!(
                "'{}' {what} by a value that is not known when compiling; only constants can divide",
                op.text()
            );
            return self.refused(right.span, message, span);
        };
        if *divisor <= BigInt::ZERO {
            return self.refused(right.span, "the divisor must be greater than zero", span);
        }
        if matches!(ty, Type::Bits { signed: true, .. }) {
            return self.refused(span, format!("'{}' is not defined for signed values", op.text()), span);
        }
        Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span)
    }

    fn comparison(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let known = match (&left.kind, &right.kind) {
            (ExprKind::Int(a), ExprKind::Int(b)) => compare(op, a, b),
            (ExprKind::Bool(a), ExprKind::Bool(b)) => compare(op, a, b),
            (ExprKind::Member(a), ExprKind::Member(b)) | (ExprKind::Error(a), ExprKind::Error(b)) => compare(op, a, b),
            _ => None,
        };
        let kind = match known {
            Some(value) => ExprKind::Bool(value),
            None => ExprKind::Binary(op, Box::new(left), Box::new(right)),
        };
        Expr::new(kind, Type::Bool, span)
    }

    fn equality(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let is_number = |c: &Self, ty: &Type| matches!(c.program.types.base(ty), Type::Bits { .. } | Type::Integer);
        let (mut left, mut right) = (left, right);
        if left.ty != right.ty {
            let opaque = |ty: &Type| matches!(ty, Type::New(_));
            if is_number(self, &left.ty) && is_number(self, &right.ty) && !opaque(&left.ty) && !opaque(&right.ty) {
                match self.same_numbers(op, left, right, span) {
                    Some(same) => (left, right) = same,
                    None => return Self::unknown(span),
                }
            } else if matches!(right.ty, Type::Tuple(_) | Type::Record(_) | Type::Invalid) {
                right = self.convert(right, &left.ty.clone(), "the right side");
            } else {
                left = self.convert(left, &right.ty.clone(), "the left side");
            }
        }
        let comparable = !matches!(
            left.ty,
            Type::Void | Type::Extern(..) | Type::Control(_) | Type::Parser(_) | Type::Text | Type::ApplyResult(_)
        );
        if !comparable {
            let shown = self.show(&left.ty);
            return self.refused(span, format!("values of type {shown} cannot be compared"), span);
        }
        self.comparison(op, left, right, span)
    }

    pub(super) fn cast(&mut self, ty: &TypeExpr, operand: &ast::Expr, span: Span) -> Expr {
        let to = self.resolve_type(ty);
        let operand = self.expr(operand, Some(&to));
        if operand.ty == Type::Unknown || to == Type::Unknown {
            return Self::unknown(span);
        }
        if operand.ty == to {
            return Expr { span, ..operand };
        }
        let (from_base, to_base) = (self.program.types.base(&operand.ty), self.program.types.base(&to));
        if let (Type::Bits { signed: s, width: w }, Type::Bits { signed, width }) = (&from_base, &to_base)
            && s != signed
            && w != width
        {
            let (from, shown) = (self.show(&operand.ty), self.show(&to));
            let show = |signed, width| self.show(&Type::Bits { signed, width });
            let (first, second) = (show(*s, *width), show(*signed, *w));
            let hint = format!("change the width first, or the sign: ({shown})({first}) or ({shown})({second})");
            return self.refused(span, format!("{from} cannot be cast to {shown}; {hint}"), span);
        }
        let kind = match (&from_base, &to_base) {
            (Type::Bits { .. } | Type::Integer, Type::Bits { signed, width }) => match operand.as_int() {
                Some(value) => ExprKind::Int(wrap(value, *signed, *width)),
                None => ExprKind::Cast(Box::new(operand)),
            },
            (from, Type::Bool) if matches!(from, Type::Integer) || *from == Type::bit(1) => match operand.as_int() {
                Some(value) if fits(value, false, 1) => ExprKind::Bool(*value != BigInt::ZERO),
                Some(_) => {
                    return self.refused(span, "only 0 and 1 can be cast to bool", span);
                }
                None => ExprKind::Cast(Box::new(operand)),
            },
            (Type::Bool, to) if *to == Type::bit(1) => match operand.kind {
                ExprKind::Bool(value) => ExprKind::Int(BigInt::from(i32::from(value))),
                _ => ExprKind::Cast(Box::new(operand)),
            },
            (a, b)
                if a == b || (matches!((a, b), (Type::Bits { .. }, Type::Integer)) && operand.as_int().is_some()) =>
            {
                return Expr {
                    ty: to,
                    span,
                    ..operand
                };
            }
            (Type::Tuple(_) | Type::Record(_) | Type::Invalid, _)
                if matches!(
                    self.program.types.composite(&to),
                    Some(Composite::Struct | Composite::Header | Composite::Union)
                ) || matches!(to, Type::Tuple(_) | Type::Stack(..) | Type::List(_)) =>
            {
                return Expr {
                    span,
                    ..self.convert(operand, &to, "the cast list")
                };
            }
            _ => {
                let (from, shown) = (self.show(&operand.ty), self.show(&to));
                let message = format!("{from} cannot be cast to {shown}{}", cast_hint(&from_base, &to_base));
                return self.refused(span, message, span);
            }
        };
        Expr::new(kind, to, span)
    }
}

/// Hint: allowed casts that together replace a forbidden one.
fn cast_hint(from: &Type, to: &Type) -> &'static str {
    match (from, to) {
        (Type::Bits { .. }, Type::Bool) => "; compare it with 0",
        (Type::Bool, Type::Bits { .. }) => "; cast it to bit<1> first",
        _ => "",
    }
}
