//! Captures: pcap files, as tcpdump and the switch's `--pcap` write them, and pcapng files.

use std::io::{Chain, Cursor, Read};

use crate::packet::{ETHERNET, Packet, fill, not_ethernet, read_word};
use crate::pcap::{HEADER_BYTES, MICROSECONDS, NANOSECONDS, Records};
use crate::pcapng::Blocks;

/// The first bytes of a file from gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The first word of a pcapng file, in either byte order.
const PCAPNG: u32 = 0x0a0d_0d0a;

/// The packets of a file, in order.
#[derive(Debug)]
pub enum Reader<R> {
    Pcap(Records<R>),
    /// A pcapng file. The bytes that were read to recognise it come first.
    Pcapng(Blocks<Chain<Cursor<Vec<u8>>, R>>),
}

impl<R: Read> Reader<R> {
    /// Reads the head of a file.
    ///
    /// # Errors
    /// The reason why this is not a readable capture.
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
        // The bits above the type describe the checksums of frames.
        match number(20) & 0xffff {
            ETHERNET => {}
            other => return Err(not_ethernet(other)),
        }
        let unit_ns = if number(0) == NANOSECONDS { 1 } else { 1000 };
        Ok(Reader::Pcap(Records::new(input, big_endian, unit_ns)))
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// The problem with the packet. The rest of the file cannot be read.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, String> {
        match self {
            Reader::Pcap(records) => records.next_packet(),
            Reader::Pcapng(blocks) => blocks.next_packet(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one packet of the bytes 1, 2, 3. Its time is 5.000007 s or 5.000000007 s.
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
    fn what_is_no_capture_or_ends_too_early_is_reported() {
        let whole = file(MICROSECONDS, false);
        let mut cooked = whole.clone();
        cooked[20] = 113;
        let mut endless = whole.clone();
        endless[35] = 0x7f;
        let cases: [(&[u8], &str); 9] = [
            (&[], "the file is empty"),
            (
                b"\x0a\x0d\x0d\x0a\x00\x00\x00\x1c",
                "after packet 0: the file ends within a block",
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
