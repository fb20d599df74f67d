//! Entries that overlap and have priorities: ternary, optional and range fields.
//!
//! A few entries are compared one by one, the most urgent first. More entries are found by tuple space search
//! (Srinivasan, Suri and Varghese, SIGCOMM 1999): all entries with the same mask are in one hash table, and a lookup
//! searches one table after another, beginning with that of the most urgent entry. So the cost grows with the number of
//! different masks, not with the number of entries.
//!
//! Entries with the same mask and value can differ in their ranges and priorities. If there are many of them, they get
//! a tuple space of their own: the first range field is cut into prefixes (at most 2w - 2 for a field of w bits), and
//! each prefix is a mask. All further range fields are compared.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use hashbrown::HashTable;

use super::hashed::{hash, same};
use super::key::{KeySpec, PackedKey};
use super::rows::Rows;
use crate::bits::words;
use crate::values::MatchKind;

/// Most entries for which a scan is faster than hashing.
const MAX_SCANNED: usize = 32;
/// Number of entries at which hashing ends. It is smaller than [`MAX_SCANNED`], so that one entry that is added and
/// removed does not rebuild the index each time.
const MIN_HASHED: usize = 16;

/// Finds the most urgent matching entry; among equally urgent ones, the first added.
#[derive(Debug)]
pub(crate) struct Ternary {
    fields: Vec<Field>,
    /// Word of the range field that is cut into prefixes.
    cut: Option<usize>,
    /// Number of entries ever added.
    added: u64,
    order: Order,
}

/// Place of a field in the key. It is a range, or else has a mask.
#[derive(Debug)]
struct Field {
    words: Range<usize>,
    is_range: bool,
}

#[derive(Debug)]
enum Order {
    /// Entries, the most urgent first.
    Scan(Vec<Ranked>),
    Tuples(Space),
}

/// An entry and its order among others.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    priority: i32,
    slot: u32,
    /// Number of entries added before it.
    before: u64,
}

impl Ranked {
    /// Order of urgency; smaller is more urgent.
    fn rank(&self) -> (Reverse<i32>, u64) {
        (Reverse(self.priority), self.before)
    }
}

fn insert_ranked(list: &mut Vec<Ranked>, new: Ranked) {
    let at = list.partition_point(|other| other.rank() < new.rank());
    list.insert(at, new);
}

/// One hash table for each mask, beginning with that of the most urgent entry.
#[derive(Debug, Default)]
struct Space(Vec<Tuple>);

/// The entries with one mask.
#[derive(Debug)]
struct Tuple {
    mask: Box<[u64]>,
    /// Number of entries of each priority.
    priorities: BTreeMap<i32, usize>,
    /// Priority of its most urgent entry.
    best: i32,
    buckets: HashTable<Bucket>,
}

/// The entries with the same mask and the same masked value.
#[derive(Debug)]
struct Bucket {
    value: Box<[u64]>,
    entries: Content,
}

#[derive(Debug)]
enum Content {
    /// Entries, the most urgent first.
    List(Vec<Ranked>),
    /// Entries by prefixes of the range field that is cut, and their number.
    ByRange(Space, usize),
}

impl Ternary {
    pub fn new(specs: &[KeySpec]) -> Ternary {
        let mut at = 0;
        let field = |spec: &KeySpec| {
            let words = at..at + words(spec.width);
            at = words.end;
            let is_range = spec.kind == MatchKind::Range;
            Field { words, is_range }
        };
        let fields: Vec<Field> = specs.iter().map(field).collect();
        let cut = fields.iter().find(|field| field.is_range && field.words.len() == 1);
        Ternary {
            cut: cut.map(|field| field.words.start),
            fields,
            added: 0,
            order: Order::Scan(Vec::new()),
        }
    }

