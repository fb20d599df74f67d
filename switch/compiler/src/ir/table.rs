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

/// A parameter of an action whose value comes from an entry.
#[derive(Clone, Debug)]
pub struct ActionParam {
    pub name: Symbol,
    /// Type in the source.
    pub ty: Type,
    pub width: u32,
    pub annotations: Annotations,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub name: String,
    pub params: Vec<ActionParam>,
    pub code: Vec<Primitive>,
    pub annotations: Annotations,
    /// Action in the source; `None` if the compiler made it.
    pub source: Option<SourceAction>,
    pub span: Span,
}

/// Field index that means the validity of the header.
pub const VALIDITY: usize = usize::MAX;

#[derive(Clone, Debug)]
pub struct Key {
    /// Name for the control plane.
    pub name: String,
    /// The field to look up, or the `VALIDITY` of a header.
    pub target: FieldRef,
    pub width: u32,
    pub kind: Symbol,
    pub mask: Option<BigInt>,
    /// Type in the source.
    pub ty: Type,
    pub annotations: Annotations,
}

impl Key {
    /// Value to look up.
    pub fn looked_up(&self) -> Expr {
        if self.target.field == VALIDITY {
            return Expr::new(ExprKind::Valid(self.target.header.clone()), Ty::Bool);
        }
        Expr::new(ExprKind::Field(self.target.clone()), Ty::bit(self.width))
    }
}

/// An action with values for its parameters.
#[derive(Clone, Debug)]
pub struct ActionCall {
    /// Index of the action.
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

/// An entry declared in the program.
#[derive(Clone, Debug)]
pub struct Entry {
    pub matches: Vec<Match>,

    pub call: ActionCall,
    /// Rank: the entry with rank 1 is tried first.
    pub order: u32,

    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub keys: Vec<Key>,
    /// Indexes of its actions, with the annotations in its list.
    pub actions: Vec<(usize, Annotations)>,
    /// Action on a miss.
    pub default: ActionCall,
    /// True if the control plane may not change the default action.
    pub const_default: bool,
    /// Entries declared in the program.
    pub entries: Option<Vec<Entry>>,
    pub const_entries: bool,
    /// Largest number of entries.
    pub size: u64,
    /// Index of its direct counter.
    pub counter: Option<usize>,
    /// Index of its direct meter.
    pub meter: Option<usize>,
    /// Indexes of the registers and filters with one cell for each entry, and the field for the cell of an entry.
    pub registers: Vec<usize>,
    pub filters: Vec<usize>,
    pub cell: Option<FieldRef>,
    /// Index of its action profile or selector.
    pub profile: Option<usize>,
    /// True if entries age.
    pub timeout: bool,
    pub annotations: Annotations,
    /// True if the compiler made it; the control plane does not see it.
    pub hidden: bool,
    pub span: Span,
}
