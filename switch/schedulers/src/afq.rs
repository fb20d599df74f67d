//! AFQ: approximate fair queueing (Sharma et al., "Approximating Fair Queueing on Reconfigurable Switches", NSDI 2018).
//!
//! n FIFO queues used as a calendar: each round R gives every flow BpR bytes, and the queue R mod n holds the packets
//! that bid for round R. A flow's bid is the byte at which its next packet ends, if flows sent bit by bit in turn.
//!
//!   enqueue: bid = max(bid of the flow, R BpR) + length
//!            round = bid / BpR; if round >= R + n, drop: too far ahead
//!            append to queue (round mod n); if it had room, keep the bid
//!   dequeue: while queue (R mod n) is empty, R = R + 1; then its oldest packet
//!
//! Bids are kept exactly for each flow, or in a count-min sketch: d rows of w cells, a flow's bid is the smallest of
//! its d cells, and each of them is raised to the new bid. Collisions only ever make a bid too large.
//!
//! BpR is a power of two, so that the division is a shift.

use std::collections::{HashMap, VecDeque};

use crate::config::{ConfigError, MAX_PACKETS, MAX_QUEUES, in_range};
use crate::scheduler::{Nanos, Packet, Scheduler, Verdict};

/// Size of a count-min sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchSize {
    /// d.
    pub rows: usize,
    /// w.
    pub columns: usize,
}

/// Parameters of [`Afq`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfqConfig {
    /// n.
    pub queues: usize,
    /// Size of each queue, in packets.
    pub queue_size: usize,
    /// log2 of BpR, the bytes a flow may send in a round.
    pub log_bytes_per_round: u32,
    /// A sketch of bids instead of exact ones.
    pub sketch: Option<SketchSize>,
}

