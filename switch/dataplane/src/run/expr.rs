//! Expressions as typed trees.

use num_bigint::BigInt;

/// An integer expression. BMv2 computes with unlimited precision, and cuts a value to its width in a store.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    Const(BigInt),
    Field(u32),
    /// Validity of a header as 0 or 1.
    Valid(u32),
    /// A parameter of the enclosing action: its first word and its width in bits.
    Param(u32, u32),
    /// A field of a header that is known only at run time: the header, and the offset of the field in its type.
    FieldOf(Box<HeaderExpr>, u32),
    Register(u32, Box<Data>),
    /// Number of used elements of a stack, stored in this word of the PHV.
    StackCount(u32),
    Binary(Arithmetic, Box<Data>, Box<Data>),
    BitNot(Box<Data>),
    FromBool(Box<Bool>),
    Select(Box<Bool>, Box<Data>, Box<Data>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    /// The left side as a two's complement number; the right side is its width in bits.
    TwoComp,
    /// The left side clamped to an unsigned number; the right side is its width in bits.
    SaturateUnsigned,
    /// The left side clamped to a signed number; the right side is its width in bits.
    SaturateSigned,
}

#[derive(Clone, Debug)]
pub(crate) enum Bool {
    Const(bool),
    Compare(Comparison, Box<Data>, Box<Data>),
    Iff(Box<Bool>, Box<Bool>),
    HeaderEqual(HeaderExpr, HeaderExpr),
    UnionEqual(UnionExpr, UnionExpr),
    And(Box<Bool>, Box<Bool>),
    Or(Box<Bool>, Box<Bool>),
    Not(Box<Bool>),
    Valid(HeaderExpr),
    ValidUnion(UnionExpr),
    FromData(Box<Data>),
    Select(Box<Bool>, Box<Bool>, Box<Bool>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
}

#[derive(Clone, Debug)]
pub(crate) enum HeaderExpr {
    Fixed(u32),
    /// One of these headers, by index.
    Indexed(Vec<u32>, Box<Data>),
}

#[derive(Clone, Debug)]
pub(crate) enum UnionExpr {
    Fixed(u32),
    /// One of these unions, by index.
    Indexed(Vec<u32>, Box<Data>),
}
