//! The statements of a control, and kinds of expressions in them.

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
    /// Operations of an action that the control calls.
    Call(Vec<Node>),
    Break(Label),
    Exit,
    Loop(Span),
    Apply(Application),
}

#[derive(Clone, Debug)]
pub struct Application {
    /// Index of the table.
    pub table: usize,
    /// Values to look up, one for each key field.
    pub keys: Vec<Expr>,
    /// Statements after each outcome; empty if the same statements follow every outcome.
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

/// Cell of a field; `None` if its header is known only at run time.
pub fn field_cell(f: &FieldRef) -> Option<Cell> {
    match f.header {
        HeaderRef::Static(h) => Some((h, Some(f.field))),
        _ => None,
    }
}

/// True for `a < b ? a : b` and similar expressions, which are one operation of an ALU.
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

/// Calls `see` for each node, also for nested ones.
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

/// Temporaries of the compiler for the results of an operation; their use belongs to the same statement.
pub fn results(ir: &Ir, p: &Primitive) -> Cells {
    let e = effect(ir, p);
    let has_result = e
        .uses
        .iter()
        .any(|u| matches!(u, Use::Register { .. } | Use::Hash(_) | Use::Random | Use::Meter(_)));
    let of = |c: Cell| has_result && (is_temporary(ir, c) || p.op == "modify_field_with_hash_based_offset");
    e.writes.into_iter().filter(|(c, _)| of(*c)).collect()
}

/// True if an ALU computes the result; false for a copy.
pub fn computes_value(p: &Primitive) -> bool {
    matches!((p.op, p.args.as_slice()), ("assign", [Arg::Target(_), Arg::Value(e)]) if !is_operand(e))
}

/// True if an expression computes: it does more than name, compare or join.
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
