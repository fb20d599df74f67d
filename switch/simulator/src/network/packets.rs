//! The packets on their way, in memory that is reused.

use p4sched_schedulers::Verdict;
use p4sched_transport::Segment;
use p4sched_world::account::Account;

/// The fields that switches read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub struct Header {
    /// Number of the destination host.
    pub destination: u32,
    /// Hash of its flow and direction; paths are chosen by it.
    pub hash: u32,
    /// Urgency, for schedulers that know ranks; the smaller, the more urgent.
    pub rank: u32,
    /// User to whom it is charged.
    pub user: u32,
    /// 256 / weight of the user and of the flow.
    pub scale: u32,
    /// Number of the flow and direction. Packets with the same number should stay in order.
    pub flow: u32,
    /// Bytes of the frame.
    pub len: u32,
}

/// Packets by number. A number is reused once its packet is gone.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    headers: Vec<Header>,
    /// Separate from the headers, because only hosts read them.
    segments: Vec<Segment>,
    free: Vec<u32>,
}

impl Packets {
    /// Stores a packet and returns its number.
    #[inline(always)]
    pub fn insert(&mut self, header: Header, segment: Segment) -> u32 {
        if let Some(number) = self.free.pop() {
            self.headers[number as usize] = header;
            self.segments[number as usize] = segment;
            return number;
        }
        self.headers.push(header);
        self.segments.push(segment);
        self.headers.len() as u32 - 1
    }

    /// The fields that switches read.
    pub fn header(&self, number: u32) -> &Header {
        &self.headers[number as usize]
    }

    /// The part that hosts read.
    pub fn segment(&self, number: u32) -> &Segment {
        &self.segments[number as usize]
    }

    /// The part that hosts read, for a congestion mark.
    pub fn segment_mut(&mut self, number: u32) -> &mut Segment {
        &mut self.segments[number as usize]
    }

    pub fn remove(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Drops the packets that this verdict lost.
    #[inline(always)]
    pub fn drop_lost(&mut self, number: u32, verdict: Verdict, account: &mut Account) {
        match verdict {
            Verdict::Queued { .. } => {}
            Verdict::PushedOut { victim, .. } => self.drop(victim.id as u32, account),
            Verdict::DroppedByAdmission | Verdict::DroppedFull => self.drop(number, account),
        }
    }

    /// Removes a packet and counts it as dropped.
    pub fn drop(&mut self, number: u32, account: &mut Account) {
        account.dropped += u64::from(self.header(number).len);
        self.remove(number);
    }
}
