//! The rank of data that is sent again.

use p4sched_schedulers::Rank;
use serde::Deserialize;

/// Rank of data that a sender sends again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retransmissions {
    /// That of data that is sent for the first time.
    #[default]
    Own,
    /// 0, the most urgent one.
    Urgent,
    /// The smallest rank of the data that the flow has sent so far.
    Least,
}

/// The data of a flow that was sent so far.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// One past the last byte.
    pub until: u64,
    /// The smallest rank.
    least: Rank,
}

impl Default for Sent {
    fn default() -> Sent {
        Sent {
            until: 0,
            least: Rank::MAX,
        }
    }
}

impl Sent {
    /// The rank of `len` bytes of data from byte `seq` on, which are sent now; `own`: that of these bytes.
    pub fn rank(&mut self, own: Rank, again: Retransmissions, seq: u64, len: u32) -> Rank {
        let is_again = seq < self.until;
        self.until = self.until.max(seq + u64::from(len));
        self.least = self.least.min(own);
        match again {
            Retransmissions::Urgent if is_again => 0,
            Retransmissions::Least if is_again => self.least,
            _ => own,
        }
    }
}
