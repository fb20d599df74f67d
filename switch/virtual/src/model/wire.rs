//! Frames in the form that Linux writes: Ethernet, IPv4, and TCP with its options or UDP.

use std::net::Ipv4Addr;

use p4sched_dataplane::internet_checksum;

const ETHERNET: usize = 14;
const IPV4: usize = 20;
const TCP: usize = 20;
const UDP: usize = 8;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const TTL: u8 = 64;
const DONT_FRAGMENT: u16 = 0x4000;
/// Protocol number of TCP.
const PROTOCOL_TCP: u8 = 6;
/// Protocol number of UDP.
const PROTOCOL_UDP: u8 = 17;

/// Flags of a TCP header (RFC 9293 Section 3.1, RFC 3168 Section 6.1).
pub mod flags {
    /// Opens a connection.
    pub const SYN: u8 = 2;
    /// Breaks a connection.
    pub const RST: u8 = 4;
    /// The application should get the data at once.
    pub const PSH: u8 = 8;
    /// The acknowledgement number is valid.
    pub const ACK: u8 = 16;
    /// The sender has seen a mark.
    pub const ECE: u8 = 64;
    /// The sender has reduced its window.
    pub const CWR: u8 = 128;
}

/// The addresses of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// MAC address of the sender.
    pub from_mac: [u8; 6],
    /// MAC address of the next hop.
    pub to_mac: [u8; 6],
    /// Address and port of the sender.
    pub from: (Ipv4Addr, u16),
    /// Address and port of the receiver.
    pub to: (Ipv4Addr, u16),
}

/// A TCP header with the options that are used here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    pub seq: u32,
    pub ack: u32,
    /// See [`flags`].
    pub flags: u8,
    /// Window as written in the header, not scaled.
    pub window: u16,
    /// Options of a SYN: MSS and window scale. A SYN with these also permits SACK.
    pub opening: Option<(u16, u8)>,
    /// Timestamp: value and echo.
    pub timestamp: Option<(u32, u32)>,
    /// SACK blocks; (0, 0) stands for no block.
    pub sack: [(u32, u32); 3],
}

/// The content of an IPv4 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Source address.
    pub from: Ipv4Addr,
    /// Destination address.
    pub to: Ipv4Addr,
    /// TOS byte: DSCP and ECN.
    pub tos: u8,
    /// The TCP or UDP content.
    pub content: Content<'a>,
}

/// A transport header with its ports, and the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    Tcp {
        /// Source port.
        from: u16,
        /// Destination port.
        to: u16,
        /// The other fields of the header.
        header: TcpHeader,
        payload: &'a [u8],
    },
    Udp {
        /// Source port.
        from: u16,
        /// Destination port.
        to: u16,
        payload: &'a [u8],
    },
}

/// The sum over the pseudo-header of TCP and UDP (RFC 9293 Section 3.1).
fn pseudo_header(path: &Path, protocol: u8, length: usize) -> u64 {
    let words = |address: Ipv4Addr| {
        let bits = u64::from(address.to_bits());
        (bits >> 16) + (bits & 0xffff)
    };
    words(path.from.0) + words(path.to.0) + u64::from(protocol) + length as u64
}

fn write_ip(frame: &mut Vec<u8>, path: &Path, tos: u8, identification: u16, protocol: u8, length: usize) {
    frame.extend(path.to_mac);
    frame.extend(path.from_mac);
    frame.extend(ETHERTYPE_IPV4);
    let start = frame.len();
    frame.extend([0x45, tos]);
    frame.extend(((IPV4 + length) as u16).to_be_bytes());
    frame.extend(identification.to_be_bytes());
    frame.extend(DONT_FRAGMENT.to_be_bytes());
    frame.extend([TTL, protocol, 0, 0]);
    frame.extend(path.from.0.octets());
    frame.extend(path.to.0.octets());
    let sum = internet_checksum(0, &frame[start..]).to_be_bytes();
    frame[start + 10..start + 12].copy_from_slice(&sum);
}

