//! Statements, and the graphs that they become.

use num_bigint::BigInt;

use super::{Expr, FieldRef, HeaderRef};
use crate::{source::Span, syntax::token::Symbol, typed::types::ActionId as SourceAction};

/// An argument of a primitive.
#[derive(Clone, Debug)]
pub enum Arg {
    Value(Expr),
    /// A field that is written.
    Target(FieldRef),
    Header(HeaderRef),
    /// A header stack.
    Stack(usize),
    /// A header union.
    Union(usize),
    UnionStack(usize),
    /// Another named thing: kind (`register_array`, `calculation`, ...) and name.
    Named(&'static str, String),
    /// A number without a width, such as a jump's target.
    Number(BigInt),
    Text(Symbol),
    /// Several values.
    Values(Vec<Expr>),
}

/// An operation of an action.
#[derive(Clone, Debug)]
pub struct Primitive {
    pub op: &'static str,
    pub args: Vec<Arg>,
    pub span: Span,
}

/// The end of a block of statements, or the start of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(pub u32);

/// A statement of a control.
#[derive(Clone, Debug)]
pub enum Stmt {
    Primitive(Primitive),
    /// A decision.
    If(Expr, Vec<Stmt>, Vec<Stmt>, Span),
    /// Statements that `Break` of the label leaves.
    Block(Label, Vec<Stmt>),
    /// Statements repeated until a `Break` of an outer label.
    Loop(Vec<Stmt>, Span),
    /// Leaves the block with the label.
    Break(Label),
    /// The application of a table, and what follows from its outcome.
    Apply(usize, Outcome, Span),
    /// Ends the pipeline.
    Exit(Span),
}

/// Continuation after a table's application.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The same for all.
    Any,
    HitMiss(Vec<Stmt>, Vec<Stmt>),
    /// By action, then the code of the rest, for the last one.
    Action(Vec<(Vec<SourceAction>, Vec<Stmt>)>, Vec<Stmt>),
}

/// Thread of the chip that runs a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gress {
    Ingress,
    Egress,
    /// Runs next to ingress, at every change of a queue's length (T2NA).
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
    /// Tables in it, as indexes, with what follows each.
    pub tables: Vec<(usize, Next)>,
    pub conditions: Vec<Condition>,
}

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A table, by its index in the program.
    Table(usize),
    /// A decision, by its index in the pipeline.
    Condition(usize),
}

/// Continuation after a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The same for all.
    Any(Option<Node>),
    HitMiss(Option<Node>, Option<Node>),
    /// By action, in the order of the table's actions.
    Action(Vec<Option<Node>>),
}

/// A decision in the graph.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Condition.
    pub expr: Expr,
    /// Next node if it is true.
    pub yes: Option<Node>,
    /// Next node if it is false.
    pub no: Option<Node>,
    pub span: Span,
}
