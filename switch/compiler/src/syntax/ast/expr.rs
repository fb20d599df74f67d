//! Types and expressions as written.

use crate::{
    source::Span,
    syntax::token::{IntLiteral, Symbol},
};

/// A name and its place.
#[derive(Clone, Debug)]
pub struct Ident {
    pub name: Symbol,
    pub span: Span,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    pub kind: TypeKind,
    pub span: Span,
}

impl TypeExpr {
    pub fn new(kind: TypeKind, span: Span) -> TypeExpr {
        TypeExpr { kind, span }
    }
}

#[derive(Clone, Debug)]
pub enum TypeKind {
    Bool,
    Error,
    MatchKind,
    String,
    Void,
    /// `int`, of any size
    Integer,
    /// `bit<w>`; `bit` is `bit<1>`
    Bit(Option<Box<Expr>>),
    /// `int<w>`
    Int(Box<Expr>),
    /// `varbit<w>`
    Varbit(Box<Expr>),
    /// `_`
    DontCare,
    /// A declared type, with type arguments
    Named(Ident, Vec<TypeExpr>),
    /// `T[n]`
    Stack(Box<TypeExpr>, Box<Expr>),
    /// `tuple<...>`
    Tuple(Vec<TypeExpr>),
    /// `list<T>`
    List(Box<TypeExpr>),
}

/// An expression and its place.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

impl Expr {
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer literal
    Int(IntLiteral),
    /// `true`, `false`
    Bool(bool),
    /// A string literal
    Str(Symbol),
    /// A name; true if written with a leading dot (top-level scope)
    Name(Ident, bool),
    This,
    /// `a.b`
    Member(Box<Expr>, Ident),
    /// `T.b`, where `T` cannot be an expression (`error.NoMatch`)
    TypeMember(TypeExpr, Ident),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `a[h:l]`
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `-a` and others
    Unary(UnaryOp, Box<Expr>),
    /// `a + b` and others
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(T) a`
    Cast(TypeExpr, Box<Expr>),
    /// `{a, b}`; true if it ends in `...`
    List(Vec<Expr>, bool),
    /// `{a = 1}`; true if it ends in `...`
    Record(Vec<(Ident, Expr)>, bool),
    /// `{#}`
    Invalid,
    /// `...`
    Dots,
    /// `f<T>(x)`, a call or a construction
    Call(Box<Expr>, Vec<TypeExpr>, Vec<Arg>),
    /// `a &&& b`, in key sets
    Mask(Box<Expr>, Box<Expr>),
    /// `a .. b`, in key sets
    Range(Box<Expr>, Box<Expr>),
    /// `default` or `_`, in key sets
    Default,
    /// `(a, b)`, in key sets
    Tuple(Vec<Expr>),
}

/// Argument of a call.
#[derive(Clone, Debug)]
pub struct Arg {
    /// Name of the parameter, if given (`name = value`).
    pub name: Option<Ident>,
    /// The value; `None` for `_`.
    pub value: Option<Expr>,
    pub span: Span,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Minus,
    /// `+`
    Plus,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    SatAdd,
    SatSub,
    Shl,
    Shr,
    Less,
    LessEq,
    Greater,
    GreaterEq,
    Eq,
    NotEq,
    BitAnd,
    BitXor,
    BitOr,
    Concat,
    And,
    Or,
}

impl BinaryOp {
    /// The operator as written.
    #[must_use]
    pub fn text(self) -> &'static str {
        use BinaryOp as B;
        match self {
            B::Mul => "*",
            B::Div => "/",
            B::Mod => "%",
            B::Add => "+",
            B::Sub => "-",
            B::SatAdd => "|+|",
            B::SatSub => "|-|",
            B::Shl => "<<",
            B::Shr => ">>",
            B::Less => "<",
            B::LessEq => "<=",
            B::Greater => ">",
            B::GreaterEq => ">=",
            B::Eq => "==",
            B::NotEq => "!=",
            B::BitAnd => "&",
            B::BitXor => "^",
            B::BitOr => "|",
            B::Concat => "++",
            B::And => "&&",
            B::Or => "||",
        }
    }
}
