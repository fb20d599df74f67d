//! Tables and actions: their declarations in the program, and their state.

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
    /// Address of its `End`.
    pub end: Address,
}

/// The immutable part of a table.
#[derive(Debug)]
pub(crate) struct TableProgram {
    pub name: String,
    pub key: Vec<KeyField>,
    /// Actions, and the address to continue at after each.
    pub actions: Vec<(u32, Address)>,
    /// Addresses to continue at after a hit and after a miss, if the program distinguishes them.
    pub hit_miss: Option<(Address, Address)>,
    /// Address to continue at if no entry matched and there is no default action.
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

/// A direct meter: its cost and colours, and the word for the colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectMeter {
    pub kind: MeterKind,
    pub target: Word,
    pub keep: u64,
}

/// Registers and filters with one cell for each entry of a table.
#[derive(Clone, Debug)]
pub(crate) struct DirectRegisters {
    /// Word with the cell of the matching entry; after a miss, a cell that does not exist.
    pub cell: Word,
    pub registers: Vec<u32>,
    pub filters: Vec<u32>,
}

/// The mutable part of a table.
#[derive(Debug)]
pub(crate) struct TableState {
    pub entries: Entries,
    pub default: Option<Call>,
    pub missed: Count,
    /// Direct meter of the default action, once it was configured.
    pub default_meter: Option<Box<Meter>>,
}
