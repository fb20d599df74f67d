//! Tables and actions: what a program says of them, and what changes while it runs.

use super::entries::{Call, Entries};
use super::meter::{Meter, MeterKind};
use super::ops::{Address, Word};
use crate::values::{Count, KeyField};

#[derive(Debug)]
pub(crate) struct Action {
    pub name: String,
    /// Name and width in bits of each parameter.
    pub params: Vec<(String, u32)>,
    pub start: Address,
    /// Of its `End`.
    pub end: Address,
}

/// What does not change about a table.
#[derive(Debug)]
pub(crate) struct TableProgram {
    pub name: String,
    pub key: Vec<KeyField>,
    /// Actions and the code that follows them.
    pub actions: Vec<(u32, Address)>,
    /// The code that follows a hit and a miss, where the program asks which it was.
    pub hit_miss: Option<(Address, Address)>,
    /// The code that follows when nothing matched and there is no default action.
    pub otherwise: Address,
    pub with_counters: bool,
    pub meter: Option<DirectMeter>,
    pub profile: Option<u32>,
    pub direct: Option<DirectRegisters>,
    pub initial_default: Option<Call>,
    pub const_default_action: bool,
    pub const_default_entry: bool,
    pub const_entries: bool,
}

/// A direct meter: what it charges and the word that takes the colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectMeter {
    pub kind: MeterKind,
    pub target: Word,
    pub keep: u64,
}

/// Registers and filters with a cell for each entry of a table.
#[derive(Clone, Debug)]
pub(crate) struct DirectRegisters {
    /// The word that takes the cell of the entry that matched; a cell that none of them has, if none did.
    pub cell: Word,
    pub registers: Vec<u32>,
    pub filters: Vec<u32>,
}

/// What does change.
#[derive(Debug)]
pub(crate) struct TableState {
    pub entries: Entries,
    pub default: Option<Call>,
    /// Packets that missed.
    pub missed: Count,
    /// The default action's direct meter, once it was configured.
    pub default_meter: Option<Box<Meter>>,
}
