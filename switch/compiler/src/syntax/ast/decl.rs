//! Declarations and the statements in them.

use super::expr::{Arg, BinaryOp, Expr, Ident, TypeExpr};
use crate::{
    source::Span,
    syntax::token::{Symbol, Token},
};

/// `@name`, `@name(...)` or `@name[...]`.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// Name, with its dots.
    pub name: Symbol,
    /// Text after the name.
    pub body: AnnotationBody,
}

/// The part of an annotation after its name.
#[derive(Clone, Debug)]
pub enum AnnotationBody {
    None,
    /// `(...)`: any tokens.
    Unstructured(Vec<Token>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `[k = v]`.
    Pairs(Vec<(Ident, Expr)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    None,
    In,
    Out,
    InOut,
}

impl Direction {
    /// True if the callee may write it.
    #[must_use]
    pub fn is_written(self) -> bool {
        matches!(self, Direction::Out | Direction::InOut)
    }

    /// The keyword, followed by a space if there is one.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Direction::None => "",
            Direction::In => "in ",
            Direction::Out => "out ",
            Direction::InOut => "inout ",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Param {
    pub annotations: Vec<Annotation>,
    pub direction: Direction,
    pub ty: TypeExpr,
    pub name: Ident,
    pub default: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub annotations: Vec<Annotation>,
    pub ty: TypeExpr,
    pub name: Ident,
}

#[derive(Clone, Debug)]
pub struct Decl {
    pub annotations: Vec<Annotation>,
    /// Name (empty for `error` and `match_kind`).
    pub name: Ident,
    pub kind: DeclKind,
    pub span: Span,
}

impl Decl {
    /// A declaration whose place is the place of its name.
    pub(crate) fn new(annotations: Vec<Annotation>, name: Ident, kind: DeclKind) -> Decl {
        let span = name.span;
        Decl {
            annotations,
            name,
            kind,
            span,
        }
    }
}

/// Type with named fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Composite {
    Header,
    Struct,
    Union,
}

#[derive(Clone, Debug)]
pub enum DeclKind {
    /// `const T x = e`
    Const(TypeExpr, Expr),
    /// `T x = e`
    Variable(TypeExpr, Option<Expr>),
    /// `T(args) x`, with methods in `= { ... }`
    Instance(TypeExpr, Vec<Arg>, Vec<Decl>),
    /// `typedef T x`, or `type T x` (true)
    Typedef(TypeExpr, bool),
    /// `header`, `struct`, `header_union`
    Composite(Composite, Vec<Ident>, Vec<Field>),
    /// `enum`, with its underlying type if it has one
    Enum(Option<TypeExpr>, Vec<(Ident, Option<Expr>)>),
    /// `error { ... }`
    Errors(Vec<Ident>),
    /// `match_kind { ... }`
    MatchKinds(Vec<Ident>),
    /// `extern X { ... }`
    Extern(Vec<Ident>, Vec<Method>),
    /// `extern T f(...)`
    ExternFunction(Method),
    /// `T f(...) { ... }`
    Function(Method, Block),
    /// `action f(...) { ... }`
    Action(Vec<Param>, Block),
    /// `parser P(...)` without or with a body
    Parser(Signature, Option<ParserBody>),
    /// `control C(...)` without or with a body
    Control(Signature, Option<ControlBody>),
    /// `package P(...)`
    Package(Vec<Ident>, Vec<Param>),
    Table(Vec<TableProperty>),
    /// `value_set<T>(n) x`
    ValueSet(TypeExpr, Expr),
}

/// A function or method of an extern.
#[derive(Clone, Debug)]
pub struct Method {
    pub annotations: Vec<Annotation>,
    /// Name; for a constructor the name of the extern.
    pub name: Ident,
    pub type_params: Vec<Ident>,
    /// Result type; `None` for a constructor.
    pub result: Option<TypeExpr>,
    pub params: Vec<Param>,
    /// `abstract`: each instance in the program has a body for it.
    pub is_abstract: bool,
}

/// Parameters of a parser or control.
#[derive(Clone, Debug)]
pub struct Signature {
    pub type_params: Vec<Ident>,
    /// The parameters of `apply`.
    pub params: Vec<Param>,
    pub constructor: Vec<Param>,
}

#[derive(Clone, Debug)]
pub struct ParserBody {
    pub locals: Vec<Decl>,
    pub states: Vec<State>,
}

#[derive(Clone, Debug)]
pub struct State {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    pub stmts: Vec<Stmt>,
    /// Next state; `None` means `reject`.
    pub transition: Option<Transition>,
}

#[derive(Clone, Debug)]
pub enum Transition {
    /// `transition s`
    Direct(Ident),
    /// `transition select(keys) { set: state; ... }`
    Select(Vec<Expr>, Vec<(Expr, Ident)>, Span),
}

#[derive(Clone, Debug)]
pub struct ControlBody {
    pub locals: Vec<Decl>,
    pub apply: Block,
}

#[derive(Clone, Debug)]
pub struct TableProperty {
    pub annotations: Vec<Annotation>,
    pub is_const: bool,
    pub name: Ident,
    pub value: PropertyValue,
}

/// Value of a table property.
#[derive(Clone, Debug)]
pub enum PropertyValue {
    /// `key = { e : kind @annotations; }`
    Key(Vec<(Expr, Ident, Vec<Annotation>)>),
    /// `actions = { @a f(x); }`
    Actions(Vec<(Vec<Annotation>, Expr)>),
    /// `entries = { ... }`
    Entries(Vec<Entry>),
    /// Any other property
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub annotations: Vec<Annotation>,
    /// `priority = e`
    pub priority: Option<Expr>,
    pub keys: Vec<Expr>,
    pub action: Expr,
    pub span: Span,
}

/// A statement and its place.
#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub struct Block {
    pub stmts: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    /// An empty statement: `;`
    Empty,
    /// `a = b`, or `a op= b`
    Assign(Expr, Option<BinaryOp>, Expr),
    Call(Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `{ ... }`
    Block(Block),
    Exit,
    Return(Option<Expr>),
    Break,
    Continue,
    /// `for (init; condition; update) body`
    For(Vec<Stmt>, Expr, Vec<Stmt>, Box<Stmt>),
    /// `for (T x in set) body`
    ForIn(TypeExpr, Ident, Expr, Box<Stmt>),
    Switch(Expr, Vec<SwitchCase>),
    /// A local declaration
    Decl(Box<Decl>),
}

/// A label of a `switch` and its block; without a block it falls through.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// The label; `None` for `default`.
    pub label: Option<Expr>,
    pub span: Span,
    pub block: Option<Block>,
}
