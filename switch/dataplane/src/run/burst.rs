//! Prefixes of one field in a burst trie (Heinz, Zobel and Williams, ACM TOIS 2002): the longest one that matches wins.
//!
//! A node has a cell for each value of the next bits. Below a cell is another node, or a *container* of up to 32
//! prefixes. A container takes a few cache lines at most, and is scanned. A full container bursts: a node takes its
//! place, with containers below it for the prefixes. Half a million prefixes need two levels of nodes of 8 bits, which
//! fit into a cache. So a lookup waits for memory once in the trie, and once for the entry.
//!
//! A prefix that ends within the bits of a node is in the node itself. Each cell knows the longest of these prefixes
//! that covers it. So a lookup that finds no prefix further below need not go back.

use super::blocks::Blocks;
use super::key::PackedKey;
use super::rows::Rows;

/// Bits of an address. The first bit is the most significant one.
const ADDRESS_BITS: u32 = 128;

/// Kind of a node in the lower half of a cell.
///
/// The lower half of a cell refers to the block below it: 0 if there is none, else the start of the block in units of
/// two words, and its kind. Smaller kinds are containers of 2, 4, 8, 16 and 32 prefixes. The upper half is the slot,
/// plus 1, of the longest prefix that ends above and covers the whole cell.
const NODE: u32 = 6;
const KIND_BITS: u32 = 3;
const KIND: u32 = (1 << KIND_BITS) - 1;
const UNIT_WORDS: usize = 2;
/// The cell at the root, for all addresses. It holds the prefix of no bits.
const ROOT: usize = 0;

/// Memory reserved for an entry, in words: a little more than each of half a million entries needs.
const WORDS_AN_ENTRY: usize = 4;

/// Bits of a prefix that a container holds.
///
/// A container holds a prefix in one word: 24 bits of the prefix after the container's depth, then the number of bits
/// after this depth (8 bits), then the slot (32 bits). If a prefix has more than 24 bits after the depth, the word has
/// the last ones, because neighbours differ there; the others are compared with the row. Longer prefixes come first; a
/// word of 0 is empty.
const HELD_BITS: u32 = 24;
const MOST_HELD: usize = 32;

#[derive(Clone, Copy)]
struct Prefix {
    address: u128,
    length: u32,
    slot: u32,
}

pub(super) struct BurstTrie {
    width: u32,
    blocks: Blocks,
}

impl std::fmt::Debug for BurstTrie {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "BurstTrie of {} bits", self.width)
    }
}

/// Number of bits of a node at this depth.
#[inline]
fn stride(depth: u32) -> u32 {
    if depth < 16 { 8 } else { 4 }
}

/// `count` bits of an address, from a depth on.
#[inline]
fn bits(address: u128, depth: u32, count: u32) -> usize {
    (address << depth >> (ADDRESS_BITS - count)) as usize
}

#[inline]
fn upper(word: u64) -> u32 {
    (word >> 32) as u32
}

fn set_upper(word: &mut u64, value: u32) {
    *word = u64::from(value) << 32 | u64::from(*word as u32);
}

fn set_lower(word: &mut u64, value: u32) {
    *word = u64::from(upper(*word)) << 32 | u64::from(value);
}

/// The lower half of a cell, for a block at `start`.
fn reference(start: usize, kind: u32) -> u32 {
    let units = u32::try_from(start / UNIT_WORDS).ok();
    let shifted = units.filter(|units| units.leading_zeros() >= KIND_BITS);
    shifted.expect("less than 8 GiB of prefixes") << KIND_BITS | kind
}

#[inline]
fn start(below: u32) -> usize {
    (below >> KIND_BITS) as usize * UNIT_WORDS
}

/// Number of prefixes that fit into a container.
#[inline]
fn room(container: u32) -> usize {
    1 << (container & KIND)
}

fn hold(prefix: Prefix, depth: u32) -> u64 {
    let count = prefix.length - depth;
    let held = bits(prefix.address, depth + count.saturating_sub(HELD_BITS), HELD_BITS) as u64;
    (held << 8 | u64::from(count)) << 32 | u64::from(prefix.slot)
}

/// Number of bits of a prefix after the container's depth.
#[inline]
fn held_count(held: u64) -> u32 {
    upper(held) & 0xff
}

/// A node: its cells, then the slots (plus 1) of the prefixes that end in it, two in a word. The prefix with the `n`
/// bits `b` has the number `1 << n | b`. Number 0 counts the prefixes and blocks in and below the node.
#[derive(Clone, Copy)]
struct Node {
    start: usize,
    depth: u32,
}

impl Node {
    fn words(depth: u32) -> usize {
        2 << stride(depth)
    }

    fn end(self) -> u32 {
        self.depth + stride(self.depth)
    }