    /// Slot of the most urgent matching entry. `masked`: a buffer for another key.
    #[inline]
    pub fn find(&self, rows: &Rows, key: &[u64], masked: &mut [u64]) -> Option<u32> {
        let found = match &self.order {
            Order::Scan(order) => order
                .iter()
                .find(|ranked| self.matches(rows, ranked.slot, key))
                .copied(),
            Order::Tuples(space) => space.find(key, masked, |bucket, masked| match &bucket.entries {
                Content::List(list) => list
                    .iter()
                    .find(|ranked| self.is_within(rows, ranked.slot, key))
                    .copied(),
                Content::ByRange(space, _) => {
                    let at = self.cut.unwrap_or(0);
                    let within = |bucket: &Bucket, _: &mut [u64]| match &bucket.entries {
                        Content::List(list) => list
                            .iter()
                            .find(|ranked| self.is_within(rows, ranked.slot, key))
                            .copied(),
                        Content::ByRange(..) => None,
                    };
                    space.find(&key[at..=at], &mut masked[at..=at], within)
                }
            }),
        };
        found.map(|ranked| ranked.slot)
    }

    /// True if a key has the values of an entry under its masks, and is within its ranges.
    #[inline]
    fn matches(&self, rows: &Rows, slot: u32, key: &[u64]) -> bool {
        let (value, mask) = rows.pair(slot);
        let under = |span: Range<usize>| {
            let pairs = key[span.clone()].iter().zip(&value[span.clone()]);
            pairs.zip(&mask[span]).all(|((k, v), m)| k & m == *v)
        };
        if self.fields.iter().any(|field| field.is_range) {
            let by_mask = self.fields.iter().filter(|field| !field.is_range);
            by_mask.map(|field| field.words.clone()).all(under) && self.is_within(rows, slot, key)
        } else {
            under(0..key.len())
        }
    }

    /// True if a key is within the ranges of an entry.
    #[inline]
    fn is_within(&self, rows: &Rows, slot: u32, key: &[u64]) -> bool {
        let (low, high) = rows.pair(slot);
        self.fields.iter().filter(|field| field.is_range).all(|field| {
            // The most significant word is the last one.
            let key = key[field.words.clone()].iter().rev();
            key.clone().ge(low[field.words.clone()].iter().rev()) && key.le(high[field.words.clone()].iter().rev())
        })
    }

    /// Slot of the entry with exactly this key and priority.
    pub fn position(&self, rows: &Rows, key: &PackedKey, priority: i32) -> Option<u32> {
        let equal =
            |ranked: &&Ranked| ranked.priority == priority && rows.pair(ranked.slot) == (&key.value[..], &key.mask[..]);
        let found = match &self.order {
            Order::Scan(order) => order.iter().find(equal),
            Order::Tuples(space) => {
                let (value, mask) = self.without_ranges(&key.value, &key.mask);
                match &space.bucket(&value, &mask)?.entries {
                    Content::List(list) => list.iter().find(equal),
                    Content::ByRange(space, _) => {
                        let at = self.cut.unwrap_or(0);
                        let (value, mask) = prefixes(key.value[at], key.mask[at]).next()?;
                        match &space.bucket(&[value], &[mask])?.entries {
                            Content::List(list) => list.iter().find(equal),
                            Content::ByRange(..) => None,
                        }
                    }
                }
            }
        };
        found.map(|ranked| ranked.slot)
    }

    /// Adds a slot. Its row exists already.
    pub fn link(&mut self, rows: &Rows, slot: u32, priority: i32) {
        let before = self.added;
        self.added += 1;
        let new = Ranked { priority, slot, before };
        match &mut self.order {
            Order::Scan(order) => {
                insert_ranked(order, new);
                if order.len() > MAX_SCANNED {
                    let order = std::mem::take(order);
                    self.order = Order::Tuples(Space::default());
                    order.into_iter().for_each(|ranked| self.link_tuples(rows, ranked));
                }
            }
            Order::Tuples(_) => self.link_tuples(rows, new),
        }
    }

    fn link_tuples(&mut self, rows: &Rows, new: Ranked) {
        let (value, mask) = rows.pair(new.slot);
        let (value, mask) = self.without_ranges(value, mask);
        let cut = self.cut;
        let Order::Tuples(space) = &mut self.order else { return };
        space.add(value, mask, new.priority, |entries| match entries {
            Content::List(list) => {
                insert_ranked(list, new);
                if let Some(at) = cut.filter(|_| list.len() > MAX_SCANNED) {
                    let (list, mut by_range) = (std::mem::take(list), Space::default());
                    let entries_in_all = list.len();
                    list.into_iter().for_each(|ranked| by_range.add_range(rows, at, ranked));
                    *entries = Content::ByRange(by_range, entries_in_all);
                }
            }
            Content::ByRange(by_range, entries_in_all) => {
                by_range.add_range(rows, cut.unwrap_or(0), new);
                *entries_in_all += 1;
            }
        });
    }

