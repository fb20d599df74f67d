//! The entries of a match-action table and the structures that find them.
//!
//! A key is the words of its fields, one after the other. Exact entries are hashed; longest-prefix entries are hashed
//! once for each prefix length in use, or found among intervals (`intervals.rs`); ternary, range and optional entries are scanned in order of priority.

use hashbrown::HashTable;

use super::intervals::Intervals;
use super::key::{KeySpec, PackedKey, pack_field};
use super::meter::Meter;
use crate::bits::{to_bytes, words};
use crate::errors::TableError;
use crate::ids::{EntryHandle, Nanos};
use crate::values::{Count, MatchKey, MatchKind};

/// Prefixes that are also kept as intervals. Each change of the table makes them anew.
const MAX_INTERVALS: usize = 256;

/// What an entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// An action, its position among the table's, and the words of its parameters.
    Action {
        action: u32,
        choice: u32,
        params: Box<[u64]>,
    },
    Member(u32),
    Group(u32),
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub priority: i32,
    pub call: Call,
    pub count: Count,
    pub meter: Option<Box<Meter>>,
    pub last_hit: Nanos,
    pub is_const: bool,
    /// Of the lpm field, if there is one.
    pub prefix: u32,
}

#[derive(Debug)]
struct Slot {
    /// Of its last entry: how many the table had been given before.
    number: u64,
    entry: Option<Entry>,
}

#[derive(Debug)]
enum Index {
    /// No key: nothing ever matches.
    Nothing,
    Exact(HashTable<u32>),
    /// Longest first, and the same as intervals while they are few.
    Prefixes(Vec<Prefixes>, Option<Intervals>),
    /// Slots, the most urgent first.
    Scan(Vec<u32>),
}

#[derive(Debug)]
struct Prefixes {
    length: u32,
    mask: Vec<u64>,
    table: HashTable<u32>,
}

#[derive(Debug)]
pub(crate) struct Entries {
    pub table: String,
    pub specs: Vec<KeySpec>,
    pub size: usize,
    slots: Vec<Slot>,
    free: Vec<u32>,
    index: Index,
    /// Words of one key.
    stride: usize,
    /// For each slot its key: value and, in a scanned table, mask (or upper bound), word by word.
    keys: Vec<u64>,
    /// In a scanned table, the words compared as an interval.
    ranges: Vec<std::ops::Range<usize>>,
    live: usize,
    /// Entries since the program was loaded, with those that are gone.
    inserted: u64,
}

impl Entries {
    pub fn new(table: String, specs: Vec<KeySpec>, size: usize, scanned: bool) -> Self {
        let stride = specs.iter().map(|spec| words(spec.width)).sum();
        let needs_priority =
            |spec: &KeySpec| matches!(spec.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional);
        let index = if specs.is_empty() {
            Index::Nothing
        } else if scanned || specs.iter().any(needs_priority) {
            Index::Scan(Vec::new())
        } else if specs.iter().any(|spec| spec.kind == MatchKind::Lpm) {
            Index::Prefixes(Vec::new(), None)
        } else {
            Index::Exact(HashTable::new())
        };
        let mut ranges = Vec::new();
        let mut at = 0;
        for spec in &specs {
            if spec.kind == MatchKind::Range {
                ranges.push(at..at + words(spec.width));
            }
            at += words(spec.width);
        }
        let (slots, free, keys) = (Vec::new(), Vec::new(), Vec::new());
        Entries {
            table,
            specs,
            size,
            slots,
            free,
            index,
            stride,
            keys,
            ranges,
            live: 0,
            inserted: 0,
        }
    }

    /// Whether entries are ordered by priority.
    pub fn has_priority(&self) -> bool {
        matches!(self.index, Index::Scan(_))
    }

    pub fn len(&self) -> usize {
        self.live
    }

    fn key_stride(&self) -> usize {
        if self.has_priority() {
            2 * self.stride
        } else {
            self.stride
        }
    }

