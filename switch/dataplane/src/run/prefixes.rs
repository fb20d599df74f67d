//! Entries with a prefix: the longest matching prefix wins.

use super::burst::BurstTrie;
use super::hashed::Hashed;
use super::intervals::Intervals;
use super::key::PackedKey;
use super::rows::Rows;

/// Most prefixes that are also kept as intervals. Each change of the table rebuilds the intervals.
const MAX_INTERVALS: usize = 256;

/// Prefixes of one field of at most 128 bits.
#[derive(Debug)]
pub(crate) struct Trie {
    width: u32,
    trie: BurstTrie,
    /// The same prefixes as intervals, while they are few and unchanged.
    intervals: Option<Intervals>,
}

impl Trie {
    pub fn new(width: u32) -> Trie {
        let (trie, intervals) = (BurstTrie::new(width), None);
        Trie { width, trie, intervals }
    }

    /// Reserves memory for `entries` more entries.
    pub fn reserve(&mut self, entries: usize) {
        self.trie.reserve(entries);
    }

    /// True if lookups would be faster with intervals.
    #[inline]
    pub fn lacks_intervals(&self, entries: usize) -> bool {
        self.intervals.is_none() && entries <= MAX_INTERVALS && self.width <= 64
    }

    /// Builds the intervals of all prefixes: value, length and slot of each.
    pub fn make_intervals(&mut self, prefixes: Vec<(u64, u32, u32)>) {
        self.intervals = Some(Intervals::new(self.width, prefixes));
    }

    #[inline]
    pub fn find(&self, rows: &Rows, key: &[u64]) -> Option<u32> {
        match &self.intervals {
            Some(intervals) => intervals.find(key[0]),
            None => self.trie.find(rows, key),
        }
    }

    pub fn position(&self, rows: &Rows, key: &PackedKey) -> Option<u32> {
        self.trie.position(rows, key)
    }

    pub fn link(&mut self, rows: &Rows, slot: u32, key: &PackedKey) {
        self.intervals = None;
        self.trie.link(rows, slot, key);
    }

    pub fn unlink(&mut self, rows: &Rows, slot: u32, length: u32) {
        self.intervals = None;
        self.trie.unlink(rows, slot, length);
    }
}

/// Entries with a prefix and other fields: a hash table for each used length, the longest first.
#[derive(Debug, Default)]
pub(crate) struct Lengths(Vec<Length>);

#[derive(Debug)]
struct Length {
    prefix: u32,
    mask: Vec<u64>,
    hashed: Hashed,
}

impl Lengths {
    #[inline]
    pub fn find(&self, rows: &Rows, key: &mut [u64]) -> Option<u32> {
        // The mask shrinks from one length to the next, so the key can be cut in place.
        self.0.iter().find_map(|length| {
            key.iter_mut().zip(&length.mask).for_each(|(k, m)| *k &= m);
            length.hashed.find(rows, key)
        })
    }

    pub fn position(&self, rows: &Rows, key: &PackedKey) -> Option<u32> {
        let length = self.0.iter().find(|length| length.prefix == key.prefix)?;
        length.hashed.find(rows, &key.value)
    }

    pub fn link(&mut self, rows: &Rows, slot: u32, key: &PackedKey) {
        let at = self.0.partition_point(|length| length.prefix > key.prefix);
        if self.0.get(at).is_none_or(|length| length.prefix != key.prefix) {
            let (prefix, mask, hashed) = (key.prefix, key.mask.clone(), Hashed::default());
            self.0.insert(at, Length { prefix, mask, hashed });
        }
        self.0[at].hashed.add(rows, slot);
    }

    pub fn unlink(&mut self, rows: &Rows, slot: u32, prefix: u32) {
        let Some(at) = self.0.iter().position(|length| length.prefix == prefix) else {
            return;
        };
        let hashed = &mut self.0[at].hashed;
        hashed.remove(rows, slot);
        if hashed.is_empty() {
            self.0.remove(at);
        }
    }
}