    /// Removes a slot. Its row still exists; `left`: number of remaining entries.
    pub fn unlink(&mut self, rows: &Rows, slot: u32, priority: i32, left: usize) {
        let (value, mask) = rows.pair(slot);
        let (value, mask) = self.without_ranges(value, mask);
        let cut = self.cut.unwrap_or(0);
        match &mut self.order {
            Order::Scan(order) => order.retain(|ranked| ranked.slot != slot),
            Order::Tuples(space) => {
                space.remove(&value, &mask, priority, |entries| match entries {
                    Content::List(list) => {
                        list.retain(|ranked| ranked.slot != slot);
                        list.is_empty()
                    }
                    Content::ByRange(by_range, entries_in_all) => {
                        by_range.remove_range(rows, cut, slot, priority);
                        *entries_in_all -= 1;
                        *entries_in_all == 0
                    }
                });
                if left <= MIN_HASHED {
                    let mut order = Vec::new();
                    space.list(&mut order);
                    order.sort_unstable_by_key(Ranked::rank);
                    order.dedup_by_key(|ranked| ranked.slot);
                    self.order = Order::Scan(order);
                }
            }
        }
    }

    /// Value and mask, with zeros in the words of ranges.
    fn without_ranges(&self, value: &[u64], mask: &[u64]) -> (Box<[u64]>, Box<[u64]>) {
        let (mut value, mut mask) = (Box::<[u64]>::from(value), Box::<[u64]>::from(mask));
        for field in self.fields.iter().filter(|field| field.is_range) {
            value[field.words.clone()].fill(0);
            mask[field.words.clone()].fill(0);
        }
        (value, mask)
    }
}

impl Space {
    /// The most urgent entry that `within` finds in the buckets of a key.
    #[inline]
    fn find(
        &self,
        key: &[u64],
        masked: &mut [u64],
        within: impl Fn(&Bucket, &mut [u64]) -> Option<Ranked>,
    ) -> Option<Ranked> {
        let mut found: Option<Ranked> = None;
        for tuple in &self.0 {
            if found.is_some_and(|found| found.priority > tuple.best) {
                break;
            }
            masked
                .iter_mut()
                .zip(key)
                .zip(&tuple.mask)
                .for_each(|((masked, k), m)| *masked = k & m);
            if let Some(bucket) = tuple.buckets.find(hash(masked), |bucket| same(&bucket.value, masked)) {
                found = [found, within(bucket, masked)]
                    .into_iter()
                    .flatten()
                    .min_by_key(Ranked::rank);
            }
        }
        found
    }

    fn bucket(&self, value: &[u64], mask: &[u64]) -> Option<&Bucket> {
        let tuple = self.0.iter().find(|tuple| *tuple.mask == *mask)?;
        tuple.buckets.find(hash(value), |bucket| same(&bucket.value, value))
    }

    /// Adds an entry of this priority; `add` puts it into its bucket.
    fn add(&mut self, value: Box<[u64]>, mask: Box<[u64]>, priority: i32, add: impl FnOnce(&mut Content)) {
        let at = self.0.iter().position(|tuple| tuple.mask == mask).unwrap_or_else(|| {
            self.0.push(Tuple {
                mask,
                priorities: BTreeMap::new(),
                best: i32::MIN,
                buckets: HashTable::new(),
            });
            self.0.len() - 1
        });
        let tuple = &mut self.0[at];
        *tuple.priorities.entry(priority).or_default() += 1;
        let hashed = hash(&value);
        match tuple.buckets.find_mut(hashed, |bucket| bucket.value == value) {
            Some(bucket) => add(&mut bucket.entries),
            None => {
                let mut entries = Content::List(Vec::new());
                add(&mut entries);
                let rehash = |bucket: &Bucket| hash(&bucket.value);
                tuple.buckets.insert_unique(hashed, Bucket { value, entries }, rehash);
            }
        }
        if priority > tuple.best {
            tuple.best = priority;
            self.0.sort_by_key(|tuple| Reverse(tuple.best));
        }
    }

