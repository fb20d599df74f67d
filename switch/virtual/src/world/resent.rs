//! The rank of data that a host sends again, written into its frames at the uplink, as a program in the host's network
//! interface could do it (eBPF, `tc`).

use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;

use p4sched_dataplane::internet_checksum;
use p4sched_transport::{Retransmissions, Sent};

use crate::model::wire::{self, Content, flags};

/// Place of the IPv4 header in a frame.
const IPV4: usize = 14;
/// Places of the TOS byte and of the checksum in a frame.
const TOS: usize = IPV4 + 1;
const CHECKSUM: usize = IPV4 + 10;
/// ECN bits of the TOS byte (RFC 3168 Section 5). The six bits above them are the rank.
const ECN_BITS: u8 = 3;

type Pair = ((Ipv4Addr, u16), (Ipv4Addr, u16));

/// Ranks of the data that a host sends again, in the TOS byte.
#[derive(Debug)]
pub struct ResentRanks {
    rule: Retransmissions,
    connections: HashMap<Pair, Connection>,
}

/// The data of a connection that was sent so far.
#[derive(Debug)]
struct Connection {
    /// Sequence number of the byte before the first one.
    initial: u32,
    sent: Sent,
    /// The rank of the data from a byte on, when it was first sent. It holds up to the next entry.
    ranks: BTreeMap<u64, u8>,
}

impl ResentRanks {
    pub fn new(rule: Retransmissions) -> ResentRanks {
        ResentRanks {
            rule,
            connections: HashMap::new(),
        }
    }

    /// Writes the rank of a frame that the host sends. Frames without TCP data stay as they are.
    pub fn write(&mut self, frame: &mut [u8]) {
        let Some(packet) = wire::read(frame) else { return };
        let Content::Tcp {
            from,
            to,
            header,
            payload,
        } = packet.content
        else {
            return;
        };
        let pair = ((packet.from, from), (packet.to, to));
        if header.flags & flags::SYN != 0 {
            self.connections.insert(pair, Connection::new(header.seq));
        }
        if payload.is_empty() {
            return;
        }
        let connection = (self.connections.entry(pair)).or_insert_with(|| Connection::new(header.seq.wrapping_sub(1)));
        let rank = connection.rank(self.rule, packet.tos >> 2, header.seq, payload.len() as u32);
        let tos = rank << 2 | packet.tos & ECN_BITS;
        frame[TOS] = tos;
        let end = IPV4 + 4 * usize::from(frame[IPV4] & 15);
        frame[CHECKSUM..CHECKSUM + 2].fill(0);
        let sum = internet_checksum(0, &frame[IPV4..end]);
        frame[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

impl Connection {
    fn new(initial: u32) -> Connection {
        Connection {
            initial,
            sent: Sent::default(),
            ranks: BTreeMap::new(),
        }
    }

    /// The rank of `len` bytes from a sequence number on, which the host sends with the rank `now`.
    fn rank(&mut self, rule: Retransmissions, now: u8, seq: u32, len: u32) -> u8 {
        let seq = self.place(seq);
        if seq >= self.sent.until && self.ranks.last_key_value().is_none_or(|(_, rank)| *rank != now) {
            self.ranks.insert(seq, now);
        }
        let first = self.ranks.range(..=seq).next_back().map_or(now, |(_, rank)| *rank);
        self.sent.rank(first.into(), rule, seq, len) as u8
    }

    /// The place of a byte in the flow, of which sequence numbers have the last 32 bits.
    fn place(&self, seq: u32) -> u64 {
        let behind = seq.wrapping_sub(self.initial).wrapping_sub(1);
        let near = self.sent.until;
        let difference = behind.wrapping_sub(near as u32).cast_signed();
        near.saturating_add_signed(difference.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::wire::{Path, TcpHeader, write_tcp};

    const PATH: Path = Path {
        from_mac: [2, 0, 0, 0, 0, 1],
        to_mac: [2, 0, 0, 0, 0, 2],
        from: (Ipv4Addr::new(10, 0, 0, 1), 40000),
        to: (Ipv4Addr::new(10, 0, 0, 2), 5001),
    };
    /// The numbers of this connection wrap around after two segments of 1000 bytes.
    const INITIAL: u32 = u32::MAX - 2000;

    fn sent(ranks: &mut ResentRanks, flags: u8, place: u32, length: usize, tos: u8) -> u8 {
        let header = TcpHeader {
            seq: INITIAL.wrapping_add(place),
            flags,
            ..TcpHeader::default()
        };
        let mut frame = Vec::new();
        write_tcp(&mut frame, &PATH, tos, 7, &header, &[], length);
        ranks.write(&mut frame);
        wire::read(&frame).expect("the checksum is right").tos
    }

    /// TOS of a SYN, of three segments, of the first two again, of half of the second one again, and of a new one.
    fn of_a_connection(rule: Retransmissions) -> [u8; 8] {
        let mut ranks = ResentRanks::new(rule);
        let mut data = |place: u32, length, tos| sent(&mut ranks, flags::ACK, 1 + place, length, tos);
        let rest = [
            data(0, 1000, 40 | 2),
            data(1000, 1000, 24 | 2),
            data(2000, 1000, 32),
            data(0, 1000, 12),
            data(1000, 1000, 12 | 2),
            data(1500, 500, 12),
            data(3000, 1000, 8),
        ];
        let syn = sent(&mut ResentRanks::new(rule), flags::SYN, 0, 0, 60);
        let mut all = [syn; 8];
        all[1..].copy_from_slice(&rest);
        all
    }

    #[test]
    fn data_that_is_sent_again_has_the_rank_of_the_rule() {
        let first = [60, 42, 26, 32];
        let cases = [
            (Retransmissions::Own, [40, 26, 24]),
            (Retransmissions::Least, [24, 26, 24]),
            (Retransmissions::Urgent, [0, 2, 0]),
        ];
        for (rule, again) in cases {
            let found = of_a_connection(rule);
            assert_eq!(
                (&found[..4], &found[4..7], found[7]),
                (&first[..], &again[..], 8),
                "{rule:?}"
            );
        }
    }

    #[test]
    fn a_new_connection_with_the_same_ports_begins_again() {
        let mut ranks = ResentRanks::new(Retransmissions::Urgent);
        for _ in 0..2 {
            assert_eq!(sent(&mut ranks, flags::SYN, 0, 0, 0), 0);
            assert_eq!(sent(&mut ranks, flags::ACK, 1, 1000, 40), 40);
        }
        assert_eq!(sent(&mut ranks, flags::ACK, 1, 1000, 40), 0);
    }

    #[test]
    fn other_frames_stay_as_they_are() {
        let mut ranks = ResentRanks::new(Retransmissions::Urgent);
        let mut udp = Vec::new();
        wire::write_udp(&mut udp, &PATH, 40, 7, &[], 100);
        for frame in [udp, vec![], vec![0; 14], vec![0xff; 60]] {
            let mut written = frame.clone();
            ranks.write(&mut written);
            assert_eq!(written, frame);
        }
    }
}