/// Writes a TCP segment with a payload of `length` bytes: first `head`, then zeros.
pub fn write_tcp(
    frame: &mut Vec<u8>,
    path: &Path,
    tos: u8,
    identification: u16,
    header: &TcpHeader,
    head: &[u8],
    length: usize,
) {
    let mut options = [0; 40];
    let size = write_options(&mut options, header);
    let length = length.max(head.len());
    write_ip(frame, path, tos, identification, PROTOCOL_TCP, TCP + size + length);
    let start = frame.len();
    frame.extend(path.from.1.to_be_bytes());
    frame.extend(path.to.1.to_be_bytes());
    frame.extend(header.seq.to_be_bytes());
    frame.extend(header.ack.to_be_bytes());
    frame.extend([((TCP + size) as u8 / 4) << 4, header.flags]);
    frame.extend(header.window.to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(&options[..size]);
    frame.extend(head);
    // Zeros do not change the sum.
    let sum = internet_checksum(pseudo_header(path, PROTOCOL_TCP, TCP + size + length), &frame[start..]);
    frame[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
    frame.resize(start + TCP + size + length, 0);
}

/// Writes the options in the order of Linux (net/ipv4/tcp_output.c, `tcp_options_write`). Returns their length.
fn write_options(options: &mut [u8; 40], header: &TcpHeader) -> usize {
    let mut size = 0;
    let mut put = |bytes: &[u8]| {
        options[size..size + bytes.len()].copy_from_slice(bytes);
        size += bytes.len();
    };
    if let Some((mss, _)) = header.opening {
        put(&[2, 4]);
        put(&mss.to_be_bytes());
    }
    if let Some((value, echo)) = header.timestamp {
        // A SYN permits SACK with the two bytes that otherwise are padding.
        put(if header.opening.is_some() { &[4, 2] } else { &[1, 1] });
        put(&[8, 10]);
        put(&value.to_be_bytes());
        put(&echo.to_be_bytes());
    } else if header.opening.is_some() {
        put(&[1, 1, 4, 2]);
    }
    if let Some((_, scale)) = header.opening {
        put(&[1, 3, 3, scale]);
    }
    let blocks = header.sack.iter().take_while(|block| **block != (0, 0)).count();
    if blocks > 0 {
        put(&[1, 1, 5, 2 + 8 * blocks as u8]);
        for (first, end) in &header.sack[..blocks] {
            put(&first.to_be_bytes());
            put(&end.to_be_bytes());
        }
    }
    size
}

/// Writes a UDP datagram with a payload of `length` bytes: first `head`, then zeros.
pub fn write_udp(frame: &mut Vec<u8>, path: &Path, tos: u8, identification: u16, head: &[u8], length: usize) {
    let length = length.max(head.len());
    write_ip(frame, path, tos, identification, PROTOCOL_UDP, UDP + length);
    let start = frame.len();
    frame.extend(path.from.1.to_be_bytes());
    frame.extend(path.to.1.to_be_bytes());
    frame.extend(((UDP + length) as u16).to_be_bytes());
    frame.extend([0; 2]);
    frame.extend(head);
    let sum = internet_checksum(pseudo_header(path, PROTOCOL_UDP, UDP + length), &frame[start..]);
    // A checksum of 0 would mean that there is none (RFC 768).
    let sum = if sum == 0 { 0xffff } else { sum };
    frame[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
    frame.resize(start + UDP + length, 0);
}

/// Reads a frame. Returns `None` if it is damaged, or is not TCP or UDP over IPv4.
pub fn read(frame: &[u8]) -> Option<Packet<'_>> {
    if frame.get(12..14)? != ETHERTYPE_IPV4 {
        return None;
    }
    let packet = &frame[ETHERNET..];
    let header_bytes = usize::from(packet.first()? & 15) * 4;
    let header = packet.get(..header_bytes)?;
    let total = usize::from(u16::from_be_bytes(header.get(2..4)?.try_into().ok()?));
    // IPv6 and fragments are not supported, because no host here sends them.
    if packet[0] >> 4 != 4
        || header_bytes < IPV4
        || internet_checksum(0, header) != 0
        || header[6] & 0x3f != 0
        || header[7] != 0
    {
        return None;
    }
    let address = |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]);
    let inside = packet.get(header_bytes..total)?;
    Some(Packet {
        from: address(12),
        to: address(16),
        tos: header[1],
        content: match header[9] {
            PROTOCOL_TCP => read_tcp(inside)?,
            PROTOCOL_UDP => Content::Udp {
                from: two(inside, 0)?,
                to: two(inside, 2)?,
                payload: inside.get(UDP..usize::from(two(inside, 4)?))?,
            },
            _ => return None,
        },
    })
}

