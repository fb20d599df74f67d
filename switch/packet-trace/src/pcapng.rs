//! Captures in the newer format, pcapng, which Wireshark writes by default
//! (<https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-05.html>). A file has blocks; only those with packets are
//! used.

use std::io::Read;

use crate::packet::{ETHERNET, LONGEST_PACKET, Packet, fill, not_ethernet, read_word};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// An obsolete kind of packet block: two bytes for the number of the interface, and two for a count of drops.
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const PACKET: u32 = 6;
/// A number in the head of a section. Its byte order is that of all numbers in the section.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// The option of an interface with the unit of its packets' timestamps.
const RESOLUTION: u16 = 9;
const NANOS_PER_SECOND: u128 = 1_000_000_000;
/// The type and length before a block's content, and the length again after it.
const FRAME_BYTES: usize = 12;
/// A packet with its options.
const LONGEST_BLOCK: u32 = 2 * LONGEST_PACKET;

/// An interface on which packets were captured.
#[derive(Debug)]
struct Interface {
    link_type: u32,
    /// The most bytes of a packet that are kept; 0 means all.
    snap: u32,
    units_per_second: u128,
}

/// The blocks of a file, in order.
#[derive(Debug)]
pub struct Blocks<R> {
    input: R,
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// Number of packets read.
    count: u64,
    /// A simple packet has no timestamp, so it gets the one of the packet before it.
    last_ns: u64,
}

impl<R: Read> Blocks<R> {
    /// Reads a pcapng file from its start.
    pub fn new(input: R) -> Blocks<R> {
        Blocks {
            input,
            big_endian: false,
            interfaces: Vec::new(),
            count: 0,
            last_ns: 0,
        }
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// The problem with the file. The rest of the file cannot be read.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, String> {
        loop {
            let Some((kind, content)) = self.block()? else {
                return Ok(None);
            };
            match kind {
                INTERFACE => {
                    let interface = self.interface(&content)?;
                    self.interfaces.push(interface);
                }
                PACKET | SIMPLE_PACKET | OBSOLETE_PACKET => return self.packet(kind, &content).map(Some),
                _ => {}
            }
        }
    }

    fn word(&self, content: &[u8], at: usize) -> Result<u32, String> {
        let bytes = content.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        let bytes = bytes.ok_or_else(|| self.damaged("a block is too short"))?;
        Ok(read_word(bytes, self.big_endian))
    }

    fn damaged(&self, how: &str) -> String {
        format!("after packet {}: {how}: the file is damaged", self.count)
    }

    fn ends(&self) -> String {
        format!("after packet {}: the file ends within a block", self.count)
    }

    /// The type and content of the next block.
    fn block(&mut self) -> Result<Option<(u32, Vec<u8>)>, String> {
        let mut head = [0; 8];
        match fill(&mut self.input, &mut head)? {
            0 => return Ok(None),
            8 => {}
            _ => return Err(self.ends()),
        }
        let [a, b, c, d, length @ ..] = head;
        let mut content = Vec::new();
        // This number is the same in both byte orders.
        let new_section = u32::from_be_bytes([a, b, c, d]) == SECTION;
        if new_section {
            content.resize(4, 0);
            if fill(&mut self.input, &mut content)? < 4 {
                return Err(self.ends());
            }
            self.big_endian = content == BYTE_ORDER.to_be_bytes();
            if !self.big_endian && content != BYTE_ORDER.to_le_bytes() {
                return Err(self.damaged("a section in no byte order"));
            }
            self.interfaces.clear();
        }
        let length = read_word(length, self.big_endian);
        let there = content.len();
        let rest = (length as usize).checked_sub(FRAME_BYTES + there);
        let Some(rest) = rest.filter(|_| length <= LONGEST_BLOCK && length.is_multiple_of(4)) else {
            return Err(self.damaged(&format!("a block of {length} bytes")));
        };
        content.resize(there + rest + 4, 0);
        if fill(&mut self.input, &mut content[there..])? < rest + 4 {
            return Err(self.ends());
        }
        if self.word(&content, there + rest)? != length {
            return Err(self.damaged("a block with two lengths"));
        }
        content.truncate(there + rest);
        Ok(Some((read_word([a, b, c, d], self.big_endian), content)))
    }

