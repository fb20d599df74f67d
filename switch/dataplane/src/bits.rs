//! Values of any width as 64-bit words, least significant word first; conversion to and from bits in network order.

/// Number of words for a value of `width` bits.
pub(crate) fn words(width: u32) -> usize {
    width.div_ceil(64).max(1) as usize
}

/// All ones in the low `width` bits; all ones for 64 and more.
pub(crate) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1u64 << width) - 1 }
}

/// Clears the bits of the last word beyond `width`.
pub(crate) fn cut(width: u32, out: &mut [u64]) {
    if width == 0 {
        out.fill(0);
    } else if !width.is_multiple_of(64)
        && let Some(last) = out.get_mut((width / 64) as usize)
    {
        *last &= (1 << (width % 64)) - 1;
    }
}

/// Reads `width` bits that start `offset` bits into `bytes` (big-endian) into words, least significant first. The
/// caller has checked that the bits exist.
pub(crate) fn read(bytes: &[u8], offset: usize, width: u32, out: &mut [u64]) {
    let (first, last) = (offset, offset + width as usize);
    for (index, word) in out.iter_mut().enumerate() {
        // Words are filled from the least significant one, which is at the end of the bits.
        let end = last.saturating_sub(64 * index).max(first);
        let start = end.saturating_sub(64).max(first);
        *word = read_word(bytes, start, end);
    }
}

/// The bits from `start` to `end`; at most 64.
#[inline]
pub(crate) fn read_word(bytes: &[u8], start: usize, end: usize) -> u64 {
    if start == end {
        return 0;
    }
    let (from, to) = (start / 8, end.div_ceil(8));
    // Except near the end of the frame, one load has all the bits.
    if end - from * 8 <= 64
        && let Some(eight) = bytes.get(from..).and_then(|rest| rest.first_chunk::<8>())
    {
        let shifted = u64::from_be_bytes(*eight) >> (from * 8 + 64 - end);
        return shifted & mask((end - start) as u32);
    }
    let spare = to * 8 - end;
    if to - from <= 8 {
        let mut parts = [0; 8];
        parts[8 - (to - from)..].copy_from_slice(&bytes[from..to]);
        (u64::from_be_bytes(parts) >> spare) & mask((end - start) as u32)
    } else {
        // Nine bytes hold 64 bits that start inside a byte.
        let mut parts = [0; 16];
        parts[7..].copy_from_slice(&bytes[from..to]);
        (u128::from_be_bytes(parts) >> spare) as u64 & mask((end - start) as u32)
    }
}

/// Appends fields bit by bit to a byte buffer.
pub(crate) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Bits not yet written, in the low bits.
    pending: u64,
    count: u32,
}

impl<'a> Writer<'a> {
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Writer {
            out,
            pending: 0,
            count: 0,
        }
    }

    /// Appends the low `width` (at most 64) bits of `value`. All other bits of `value` are 0.
    #[inline]
    pub fn word(&mut self, value: u64, width: u32) {
        if self.count == 0 && width.is_multiple_of(8) {
            let bytes = value.to_be_bytes();
            self.out.extend_from_slice(&bytes[8 - (width / 8) as usize..]);
        } else if self.count + width <= 64 {
            self.pending = if width == 64 {
                value
            } else {
                self.pending << width | value
            };
            self.count += width;
            while self.count >= 8 {
                self.count -= 8;
                self.out.push((self.pending >> self.count) as u8);
            }
        } else {
            // count < 8, so half the width fits each time.
            let low = width / 2;
            self.word(value >> low, width - low);
            self.word(value & mask(low), low);
        }
    }

    /// Appends a field of any width, given as words, least significant first.
    pub fn field(&mut self, value: &[u64], width: u32) {
        let top = width % 64;
        let mut index = (width / 64) as usize;
        if top != 0 {
            self.word(value[index] & mask(top), top);
        }
        while index > 0 {
            index -= 1;
            self.word(value[index], 64);
        }
    }

    /// The buffer, for whole bytes while no bits are pending.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Fills the rest of the last byte with zero bits.
    pub fn finish(mut self) {
        if self.count > 0 {
            let width = 8 - self.count;
            self.word(0, width);
        }
    }
}

/// Words, least significant first, from big-endian bytes; `None` if a bit beyond `width` is set.
pub(crate) fn from_bytes(bytes: &[u8], width: u32) -> Option<Vec<u64>> {
    let mut out = vec![0u64; words(width)];
    for (index, &byte) in bytes.iter().rev().enumerate() {
        match out.get_mut(index / 8) {
            Some(word) => *word |= u64::from(byte) << (index % 8 * 8),
            None if byte == 0 => {}
            None => return None,
        }
    }
    let given = out.last().copied();
    cut(width, &mut out);
    (given == out.last().copied()).then_some(out)
}

/// Big-endian bytes of a value in words, as many as `width` needs.
pub(crate) fn to_bytes(value: &[u64], width: u32) -> Vec<u8> {
    let length = width.div_ceil(8) as usize;
    (0..length)
        .rev()
        .map(|index| (value[index / 8] >> (index % 8 * 8)) as u8)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let widths = [4u32, 4, 8, 13, 3, 64, 1, 48, 15, 100, 128, 36, 7, 5];
        let total: u32 = widths.iter().sum();
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        let value = |seed: u32, width: u32| {
            let mut v: Vec<u64> = (0..words(width))
                .map(|i| 0x9e3779b97f4a7c15u64.rotate_left(seed + i as u32))
                .collect();
            cut(width, &mut v);
            v
        };
        for (seed, &width) in widths.iter().enumerate() {
            writer.field(&value(seed as u32, width), width);
        }
        writer.finish();
        assert_eq!(bytes.len(), total.div_ceil(8) as usize);
        let mut offset = 0;
        for (seed, &width) in widths.iter().enumerate() {
            let mut out = vec![0; words(width)];
            read(&bytes, offset, width, &mut out);
            assert_eq!(out, value(seed as u32, width), "field {seed} of {width} bits");
            offset += width as usize;
        }
    }

    #[test]
    fn bytes_wider_than_the_field_are_refused() {
        assert_eq!(from_bytes(&[0, 0, 1, 0xff], 9), Some(vec![0x1ff]));
        assert_eq!(from_bytes(&[2, 0], 9), None);
        assert_eq!(from_bytes(&[1; 9], 64), None);
        assert_eq!(to_bytes(&[0x1ff], 9), [1, 0xff]);
    }
}
