//! What goes into the traffic manager, and what comes out.

/// Nanoseconds since the switch started.
pub type Nanos = u64;

/// Number of a port; 9 bits in v1model.
pub type Port = u16;

/// A packet on its way into a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered<P> {
    /// Egress port.
    pub port: Port,
    /// 0..=7, 7 the most urgent.
    pub priority: u8,
    /// Length in bytes that the shaper charges.
    pub len: u32,
    /// Whose packet it is, for [`crate::Discipline::Drr`], [`crate::Discipline::Afq`] and [`crate::Discipline::Stfq`].
    pub user: u64,
    /// How urgent it is (smaller = more), for [`crate::Discipline::Pifo`].
    pub rank: u64,
    /// The packet itself.
    pub item: P,
}

/// What became of an offered packet.
#[derive(Debug, PartialEq, Eq)]
pub enum Enqueued<P> {
    /// It waits in its queue.
    Queued {
        /// The packet's priority.
        queue: u8,
        /// Packets it found: in its queue, or in the whole buffer of a one-buffer discipline.
        length_before: u32,
    },
    /// It was not taken.
    Dropped {
        /// The packet's priority.
        queue: u8,
        /// The packet.
        item: P,
        /// Why.
        reason: DropReason,
    },
    /// It waits in its queue, and another packet had to leave for it.
    PushedOut {
        /// The new packet's priority.
        queue: u8,
        /// Packets in the buffer before either.
        length_before: u32,
        /// The packet that left.
        victim: Removed<P>,
    },
}

/// Why a packet was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// No room for it; under [`crate::Discipline::Afq`] also if its user has booked all rounds of the calendar.
    Full,
    /// Its priority is above 7. BMv2 drops such packets too.
    NoSuchQueue,
}

/// A packet that left its queue without being sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Removed<P> {
    /// Egress port that it waited for.
    pub port: Port,
    /// Its priority.
    pub queue: u8,
    /// Its length in bytes.
    pub len: u32,
    /// When it was enqueued.
    pub enq_ns: Nanos,
    /// The packet.
    pub item: P,
}

/// A packet that the link takes.
#[derive(Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// Egress port.
    pub port: Port,
    /// The packet's priority.
    pub queue: u8,
    /// The packet.
    pub item: P,
    /// Its length in bytes, as charged to the link.
    pub len: u32,
    /// When it was enqueued.
    pub enq_ns: Nanos,
    /// Packets it found when it came (see [`Enqueued::Queued`]).
    pub enq_length: u32,
    /// Packets left behind, counted in the same way, itself not included.
    pub length_after: u32,
    /// The ideal instant at which its first bit goes out.
    pub start_ns: Nanos,
    /// The ideal instant at which the far end has all of it: start + transmission time + propagation delay.
    pub arrival_ns: Nanos,
}

/// A packet in a queue.
#[derive(Debug)]
pub(crate) struct Queued<P> {
    pub priority: u8,
    pub len: u32,
    /// Depth it found.
    pub enq_length: u32,
    pub enq_ns: Nanos,
    /// May not leave before; later than `enq_ns` only behind a packet-rate limiter.
    pub eligible_ns: Nanos,
    /// Number of the arrival at this port: breaks ties between equal ranks, and keeps order when queues are re-filed.
    pub arrival: u64,
    pub user: u64,
    pub rank: u64,
    pub item: P,
}

/// A discipline's answer to an offered packet.
pub(crate) enum Verdict<P> {
    Taken,
    Refused(Queued<P>),
    PushedOut(Queued<P>),
}
