//! The flat operations of actions, conditions and parser assignments.
//!
//! Every operand is an index into one array of 64-bit words: the packet's PHV, then the parameters of the running
//! action, then constants and intermediate results. A value of up to 64 bits is one word. `m` is a word that is ANDed
//! with the result: the mask of a field's width, often combined with a mask of the P4 compiler.

use super::expr::{Bool, Data, HeaderExpr, UnionExpr};

/// An index into the word array.
pub(crate) type Word = u32;

/// An index into the code.
pub(crate) type Address = u32;

#[rustfmt::skip] // One line an operation.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// d = a & m
    Move { d: Word, a: Word, m: Word },
    Add { d: Word, a: Word, b: Word, m: Word },
    Sub { d: Word, a: Word, b: Word, m: Word },
    Mul { d: Word, a: Word, b: Word, m: Word },
    And { d: Word, a: Word, b: Word, m: Word },
    Or { d: Word, a: Word, b: Word, m: Word },
    Xor { d: Word, a: Word, b: Word, m: Word },
    Not { d: Word, a: Word, m: Word },
    /// d = (a << b) & m; 0 for b >= 64.
    Shl { d: Word, a: Word, b: Word, m: Word },
    /// a is unsigned.
    Shr { d: Word, a: Word, b: Word, m: Word },
    /// a is signed.
    Sar { d: Word, a: Word, b: Word, m: Word },
    Div { d: Word, a: Word, b: Word, m: Word },
    Rem { d: Word, a: Word, b: Word, m: Word },
    /// d = the low 64 - shift bits of a as a signed number
    SignExtend { d: Word, a: Word, shift: u32 },
    /// d = a clamped to low..=high, all unsigned
    Clamp { d: Word, a: Word, low: Word, high: Word },
    /// d = a clamped to low..=high, all signed
    ClampSigned { d: Word, a: Word, low: Word, high: Word },
    /// d = 1 if a == b, else 0
    Equal { d: Word, a: Word, b: Word },
    Less { d: Word, a: Word, b: Word },
    LessOrEqual { d: Word, a: Word, b: Word },
    LessSigned { d: Word, a: Word, b: Word },
    LessOrEqualSigned { d: Word, a: Word, b: Word },
    /// d = 1 if a == 0, else 0
    IsZero { d: Word, a: Word },
    /// d = c != 0 ? a : b
    Select { d: Word, c: Word, a: Word, b: Word },
    /// n words from a to d
    Copy { d: Word, a: Word, n: u32 },
    /// d = 1 if the n words at a and b are equal, else 0
    EqualWords { d: Word, a: Word, b: Word, n: u32 },
    /// d = word `offset` of the block of header `list[i]`; 0 if there is no such header
    Load { d: Word, list: u32, i: Word, offset: u32 },
    /// word `offset` of the block of header `list[i]` = a & m
    Store { list: u32, i: Word, offset: u32, a: Word, m: Word },
    /// d = the exact value modulo 2^64
    Evaluate { d: Word, expr: Box<Data> },
    EvaluateBool { d: Word, expr: Box<Bool> },
    /// Stores into a place that no one-word operation can write.
    Assign(Box<Assignment>),
    /// d = the cell, or `missing` if there is no such cell
    RegisterRead { d: Word, register: u32, cell: Word, m: Word, missing: Word },
    RegisterWrite { register: u32, cell: Word, a: Word },
    Count { counter: u32, cell: Word },
    /// d = colour: 0 green, 1 yellow, 2 red
    Meter { meter: u32, cell: Word, d: Word, m: Word },
    /// d = the result of a low-pass filter or of random early detection for the sample a
    Filter { filter: u32, cell: Word, a: Word, d: Word, m: Word },
    /// d = (base + hash % size) & m
    Hash { calculation: u32, base: Word, size: Word, d: Word, m: Word },
    /// d = a random number from low to high, both included
    Random { low: Word, high: Word, d: Word, m: Word },
    Header { what: HeaderOp, header: u32 },
    /// As `Header`, for header `list[i]`.
    HeaderAt { what: HeaderOp, list: u32, i: Word },
    CopyHeader { to: u32, from: u32 },
    /// Copies between headers known only at run time.
    CopyHeaderAt(Box<(HeaderExpr, HeaderExpr)>),
    CopyUnion(Box<(UnionExpr, UnionExpr)>),
    CopyStack { to: u32, from: u32 },
    CopyUnionStack { to: u32, from: u32 },
    Push { stack: u32, n: Word },
    Pop { stack: u32, n: Word },
    PushUnion { stack: u32, n: Word },
    PopUnion { stack: u32, n: Word },
    Truncate { a: Word },
    Jump { to: Address },
    JumpIfZero { a: Word, to: Address },
    JumpIfNotZero { a: Word, to: Address },
    JumpUnlessEqual { a: Word, b: Word, to: Address },
    JumpUnlessLess { a: Word, b: Word, to: Address },
    JumpUnlessLessOrEqual { a: Word, b: Word, to: Address },
    /// Runs the code of an action, and continues after it.
    Call { to: Address },
    /// Looks up the packet in a table, runs the action, and continues where the table says.
    Apply { table: u32 },
    /// Counts a failed assertion if a is 0.
    Assert { a: Word },
    Log(Box<LogMessage>),
    /// P4 `exit`: skips all later operations, tables and conditions of this pipeline.
    Exit,
    End,
}

impl Op {
    /// Target of a jump.
    pub fn target(&self) -> Option<Address> {
        match self {
            Op::Jump { to }
            | Op::JumpIfZero { to, .. }
            | Op::JumpIfNotZero { to, .. }
            | Op::JumpUnlessEqual { to, .. }
            | Op::JumpUnlessLess { to, .. }
            | Op::JumpUnlessLessOrEqual { to, .. } => Some(*to),
            _ => None,
        }
    }

    pub fn set_target(&mut self, target: Address) {
        match self {
            Op::Jump { to }
            | Op::JumpIfZero { to, .. }
            | Op::JumpIfNotZero { to, .. }
            | Op::JumpUnlessEqual { to, .. }
            | Op::JumpUnlessLess { to, .. }
            | Op::JumpUnlessLessOrEqual { to, .. } => *to = target,
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderOp {
    /// Makes a header valid; if it was invalid, its fields become 0.
    Add,
    Remove,
    /// Makes a header valid and changes nothing else.
    MarkValid,
}

/// An assignment by exact evaluation.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub to: Target,
    pub value: Data,
}

/// A place that can hold a value.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Field(u32),
    FieldOf(HeaderExpr, u32),
    Register(u32, Data),
    /// A variable-length field; it takes the length of the source field.
    Varbit(u32, u32),
}

#[derive(Clone, Debug)]
pub(crate) struct LogMessage {
    pub format: String,
    pub values: Vec<Data>,
}