impl AfqConfig {
    /// # Errors
    /// If a size is 0 or too large.
    pub fn check(&self) -> Result<(), ConfigError> {
        in_range("number of queues n", self.queues, 1, MAX_QUEUES, "queues")?;
        in_range("queue size", self.queue_size, 1, MAX_PACKETS, "packets")?;
        in_range(
            "log2 of the bytes per round",
            self.log_bytes_per_round as usize,
            0,
            31,
            "bits",
        )?;
        if let Some(sketch) = self.sketch {
            in_range("sketch rows d", sketch.rows, 1, 16, "rows")?;
            in_range("sketch columns w", sketch.columns, 1, MAX_PACKETS, "cells")?;
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
enum Bids {
    Exact(HashMap<u32, u64>),
    Sketch { columns: usize, rows: Vec<Vec<u64>> },
}

impl Bids {
    fn get(&self, flow: u32) -> u64 {
        match self {
            Bids::Exact(bids) => bids.get(&flow).copied().unwrap_or(0),
            Bids::Sketch { columns, rows } => {
                let cells = rows
                    .iter()
                    .enumerate()
                    .map(|(row, cells)| cells[column(row, flow, *columns)]);
                cells.min().unwrap_or(0)
            }
        }
    }

    fn raise(&mut self, flow: u32, bid: u64) {
        match self {
            Bids::Exact(bids) => {
                bids.insert(flow, bid);
            }
            Bids::Sketch { columns, rows } => {
                for (row, cells) in rows.iter_mut().enumerate() {
                    let cell = &mut cells[column(row, flow, *columns)];
                    *cell = bid.max(*cell);
                }
            }
        }
    }
}

/// The cell of a flow in a row: one multiplicative hash for each row.
fn column(row: usize, flow: u32, columns: usize) -> usize {
    let odd = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * row as u64 + 1);
    let mixed = (u64::from(flow) + 1).wrapping_mul(odd);
    ((mixed ^ (mixed >> 29)) >> 16) as usize % columns
}

/// A calendar of queues, one for each of the coming rounds.
#[derive(Clone, Debug)]
pub struct Afq {
    config: AfqConfig,
    calendar: Vec<VecDeque<Packet>>,
    /// R.
    round: u64,
    bids: Bids,
    waiting: usize,
}

impl Afq {
    /// An empty calendar at round 0.
    ///
    /// # Errors
    /// As [`AfqConfig::check`].
    pub fn new(config: AfqConfig) -> Result<Afq, ConfigError> {
        config.check()?;
        let bids = match config.sketch {
            None => Bids::Exact(HashMap::new()),
            Some(SketchSize { rows, columns }) => Bids::Sketch {
                columns,
                rows: vec![vec![0; columns]; rows],
            },
        };
        Ok(Afq {
            config,
            calendar: vec![VecDeque::new(); config.queues],
            round: 0,
            bids,
            waiting: 0,
        })
    }

    /// R, the round that is being served.
    pub fn round(&self) -> u64 {
        self.round
    }
}

impl Scheduler for Afq {
    fn enqueue(&mut self, _now: Nanos, packet: Packet) -> Verdict {
        let now_served = self.round << self.config.log_bytes_per_round;
        let bid = self.bids.get(packet.flow).max(now_served) + u64::from(packet.len);
        let round = bid >> self.config.log_bytes_per_round;
        if round >= self.round + self.config.queues as u64 {
            return Verdict::DroppedByAdmission;
        }
        let queue = (round % self.config.queues as u64) as usize;
        if self.calendar[queue].len() >= self.config.queue_size {
            return Verdict::DroppedFull;
        }
        self.calendar[queue].push_back(packet);
        self.waiting += 1;
        self.bids.raise(packet.flow, bid);
        Verdict::Queued { queue }
    }

    fn dequeue(&mut self, _now: Nanos) -> Option<Packet> {
        if self.waiting == 0 {
            return None;
        }
        loop {
            let queue = (self.round % self.config.queues as u64) as usize;
            if let Some(packet) = self.calendar[queue].pop_front() {
                self.waiting -= 1;
                return Some(packet);
            }
            self.round += 1;
        }
    }

    fn len(&self) -> usize {
        self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: AfqConfig = AfqConfig {
        queues: 4,
        queue_size: 100,
        log_bytes_per_round: 10,
        sketch: None,
    };

    fn packet(id: u64, flow: u32, len: u32) -> Packet {
        Packet {
            id,
            rank: 0,
            user: 0,
            flow,
            len,
        }
    }

    #[test]
    fn a_flow_cannot_book_more_rounds_than_there_are_queues() {
        let mut afq = Afq::new(CONFIG).unwrap();
        let verdicts: Vec<Verdict> = (0..5).map(|id| afq.enqueue(0, packet(id, 1, 1024))).collect();
        assert_eq!(verdicts[..3], [1, 2, 3].map(|queue| Verdict::Queued { queue }));
        assert_eq!(verdicts[3..], [Verdict::DroppedByAdmission; 2]);
        assert_eq!(afq.dequeue(0).unwrap().id, 0);
        assert_eq!(afq.round(), 1);
        assert_eq!(
            afq.enqueue(0, packet(5, 1, 1024)),
            Verdict::Queued { queue: 0 },
            "round 4 has come within reach"
        );
    }

    #[test]
    fn a_late_flow_is_served_in_the_current_round() {
        let mut afq = Afq::new(CONFIG).unwrap();
        for id in 0..6 {
            afq.enqueue(0, packet(id, 1, 512));
        }
        assert_eq!(afq.dequeue(0).unwrap().id, 0);
        afq.enqueue(0, packet(10, 2, 500));
        let order: Vec<u64> = std::iter::from_fn(|| afq.dequeue(0)).map(|p| p.id).collect();
        assert_eq!(order, [10, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_flow_that_was_silent_gets_no_credit_for_past_rounds() {
        let mut afq = Afq::new(CONFIG).unwrap();
        for id in 0..5 {
            afq.enqueue(0, packet(id, 1, 1024));
            afq.dequeue(0);
        }
        assert_eq!(afq.round(), 5);
        assert_eq!(
            afq.enqueue(0, packet(9, 2, 100)),
            Verdict::Queued { queue: 1 },
            "round 5 of a calendar of 4"
        );
        assert_eq!(
            afq.enqueue(0, packet(10, 2, 924)),
            Verdict::Queued { queue: 2 },
            "its bytes of round 5 are used up"
        );
    }

    #[test]
    fn greedy_flows_share_equally_with_exact_bids_and_with_a_sketch() {
        for sketch in [None, Some(SketchSize { rows: 3, columns: 64 })] {
            let mut afq = Afq::new(AfqConfig {
                queues: 8,
                sketch,
                ..CONFIG
            })
            .unwrap();
            let mut bytes = [0u64; 5];
            for step in 0..20_000u64 {
                // Flow f offers f times as much as flow 1, and flow 1 offers more than its share.
                for flow in 1..=4 {
                    for copy in 0..u64::from(flow) {
                        afq.enqueue(0, packet(step * 100 + u64::from(flow) * 10 + copy, flow, 700));
                    }
                }
                for _ in 0..2 {
                    if let Some(sent) = afq.dequeue(0) {
                        bytes[sent.flow as usize] += u64::from(sent.len);
                    }
                }
            }
            let (least, most) = (bytes[1..].iter().min().unwrap(), bytes[1..].iter().max().unwrap());
            assert!(*least as f64 / *most as f64 > 0.97, "{sketch:?}: {bytes:?}");
        }
    }

    #[test]
    fn empty_dimensions_are_refused() {
        assert!(Afq::new(AfqConfig { queues: 0, ..CONFIG }).is_err());
        assert!(
            Afq::new(AfqConfig {
                queue_size: 0,
                ..CONFIG
            })
            .is_err()
        );
        assert!(
            Afq::new(AfqConfig {
                sketch: Some(SketchSize { rows: 0, columns: 8 }),
                ..CONFIG
            })
            .is_err()
        );
    }
}
