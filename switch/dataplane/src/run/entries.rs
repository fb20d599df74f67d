//! The entries of a match-action table.
//!
//! A key is the words of its fields, one after the other. `index.rs` finds entries by key.

use super::index::Index;
use super::key::{KeySpec, PackedKey, pack_field};
use super::meter::Meter;
use super::rows::Rows;
use crate::bits::{to_bytes, words};
use crate::errors::TableError;
use crate::ids::{EntryHandle, Nanos};
use crate::values::{Count, MatchKey, MatchKind};

/// Result of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// An action, its position in the table, and the words of its parameters.
    Action {
        action: u32,
        choice: u32,
        params: Params,
    },
    Member(u32),
    Group(u32),
}

/// Words of an action's parameters. A few words are stored in the entry, which each matching packet reads anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Params {
    /// Number of words, and the words; the rest are 0.
    Few(u8, [u64; FEW]),
    Many(Box<[u64]>),
}

const FEW: usize = 2;

impl From<Vec<u64>> for Params {
    fn from(words: Vec<u64>) -> Params {
        let mut few = [0; FEW];
        match few.get_mut(..words.len()) {
            Some(place) => {
                place.copy_from_slice(&words);
                Params::Few(words.len() as u8, few)
            }
            None => Params::Many(words.into()),
        }
    }
}

impl std::ops::Deref for Params {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        match self {
            Params::Few(length, words) => &words[..usize::from(*length)],
            Params::Many(words) => words,
        }
    }
}

/// The part of an entry that a matching packet needs: one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Entry {
    pub call: Call,
    pub count: Count,
    pub meter: Option<Box<Meter>>,
    pub last_hit: Nanos,
}

const _: () = assert!(size_of::<Option<Entry>>() == 64);

/// The part of an entry that only the control plane needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    /// Number of entries that were added to the table before it.
    number: u64,
    pub priority: i32,
    /// Prefix length of the lpm field, if there is one.
    prefix: u32,
    pub is_const: bool,
}

/// A table with more entries than this reserves memory for its full size. Untouched pages cost nothing. And entries
/// never move: moving many entries would take long.
const FEW_ENTRIES: usize = 1024;
/// Most entries for which memory is reserved.
const MOST_ENTRIES: usize = 1 << 22;

#[derive(Debug)]
pub(crate) struct Entries {
    pub table: String,
    pub specs: Vec<KeySpec>,
    pub size: usize,
    slots: Vec<Option<Entry>>,
    /// Origin of the last entry in each slot.
    origins: Vec<Origin>,
    free: Vec<u32>,
    index: Index,
    rows: Rows,
    live: usize,
    /// Number of entries added since the program was loaded, including deleted ones.
    inserted: u64,
}

impl Entries {
    pub fn new(table: String, specs: Vec<KeySpec>, size: usize, scanned: bool) -> Self {
        let index = Index::new(&specs, scanned);
        let stride = specs.iter().map(|spec| words(spec.width)).sum();
        let rows = Rows::new(stride, matches!(index, Index::Ternary(_)));
        Entries {
            table,
            specs,
            size,
            slots: Vec::new(),
            origins: Vec::new(),
            free: Vec::new(),
            index,
            rows,
            live: 0,
            inserted: 0,
        }
    }

    /// True if entries are ordered by priority.
    pub fn has_priority(&self) -> bool {
        matches!(self.index, Index::Ternary(_))
    }

    /// Slot of the entry that matches the words in the PHV.
    #[inline]
    pub fn lookup(&self, phv: &[u64], key: &mut Vec<u64>) -> Option<u32> {
        if let Some((word, mask)) = self.word() {
            return self.lookup_word(phv[word as usize] & mask);
        }
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
        self.index.find(&self.rows, key)
    }

    /// The word of the key and a mask of its bits, if the key is one word.
    #[inline]
    pub fn word(&self) -> Option<(u32, u64)> {
        match &self.specs[..] {
            [spec] if spec.width <= 64 => Some((spec.slot, spec.mask.as_ref().map_or(u64::MAX, |mask| mask[0]))),
            _ => None,
        }
    }

    /// Slot of the entry that matches a key of one word.
    #[inline]
    pub fn lookup_word(&self, key: u64) -> Option<u32> {
        if self.live == 0 {
            return None;
        }
        self.index.find_one(&self.rows, key)
    }

    /// Call this before a lookup. Rebuilds the index of intervals if entries have changed and are few.
    #[inline]
    pub fn prepare(&mut self) {
        if let Index::Trie(trie) = &self.index
            && trie.lacks_intervals(self.live)
        {
            self.make_intervals();
        }
    }

    #[cold]
    fn make_intervals(&mut self) {
        let prefix = |slot: u32| (self.rows.value(slot)[0], self.origin(slot).prefix, slot);
        let prefixes = self.used().map(prefix).collect();
        if let Index::Trie(trie) = &mut self.index {
            trie.make_intervals(prefixes);
        }
    }

