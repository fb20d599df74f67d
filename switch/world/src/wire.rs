//! A link and the packets that are on their way over it, in order.

use std::collections::VecDeque;

use p4sched_traffic_manager::Nanos;

use crate::link::Link;

/// A packet on a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InTransit {
    /// The time at which the far end has the whole packet.
    pub arrival: Nanos,
    pub number: u32,
    /// Length of its frame in bytes.
    pub len: u32,
}

/// A link and the packets on it. Each event of a run needs another wire, so the fields that every packet needs are
/// stored together.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Wire {
    link: Link,
    /// The first packet, if there is one.
    first: InTransit,
    packets: u32,
    /// Packets that wait for the wire, if the port in front of it counts them. It is stored here because it is used
    /// together with `packets`.
    pub waiting: u32,
    delay_ns: Nanos,
    /// The packets after the first one. Most wires are so short that there are none.
    #[allow(clippy::box_collection)] // A wire fits into a line of the processor's cache.
    behind: Option<Box<VecDeque<InTransit>>>,
}

impl Wire {
    /// An empty wire with this link and this propagation delay.
    pub fn new(link: Link, delay_ns: Nanos) -> Wire {
        Wire {
            link,
            first: InTransit::default(),
            packets: 0,
            waiting: 0,
            delay_ns,
            behind: None,
        }
    }

    /// The time at which its link becomes free, or became free.
    #[inline]
    pub fn free(&self) -> Nanos {
        self.link.free()
    }

    /// Propagation delay.
    pub fn delay_ns(&self) -> Nanos {
        self.delay_ns
    }

    /// Number of packets on the wire.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// The first packet.
    #[inline]
    pub fn first(&self) -> Option<InTransit> {
        (self.packets > 0).then_some(self.first)
    }

    /// Sends a packet at `start` or when the link becomes free. Returns its arrival, if it is the only packet on the
    /// wire.
    #[inline(always)]
    pub fn send(&mut self, start: Nanos, number: u32, len: u32) -> Option<Nanos> {
        let arrival = self.link.send(start, len) + self.delay_ns;
        let packet = InTransit { arrival, number, len };
        self.packets += 1;
        if self.packets > 1 {
            self.behind.get_or_insert_default().push_back(packet);
            return None;
        }
        self.first = packet;
        Some(arrival)
    }

    /// Removes the first packet, which has arrived.
    #[inline(always)]
    pub fn arrive(&mut self) -> InTransit {
        let arrived = self.first;
        self.packets -= 1;
        if self.packets > 0
            && let Some(next) = self.behind.as_mut().and_then(|behind| behind.pop_front())
        {
            self.first = next;
        }
        arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_one_instant_arrive_one_behind_the_other() {
        let mut wire = Wire::new(Link::new(1_000_000_000), 50);
        assert_eq!(wire.send(100, 7, 125), Some(1150));
        assert_eq!(wire.send(100, 8, 125), None);
        assert_eq!((wire.arrive().number, wire.packets()), (7, 1));
        let second = InTransit {
            arrival: 2150,
            number: 8,
            len: 125,
        };
        assert_eq!(wire.first(), Some(second));
        assert_eq!((wire.arrive(), wire.first()), (second, None));
    }
}
