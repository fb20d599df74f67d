//! Observers of packets. The code of the data plane is compiled twice: with [`Nobody`], which costs nothing, and for
//! the log of packets.

use super::code::Code;
use super::ops::{Address, Op};
use super::state::State;
use crate::events::{EventKind, PacketId};
use crate::ids::Nanos;

/// Events during the processing of a packet. By default each does nothing.
pub(crate) trait Observer {
    /// Processing of a packet starts.
    fn begin_packet(&mut self, _now: Nanos, _id: PacketId) {}

    /// Numbers an arriving frame.
    fn number(&mut self) -> PacketId {
        PacketId::default()
    }

    /// Number of the working packet.
    fn id(&self) -> PacketId {
        PacketId::default()
    }

    /// Numbers a copy of the working packet.
    fn copy(&mut self) -> PacketId {
        PacketId::default()
    }

    /// An event happened.
    fn event(&mut self, _what: impl FnOnce() -> EventKind) {}

    /// The switch itself wrote fields; these are not changes by the program.
    fn accept_fields(&mut self, _state: &State) {}

    /// The interpreter reaches an operation.
    fn before_op(&mut self, _code: &Code, _state: &State, _at: Address) {}

    /// An operation that neither jumps nor ends was executed.
    fn after_op(&mut self, _code: &Code, _state: &State, _op: &Op) {}

    /// A conditional jump was decided; `holds`: its condition holds, so it was not taken.
    fn after_branch(&mut self, _code: &Code, _at: Address, _holds: bool) {}

    /// A packet was looked up in a table; `slot` is that of the matching entry.
    fn after_lookup(&mut self, _code: &Code, _state: &State, _table: u32, _slot: Option<u32>) {}

    /// A table runs an action. With `through`, the action belongs to a member of its action profile: the member, and
    /// the group that it was chosen from, if any.
    fn before_action(&mut self, _code: &Code, _state: &State, _action: u32, _through: Option<(u32, Option<u32>)>) {}

    /// The program may have written fields.
    fn compare_fields(&mut self, _code: &Code, _state: &State) {}

    /// A header was extracted.
    fn extracted(&mut self, _code: &Code, _state: &State, _header: u32, _bytes: usize) {}
}

/// Observes nothing.
pub(crate) struct Nobody;

impl Observer for Nobody {}
