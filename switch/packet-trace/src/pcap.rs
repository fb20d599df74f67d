//! The packets of a pcap file
//! (<https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-06.html>).

use std::io::Read;

use crate::packet::{LONGEST_PACKET, Packet, fill, read_word};

/// The first word of a file; it shows the unit of the timestamps.
pub(crate) const MICROSECONDS: u32 = 0xa1b2_c3d4;
pub(crate) const NANOSECONDS: u32 = 0xa1b2_3c4d;
pub(crate) const HEADER_BYTES: usize = 24;
const PACKET_HEADER_BYTES: usize = 16;

/// The packets of a pcap file.
#[derive(Debug)]
pub struct Records<R> {
    input: R,
    big_endian: bool,
    /// The unit of the fraction of a second.
    unit_ns: u64,
    /// Number of packets read.
    count: u64,
}

impl<R: Read> Records<R> {
    /// Reads the packets that follow the head of a file.
    pub(crate) fn new(input: R, big_endian: bool, unit_ns: u64) -> Records<R> {
        Records {
            input,
            big_endian,
            unit_ns,
            count: 0,
        }
    }

    pub(crate) fn next_packet(&mut self) -> Result<Option<Packet>, String> {
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
