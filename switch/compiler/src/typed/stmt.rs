//! Statements after checking.

use super::{
    expr::Expr,
    types::{ActionId, InstanceId, TableId, VarId},
};
use crate::source::Span;

#[derive(Clone, Debug, Default)]
pub struct Block {
    pub stmts: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `a = b`
    Assign(Expr, Expr),
    /// A call whose result is not used
    Call(Expr),
    If(Expr, Block, Block),
    Block(Block),
    /// A declaration of a variable
    Declare(VarId, Option<Expr>),
    /// An instance declared in a block
    Instance(InstanceId),
    Exit,
    Return(Option<Expr>),
    Break,
    Continue,
    /// `switch (t.apply().action_run)`: the table call, blocks with their actions, the default block
    SwitchAction(TableId, Vec<(Vec<ActionId>, Block)>, Option<Block>),
    /// `switch (value)`: the value, blocks with their labels, the default block
    SwitchValue(Expr, Vec<(Vec<Expr>, Block)>, Option<Block>),
    /// `for`, with its initialisation before it: condition, update, body
    Loop(Expr, Block, Block),
    /// A loop over values from the first to the last
    ForRange(VarId, Expr, Expr, Block),
    /// A loop over a list
    ForList(VarId, Vec<Expr>, Block),
}
