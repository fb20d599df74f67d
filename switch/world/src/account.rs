//! An account of all frames that hosts sent.

/// Frames since time 0, by their fate. The fields are either numbers of frames or sums of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Sent by hosts.
    pub sent: u64,
    /// Sent by controllers, or copied by programs.
    pub added: u64,
    /// Waiting at hosts or on their uplinks.
    pub on_uplinks: u64,
    /// In queues of switches, on links of switches, or recirculating.
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
    /// Frames that are in the network.
    pub fn in_flight(&self) -> u64 {
        self.on_uplinks + self.in_switches
    }

    /// Whether every frame is accounted for.
    pub fn balanced(&self) -> bool {
        let left = self.delivered + self.dropped + self.to_controllers + self.unconnected;
        self.sent + self.added == left + self.in_flight()
    }
}
