//! Expressions after checking.

use num_bigint::BigInt;

use super::types::{ActionId, ExternFnId, FunctionId, InstanceId, TableId, Type, ValueSetId, VarId};
use crate::{
    source::Span,
    syntax::{
        ast::{BinaryOp, UnaryOp},
        token::Symbol,
    },
};

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

/// Methods defined by the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    IsValid,
    SetValid,
    SetInvalid,
    PushFront,
    PopFront,
}

/// Properties of a header stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackProperty {
    Next,
    Last,
    LastIndex,
}

/// Callee of a call.
#[derive(Clone, Debug)]
pub enum Callee {
    Function(FunctionId),
    Action(ActionId),
    /// An extern function, by the index of the overload.
    Extern(ExternFnId),
    /// A method of an extern object, by the index of the overload.
    Method(Box<Expr>, usize),
    /// `t.apply()`
    Table(TableId),
    /// `p.apply(...)` or `c.apply(...)`: the instance
    Apply(Box<Expr>),
    /// A method defined by the language
    Builtin(Builtin, Box<Expr>),
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An expression with an error
    Unknown,
    /// An integer, or a value of an enum with an underlying type
    Int(BigInt),
    /// `true`, `false`
    Bool(bool),
    Text(Symbol),
    /// `error.X`, as index of the list of errors
    Error(usize),
    /// A member of an enum without underlying type
    Member(usize),
    Var(VarId),
    Instance(InstanceId),
    ValueSet(ValueSetId),
    /// Field `n`
    Field(Box<Expr>, usize),
    /// `a[i]` of a stack or tuple
    Index(Box<Expr>, Box<Expr>),
    /// `a[h:l]`
    Slice(Box<Expr>, u32, u32),
    Stack(Box<Expr>, StackProperty),
    /// An operator with one operand
    Unary(UnaryOp, Box<Expr>),
    /// An operator with two operands
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Conversion to the type of this expression
    Cast(Box<Expr>),
    /// A value for each field or element, in order
    Aggregate(Vec<Expr>),
    /// An invalid header; the default value of any type
    Default,
    /// In `a op= b`, the old value of `a`
    Old,
    Call(Box<Callee>, Vec<Type>, Vec<Option<Expr>>),
    /// `t.apply().hit` (true) or `.miss`
    Hit(TableId, bool),
    /// `a &&& b`
    Mask(Box<Expr>, Box<Expr>),
    /// `a .. b`
    Range(Box<Expr>, Box<Expr>),
    /// `default`, `_`
    Any,
}

impl Expr {
    pub fn new(kind: ExprKind, ty: Type, span: Span) -> Expr {
        Expr { kind, ty, span }
    }

    /// The value, if it is an integer.
    #[must_use]
    pub fn as_int(&self) -> Option<&BigInt> {
        match &self.kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// True if the evaluation may have effects, so that its order matters.
    #[must_use]
    pub fn has_effects(&self) -> bool {
        match &self.kind {
            ExprKind::Call(callee, _, _) => !matches!(**callee, Callee::Builtin(Builtin::IsValid, _)),
            ExprKind::Hit(..) => true,
            ExprKind::Field(e, _) | ExprKind::Slice(e, ..) | ExprKind::Stack(e, _) => e.has_effects(),
            ExprKind::Unary(_, e) | ExprKind::Cast(e) => e.has_effects(),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Mask(a, b) | ExprKind::Range(a, b) => {
                a.has_effects() || b.has_effects()
            }
            ExprKind::Conditional(a, b, c) => a.has_effects() || b.has_effects() || c.has_effects(),
            ExprKind::Aggregate(list) => list.iter().any(Expr::has_effects),
            _ => false,
        }
    }
}
