//! Captures: pcap files, as tcpdump and `--pcap` of the switch write them
//! (<https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-06.html>), and those of the newer form.

use std::io::{self, Chain, Cursor, Read};

use crate::pcapng::Blocks;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// What files that gzip has made begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The first word of a pcapng file, in either byte order.
const PCAPNG: u32 = 0x0a0d_0d0a;
const HEADER_BYTES: usize = 24;
const PACKET_HEADER_BYTES: usize = 16;
pub(crate) const ETHERNET: u32 = 1;
/// What tcpdump takes at most.
pub(crate) const LONGEST_PACKET: u32 = 262_144;

/// A captured packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// When, in ns since 1970.
    pub time_ns: u64,
    /// As many bytes as were captured.
    pub frame: Vec<u8>,
    /// Its length on the wire.
    pub length: u32,
}

/// The packets of a file, one after another.
#[derive(Debug)]
pub enum Reader<R> {
    /// A pcap file.
    Pcap(Records<R>),
    /// A pcapng file, with what was read to see that it is one.
    Pcapng(Blocks<Chain<Cursor<Vec<u8>>, R>>),
}

/// The packets of a pcap file.
#[derive(Debug)]
pub struct Records<R> {
    input: R,
    big_endian: bool,
    /// Of the fraction of a second.
    unit_ns: u64,
    /// Packets read.
    count: u64,
}

impl<R: Read> Reader<R> {
    /// Reads the head of a file.
    ///
    /// # Errors
    /// Why this is no capture that can be read.
    pub fn new(mut input: R) -> Result<Reader<R>, String> {
        let mut header = [0; HEADER_BYTES];
        let there = fill(&mut input, &mut header)?;
        if there == 0 {
            return Err("the file is empty".to_owned());
        }
        let word = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
        let magic = word(0);
        let known = |magic| [MICROSECONDS, NANOSECONDS].contains(&magic);
        let big_endian = match (u32::from_be_bytes(magic), u32::from_le_bytes(magic)) {
            (PCAPNG, _) => {
                let begin = Cursor::new(header[..there].to_vec());
                return Ok(Reader::Pcapng(Blocks::new(begin.chain(input))));
            }
            (big, _) if known(big) => true,
            (_, little) if known(little) => false,
            _ if magic[..2] == GZIP => return Err("it is compressed with gzip: uncompress it first".to_owned()),
            _ => return Err("no capture: it does not begin as a pcap or pcapng file".to_owned()),
        };
        if there < HEADER_BYTES {
            return Err(format!("the file ends after {there} bytes, within its header"));
        }
        let number = |at: usize| read_word(word(at), big_endian);
        // Above the type are bits about the frames' checksums.
        match number(20) & 0xffff {
            ETHERNET => {}
            other => return Err(not_ethernet(other)),
        }
        Ok(Reader::Pcap(Records {
            input,
            big_endian,
            unit_ns: if number(0) == NANOSECONDS { 1 } else { 1000 },
            count: 0,
        }))
    }

    /// The next packet; none at the end.
    ///
    /// # Errors
    /// What is wrong with it. Nothing behind it can be read.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, String> {
        match self {
            Reader::Pcap(records) => records.next_packet(),
            Reader::Pcapng(blocks) => blocks.next_packet(),
        }
    }
}

impl<R: Read> Records<R> {
    fn next_packet(&mut self) -> Result<Option<Packet>, String> {
        let number = self.count + 1;
        let mut header = [0; PACKET_HEADER_BYTES];
        match fill(&mut self.input, &mut header)? {
            0 => return Ok(None),
            PACKET_HEADER_BYTES => {}
            there => {
                return Err(format!(
                    "packet {number}: the file ends after {there} bytes of its header"
                ));
            }
        }
        let word = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            read_word(bytes, self.big_endian)
        };
        let (seconds, fraction, captured, length) = (word(0), word(4), word(8), word(12));
        if captured > LONGEST_PACKET {
            return Err(format!(
                "packet {number}: a length of {captured} bytes: the file is damaged"
            ));
        }
        let mut frame = vec![0; captured as usize];
        let there = fill(&mut self.input, &mut frame)?;
        if there < frame.len() {
            return Err(format!(
                "packet {number}: the file ends after {there} of its {captured} bytes"
            ));
        }
        self.count = number;
        Ok(Some(Packet {
            time_ns: u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.unit_ns,
            frame,
            length,
        }))
    }
}