fn two(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn four(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn read_tcp(inside: &[u8]) -> Option<Content<'_>> {
    let header_bytes = usize::from(inside.get(12)? >> 4) * 4;
    let mut options = inside.get(TCP..header_bytes)?;
    let mut header = TcpHeader {
        seq: four(inside, 4)?,
        ack: four(inside, 8)?,
        flags: inside[13],
        window: two(inside, 14)?,
        ..TcpHeader::default()
    };
    while let [kind, rest @ ..] = options {
        match kind {
            0 => break,
            1 => options = rest,
            _ => {
                let length = usize::from(*rest.first()?);
                let option = options.get(2.min(length)..length)?;
                read_option(*kind, option, &mut header);
                options = options.get(length.max(2)..)?;
            }
        }
    }
    Some(Content::Tcp {
        from: two(inside, 0)?,
        to: two(inside, 2)?,
        header,
        payload: inside.get(header_bytes..)?,
    })
}

fn read_option(kind: u8, option: &[u8], header: &mut TcpHeader) {
    match (kind, option.len()) {
        (2, 2) => header.opening = Some((two(option, 0).unwrap_or_default(), header.opening.map_or(0, |o| o.1))),
        (3, 1) => header.opening = Some((header.opening.map_or(536, |o| o.0), option[0].min(14))),
        (8, 8) => header.timestamp = four(option, 0).zip(four(option, 4)),
        (5, length) if length % 8 == 0 => {
            for (block, place) in option.chunks_exact(8).zip(&mut header.sack) {
                *place = four(block, 0).zip(four(block, 4)).unwrap_or_default();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATH: Path = Path {
        from_mac: [2, 0, 0, 0, 1, 1],
        to_mac: [2, 0, 0, 0, 0, 0xfe],
        from: (Ipv4Addr::new(10, 1, 1, 1), 40000),
        to: (Ipv4Addr::new(10, 2, 0, 1), 5201),
    };

    #[test]
    fn a_full_segment_with_timestamps_fills_the_mtu() {
        let header = TcpHeader {
            flags: flags::ACK,
            timestamp: Some((1, 2)),
            ..TcpHeader::default()
        };
        let mut frame = Vec::new();
        write_tcp(&mut frame, &PATH, 0x28, 7, &header, &[], 1448);
        assert_eq!(frame.len(), 1514);
        let Content::Tcp { payload, .. } = read(&frame).unwrap().content else {
            panic!("not TCP")
        };
        assert_eq!(payload, [0; 1448]);
    }

    #[test]
    fn a_syn_of_linux_has_twenty_bytes_of_options() {
        let header = TcpHeader {
            seq: 1,
            flags: flags::SYN,
            window: 64240,
            opening: Some((1460, 7)),
            timestamp: Some((9, 0)),
            ..TcpHeader::default()
        };
        let mut frame = Vec::new();
        write_tcp(&mut frame, &PATH, 0, 0, &header, &[], 0);
        assert_eq!(frame.len(), 74);
        let options = &frame[54..];
        assert_eq!(options, [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7]);
    }

    #[test]
    fn a_damaged_header_is_not_read() {
        let mut frame = Vec::new();
        write_udp(&mut frame, &PATH, 0, 0, &[1, 2, 3], 30);
        assert!(read(&frame).is_some());
        frame[22] ^= 1;
        assert_eq!(read(&frame), None);
    }

    /// Whether a packet is intact: the sum over pseudo-header, header and payload is then 0 (RFC 1071).
    fn is_intact(frame: &[u8], protocol: u8) -> bool {
        let inside = &frame[ETHERNET + IPV4..];
        internet_checksum(pseudo_header(&PATH, protocol, inside.len()), inside) == 0
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            seq: u32, ack: u32, window: u16, tos: u8, length in 0_usize..1449, blocks in 0_usize..4,
            sack: [(u32, u32); 3], stamp: (u32, u32), head in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut written = TcpHeader { seq, ack, flags: flags::ACK, window, timestamp: Some(stamp), ..TcpHeader::default() };
            for (place, block) in written.sack.iter_mut().zip(sack).take(blocks) {
                *place = (block.0 | 1, block.1);
            }
            let mut frame = Vec::new();
            write_tcp(&mut frame, &PATH, tos, 3, &written, &head, length);
            prop_assert!(is_intact(&frame, PROTOCOL_TCP));
            let packet = read(&frame).unwrap();
            prop_assert_eq!((packet.from, packet.to, packet.tos), (PATH.from.0, PATH.to.0, tos));
            let Content::Tcp { from, to, header, payload } = packet.content else { panic!("not TCP") };
            prop_assert_eq!((from, to, header), (PATH.from.1, PATH.to.1, written));
            prop_assert_eq!(payload.len(), length.max(head.len()));
            prop_assert_eq!(&payload[..head.len()], &head[..]);
        }

        #[test]
        fn no_frame_makes_the_reader_fail(frame in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = read(&frame);
            let mut framed = Vec::new();
            write_tcp(&mut framed, &PATH, 0, 0, &TcpHeader::default(), &[], 0);
            framed.truncate(ETHERNET + IPV4);
            framed[17] = (IPV4 + frame.len()) as u8;
            let sum = { framed[24] = 0; framed[25] = 0; internet_checksum(0, &framed[ETHERNET..]).to_be_bytes() };
            framed[24..26].copy_from_slice(&sum);
            framed.extend(&frame);
            let _ = read(&framed);
        }
    }
}
