//! Converts headers to and from bytes, several fields at a time.
//!
//! The fields of a header are grouped into chunks of whole bytes, at most eight. A chunk is one load or store, and its
//! fields are shifts. Headers that do not fit this pattern are converted bit by bit.

use super::layout::{Field, Layout};
use crate::bits::{Writer, mask, read, read_word, words};

/// One field in a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub slot: u32,
    pub shift: u32,
    pub keep: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Segment {
    /// This many bytes (1 to 8).
    Chunk { bytes: usize, pieces: Box<[Piece]> },
    /// One field of more than 64 bits.
    Wide { slot: usize, width: u32 },
}

/// A sequence of fields as segments.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    segments: Box<[Segment]>,
    pub bytes: usize,
}

impl Plan {
    /// Groups fields; `None` if they do not have whole bytes.
    pub fn new<'a>(fields: impl Iterator<Item = &'a Field>) -> Option<Plan> {
        let mut segments = Vec::new();
        let mut bytes = 0;
        // Fields not yet in a segment, and their bits; the first one starts at a byte.
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut bits = 0;
        for field in fields {
            if field.length.is_some() || field.width == 0 {
                return None;
            }
            if field.width > 64 {
                if bits != 0 || field.width % 8 != 0 {
                    return None;
                }
                segments.push(Segment::Wide {
                    slot: field.slot as usize,
                    width: field.width,
                });
                bytes += (field.width / 8) as usize;
                continue;
            }
            open.push((field.slot, field.width));
            bits += field.width;
            if bits > 64 {
                return None;
            }
            if bits % 8 == 0 {
                bytes += (bits / 8) as usize;
                close(&mut segments, &mut open, bits);
                bits = 0;
            }
        }
        (bits == 0).then(|| Plan {
            segments: segments.into(),
            bytes,
        })
    }

    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Loads the fields; all `bytes` of the plan must exist.
    #[inline(always)]
    pub fn load(&self, frame: &[u8], phv: &mut [u64]) {
        let mut at = 0;
        for segment in &self.segments {
            match segment {
                Segment::Chunk { bytes, pieces } => {
                    let value = match frame[at..].first_chunk::<8>() {
                        Some(eight) => u64::from_be_bytes(*eight) >> (64 - 8 * bytes),
                        None => read_word(frame, at * 8, (at + bytes) * 8),
                    };
                    for piece in pieces {
                        phv[piece.slot as usize] = (value >> piece.shift) & piece.keep;
                    }
                    at += bytes;
                }
                Segment::Wide { slot, width } => {
                    read(frame, at * 8, *width, &mut phv[*slot..*slot + words(*width)]);
                    at += (*width / 8) as usize;
                }
            }
        }
    }

    /// Appends the fields.
    #[inline]
    pub fn store(&self, phv: &[u64], out: &mut Vec<u8>) {
        for segment in &self.segments {
            match segment {
                Segment::Chunk { bytes, pieces } => {
                    let value = gather(pieces, phv);
                    // Eight bytes are one store; the excess is cut off afterwards.
                    let end = out.len() + bytes;
                    out.extend_from_slice(&(value << (64 - 8 * bytes)).to_be_bytes());
                    out.truncate(end);
                }
                Segment::Wide { slot, width } => {
                    let mut writer = Writer::new(out);
                    writer.field(&phv[*slot..*slot + words(*width)], *width);
                    writer.finish();
                }
            }
        }
    }
}

/// Combines the fields of a chunk into one number.
fn gather(pieces: &[Piece], phv: &[u64]) -> u64 {
    let add = |whole, piece: &Piece| whole | (phv[piece.slot as usize] & piece.keep) << piece.shift;
    pieces.iter().fold(0, add)
}

/// Closes the segment of the open fields. It is joined with the chunk before it if both fit into eight bytes.
fn close(segments: &mut Vec<Segment>, open: &mut Vec<(u32, u32)>, bits: u32) {
    let mut rest = bits;
    let added = open.drain(..).map(|(slot, width)| {
        rest -= width;
        Piece {
            slot,
            shift: rest,
            keep: mask(width),
        }
    });
    let size = (bits / 8) as usize;
    match segments.last_mut() {
        Some(Segment::Chunk { bytes, pieces }) if *bytes + size <= 8 => {
            let moved = pieces.iter().map(|piece| Piece {
                shift: piece.shift + bits,
                ..*piece
            });
            *pieces = moved.chain(added).collect();
            *bytes += size;
        }
        _ => segments.push(Segment::Chunk {
            bytes: size,
            pieces: added.collect(),
        }),
    }
}

