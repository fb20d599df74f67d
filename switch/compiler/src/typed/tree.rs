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

/// A whole checked program.
#[derive(Default)]
pub struct Program {
    /// Declared types.
    pub types: Types,
    /// Names of errors; the first is `NoError`.
    pub errors: Vec<Symbol>,
    /// Names of match kinds.
    pub match_kinds: Vec<Symbol>,
    /// Variables, constants and parameters.
    pub vars: Vec<Var>,
    /// Extern object types.
    pub externs: Vec<Extern>,
    /// Extern functions.
    pub extern_functions: Vec<ExternMethod>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Actions.
    pub actions: Vec<Action>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Parsers.
    pub parsers: Vec<Parser>,
    /// Controls.
    pub controls: Vec<Control>,
    /// Parser and control types without body: their parameters.
    pub blocks: Vec<BlockType>,
    /// Packages.
    pub packages: Vec<Package>,
    /// Instances.
    pub instances: Vec<Instance>,
    /// Value sets.
    pub value_sets: Vec<ValueSet>,
    /// Instances at the top level, in order.
    pub top_level: Vec<InstanceId>,
    /// The instance called `main`.
    pub main: Option<InstanceId>,
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// A local variable.
    Local,
    /// A parameter of a parser, control, function or action.
    Parameter(Direction),
    /// A parameter of a constructor: known when compiling.
    Constructor,
}

/// A variable or parameter.
#[derive(Clone, Debug)]
pub struct Var {
    /// Its name.
    pub name: Symbol,
    /// Its type.
    pub ty: Type,
    /// What it is.
    pub kind: VarKind,
    /// Its annotations.
    pub annotations: Annotations,
    /// Where it is declared.
    pub span: Span,
}

/// A parameter of something with checked types.
#[derive(Clone, Debug)]
pub struct ParamDef {
    /// Its name.
    pub name: Symbol,
    /// Its direction.
    pub direction: Direction,
    /// Its type.
    pub ty: Type,
    /// Its default value.
    pub default: Option<Expr>,
}

/// A function or method of an extern.
#[derive(Clone, Debug)]
pub struct ExternMethod {
    /// Its name.
    pub name: Symbol,
    /// Its type parameters.
    pub type_params: Vec<TypeVarId>,
    /// Its parameters.
    pub params: Vec<ParamDef>,
    /// What it returns.
    pub result: Type,
    /// Its annotations.
    pub annotations: Annotations,
}

/// An extern object type.
#[derive(Clone, Debug)]
pub struct Extern {
    /// Its name.
    pub name: Symbol,
    /// Its type parameters.
    pub type_params: Vec<TypeVarId>,
    /// Its constructors.
    pub constructors: Vec<Vec<ParamDef>>,
    /// Its methods.
    pub methods: Vec<ExternMethod>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its parameters.
    pub params: Vec<VarId>,
    /// What it returns.
    pub result: Type,
    /// Its body.
    pub body: Rc<Block>,
}

/// An action.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its name.
    pub name: Symbol,
    /// Its parameters.
    pub params: Vec<VarId>,
    /// Its body.
    pub body: Rc<Block>,
    /// Its annotations.
    pub annotations: Annotations,
    /// Where it is declared.
    pub span: Span,
    /// Whether it is declared outside of controls.
    pub top_level: bool,
}

/// A call of an action by a table: in its list, as its default or in an entry.
#[derive(Clone, Debug)]
pub struct ActionRef {
    /// Which action.
    pub action: ActionId,
    /// The arguments given; `None` for those that the control plane gives.
    pub args: Vec<Option<Expr>>,
    /// Annotations in the table's list.
    pub annotations: Annotations,
}

/// A field of a table's key.
#[derive(Clone, Debug)]
pub struct KeyField {
    /// What is looked up.
    pub expr: Expr,
    /// How it is matched.
    pub match_kind: Symbol,
    /// Its annotations.
    pub annotations: Annotations,
    /// Its name in the source.
    pub text: String,
}

