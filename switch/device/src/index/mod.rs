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

/// The objects that P4Info declares, by identifier, with their places in the pipeline.
#[derive(Debug, Default)]
pub struct Index {
    pub tables: BTreeMap<u32, Table>,
    pub actions: BTreeMap<u32, Action>,
    /// Action profiles and selectors.
    pub profiles: BTreeMap<u32, Profile>,
    pub counters: BTreeMap<u32, Array<CounterId>>,
    pub meters: BTreeMap<u32, Meter>,
    pub registers: BTreeMap<u32, Register>,
    pub value_sets: BTreeMap<u32, ValueSet>,
    pub digests: BTreeMap<u32, Digest>,
    /// Fields of the header before a packet-in, in order.
    pub packet_in: Option<Vec<HeaderField>>,
    /// Fields of the header before a packet-out, in order.
    pub packet_out: Option<Vec<HeaderField>>,
    pub types: p4info::P4TypeInfo,
    /// Names of tables and action profiles that are not in the program because they do nothing.
    pub left_out: BTreeMap<u32, String>,
    /// Names of the registers with the annotation `@queue_depth`.
    pub queue_depth_registers: Vec<String>,
    /// The roles that may write and read each object.
    pub roles: Roles,
    /// The entries that other entries refer to.
    pub references: References,
}

/// A match-action table.
#[derive(Debug)]
pub struct Table {
    pub id: u32,
    /// Name in P4Info and in the program.
    pub name: String,
    pub table: TableId,
    /// Key fields in order.
    pub fields: Vec<Field>,
    pub actions: Vec<TableAction>,
    /// Whether the default action cannot change.
    pub const_default: bool,
    /// Whether the entries cannot change.
    pub is_const: bool,
    pub profile: Option<u32>,
    pub direct_counter: bool,
    /// The type of its direct meter.
    pub direct_meter: Option<p4info::meter_spec::Type>,
    /// Whether entries need a priority: some field is ternary, range or optional.
    pub needs_priority: bool,
    /// Whether the table reports idle entries.
    pub notifies_idle: bool,
    /// The condition that entries must meet.
    pub restriction: Option<Restriction>,
}

/// An action that a table may use.
#[derive(Debug)]
pub struct TableAction {
    pub id: u32,
    pub action: ActionId,
    pub scope: p4info::action_ref::Scope,
}

#[derive(Debug)]
pub struct Action {
    /// Name in P4Info and in the program.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The condition that the parameters must meet.
    pub restriction: Option<Restriction>,
}

/// An action profile or selector.
#[derive(Debug)]
pub struct Profile {
    pub id: u32,
    /// Name in P4Info and in the program.
    pub name: String,
    pub profile: ProfileId,
    /// Whether the profile has groups.
    pub with_selector: bool,
    /// Size of the largest group; 0 means no limit.
    pub max_group_size: i32,
    /// Whether members have no weights.
    pub weights_disallowed: bool,
    /// If set, the size of a group is its number of members, and this is the largest weight of a member (0 means no
    /// limit). Otherwise the size is the sum of the weights.
    pub size_in_members: Option<i32>,
    /// The number of members that the profile has room for; 0 means no limit.
    pub size: i64,
}

/// An array of cells.
#[derive(Debug)]
pub struct Array<I> {
    /// Name in P4Info and in the program.
    pub name: String,
    pub array: I,
    pub size: usize,
}

/// An array of meters.
#[derive(Debug)]
pub struct Meter {
    pub array: Array<MeterId>,
    /// Its rates and colours.
    pub kind: p4info::meter_spec::Type,
}

/// An array of registers.
#[derive(Debug)]
pub struct Register {
    pub array: Array<RegisterId>,
    /// Type of a cell.
    pub cell: p4info::P4DataTypeSpec,
    /// Width in bits of each field of a cell; the first field has the most significant bits.
    pub widths: Vec<u32>,
    /// Whether it has the annotation `@queue_depth`: then the traffic manager writes its cells.
    pub queue_depth: bool,
}

#[derive(Debug)]
pub struct ValueSet {
    /// Name in P4Info and in the program.
    pub name: String,
    pub set: ValueSetId,
    /// Fields of a member.
    pub fields: Vec<Field>,
    /// The number of members that it has room for.
    pub size: usize,
}

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
    pub id: u32,
    pub name: String,
    /// Width in bits.
    pub width: u32,
}

impl Index {
    /// The table with this identifier.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if P4Info has none.
    pub fn table(&self, id: u32) -> Result<&Table, Fault> {
        self.tables.get(&id).ok_or_else(|| self.missing("table", id))
    }

    /// The action with this identifier.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if P4Info has none.
    pub fn action(&self, id: u32) -> Result<&Action, Fault> {
        self.actions
            .get(&id)
            .ok_or_else(|| Fault::invalid(format!("no action {id:#010x} in P4Info")))
    }

    /// The action profile with this identifier.
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

    /// The identifier of an action, by its name in the program.
    pub fn action_id(&self, name: &str) -> Option<u32> {
        self.actions
            .iter()
            .find(|(_, action)| action.name == name)
            .map(|(&id, _)| id)
    }
}

/// `INVALID_ARGUMENT`: P4Info has no object of this kind with this identifier.
pub fn unknown(kind: &str, id: u32) -> Fault {
    Fault::invalid(format!("no {kind} {id:#010x} in P4Info"))
}

impl Table {
    /// The action with this identifier, if the table may use it.
    pub fn action(&self, id: u32) -> Option<&TableAction> {
        self.actions.iter().find(|action| action.id == id)
    }
}
