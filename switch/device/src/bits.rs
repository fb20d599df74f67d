//! Bit strings whose fields do not end at byte boundaries.

/// Builds a bit string from fields of any width.
#[derive(Debug, Clone, Default)]
pub struct Writer {
    bits: Vec<bool>,
}

impl Writer {
    /// Appends the low `width` bits of a big-endian value.
    pub fn push(&mut self, value: &[u8], width: u32) {
        let have = value.len() as u32 * 8;
        self.bits.extend((0..width).map(|position| {
            let from_end = width - 1 - position;
            from_end < have && value[value.len() - 1 - (from_end / 8) as usize] >> (from_end % 8) & 1 == 1
        }));
    }

    /// The bits as bytes; the last byte is filled with zeros.
    pub fn left_aligned(self) -> Vec<u8> {
        let byte = |bits: &[bool]| {
            bits.iter()
                .enumerate()
                .fold(0, |byte, (i, &bit)| byte | u8::from(bit) << (7 - i))
        };
        self.bits.chunks(8).map(byte).collect()
    }

    /// The bits as a big-endian number; the first byte is filled with zeros.
    pub fn right_aligned(mut self) -> Vec<u8> {
        let fill = self.bits.len().next_multiple_of(8) - self.bits.len();
        self.bits.splice(0..0, std::iter::repeat_n(false, fill));
        self.left_aligned()
    }
}

/// The `width` bits that begin at bit `start`, as a big-endian number; bits past the end are 0.
pub fn slice(bytes: &[u8], start: usize, width: u32) -> Vec<u8> {
    let mut writer = Writer::default();
    for position in start..start + width as usize {
        let byte = bytes.get(position / 8).copied().unwrap_or(0);
        writer.push(&[byte >> (7 - position % 8)], 1);
    }
    writer.right_aligned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_each_other_without_gaps() {
        let mut writer = Writer::default();
        writer.push(&[0x01, 0x02], 9);
        writer.push(&[0x05], 7);
        writer.push(&[0xff], 4);
        assert_eq!(writer.left_aligned(), [0b1000_0001, 0b0000_0101, 0b1111_0000]);
        assert_eq!(slice(&[0b1000_0001, 0b0000_0101, 0xf0], 0, 9), [1, 2]);
        assert_eq!(slice(&[0b1000_0001, 0b0000_0101, 0xf0], 9, 7), [5]);
    }

    #[test]
    fn a_number_is_filled_in_front() {
        let mut writer = Writer::default();
        writer.push(&[0x01], 4);
        writer.push(&[0x23], 8);
        assert_eq!(writer.right_aligned(), [0x01, 0x23]);
    }
}