    /// Removes an entry of this priority; `remove` takes it out of its bucket, and returns whether the bucket is empty.
    fn remove(&mut self, value: &[u64], mask: &[u64], priority: i32, remove: impl FnOnce(&mut Content) -> bool) {
        let Some(at) = self.0.iter().position(|tuple| *tuple.mask == *mask) else {
            return;
        };
        let tuple = &mut self.0[at];
        if let Ok(mut bucket) = tuple
            .buckets
            .find_entry(hash(value), |bucket| same(&bucket.value, value))
            && remove(&mut bucket.get_mut().entries)
        {
            bucket.remove();
        }
        if let Some(count) = tuple.priorities.get_mut(&priority) {
            *count -= 1;
            if *count == 0 {
                tuple.priorities.remove(&priority);
            }
        }
        match tuple.priorities.last_key_value() {
            Some((&best, _)) if best == tuple.best => {}
            Some((&best, _)) => {
                tuple.best = best;
                self.0.sort_by_key(|tuple| Reverse(tuple.best));
            }
            None => drop(self.0.remove(at)),
        }
    }

    /// Adds an entry for each prefix of its range. `at` is the word of the range in its row.
    fn add_range(&mut self, rows: &Rows, at: usize, new: Ranked) {
        let (low, high) = rows.pair(new.slot);
        for (value, mask) in prefixes(low[at], high[at]) {
            self.add([value].into(), [mask].into(), new.priority, |entries| {
                if let Content::List(list) = entries {
                    insert_ranked(list, new);
                }
            });
        }
    }

    /// Removes an entry for each prefix of its range.
    fn remove_range(&mut self, rows: &Rows, at: usize, slot: u32, priority: i32) {
        let (low, high) = rows.pair(slot);
        for (value, mask) in prefixes(low[at], high[at]) {
            self.remove(&[value], &[mask], priority, |entries| match entries {
                Content::List(list) => {
                    list.retain(|ranked| ranked.slot != slot);
                    list.is_empty()
                }
                Content::ByRange(..) => false,
            });
        }
    }

    /// Lists all entries, some more than once.
    fn list(&self, all: &mut Vec<Ranked>) {
        for bucket in self.0.iter().flat_map(|tuple| &tuple.buckets) {
            match &bucket.entries {
                Content::List(list) => all.extend_from_slice(list),
                Content::ByRange(space, _) => space.list(all),
            }
        }
    }
}

/// The smallest set of prefixes that covers an interval: value and mask of each.
fn prefixes(low: u64, high: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut next = Some(low);
    std::iter::from_fn(move || {
        let low = next?;
        // The largest block that begins here and does not exceed the end; 2^64 does not fit into a word.
        let left = (high - low).checked_add(1).map_or(64, u64::ilog2);
        let bits = low.trailing_zeros().min(left);
        let block = 1u64.checked_shl(bits).map_or(u64::MAX, |size| size - 1);
        next = (low | block).checked_add(1).filter(|&next| next <= high);
        Some((low, !block))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 to 14 of four bits is the worst case: 2w - 2 = 6 prefixes.
    #[test]
    fn an_interval_is_cut_into_the_fewest_prefixes() {
        let cut = |low, high| prefixes(low, high).collect::<Vec<_>>();
        let sizes: Vec<u64> = cut(1, 14).iter().map(|(_, mask)| !mask + 1).collect();
        assert_eq!(sizes, [1, 2, 4, 4, 2, 1]);
        assert_eq!(cut(0, u64::MAX), [(0, 0)]);
        assert_eq!(cut(u64::MAX, u64::MAX), [(u64::MAX, u64::MAX)]);
        assert_eq!(cut(1, u64::MAX).len(), 64);
        assert_eq!(cut(1024, 65535).len(), 6);
    }
}
