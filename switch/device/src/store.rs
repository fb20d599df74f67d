//! The entities that were written into tables and action profiles, as reads return them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use p4sched_dataplane::{EntryHandle, MatchKey, Nanos, Pipeline};
use p4sched_proto::p4::v1 as p4rt;

use crate::index::Table;

/// The key and priority of an entry.
pub(crate) type Key = (Vec<MatchKey>, i32);

/// The entries of a table.
#[derive(Debug, Default)]
pub(crate) struct TableStore {
    /// Entries by the data plane's number, in the order of insertion. The data plane also finds the number for a key.
    entries: BTreeMap<u64, StoredEntry>,
    /// The number of entries with each value in a field, for the fields that others refer to.
    values: BTreeMap<u32, HashMap<Vec<u8>, usize>>,
    pub default: DefaultEntry,
}

/// An entry as reads return it, without its direct resources.
#[derive(Debug)]
pub(crate) struct StoredEntry {
    pub handle: EntryHandle,
    pub entry: p4rt::TableEntry,
    pub one_shot: Option<OneShot>,
    /// Time of the last idle notification about the entry.
    pub idle_notice: Nanos,
}

impl StoredEntry {
    /// The value of an exact or optional field; `None` if the entry has none.
    fn value(&self, field: u32) -> Option<&[u8]> {
        let mut fields = self.entry.r#match.iter();
        single_value(fields.find(|given| given.field_id == field)?)
    }
}

/// The group and the members of a one-shot entry; controllers never see them.
#[derive(Debug, Clone)]
pub(crate) struct OneShot {
    pub group: u32,
    pub members: Vec<u32>,
    /// Size of the group in members or in weight, whichever the profile counts.
    pub size: i64,
}

/// The parts of the default action that only the control plane stores.
#[derive(Debug, Default, Clone)]
pub(crate) struct DefaultEntry {
    pub controller_metadata: u64,
    pub metadata: Vec<u8>,
}

impl TableStore {
    /// Creates the store of a table that others refer to in these fields.
    pub fn counting(fields: BTreeSet<u32>) -> TableStore {
        TableStore {
            values: fields.into_iter().map(|field| (field, HashMap::new())).collect(),
            ..TableStore::default()
        }
    }

    /// Whether some entry has this value (in canonical form) in a field that others refer to.
    pub fn has(&self, field: u32, value: &[u8]) -> bool {
        self.values.get(&field).is_some_and(|values| values.contains_key(value))
    }

    /// The entry with this key and priority.
    pub fn find(&self, pipeline: &Pipeline, table: &Table, (key, priority): &Key) -> Option<&StoredEntry> {
        let handle = pipeline.table_find(table.table, key, *priority)?;
        self.by_sequence(handle.number())
    }

    /// All entries in the order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = &StoredEntry> {
        self.entries.values()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut StoredEntry> {
        self.entries.values_mut()
    }

    /// All entries with their numbers in the order of insertion. A number is never used twice.
    pub fn numbered(&self) -> impl Iterator<Item = (u64, &StoredEntry)> {
        self.entries.iter().map(|(&sequence, stored)| (sequence, stored))
    }

    /// The entry that was inserted last.
    pub fn last(&self) -> Option<(u64, &StoredEntry)> {
        self.entries
            .last_key_value()
            .map(|(&sequence, stored)| (sequence, stored))
    }

    /// The entry with this number.
    pub fn by_sequence(&self, sequence: u64) -> Option<&StoredEntry> {
        self.entries.get(&sequence)
    }

    pub fn by_sequence_mut(&mut self, sequence: u64) -> Option<&mut StoredEntry> {
        self.entries.get_mut(&sequence)
    }

    pub fn add(&mut self, stored: StoredEntry) {
        for (field, values) in &mut self.values {
            if let Some(value) = stored.value(*field) {
                *values.entry(value.to_vec()).or_default() += 1;
            }
        }
        self.entries.insert(stored.handle.number(), stored);
    }

    pub fn remove(&mut self, handle: EntryHandle) -> Option<StoredEntry> {
        let removed = self.entries.remove(&handle.number())?;
        for (field, values) in &mut self.values {
            let Some(value) = removed.value(*field) else { continue };
            match values.get_mut(value) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(values.remove(value)),
            }
        }
        Some(removed)
    }
}

/// The first identifier of members and groups that is reserved for one-shot entries.
pub const FIRST_RESERVED_ID: u32 = 0xf000_0000;

/// The members and groups of a profile.
#[derive(Debug, Default)]
pub(crate) struct ProfileStore {
    pub members: BTreeMap<u32, p4rt::ActionProfileMember>,
    pub groups: BTreeMap<u32, p4rt::ActionProfileGroup>,
    reserved: u32,
    /// The number of one-shot entries, and of entries that name a member or group.
    one_shots: usize,
    references: usize,
    /// The sum of the sizes of all groups, those of one-shots included.
    pub size_of_groups: i64,
}

impl ProfileStore {
    /// Counts a new entry of one of the profile's tables: a one-shot of this size, or one that names a member or group.
    pub fn entry_added(&mut self, one_shot: Option<i64>) {
        *self.entries(one_shot.is_some()) += 1;
        self.size_of_groups += one_shot.unwrap_or(0);
    }

    /// Counts a removed entry of one of the profile's tables.
    pub fn entry_removed(&mut self, one_shot: Option<i64>) {
        let entries = self.entries(one_shot.is_some());
        *entries = entries.saturating_sub(1);
        self.size_of_groups -= one_shot.unwrap_or(0);
    }

    fn entries(&mut self, one_shot: bool) -> &mut usize {
        if one_shot {
            &mut self.one_shots
        } else {
            &mut self.references
        }
    }

    /// The number of one-shot entries, or of entries that name a member or group.
    pub fn written(&self, one_shot: bool) -> usize {
        if one_shot { self.one_shots } else { self.references }
    }

    /// An identifier for a member or group of a one-shot entry. Identifiers repeat after 268 million; if one is still
    /// in use, the data plane refuses it.
    pub fn reserve(&mut self) -> u32 {
        let id = FIRST_RESERVED_ID + self.reserved;
        self.reserved = (self.reserved + 1) % (u32::MAX - FIRST_RESERVED_ID);
        id
    }
}

/// The value of an exact or optional field; `None` for other fields.
pub fn single_value(field: &p4rt::FieldMatch) -> Option<&[u8]> {
    use p4rt::field_match::FieldMatchType;
    match field.field_match_type.as_ref()? {
        FieldMatchType::Exact(exact) => Some(&exact.value),
        FieldMatchType::Optional(optional) => Some(&optional.value),
        _ => None,
    }
}
