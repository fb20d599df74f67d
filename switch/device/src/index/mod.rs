//! P4Info, checked against the loaded program and indexed by identifier.

mod build;
mod names;
mod references;

use std::collections::BTreeMap;

use p4sched_dataplane::{ActionId, CounterId, MeterId, ProfileId, RegisterId, TableId, ValueSetId};
use p4sched_proto::p4::config::v1 as p4info;

use crate::fault::Fault;
pub use crate::field::{Field, Param};
use crate::restriction::Restriction;
use crate::roles::Roles;
pub use references::{References, Target};

/// Everything a P4Info declares, by identifier, with the place of each object in the pipeline.
#[derive(Debug, Default)]
pub struct Index {
    /// Match-action tables.
    pub tables: BTreeMap<u32, Table>,
    /// Actions.
    pub actions: BTreeMap<u32, Action>,
    /// Action profiles and selectors.
    pub profiles: BTreeMap<u32, Profile>,
    /// Indirect counters.
    pub counters: BTreeMap<u32, Array<CounterId>>,
    /// Indirect meters.
    pub meters: BTreeMap<u32, Meter>,
    /// Registers.
    pub registers: BTreeMap<u32, Register>,
    /// Parser value sets.
    pub value_sets: BTreeMap<u32, ValueSet>,
    /// Digests.
    pub digests: BTreeMap<u32, Digest>,
    /// Fields of the header in front of a packet-in, in order.
    pub packet_in: Option<Vec<HeaderField>>,
    /// Fields of the header in front of a packet-out, in order.
    pub packet_out: Option<Vec<HeaderField>>,
    /// Named types.
    pub types: p4info::P4TypeInfo,
    /// Names of tables and action profiles that the program does not have, because they do nothing.
    pub left_out: BTreeMap<u32, String>,
    /// Names of the registers annotated `@queue_depth`.
    pub queue_depth_registers: Vec<String>,
    /// Who may write and read what.
    pub roles: Roles,
    /// What needs other entries.
    pub references: References,
}

/// A match-action table.
#[derive(Debug)]
pub struct Table {
    /// Identifier in P4Info.
    pub id: u32,
    /// Name in P4Info and in the program.
    pub name: String,
    /// Its place in the pipeline.
    pub table: TableId,
    /// Key fields in order.
    pub fields: Vec<Field>,
    /// Actions it may use.
    pub actions: Vec<TableAction>,
    /// Its default action cannot change.
    pub const_default: bool,
    /// Its entries cannot change.
    pub is_const: bool,
    /// Identifier of its action profile.
    pub profile: Option<u32>,
    /// It has a direct counter.
    pub direct_counter: bool,
    /// Its direct meter.
    pub direct_meter: Option<p4info::meter_spec::Type>,
    /// Its entries need a priority: some field is ternary, range or optional.
    pub needs_priority: bool,
    /// It reports idle entries.
    pub notifies_idle: bool,
    /// What its entries must meet.
    pub restriction: Option<Restriction>,
}

/// An action as one table may use it.
#[derive(Debug)]
pub struct TableAction {
    /// Identifier in P4Info.
    pub id: u32,
    /// Its place in the pipeline.
    pub action: ActionId,
    /// Where the table may use it.
    pub scope: p4info::action_ref::Scope,
}

/// An action.
#[derive(Debug)]
pub struct Action {
    /// Name in P4Info and in the program.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// What its parameters must meet.
    pub restriction: Option<Restriction>,
}

/// An action profile or selector.
#[derive(Debug)]
pub struct Profile {
    /// Identifier in P4Info.
    pub id: u32,
    /// Name in P4Info and in the program.
    pub name: String,
    /// Its place in the pipeline.
    pub profile: ProfileId,
    /// It has groups.
    pub with_selector: bool,
    /// Largest group; 0: not limited.
    pub max_group_size: i32,
    /// Members have no weights.
    pub weights_disallowed: bool,
    /// A group's size is its number of members, each of at most this weight (0: any); otherwise the sum of weights.
    pub size_in_members: Option<i32>,
    /// Members it has room for; 0: not limited.
    pub size: i64,
}

/// An array of counters.
#[derive(Debug)]
pub struct Array<I> {
    /// Name in P4Info and in the program.
    pub name: String,
    /// Its place in the pipeline.
    pub array: I,
    /// Number of cells.
    pub size: usize,
}

/// An array of meters.
#[derive(Debug)]
pub struct Meter {
    /// The array.
    pub array: Array<MeterId>,
    /// Rates and colours.
    pub kind: p4info::meter_spec::Type,
}

/// An array of registers.
#[derive(Debug)]
pub struct Register {
    /// The array.
    pub array: Array<RegisterId>,
    /// Type of a cell.
    pub cell: p4info::P4DataTypeSpec,
    /// Bits of each field of a cell; the first field is in the most significant ones.
    pub widths: Vec<u32>,
    /// Annotated `@queue_depth`: the traffic manager owns its cells.
    pub queue_depth: bool,
}

/// A parser value set.
#[derive(Debug)]
pub struct ValueSet {
    /// Name in P4Info and in the program.
    pub name: String,
    /// Its place in the pipeline.
    pub set: ValueSetId,
    /// Fields of a member.
    pub fields: Vec<Field>,
    /// Members it has room for.
    pub size: usize,
}

/// A digest.
#[derive(Debug)]
pub struct Digest {
    /// Name in P4Info and in the program.
    pub name: String,
    /// Type of a message.
    pub message: p4info::P4DataTypeSpec,
}

/// A field of a controller header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderField {
    /// Identifier of the metadata.
    pub id: u32,
    /// Name in P4Info.
    pub name: String,
    /// Width in bits.
    pub width: u32,
}

impl Index {
    /// The table of this identifier.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if P4Info has none.
    pub fn table(&self, id: u32) -> Result<&Table, Fault> {
        self.tables.get(&id).ok_or_else(|| self.missing("table", id))
    }

    /// The action of this identifier.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if P4Info has none.
    pub fn action(&self, id: u32) -> Result<&Action, Fault> {
        self.actions
            .get(&id)
            .ok_or_else(|| Fault::invalid(format!("no action {id:#010x} in P4Info")))
    }

    /// The action profile of this identifier.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if P4Info has none.
    pub fn profile(&self, id: u32) -> Result<&Profile, Fault> {
        self.profiles.get(&id).ok_or_else(|| self.missing("action profile", id))
    }

    fn missing(&self, kind: &str, id: u32) -> Fault {
        match self.left_out.get(&id) {
            Some(name) => Fault::invalid(format!(
                "the {kind} '{name}' is not in the program: the compiler left it out, as it does nothing"
            )),
            None => unknown(kind, id),
        }
    }

    /// Identifier of an action by its name in the program.
    pub fn action_id(&self, name: &str) -> Option<u32> {
        self.actions
            .iter()
            .find(|(_, action)| action.name == name)
            .map(|(&id, _)| id)
    }
}

/// `INVALID_ARGUMENT`: P4Info has no object of this kind and identifier.
pub fn unknown(kind: &str, id: u32) -> Fault {
    Fault::invalid(format!("no {kind} {id:#010x} in P4Info"))
}

impl Table {
    /// The action of this identifier, if the table may use it.
    pub fn action(&self, id: u32) -> Option<&TableAction> {
        self.actions.iter().find(|action| action.id == id)
    }
}
