//! Declarations after checking.

use std::rc::Rc;

pub use super::{
    annotations::Annotations,
    expr::{Builtin, Callee, Expr, ExprKind, StackProperty},
    stmt::{Block, Stmt, StmtKind},
};

use super::types::{
    ActionId, ControlId, ExternId, InstanceId, PackageId, ParserId, TableId, Type, TypeVarId, Types, ValueSetId, VarId,
};
use crate::{
    source::Span,
    syntax::{ast::Direction, token::Symbol},
};

#[derive(Default)]
pub struct Program {
    pub types: Types,
    /// Names of errors; the first is `NoError`.
    pub errors: Vec<Symbol>,
    /// Names of match kinds.
    pub match_kinds: Vec<Symbol>,
    /// Variables, constants and parameters.
    pub vars: Vec<Var>,
    pub externs: Vec<Extern>,
    pub extern_functions: Vec<ExternMethod>,
    pub functions: Vec<Function>,
    pub actions: Vec<Action>,
    pub tables: Vec<Table>,
    pub parsers: Vec<Parser>,
    pub controls: Vec<Control>,
    /// Parser and control types without a body.
    pub blocks: Vec<BlockType>,
    pub packages: Vec<Package>,
    pub instances: Vec<Instance>,
    pub value_sets: Vec<ValueSet>,
    /// Instances at the top level, in order.
    pub top_level: Vec<InstanceId>,
    /// The instance called `main`.
    pub main: Option<InstanceId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    Local,
    /// A parameter of a parser, control, function or action.
    Parameter(Direction),
    /// A parameter of a constructor: known at compile time.
    Constructor,
}

#[derive(Clone, Debug)]
pub struct Var {
    pub name: Symbol,
    pub ty: Type,
    pub kind: VarKind,
    pub annotations: Annotations,
    pub span: Span,
}

/// A parameter of a declaration, with its checked type.
#[derive(Clone, Debug)]
pub struct ParamDef {
    pub name: Symbol,
    pub direction: Direction,
    pub ty: Type,
    pub default: Option<Expr>,
    /// `@optional`: the argument may be missing; a parser or control of the program may leave out the parameter.
    pub optional: bool,
}

impl ParamDef {
    /// True if it needs an argument.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        self.default.is_none() && !self.optional
    }
}

/// A function or method of an extern.
#[derive(Clone, Debug)]
pub struct ExternMethod {
    pub name: Symbol,
    pub type_params: Vec<TypeVarId>,
    pub params: Vec<ParamDef>,
    pub result: Type,
    pub annotations: Annotations,
    /// `abstract`: the program writes the body where it declares an instance.
    pub is_abstract: bool,
}

/// An extern object type.
#[derive(Clone, Debug)]
pub struct Extern {
    pub name: Symbol,
    pub type_params: Vec<TypeVarId>,
    pub constructors: Vec<Vec<ParamDef>>,
    pub methods: Vec<ExternMethod>,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub params: Vec<VarId>,
    pub result: Type,
    pub body: Rc<Block>,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub name: Symbol,
    pub params: Vec<VarId>,
    pub body: Rc<Block>,
    pub annotations: Annotations,
    pub span: Span,
    /// True if it is declared outside of controls.
    pub top_level: bool,
}

/// An action in a table's list, as its default action, or in an entry.
#[derive(Clone, Debug)]
pub struct ActionRef {
    pub action: ActionId,
    /// Arguments; `None` if the control plane gives the value.
    pub args: Vec<Option<Expr>>,
    /// Annotations in the table's list.
    pub annotations: Annotations,
}

#[derive(Clone, Debug)]
pub struct KeyField {
    /// Value to look up.
    pub expr: Expr,
    pub match_kind: Symbol,
    pub annotations: Annotations,
    /// Name in the source.
    pub text: String,
}

