//! The calls of a loaded program, and their dispatch to its architecture.

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
use enum_dispatch::enum_dispatch;

/// A loaded program with its tables, counters, meters and registers.
#[derive(Debug)]
pub struct Pipeline {
    pub(crate) core: Core,
    architecture: AnyArchitecture,
    /// Log of packets, if it is on.
    tracer: Option<Box<Tracer>>,
}

#[enum_dispatch(Architecture)]
#[derive(Debug)]
pub(crate) enum AnyArchitecture {
    V1model(V1model),
    /// Tofino 1 or 2; the chip is a part of it.
    Tna(Tna),
}

/// Keeps rare work out of the hot path.
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

    /// The state of the program, and the parts that can be compiled.
    pub(crate) fn parts(&mut self) -> (&mut Core, Parts<'_>) {
        (&mut self.core, self.architecture.parts())
    }

    /// Starts the log of packets; [`events`](Self::events) returns it. The program is interpreted, because compiled
    /// code reports no events. `frames`: the number of the first frame.
    pub fn trace(&mut self, frames: u64) {
        self.interpret();
        self.tracer = Some(Box::new(Tracer::new(frames)));
    }

    /// Events since the last call; none without [`trace`](Self::trace).
    pub fn events(&mut self) -> impl Iterator<Item = Event> + '_ {
        self.tracer.iter_mut().flat_map(|tracer| tracer.events.drain(..))
    }

    /// Number in the log of the packet that is being processed, or was processed last; meaningless without a log.
    pub fn current_packet(&self) -> PacketId {
        self.tracer.as_ref().map_or(PacketId::default(), |tracer| tracer.id())
    }

    /// True if the log of packets is on.
    pub(crate) fn is_traced(&self) -> bool {
        self.tracer.is_some()
    }

    /// Number of frames numbered so far; 0 without [`trace`](Self::trace).
    pub fn frames_traced(&self) -> u64 {
        self.tracer.as_ref().map_or(0, |tracer| tracer.frames())
    }

    /// Resets registers, counters, meters, filters and `random()` to their state after loading. Entries, default
    /// actions and sessions stay.
    pub fn restart(&mut self) {
        self.core.state.restart();
    }

    /// Seeds `random()`. The default seed is fixed.
    pub fn set_seed(&mut self, seed: u64) {
        self.core.state.random.0 = seed;
    }

    /// Sets the time of entries that are added later. Packets bring their own time.
    pub fn set_time(&mut self, now: Nanos) {
        self.core.state.now = now;
    }

    /// Runs parser and ingress for a frame that arrived on `port`.
    ///
    /// Resubmission happens inside: at most 16 times for one packet in v1model, once in TNA. The results are added to
    /// `out`.
    pub fn ingress(&mut self, now: Nanos, port: Port, frame: &[u8], out: &mut Outcomes) {
        let (core, frame) = (&mut self.core, (port, frame));
        match &mut self.tracer {
            None => self.architecture.ingress(core, now, frame, out, &mut Nobody),
            Some(tracer) => apart(|| self.architecture.ingress(core, now, frame, out, &mut **tracer)),
        }
    }

    /// Same as [`ingress`](Self::ingress), for a recirculated packet.
    pub fn reingress(&mut self, now: Nanos, packet: Recirculated, out: &mut Outcomes) {
        let core = &mut self.core;
        match &mut self.tracer {
            None => self.architecture.reingress(core, now, packet, out, &mut Nobody),
            Some(tracer) => apart(|| self.architecture.reingress(core, now, packet, out, &mut **tracer)),
        }
    }

    /// Runs egress and deparser for a packet that left its queue.
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

    /// True if ingress may put bytes in front of a frame that egress removes again. Then the frame has another length
    /// on the link than in its queue.
    #[inline]
    pub fn has_bytes_between(&self) -> bool {
        self.architecture.has_bytes_between()
    }

    /// True if the program has a ghost control, which gets the lengths of queues.
    #[inline]
    pub fn has_ghost(&self) -> bool {
        self.architecture.has_ghost()
    }

    /// Runs the ghost control: a queue holds `length` packets. Does nothing without a ghost control.
    pub fn ghost(&mut self, now: Nanos, port: Port, queue: u8, length: u32) {
        self.architecture.ghost(&mut self.core, now, port, queue, length);
    }

    /// True if frames that leave by this port come back at ingress.
    pub fn recirculates(&self, port: Port) -> bool {
        self.architecture.recirculates(port)
    }

    /// Sets the port of the controller, for programs that copy packets to it. `None`: no such copies.
    pub fn set_cpu_port(&mut self, port: Option<Port>) {
        self.core.cpu_port = port;
    }

    /// Takes back a packet that will not be sent, and reuses its buffers.
    #[inline]
    pub fn recycle(&mut self, packet: Packet) {
        self.core.recycle(packet);
    }

    /// Takes back the buffer of a transmitted frame.
    #[inline]
    pub fn recycle_frame(&mut self, frame: Frame) {
        self.core.recycle_frame(frame);
    }

    /// Finds a field by the name that P4 programmers use: `ipv4.src_addr`, `hdr.ipv4.src_addr`, `meta.user`,
    /// `standard_metadata.egress_spec`. `meta.` means the user metadata of the program.
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

    /// Value of a field in a packet: the low 128 bits of a wider field, and 0 for a packet of another program.
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

    /// Number of failed `assert` or `assume` statements. BMv2 would have stopped.
    pub fn failed_assertions(&self) -> u64 {
        self.core.state.failed_assertions
    }
}
