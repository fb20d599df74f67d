//! The interface of all schedulers: each packet gets a verdict when it arrives, and packets come out one at a time.

use p4sched_traffic_manager::{self as traffic_manager, DropReason, Element};

/// Nanoseconds since the switch started.
pub type Nanos = u64;

/// Urgency of a packet. A smaller rank is more urgent.
pub type Rank = u32;

/// A packet as a scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packet {
    /// Identity, unique among the packets of a run. No scheduler reads it.
    pub id: u64,
    /// Urgency; ignored by schedulers that have no ranks (FIFO, FDPA).
    pub rank: Rank,
    /// The user, among whom FDPA is fair.
    pub user: u32,
    /// The flow: packets of a flow should stay in order (STFQ, FDPA's flowlets). By default, an
    /// [`crate::ideal::Ideal`] uses it as the user.
    pub flow: u32,
    /// Length in bytes.
    pub len: u32,
}

impl Element for Packet {
    fn priority(&self) -> u8 {
        0
    }

    fn bytes(&self) -> u32 {
        self.len
    }

    fn user(&self) -> u64 {
        u64::from(self.user)
    }

    fn rank(&self) -> u64 {
        u64::from(self.rank)
    }
}

/// The result for a packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits in this queue. Queue 0 is the most urgent one (the papers' queue 1, BMv2's priority 7).
    Queued {
        /// Index of the queue.
        queue: usize,
    },
    /// It waits in this queue, and another packet was pushed out.
    PushedOut {
        /// Index of the queue of the arriving packet.
        queue: usize,
        /// The packet that was pushed out.
        victim: Packet,
    },
    /// The scheduler did not admit it, although there was room.
    DroppedByAdmission,
    /// The queue or the buffer was full.
    DroppedFull,
}

impl Verdict {
    /// Converts the verdict of a discipline of the traffic manager, which has one queue here.
    pub(crate) fn of<E>(verdict: traffic_manager::Verdict<E>, packet: impl Fn(E) -> Packet) -> Verdict {
        match verdict {
            traffic_manager::Verdict::Taken => Verdict::Queued { queue: 0 },
            traffic_manager::Verdict::PushedOut(victim) => Verdict::PushedOut {
                queue: 0,
                victim: packet(victim),
            },
            traffic_manager::Verdict::Refused(_, DropReason::Full) => Verdict::DroppedFull,
            traffic_manager::Verdict::Refused(..) => Verdict::DroppedByAdmission,
        }
    }

    /// Whether the arriving packet waits in a queue.
    pub fn is_queued(self) -> bool {
        matches!(self, Verdict::Queued { .. } | Verdict::PushedOut { .. })
    }

    /// The packet that is lost at this arrival, if any: the arriving one or a victim.
    pub fn lost(self, arriving: Packet) -> Option<Packet> {
        match self {
            Verdict::Queued { .. } => None,
            Verdict::PushedOut { victim, .. } => Some(victim),
            Verdict::DroppedByAdmission | Verdict::DroppedFull => Some(arriving),
        }
    }
}

/// A packet scheduler of one port.
///
/// A decision uses the queue lengths before the arriving packet is enqueued. `now` never goes back; most schedulers do
/// not read it.
pub trait Scheduler {
    /// Takes a packet or drops it.
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict;

    /// Removes the packet to send next. Returns `None` only if no packet waits.
    fn dequeue(&mut self, now: Nanos) -> Option<Packet>;

    /// Number of packets in all queues.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<S: Scheduler + ?Sized> Scheduler for Box<S> {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        (**self).enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        (**self).dequeue(now)
    }

    fn len(&self) -> usize {
        (**self).len()
    }
}
