//! Tables and actions.

use num_bigint::BigInt;

use super::{Expr, ExprKind, FieldRef, Primitive, Ty};
use crate::{
    source::Span,
    syntax::token::Symbol,
    typed::{
        tree::Annotations,
        types::{ActionId as SourceAction, Type},
    },
};

/// A parameter of an action that comes with the entry.
#[derive(Clone, Debug)]
pub struct ActionParam {
    pub name: Symbol,
    /// Its type in the source.
    pub ty: Type,
    /// Its width in bits.
    pub width: u32,
    pub annotations: Annotations,
}

#[derive(Clone, Debug)]
pub struct Action {
    /// Its full name.
    pub name: String,
    pub params: Vec<ActionParam>,
    /// What it does.
    pub code: Vec<Primitive>,
    pub annotations: Annotations,
    /// The action in the source; `None` for one made by the compiler.
    pub source: Option<SourceAction>,
    pub span: Span,
}

/// In place of a field of a key's header: whether the header is valid.
pub const VALIDITY: usize = usize::MAX;

/// How a key field is matched.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name for the control plane.
    pub name: String,
    /// The field looked up, or a header's `VALIDITY`.
    pub target: FieldRef,
    /// Its width in bits.
    pub width: u32,
    /// The match kind.
    pub kind: Symbol,
    /// The mask that is applied first.
    pub mask: Option<BigInt>,
    /// Its type in the source.
    pub ty: Type,
    pub annotations: Annotations,
}

impl Key {
    /// What is looked up.
    pub fn looked_up(&self) -> Expr {
        if self.target.field == VALIDITY {
            return Expr::new(ExprKind::Valid(self.target.header.clone()), Ty::Bool);
        }
        Expr::new(ExprKind::Field(self.target.clone()), Ty::bit(self.width))
    }
}

/// A reference to an action with its values.
#[derive(Clone, Debug)]
pub struct ActionCall {
    /// The action, as index.
    pub action: usize,
    /// The value of each parameter.
    pub values: Vec<BigInt>,
}

/// What an entry matches in one key field.
#[derive(Clone, Debug)]
pub enum Match {
    /// One value.
    Exact(BigInt),
    /// A value and a mask.
    Ternary(BigInt, BigInt),
    /// A value and the length of its prefix.
    Lpm(BigInt, u32),
    /// From, to.
    Range(BigInt, BigInt),
}

/// An entry given in the program.
#[derive(Clone, Debug)]
pub struct Entry {
    pub matches: Vec<Match>,

    /// What it does.
    pub call: ActionCall,
    /// Its rank: 1 is looked at first.
    pub order: u32,

    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Table {
    /// Its full name.
    pub name: String,
    pub keys: Vec<Key>,
    /// Its actions, as indexes, with the annotations of the list.
    pub actions: Vec<(usize, Annotations)>,
    /// What a miss does.
    pub default: ActionCall,
    /// Whether the control plane may not change it.
    pub const_default: bool,
    /// Entries given in the program.
    pub entries: Option<Vec<Entry>>,
    /// Whether they are `const`.
    pub const_entries: bool,
    /// Number of entries it holds.
    pub size: u64,
    /// Its direct counter, as index.
    pub counter: Option<usize>,
    /// Its direct meter, as index.
    pub meter: Option<usize>,
    /// The registers and filters with a cell for each entry, as indexes, and where the entry's cell is put.
    pub registers: Vec<usize>,
    pub filters: Vec<usize>,
    pub cell: Option<FieldRef>,
    /// Its action profile or selector, as index.
    pub profile: Option<usize>,
    /// Whether entries age.
    pub timeout: bool,
    pub annotations: Annotations,
    /// Made by the compiler, unknown to the control plane.
    pub hidden: bool,
    pub span: Span,
}
