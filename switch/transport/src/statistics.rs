//! Counters of a sender.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Data segments sent; each transmission counts.
    pub sent: u64,
    /// Data segments sent with bytes that had been sent before.
    pub retransmitted: u64,
    /// Number of expirations of the retransmission timer.
    pub timeouts: u64,
    /// Number of fast recoveries.
    pub recoveries: u64,
    /// Acknowledgements that showed reordering: a segment that was sent once arrived after a later one.
    pub reorderings: u64,
    /// Number of reductions that were undone because no segment was lost.
    pub undone: u64,
}
