//! Frames on their way to the far ends of the links.

use std::collections::VecDeque;

use p4sched_dataplane::{Frame, Nanos, Port};

#[derive(Debug)]
struct InFlight {
    arrival_ns: Nanos,
    frame: Frame,
}

/// The delay of the links, with one line for each port. A link keeps the order, so each line is sorted by arrival. The
/// earliest packet of all is at the head of a line.
#[derive(Debug)]
pub(crate) struct DelayLine {
    ports: Vec<Port>,
    lines: Vec<VecDeque<InFlight>>,
    /// The first arrival on each line. They are stored side by side, so that a scan for the earliest is fast.
    heads: Vec<Nanos>,
    /// The earliest of these and its line; the lower port if two are equal. Cached, because it is read often.
    first: (Nanos, usize),
    packets: u64,
    bytes: usize,
    room_bytes: usize,
}

/// The head of an empty line.
const NEVER: Nanos = Nanos::MAX;

impl DelayLine {
    pub fn new(room_bytes: usize) -> Self {
        DelayLine {
            ports: Vec::new(),
            lines: Vec::new(),
            heads: Vec::new(),
            first: (NEVER, 0),
            packets: 0,
            bytes: 0,
            room_bytes,
        }
    }

    /// Number of frames on all lines.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Takes a frame that arrives at `arrival_ns`, which must not be earlier than the frame before it on this port.
    /// Returns the frame if there is no room.
    pub fn push(&mut self, port: Port, arrival_ns: Nanos, frame: Frame) -> Result<(), Frame> {
        if self.bytes + frame.len() > self.room_bytes {
            return Err(frame);
        }
        self.bytes += frame.len();
        self.packets += 1;
        let at = match self.ports.binary_search(&port) {
            Ok(at) => at,
            Err(at) => {
                self.ports.insert(at, port);
                self.lines.insert(at, VecDeque::new());
                self.heads.insert(at, NEVER);
                self.first = self.earliest();
                at
            }
        };
        if self.lines[at].is_empty() {
            self.heads[at] = arrival_ns;
            self.first = self.first.min((arrival_ns, at));
        }
        self.lines[at].push_back(InFlight { arrival_ns, frame });
        Ok(())
    }

    /// The earliest arrival on any line.
    pub fn next(&self) -> Option<Nanos> {
        (self.packets > 0).then_some(self.first.0)
    }

    /// The earliest arrival on the line of a port.
    pub fn next_of(&self, port: Port) -> Option<Nanos> {
        let at = self.ports.binary_search(&port).ok()?;
        Some(self.heads[at]).filter(|&arrival_ns| arrival_ns != NEVER)
    }

    /// Removes the frame with the earliest arrival at or before `now`; the lower port if two are equal.
    #[inline]
    pub fn pop(&mut self, now: Nanos) -> Option<(Port, Frame, Nanos)> {
        if self.packets == 0 || self.first.0 > now {
            return None;
        }
        self.pop_first()
    }

    fn pop_first(&mut self) -> Option<(Port, Frame, Nanos)> {
        let (_, at) = self.first;
        let InFlight { arrival_ns, frame } = self.lines[at].pop_front()?;
        self.packets -= 1;
        self.bytes -= frame.len();
        self.heads[at] = self.lines[at].front().map_or(NEVER, |head| head.arrival_ns);
        self.first = self.earliest();
        Some((self.ports[at], frame, arrival_ns))
    }

    fn earliest(&self) -> (Nanos, usize) {
        let all = self.heads.iter().enumerate().map(|(at, &head)| (head, at));
        all.min().unwrap_or((NEVER, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(bytes: &[u8]) -> Frame {
        Frame::from(bytes)
    }

    #[test]
    fn frames_leave_in_order_of_arrival_over_all_ports() {
        let mut line = DelayLine::new(1000);
        for (port, arrival, byte) in [(2, 10, 1), (2, 40, 2), (1, 20, 3), (3, 20, 4)] {
            line.push(port, arrival, frame(&[byte])).unwrap();
        }
        assert_eq!(line.next(), Some(10));
        let order: Vec<_> = std::iter::from_fn(|| line.pop(30)).collect();
        assert_eq!(
            order,
            [(2, frame(&[1]), 10), (1, frame(&[3]), 20), (3, frame(&[4]), 20)]
        );
        assert_eq!((line.next(), line.packets()), (Some(40), 1));
    }

    #[test]
    fn a_full_line_gives_the_frame_back() {
        let mut line = DelayLine::new(3);
        assert_eq!(line.push(1, 5, frame(&[0; 2])), Ok(()));
        assert_eq!(line.push(1, 6, frame(&[0; 2])), Err(frame(&[0; 2])));
        line.pop(5).unwrap();
        assert_eq!(line.push(1, 6, frame(&[0; 2])), Ok(()));
    }
}
