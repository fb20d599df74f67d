//! Queue lengths as the rule of a switch knows them: copied from time to time, and counted in cells.
//!
//! A chip's ingress does not see its queues. A worker packet (AIFO 4.4) or a ghost thread (PACKS 5) copies the lengths
//! to ingress, and the traffic manager counts cells of its memory, not packets. With a period P, the rule knows the
//! lengths at the last multiple of P. The room in the queues stays that of the queues.

use crate::scheduler::{Nanos, Packet};

/// Bytes of a full Ethernet frame without FCS.
const FULL_FRAME: u64 = 1514;

/// What a rule knows of its queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// Time between two copies of the lengths, in ns; 0: the rule sees the queues themselves.
    pub period: Nanos,
    /// Bytes of a cell; 0: lengths are in packets. A length in cells is divided by the cells of a full frame, and
    /// rounded up.
    pub cell_bytes: u32,
}

/// The lengths of the queues of a port, and what its rule knows of them.
#[derive(Clone, Debug)]
pub struct Known {
    knowledge: Knowledge,
    /// Lengths now, by queue, in packets or cells.
    actual: Vec<u64>,
    copied: Vec<u64>,
    /// Number of the period of the last copy.
    copied_in: Nanos,
}

impl Known {
    /// Lengths of empty queues.
    pub fn new(knowledge: Knowledge, queues: usize) -> Known {
        Known {
            knowledge,
            actual: vec![0; queues],
            copied: vec![0; queues],
            copied_in: 0,
        }
    }

    /// Makes the copy that is due at `now`, before an arrival or a departure at this time.
    pub fn advance(&mut self, now: Nanos) {
        let number = now.checked_div(self.knowledge.period);
        if number != Some(self.copied_in) {
            self.copied.copy_from_slice(&self.actual);
            self.copied_in = number.unwrap_or(0);
        }
    }

    /// The known length of a queue, in full packets.
    pub fn length(&self, queue: usize) -> u64 {
        match self.cells(FULL_FRAME) {
            None => self.copied[queue],
            Some(cells) => self.copied[queue].div_ceil(cells),
        }
    }

    /// Counts a packet that entered a queue.
    pub fn enter(&mut self, queue: usize, packet: &Packet) {
        self.actual[queue] += self.size(packet);
    }

    /// Counts a packet that left a queue.
    pub fn leave(&mut self, queue: usize, packet: &Packet) {
        self.actual[queue] -= self.size(packet);
    }

    fn size(&self, packet: &Packet) -> u64 {
        self.cells(u64::from(packet.len)).unwrap_or(1)
    }

    /// Cells of so many bytes, if lengths are in cells.
    fn cells(&self, bytes: u64) -> Option<u64> {
        let cell = u64::from(self.knowledge.cell_bytes);
        (cell != 0).then(|| bytes.div_ceil(cell).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(len: u32) -> Packet {
        Packet {
            id: 0,
            rank: 0,
            user: 0,
            flow: 0,
            len,
        }
    }

    #[test]
    fn a_rule_knows_the_length_at_the_last_multiple_of_the_period() {
        let knowledge = Knowledge {
            period: 100,
            cell_bytes: 0,
        };
        let mut known = Known::new(knowledge, 1);
        let mut at = |now, enters: bool| {
            known.advance(now);
            if enters {
                known.enter(0, &packet(1514));
            }
            known.length(0)
        };
        assert_eq!(
            [at(10, true), at(99, true), at(100, true), at(250, false)],
            [0, 0, 2, 3]
        );
        known.leave(0, &packet(1514));
        known.advance(299);
        assert_eq!(known.length(0), 3);
        known.advance(300);
        assert_eq!(known.length(0), 2);
    }

    #[test]
    fn cells_count_small_packets_as_a_part_of_a_full_one() {
        let knowledge = Knowledge {
            period: 0,
            cell_bytes: 80,
        };
        let mut known = Known::new(knowledge, 2);
        for len in [1514, 66, 66] {
            known.enter(1, &packet(len));
        }
        known.advance(5);
        // a full frame has 19 cells
        assert_eq!((known.length(0), known.length(1)), (0, 2));
        known.leave(1, &packet(66));
        known.leave(1, &packet(66));
        known.advance(5);
        assert_eq!(known.length(1), 1);
    }
}
