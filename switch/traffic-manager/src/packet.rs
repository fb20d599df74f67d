//! What goes into the traffic manager, and what comes out.

use std::fmt::Debug;

/// Nanoseconds since the switch started.
pub type Nanos = u64;

/// Instant of "never".
pub(crate) const NEVER: Nanos = Nanos::MAX;

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
    /// Whose packet it is, for disciplines that read it ([`crate::reads`]).
    pub user: u64,
    /// How urgent it is (smaller = more), for disciplines that read it; in a tree at the root.
    pub rank: u64,
    /// Its place in a tree.
    pub levels: Option<Box<Levels>>,
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
    /// No room for it.
    Full,
    /// Too far ahead for the calendar; under [`crate::Discipline::Afq`] its user has booked all rounds.
    TooFar,
    /// Its priority is above 7. BMv2 drops such packets too.
    NoSuchQueue,
    /// The tree has no such leaf.
    NoSuchLeaf,
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

/// Levels of a tree, the root and the leaves included.
pub const LEVELS: usize = 4;

/// The place of a packet in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Levels {
    /// The number of its leaf among the nodes.
    pub leaf: u64,
    /// Its ranks at the levels below the root.
    pub ranks: [u64; LEVELS - 1],
}

/// What a packet tells the discipline of its port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks {
    /// Whose it is.
    pub user: u64,
    /// How urgent it is; in a tree at the root.
    pub rank: u64,
    /// Its place in a tree.
    pub levels: Option<Box<Levels>>,
}

/// 256 / weight of weight 1.
pub const SCALE_OF_WEIGHT_1: u32 = 256;

/// What waits, as a discipline sees it: a packet, or a reference to one. "Element" is the word of the PIFO paper.
pub trait Element: Debug {
    /// 0..=7, 7 the most urgent.
    fn priority(&self) -> u8;
    /// Length in bytes.
    fn bytes(&self) -> u32;
    /// Whose it is.
    fn user(&self) -> u64;
    /// How urgent it is: smaller = more.
    fn rank(&self) -> u64;
    /// 256 / weight of its user.
    fn scale(&self) -> u32 {
        SCALE_OF_WEIGHT_1
    }
    /// Its place in a tree, if it has one.
    fn levels(&self) -> Option<&Levels> {
        None
    }
}

/// A packet in a queue.
#[derive(Debug)]
pub(crate) struct Queued<P> {
    pub priority: u8,
    pub len: u32,
    /// Depth it found.
    pub enq_length: u32,
    pub enq_ns: Nanos,
    /// Number of the arrival at this port: keeps order when queues are re-filed.
    pub arrival: u64,
    pub user: u64,
    pub rank: u64,
    pub levels: Option<Box<Levels>>,
    pub item: P,
}

impl<P: Debug> Element for Queued<P> {
    fn priority(&self) -> u8 {
        self.priority
    }

    fn bytes(&self) -> u32 {
        self.len
    }

    fn user(&self) -> u64 {
        self.user
    }

    fn rank(&self) -> u64 {
        self.rank
    }

    fn levels(&self) -> Option<&Levels> {
        self.levels.as_deref()
    }
}

/// A discipline's answer to what it is offered.
#[derive(Debug)]
pub enum Verdict<E> {
    /// It waits.
    Taken,
    /// It is not taken.
    Refused(E, DropReason),
    /// It waits, and this one had to leave for it.
    PushedOut(E),
}
