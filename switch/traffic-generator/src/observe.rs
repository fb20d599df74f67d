//! The TCP segments that arrive at a host, in order, and the segments that were overtaken on the way.
//!
//! A Linux sender numbers all IPv4 packets of a connection in order, in the identification field. So a packet was
//! overtaken in the network if its number is below one that arrived before it. A gap is a loss, and a retransmission
//! has a new number. Sequence numbers alone cannot tell these cases apart.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use socket2::{Domain, Protocol, Socket, Type};

use crate::clock::monotonic_ns;
use crate::error::{TrafficError, file_error, socket};

/// EtherType of IPv4, in network byte order as `packet(7)` requires. Such a socket sees only frames that arrive.
const IPV4: i32 = 0x0800_u16.to_be() as i32;
const PROTOCOL_TCP: u8 = 6;
/// Largest size of the IPv4 and TCP headers together, in bytes.
const HEADERS: usize = 120;

/// A TCP segment with payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Time of arrival, in ns of the monotonic clock.
    pub at_ns: u64,
    /// Address and port of the sender.
    pub from: (Ipv4Addr, u16),
    /// Destination port.
    pub to_port: u16,
    pub tos: u8,
    /// Identification field of IPv4.
    pub identification: u16,
    pub payload_bytes: u32,
}

/// Counters of the segments from one port of a sender.
#[derive(Clone, Debug, Serialize)]
pub struct SegmentCounts {
    /// Source address.
    pub src: Ipv4Addr,
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Number of segments with payload.
    pub segments: u64,
    /// Bytes of payload, including retransmissions.
    pub payload_bytes: u64,
    /// Number of segments that were overtaken by a later one of the same connection.
    pub reordered: u64,
    #[serde(skip)]
    newest: u16,
}

impl SegmentCounts {
    fn note(&mut self, segment: &Segment) {
        self.segments += 1;
        self.payload_bytes += u64::from(segment.payload_bytes);
        // Numbers wrap around. The shorter way around the circle shows which one is earlier.
        if (segment.identification.wrapping_sub(self.newest) as i16) < 0 {
            self.reordered += 1;
        } else {
            self.newest = segment.identification;
        }
    }
}

/// Records arriving TCP segments for `duration`. If there is a log file, each segment is written there as one line:
/// `at_ns,src,src_port,tos,identification,payload_bytes`.
///
/// # Errors
/// If the process may not open a packet socket (it needs root), or if the log cannot be written.
pub fn observe(duration: Duration, log: Option<&Path>) -> Result<Vec<SegmentCounts>, TrafficError> {
    let segments = record(duration)?;
    if let Some(path) = log {
        std::fs::write(path, text(&segments)).map_err(file_error(path))?;
    }
    Ok(by_connection(&segments))
}

fn record(duration: Duration) -> Result<Vec<Segment>, TrafficError> {
    let open = || -> std::io::Result<Socket> {
        let raw = Socket::new(Domain::PACKET, Type::DGRAM, Some(Protocol::from(IPV4)))?;
        raw.set_recv_buffer_size(8 << 20)?;
        raw.set_read_timeout(Some(Duration::from_millis(50)))?;
        Ok(raw)
    };
    let mut raw = open().map_err(socket("cannot open a packet socket"))?;
    let end = Instant::now() + duration;
    let mut segments = Vec::new();
    let mut packet = [0; HEADERS];
    while Instant::now() < end {
        let Ok(length) = raw.read(&mut packet) else { continue };
        segments.extend(segment(&packet[..length], monotonic_ns()));
    }
    Ok(segments)
}

/// The TCP segment in an IPv4 packet, from its first bytes. `None` if it carries no payload.
pub fn segment(packet: &[u8], at_ns: u64) -> Option<Segment> {
    let two = |at: usize| Some(u16::from_be_bytes(packet.get(at..at + 2)?.try_into().ok()?));
    if packet.first()? >> 4 != 4 || *packet.get(9)? != PROTOCOL_TCP {
        return None;
    }
    let tcp = usize::from(packet[0] & 15) * 4;
    let header_bytes = tcp + usize::from(packet.get(tcp + 12)? >> 4) * 4;
    let payload_bytes = u32::from(two(2)?).checked_sub(header_bytes as u32)?;
    let address: [u8; 4] = packet.get(12..16)?.try_into().ok()?;
    (payload_bytes > 0).then_some(Segment {
        at_ns,
        from: (address.into(), two(tcp)?),
        to_port: two(tcp + 2)?,
        tos: packet[1],
        identification: two(4)?,
        payload_bytes,
    })
}

/// The counters by sender and port.
pub fn by_connection(segments: &[Segment]) -> Vec<SegmentCounts> {
    let mut connections: BTreeMap<((Ipv4Addr, u16), u16), SegmentCounts> = BTreeMap::new();
    for segment in segments {
        let seen = connections
            .entry((segment.from, segment.to_port))
            .or_insert_with(|| SegmentCounts {
                src: segment.from.0,
                src_port: segment.from.1,
                dst_port: segment.to_port,
                segments: 0,
                payload_bytes: 0,
                reordered: 0,
                newest: segment.identification,
            });
        seen.note(segment);
    }
    connections.into_values().collect()
}

/// A log of segments as CSV with a header line.
pub fn text(segments: &[Segment]) -> String {
    let mut text = String::from("at_ns,src,src_port,tos,identification,payload_bytes\n");
    for s in segments {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{}",
            s.at_ns, s.from.0, s.from.1, s.tos, s.identification, s.payload_bytes
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IPv4 and TCP headers without options, for this many bytes of payload.
    fn packet(identification: u16, payload: u16) -> Vec<u8> {
        let mut bytes = vec![0x45, 0x2c];
        bytes.extend((40 + payload).to_be_bytes());
        bytes.extend(identification.to_be_bytes());
        bytes.extend([0x40, 0, 64, PROTOCOL_TCP, 0, 0, 10, 1, 1, 1, 10, 2, 0, 1]);
        bytes.extend(4000_u16.to_be_bytes());
        bytes.extend(5001_u16.to_be_bytes());
        bytes.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn overtaken_segments_are_counted_and_losses_are_not() {
        // 65534 .. 2 without 1; 0 and 65535 arrive after later ones.
        let order = [65534, 0, 65535, 2, 1, 4];
        let segments: Vec<Segment> = order.iter().filter_map(|&id| segment(&packet(id, 100), 0)).collect();
        assert_eq!(segments.len(), 6);
        let seen = by_connection(&segments);
        assert_eq!((seen.len(), seen[0].segments, seen[0].payload_bytes), (1, 6, 600));
        assert_eq!(seen[0].reordered, 2);
        assert_eq!(
            (seen[0].src_port, seen[0].dst_port, segments[0].tos),
            (4000, 5001, 0x2c)
        );
    }

    #[test]
    fn acknowledgements_other_protocols_and_rubbish_are_passed_over() {
        assert_eq!(segment(&packet(1, 0), 0), None);
        let mut udp = packet(1, 10);
        udp[9] = 17;
        assert_eq!(segment(&udp, 0), None);
        for length in 0..40 {
            assert_eq!(segment(&packet(1, 10)[..length], 0).filter(|_| length < 33), None);
        }
    }
}
