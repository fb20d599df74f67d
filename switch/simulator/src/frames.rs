//! Packets as bytes: UDP over IPv4 over Ethernet, with a rank header if the destination port has one.

use crc::{CRC_32_ISO_HDLC, Crc};
use p4sched_dataplane::internet_checksum;
use p4sched_proto::constants::RANK_PORT;
use p4sched_schedulers::P4;

/// Bytes of the headers (Ethernet, IPv4, UDP, rank) and of the packet's number.
pub const MIN_FRAME: u32 = 54;
/// UDP port of datagrams that begin with a rank header.
pub const RANKED_PORT: u16 = RANK_PORT;
/// UDP port of datagrams without a rank header.
pub const UNRANKED_PORT: u16 = 9;

const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
const IPV4: usize = 14;
const UDP: usize = IPV4 + 20;
const PAYLOAD: usize = UDP + 8;
const ID: usize = PAYLOAD + 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Number of the packet; it travels in the payload.
    pub id: u64,
    pub source: [u8; 4],
    pub destination: [u8; 4],
    pub source_port: u16,
    /// [`RANKED_PORT`] or [`UNRANKED_PORT`].
    pub destination_port: u16,
    pub tos: u8,
    pub rank: u32,
    /// Length of the Ethernet frame without FCS, in bytes; at least [`MIN_FRAME`].
    pub len: u32,
}

impl Datagram {
    /// A datagram with this rank. [`crate::switch::Switch::route_ranked`] has a route for its flow.
    pub fn ranked(id: u64, rank: u32, len: u32) -> Datagram {
        Datagram {
            id,
            source: [10, 0, 0, 1],
            destination: [10, 200, 0, 1],
            source_port: 1024,
            destination_port: RANKED_PORT,
            tos: 0,
            rank,
            len,
        }
    }

    /// CRC-32 of the 5-tuple. The programs choose a flow's cell and path by it.
    pub fn flow_hash(&self) -> u32 {
        let mut tuple = [0; 13];
        tuple[..4].copy_from_slice(&self.source);
        tuple[4..8].copy_from_slice(&self.destination);
        tuple[8] = 17;
        tuple[9..11].copy_from_slice(&self.source_port.to_be_bytes());
        tuple[11..].copy_from_slice(&self.destination_port.to_be_bytes());
        CRC32.checksum(&tuple)
    }

    /// Writes the frame. `frame` is empty or holds another frame of a datagram.
    pub fn write(&self, frame: &mut Vec<u8>) {
        // An old frame is a datagram too: its payload beyond the number is zeros.
        frame.resize(self.len as usize, 0);
        frame[..MIN_FRAME as usize].fill(0);
        frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
        frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 2]);
        frame[12] = 8;
        let length = (self.len - IPV4 as u32) as u16;
        let ip = &mut frame[IPV4..UDP];
        ip[0] = 0x45;
        ip[1] = self.tos;
        ip[2..4].copy_from_slice(&length.to_be_bytes());
        ip[8] = 64;
        ip[9] = 17;
        ip[12..16].copy_from_slice(&self.source);
        ip[16..20].copy_from_slice(&self.destination);
        let checksum = internet_checksum(0, ip);
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        let udp = &mut frame[UDP..];
        udp[..2].copy_from_slice(&self.source_port.to_be_bytes());
        udp[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        udp[4..6].copy_from_slice(&(length - 20).to_be_bytes());
        frame[PAYLOAD..ID].copy_from_slice(&self.rank.to_be_bytes());
        frame[ID..ID + 8].copy_from_slice(&self.id.to_be_bytes());
    }
}

/// The cell of a flow in the program's registers, by the hash of its 5-tuple. A program that knows ranks keeps a
/// virtual finish time there, any other program a flowlet.
pub fn flow_cell(p4: &P4, hash: u32) -> u32 {
    hash % if p4.ranks { 65_536 } else { 4096 }
}

/// Number of the packet in a frame that the switch sent; `None` if the frame is too short to hold one.
pub fn id(frame: &[u8]) -> Option<u64> {
    let bytes = frame.get(ID..ID + 8)?;
    Some(bytes.iter().fold(0, |id, &byte| id << 8 | u64::from(byte)))
}

/// True if `frame` is `sent` after a router: TTL one less, correct checksum, all later bytes unchanged.
pub fn is_forwarded(frame: &[u8], sent: &[u8]) -> bool {
    let (Some(ip), Some(before)) = (frame.get(IPV4..UDP), sent.get(IPV4..UDP)) else {
        return false;
    };
    frame.len() == sent.len() && frame[UDP..] == sent[UDP..] && ip[8] + 1 == before[8] && internet_checksum(0, ip) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_carries_its_number_and_a_right_checksum() {
        let datagram = Datagram {
            id: 0x0102_0304_0506,
            source: [10, 1, 2, 3],
            destination: [10, 9, 1, 1],
            source_port: 1000,
            destination_port: RANKED_PORT,
            tos: 7,
            rank: 5,
            len: 100,
        };
        let mut frame = Vec::new();
        datagram.write(&mut frame);
        assert_eq!((frame.len(), id(&frame)), (100, Some(datagram.id)));
        assert_eq!(internet_checksum(0, &frame[IPV4..UDP]), 0);
        assert!(!is_forwarded(&frame, &frame), "the TTL is the same");
    }
}
