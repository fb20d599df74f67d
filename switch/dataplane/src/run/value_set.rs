//! Parser value sets.

use crate::bits::{self, words};

/// A parser value set. The control plane writes its members; they are split like the key of each state that uses them.
#[derive(Debug)]
pub(crate) struct ValueSet {
    pub name: String,
    pub width: u32,
    /// Widths of a state's key, and the members split by these widths.
    pub uses: Vec<(Vec<u32>, Vec<SetMember>)>,
}

/// A member of a value set: the words of a key, and a mask of their bits.
#[derive(Debug)]
pub(crate) struct SetMember {
    pub value: Vec<u64>,
    pub mask: Vec<u64>,
}

impl ValueSet {
    /// Replaces the members, given as values and masks.
    pub fn write(&mut self, members: &[(Vec<u8>, Vec<u8>)]) {
        let length = self.width.div_ceil(8) as usize;
        for (widths, split) in &mut self.uses {
            split.clear();
            let words_of = |bytes: &[u8]| {
                let mut padded = vec![0; length.saturating_sub(bytes.len())];
                padded.extend_from_slice(&bytes[bytes.len().saturating_sub(length)..]);
                let mut at = length * 8 - self.width as usize;
                let mut key = Vec::new();
                for &width in widths.iter() {
                    let start = key.len();
                    key.resize(start + words(width), 0);
                    bits::read(&padded, at, width, &mut key[start..]);
                    at += width as usize;
                }
                key
            };
            for (value, mask) in members {
                let (value, mask) = (words_of(value), words_of(mask));
                split.push(SetMember { value, mask });
            }
        }
    }
}