    /// Position of the cell of an address.
    #[inline]
    fn cell(self, address: u128) -> usize {
        self.start + bits(address, self.depth, stride(self.depth))
    }

    fn number(self, prefix: Prefix) -> usize {
        let count = prefix.length - self.depth;
        1 << count | bits(prefix.address, self.depth, count)
    }

    fn inside(self, blocks: &Blocks, number: usize) -> u32 {
        let word = blocks.word(self.start + (1 << stride(self.depth)) + number / 2);
        if number.is_multiple_of(2) {
            word as u32
        } else {
            upper(word)
        }
    }

    fn set_inside(self, blocks: &mut Blocks, number: usize, value: u32) {
        let word = blocks.word_mut(self.start + (1 << stride(self.depth)) + number / 2);
        if number.is_multiple_of(2) {
            set_lower(word, value);
        } else {
            set_upper(word, value);
        }
    }

    /// Changes the count of the node, and returns it.
    fn count(self, blocks: &mut Blocks, change: i32) -> u32 {
        let count = self.inside(blocks, 0).wrapping_add_signed(change);
        self.set_inside(blocks, 0, count);
        count
    }

    /// Stores a prefix (its slot plus 1) in the node, or removes it (0), and updates the cells that it covers.
    fn put(self, blocks: &mut Blocks, prefix: Prefix, value: u32) {
        let number = self.number(prefix);
        self.set_inside(blocks, number, value);
        let rest = self.end() - prefix.length;
        for leaf in number << rest..(number + 1) << rest {
            let around = std::iter::successors(Some(leaf), |number| Some(number / 2)).take_while(|&number| number > 1);
            let longest = around
                .map(|number| self.inside(blocks, number))
                .find(|&value| value != 0);
            let cell = self.start + leaf - (1 << stride(self.depth));
            set_upper(blocks.word_mut(cell), longest.unwrap_or(0));
        }
    }
}

impl BurstTrie {
    /// A trie for a field of at most 128 bits.
    pub fn new(width: u32) -> BurstTrie {
        let mut blocks = Blocks::default();
        assert_eq!(blocks.take(UNIT_WORDS), ROOT);
        BurstTrie { width, blocks }
    }

    /// Reserves memory for `entries` more entries.
    pub fn reserve(&mut self, entries: usize) {
        self.blocks.reserve(entries * WORDS_AN_ENTRY);
    }

    #[inline]
    pub fn find(&self, rows: &Rows, key: &[u64]) -> Option<u32> {
        let address = self.address(key);
        let (mut depth, mut longest) = (0, 0);
        let mut cell = self.blocks.word(ROOT);
        loop {
            if upper(cell) != 0 {
                longest = upper(cell);
            }
            match cell as u32 & KIND {
                0 => break,
                NODE => {
                    let start = start(cell as u32);
                    cell = self.blocks.word(Node { start, depth }.cell(address));
                    depth += stride(depth);
                }
                _ => {
                    if let Some(slot) = self.scan(rows, cell as u32, depth, address) {
                        return Some(slot);
                    }
                    break;
                }
            }
        }
        longest.checked_sub(1)
    }

    /// The longest prefix in a container.
    #[inline]
    fn scan(&self, rows: &Rows, container: u32, depth: u32, address: u128) -> Option<u32> {
        let next = bits(address, depth, u32::BITS) as u32;
        for line in self.blocks.lines(start(container), room(container)) {
            for &held in line {
                if held == 0 {
                    return None;
                }
                let (count, slot) = (held_count(held), held as u32);
                if count <= HELD_BITS {
                    if (upper(held) ^ next) >> (u32::BITS - count) == 0 {
                        return Some(slot);
                    }
                    continue;
                }
                let length = depth + count;
                let last = bits(address, length - HELD_BITS, HELD_BITS) as u32;
                let differs = || (address ^ self.address(rows.value(slot))) >> (ADDRESS_BITS - length) != 0;
                if upper(held) >> (u32::BITS - HELD_BITS) == last && !differs() {
                    return Some(slot);
                }
            }
        }
        None
    }

    pub fn position(&self, rows: &Rows, key: &PackedKey) -> Option<u32> {
        let prefix = self.prefix(key, 0);
        let mut depth = 0;
        let mut cell = self.blocks.word(ROOT);
        if prefix.length == 0 {
            return upper(cell).checked_sub(1);
        }
        loop {
            let below = cell as u32;
            if below & KIND != NODE {
                let wanted = hold(prefix, depth);
                let same = |held: &u64| {
                    upper(*held) == upper(wanted)
                        && (held_count(wanted) <= HELD_BITS || rows.value(*held as u32) == key.value)
                };
                return self.held(below).into_iter().find(same).map(|held| held as u32);
            }
            let start = start(below);
            let node = Node { start, depth };
            if prefix.length <= node.end() {
                return node.inside(&self.blocks, node.number(prefix)).checked_sub(1);
            }
            cell = self.blocks.word(node.cell(prefix.address));
            depth = node.end();
        }
    }

