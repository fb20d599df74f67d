//! The statements of a control, and what their expressions are.

use super::cells::{Cell, Cells, Use, effect, is_temporary, slice_of, visit};
use crate::{
    ir::{Arg, Expr, ExprKind, FieldRef, HeaderRef, Ir, Label, Primitive},
    source::Span,
    syntax::ast::{BinaryOp, UnaryOp},
};

/// A statement.
#[derive(Clone, Debug)]
pub enum Node {
    Do(Primitive),
    If(Expr, Vec<Node>, Vec<Node>, Span),
    Block(Label, Vec<Node>),
    /// The operations of an action that the control calls itself.
    Call(Vec<Node>),
    Break(Label),
    Exit,
    Loop(Span),
    Apply(Application),
}

/// A table's application.
#[derive(Clone, Debug)]
pub struct Application {
    /// The table, by its index.
    pub table: usize,
    /// Values that are looked up, one for each key field.
    pub keys: Vec<Expr>,
    /// Statements after each outcome; empty if the same follow all.
    pub branches: Vec<Vec<Node>>,
    pub span: Span,
}

/// True if an expression only names existing bits, or is a constant.
pub fn is_operand(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Param(_) | ExprKind::Field(_) | ExprKind::Valid(_) => true,
        ExprKind::Cast(inner) => is_operand(inner) || slice_of(e).is_some_and(|(of, ..)| is_operand(of)),
        _ => false,
    }
}

/// The cell of a field, if it is one.
pub fn field_cell(f: &FieldRef) -> Option<Cell> {
    match f.header {
        HeaderRef::Static(h) => Some((h, Some(f.field))),
        _ => None,
    }
}

/// `a < b ? a : b` and its like: one operation of an ALU.
pub fn is_min_or_max(e: &Expr) -> bool {
    let ExprKind::Conditional(condition, yes, no) = &e.kind else {
        return false;
    };
    use BinaryOp as B;
    let ExprKind::Binary(B::Less | B::LessEq | B::Greater | B::GreaterEq, a, b) = &condition.kind else {
        return false;
    };
    (a == yes && b == no) || (a == no && b == yes)
}

/// Calls `see` for each node, those in others included.
pub fn each<'a>(nodes: &'a [Node], see: &mut impl FnMut(&'a Node)) {
    for node in nodes {
        see(node);
        match node {
            Node::If(_, yes, no, _) => {
                each(yes, see);
                each(no, see);
            }
            Node::Block(_, inner) | Node::Call(inner) => each(inner, see),
            Node::Apply(a) => a.branches.iter().for_each(|b| each(b, see)),
            _ => {}
        }
    }
}

/// The temporaries of the compiler that an operation's results go through: their use is part of the same statement.
pub fn results(ir: &Ir, p: &Primitive) -> Cells {
    let e = effect(ir, p);
    let has_result = e
        .uses
        .iter()
        .any(|u| matches!(u, Use::Register { .. } | Use::Hash(_) | Use::Random | Use::Meter(_)));
    let of = |c: Cell| has_result && (is_temporary(ir, c) || p.op == "modify_field_with_hash_based_offset");
    e.writes.into_iter().filter(|(c, _)| of(*c)).collect()
}

/// True if an ALU computes the operation; false for a copy.
pub fn computes_value(p: &Primitive) -> bool {
    matches!((p.op, p.args.as_slice()), ("assign", [Arg::Target(_), Arg::Value(e)]) if !is_operand(e))
}

/// True if an expression computes anything: more than naming, comparing or joining.
pub fn computes(e: &Expr) -> bool {
    let mut found = false;
    visit(e, &mut |e| {
        if let ExprKind::Binary(op, a, b) = &e.kind {
            use BinaryOp as B;
            found |= match op {
                B::And | B::Or | B::Eq | B::NotEq | B::Less | B::LessEq | B::Greater | B::GreaterEq => false,
                // A mask, or a slice.
                B::BitAnd => !(a.is_known() || b.is_known()),
                B::Shr => !b.is_known(),
                _ => true,
            };
        }
        found |= matches!(
            &e.kind,
            ExprKind::Unary(UnaryOp::Complement | UnaryOp::Minus, _) | ExprKind::Conditional(..)
        );
    });
    found
}

/// True if a block's statements leave it by `Break(label)`.
pub fn leaves_by(nodes: &[Node], label: Label) -> bool {
    let mut found = false;
    each(nodes, &mut |n| found |= matches!(n, Node::Break(l) if *l == label));
    found
}
