//! What the control plane says and hears: identifiers, match keys, action calls, errors.

use crate::Port;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Position among its kind, in the order of the JSON.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(/// A match-action table of one pipeline.
    TableId);
index!(/// An action of one pipeline. The same P4 action may have several: p4c writes one per table that uses it.
    ActionId);
index!(/// An indirect counter array.
    CounterId);
index!(/// A register array.
    RegisterId);
index!(/// An indirect meter array.
    MeterId);
index!(/// An action profile or selector.
    ProfileId);
index!(/// A parser value set.
    ValueSetId);
index!(/// A digest.
    DigestId);
index!(/// A field of the packet's headers or metadata.
    FieldRef);

/// One entry of a table; never used again after the entry is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryHandle {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// One field of an entry's key. Bytes are big-endian; missing leading zeroes are allowed, set bits beyond the
/// field's width are not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MatchKey {
    /// Equal to the value.
    Exact(Vec<u8>),
    /// The first n bits equal to those of the value.
    Lpm(Vec<u8>, u16),
    /// Equal in every bit that the second, the mask, sets.
    Ternary(Vec<u8>, Vec<u8>),
    /// From the first to the second, both included.
    Range(Vec<u8>, Vec<u8>),
    /// Equal to the value, or anything at all.
    Optional(Option<Vec<u8>>),
    /// The header's validity.
    Valid(bool),
}

/// What a table does on a match: an action with its parameters, or a reference into its action profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionCall {
    /// An action and its parameters, big-endian; missing leading zeroes are allowed.
    Action {
        /// From [`Pipeline::table_action`](crate::Pipeline::table_action).
        action: ActionId,
        /// One per parameter, in order.
        params: Vec<Vec<u8>>,
    },
    /// A member of the table's action profile.
    Member(u32),
    /// A group of the table's action selector.
    Group(u32),
}

/// How a key field is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchKind {
    /// Equality.
    Exact,
    /// Longest prefix.
    Lpm,
    /// Value and mask, by priority.
    Ternary,
    /// Interval, by priority.
    Range,
    /// Equality or anything, by priority.
    Optional,
    /// Header validity (P4_14).
    Valid,
}

/// A key field of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Its name in the P4 program.
    pub name: String,
    /// How it is matched.
    pub kind: MatchKind,
    /// Width in bits.
    pub width: u32,
}

/// A table entry as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryView {
    /// Its handle.
    pub handle: EntryHandle,
    /// Its key, normalised: full-width bytes, bits under a prefix or mask cleared.
    pub key: Vec<MatchKey>,
    /// Larger wins; 0 in tables without priorities.
    pub priority: i32,
    /// What it does.
    pub action: ActionCall,
    /// It came with the program and cannot be changed.
    pub is_const: bool,
}

/// Packets and bytes seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes, by `packet_length` as BMv2 counts them: frame bytes without the Ethernet checksum.
    pub bytes: u64,
}

/// A two-rate three-colour meter (RFC 2698), colour-blind. Units are packets or bytes, as the array says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterConfig {
    /// Committed rate, units a second.
    pub cir: u64,
    /// Committed burst, units.
    pub cburst: u64,
    /// Peak rate, units a second.
    pub pir: u64,
    /// Peak burst, units.
    pub pburst: u64,
}

/// Where the clones of a clone session go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// Port and `egress_rid` of each clone.
    pub replicas: Vec<(Port, u16)>,
    /// Bytes of the frame to keep; `None` keeps all.
    pub truncate_to: Option<u32>,
    /// The clones' queue, 0..=7, unless their preserved metadata sets `priority`.
    pub class_of_service: u8,
}

/// Why a program could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// Something in the JSON is missing, of the wrong type, dangling, out of range or not supported.
    #[error("{path}: {problem}")]
    Invalid {
        /// Where in the JSON, as `pipelines[0].tables[3].key[1]`.
        path: String,
        /// What is wrong with it and, where that helps, what would be right.
        problem: String,
    },
}

/// Why a control-plane request was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// No free entry.
    #[error("{table}: full, all {size} entries are used")]
    Full {
        /// The table or action profile.
        table: String,
        /// How many it holds.
        size: usize,
    },
    /// An entry with this key (and priority) exists.
    #[error("{0}: an entry with this key exists")]
    Duplicate(String),
    /// No such entry.
    #[error("{0}: no such entry")]
    NoEntry(String),
    /// The program declares the entries or the default action const.
    #[error("{0}: const, the program does not let it change")]
    Const(String),
    /// A key has the wrong number or kind of fields, or a value that does not fit.
    #[error("{table}: {problem}")]
    BadKey {
        /// The table.
        table: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The action is not one of the table's, or its parameters do not fit.
    #[error("{table}: {problem}")]
    BadAction {
        /// The table or action profile.
        table: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The table has no direct counter, direct meter, action profile or selector.
    #[error("{0}: has no {1}")]
    Without(String, &'static str),
    /// A cell that the array does not have.
    #[error("{array}: no cell {cell}, it has {size}")]
    NoCell {
        /// The counter, meter or register.
        array: String,
        /// The cell asked for.
        cell: usize,
        /// How many there are.
        size: usize,
    },
    /// No such action profile member or group.
    #[error("{profile}: no {kind} {id}")]
    NoMember {
        /// The action profile.
        profile: String,
        /// "member" or "group".
        kind: &'static str,
        /// The identifier asked for.
        id: u32,
    },
    /// The member or group is still used.
    #[error("{profile}: {kind} {id} is in use")]
    InUse {
        /// The action profile.
        profile: String,
        /// "member" or "group".
        kind: &'static str,
        /// Its identifier.
        id: u32,
    },
    /// A value wider than the register, or a meter whose rates contradict each other.
    #[error("{0}: {1}")]
    BadValue(String, String),
}
