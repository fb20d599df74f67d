//! The loaded program at work: its calls, and the architecture that answers them.

use super::architecture::Architecture;
use super::core::{Core, Names};
use super::observer::{Nobody, Observer};
use super::program::{Parts, Program};
use super::state::State;
use super::tna::Tna;
use super::tracer::Tracer;
use super::v1model::V1model;
use super::value_set::ValueSet;
use crate::events::{Event, PacketId};
use crate::frame::Frame;
use crate::ids::{FieldRef, Nanos, Port};
use crate::packet::{Outcomes, Packet, Queueing, Recirculated};

/// A loaded program with its tables, counters, meters and registers.
#[derive(Debug)]
pub struct Pipeline {
    pub(crate) core: Core,
    architecture: AnyArchitecture,
    /// Writes down what happens to packets.
    tracer: Option<Box<Tracer>>,
}

/// One of the architectures.
#[derive(Debug)]
pub(crate) enum AnyArchitecture {
    V1model(V1model),
    /// Tofino 1 and 2; the chip is a part of it.
    Tna(Tna),
}

/// Calls a method of the architecture that this is.
macro_rules! forward {
    ($any:ident.$method:ident($($argument:expr),*)) => {
        match $any {
            AnyArchitecture::V1model(architecture) => architecture.$method($($argument),*),
            AnyArchitecture::Tna(architecture) => architecture.$method($($argument),*),
        }
    };
}

impl Architecture for AnyArchitecture {
    fn parts(&self) -> Parts<'_> {
        forward!(self.parts())
    }

    fn mark_unwritten(&self, blank: &mut [u64]) {
        forward!(self.mark_unwritten(blank));
    }

    #[inline]
    fn ingress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        frame: (Port, &[u8]),
        out: &mut Outcomes,
        seen: &mut O,
    ) {
        forward!(self.ingress(core, now, frame, out, seen));
    }

    #[inline]
    fn reingress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        packet: Recirculated,
        out: &mut Outcomes,
        seen: &mut O,
    ) {
        forward!(self.reingress(core, now, packet, out, seen));
    }

    #[inline]
    fn egress<O: Observer>(
        &self,
        core: &mut Core,
        now: Nanos,
        packet: Packet,
        queueing: Queueing,
        out: &mut Outcomes,
        seen: &mut O,
    ) {
        forward!(self.egress(core, now, packet, queueing, out, seen));
    }

    #[inline]
    fn has_bytes_between(&self) -> bool {
        forward!(self.has_bytes_between())
    }

    #[inline]
    fn recirculates(&self, port: Port) -> bool {
        forward!(self.recirculates(port))
    }

    #[inline]
    fn has_ghost(&self) -> bool {
        forward!(self.has_ghost())
    }

    fn ghost(&self, core: &mut Core, now: Nanos, port: Port, queue: u8, length: u32) {
        forward!(self.ghost(core, now, port, queue, length));
    }
}

/// Does work that is rare, out of the way of what is not.
#[cold]
#[inline(never)]
fn apart(work: impl FnOnce()) {
    work();
}

impl Pipeline {
    pub(crate) fn new(
        architecture: AnyArchitecture,
        program: Program,
        state: State,
        sets: Vec<ValueSet>,
        names: Names,
    ) -> Pipeline {
        Pipeline {
            core: Core::new(program, state, sets, names),
            architecture,
            tracer: None,
        }
    }

    /// The program's state, and what of it can be compiled.
    pub(crate) fn parts(&mut self) -> (&mut Core, Parts<'_>) {
        (&mut self.core, self.architecture.parts())
    }

    /// Writes down what happens to packets from now on, for [`events`](Self::events) to hand out. The program is interpreted:
    /// compiled code tells nothing. `frames`: the number of the first frame.
    pub fn trace(&mut self, frames: u64) {
        self.interpret();
        self.tracer = Some(Box::new(Tracer::new(frames)));
    }