/// An entry declared in the program.
#[derive(Clone, Debug)]
pub struct TableEntry {
    /// Keys of the entry: one set for each key field.
    pub keys: Vec<Expr>,
    pub action: ActionRef,
    pub priority: Option<Expr>,
    /// The number in `@priority(...)`.
    pub rank: Option<u64>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: Symbol,
    pub key: Vec<KeyField>,
    pub actions: Vec<ActionRef>,
    /// Action on a miss; `None` is `NoAction`.
    pub default_action: Option<ActionRef>,
    /// True if the control plane may not change the default action.
    pub const_default: bool,
    /// Entries declared in the program; `None` if the property is missing.
    pub entries: Option<Vec<TableEntry>>,
    /// True if the whole list of entries is `const`.
    pub const_entries: bool,
    pub size: Option<Expr>,
    /// Any other property, such as `counters`, `meters`, `implementation`, `support_timeout`.
    pub properties: Vec<(Symbol, Expr)>,
    pub annotations: Annotations,
    pub span: Span,
}

/// A local declaration of a parser or control.
#[derive(Clone, Debug)]
pub enum Local {
    /// A variable with its initial value.
    Variable(VarId, Option<Expr>),
    Instance(InstanceId),
    Action(ActionId),
    Table(TableId),
    ValueSet(ValueSetId),
}

#[derive(Clone, Debug)]
pub struct Control {
    pub name: Symbol,
    /// The parameters of `apply`.
    pub params: Vec<VarId>,
    /// The parameters of its constructor.
    pub constructor: Vec<VarId>,
    /// Local declarations in order.
    pub locals: Vec<Local>,
    /// The `apply` block.
    pub body: Rc<Block>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Parser {
    pub name: Symbol,
    /// The parameters of `apply`.
    pub params: Vec<VarId>,
    /// The parameters of its constructor.
    pub constructor: Vec<VarId>,
    /// Local declarations in order.
    pub locals: Vec<Local>,
    pub states: Vec<State>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct State {
    pub name: Symbol,
    pub annotations: Annotations,
    pub body: Block,
    pub transition: Transition,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Transition {
    /// Goes to this state.
    Direct(Target),
    /// Goes to the state of the first case that matches the keys.
    Select {
        keys: Vec<Expr>,
        /// Sets (one for each key) and target of each case.
        cases: Vec<(Vec<Expr>, Target)>,
        /// Place of `select`.
        span: Span,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Accept,
    Reject,
    /// Index of a state of the parser.
    State(usize),
}

/// A parser or control type without body.
#[derive(Clone, Debug)]
pub struct BlockType {
    pub is_parser: bool,
    pub type_params: Vec<TypeVarId>,
    /// The parameters of `apply`.
    pub params: Vec<ParamDef>,
}

#[derive(Clone, Debug)]
pub struct Package {
    pub name: Symbol,
    pub type_params: Vec<TypeVarId>,
    /// The parameters of its constructor.
    pub params: Vec<ParamDef>,
}

/// Type of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Maker {
    /// An extern, with its type arguments.
    Extern(ExternId, Rc<[Type]>),
    Parser(ParserId),
    Control(ControlId),
    /// A package, with its type arguments.
    Package(PackageId, Rc<[Type]>),
}

/// A declared or anonymous instance.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Name; for an anonymous instance, the name of its type.
    pub name: Symbol,
    pub maker: Maker,
    /// Arguments of its constructor, one for each parameter; `None` for a missing argument.
    pub args: Vec<Option<Expr>>,
    /// Bodies of its abstract methods, by name. They see the names at the place of the declaration.
    pub methods: Vec<(Symbol, Function)>,
    pub annotations: Annotations,
    /// True if it is created in a property of a table.
    pub in_table: bool,
    pub span: Span,
}

/// A parser value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    pub name: Symbol,
    pub element: Type,
    /// Number of elements.
    pub size: Expr,
    pub annotations: Annotations,
    pub span: Span,
}