    fn interface(&self, content: &[u8]) -> Result<Interface, String> {
        let mut interface = Interface {
            link_type: u32::from(self.half(content, 0)?),
            snap: self.word(content, 4)?,
            units_per_second: 1_000_000,
        };
        let mut at = 8;
        while at + 4 <= content.len() {
            let (option, length) = (self.half(content, at)?, usize::from(self.half(content, at + 2)?));
            if let (RESOLUTION, Some(&unit)) = (option, content.get(at + 4)) {
                let power = u32::from(unit & 0x7f);
                let base: u128 = if unit & 0x80 == 0 { 10 } else { 2 };
                let units = base.checked_pow(power).filter(|&units| units <= u128::from(u64::MAX));
                interface.units_per_second = units.ok_or_else(|| self.damaged("a unit of time that there is not"))?;
            }
            at += 4 + length.next_multiple_of(4);
        }
        Ok(interface)
    }

    fn half(&self, content: &[u8], at: usize) -> Result<u16, String> {
        let bytes = content.get(at..at + 2).and_then(|bytes| bytes.try_into().ok());
        let bytes = bytes.ok_or_else(|| self.damaged("a block is too short"))?;
        Ok(match self.big_endian {
            true => u16::from_be_bytes(bytes),
            false => u16::from_le_bytes(bytes),
        })
    }