/// Why packets of another link type are not read.
pub(crate) fn not_ethernet(link_type: u32) -> String {
    format!("packets of link type {link_type}, not of Ethernet ({ETHERNET}); capture at one interface, not at 'any'")
}

pub(crate) fn read_word(bytes: [u8; 4], big_endian: bool) -> u32 {
    match big_endian {
        true => u32::from_be_bytes(bytes),
        false => u32::from_le_bytes(bytes),
    }
}

/// Reads as many bytes as there are and fit.
pub(crate) fn fill(input: &mut impl Read, bytes: &mut [u8]) -> Result<usize, String> {
    let mut there = 0;
    while there < bytes.len() {
        match input.read(&mut bytes[there..]) {
            Ok(0) => break,
            Ok(count) => there += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(there)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one packet of the bytes 1, 2, 3 at 5.000007 s, or 5.000000007 s.
    fn file(magic: u32, big_endian: bool) -> Vec<u8> {
        let word = |number: u32| match big_endian {
            true => number.to_be_bytes(),
            false => number.to_le_bytes(),
        };
        let version = if big_endian { 0x0002_0004 } else { 0x0004_0002 };
        let header = [magic, version, 0, 0, 65_535, ETHERNET];
        let packet = [5, 7, 3, 60];
        let mut bytes: Vec<u8> = header.into_iter().chain(packet).flat_map(word).collect();
        bytes.extend([1, 2, 3]);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Vec<Packet>, String> {
        let mut reader = Reader::new(bytes)?;
        let mut packets = Vec::new();
        while let Some(packet) = reader.next_packet()? {
            packets.push(packet);
        }
        Ok(packets)
    }

    #[test]
    fn both_byte_orders_and_both_units_of_time_are_read() {
        for (magic, time_ns) in [(MICROSECONDS, 5_000_007_000), (NANOSECONDS, 5_000_000_007)] {
            for big_endian in [false, true] {
                let expected = Packet {
                    time_ns,
                    frame: vec![1, 2, 3],
                    length: 60,
                };
                assert_eq!(read(&file(magic, big_endian)), Ok(vec![expected]));
            }
        }
    }

    #[test]
    fn what_is_no_capture_or_ends_too_early_is_told() {
        let whole = file(MICROSECONDS, false);
        let mut cooked = whole.clone();
        cooked[20] = 113;
        let mut endless = whole.clone();
        endless[35] = 0x7f;
        let cases: [(&[u8], &str); 9] = [
            (&[], "the file is empty"),
            (
                b"\x0a\x0d\x0d\x0a\x00\x00\x00\x1c",
                "behind packet 0: the file ends within a block",
            ),
            (b"hello", "no capture: it does not begin as a pcap or pcapng file"),
            (
                b"\x1f\x8b\x08\x00\x00",
                "it is compressed with gzip: uncompress it first",
            ),
            (&whole[..10], "the file ends after 10 bytes, within its header"),
            (&cooked, "packets of link type 113, not of Ethernet (1)"),
            (&whole[..30], "packet 1: the file ends after 6 bytes of its header"),
            (&whole[..42], "packet 1: the file ends after 2 of its 3 bytes"),
            (&endless, "packet 1: a length of 2130706435 bytes: the file is damaged"),
        ];
        for (bytes, expected) in cases {
            let message = read(bytes).expect_err(expected);
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
