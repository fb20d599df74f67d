//! The packets that are on their way, in memory that is used again.

use p4sched_schedulers::Verdict;
use p4sched_transport::Segment;
use p4sched_world::account::Account;

/// What switches look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub struct Header {
    /// Number of the host that it goes to.
    pub destination: u32,
    /// Hash of its flow and direction, by which paths are chosen.
    pub hash: u32,
    /// Urgency, for schedulers that know ranks.
    pub rank: u32,
    /// Whom it is charged to.
    pub user: u32,
    /// 256 / weight of the user and of the flow.
    pub scale: u32,
    /// Number of the flow and direction: packets with the same number should stay in order.
    pub flow: u32,
    /// Bytes of the frame.
    pub len: u32,
}

/// Packets by number. A number is used again once its packet is gone.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    headers: Vec<Header>,
    /// Apart from the headers, because only hosts look at them.
    segments: Vec<Segment>,
    free: Vec<u32>,
}

impl Packets {
    /// Takes in a packet, and gives it a number.
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

    /// What switches look at.
    pub fn header(&self, number: u32) -> &Header {
        &self.headers[number as usize]
    }

    /// What hosts look at.
    pub fn segment(&self, number: u32) -> &Segment {
        &self.segments[number as usize]
    }

    /// What hosts look at, to mark it.
    pub fn segment_mut(&mut self, number: u32) -> &mut Segment {
        &mut self.segments[number as usize]
    }

    /// Forgets a packet.
    pub fn remove(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Drops what the verdict on this packet cost.
    pub fn drop_lost(&mut self, number: u32, verdict: Verdict, account: &mut Account) {
        match verdict {
            Verdict::Queued { .. } => {}
            Verdict::PushedOut { victim, .. } => self.drop(victim.id as u32, account),
            Verdict::DroppedByAdmission | Verdict::DroppedFull => self.drop(number, account),
        }
    }

    /// Forgets a packet that was dropped.
    pub fn drop(&mut self, number: u32, account: &mut Account) {
        account.dropped += u64::from(self.header(number).len);
        self.remove(number);
    }
}
