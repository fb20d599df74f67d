//! An account of every packet.

use p4sched_traffic_manager::Count;

/// Packets in and out of one port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    pub received: Count,
    /// Frames handed out with [`crate::FrameSink::transmit`] or [`crate::Output::packet_in`].
    pub transmitted: Count,
}

/// Every packet since the engine was created, by its fate. All fields are in packets.
///
/// received + packets out + copies = transmitted + packets in + drops of each kind + packets still inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balance {
    /// Frames received from ports.
    pub received: u64,
    /// Frames received from the controller.
    pub packets_out: u64,
    /// Packets added by multicast, cloning and mirroring.
    pub copies: u64,

    /// Frames sent by ports.
    pub transmitted: u64,
    /// Frames sent to the controller.
    pub packets_in: u64,

    /// Dropped because no program was loaded.
    pub no_program: u64,
    /// Dropped by the program at ingress.
    pub ingress_dropped: u64,
    /// Dropped by the program at egress.
    pub egress_dropped: u64,
    /// Dropped at a full queue.
    pub queue_dropped: u64,
    /// Taken by a queue, and later pushed out for another packet.
    pub pushed_out: u64,
    /// Waiting when the program was replaced or unloaded.
    pub flushed: u64,
    /// Clones of clones beyond [`crate::Engine::MAX_CLONE_DEPTH`].
    pub clone_depth_dropped: u64,
    /// Dropped at recirculation because [`crate::Engine::MAX_RECIRCULATING`] packets were recirculating.
    pub recirculation_dropped: u64,
    /// Dropped because the delay of the links held [`crate::Engine::MAX_DELAYED_BYTES`].
    pub delay_dropped: u64,

    /// Waiting in queues.
    pub queued: u64,
    /// Packets that recirculate.
    pub recirculating: u64,
    /// Frames on the delay of the links.
    pub delayed: u64,

    /// Parser errors. These packets are also counted above, by their fate.
    pub parser_errors: u64,
    /// Passes through recirculation.
    pub recirculations: u64,
}

impl Balance {
    /// Packets that entered: from outside, and as copies.
    pub fn total_in(&self) -> u64 {
        self.received + self.packets_out + self.copies
    }

    /// Packets sent to a port or to the controller.
    pub fn sent(&self) -> u64 {
        self.transmitted + self.packets_in
    }

    /// Packets dropped, for any reason.
    pub fn dropped(&self) -> u64 {
        self.no_program
            + self.ingress_dropped
            + self.egress_dropped
            + self.queue_dropped
            + self.pushed_out
            + self.flushed
            + self.clone_depth_dropped
            + self.recirculation_dropped
            + self.delay_dropped
    }

    /// Packets that are still inside.
    pub fn inside(&self) -> u64 {
        self.queued + self.recirculating + self.delayed
    }

    /// Whether every packet is accounted for.
    pub fn balanced(&self) -> bool {
        self.total_in() == self.sent() + self.dropped() + self.inside()
    }

    /// Counts a call of the pipeline that turned one packet into `packets`. A drop counts as one packet.
    pub(crate) fn became(&mut self, packets: usize) {
        self.copies += packets.saturating_sub(1) as u64;
    }
}
