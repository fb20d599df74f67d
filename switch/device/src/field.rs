//! Fields of keys and parameters of actions.

use p4sched_dataplane::MatchKind;

/// A key field.
#[derive(Debug, Clone)]
pub struct Field {
    /// Identifier, unique in its table.
    pub id: u32,
    /// Name in P4Info.
    pub name: String,
    /// How it is matched.
    pub kind: MatchKind,
    /// How the program matches it: p4c makes ternary fields of optional ones.
    pub in_program: MatchKind,
    /// Width in bits.
    pub width: u32,
}

/// An action parameter.
#[derive(Debug)]
pub struct Param {
    /// Identifier, unique in its action.
    pub id: u32,
    /// Name in P4Info.
    pub name: String,
    /// Width in bits.
    pub width: u32,
}
