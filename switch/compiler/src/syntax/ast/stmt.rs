//! Statements as written.

use super::{BinaryOp, Decl, Expr, Ident, TypeExpr};
use crate::source::Span;

/// A statement and its place.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Which.
    pub kind: StmtKind,
    /// Its place.
    pub span: Span,
}

/// A block of statements.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its statements.
    pub stmts: Vec<Stmt>,
}

/// The forms of a statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// `a = b`, or `a op= b`
    Assign(Expr, Option<BinaryOp>, Expr),
    /// A call
    Call(Expr),
    /// `if`
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `{ ... }`
    Block(Block),
    /// `exit`
    Exit,
    /// `return`
    Return(Option<Expr>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `for (init; condition; update) body`
    For(Vec<Stmt>, Expr, Vec<Stmt>, Box<Stmt>),
    /// `for (T x in set) body`
    ForIn(TypeExpr, Ident, Expr, Box<Stmt>),
    /// `switch`
    Switch(Expr, Vec<SwitchCase>),
    /// A local declaration
    Decl(Box<Decl>),
}

/// A label of a `switch` with its block; no block means that it falls through.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// The label; `None` for `default`.
    pub label: Option<Expr>,
    /// Its place.
    pub span: Span,
    /// What is done.
    pub block: Option<Block>,
}