    /// The slot of the entry that matches the words in the PHV.
    #[inline]
    pub fn lookup(&self, phv: &[u64], key: &mut Vec<u64>) -> Option<u32> {
        if self.live == 0 {
            return None;
        }
        key.clear();
        for spec in &self.specs {
            let slot = spec.slot as usize;
            let start = key.len();
            if spec.width <= 64 {
                key.push(phv[slot]);
            } else {
                key.extend_from_slice(&phv[slot..slot + words(spec.width)]);
            }
            if let Some(mask) = &spec.mask {
                key[start..].iter_mut().zip(mask).for_each(|(k, m)| *k &= m);
            }
        }
        self.find(key)
    }

    /// To be called before a lookup: makes the index of intervals anew if entries have changed and are few.
    #[inline]
    pub fn prepare(&mut self) {
        if let Index::Prefixes(_, None) = self.index
            && self.stride == 1
            && self.specs.len() == 1
            && self.live <= MAX_INTERVALS
        {
            self.make_intervals();
        }
    }

    #[cold]
    fn make_intervals(&mut self) {
        let width = self.specs[0].width;
        let prefix = |slot: u32| Some((self.keys[slot as usize], self.entry(slot)?.prefix, slot));
        let made = Intervals::new(width, self.used().filter_map(prefix).collect());
        if let Index::Prefixes(_, intervals) = &mut self.index {
            *intervals = Some(made);
        }
    }

    fn find(&self, key: &mut [u64]) -> Option<u32> {
        let stride = self.stride;
        match &self.index {
            Index::Nothing => None,
            Index::Exact(table) => table
                .find(hash(key), |&slot| {
                    same(&self.keys[slot as usize * stride..][..stride], key)
                })
                .copied(),
            Index::Prefixes(_, Some(intervals)) => intervals.find(key[0]),
            Index::Prefixes(lengths, None) => {
                // Masks shrink from one length to the next, so the key can be cut in place.
                lengths.iter().find_map(|prefixes| {
                    key.iter_mut().zip(&prefixes.mask).for_each(|(k, m)| *k &= m);
                    let equal = |&slot: &u32| same(&self.keys[slot as usize * stride..][..stride], key);
                    prefixes.table.find(hash(key), equal).copied()
                })
            }
            Index::Scan(order) => order.iter().copied().find(|&slot| {
                let row = &self.keys[slot as usize * 2 * stride..][..2 * stride];
                self.row_matches(row, key)
            }),
        }
    }

    #[inline]
    fn row_matches(&self, row: &[u64], key: &[u64]) -> bool {
        let (value, mask) = row.split_at(self.stride);
        if self.ranges.is_empty() {
            return key.iter().zip(value).zip(mask).all(|((k, v), m)| k & m == *v);
        }
        let mut at = 0;
        for spec in &self.specs {
            let span = at..at + words(spec.width);
            at = span.end;
            let matched = if spec.kind == MatchKind::Range {
                let k = key[span.clone()].iter().rev();
                k.clone().ge(value[span.clone()].iter().rev()) && k.le(mask[span].iter().rev())
            } else {
                span.clone().all(|i| key[i] & mask[i] == value[i])
            };
            if !matched {
                return false;
            }
        }
        true
    }

    pub fn entry(&self, slot: u32) -> Option<&Entry> {
        self.slots.get(slot as usize)?.entry.as_ref()
    }

    pub fn entry_mut(&mut self, slot: u32) -> Option<&mut Entry> {
        self.slots.get_mut(slot as usize)?.entry.as_mut()
    }

    /// The slot of a handle, if its entry still exists.
    pub fn resolve(&self, handle: EntryHandle) -> Result<u32, TableError> {
        match self.slots.get(handle.slot as usize) {
            Some(slot) if slot.number == handle.number && slot.entry.is_some() => Ok(handle.slot),
            _ => Err(TableError::NoEntry(self.table.clone())),
        }
    }

    /// The entry of a handle, if it still exists.
    pub fn get(&self, handle: EntryHandle) -> Result<&Entry, TableError> {
        let entry = self.entry(self.resolve(handle)?);
        entry.ok_or_else(|| TableError::NoEntry(self.table.clone()))
    }

