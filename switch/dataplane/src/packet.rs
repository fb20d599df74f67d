//! Input and output of the pipeline: packets between ingress and egress, outcomes, queueing metadata.

use std::fmt;

use crate::events::PacketId;
use crate::frame::Frame;
use crate::ids::{DigestId, Nanos, Port};

/// A packet between ingress and egress: its header fields and metadata, and the bytes the parser left alone.
///
/// It belongs to the [`Pipeline`](crate::Pipeline) that made it; another program's pipeline drops it.
/// Give packets that never reach egress back with [`Pipeline::recycle`](crate::Pipeline::recycle).
#[derive(Clone, Debug, Default)]
pub struct Packet {
    /// Body, in one place, because packets move often.
    pub(crate) body: Box<Body>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    /// Identifies the program whose layout `phv` follows.
    pub layout: u64,
    /// Header fields, validity, metadata, stack positions: see `layout`. In v1model more words are behind them.
    pub phv: Vec<u64>,
    /// The frame as the parser saw it; for a Tofino as the ingress deparser made it.
    pub frame: Frame,
    /// Offset in `frame` of the first byte the parser did not extract.
    pub payload: u32,
    /// Without meaning if there is no trace. Small, because it is always there.
    pub id: SmallId,
}

/// A [`PacketId`] in eight bytes: after 2^48 frames numbers begin again.
#[derive(Clone, Copy, Default)]
pub(crate) struct SmallId(u64);

impl fmt::Debug for SmallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&PacketId::from(*self), f)
    }
}

impl From<PacketId> for SmallId {
    #[inline]
    fn from(id: PacketId) -> SmallId {
        SmallId(id.packet << u16::BITS | u64::from(id.copy))
    }
}

impl From<SmallId> for PacketId {
    #[inline]
    fn from(id: SmallId) -> PacketId {
        PacketId {
            packet: id.0 >> u16::BITS,
            copy: id.0 as u16,
        }
    }
}

impl Packet {
    /// Number in the log of packets; without meaning if there is no log.
    #[inline]
    pub fn id(&self) -> PacketId {
        self.body.id.into()
    }

    /// The bytes that the parser left alone; for a Tofino the whole frame.
    pub fn payload(&self) -> &[u8] {
        self.body.frame.get(self.body.payload as usize..).unwrap_or(&[])
    }
}

/// The traffic manager's data on a packet that leaves its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queueing {
    /// The port the packet leaves by; becomes `egress_port`.
    pub port: Port,
    /// Time of enqueueing; becomes `enq_timestamp` (in µs) and the base of `deq_timedelta`.
    pub enq_ns: Nanos,
    /// Packets in its queue before it was added.
    pub enq_qdepth: u32,
    /// Packets in its queue after it was removed.
    pub deq_qdepth: u32,
    /// The queue: 0..=7, 7 the most urgent; becomes `qid` where the program has that field.
    pub qid: u8,
}

/// A packet bound for a queue: unicast, one copy of a multicast, or a clone.
#[derive(Debug)]
pub struct Enqueue {
    /// The packet itself.
    pub packet: Packet,
    /// Egress port.
    pub port: Port,
    /// Queue: 0..=7, 7 the most urgent, from `standard_metadata.priority`.
    pub priority: u8,
    /// Bytes the frame has if egress changes no header: what a shaper should charge.
    pub frame_len: u32,
}

/// A frame that egress sent back to the parser, with the metadata its field list preserves.
#[derive(Clone, Debug)]
pub struct Recirculated {
    pub(crate) packet: Packet,
    /// The port that led it back; `None` in v1model, where no port does.
    pub(crate) port: Option<Port>,
}

impl Recirculated {
    /// The port that led it back: it spent time on this port's link. `None` in v1model, where no port does.
    pub fn port(&self) -> Option<Port> {
        self.port
    }

    /// Number in the log of packets; without meaning if there is no log.
    pub fn id(&self) -> PacketId {
        self.packet.id()
    }

    /// Bytes of the frame.
    pub fn frame_len(&self) -> u32 {
        self.packet.body.frame.len() as u32
    }
}

/// A frame ready for the wire.
#[derive(Debug)]
pub struct Transmit {
    /// Port to send it on.
    pub port: Port,
    /// Bytes, from the destination address on. Give the buffer back with
    /// [`Pipeline::recycle_frame`](crate::Pipeline::recycle_frame).
    pub frame: Frame,
}

/// Sample of a digest (`digest()` in P4, a learn list in BMv2 JSON).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestMessage {
    /// Digest; its name is [`Pipeline::digest_name`](crate::Pipeline::digest_name).
    pub digest: DigestId,
    /// The fields in order, big-endian, each as many bytes as its width needs.
    pub fields: Vec<Vec<u8>>,
}

/// Everything one call of the pipeline produced. The caller keeps one, drains and clears it.
#[derive(Debug, Default)]
pub struct Outcomes {
    /// Packets for the traffic manager, in order.
    pub enqueue: Vec<Enqueue>,
    /// Packets for another pass through ingress.
    pub recirculate: Vec<Recirculated>,
    /// The frame that egress finished, unless it was dropped or recirculated.
    pub frame: Option<Transmit>,
    /// Digests for the controller.
    pub digests: Vec<DigestMessage>,
    /// The packet itself (not its clones) went nowhere.
    pub dropped: bool,
    /// A parser stopped with an error. In v1model and at egress the packet went on; at ingress of a Tofino it did if the
    /// program looks at parser errors.
    pub parser_error: bool,
    pub log: Vec<String>,
}

impl Outcomes {
    /// Turns the order of all lists round.
    #[inline]
    pub fn turn_round(&mut self) {
        self.enqueue.reverse();
        self.recirculate.reverse();
        self.digests.reverse();
    }

    /// Empties it, keeping its buffers.
    pub fn clear(&mut self) {
        self.enqueue.clear();
        self.recirculate.clear();
        self.frame = None;
        self.digests.clear();
        self.forget();
    }

    /// Empties it once all packets, the frame and the digests have been taken out.
    #[inline]
    pub fn forget(&mut self) {
        self.dropped = false;
        self.parser_error = false;
        if !self.log.is_empty() {
            self.log.clear();
        }
    }
}
