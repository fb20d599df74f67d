//! Counters of a sender.

/// Counts of a sender so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Data segments that were sent, each transmission counted.
    pub sent: u64,
    /// Of these, segments with bytes that were sent before.
    pub retransmitted: u64,
    /// Number of timeouts of the retransmission timer.
    pub timeouts: u64,
    /// Number of fast recoveries.
    pub recoveries: u64,
    /// Acknowledgements that showed a segment to be overtaken by a later one: it was not sent again, and arrived after that one.
    pub reorderings: u64,
    /// Number of reductions that were undone because nothing was lost.
    pub undone: u64,
}
