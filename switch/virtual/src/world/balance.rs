//! Where every frame of the network is or went.

/// Every frame since time 0, by what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Frames that hosts sent.
    pub sent: u64,
    /// Frames that controllers sent, and copies that programs made.
    pub added: u64,
    /// On the uplinks of hosts now.
    pub on_uplinks: u64,
    /// In queues, on links and recirculating now.
    pub in_switches: u64,
    /// Dropped by programs and queues.
    pub dropped: u64,
    /// Sent to controllers.
    pub to_controllers: u64,
    /// Sent to ports without a link.
    pub unconnected: u64,
    /// Frames that hosts received.
    pub delivered: u64,
}

impl Balance {
    /// Whether no frame is unaccounted for.
    pub fn balanced(&self) -> bool {
        let became = self.on_uplinks + self.in_switches + self.dropped;
        self.sent + self.added == became + self.to_controllers + self.unconnected + self.delivered
    }
}
