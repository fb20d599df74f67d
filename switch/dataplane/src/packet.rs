//! Input and output of the pipeline: packets between ingress and egress, results, and queueing metadata.

use std::fmt;

use crate::events::PacketId;
use crate::frame::Frame;
use crate::ids::{DigestId, Nanos, Port};

/// A packet between ingress and egress: its header fields, its metadata, and the bytes that the parser did not extract.
///
/// It belongs to the [`Pipeline`](crate::Pipeline) that made it; the pipeline of another program drops it. If a packet
/// does not reach egress, give it back with [`Pipeline::recycle`](crate::Pipeline::recycle).
#[derive(Clone, Debug, Default)]
pub struct Packet {
    /// Boxed, because packets move often.
    pub(crate) body: Box<Body>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    /// Identifies the program whose layout `phv` has.
    pub layout: u64,
    /// Header fields, validity, metadata, stack positions: see `layout`. In v1model, more words follow them.
    pub phv: Vec<u64>,
    /// The frame before the parser; for a Tofino, the frame after the ingress deparser.
    pub frame: Frame,
    /// Offset in `frame` of the first byte that the parser did not extract.
    pub payload: u32,
    /// Meaningless without a trace. It is small, because every packet has it.
    pub id: SmallId,
}

/// A [`PacketId`] in eight bytes. After 2^48 frames, numbers start again at 0.
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
    /// Number in the log of packets; meaningless without a log.
    #[inline]
    pub fn id(&self) -> PacketId {
        self.body.id.into()
    }

    /// The bytes that the parser did not extract; for a Tofino the whole frame.
    pub fn payload(&self) -> &[u8] {
        self.body.frame.get(self.body.payload as usize..).unwrap_or(&[])
    }
}

/// Queueing metadata of a packet that leaves its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queueing {
    /// Output port; becomes `egress_port`.
    pub port: Port,
    /// Time of enqueueing; becomes `enq_timestamp` (in µs) and the base of `deq_timedelta`.
    pub enq_ns: Nanos,
    /// Packets in its queue before it was enqueued.
    pub enq_qdepth: u32,
    /// Packets in its queue after it was dequeued.
    pub deq_qdepth: u32,
    /// The queue: 0..=7, 7 the most urgent; becomes `qid` if the program has that field.
    pub qid: u8,
}

/// A packet for a queue: unicast, a copy of a multicast, or a clone.
#[derive(Debug)]
pub struct Enqueue {
    pub packet: Packet,
    pub port: Port,
    /// Queue: 0..=7, 7 the most urgent, from `standard_metadata.priority`.
    pub priority: u8,
    /// Bytes of the frame if egress changes no header: a shaper should charge these.
    pub frame_len: u32,
}

/// A frame that egress sent back to the parser, with the metadata in its field list.
#[derive(Clone, Debug)]
pub struct Recirculated {
    pub(crate) packet: Packet,
    /// Port that recirculates; `None` in v1model, which has no such port.
    pub(crate) port: Option<Port>,
}

impl Recirculated {
    /// Port that recirculates: the packet spent time on its link. `None` in v1model, which has no such port.
    pub fn port(&self) -> Option<Port> {
        self.port
    }

    /// Number in the log of packets; meaningless without a log.
    pub fn id(&self) -> PacketId {
        self.packet.id()
    }

    pub fn frame_len(&self) -> u32 {
        self.packet.body.frame.len() as u32
    }
}

/// A frame to send.
#[derive(Debug)]
pub struct Transmit {
    pub port: Port,
    /// Bytes, from the destination address on. Give the buffer back with
    /// [`Pipeline::recycle_frame`](crate::Pipeline::recycle_frame).
    pub frame: Frame,
}

/// A digest message (`digest()` in P4, a learn list in BMv2 JSON).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestMessage {
    /// Digest; its name is [`Pipeline::digest_name`](crate::Pipeline::digest_name).
    pub digest: DigestId,
    /// The fields in order, big-endian, each as many bytes as its width needs.
    pub fields: Vec<Vec<u8>>,
}

/// Results of one call of the pipeline. The caller keeps one, drains it and clears it.
#[derive(Debug, Default)]
pub struct Outcomes {
    /// Packets for the traffic manager, in order.
    pub enqueue: Vec<Enqueue>,
    /// Packets for another pass through ingress.
    pub recirculate: Vec<Recirculated>,
    /// The frame from egress, unless it was dropped or recirculated.
    pub frame: Option<Transmit>,
    pub digests: Vec<DigestMessage>,
    /// True if the packet itself (not a clone) was dropped.
    pub dropped: bool,
    /// True if a parser stopped with an error. The packet continues in v1model and at egress. At ingress of a Tofino it
    /// continues only if the program reads parser errors.
    pub parser_error: bool,
    pub log: Vec<String>,
}

impl Outcomes {
    /// Reverses all lists.
    #[inline]
    pub fn turn_round(&mut self) {
        self.enqueue.reverse();
        self.recirculate.reverse();
        self.digests.reverse();
    }

    /// Empties it and keeps its buffers.
    pub fn clear(&mut self) {
        self.enqueue.clear();
        self.recirculate.clear();
        self.frame = None;
        self.digests.clear();
        self.forget();
    }

    /// Empties it after all packets, the frame and the digests have been taken out.
    #[inline]
    pub fn forget(&mut self) {
        self.dropped = false;
        self.parser_error = false;
        if !self.log.is_empty() {
            self.log.clear();
        }
    }
}
