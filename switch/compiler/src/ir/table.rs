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
    /// Type in the source.
    pub ty: Type,
    /// Width in bits.
    pub width: u32,
    pub annotations: Annotations,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub name: String,
    pub params: Vec<ActionParam>,
    pub code: Vec<Primitive>,
    pub annotations: Annotations,
    /// The action in the source; `None` for one made by the compiler.
    pub source: Option<SourceAction>,
    pub span: Span,
}

/// Field index that stands for the validity of a key's header.
pub const VALIDITY: usize = usize::MAX;

/// Key field of a table.
#[derive(Clone, Debug)]
pub struct Key {
    /// Name for the control plane.
    pub name: String,
    /// The field looked up, or a header's `VALIDITY`.
    pub target: FieldRef,
    /// Width in bits.
    pub width: u32,
    /// The match kind.
    pub kind: Symbol,
    /// The mask that is applied first.
    pub mask: Option<BigInt>,
    /// Type in the source.
    pub ty: Type,
    pub annotations: Annotations,
}

impl Key {
    /// Value that the table looks up.
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

/// Match of an entry in one key field.
#[derive(Clone, Debug)]
pub enum Match {
    Exact(BigInt),
    /// A value and a mask.
    Ternary(BigInt, BigInt),
    /// A value and the length of its prefix.
    Lpm(BigInt, u32),
    /// First and last value.
    Range(BigInt, BigInt),
}

/// An entry given in the program.
#[derive(Clone, Debug)]
pub struct Entry {
    pub matches: Vec<Match>,

    /// Action.
    pub call: ActionCall,
    /// Rank: the entry with 1 is tried first.
    pub order: u32,

    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub keys: Vec<Key>,
    /// Indexes of its actions, with the annotations of the list.
    pub actions: Vec<(usize, Annotations)>,
    /// Action on a miss.
    pub default: ActionCall,
    /// True if the control plane may not change it.
    pub const_default: bool,
    /// Entries given in the program.
    pub entries: Option<Vec<Entry>>,
    /// True if they are `const`.
    pub const_entries: bool,
    /// Number of entries it holds.
    pub size: u64,
    /// Index of its direct counter.
    pub counter: Option<usize>,
    /// Index of its direct meter.
    pub meter: Option<usize>,
    /// The registers and filters with a cell for each entry, as indexes, and where the entry's cell is put.
    pub registers: Vec<usize>,
    pub filters: Vec<usize>,
    pub cell: Option<FieldRef>,
    /// Index of its action profile or selector.
    pub profile: Option<usize>,
    /// True if entries age.
    pub timeout: bool,
    pub annotations: Annotations,
    /// Made by the compiler, unknown to the control plane.
    pub hidden: bool,
    pub span: Span,
}
