//! Who looks on while a packet is at work. The code of the data plane is made twice: for packets that nobody looks at, where
//! [`Nobody`] costs nothing, and for the log of packets.

use super::code::Code;
use super::ops::{Address, Op};
use super::state::State;
use crate::events::{PacketId, What};
use crate::ids::Nanos;

/// What is told. A method that is left out does nothing.
pub(crate) trait Observer {
    /// A packet is taken up for work.
    fn take_up(&mut self, _now: Nanos, _id: PacketId) {}

    /// A number for a frame that arrives.
    fn number(&mut self) -> PacketId {
        PacketId::default()
    }

    /// The packet at work.
    fn id(&self) -> PacketId {
        PacketId::default()
    }

    /// A number for a copy of the packet at work.
    fn copy(&mut self) -> PacketId {
        PacketId::default()
    }

    /// Something happened.
    fn see(&mut self, _what: impl FnOnce() -> What) {}

    /// The switch itself wrote fields: they are no changes that the program made.
    fn accept(&mut self, _state: &State) {}

    /// The interpreter comes to an operation.
    fn comes_to(&mut self, _code: &Code, _state: &State, _at: Address) {}

    /// An operation that neither jumps nor ends was done.
    fn did(&mut self, _code: &Code, _state: &State, _op: &Op) {}

    /// A jump was taken, or not: the condition before it does not hold, or does.
    fn decided(&mut self, _code: &Code, _at: Address, _holds: bool) {}

    /// A packet was looked up in a table; `slot` is that of the entry that matched.
    fn applied(&mut self, _code: &Code, _state: &State, _table: u32, _slot: Option<u32>) {}

    /// A table runs an action, that of a member of its action profile if there is `through`: the member, and the group that it was
    /// chosen from, if there is one.
    fn acts(&mut self, _code: &Code, _state: &State, _action: u32, _through: Option<(u32, Option<u32>)>) {}

    /// The program wrote fields.
    fn compare(&mut self, _code: &Code, _state: &State) {}

    /// A header was extracted.
    fn extracted(&mut self, _code: &Code, _state: &State, _header: u32, _bytes: usize) {}
}

/// Nobody looks on.
pub(crate) struct Nobody;

impl Observer for Nobody {}