    /// What has happened since the last call; nothing without [`trace`](Self::trace).
    pub fn events(&mut self) -> impl Iterator<Item = Event> + '_ {
        self.tracer.iter_mut().flat_map(|tracer| tracer.events.drain(..))
    }

    /// The packet at work, or at work last, in the log of packets; means nothing while there is none.
    pub fn at_work(&self) -> PacketId {
        self.tracer.as_ref().map_or(PacketId::default(), |tracer| tracer.id())
    }

    /// Whether events are written down.
    pub(crate) fn is_traced(&self) -> bool {
        self.tracer.is_some()
    }

    /// Frames numbered so far; 0 without [`trace`](Self::trace).
    pub fn frames_traced(&self) -> u64 {
        self.tracer.as_ref().map_or(0, |tracer| tracer.frames())
    }

    /// Registers, counters, meters, filters and `random()` are what they were when the program was loaded. Entries, default
    /// actions and sessions stay.
    pub fn restart(&mut self) {
        self.core.state.restart();
    }

    /// Seeds `random()`. The default seed is fixed.
    pub fn set_seed(&mut self, seed: u64) {
        self.core.state.random.0 = seed;
    }

    /// Entries that are added from now on are so old. Packets bring their own time.
    pub fn set_time(&mut self, now: Nanos) {
        self.core.state.now = now;
    }

    /// Parser and ingress for a frame that arrived on `port`.
    ///
    /// Resubmission happens inside: at most 16 times for one packet in v1model, once in TNA. What becomes of the packet is
    /// added to `out`.
    pub fn ingress(&mut self, now: Nanos, port: Port, frame: &[u8], out: &mut Outcomes) {
        let (core, frame) = (&mut self.core, (port, frame));
        match &mut self.tracer {
            None => self.architecture.ingress(core, now, frame, out, &mut Nobody),
            Some(tracer) => apart(|| self.architecture.ingress(core, now, frame, out, &mut **tracer)),
        }
    }

    /// As [`ingress`](Self::ingress), for a recirculated packet.
    pub fn reingress(&mut self, now: Nanos, packet: Recirculated, out: &mut Outcomes) {
        let core = &mut self.core;
        match &mut self.tracer {
            None => self.architecture.reingress(core, now, packet, out, &mut Nobody),
            Some(tracer) => apart(|| self.architecture.reingress(core, now, packet, out, &mut **tracer)),
        }
    }

    /// Egress and deparser for a packet that left its queue.
    pub fn egress(&mut self, now: Nanos, packet: Packet, queueing: Queueing, out: &mut Outcomes) {
        let core = &mut self.core;
        match &mut self.tracer {
            None => self.architecture.egress(core, now, packet, queueing, out, &mut Nobody),
            Some(tracer) => apart(|| {
                self.architecture
                    .egress(core, now, packet, queueing, out, &mut **tracer)
            }),
        }
    }

    /// Whether ingress may put bytes in front of a frame that egress takes off again: the frame on the link then has another length
    /// than in its queue.
    #[inline]
    pub fn has_bytes_between(&self) -> bool {
        self.architecture.has_bytes_between()
    }

    /// Whether the program has a ghost control, which wants to know the lengths of queues.
    #[inline]
    pub fn has_ghost(&self) -> bool {
        self.architecture.has_ghost()
    }

    /// Tells the ghost control that a queue now holds `length` packets. Nothing happens without a ghost control.
    pub fn ghost(&mut self, now: Nanos, port: Port, queue: u8, length: u32) {
        self.architecture.ghost(&mut self.core, now, port, queue, length);
    }

    /// Whether frames that leave by this port come back at ingress.
    pub fn recirculates(&self, port: Port) -> bool {
        self.architecture.recirculates(port)
    }

    /// The port of the controller, for programs that copy packets to it. `None`: there are no such copies.
    pub fn set_cpu_port(&mut self, port: Option<Port>) {
        self.core.cpu_port = port;
    }

    /// Takes back a packet that will not be sent, so that its buffers are used again.
    #[inline]
    pub fn recycle(&mut self, packet: Packet) {
        self.core.recycle(packet);
    }

    /// Takes back the buffer of a transmitted frame.
    #[inline]
    pub fn recycle_frame(&mut self, frame: Frame) {
        self.core.recycle_frame(frame);
    }

    /// A field by the name P4 programmers use: `ipv4.src_addr`, `hdr.ipv4.src_addr`, `meta.user`,
    /// `standard_metadata.egress_spec`. `meta.` means the program's user metadata.
    pub fn field(&self, name: &str) -> Option<FieldRef> {
        self.core.program.code.layout.find_p4(name).map(FieldRef)
    }

    /// Names and widths in bits of the fields of all header types.
    pub fn header_types(&self) -> impl Iterator<Item = Vec<(&str, u32)>> {
        let types = self.core.program.code.layout.types.iter();
        types.map(|kind| {
            kind.fields
                .iter()
                .map(|field| (field.name.as_str(), field.width))
                .collect()
        })
    }

    /// The value of a field in a packet; the low 128 bits of wider ones, 0 for another program's packet.
    #[inline]
    pub fn read(&self, packet: &Packet, field: FieldRef) -> u128 {
        let Some(field) = self.core.program.code.layout.fields.get(field.index()) else {
            return 0;
        };
        if packet.body.layout != self.core.program.identity {
            return 0;
        }
        match packet.body.phv.get(field.span()) {
            Some([low]) => u128::from(*low),
            Some([low, high, ..]) => u128::from(*high) << 64 | u128::from(*low),
            _ => 0,
        }
    }

    /// How often an `assert` or `assume` of the program failed. BMv2 would have stopped.
    pub fn failed_assertions(&self) -> u64 {
        self.core.state.failed_assertions
    }
}
