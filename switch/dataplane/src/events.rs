//! Events of a packet, for the log of packets.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::ids::{EntryHandle, Nanos, Port};
use crate::values::MatchKey;

/// Number of a packet. Frames are numbered from 0 in order of arrival. Copies of a frame are numbered too; the frame
/// itself is copy 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct PacketId {
    /// Number of the frame.
    pub packet: u64,
    /// Number of the copy.
    pub copy: u16,
}

/// An event of a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Time on the clock of the switch.
    pub time_ns: Nanos,
    #[serde(flatten)]
    pub id: PacketId,
    #[serde(flatten)]
    pub what: EventKind,
}

/// A number with the width of its field.
#[derive(Clone, PartialEq, Eq)]
pub struct Number {
    /// Width in bits.
    pub width: u32,
    /// Big-endian bytes, as many as the width needs.
    pub bytes: Vec<u8>,
}

impl fmt::Display for Number {
    /// Writes `0x` and one digit for every four bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits: String = self.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let wanted = (self.width.div_ceil(4) as usize).clamp(1, digits.len().max(1));
        write!(f, "0x{}", &digits[digits.len().saturating_sub(wanted)..])
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A field, a part of a key or a parameter, with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Name in the program.
    pub name: String,
    pub value: Number,
}

/// Bytes of a frame.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Data(pub Vec<u8>);

impl fmt::Display for Data {
    /// Writes two digits for each byte.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A place in the source of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    pub text: String,
}

/// The entry that a packet matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Matched {
    /// Handle in `simple_switch_CLI`.
    pub handle: u64,
    /// The fields of its key: a value, `VALUE/BITS`, `VALUE&&&MASK`, `LOW..HIGH`, or `*` for anything.
    pub key: Vec<String>,
    /// Priority, in tables with priorities: the largest wins.
    pub priority: i32,
}

impl Matched {
    pub(crate) fn new(handle: EntryHandle, key: &[MatchKey], priority: i32) -> Matched {
        let hex = |bytes: &[u8]| format!("0x{}", Data(bytes.to_vec()));
        let written = |field: &MatchKey| match field {
            MatchKey::Exact(value) | MatchKey::Optional(Some(value)) => hex(value),
            MatchKey::Lpm(value, bits) => format!("{}/{bits}", hex(value)),
            MatchKey::Ternary(_, mask) if mask.iter().all(|&byte| byte == 0) => "*".to_owned(),
            MatchKey::Ternary(value, mask) => format!("{}&&&{}", hex(value), hex(mask)),
            MatchKey::Range(low, high) => format!("{}..{}", hex(low), hex(high)),
            MatchKey::Optional(None) => "*".to_owned(),
            MatchKey::Valid(valid) => valid.to_string(),
        };
        Matched {
            handle: handle.number(),
            key: key.iter().map(written).collect(),
            priority,
        }
    }
}

/// Reason why a packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The program dropped it at ingress.
    Ingress,
    /// The program dropped it at egress.
    Egress,
    /// Ingress of a Tofino stopped at a parser error.
    ParserError,
    /// Its group is empty, or does not exist.
    EmptyGroup,
    /// No queue has its priority.
    NoSuchQueue,
    /// It was resubmitted too often.
    Resubmissions,
    /// It belongs to a program that is no longer loaded.
    OtherProgram,
    QueueFull,
    /// The queue pushed it out for another packet.
    PushedOut,
    /// It is a clone of a clone, too many times over.
    CloneDepth,
    /// Too many packets recirculate.
    Recirculation,
    /// Too many frames are in flight on the link.
    LinkFull,
}

