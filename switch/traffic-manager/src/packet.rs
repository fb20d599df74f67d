//! The input and the output of the traffic manager.

use std::fmt::Debug;

/// Nanoseconds since the switch started.
pub type Nanos = u64;

/// An instant that never comes.
pub(crate) const NEVER: Nanos = Nanos::MAX;

/// Number of a port; 9 bits in v1model.
pub type Port = u16;

/// A packet that is offered to a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered<P> {
    /// Egress port.
    pub port: Port,
    /// Priority 0..=7; 7 is the most urgent.
    pub priority: u8,
    /// Length in bytes, as charged by the shaper.
    pub len: u32,
    /// The user of the packet, for disciplines that read it ([`crate::reads`]).
    pub user: u64,
    /// The rank, for disciplines that read it; in a tree, the rank at the root. A smaller rank is more urgent.
    pub rank: u64,
    /// Its place in a tree.
    pub levels: Option<Box<Levels>>,
    pub item: P,
}

/// The result of offering a packet.
#[derive(Debug, PartialEq, Eq)]
pub enum Enqueued<P> {
    /// The packet waits in its queue.
    Queued {
        /// The priority of the packet.
        queue: u8,
        /// Packets that waited before it in its queue, or in the shared buffer of a one-buffer discipline.
        length_before: u32,
    },
    /// The packet was dropped.
    Dropped {
        /// The priority of the packet.
        queue: u8,
        item: P,
        reason: DropReason,
    },
    /// The packet waits in its queue, and another packet was pushed out.
    PushedOut {
        /// The priority of the new packet.
        queue: u8,
        /// Packets in the buffer before the change.
        length_before: u32,
        /// The packet that was pushed out.
        victim: Removed<P>,
    },
}

/// Reason why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The queue or the buffer is full.
    Full,
    /// Too far ahead for the calendar. Under [`crate::Discipline::Afq`], the user has used up all rounds.
    TooFar,
    /// The priority is above 7. BMv2 drops such packets too.
    NoSuchQueue,
    /// The tree has no such leaf.
    NoSuchLeaf,
}

/// A packet that left its queue without being sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Removed<P> {
    /// Egress port of its queue.
    pub port: Port,
    /// The priority of the packet.
    pub queue: u8,
    /// Length in bytes.
    pub len: u32,
    /// The instant at which it was enqueued.
    pub enq_ns: Nanos,
    pub item: P,
}

/// A packet that the link sends.
#[derive(Debug, PartialEq, Eq)]
pub struct Departure<P> {
    pub port: Port,
    /// The priority of the packet.
    pub queue: u8,
    pub item: P,
    /// Length in bytes, as charged to the link.
    pub len: u32,
    /// The instant at which it was enqueued.
    pub enq_ns: Nanos,
    /// The queue length when it was enqueued (see [`Enqueued::Queued`]).
    pub enq_length: u32,
    /// Packets that remain, without this one, counted like `enq_length`.
    pub length_after: u32,
    /// The ideal instant at which its first bit is sent.
    pub start_ns: Nanos,
    /// The ideal instant at which the far end has the whole packet: start + transmission time + propagation delay.
    pub arrival_ns: Nanos,
}

/// Largest number of levels in a tree, including the root and the leaves.
pub const LEVELS: usize = 4;

/// The place of a packet in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Levels {
    /// The node number of its leaf.
    pub leaf: u64,
    /// The ranks at the levels below the root.
    pub ranks: [u64; LEVELS - 1],
}

/// The values of a packet that a discipline reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks {
    /// The user of the packet.
    pub user: u64,
    /// The rank; in a tree, the rank at the root. A smaller rank is more urgent.
    pub rank: u64,
    /// Its place in a tree.
    pub levels: Option<Box<Levels>>,
}

/// 256 / weight for weight 1.
pub const SCALE_OF_WEIGHT_1: u32 = 256;

/// A waiting item of a discipline: a packet, or a reference to one. "Element" is the word of the PIFO paper.
pub trait Element: Debug {
    /// Priority 0..=7; 7 is the most urgent.
    fn priority(&self) -> u8;
    /// Length in bytes.
    fn bytes(&self) -> u32;
    /// The user that it belongs to.
    fn user(&self) -> u64;
    /// The rank. A smaller rank is more urgent.
    fn rank(&self) -> u64;
    /// 256 / weight of the user.
    fn scale(&self) -> u32 {
        SCALE_OF_WEIGHT_1
    }
    /// The place in a tree, if it has one.
    fn levels(&self) -> Option<&Levels> {
        None
    }
}

/// A packet in a queue.
#[derive(Debug)]
pub(crate) struct Queued<P> {
    pub priority: u8,
    pub len: u32,
    /// The queue length when it was enqueued.
    pub enq_length: u32,
    pub enq_ns: Nanos,
    /// Number of the arrival at this port. It keeps the order when queues are rebuilt.
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

/// The answer of a discipline to an offered element.
#[derive(Debug)]
pub enum Verdict<E> {
    /// The element waits.
    Taken,
    /// The element is dropped.
    Refused(E, DropReason),
    /// The element waits, and this other element is pushed out.
    PushedOut(E),
}