    /// Adds a new prefix. Its row exists already.
    pub fn link(&mut self, rows: &Rows, slot: u32, key: &PackedKey) {
        let prefix = self.prefix(key, slot);
        if prefix.length == 0 {
            set_upper(self.blocks.word_mut(ROOT), slot + 1);
        } else {
            self.add(rows, ROOT, 0, prefix);
        }
    }

    /// Adds a prefix that is longer than the depth of the cell.
    fn add(&mut self, rows: &Rows, cell: usize, depth: u32, prefix: Prefix) {
        let below = self.blocks.word(cell) as u32;
        if below & KIND == NODE {
            let start = start(below);
            let node = Node { start, depth };
            if prefix.length <= node.end() {
                node.put(&mut self.blocks, prefix, prefix.slot + 1);
                node.count(&mut self.blocks, 1);
                return;
            }
            let next = node.cell(prefix.address);
            if self.blocks.word(next) as u32 == 0 {
                node.count(&mut self.blocks, 1);
            }
            return self.add(rows, next, node.end(), prefix);
        }
        let mut held = self.held(below);
        if held.len() < MOST_HELD {
            let new = hold(prefix, depth);
            let at = held.partition_point(|&other| held_count(other) >= held_count(new));
            held.insert(at, new);
            self.fill(cell, &held);
        } else {
            self.fill(cell, &[]);
            let start = self.blocks.take(Node::words(depth));
            set_lower(self.blocks.word_mut(cell), reference(start, NODE));
            for held in held {
                let slot = held as u32;
                let (address, length) = (self.address(rows.value(slot)), depth + held_count(held));
                self.add(rows, cell, depth, Prefix { address, length, slot });
            }
            self.add(rows, cell, depth, prefix);
        }
    }

    /// Removes the prefix of a slot. Its row still exists.
    pub fn unlink(&mut self, rows: &Rows, slot: u32, length: u32) {
        let address = self.address(rows.value(slot));
        if length == 0 {
            set_upper(self.blocks.word_mut(ROOT), 0);
        } else {
            self.remove(ROOT, 0, Prefix { address, length, slot });
        }
    }

    /// Removes an existing prefix, and every block that becomes empty.
    fn remove(&mut self, cell: usize, depth: u32, prefix: Prefix) {
        let below = self.blocks.word(cell) as u32;
        if below & KIND != NODE {
            let mut held = self.held(below);
            held.retain(|&held| held as u32 != prefix.slot);
            return self.fill(cell, &held);
        }
        let start = start(below);
        let node = Node { start, depth };
        let gone = if prefix.length <= node.end() {
            node.put(&mut self.blocks, prefix, 0);
            true
        } else {
            let next = node.cell(prefix.address);
            self.remove(next, node.end(), prefix);
            self.blocks.word(next) as u32 == 0
        };
        if gone && node.count(&mut self.blocks, -1) == 0 {
            self.blocks.give_back(start, Node::words(depth));
            set_lower(self.blocks.word_mut(cell), 0);
        }
    }

    /// The prefixes in a container.
    fn held(&self, container: u32) -> Vec<u64> {
        let mut held = Vec::with_capacity(MOST_HELD);
        if container != 0 {
            let words = self.blocks.lines(start(container), room(container)).flatten();
            held.extend(words.copied().take_while(|&held| held != 0));
        }
        held
    }

    /// Stores prefixes in the container below a cell, or in another one that is large enough and not much too large.
    fn fill(&mut self, cell: usize, held: &[u64]) {
        let mut below = self.blocks.word(cell) as u32;
        let before = if below == 0 { 0 } else { room(below) };
        if held.len() > before || held.len() * 4 <= before {
            if before > 0 {
                self.blocks.give_back(start(below), before);
            }
            below = 0;
            if !held.is_empty() {
                let room = held.len().next_power_of_two().max(UNIT_WORDS);
                below = reference(self.blocks.take(room), room.ilog2());
            }
            set_lower(self.blocks.word_mut(cell), below);
        }
        if below != 0 {
            let padded = held.iter().copied().chain(std::iter::repeat(0));
            (start(below)..start(below) + room(below))
                .zip(padded)
                .for_each(|(at, held)| *self.blocks.word_mut(at) = held);
        }
    }

    fn prefix(&self, key: &PackedKey, slot: u32) -> Prefix {
        let (address, length) = (self.address(&key.value), key.prefix);
        Prefix { address, length, slot }
    }

    #[inline]
    fn address(&self, value: &[u64]) -> u128 {
        let high = value.get(1).copied().unwrap_or(0);
        (u128::from(high) << 64 | u128::from(value[0])) << (ADDRESS_BITS - self.width)
    }
}

#[cfg(test)]
mod tests;
