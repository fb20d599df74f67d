//! A captured packet, and what the readers of both file formats need.

use std::io::{self, Read};

pub(crate) const ETHERNET: u32 = 1;
/// The largest size that tcpdump captures, in bytes.
pub(crate) const LONGEST_PACKET: u32 = 262_144;

/// A captured packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Time of capture, in ns since 1970.
    pub time_ns: u64,
    /// The captured bytes.
    pub frame: Vec<u8>,
    /// Length on the wire.
    pub length: u32,
}

/// The error for packets of another link type.
pub(crate) fn not_ethernet(link_type: u32) -> String {
    format!("packets of link type {link_type}, not of Ethernet ({ETHERNET}); capture at one interface, not at 'any'")
}

pub(crate) fn read_word(bytes: [u8; 4], big_endian: bool) -> u32 {
    match big_endian {
        true => u32::from_be_bytes(bytes),
        false => u32::from_le_bytes(bytes),
    }
}

/// Reads until `bytes` is full or the input ends.
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
