//! Values of the control plane: match keys, action calls, entries, counts, settings.

use crate::ids::{ActionId, EntryHandle, Port};

/// A field of an entry's key. Bytes are big-endian. Leading zeros may be missing; bits beyond the width of the field
/// must not be set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MatchKey {
    /// Equal to the value.
    Exact(Vec<u8>),
    /// The first n bits are equal to those of the value.
    Lpm(Vec<u8>, u16),
    /// Equal in every bit that is set in the second value, the mask.
    Ternary(Vec<u8>, Vec<u8>),
    /// From the first value to the second, both included.
    Range(Vec<u8>, Vec<u8>),
    /// Equal to the value; `None` matches any value.
    Optional(Option<Vec<u8>>),
    /// Validity of the header.
    Valid(bool),
}

/// Result of a match in a table: an action with its parameters, or a reference into the action profile of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionCall {
    /// An action and its parameters, big-endian; leading zeros may be missing.
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
    /// Longest prefix match.
    Lpm,
    /// Value and mask, by priority.
    Ternary,
    /// Interval, by priority.
    Range,
    /// Equality or any value, by priority.
    Optional,
    /// Validity of a header (P4_14).
    Valid,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Name in the P4 program.
    pub name: String,
    pub kind: MatchKind,
    /// Width in bits.
    pub width: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryView {
    pub handle: EntryHandle,
    /// Key, normalised: bytes of full width, bits outside a prefix or mask cleared.
    pub key: Vec<MatchKey>,
    /// The largest one wins; 0 in tables without priorities.
    pub priority: i32,
    pub action: ActionCall,
    /// True if it belongs to the program and cannot be changed.
    pub is_const: bool,
}

/// Owner of a direct counter or meter: an entry, or the default action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    Entry(EntryHandle),
    /// The default action, for misses. BMv2 has no such counters and meters.
    Default,
}

impl From<EntryHandle> for Row {
    fn from(entry: EntryHandle) -> Row {
        Row::Entry(entry)
    }
}

/// A count of packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub packets: u64,
    /// Frame bytes without the Ethernet checksum (`packet_length` in BMv2).
    pub bytes: u64,
}

/// A three-colour, colour-blind meter: with two rates (RFC 2698), or with one rate and an excess burst (RFC 2697). The
/// unit is packets or bytes, as in the declaration of the array.
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
    /// Multicast group whose copies are also clones.
    pub group: Option<u16>,
    /// Bytes of the frame to keep; `None` keeps all.
    pub truncate_to: Option<u32>,
    /// Queue of the clones, 0..=7, unless their preserved metadata sets `priority`.
    pub class_of_service: u8,
}

/// Parameters of a CRC, as wide as the CRC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CustomCrc {
    /// Polynomial without the term of the highest power.
    pub polynomial: u64,
    /// Initial remainder.
    pub initial: u64,
    /// Mask that is XORed with the result.
    pub final_xor: u64,
    /// True if the bits of each input byte come in reverse order, least significant first.
    pub reflect_input: bool,
    /// True if the bits of the result are reversed.
    pub reflect_output: bool,
}
