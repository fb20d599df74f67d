//! Fields of keys and parameters of actions.

use p4sched_dataplane::MatchKind;

/// A field of a table's key.
#[derive(Debug, Clone)]
pub struct Field {
    /// Identifier, unique in the table.
    pub id: u32,
    pub name: String,
    /// The match kind in P4Info.
    pub kind: MatchKind,
    /// The match kind in the program: p4c turns optional fields into ternary ones.
    pub in_program: MatchKind,
    /// Width in bits.
    pub width: u32,
}

/// A parameter of an action.
#[derive(Debug)]
pub struct Param {
    /// Identifier, unique in the action.
    pub id: u32,
    pub name: String,
    /// Width in bits.
    pub width: u32,
}
