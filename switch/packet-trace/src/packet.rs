//! A captured packet, and what readers of both forms of file need.

use std::io::{self, Read};

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
