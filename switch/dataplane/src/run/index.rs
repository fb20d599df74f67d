//! Finds the entry of a key; the method depends on the match kinds of the key's fields.

use super::hashed::Hashed;
use super::key::{KeySpec, PackedKey};
use super::prefixes::{Lengths, Trie};
use super::rows::Rows;
use super::ternary::Ternary;
use crate::bits::words;
use crate::values::MatchKind;

#[derive(Debug)]
pub(crate) enum Index {
    /// No key: no entry ever matches.
    Nothing,
    Exact(Hashed),
    /// One prefix and no other field.
    Trie(Box<Trie>),
    /// A prefix and exact fields.
    Lengths(Lengths),
    Ternary(Ternary),
}

impl Index {
    /// `scanned`: entries have priorities, regardless of the match kinds.
    pub fn new(specs: &[KeySpec], scanned: bool) -> Index {
        let needs_priority =
            |spec: &KeySpec| matches!(spec.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional);
        if specs.is_empty() {
            return Index::Nothing;
        }
        if scanned || specs.iter().any(needs_priority) {
            return Index::Ternary(Ternary::new(specs));
        }
        match specs {
            [spec] if spec.kind == MatchKind::Lpm && words(spec.width) <= 2 => {
                Index::Trie(Box::new(Trie::new(spec.width)))
            }
            specs if specs.iter().any(|spec| spec.kind == MatchKind::Lpm) => Index::Lengths(Lengths::default()),
            _ => Index::Exact(Hashed::default()),
        }
    }

    /// Reserves memory for `entries` more entries, in indices that would otherwise have to move.
    pub fn reserve(&mut self, entries: usize) {
        if let Index::Trie(trie) = self {
            trie.reserve(entries);
        }
    }

    /// Slot of the entry that matches a key. The key is overwritten.
    #[inline]
    pub fn find(&self, rows: &Rows, key: &mut Vec<u64>) -> Option<u32> {
        match self {
            Index::Nothing => None,
            Index::Exact(hashed) => hashed.find(rows, key),
            Index::Trie(trie) => trie.find(rows, key),
            Index::Lengths(lengths) => lengths.find(rows, key),
            Index::Ternary(ternary) => {
                let stride = key.len();
                key.resize(2 * stride, 0);
                let (key, masked) = key.split_at_mut(stride);
                ternary.find(rows, key, masked)
            }
        }
    }

    /// Same as [`Index::find`], for a key of one word.
    #[inline]
    pub fn find_one(&self, rows: &Rows, key: u64) -> Option<u32> {
        match self {
            Index::Nothing => None,
            Index::Exact(hashed) => hashed.find(rows, &[key]),
            Index::Trie(trie) => trie.find(rows, &[key]),
            Index::Lengths(lengths) => lengths.find(rows, &mut [key]),
            Index::Ternary(ternary) => ternary.find(rows, &[key], &mut [0]),
        }
    }

    /// Slot of the entry with exactly this key (and priority).
    pub fn position(&self, rows: &Rows, key: &PackedKey, priority: i32) -> Option<u32> {
        match self {
            Index::Nothing => None,
            Index::Exact(hashed) => hashed.find(rows, &key.value),
            Index::Trie(trie) => trie.position(rows, key),
            Index::Lengths(lengths) => lengths.position(rows, key),
            Index::Ternary(ternary) => ternary.position(rows, key, priority),
        }
    }

    /// Adds a slot. Its row exists already.
    pub fn link(&mut self, rows: &Rows, slot: u32, key: &PackedKey, priority: i32) {
        match self {
            Index::Nothing => {}
            Index::Exact(hashed) => hashed.add(rows, slot),
            Index::Trie(trie) => trie.link(rows, slot, key),
            Index::Lengths(lengths) => lengths.link(rows, slot, key),
            Index::Ternary(ternary) => ternary.link(rows, slot, priority),
        }
    }

    /// Removes a slot. Its row still exists. `prefix`: length of its prefix, if it has one; `left`: number of remaining
    /// entries.
    pub fn unlink(&mut self, rows: &Rows, slot: u32, prefix: u32, priority: i32, left: usize) {
        match self {
            Index::Nothing => {}
            Index::Exact(hashed) => hashed.remove(rows, slot),
            Index::Trie(trie) => trie.unlink(rows, slot, prefix),
            Index::Lengths(lengths) => lengths.unlink(rows, slot, prefix),
            Index::Ternary(ternary) => ternary.unlink(rows, slot, priority, left),
        }
    }
}