    pub fn entry(&self, slot: u32) -> Option<&Entry> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub fn entry_mut(&mut self, slot: u32) -> Option<&mut Entry> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// Origin of the entry in a slot, or of the last entry that it had.
    pub fn origin(&self, slot: u32) -> &Origin {
        &self.origins[slot as usize]
    }

    /// Marks an entry of the program itself.
    pub fn set_const(&mut self, slot: u32) {
        self.origins[slot as usize].is_const = true;
    }

    /// Slot of a handle, if its entry still exists.
    pub fn resolve(&self, handle: EntryHandle) -> Result<u32, TableError> {
        match self.origins.get(handle.slot as usize) {
            Some(origin) if origin.number == handle.number && self.entry(handle.slot).is_some() => Ok(handle.slot),
            _ => Err(TableError::NoEntry(self.table.clone())),
        }
    }

    /// Entry of a handle, if it still exists.
    pub fn get(&self, handle: EntryHandle) -> Result<&Entry, TableError> {
        let entry = self.entry(self.resolve(handle)?);
        entry.ok_or_else(|| TableError::NoEntry(self.table.clone()))
    }

    /// Current number of entries.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Same as [`Entries::get`], for changes.
    pub fn get_mut(&mut self, handle: EntryHandle) -> Result<&mut Entry, TableError> {
        let slot = self.resolve(handle)?;
        let entry = self.slots[slot as usize].as_mut();
        entry.ok_or_else(|| TableError::NoEntry(self.table.clone()))
    }

    pub fn handle(&self, slot: u32) -> EntryHandle {
        EntryHandle {
            slot,
            number: self.origin(slot).number,
        }
    }

    /// Slots in use.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.slots.len() as u32).filter(|&slot| self.slots[slot as usize].is_some())
    }

    /// Slot of the entry with exactly this key (and priority).
    pub fn position(&self, key: &PackedKey, priority: i32) -> Option<u32> {
        self.index.position(&self.rows, key, priority)
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
        let slot = self.free.pop().unwrap_or_else(|| self.new_slot());
        self.origins[slot as usize] = Origin {
            number: self.inserted,
            priority,
            prefix: key.prefix,
            is_const: false,
        };
        self.inserted += 1;
        self.slots[slot as usize] = Some(Entry {
            call,
            count: Count::default(),
            meter: None,
            last_hit: now,
        });
        self.rows.set(slot, key);
        self.live += 1;
        self.index.link(&self.rows, slot, key, priority);
        Ok(slot)
    }

    fn new_slot(&mut self) -> u32 {
        let slots = self.slots.len();
        if slots == FEW_ENTRIES {
            let more = self.size.min(MOST_ENTRIES).saturating_sub(slots);
            self.slots.reserve_exact(more);
            self.origins.reserve_exact(more);
            self.rows.reserve(more);
            self.index.reserve(more);
        }
        self.slots.push(None);
        self.origins.push(Origin::default());
        self.rows.resize(slots + 1);
        slots as u32
    }

    pub fn remove(&mut self, slot: u32) {
        if self.entry(slot).is_none() {
            return;
        }
        self.live -= 1;
        let Origin { prefix, priority, .. } = *self.origin(slot);
        self.index.unlink(&self.rows, slot, prefix, priority, self.live);
        self.slots[slot as usize] = None;
        self.free.push(slot);
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

    /// Key of an entry, normalised.
    pub fn unpack(&self, slot: u32) -> Vec<MatchKey> {
        let prefix = self.origin(slot).prefix;
        let mut at = 0;
        let mut key = Vec::new();
        for spec in &self.specs {
            let span = at..at + words(spec.width);
            at = span.end;
            let value = to_bytes(&self.rows.value(slot)[span.clone()], spec.width);
            let mask = || &self.rows.pair(slot).1[span.clone()];
            key.push(match spec.kind {
                MatchKind::Exact => MatchKey::Exact(value),
                MatchKind::Lpm => MatchKey::Lpm(value, prefix as u16),
                MatchKind::Ternary => MatchKey::Ternary(value, to_bytes(mask(), spec.width)),
                MatchKind::Range => MatchKey::Range(value, to_bytes(mask(), spec.width)),
                MatchKind::Optional => MatchKey::Optional(mask().iter().any(|&w| w != 0).then_some(value)),
                MatchKind::Valid => MatchKey::Valid(self.rows.value(slot)[span.start] != 0),
            });
        }
        key
    }

    /// True if the call of any entry satisfies a condition.
    pub fn any_call(&self, condition: impl Fn(&Call) -> bool) -> bool {
        self.slots.iter().flatten().any(|entry| condition(&entry.call))
    }
}

#[cfg(test)]
mod tests;