/// Plans by header; `None` for a header without one.
pub(crate) fn plans(layout: &Layout) -> Vec<Option<Plan>> {
    layout
        .headers
        .iter()
        .map(|header| Plan::new(layout.fields[header.fields()].iter()))
        .collect()
}

/// Bytes of a header on the wire.
pub(crate) fn header_bytes(layout: &Layout, phv: &[u64], header: u32) -> usize {
    let header = &layout.headers[header as usize];
    match header.varbit {
        None => header.fixed_bytes as usize,
        Some(field) => {
            let field = &layout.fields[field as usize];
            let bits = field
                .length
                .map_or(0, |length| (phv[length as usize] as u32).min(field.width));
            (header.fixed_bits + bits) as usize / 8
        }
    }
}

/// The lengths of the headers that a deparser emits.
#[derive(Debug)]
pub(crate) struct Lengths {
    /// Validity word and bytes of each header with fixed length.
    fixed: Box<[(u32, u32)]>,
    varying: Box<[u32]>,
}

impl Lengths {
    pub fn new(layout: &Layout, headers: &[u32]) -> Lengths {
        let header = |index: u32| &layout.headers[index as usize];
        let (varying, fixed): (Vec<u32>, Vec<u32>) =
            (headers.iter()).partition(|&&index| header(index).varbit.is_some());
        let length = |index: u32| (header(index).valid, header(index).fixed_bytes);
        Lengths {
            fixed: fixed.into_iter().map(length).collect(),
            varying: varying.into(),
        }
    }

    /// Number of bytes of the valid headers.
    #[inline]
    pub fn bytes(&self, layout: &Layout, phv: &[u64]) -> usize {
        let mut bytes = 0;
        for &(valid, length) in &self.fixed {
            bytes += if phv[valid as usize] != 0 { length as usize } else { 0 };
        }
        for &header in &self.varying {
            if phv[layout.headers[header as usize].valid as usize] != 0 {
                bytes += header_bytes(layout, phv, header);
            }
        }
        bytes
    }
}

/// Appends a field in the format of the wire.
#[inline]
pub(crate) fn write_field(layout: &Layout, phv: &[u64], field: u32, writer: &mut Writer) {
    let field = &layout.fields[field as usize];
    match field.length {
        None if field.width <= 64 => {
            writer.word(phv[field.slot as usize] & mask(field.width), field.width);
        }
        None => writer.field(&phv[field.span()], field.width),
        Some(length) => {
            let bits = (phv[length as usize] as u32).min(field.width);
            writer.field(&phv[field.span()], bits);
        }
    }
}

/// Appends a header in the format of the wire.
#[inline]
pub(crate) fn write_header(layout: &Layout, plans: &[Option<Plan>], phv: &[u64], header: u32, out: &mut Vec<u8>) {
    if let Some(plan) = &plans[header as usize] {
        return plan.store(phv, out);
    }
    let mut writer = Writer::new(out);
    for field in layout.headers[header as usize].fields() {
        write_field(layout, phv, field as u32, &mut writer);
    }
    writer.finish();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(slot: u32, width: u32) -> Field {
        Field {
            name: String::new(),
            header: 0,
            slot,
            width,
            signed: false,
            saturating: false,
            length: None,
        }
    }

    #[test]
    fn an_ipv4_header_is_three_loads() {
        let widths = [4, 4, 8, 16, 16, 3, 13, 8, 8, 16, 32, 32];
        let fields: Vec<Field> = widths.iter().enumerate().map(|(i, &w)| field(i as u32, w)).collect();
        let plan = Plan::new(fields.iter()).expect("whole bytes");
        assert_eq!((plan.segments.len(), plan.bytes), (3, 20));
        let frame: Vec<u8> = (1..=20).collect();
        let mut phv = vec![0; 12];
        plan.load(&frame, &mut phv);
        assert_eq!(phv[..4], [0, 1, 2, 0x0304]);
        assert_eq!(phv[5..8], [0, 0x0708, 9]);
        assert_eq!(phv[11], 0x11121314);
        let mut out = Vec::new();
        plan.store(&phv, &mut out);
        assert_eq!(out, frame);
    }

    #[test]
    fn fields_that_never_reach_a_byte_boundary_have_no_plan() {
        assert!(Plan::new([field(0, 4), field(1, 64), field(2, 4)].iter()).is_none());
        assert!(Plan::new([field(0, 7)].iter()).is_none());
    }
}
