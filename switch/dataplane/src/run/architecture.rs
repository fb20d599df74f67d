//! An architecture: the blocks of a program that a packet passes, and the work of the switch between them.

use super::core::Core;
use super::observer::Observer;
use super::program::Parts;
use crate::ids::{Nanos, Port};
use crate::packet::{Outcomes, Packet, Queueing, Recirculated};
use enum_dispatch::enum_dispatch;

/// The operations of an architecture that a [`Pipeline`](super::pipeline::Pipeline) calls. Results are added to `out`.
#[enum_dispatch]
pub(crate) trait Architecture {
    /// The blocks that can be compiled.
    fn parts(&self) -> Parts<'_>;

    /// Marks fields of a new packet that are undefined until the program writes them.
    fn mark_unwritten(&self, _blank: &mut [u64]) {}

    /// Runs the blocks before the traffic manager, for a frame that arrived on a port; again for each resubmission.
    fn ingress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        frame: (Port, &[u8]),
        out: &mut Outcomes,
        observer: &mut O,
    );

    /// The same as `ingress`, for a recirculated packet.
    fn reingress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        packet: Recirculated,
        out: &mut Outcomes,
        observer: &mut O,
    );

    /// Runs the blocks behind the traffic manager, for a packet that left its queue.
    fn egress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        packet: Packet,
        queueing: Queueing,
        out: &mut Outcomes,
        observer: &mut O,
    );

    /// True if a packet in a queue is bytes. They may be more or fewer than those of its frame on the link.
    fn has_bytes_between(&self) -> bool {
        false
    }

    /// True if frames that leave by this port come back at ingress.
    fn recirculates(&self, _port: Port) -> bool {
        false
    }

    /// True if a control gets the lengths of queues.
    fn has_ghost(&self) -> bool {
        false
    }

    /// Runs this control: a queue holds `length` packets.
    fn ghost(&self, _core: &mut Core, _now: Nanos, _port: Port, _queue: u8, _length: u32) {}
}
