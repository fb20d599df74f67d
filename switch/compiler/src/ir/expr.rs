//! Expressions over flat storage, folded as they are built.

use num_bigint::BigInt;

use crate::{
    check::{compare, fold_binary, fold_unary, wrap},
    syntax::ast::{BinaryOp, UnaryOp},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// True or false; stored as one bit.
    Bool,
    Bits {
        /// Two's complement.
        signed: bool,
        width: u32,
    },
    /// A number of bits known only at run time; at most this many.
    Varbit(u32),
}

impl Ty {
    /// `bit<width>`
    #[must_use]
    pub fn bit(width: u32) -> Ty {
        Ty::Bits { signed: false, width }
    }

    #[must_use]
    pub fn width(self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::Bits { width, .. } | Ty::Varbit(width) => width,
        }
    }

    fn limits(self) -> Option<(bool, u32)> {
        match self {
            Ty::Bits { signed, width } => Some((signed, width)),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderRef {
    /// Index of an instance.
    Static(usize),
    /// An element of a stack at an index known only at run time.
    Element(usize, Box<Expr>),
    /// The next element of a stack.
    Next(usize),
    /// The last extracted element of a stack.
    Last(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRef {
    pub header: HeaderRef,
    /// Index of the field in its header type.
    pub field: usize,
}

impl FieldRef {
    pub fn new(header: HeaderRef, field: usize) -> FieldRef {
        FieldRef { header, field }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Ty,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    Int(BigInt),
    Bool(bool),
    Field(FieldRef),
    Param(usize),
    Valid(HeaderRef),
    ValidUnion(usize),
    /// Index of the last extracted element of a stack.
    LastIndex(usize),
    /// Bits ahead in the packet: offset and width.
    Lookahead(u32, u32),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A conversion to the type of this expression.
    Cast(Box<Expr>),
}

impl Expr {
    pub fn new(kind: ExprKind, ty: Ty) -> Expr {
        Expr { kind, ty }
    }

    /// A number, wrapped to its type.
    #[must_use]
    pub fn int(value: &BigInt, ty: Ty) -> Expr {
        match ty.limits() {
            Some((signed, width)) => Expr::new(ExprKind::Int(wrap(value, signed, width)), ty),
            None => Expr::new(ExprKind::Int(value.clone()), ty),
        }
    }

    /// A small number of type `bit<width>`.
    #[must_use]
    pub fn number(value: u64, width: u32) -> Expr {
        Expr::int(&BigInt::from(value), Ty::bit(width))
    }

    #[must_use]
    pub fn bool(value: bool) -> Expr {
        Expr::new(ExprKind::Bool(value), Ty::Bool)
    }

    /// The number, if it is known at compile time.
    #[must_use]
    pub fn as_int(&self) -> Option<BigInt> {
        match &self.kind {
            ExprKind::Int(value) => Some(value.clone()),
            ExprKind::Bool(value) => Some(BigInt::from(u8::from(*value))),
            _ => None,
        }
    }

    /// True if it is known at compile time.
    #[must_use]
    pub fn is_known(&self) -> bool {
        matches!(self.kind, ExprKind::Int(_) | ExprKind::Bool(_))
    }

    /// `op operand`
    #[must_use]
    pub fn unary(op: UnaryOp, operand: Expr) -> Expr {
        let ty = operand.ty;
        match (op, operand.kind) {
            (UnaryOp::Not, ExprKind::Bool(value)) => Expr::bool(!value),
            (UnaryOp::Not, ExprKind::Unary(UnaryOp::Not, inner)) => *inner,
            (_, ExprKind::Int(value)) => Expr::new(ExprKind::Int(fold_unary(op, &value, ty.limits())), ty),
            (_, kind) => Expr::new(ExprKind::Unary(op, Box::new(Expr::new(kind, ty))), ty),
        }
    }

    /// `left op right`, of type `ty`.
    #[must_use]
    pub fn binary(op: BinaryOp, left: Expr, right: Expr, ty: Ty) -> Expr {
        use BinaryOp as B;
        if let (ExprKind::Bool(value), B::And | B::Or) = (&left.kind, op) {
            return if *value == (op == B::And) { right } else { left };
        }
        if let (ExprKind::Bool(value), B::And | B::Or) = (&right.kind, op)
            && *value == (op == B::And)
        {
            return left;
        }
        if let (Some(a), Some(b)) = (left.as_int(), right.as_int()) {
            if let Some(value) = compare(op, &a, &b) {
                return Expr::bool(value);
            }
            if op == B::Concat {
                let low = right.ty.width();
                return Expr::int(&((a << low) + wrap(&b, false, low)), ty);
            }
            if let Ok(value) = fold_binary(op, &a, &b, ty.limits()) {
                return Expr::new(ExprKind::Int(value), ty);
            }
        }
        Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty)
    }

    /// `condition ? yes : no`
    #[must_use]
    pub fn conditional(condition: Expr, yes: Expr, no: Expr) -> Expr {
        if let ExprKind::Bool(value) = condition.kind {
            return if value { yes } else { no };
        }
        let ty = yes.ty;
        Expr::new(
            ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no)),
            ty,
        )
    }

    /// Converts the value to `ty`.
    #[must_use]
    pub fn cast(self, ty: Ty) -> Expr {
        if self.ty == ty {
            return self;
        }
        match (self.as_int(), ty) {
            (Some(value), Ty::Bits { .. }) => Expr::int(&value, ty),
            (Some(value), Ty::Bool) => Expr::bool(value != BigInt::ZERO),
            _ => Expr::new(ExprKind::Cast(Box::new(self)), ty),
        }
    }

    /// Bits `high` to `low` of the value.
    #[must_use]
    pub fn slice(self, high: u32, low: u32) -> Expr {
        let unsigned = self.clone().cast(Ty::bit(self.ty.width()));
        if low == 0 && high + 1 == unsigned.ty.width() {
            return unsigned;
        }
        let ty = unsigned.ty;
        let shifted = if low == 0 {
            unsigned
        } else {
            Expr::binary(BinaryOp::Shr, unsigned, Expr::number(u64::from(low), 32), ty)
        };
        shifted.cast(Ty::bit(high - low + 1))
    }

    /// `self && other`
    #[must_use]
    pub fn and(self, other: Expr) -> Expr {
        Expr::binary(BinaryOp::And, self, other, Ty::Bool)
    }

    /// Nesting depth of its JSON (`emit::json` writes it). JSON readers limit the depth.
    #[must_use]
    pub fn nesting(&self) -> usize {
        match &self.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) => 2,
            ExprKind::Param(_) => 4,
            // An element of a stack is found by binary search: up to 12 decisions for 4096 elements.
            ExprKind::Field(FieldRef {
                header: HeaderRef::Element(_, index),
                ..
            })
            | ExprKind::Valid(HeaderRef::Element(_, index)) => 28 + index.nesting(),
            ExprKind::Field(_) | ExprKind::LastIndex(_) | ExprKind::Lookahead(..) => 5,
            ExprKind::Valid(_) | ExprKind::ValidUnion(_) => 10,
            ExprKind::Unary(_, e) => 4 + e.nesting(),
            ExprKind::Cast(e) => 2 + e.nesting(),
            ExprKind::Binary(op, a, b) => {
                use BinaryOp as B;
                let own = match op {
                    B::Add | B::Sub | B::Mul | B::Shl | B::SatAdd | B::SatSub | B::Eq | B::NotEq => 4,
                    _ => 2,
                };
                own + a.nesting().max(b.nesting())
            }
            ExprKind::Conditional(a, b, c) => 6 + a.nesting().max(b.nesting()).max(c.nesting()),
        }
    }

    /// `left op right` over all of `list`, nested as little as possible. The order of `list` must not matter.
    #[must_use]
    pub fn joined(op: BinaryOp, mut list: Vec<Expr>, none: bool) -> Expr {
        while list.len() > 1 {
            let mut pairs = Vec::with_capacity(list.len().div_ceil(2));
            let mut rest = list.into_iter();
            while let Some(first) = rest.next() {
                pairs.push(match rest.next() {
                    Some(second) => Expr::binary(op, first, second, Ty::Bool),
                    None => first,
                });
            }
            list = pairs;
        }
        list.pop().unwrap_or(Expr::bool(none))
    }

    /// Calls `visit` for every header and field that the expression reads.
    pub fn visit_fields(&self, visit: &mut impl FnMut(&HeaderRef, Option<usize>)) {
        match &self.kind {
            ExprKind::Field(f) => {
                visit(&f.header, Some(f.field));
                if let HeaderRef::Element(_, index) = &f.header {
                    index.visit_fields(visit);
                }
            }
            ExprKind::Valid(h) => visit(h, None),
            ExprKind::Unary(_, e) | ExprKind::Cast(e) => e.visit_fields(visit),
            ExprKind::Binary(_, a, b) => {
                a.visit_fields(visit);
                b.visit_fields(visit);
            }
            ExprKind::Conditional(a, b, c) => {
                a.visit_fields(visit);
                b.visit_fields(visit);
                c.visit_fields(visit);
            }
            _ => {}
        }
    }
}
