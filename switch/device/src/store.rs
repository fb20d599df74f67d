//! What was written into tables and action profiles, as it is read back.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use p4sched_dataplane::{EntryHandle, MatchKey, Nanos, Pipeline};
use p4sched_proto::p4::v1 as p4rt;

use crate::index::Table;

/// Key and priority of an entry.
pub(crate) type Key = (Vec<MatchKey>, i32);

/// What was written into one table.
#[derive(Debug, Default)]
pub(crate) struct TableStore {
    /// In the order of insertion: by the numbers that the data plane gave them. It also knows the number of a key.
    entries: BTreeMap<u64, Stored>,
    /// How many entries have a value in a field, for the fields to which others refer.
    values: BTreeMap<u32, HashMap<Vec<u8>, usize>>,
    pub default: DefaultEntry,
}

/// An entry as it is read back, without its direct resources.
#[derive(Debug)]
pub(crate) struct Stored {
    pub handle: EntryHandle,
    pub entry: p4rt::TableEntry,
    pub one_shot: Option<OneShot>,
    /// When the controller was last told that the entry is idle.
    pub idle_notice: Nanos,
}

impl Stored {
    /// The value of an exact or optional field, if the entry has one.
    fn value(&self, field: u32) -> Option<&[u8]> {
        let mut fields = self.entry.r#match.iter();
        single_value(fields.find(|given| given.field_id == field)?)
    }
}

/// Members and group behind a one-shot entry; a controller never sees them.
#[derive(Debug, Clone)]
pub(crate) struct OneShot {
    pub group: u32,
    pub members: Vec<u32>,
    /// Of the group, as its size is counted.
    pub size: i64,
}

/// What a controller attached to the default action.
#[derive(Debug, Default, Clone)]
pub(crate) struct DefaultEntry {
    pub controller_metadata: u64,
    pub metadata: Vec<u8>,
}

impl TableStore {
    /// A table without entries, of which these fields are referred to.
    pub fn counting(fields: BTreeSet<u32>) -> TableStore {
        TableStore {
            values: fields.into_iter().map(|field| (field, HashMap::new())).collect(),
            ..TableStore::default()
        }
    }

    /// Whether some entry has this value, in its canonical form, in a field that is referred to.
    pub fn has(&self, field: u32, value: &[u8]) -> bool {
        self.values.get(&field).is_some_and(|values| values.contains_key(value))
    }

    /// The entry of this key and priority.
    pub fn find(&self, pipeline: &Pipeline, table: &Table, (key, priority): &Key) -> Option<&Stored> {
        let handle = pipeline.table_find(table.table, key, *priority)?;
        self.by_sequence(handle.number())
    }

    /// All entries in the order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = &Stored> {
        self.entries.values()
    }

    /// All entries in the order of insertion.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stored> {
        self.entries.values_mut()
    }

    /// All entries with their places in the order of insertion, which are never used twice.
    pub fn numbered(&self) -> impl Iterator<Item = (u64, &Stored)> {
        self.entries.iter().map(|(&sequence, stored)| (sequence, stored))
    }

    /// The entry that was added last.
    pub fn last(&self) -> Option<(u64, &Stored)> {
        self.entries
            .last_key_value()
            .map(|(&sequence, stored)| (sequence, stored))
    }

    /// The entry at this place.
    pub fn by_sequence(&self, sequence: u64) -> Option<&Stored> {
        self.entries.get(&sequence)
    }

    /// The entry at this place.
    pub fn by_sequence_mut(&mut self, sequence: u64) -> Option<&mut Stored> {
        self.entries.get_mut(&sequence)
    }

    pub fn add(&mut self, stored: Stored) {
        for (field, values) in &mut self.values {
            if let Some(value) = stored.value(*field) {
                *values.entry(value.to_vec()).or_default() += 1;
            }
        }
        self.entries.insert(stored.handle.number(), stored);
    }

    pub fn remove(&mut self, handle: EntryHandle) -> Option<Stored> {
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

/// Identifiers of members and groups from here on belong to one-shot entries.
pub const FIRST_RESERVED_ID: u32 = 0xf000_0000;

/// What was written into one profile.
#[derive(Debug, Default)]
pub(crate) struct ProfileStore {
    pub members: BTreeMap<u32, p4rt::ActionProfileMember>,
    pub groups: BTreeMap<u32, p4rt::ActionProfileGroup>,
    reserved: u32,
    /// Entries that are one-shots, and entries that name members or groups.
    one_shots: usize,
    references: usize,
    /// The sizes of all groups together, with those of one-shots.
    pub size_of_groups: i64,
}

impl ProfileStore {
    /// An entry of one of its tables was added: a one-shot of this size, or one that names a member or group.
    pub fn entry_added(&mut self, one_shot: Option<i64>) {
        *self.entries(one_shot.is_some()) += 1;
        self.size_of_groups += one_shot.unwrap_or(0);
    }

    /// An entry of one of its tables was removed.
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

    /// Entries written the one way or the other.
    pub fn written(&self, one_shot: bool) -> usize {
        if one_shot { self.one_shots } else { self.references }
    }

    /// An identifier for a member or group of a one-shot entry. Wraps after 268 million of them; those still in use by
    /// then are refused by the data plane.
    pub fn reserve(&mut self) -> u32 {
        let id = FIRST_RESERVED_ID + self.reserved;
        self.reserved = (self.reserved + 1) % (u32::MAX - FIRST_RESERVED_ID);
        id
    }
}

/// The value of an exact or optional field.
pub fn single_value(field: &p4rt::FieldMatch) -> Option<&[u8]> {
    use p4rt::field_match::FieldMatchType;
    match field.field_match_type.as_ref()? {
        FieldMatchType::Exact(exact) => Some(&exact.value),
        FieldMatchType::Optional(optional) => Some(&optional.value),
        _ => None,
    }
}
