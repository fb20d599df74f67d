//! Statements, and their control-flow graphs.

use num_bigint::BigInt;

use super::{Expr, FieldRef, HeaderRef};
use crate::{source::Span, syntax::token::Symbol, typed::types::ActionId as SourceAction};

#[derive(Clone, Debug)]
pub enum Arg {
    Value(Expr),
    /// A field to write.
    Target(FieldRef),
    Header(HeaderRef),
    Stack(usize),
    Union(usize),
    UnionStack(usize),
    /// Another named object: its kind (`register_array`, `calculation`, ...) and name.
    Named(&'static str, String),
    /// A number without a width, such as the target of a jump.
    Number(BigInt),
    Text(Symbol),
    Values(Vec<Expr>),
}

/// An operation of an action.
#[derive(Clone, Debug)]
pub struct Primitive {
    pub op: &'static str,
    pub args: Vec<Arg>,
    pub span: Span,
}

/// Label of a block of statements or of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(pub u32);

/// A statement of a control.
#[derive(Clone, Debug)]
pub enum Stmt {
    Primitive(Primitive),
    If(Expr, Vec<Stmt>, Vec<Stmt>, Span),
    /// Statements with a label; `Break` with this label leaves them.
    Block(Label, Vec<Stmt>),
    /// Statements that repeat until a `Break` of an outer label.
    Loop(Vec<Stmt>, Span),
    /// Leaves the block with the label.
    Break(Label),
    /// The application of a table, and the statements after its outcome.
    Apply(usize, Outcome, Span),
    /// Ends the pipeline.
    Exit(Span),
}

/// Statements after a table.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The same after every outcome.
    Any,
    HitMiss(Vec<Stmt>, Vec<Stmt>),
    /// Statements by action, and the statements after any other action.
    Action(Vec<(Vec<SourceAction>, Vec<Stmt>)>, Vec<Stmt>),
}

/// Thread of the chip on which a control runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gress {
    Ingress,
    Egress,
    /// Runs besides ingress, whenever the length of a queue changes (T2NA).
    Ghost,
}

/// A pipeline as a graph.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    pub name: &'static str,
    /// Name of its control's type.
    pub control: String,
    pub span: Span,
    pub first: Option<Node>,
    /// Tables by index, and the node after each.
    pub tables: Vec<(usize, Next)>,
    pub conditions: Vec<Condition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A table, by its index in the program.
    Table(usize),
    /// A decision, by its index in the pipeline.
    Condition(usize),
}

/// Nodes after a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The same after every outcome.
    Any(Option<Node>),
    HitMiss(Option<Node>, Option<Node>),
    /// Indexed by action, in the order of the table's actions.
    Action(Vec<Option<Node>>),
}

#[derive(Clone, Debug)]
pub struct Condition {
    pub expr: Expr,
    /// Node if it is true.
    pub yes: Option<Node>,
    /// Node if it is false.
    pub no: Option<Node>,
    pub span: Span,
}
