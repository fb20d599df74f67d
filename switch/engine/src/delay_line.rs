//! Frames on their way to the far ends of the links.

use std::collections::VecDeque;

use p4sched_dataplane::{Nanos, Port};

#[derive(Debug)]
struct InFlight {
    arrival_ns: Nanos,
    frame: Vec<u8>,
}

#[derive(Debug)]
struct Line {
    port: Port,
    frames: VecDeque<InFlight>,
}

/// One line a port. A link keeps order, so each line is sorted by arrival, and the earliest of all is at some head.
#[derive(Debug)]
pub(crate) struct DelayLine {
    /// Sorted by port.
    lines: Vec<Line>,
    /// The earliest arrival and its line, of the lower port if two are equal. Asked for far more often than it changes.
    first: Option<(Nanos, usize)>,
    packets: u64,
    bytes: usize,
    room_bytes: usize,
}

impl DelayLine {
    pub fn new(room_bytes: usize) -> Self {
        DelayLine {
            lines: Vec::new(),
            first: None,
            packets: 0,
            bytes: 0,
            room_bytes,
        }
    }

    /// Frames on all lines.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Takes a frame that arrives at `arrival_ns`, no earlier than the one before it on this port. Gives it back if there is
    /// no room.
    pub fn push(&mut self, port: Port, arrival_ns: Nanos, frame: Vec<u8>) -> Result<(), Vec<u8>> {
        if self.bytes + frame.len() > self.room_bytes {
            return Err(frame);
        }
        self.bytes += frame.len();
        self.packets += 1;
        let at = match self.lines.binary_search_by_key(&port, |line| line.port) {
            Ok(at) => at,
            Err(at) => {
                self.lines.insert(
                    at,
                    Line {
                        port,
                        frames: VecDeque::new(),
                    },
                );
                // The lines behind it have moved.
                self.first = self.heads().min();
                at
            }
        };
        self.lines[at].frames.push_back(InFlight { arrival_ns, frame });
        if self.lines[at].frames.len() == 1 && self.first.is_none_or(|first| (arrival_ns, at) < first) {
            self.first = Some((arrival_ns, at));
        }
        Ok(())
    }

    /// The earliest arrival.
    pub fn next(&self) -> Option<Nanos> {
        self.first.map(|(arrival_ns, _)| arrival_ns)
    }

    /// The frame with the earliest arrival at or before `now`, of the lower port if two are equal.
    pub fn pop(&mut self, now: Nanos) -> Option<(Port, Vec<u8>, Nanos)> {
        let (_, at) = self.first.filter(|&(arrival_ns, _)| arrival_ns <= now)?;
        let InFlight { arrival_ns, frame } = self.lines[at].frames.pop_front()?;
        self.packets -= 1;
        self.bytes -= frame.len();
        self.first = self.heads().min();
        Some((self.lines[at].port, frame, arrival_ns))
    }

    fn heads(&self) -> impl Iterator<Item = (Nanos, usize)> {
        self.lines
            .iter()
            .enumerate()
            .filter_map(|(at, line)| line.frames.front().map(|head| (head.arrival_ns, at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_leave_in_order_of_arrival_over_all_ports() {
        let mut line = DelayLine::new(1000);
        for (port, arrival, byte) in [(2, 10, 1), (2, 40, 2), (1, 20, 3), (3, 20, 4)] {
            line.push(port, arrival, vec![byte]).unwrap();
        }
        assert_eq!(line.next(), Some(10));
        let order: Vec<_> = std::iter::from_fn(|| line.pop(30)).collect();
        assert_eq!(order, [(2, vec![1], 10), (1, vec![3], 20), (3, vec![4], 20)]);
        assert_eq!((line.next(), line.packets()), (Some(40), 1));
    }

    #[test]
    fn a_full_line_gives_the_frame_back() {
        let mut line = DelayLine::new(3);
        assert_eq!(line.push(1, 5, vec![0; 2]), Ok(()));
        assert_eq!(line.push(1, 6, vec![0; 2]), Err(vec![0; 2]));
        line.pop(5).unwrap();
        assert_eq!(line.push(1, 6, vec![0; 2]), Ok(()));
    }
}
