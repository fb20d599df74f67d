//! Header of a segment between two end hosts. There is no payload, only its length.

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
    /// True if the sender of the flow sends this kind. The receiver sends the other ones.
    pub fn is_from_sender(self) -> bool {
        matches!(self, Kind::Syn | Kind::Confirm | Kind::Data)
    }
}

/// The two bits of explicit congestion notification in the IP header (RFC 3168 Section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// The sender does not understand marks: a queue drops where it would mark.
    #[default]
    NotEct,
    /// The sender understands marks.
    Ect,
    /// A queue has marked the packet.
    Ce,
}

/// Bytes of a flow: the first one, and the one after the last.
pub type Bytes = (u64, u64);

/// Packet of a transport connection. Fields that its kind does not use are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Index of the flow in the run.
    pub flow: u32,
    pub kind: Kind,
    /// ECN bits of the packet; a queue sets them to [`Ecn::Ce`].
    pub ecn: Ecn,
    /// Ack: the receiver has seen a mark (RFC 3168 Section 6.1.3; of these very segments with DCTCP, RFC 8257 Section 3.2).
    pub ece: bool,
    /// Data: the sender has reduced its window (RFC 3168 Section 6.1.2).
    pub cwr: bool,
    /// Data: how many bytes of the flow it carries.
    pub len: u32,
    /// Data: its first byte; bytes of a flow count from 0.
    pub seq: u64,
    /// Ack: the next byte that the receiver expects.
    pub ack: u64,
    /// Ack: received bytes beyond `ack`, the newest first (RFC 2018). An unused place is `(0, 0)`. Three places, for the
    /// timestamp option takes the room of the fourth. The first one may repeat bytes that came twice (RFC 2883).
    pub sack: [Bytes; 3],
    /// Ack and SynAck: how many bytes from `ack` on the receiver can take.
    pub window: u64,
    /// Data and Syn: bytes of the flow that were not acknowledged when it was sent: pFabric's rank.
    pub remaining: u64,
    /// Time of sending (the timestamp option, RFC 7323, with a clock of nanoseconds).
    pub sent_at: Nanos,
    /// Ack and SynAck: `sent_at` of the segment that this answers, as RFC 7323 Section 4.3 chooses it.
    pub echo: Nanos,
}
