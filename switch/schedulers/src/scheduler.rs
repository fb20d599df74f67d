//! What every scheduler is: packets go in with a verdict, and come out one at a time.

use p4sched_traffic_manager::{self as traffic_manager, DropReason, Element};

/// Nanoseconds since the switch started.
pub type Nanos = u64;

/// Urgency of a packet: the smaller, the more urgent.
pub type Rank = u32;

/// A packet as a scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packet {
    /// Identity, unique among the packets of a run. No scheduler decides by it.
    pub id: u64,
    /// Urgency; ignored by schedulers that have no ranks (FIFO, FDPA).
    pub rank: Rank,
    /// Who is to be treated fairly (FDPA).
    pub user: u32,
    /// The flow whose packets should stay in order (STFQ, FDPA's flowlets); whose packet it is to an [`crate::ideal::Ideal`].
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

/// What became of a packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits in this queue. Queue 0 is the most urgent one (the papers' queue 1, BMv2's priority 7).
    Queued {
        /// Index of the queue.
        queue: usize,
    },
    /// It waits in this queue, and another packet had to leave for it.
    PushedOut {
        /// Index of the queue that the arriving packet went to.
        queue: usize,
        /// The packet that was removed.
        victim: Packet,
    },
    /// The scheduler chose not to admit it although there was room.
    DroppedByAdmission,
    /// There was no room where it had to go.
    DroppedFull,
}

impl Verdict {
    /// The verdict of a discipline of the traffic manager, whose queues are one here.
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

    /// Whether the arriving packet waits in a queue now.
    pub fn is_queued(self) -> bool {
        matches!(self, Verdict::Queued { .. } | Verdict::PushedOut { .. })
    }

    /// The packet that this arrival cost, if any: the arriving one or a victim.
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
/// Queue lengths that a decision depends on are measured before the arriving packet is enqueued. `now` never goes
/// back; most schedulers do not look at it.
pub trait Scheduler {
    /// Takes in a packet, or refuses it.
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict;

    /// The packet to transmit next, removed from its queue. `None` only if nothing waits.
    fn dequeue(&mut self, now: Nanos) -> Option<Packet>;

    /// Packets waiting, over all queues.
    fn len(&self) -> usize;

    /// Whether nothing waits.
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
