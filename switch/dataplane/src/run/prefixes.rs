//! Entries with a prefix: the longest one that matches wins.

use std::net::{Ipv4Addr, Ipv6Addr};

use ip_network_table_deps_treebitmap::IpLookupTable;

use super::hashed::Hashed;
use super::intervals::Intervals;
use super::key::PackedKey;
use super::rows::Rows;

/// Prefixes that are also kept as intervals. Each change of the table makes them anew.
const MAX_INTERVALS: usize = 256;

/// Prefixes of one field of at most 128 bits, in a tree bitmap (Eatherton, Varghese and Dittia, CCR 2004). The field is
/// the upper end of an address.
pub(crate) struct Trie {
    width: u32,
    tree: Tree,
    /// The same as intervals, while they are few and have not changed.
    intervals: Option<Intervals>,
}

enum Tree {
    Short(IpLookupTable<Ipv4Addr, u32>),
    Long(IpLookupTable<Ipv6Addr, u32>),
}

impl std::fmt::Debug for Trie {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Trie of {} bits", self.width)
    }
}

impl Trie {
    pub fn new(width: u32) -> Trie {
        let tree = if width <= 32 {
            Tree::Short(IpLookupTable::new())
        } else {
            Tree::Long(IpLookupTable::new())
        };
        let intervals = None;
        Trie { width, tree, intervals }
    }

    /// Whether it would be faster with intervals.
    #[inline]
    pub fn lacks_intervals(&self, entries: usize) -> bool {
        self.intervals.is_none() && entries <= MAX_INTERVALS && self.width <= 64
    }

    /// Takes all prefixes as intervals too: value, length and slot of each.
    pub fn make_intervals(&mut self, prefixes: Vec<(u64, u32, u32)>) {
        self.intervals = Some(Intervals::new(self.width, prefixes));
    }

    #[inline]
    pub fn find(&self, key: &[u64]) -> Option<u32> {
        if let Some(intervals) = &self.intervals {
            return intervals.find(key[0]);
        }
        match &self.tree {
            Tree::Short(tree) => tree.longest_match(self.short(key)).map(|(_, _, &slot)| slot),
            Tree::Long(tree) => tree.longest_match(self.long(key)).map(|(_, _, &slot)| slot),
        }
    }

    pub fn position(&self, key: &PackedKey) -> Option<u32> {
        let slot = match &self.tree {
            Tree::Short(tree) => tree.exact_match(self.short(&key.value), key.prefix),
            Tree::Long(tree) => tree.exact_match(self.long(&key.value), key.prefix),
        };
        slot.copied()
    }

    pub fn link(&mut self, slot: u32, key: &PackedKey) {
        self.intervals = None;
        let (short, long) = (self.short(&key.value), self.long(&key.value));
        match &mut self.tree {
            Tree::Short(tree) => tree.insert(short, key.prefix, slot),
            Tree::Long(tree) => tree.insert(long, key.prefix, slot),
        };
    }

    pub fn unlink(&mut self, value: &[u64], prefix: u32) {
        self.intervals = None;
        let (short, long) = (self.short(value), self.long(value));
        match &mut self.tree {
            Tree::Short(tree) => tree.remove(short, prefix),
            Tree::Long(tree) => tree.remove(long, prefix),
        };
    }

    fn short(&self, value: &[u64]) -> Ipv4Addr {
        let unused = 32u32.saturating_sub(self.width);
        Ipv4Addr::from((value[0] as u32).checked_shl(unused).unwrap_or(0))
    }

    fn long(&self, value: &[u64]) -> Ipv6Addr {
        let high = value.get(1).copied().unwrap_or(0);
        let value = u128::from(high) << 64 | u128::from(value[0]);
        Ipv6Addr::from(value.checked_shl(128 - self.width).unwrap_or(0))
    }
}

/// Entries with a prefix and other fields: a hash table for each length in use, the longest first.
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
        // Masks shrink from one length to the next, so the key can be cut in place.
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