    /// As [`Entries::get`], to change it.
    pub fn get_mut(&mut self, handle: EntryHandle) -> Result<&mut Entry, TableError> {
        let none = TableError::NoEntry(self.table.clone());
        let slot = self.resolve(handle)?;
        self.entry_mut(slot).ok_or(none)
    }

    pub fn handle(&self, slot: u32) -> EntryHandle {
        EntryHandle {
            slot,
            number: self.slots[slot as usize].number,
        }
    }

    /// Slots in use.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.slots.len() as u32).filter(|&slot| self.slots[slot as usize].entry.is_some())
    }

    /// The slot of the entry with exactly this key (and priority).
    pub fn position(&self, key: &PackedKey, priority: i32) -> Option<u32> {
        let stride = self.stride;
        match &self.index {
            Index::Nothing => None,
            Index::Exact(_) => self.find(&mut key.value.clone()),
            Index::Prefixes(lengths, _) => {
                let prefixes = lengths.iter().find(|prefixes| prefixes.length == key.prefix)?;
                let equal = |&slot: &u32| self.keys[slot as usize * stride..][..stride] == *key.value;
                prefixes.table.find(hash(&key.value), equal).copied()
            }
            Index::Scan(order) => order.iter().copied().find(|&slot| {
                let row = &self.keys[slot as usize * 2 * stride..][..2 * stride];
                let same = row[..stride] == *key.value && row[stride..] == *key.mask;
                same && self.entry(slot).is_some_and(|entry| entry.priority == priority)
            }),
        }
    }

    pub fn insert(&mut self, key: &PackedKey, priority: i32, call: Call, now: Nanos) -> Result<u32, TableError> {
        let priority = if self.has_priority() { priority } else { 0 };
        if matches!(self.index, Index::Nothing) {
            let problem = "has no key, so it takes no entries".to_string();
            return Err(TableError::BadKey {
                table: self.table.clone(),
                problem,
            });
        }
        if self.position(key, priority).is_some() {
            return Err(TableError::Duplicate(self.table.clone()));
        }
        if self.live >= self.size {
            return Err(TableError::Full {
                table: self.table.clone(),
                size: self.size,
            });
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { number: 0, entry: None });
            self.keys.resize(self.slots.len() * self.key_stride(), 0);
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize].number = self.inserted;
        self.inserted += 1;
        self.slots[slot as usize].entry = Some(Entry {
            priority,
            call,
            count: Count::default(),
            meter: None,
            last_hit: now,
            is_const: false,
            prefix: key.prefix,
        });
        let (stride, width) = (self.stride, self.key_stride());
        let row = &mut self.keys[slot as usize * width..][..width];
        row[..stride].copy_from_slice(&key.value);
        if width > stride {
            row[stride..].copy_from_slice(&key.mask);
        }
        self.live += 1;
        self.link(slot, key, priority);
        Ok(slot)
    }

    fn link(&mut self, slot: u32, key: &PackedKey, priority: i32) {
        let (keys, stride) = (&self.keys, self.stride);
        let rehash = |&slot: &u32| hash(&keys[slot as usize * stride..][..stride]);
        match &mut self.index {
            Index::Nothing => {}
            Index::Exact(table) => {
                table.insert_unique(hash(&key.value), slot, rehash);
            }
            Index::Prefixes(lengths, intervals) => {
                *intervals = None;
                let at = lengths.partition_point(|prefixes| prefixes.length > key.prefix);
                if lengths.get(at).is_none_or(|prefixes| prefixes.length != key.prefix) {
                    let (length, mask) = (key.prefix, key.mask.clone());
                    lengths.insert(
                        at,
                        Prefixes {
                            length,
                            mask,
                            table: HashTable::new(),
                        },
                    );
                }
                lengths[at].table.insert_unique(hash(&key.value), slot, rehash);
            }
            Index::Scan(order) => {
                let slots = &self.slots;
                let rank = |slot: u32| slots[slot as usize].entry.as_ref().map_or(0, |entry| entry.priority);
                let at = order.partition_point(|&other| rank(other) >= priority);
                order.insert(at, slot);
            }
        }
    }

    pub fn remove(&mut self, slot: u32) {
        let (stride, prefix) = (self.stride, self.entry(slot).map_or(0, |entry| entry.prefix));
        let width = self.key_stride();
        let value = self.keys[slot as usize * width..][..stride].to_vec();
        match &mut self.index {
            Index::Nothing => {}
            Index::Exact(table) => {
                if let Ok(found) = table.find_entry(hash(&value), |&other| other == slot) {
                    found.remove();
                }
            }
            Index::Prefixes(lengths, intervals) => {
                *intervals = None;
                if let Some(at) = lengths.iter().position(|prefixes| prefixes.length == prefix) {
                    if let Ok(found) = lengths[at].table.find_entry(hash(&value), |&other| other == slot) {
                        found.remove();
                    }
                    if lengths[at].table.is_empty() {
                        lengths.remove(at);
                    }
                }
            }
            Index::Scan(order) => order.retain(|&other| other != slot),
        }
        let freed = &mut self.slots[slot as usize];
        if freed.entry.take().is_some() {
            self.free.push(slot);
            self.live -= 1;
        }
    }

    /// Checks a key and packs it into words.
    pub fn pack(&self, key: &[MatchKey]) -> Result<PackedKey, TableError> {
        let bad = |problem: String| TableError::BadKey {
            table: self.table.clone(),
            problem,
        };
        if key.len() != self.specs.len() {
            return Err(bad(format!(
                "the key has {} fields, not {}",
                self.specs.len(),
                key.len()
            )));
        }
        let mut packed = PackedKey {
            value: Vec::new(),
            mask: Vec::new(),
            prefix: 0,
        };
        for (spec, field) in self.specs.iter().zip(key) {
            let (value, mask) = pack_field(spec, field).map_err(|problem| bad(format!("{}: {problem}", spec.name)))?;
            if let MatchKey::Lpm(_, prefix) = field {
                packed.prefix = u32::from(*prefix);
            }
            packed.value.extend(value);
            packed.mask.extend(mask);
        }
        Ok(packed)
    }

    /// The key of an entry, normalised.
    pub fn unpack(&self, slot: u32) -> Vec<MatchKey> {
        let width = self.key_stride();
        let row = &self.keys[slot as usize * width..][..width];
        let prefix = self.entry(slot).map_or(0, |entry| entry.prefix);
        let mut at = 0;
        let mut key = Vec::new();
        for spec in &self.specs {
            let span = at..at + words(spec.width);
            at = span.end;
            let value = to_bytes(&row[span.clone()], spec.width);
            let mask = || &row[self.stride..][span.clone()];
            key.push(match spec.kind {
                MatchKind::Exact => MatchKey::Exact(value),
                MatchKind::Lpm => MatchKey::Lpm(value, prefix as u16),
                MatchKind::Ternary => MatchKey::Ternary(value, to_bytes(mask(), spec.width)),
                MatchKind::Range => MatchKey::Range(value, to_bytes(mask(), spec.width)),
                MatchKind::Optional => MatchKey::Optional(mask().iter().any(|&w| w != 0).then_some(value)),
                MatchKind::Valid => MatchKey::Valid(row[span.start] != 0),
            });
        }
        key
    }

    /// Whether an entry's call satisfies a condition, for any entry.
    pub fn any_call(&self, condition: impl Fn(&Call) -> bool) -> bool {
        self.slots
            .iter()
            .filter_map(|slot| slot.entry.as_ref())
            .any(|entry| condition(&entry.call))
    }
}

/// Whether keys are equal. They have few words: a call of a comparing function would take longer.
#[inline]
fn same(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// A fast hash of words (multiply and rotate, as FxHash); keys come from the controller, not from packets.
#[inline]
fn hash(key: &[u64]) -> u64 {
    let mixed = key.iter().fold(0u64, |h, &word| {
        (h.rotate_left(5) ^ word).wrapping_mul(0x517cc1b727220a95)
    });
    // The hash table takes its bucket from the low bits and its tag from the high ones.
    mixed ^ mixed >> 32
}
