//! Slots by the hashes of their keys, for any number of slots.
//!
//! This is linear hashing (Litwin, VLDB 1980). There are many small hash tables, called parts. When they are full, the
//! next part is split. So the slowest insertion moves some hundred slots; one large table would have to move all of
//! them.
//!
//! In a large table, a lookup waits for memory. So it reads one bucket, which has the slot and the needed bits of its
//! hash. Keys are compared in their rows, which the processor reads at the same time as the entry.

use super::rows::Rows;

/// Mean number of slots in a part at which the next part is split.
const FULL: usize = 384;
const FEWEST_BUCKETS: usize = 16;
/// Number of bits of a hash that choose the part.
const PART_BITS: u32 = 16;

#[derive(Debug)]
pub(super) struct Hashed {
    /// Never empty.
    parts: Vec<Part>,
    slots: usize,
}

impl Default for Hashed {
    fn default() -> Hashed {
        Hashed {
            parts: vec![Part::default()],
            slots: 0,
        }
    }
}

impl Hashed {
    pub fn is_empty(&self) -> bool {
        self.slots == 0
    }

    #[inline]
    pub fn find(&self, rows: &Rows, key: &[u64]) -> Option<u32> {
        let hash = upper(hash(key));
        let part = &self.parts[self.part(hash)];
        part.find(hash, |slot| same(rows.value(slot), key))
            .map(|at| part.buckets[at].slot)
    }

    /// Adds a slot with a new key. Its row exists already.
    pub fn add(&mut self, rows: &Rows, slot: u32) {
        let hash = upper(hash(rows.value(slot)));
        let part = self.part(hash);
        self.parts[part].add(Bucket { hash, slot });
        self.slots += 1;
        if self.slots > FULL * self.parts.len() && self.parts.len() < 1 << PART_BITS {
            self.split();
        }
    }

    /// Removes a slot. Its row still exists.
    pub fn remove(&mut self, rows: &Rows, slot: u32) {
        let hash = upper(hash(rows.value(slot)));
        let part = self.part(hash);
        if let Some(at) = self.parts[part].find(hash, |other| other == slot) {
            self.parts[part].remove(at);
            self.slots -= 1;
        }
    }

    /// Splits one part: moves some of its slots to a new part.
    fn split(&mut self) {
        let new = self.parts.len();
        let old = new - (new + 1).next_power_of_two() / 2;
        self.parts.push(Part::default());
        for bucket in std::mem::take(&mut self.parts[old]).used() {
            let part = self.part(bucket.hash);
            self.parts[part].add(bucket);
        }
    }