/// An entry given in the program.
#[derive(Clone, Debug)]
pub struct TableEntry {
    /// What it matches, one set for each key field.
    pub keys: Vec<Expr>,
    /// What it does.
    pub action: ActionRef,
    /// Its priority, where given.
    pub priority: Option<Expr>,
    /// The number in `@priority(...)`.
    pub rank: Option<u64>,
    /// Its place.
    pub span: Span,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: Symbol,
    /// Its key.
    pub key: Vec<KeyField>,
    /// Its actions.
    pub actions: Vec<ActionRef>,
    /// What a miss does; `None` is `NoAction`.
    pub default_action: Option<ActionRef>,
    /// Whether the control plane may not change it.
    pub const_default: bool,
    /// Entries given in the program; `None` without that property.
    pub entries: Option<Vec<TableEntry>>,
    /// Whether the entries as a whole are `const`.
    pub const_entries: bool,
    /// `size`
    pub size: Option<Expr>,
    /// Any other property, such as `counters`, `meters`, `implementation`, `support_timeout`.
    pub properties: Vec<(Symbol, Expr)>,
    /// Its annotations.
    pub annotations: Annotations,
    /// Where it is declared.
    pub span: Span,
}

/// A local declaration of a parser or control.
#[derive(Clone, Debug)]
pub enum Local {
    /// A variable with its first value.
    Variable(VarId, Option<Expr>),
    /// An instance.
    Instance(InstanceId),
    /// An action.
    Action(ActionId),
    /// A table.
    Table(TableId),
    /// A value set.
    ValueSet(ValueSetId),
}

/// A control.
#[derive(Clone, Debug)]
pub struct Control {
    /// Its name.
    pub name: Symbol,
    /// The parameters of `apply`.
    pub params: Vec<VarId>,
    /// The parameters of its constructor.
    pub constructor: Vec<VarId>,
    /// Local declarations in order.
    pub locals: Vec<Local>,
    /// The `apply` block.
    pub body: Rc<Block>,
    /// Where it is declared.
    pub span: Span,
}

/// A parser.
#[derive(Clone, Debug)]
pub struct Parser {
    /// Its name.
    pub name: Symbol,
    /// The parameters of `apply`.
    pub params: Vec<VarId>,
    /// The parameters of its constructor.
    pub constructor: Vec<VarId>,
    /// Local declarations in order.
    pub locals: Vec<Local>,
    /// Its states.
    pub states: Vec<State>,
    /// Where it is declared.
    pub span: Span,
}

/// A parser state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: Symbol,
    /// Its annotations.
    pub annotations: Annotations,
    /// What it does.
    pub body: Block,
    /// Where it goes.
    pub transition: Transition,
    /// Its place.
    pub span: Span,
}

/// Where a state goes.
#[derive(Clone, Debug)]
pub enum Transition {
    /// To a state.
    Direct(Target),
    /// To the state of the first set that holds the keys.
    Select {
        /// The keys.
        keys: Vec<Expr>,
        /// Sets (one for each key) and targets.
        cases: Vec<(Vec<Expr>, Target)>,
        /// Place of `select`.
        span: Span,
    },
}

/// The end of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The packet is parsed.
    Accept,
    /// The packet has an error.
    Reject,
    /// A state, as index of the parser's list.
    State(usize),
}

/// A parser or control type without body.
#[derive(Clone, Debug)]
pub struct BlockType {
    /// Whether it is a parser type.
    pub is_parser: bool,
    /// Its type parameters.
    pub type_params: Vec<TypeVarId>,
    /// The parameters of `apply`.
    pub params: Vec<ParamDef>,
}

/// A package type.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: Symbol,
    /// Its type parameters.
    pub type_params: Vec<TypeVarId>,
    /// The parameters of its constructor.
    pub params: Vec<ParamDef>,
}

/// What an instance is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Maker {
    /// An extern, with its type arguments.
    Extern(ExternId, Rc<[Type]>),
    /// A parser.
    Parser(ParserId),
    /// A control.
    Control(ControlId),
    /// A package, with its type arguments.
    Package(PackageId, Rc<[Type]>),
}

/// A declared or anonymous instance.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its name; that of its type for an anonymous one.
    pub name: Symbol,
    /// What it is made of.
    pub maker: Maker,
    /// The arguments of its constructor, one for each parameter; `None` where a parameter was left out.
    pub args: Vec<Option<Expr>>,
    /// Its annotations.
    pub annotations: Annotations,
    /// Its place.
    pub span: Span,
}

/// A parser value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// Its name.
    pub name: Symbol,
    /// Type of its elements.
    pub element: Type,
    /// How many it holds.
    pub size: Expr,
    /// Its annotations.
    pub annotations: Annotations,
    /// Its place.
    pub span: Span,
}
