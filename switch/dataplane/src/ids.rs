//! Identifiers of ports, tables, actions and entries, and the unit of time.

/// Nanoseconds since the switch started. The caller owns the clock; this crate reads none.
pub type Nanos = u64;

/// A port number as `standard_metadata` carries it: 9 bits, 0..=511. 511 as `egress_spec` means drop.
pub type Port = u16;

/// The `egress_spec` that drops a packet (simple_switch's default `--drop-port`).
pub const DROP_PORT: Port = 511;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Position among objects of its kind, in the order of the JSON.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(/// A hash whose parameters the control plane may change, of one pipeline.
    CrcId);
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

/// An entry of a table. A handle is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryHandle {
    pub(crate) slot: u32,
    pub(crate) number: u64,
}

impl EntryHandle {
    /// Number of entries that were added to its table before it.
    pub fn number(self) -> u64 {
        self.number
    }
}