    #[inline]
    fn part(&self, hash: u32) -> usize {
        let all = self.parts.len().next_power_of_two();
        let part = (hash >> (u32::BITS - PART_BITS)) as usize & (all - 1);
        // This part has not been split off yet.
        if part < self.parts.len() { part } else { part - all / 2 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    hash: u32,
    slot: u32,
}

const EMPTY: Bucket = Bucket {
    hash: u32::MAX,
    slot: u32::MAX,
};

/// A hash table with linear probing. A search starts at the bucket given by the low bits of the hash.
#[derive(Debug)]
struct Part {
    /// Their number is a power of two; a quarter of them are empty.
    buckets: Box<[Bucket]>,
    used: usize,
}

impl Default for Part {
    fn default() -> Part {
        Part::new(FEWEST_BUCKETS)
    }
}

impl Part {
    fn new(buckets: usize) -> Part {
        Part {
            buckets: vec![EMPTY; buckets].into(),
            used: 0,
        }
    }

    /// The bucket of the slot with this hash for which `is_it` returns true.
    #[inline]
    fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<usize> {
        let last = self.buckets.len() - 1;
        let mut at = hash as usize & last;
        loop {
            let bucket = self.buckets[at];
            if bucket == EMPTY {
                return None;
            }
            if bucket.hash == hash && is_it(bucket.slot) {
                return Some(at);
            }
            at = (at + 1) & last;
        }
    }

    fn add(&mut self, new: Bucket) {
        if (self.used + 1) * 4 > self.buckets.len() * 3 {
            let larger = Part::new(2 * self.buckets.len());
            std::mem::replace(self, larger)
                .used()
                .for_each(|bucket| self.put(bucket));
        }
        self.put(new);
    }

    fn put(&mut self, new: Bucket) {
        let last = self.buckets.len() - 1;
        let mut at = new.hash as usize & last;
        while self.buckets[at] != EMPTY {
            at = (at + 1) & last;
        }
        self.buckets[at] = new;
        self.used += 1;
    }

    /// Empties a bucket, and moves later buckets nearer to the starts of their searches.
    fn remove(&mut self, at: usize) {
        let last = self.buckets.len() - 1;
        let (mut hole, mut at) = (at, at);
        loop {
            at = (at + 1) & last;
            let bucket = self.buckets[at];
            if bucket == EMPTY {
                break;
            }
            let from_begin = at.wrapping_sub(bucket.hash as usize) & last;
            if from_begin >= at.wrapping_sub(hole) & last {
                self.buckets[hole] = bucket;
                hole = at;
            }
        }
        self.buckets[hole] = EMPTY;
        self.used -= 1;
    }

    fn used(&self) -> impl Iterator<Item = Bucket> {
        self.buckets.iter().copied().filter(|bucket| *bucket != EMPTY)
    }
}

#[inline]
fn upper(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// True if keys are equal. Keys have few words, so calling a compare function would take longer.
#[inline]
pub(super) fn same(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// A fast hash of words. It combines both halves of a product, so each bit depends on all bits of the key. It need not
/// resist attacks: keys come from the controller, not from packets.
#[inline]
pub(super) fn hash(key: &[u64]) -> u64 {
    key.iter().fold(0, |hash: u64, &word| {
        let product = u128::from(hash.rotate_left(5) ^ word) * 0x9e37_79b9_7f4a_7c15;
        product as u64 ^ (product >> 64) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::key::PackedKey;

    fn rows(keys: impl ExactSizeIterator<Item = u64>) -> Rows {
        let mut rows = Rows::new(1, false);
        rows.resize(keys.len());
        for (slot, key) in (0..).zip(keys) {
            let (value, mask) = (vec![key], vec![u64::MAX]);
            rows.set(slot, &PackedKey { value, mask, prefix: 0 });
        }
        rows
    }

    /// Keys that differ in their low bits, or only in their high ones.
    #[test]
    fn every_slot_is_found_at_every_size() {
        for shift in [0, 48] {
            let count = 11 * FULL as u32;
            let rows = rows((0..count as usize).map(|key| (key as u64) << shift));
            let mut hashed = Hashed::default();
            let found = |hashed: &Hashed, slot: u32| hashed.find(&rows, rows.value(slot));
            for slot in 0..count {
                assert_eq!(found(&hashed, slot), None);
                hashed.add(&rows, slot);
                // Around each split.
                if slot as usize % FULL < 2 {
                    assert!((0..=slot).all(|slot| found(&hashed, slot) == Some(slot)));
                }
            }
            for slot in (0..count).step_by(2) {
                hashed.remove(&rows, slot);
            }
            assert!((0..count).all(|slot| found(&hashed, slot) == (slot % 2 == 1).then_some(slot)));
            (0..count).for_each(|slot| hashed.remove(&rows, slot));
            assert!(hashed.is_empty() && hashed.parts.iter().all(|part| part.used().next().is_none()));
        }
    }

    #[test]
    fn no_part_becomes_much_larger_than_the_others() {
        let count = 64 * FULL as u32;
        for shift in [0, 16, 48] {
            let rows = rows((0..count as usize).map(|key| (key as u64) << shift));
            let mut hashed = Hashed::default();
            (0..count).for_each(|slot| hashed.add(&rows, slot));
            assert_eq!(hashed.parts.len(), 64);
            let largest = hashed.parts.iter().map(|part| part.used).max();
            assert!(largest < Some(2 * FULL), "{largest:?}, keys shifted by {shift}");
        }
    }
}
