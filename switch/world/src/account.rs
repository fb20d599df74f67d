//! Where everything is that hosts sent.

/// Frames since time 0, by what became of them: their number, or the sum of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Sent by hosts.
    pub sent: u64,
    /// Sent by controllers, and copies that programs made.
    pub added: u64,
    /// Waiting at hosts or on their uplinks now.
    pub on_uplinks: u64,
    /// In queues of switches, on their links and recirculating now.
    pub in_switches: u64,
    /// Dropped by programs and queues.
    pub dropped: u64,
    /// Sent to controllers.
    pub to_controllers: u64,
    /// Sent to ports without a link.
    pub unconnected: u64,
    /// Received by hosts.
    pub delivered: u64,
}

impl Account {
    /// What is on its way now.
    pub fn in_flight(&self) -> u64 {
        self.on_uplinks + self.in_switches
    }

    /// True if nothing is missing.
    pub fn balanced(&self) -> bool {
        let left = self.delivered + self.dropped + self.to_controllers + self.unconnected;
        self.sent + self.added == left + self.in_flight()
    }
}