/// Kind of an event. The names of the variants are the values of `event` in JSON lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// A frame arrived.
    Received {
        port: Port,
        /// Length of the frame.
        bytes: usize,
        data: Data,
    },
    /// A recirculated packet is at ingress again.
    Reentered {
        /// Length of the frame.
        bytes: usize,
    },
    /// A parser starts.
    ParserStarted { parser: String },
    /// A parser enters a state.
    State { parser: String, state: String },
    /// A header was read from the frame.
    Extracted {
        header: String,
        /// Length of the header.
        bytes: usize,
        fields: Vec<Named>,
    },
    /// The parser skipped bytes.
    Advanced { bytes: usize },
    /// The parser chose the next state.
    Selected {
        /// The state that chose.
        state: String,
        /// The key, if the state selects by one.
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<Number>,
        /// The next state; `None` if the parser accepts the packet.
        next: Option<String>,
    },
    /// The parser stopped with an error.
    ParserFailed { error: String },
    /// A parser has ended.
    ParserEnded {
        parser: String,
        /// Bytes read.
        bytes: usize,
    },
    /// A checksum was compared with that in the header.
    Verified {
        /// Field that holds the checksum.
        field: String,
        /// True if they are equal.
        right: bool,
    },
    /// A control starts.
    ControlStarted { control: &'static str },
    /// A control has ended.
    ControlEnded { control: &'static str },
    /// A condition was evaluated.
    Condition {
        /// Name; a condition in an action has none.
        #[serde(skip_serializing_if = "Option::is_none")]
        condition: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<Source>,
        holds: bool,
    },
    /// A table was applied.
    Table {
        table: String,
        key: Vec<Named>,
        /// True if an entry matched.
        hit: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        entry: Option<Matched>,
    },
    /// An action runs.
    Action {
        action: String,
        arguments: Vec<Named>,
        /// The group of the action profile that chose it.
        #[serde(skip_serializing_if = "Option::is_none")]
        group: Option<u32>,
        /// The member of the action profile.
        #[serde(skip_serializing_if = "Option::is_none")]
        member: Option<u32>,
    },
    /// A statement of the program runs.
    Statement { source: Source },
    /// The value of a field changed.
    Changed {
        field: String,
        before: Number,
        after: Number,
    },
    /// A header became valid or invalid.
    Validity {
        header: String,
        /// New validity.
        valid: bool,
    },
    /// A register was read.
    RegisterRead {
        register: String,
        index: u64,
        /// Value; `None` if the cell does not exist.
        value: Option<Number>,
    },
    /// A register was written.
    RegisterWritten {
        register: String,
        index: u64,
        /// New value; `None` if the cell does not exist.
        value: Option<Number>,
    },
    /// A counter counted the packet.
    Counted { counter: String, index: u64 },
    /// The program called `log_msg`.
    Log { message: String },
    /// An `assert` or `assume` did not hold.
    AssertionFailed {},
    /// The program sends a digest.
    Digest { digest: String },
    /// The program asked for a clone.
    Cloned {
        /// `ingress` or `egress`.
        at: &'static str,
        session: u16,
        /// True if the session exists.
        known: bool,
    },
    /// The program asked for another pass through ingress.
    Resubmitted {},
    /// The packet goes to the members of a group.
    Multicast { group: u64 },
    /// A copy was made for this port.
    Copied {
        /// Number of the copy.
        to: u16,
        port: Port,
        /// `egress_rid`.
        instance: u16,
    },
    /// The packet waits in a queue.
    Enqueued {
        port: Port,
        /// Priority, 0 to 7; 7 is the most urgent.
        queue: u8,
        /// Packets in the queue, with this one.
        length: u32,
    },
    /// The packet left its queue.
    Dequeued {
        port: Port,
        /// Priority, 0 to 7; 7 is the most urgent.
        queue: u8,
        /// Packets that stay in the queue.
        length: u32,
        waited_ns: Nanos,
    },
    /// The deparser wrote the frame.
    Deparsed {
        headers: Vec<String>,
        /// Length of the frame.
        bytes: usize,
    },
    /// The packet goes back to ingress.
    Recirculated {},
    /// The frame is on the link.
    Transmitted {
        port: Port,
        /// Length of the frame.
        bytes: usize,
        data: Data,
    },
    /// The packet ends here.
    Dropped { why: Loss },
}
