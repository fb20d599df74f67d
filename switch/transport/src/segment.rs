//! The header of a segment between two end hosts. A segment has no payload, only its length.

use p4sched_schedulers::Nanos;

/// Purpose of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The first segment of the handshake, from the sender of the flow.
    Syn,
    /// The receiver's answer to [`Kind::Syn`].
    SynAck,
    /// The third segment of the handshake, from the sender of the flow.
    Confirm,
    /// Bytes of the flow.
    #[default]
    Data,
    /// The receiver's answer to data.
    Ack,
}

impl Kind {
    /// Whether the sender of the flow sends this kind. The receiver sends the other kinds.
    pub fn is_from_sender(self) -> bool {
        matches!(self, Kind::Syn | Kind::Confirm | Kind::Data)
    }
}

/// The two bits of explicit congestion notification in the IP header (RFC 3168 Section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// The sender does not support marks: a queue drops the packet instead of marking it.
    #[default]
    NotEct,
    /// The sender supports marks: ECT(0).
    Ect,
    /// The sender's reduction grows with the share of marks, for L4S (RFC 9331): ECT(1).
    Ect1,
    /// A queue marked the packet.
    Ce,
}

/// A range of bytes of a flow: the first one, and the one after the last.
pub type Bytes = (u64, u64);

/// A packet of a transport connection. Fields that its kind does not use are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Index of the flow in the run.
    pub flow: u32,
    pub kind: Kind,
    /// ECN bits of the packet; a queue sets them to [`Ecn::Ce`].
    pub ecn: Ecn,
    /// Ack: the receiver has seen a mark (RFC 3168 Section 6.1.3). With DCTCP: exactly these segments were marked (RFC
    /// 8257 Section 3.2).
    pub ece: bool,
    /// Data: the sender has reduced its window (RFC 3168 Section 6.1.2).
    pub cwr: bool,
    /// Data: number of bytes of the flow in this segment.
    pub len: u32,
    /// Data: its first byte. The bytes of a flow are counted from 0.
    pub seq: u64,
    /// Ack: the next byte that the receiver expects.
    pub ack: u64,
    /// Ack: received bytes beyond `ack`, the newest first (RFC 2018). An unused place is `(0, 0)`. There are three
    /// places, because the timestamp option takes the room of the fourth. The first place may repeat bytes that came
    /// twice (RFC 2883).
    pub sack: [Bytes; 3],
    /// Ack and SynAck: number of bytes after `ack` that the receiver can take.
    pub window: u64,
    /// Data and Syn: bytes of the flow that were not acknowledged at the time of sending. This is pFabric's rank.
    pub remaining: u64,
    /// Time of sending (the timestamp option, RFC 7323, with a clock of nanoseconds).
    pub sent_at: Nanos,
    /// Ack and SynAck: `sent_at` of the answered segment, chosen as in RFC 7323 Section 4.3.
    pub echo: Nanos,
}
