//! An architecture: the blocks of a program that a packet passes, and what the switch does between them.

use super::core::Core;
use super::observer::Observer;
use super::program::Parts;
use crate::ids::{Nanos, Port};
use crate::packet::{Outcomes, Packet, Queueing, Recirculated};

/// What a [`Pipeline`](super::pipeline::Pipeline) needs of an architecture. Results are added to `out`.
pub(crate) trait Architecture {
    /// The blocks that can be compiled.
    fn parts(&self) -> Parts<'_>;

    /// Marks fields of a new packet that mean nothing until the program writes them.
    fn mark_unwritten(&self, _blank: &mut [u64]) {}

    /// The blocks before the traffic manager, for a frame that arrived on a port; again for each resubmission.
    fn ingress<O: Observer>(&self, core: &mut Core, now: Nanos, frame: (Port, &[u8]), out: &mut Outcomes, seen: &mut O);

    /// The same for a recirculated packet.
    fn reingress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        packet: Recirculated,
        out: &mut Outcomes,
        seen: &mut O,
    );

    /// The blocks behind the traffic manager, for a packet that left its queue.
    fn egress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        packet: Packet,
        queueing: Queueing,
        out: &mut Outcomes,
        seen: &mut O,
    );

    /// Whether a packet in a queue is bytes, which may be more or fewer than its frame on the link has.
    fn has_bytes_between(&self) -> bool {
        false
    }

    /// Whether frames that leave by this port come back at ingress.
    fn recirculates(&self, _port: Port) -> bool {
        false
    }

    /// Whether a control wants to know the lengths of queues.
    fn has_ghost(&self) -> bool {
        false
    }

    /// Tells this control that a queue now holds `length` packets.
    fn ghost(&self, _core: &mut Core, _now: Nanos, _port: Port, _queue: u8, _length: u32) {}
}
