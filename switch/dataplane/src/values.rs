//! Values of the control plane: match keys, action calls, entries, counts, settings.

use crate::ids::{ActionId, EntryHandle, Port};

/// Field of an entry's key. Bytes are big-endian; missing leading zeroes are allowed, set bits beyond the field's width
/// are not.
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

/// Action of a table on a match: an action with its parameters, or a reference into its action profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionCall {
    /// An action and its parameters, big-endian; missing leading zeroes are allowed.
    Action {
        /// Action from [`Pipeline::table_action`](crate::Pipeline::table_action).
        action: ActionId,
        /// Values, one for each parameter in order.
        params: Vec<Vec<u8>>,
    },
    /// A member of the table's action profile.
    Member(u32),
    /// A group of the table's action selector.
    Group(u32),
}

/// Kind of match of a key field.
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
    /// Name in the P4 program.
    pub name: String,
    pub kind: MatchKind,
    /// Width in bits.
    pub width: u32,
}

/// A table entry as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryView {
    pub handle: EntryHandle,
    /// Key, normalised: full-width bytes, bits under a prefix or mask cleared.
    pub key: Vec<MatchKey>,
    /// Larger wins; 0 in tables without priorities.
    pub priority: i32,
    pub action: ActionCall,
    /// True if it came with the program and cannot be changed.
    pub is_const: bool,
}

/// Owner of a direct counter or meter: an entry, or the default action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    Entry(EntryHandle),
    /// The default action, for misses. BMv2 has none.
    Default,
}

impl From<EntryHandle> for Row {
    fn from(entry: EntryHandle) -> Row {
        Row::Entry(entry)
    }
}

/// Packets and bytes seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub packets: u64,
    /// Bytes, by `packet_length` as BMv2 counts them: frame bytes without the Ethernet checksum.
    pub bytes: u64,
}

/// A three-colour meter, colour-blind: of two rates (RFC 2698), or with an excess burst of one (RFC 2697). Units are packets or bytes,
/// as the array says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterConfig {
    /// Committed rate, units a second.
    pub cir: u64,
    /// Committed burst, units.
    pub cburst: u64,
    /// Peak rate, units a second.
    pub pir: u64,
    /// Peak burst, units.
    pub pburst: u64,
    /// Excess burst, units; 0 if the meter has two rates. Otherwise the peak rate and burst are the committed ones.
    pub eburst: u64,
}

/// Destination of the clones of a clone session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// Port and `egress_rid` of each clone.
    pub replicas: Vec<(Port, u16)>,
    /// A multicast group whose copies are clones too.
    pub group: Option<u16>,
    /// Bytes of the frame to keep; `None` keeps all.
    pub truncate_to: Option<u32>,
    /// The clones' queue, 0..=7, unless their preserved metadata sets `priority`.
    pub class_of_service: u8,
}

/// Parameters of a CRC, in its width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CustomCrc {
    /// Without the term of the highest power.
    pub polynomial: u64,
    /// Initial remainder.
    pub initial: u64,
    /// Mask that is XORed into the result.
    pub final_xor: u64,
    /// The bits of each byte come in the order least significant first.
    pub reflect_input: bool,
    /// The result's bits are in the opposite order.
    pub reflect_output: bool,
}
