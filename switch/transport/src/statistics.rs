//! What a sender counts.

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Data segments that were sent, each transmission counted.
    pub sent: u64,
    /// Those of them that carry bytes which were sent before.
    pub retransmitted: u64,
    /// How often the retransmission timer ran out.
    pub timeouts: u64,
    /// How often fast recovery began.
    pub recoveries: u64,
    /// Acknowledgements that showed a segment to be overtaken by a later one: it was not sent again, and arrived after that one.
    pub reorderings: u64,
    /// How often a reduction was taken back because nothing was lost.
    pub undone: u64,
}
