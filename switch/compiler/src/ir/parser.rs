//! Parsers and deparsers.

use num_bigint::BigInt;

use super::{Expr, FieldRef, HeaderRef, Primitive};
use crate::source::Span;

/// An operation of a parser state.
#[derive(Clone, Debug)]
pub enum ParserOp {
    /// Extracts a header, and the bits of its varbit field.
    Extract(HeaderRef, Option<Expr>),
    /// Extracts a header of the next element of a stack of unions.
    ExtractUnion(usize, String, Option<Expr>),
    Set(FieldRef, Expr),
    /// Goes to reject with the error unless the condition holds.
    Verify(Expr, Expr),
    /// Skips a number of bits.
    Advance(Expr),
    /// Any other operation.
    Primitive(Primitive),
}

#[derive(Clone, Debug)]
pub enum Case {
    /// All keys joined, each padded to whole bytes; and a mask.
    Value(BigInt, Option<BigInt>),
    ValueSet(usize),
    /// Any key.
    Default,
}

#[derive(Clone, Debug)]
pub struct ParserState {
    pub name: String,
    pub ops: Vec<ParserOp>,
    pub key: Vec<Expr>,
    /// Cases with their next states; `None` is accept.
    pub transitions: Vec<(Case, Option<usize>)>,
    pub span: Span,
}

/// A parser: a graph of states.
#[derive(Clone, Debug)]
pub struct Parser {
    pub name: &'static str,
    pub states: Vec<ParserState>,
    pub start: usize,
    /// True if a control reads the parser error; then packets with an error are not dropped (TNA).
    pub errors_read: bool,
}

/// A deparser: the headers in front of the payload.
#[derive(Clone, Debug)]
pub struct Deparser {
    pub name: &'static str,
    /// Indexes of the headers in order.
    pub order: Vec<usize>,
    /// Operations before the headers are emitted.
    pub primitives: Vec<Primitive>,
    pub span: Span,
}