    fn packet(&mut self, kind: u32, content: &[u8]) -> Result<Packet, String> {
        let simple = kind == SIMPLE_PACKET;
        let number = match kind {
            SIMPLE_PACKET => 0,
            OBSOLETE_PACKET => u32::from(self.half(content, 0)?),
            _ => self.word(content, 0)?,
        };
        let interface = self.interfaces.get(number as usize);
        let interface = interface.ok_or_else(|| self.damaged("a packet of an unknown interface"))?;
        if interface.link_type != ETHERNET {
            return Err(format!(
                "packet {}: {}",
                self.count + 1,
                not_ethernet(interface.link_type)
            ));
        }
        let (captured, length, data) = if simple {
            let length = self.word(content, 0)?;
            let snap = if interface.snap == 0 { length } else { interface.snap };
            (length.min(snap), length, 4)
        } else {
            let ticks = u128::from(self.word(content, 4)?) << 32 | u128::from(self.word(content, 8)?);
            let nanos = ticks * NANOS_PER_SECOND / interface.units_per_second;
            self.last_ns = u64::try_from(nanos).unwrap_or(u64::MAX);
            (self.word(content, 12)?, self.word(content, 16)?, 20)
        };
        let frame = content.get(data..).and_then(|data| data.get(..captured as usize));
        let frame = frame
            .ok_or_else(|| self.damaged("a packet longer than its block"))?
            .to_vec();
        self.count += 1;
        Ok(Packet {
            time_ns: self.last_ns,
            frame,
            length,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file under construction.
    struct File {
        big_endian: bool,
        bytes: Vec<u8>,
    }

    impl File {
        fn new(big_endian: bool) -> File {
            let mut file = File {
                big_endian,
                bytes: Vec::new(),
            };
            let content: Vec<u8> = [BYTE_ORDER, 1, 0xffff_ffff, 0xffff_ffff]
                .into_iter()
                .flat_map(|word| file.word(word))
                .collect();
            file.block(SECTION, &content);
            file
        }

        fn word(&self, word: u32) -> [u8; 4] {
            match self.big_endian {
                true => word.to_be_bytes(),
                false => word.to_le_bytes(),
            }
        }

        fn block(&mut self, kind: u32, content: &[u8]) -> &mut File {
            let padded = content.len().next_multiple_of(4);
            let length = self.word((padded + FRAME_BYTES) as u32);
            let kind = self.word(kind);
            self.bytes.extend([kind, length].concat());
            self.bytes.extend(content);
            self.bytes.resize(self.bytes.len() + padded - content.len(), 0);
            self.bytes.extend(length);
            self
        }

        fn interface(&mut self, link_type: u16, unit: Option<u8>) -> &mut File {
            let half = |half: u16| match self.big_endian {
                true => half.to_be_bytes(),
                false => half.to_le_bytes(),
            };
            let mut content = [half(link_type), half(0)].concat();
            content.extend(self.word(0));
            if let Some(unit) = unit {
                content.extend([half(RESOLUTION), half(1)].concat());
                content.extend([unit, 0, 0, 0]);
            }
            self.block(INTERFACE, &content)
        }

        /// Adds a packet with the bytes 1, 2, 3.
        fn packet(&mut self, interface: u32, ticks: u64) -> &mut File {
            let words = [interface, (ticks >> 32) as u32, ticks as u32, 3, 60];
            let mut content: Vec<u8> = words.into_iter().flat_map(|word| self.word(word)).collect();
            content.extend([1, 2, 3]);
            self.block(PACKET, &content)
        }
    }

    fn read(bytes: &[u8]) -> Result<Vec<Packet>, String> {
        let mut blocks = Blocks::new(bytes);
        let mut packets = Vec::new();
        while let Some(packet) = blocks.next_packet()? {
            packets.push(packet);
        }
        Ok(packets)
    }

    fn at(time_ns: u64) -> Packet {
        Packet {
            time_ns,
            frame: vec![1, 2, 3],
            length: 60,
        }
    }

    #[test]
    fn times_are_in_the_units_of_their_interface_in_both_byte_orders() {
        for big_endian in [false, true] {
            let mut file = File::new(big_endian);
            file.interface(1, None)
                .interface(1, Some(9))
                .interface(1, Some(0x80 | 10));
            // A block of names; it has nothing to do with packets.
            file.block(4, &[0; 8]);
            file.packet(0, 5_000_007)
                .packet(1, 5_000_000_007)
                .packet(2, 5 * 1024 + 512);
            let expected = [at(5_000_007_000), at(5_000_000_007), at(5_500_000_000)];
            assert_eq!(read(&file.bytes), Ok(expected.to_vec()));
        }
    }

    #[test]
    fn a_simple_packet_has_the_time_of_the_one_before_it_and_another_section_its_own_interfaces() {
        let mut file = File::new(false);
        file.interface(1, None).packet(0, 7);
        let mut simple = file.word(3).to_vec();
        simple.extend([1, 2, 3]);
        file.block(SIMPLE_PACKET, &simple);
        let mut other = File::new(true);
        other.interface(1, Some(9)).packet(0, 8);
        file.bytes.extend(other.bytes);
        let of_simple = Packet { length: 3, ..at(7000) };
        assert_eq!(read(&file.bytes), Ok(vec![at(7000), of_simple, at(8)]));
    }

    #[test]
    fn an_obsolete_packet_names_its_interface_in_two_bytes() {
        for big_endian in [false, true] {
            let mut file = File::new(big_endian);
            file.interface(1, None).interface(1, Some(9));
            let (number, drops) = (1_u16, 77_u16);
            let halves = [number, drops].map(|half| match big_endian {
                true => half.to_be_bytes(),
                false => half.to_le_bytes(),
            });
            let mut content = halves.concat();
            content.extend([0, 9, 3, 60].into_iter().flat_map(|word| file.word(word)));
            content.extend([1, 2, 3]);
            file.block(OBSOLETE_PACKET, &content);
            assert_eq!(read(&file.bytes), Ok(vec![at(9)]));
        }
    }

    #[test]
    fn what_is_damaged_or_ends_too_early_is_reported() {
        let mut whole = File::new(false);
        whole.interface(1, None).packet(0, 7);
        let whole = whole.bytes;
        let ends = "after packet 0: the file ends within a block";
        let end = whole.len();
        let changed = |at: usize, to: u8| {
            let mut bytes = whole.clone();
            bytes[at] = to;
            bytes
        };
        let cases = [
            (whole[..6].to_vec(), ends),
            (whole[..30].to_vec(), ends),
            (whole[..end - 1].to_vec(), ends),
            (
                changed(8, 0),
                "after packet 0: a section in no byte order: the file is damaged",
            ),
            (changed(4, 5), "after packet 0: a block of 5 bytes: the file is damaged"),
            (
                changed(7, 9),
                "after packet 0: a block of 150994972 bytes: the file is damaged",
            ),
            (
                changed(end - 4, 0),
                "after packet 0: a block with two lengths: the file is damaged",
            ),
            (
                changed(end - 28, 9),
                "after packet 0: a packet of an unknown interface: the file is damaged",
            ),
            (
                changed(end - 16, 9),
                "after packet 0: a packet longer than its block: the file is damaged",
            ),
            (
                changed(36, 113),
                "packet 1: packets of link type 113, not of Ethernet (1)",
            ),
        ];
        for (bytes, expected) in cases {
            let message = read(&bytes).expect_err(expected);
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
