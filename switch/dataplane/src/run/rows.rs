//! The keys of a table's entries, side by side in one allocation.

use super::key::PackedKey;

/// Keys by slot: value and, in a table with priorities, mask (or upper bound), word by word.
#[derive(Debug)]
pub(crate) struct Rows {
    words: Vec<u64>,
    /// Words of one key.
    pub stride: usize,
    /// Words of one slot: those of the key, and as many again if there are masks.
    width: usize,
}

impl Rows {
    pub fn new(stride: usize, with_masks: bool) -> Rows {
        let width = if with_masks { 2 * stride } else { stride };
        let words = Vec::new();
        Rows { words, stride, width }
    }

    /// Reserves memory for `slots` more slots.
    pub fn reserve(&mut self, slots: usize) {
        self.words.reserve_exact(slots * self.width);
    }

    pub fn resize(&mut self, slots: usize) {
        self.words.resize(slots * self.width, 0);
    }

    pub fn set(&mut self, slot: u32, key: &PackedKey) {
        let row = &mut self.words[slot as usize * self.width..][..self.width];
        let (value, mask) = row.split_at_mut(self.stride);
        value.copy_from_slice(&key.value);
        if !mask.is_empty() {
            mask.copy_from_slice(&key.mask);
        }
    }

    #[inline]
    pub fn value(&self, slot: u32) -> &[u64] {
        &self.words[slot as usize * self.width..][..self.stride]
    }

    /// Value, and mask or upper bound; only if there are masks.
    #[inline]
    pub fn pair(&self, slot: u32) -> (&[u64], &[u64]) {
        self.words[slot as usize * self.width..][..self.width].split_at(self.stride)
    }
}
