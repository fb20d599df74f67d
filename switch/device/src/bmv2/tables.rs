//! Tables: entries by handle, default actions, direct counters and meters.

use p4sched_dataplane::{ActionCall, Count, MatchKey, MatchKind, MeterConfig};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;

use super::{Refusal, Runtime, TableCode, table};
use crate::bytestring::{canonical, full_width};
use crate::entities::{meters, table_entries};
use crate::fault::Fault;
use crate::field::Field;
use crate::index::{Index, Table};
use crate::match_key::{self, key_of, ones, prefix_mask};
use crate::store::StoredEntry;

/// BMv2's lowest priority. P4Runtime's priorities are counted down from it.
const LAST_PRIORITY: i32 = i32::MAX;
const NANOS_PER_MILLI: i64 = 1_000_000;

/// One field of a key; its bytes have the field's full width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyParam {
    /// Equal to the value.
    Exact(Vec<u8>),
    /// A value and the length of its prefix in bits.
    Lpm(Vec<u8>, i32),
    /// Value and mask.
    Ternary(Vec<u8>, Vec<u8>),
    /// Validity of a header.
    Valid(bool),
    /// The first and the last value, both included.
    Range(Vec<u8>, Vec<u8>),
}

/// Action of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowAction {
    /// No default action was set.
    None,
    /// An action and its parameters at full width.
    Action(String, Vec<Vec<u8>>),
    /// A member of the table's action profile.
    Member(u32),
    /// A group of the table's action profile.
    Group(u32),
}

/// The idle timeout of an entry, in ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleTimeout {
    /// Time without a hit after which the entry counts as idle.
    pub timeout_ms: i32,
    /// Time since the last hit.
    pub since_hit_ms: i32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRow {
    pub handle: u32,
    /// One parameter for each field of the key.
    pub key: Vec<KeyParam>,
    /// The smallest wins; -1 in a table without priorities.
    pub priority: i32,
    pub action: RowAction,
    /// `None` without an idle timeout.
    pub life: Option<IdleTimeout>,
}

fn bad_key(fault: Fault) -> Refusal {
    TableCode::BadMatchKey.because(fault.message)
}

/// A key field as the stores hold it; bits outside the mask or prefix are cleared.
fn field_key(table: &str, field: &Field, given: &KeyParam) -> Result<MatchKey, Refusal> {
    let place = format!("{table}: key field '{}'", field.name);
    let full = |bytes: &[u8]| match bytes {
        [] => Err(TableCode::BadMatchKey.because(format!("{place}: an empty value"))),
        bytes => full_width(&place, bytes, field.width).map_err(bad_key),
    };
    let under = |value: &[u8], mask: &[u8]| value.iter().zip(mask).map(|(value, mask)| value & mask).collect();
    let kind = if field.in_program == MatchKind::Valid {
        MatchKind::Valid
    } else {
        field.kind
    };
    match (kind, given) {
        (MatchKind::Exact, KeyParam::Exact(value)) => Ok(MatchKey::Exact(full(value)?)),
        (MatchKind::Valid, KeyParam::Valid(valid)) => Ok(MatchKey::Valid(*valid)),
        (MatchKind::Valid, KeyParam::Exact(value)) => Ok(MatchKey::Valid(full(value)?.iter().any(|&byte| byte != 0))),
        (MatchKind::Lpm, KeyParam::Lpm(value, length)) => {
            let length = u32::try_from(*length).ok().filter(|&length| length <= field.width);
            let length = length.ok_or_else(|| {
                TableCode::BadMatchKey.because(format!("{place}: a prefix of 0 to {} bits", field.width))
            })?;
            let value = under(&full(value)?, &prefix_mask(field.width, length));
            Ok(MatchKey::Lpm(value, length as u16))
        }
        (MatchKind::Ternary, KeyParam::Ternary(value, mask)) => {
            let mask = full(mask)?;
            Ok(MatchKey::Ternary(under(&full(value)?, &mask), mask))
        }
        (MatchKind::Optional, KeyParam::Ternary(value, mask)) => {
            let mask = full(mask)?;
            let (all, none) = (mask == ones(field.width), mask.iter().all(|&byte| byte == 0));
            if !all && !none {
                let problem = format!("{place}: the mask of an optional field has all bits or none");
                return Err(TableCode::BadMatchKey.because(problem));
            }
            Ok(match field.in_program {
                MatchKind::Ternary => MatchKey::Ternary(under(&full(value)?, &mask), mask),
                _ => MatchKey::Optional(all.then(|| full(value)).transpose()?),
            })
        }
        (MatchKind::Range, KeyParam::Range(low, high)) => {
            let (low, high) = (full(low)?, full(high)?);
            if low > high {
                return Err(TableCode::BadMatchKey.because(format!("{place}: the range ends before it begins")));
            }
            Ok(MatchKey::Range(low, high))
        }
        (kind, _) => Err(TableCode::BadMatchKey.because(format!("{place}: a match of another kind than {kind:?}"))),
    }
}

fn param_of(field: &Field, key: MatchKey) -> KeyParam {
    match key {
        MatchKey::Exact(value) => KeyParam::Exact(value),
        MatchKey::Lpm(value, length) => KeyParam::Lpm(value, i32::from(length)),
        MatchKey::Ternary(value, mask) => KeyParam::Ternary(value, mask),
        MatchKey::Range(low, high) => KeyParam::Range(low, high),
        MatchKey::Optional(Some(value)) => KeyParam::Ternary(value, ones(field.width)),
        MatchKey::Optional(None) => {
            let zeros = vec![0; ones(field.width).len()];
            KeyParam::Ternary(zeros.clone(), zeros)
        }
        MatchKey::Valid(valid) => KeyParam::Valid(valid),
    }
}

/// The key and priority of an entry, converted to P4Runtime's.
fn entry_of(table: &Table, key: &[KeyParam], priority: i32) -> Result<p4rt::TableEntry, Refusal> {
    if table.fields.is_empty() {
        let problem = format!("{}: a table without a key has only its default action", table.name);
        return Err(TableCode::NoTableKey.because(problem));
    }
    if key.len() != table.fields.len() {
        let (given, needed) = (key.len(), table.fields.len());
        let problem = format!("{}: {given} key fields, it has {needed}", table.name);
        return Err(TableCode::BadMatchKey.because(problem));
    }
    let fields = table.fields.iter().zip(key);
    let keys = fields.map(|(field, given)| field_key(&table.name, field, given));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    let priority = match table.needs_priority {
        true if (0..LAST_PRIORITY).contains(&priority) => LAST_PRIORITY - priority,
        true => {
            let problem = format!(
                "{}: priority {priority}; priorities are 0 to {}",
                table.name,
                LAST_PRIORITY - 1
            );
            return Err(TableCode::Error.because(problem));
        }
        false => 0,
    };
    Ok(p4rt::TableEntry {
        table_id: table.id,
        r#match: match_key::to_response(&table.fields, &keys),
        priority,
        ..p4rt::TableEntry::default()
    })
}

/// The action of this name, among those of `ids`.
pub(super) fn action_of(
    index: &Index,
    mut ids: impl Iterator<Item = u32>,
    name: &str,
    data: &[Vec<u8>],
) -> Result<p4rt::Action, Refusal> {
    let found = ids.find_map(|id| {
        index
            .actions
            .get(&id)
            .filter(|action| action.name == name)
            .map(|action| (id, action))
    });
    let (action_id, action) =
        found.ok_or_else(|| TableCode::InvalidActionName.because(format!("no action '{name}' here")))?;
    if action.params.len() != data.len() {
        let problem = format!("{name} has {} parameters, not {}", action.params.len(), data.len());
        return Err(TableCode::BadActionData.because(problem));
    }
    let params = action
        .params
        .iter()
        .zip(data)
        .map(|(param, value)| p4rt::action::Param {
            param_id: param.id,
            value: canonical(value),
        });
    Ok(p4rt::Action {
        action_id,
        params: params.collect(),
    })
}

/// The name and parameters of an action, for an answer. As in BMv2, parameters have no leading zeros.
pub(super) fn named_action(index: &Index, action: &p4rt::Action) -> (String, Vec<Vec<u8>>) {
    let Some(declared) = index.actions.get(&action.action_id) else {
        return (String::new(), Vec::new());
    };
    let data = declared.params.iter().map(|param| {
        let given = action.params.iter().find(|given| given.param_id == param.id);
        let value = given.map_or(&[][..], |given| &given.value);
        full_width(&param.name, value, param.width).map_or_else(|_| value.to_vec(), |full| canonical(&full))
    });
    (declared.name.clone(), data.collect())
}

fn table_action(kind: ActionKind) -> Option<p4rt::TableAction> {
    Some(p4rt::TableAction { r#type: Some(kind) })
}

/// The P4Runtime message for an entry's action.
fn action_kind(index: &Index, table: &Table, action: &RowAction) -> Result<ActionKind, Refusal> {
    match (action, table.profile) {
        (RowAction::Action(name, data), None) => {
            let ids = table.actions.iter().map(|action| action.id);
            Ok(ActionKind::Action(action_of(index, ids, name, data)?))
        }
        (RowAction::Member(member), Some(_)) => Ok(ActionKind::ActionProfileMemberId(member.wrapping_add(1))),
        (RowAction::Group(group), Some(_)) => Ok(ActionKind::ActionProfileGroupId(group.wrapping_add(1))),
        _ => Err(TableCode::WrongTableType.because(match table.profile {
            Some(_) => format!(
                "{}: its entries have members or groups of its action profile",
                table.name
            ),
            None => format!("{}: it has no action profile", table.name),
        })),
    }
}

impl Runtime<'_> {
    pub fn entry_count(&self, name: &str) -> Result<usize, Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        Ok(self.store(table).map_or(0, |store| store.iter().count()))
    }

    /// Adds an entry and returns its handle.
    pub fn add(&mut self, name: &str, key: &[KeyParam], action: &RowAction, priority: i32) -> Result<u32, Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        let entry = p4rt::TableEntry {
            action: table_action(self.checked(&index, table, action)?),
            ..entry_of(table, key, priority)?
        };
        if table.is_const {
            return Err(TableCode::ImmutableTableEntries.because(format!("{name}: its entries are const")));
        }
        table_entries::write(self.forwarding, self.pipeline, Type::Insert, &entry)?;
        let stored = self.store(table).and_then(|store| store.last());
        let (handle, _) = stored.ok_or_else(|| TableCode::Error.because(format!("{name}: nothing was added")))?;
        Ok(handle as u32)
    }

    /// Checks an entry's action, with clearer errors than those of the shared tables.
    fn checked(&self, index: &Index, table: &Table, action: &RowAction) -> Result<ActionKind, Refusal> {
        let kind = action_kind(index, table, action)?;
        let store = table.profile.and_then(|profile| self.forwarding.profiles.get(&profile));
        match (&kind, store) {
            (ActionKind::ActionProfileMemberId(id), Some(store)) if !store.members.contains_key(id) => {
                Err(TableCode::InvalidMemberHandle.because(format!("{}: no such member", table.name)))
            }
            (ActionKind::ActionProfileGroupId(id), Some(store)) => match store.groups.get(id) {
                None => Err(TableCode::InvalidGroupHandle.because(format!("{}: no such group", table.name))),
                Some(group) if group.members.is_empty() => {
                    Err(TableCode::EmptyGroup.because(format!("{}: the group has no members", table.name)))
                }
                Some(_) => Ok(kind),
            },
            _ => Ok(kind),
        }
    }

    /// Replaces the action of an entry; its counter, meter and timeout stay.
    pub fn modify(&mut self, name: &str, handle: u32, action: &RowAction) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        let kind = self.checked(&index, table, action)?;
        let stored = self.stored(table, handle)?;
        let meter = match table.direct_meter {
            Some(_) => self
                .pipeline
                .direct_meter(table.table, stored.handle)
                .map_err(Fault::from)?,
            None => None,
        };
        let entry = p4rt::TableEntry {
            action: table_action(kind),
            is_const: false,
            meter_config: meter.map(meters::to_response),
            ..stored.entry.clone()
        };
        Ok(table_entries::write(
            self.forwarding,
            self.pipeline,
            Type::Modify,
            &entry,
        )?)
    }

    pub fn delete(&mut self, name: &str, handle: u32) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        let stored = self.stored(table, handle)?;
        if stored.entry.is_const {
            return Err(TableCode::ImmutableTableEntries.because(format!("{name}: the entry is const")));
        }
        let entry = stored.entry.clone();
        Ok(table_entries::write(
            self.forwarding,
            self.pipeline,
            Type::Delete,
            &entry,
        )?)
    }

    /// Removes all entries. If `reset_default`, the program's own default action is restored.
    pub fn clear(&mut self, name: &str, reset_default: bool) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        if table.is_const {
            return Err(TableCode::ImmutableTableEntries.because(format!("{name}: its entries are const")));
        }
        let entries = self.store(table).into_iter().flat_map(|store| store.iter());
        let entries: Vec<p4rt::TableEntry> = entries.map(|stored| stored.entry.clone()).collect();
        for entry in entries.iter().filter(|entry| !entry.is_const) {
            table_entries::write(self.forwarding, self.pipeline, Type::Delete, entry)?;
        }
        match reset_default && !table.const_default {
            true => self.set_default(name, &RowAction::None),
            false => Ok(()),
        }
    }

    /// Sets the default action; [`RowAction::None`] restores the program's own.
    pub fn set_default(&mut self, name: &str, action: &RowAction) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        if table.const_default {
            return Err(TableCode::DefaultEntryIsConst.because(format!("{name}: its default action is const")));
        }
        let kind = match action {
            RowAction::None => None,
            action => Some(self.checked(&index, table, action)?),
        };
        let call = match kind {
            // P4Runtime has no message for a default member or group.
            Some(ActionKind::ActionProfileMemberId(member)) => ActionCall::Member(member),
            Some(ActionKind::ActionProfileGroupId(group)) => ActionCall::Group(group),
            None if table.profile.is_some() => {
                return Ok(self
                    .pipeline
                    .table_set_default(table.table, None)
                    .map_err(Fault::from)?);
            }
            kind => {
                let entry = p4rt::TableEntry {
                    table_id: table.id,
                    is_default_action: true,
                    action: kind.and_then(table_action),
                    ..p4rt::TableEntry::default()
                };
                return Ok(table_entries::write(
                    self.forwarding,
                    self.pipeline,
                    Type::Modify,
                    &entry,
                )?);
            }
        };
        Ok(self
            .pipeline
            .table_set_default(table.table, Some(&call))
            .map_err(Fault::from)?)
    }

    pub fn default_action(&self, name: &str) -> Result<RowAction, Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        Ok(match self.pipeline.table_default(table.table) {
            None => RowAction::None,
            Some(ActionCall::Action { action, params }) => {
                let data = params.iter().map(|param| canonical(param)).collect();
                RowAction::Action(self.pipeline.action_name(action).to_owned(), data)
            }
            Some(ActionCall::Member(member)) => RowAction::Member(member.wrapping_sub(1)),
            Some(ActionCall::Group(group)) => RowAction::Group(group.wrapping_sub(1)),
        })
    }

    /// Sets the time in ms without a hit after which an entry counts as idle; 0 means never.
    pub fn set_timeout(&mut self, name: &str, handle: u32, timeout_ms: i32) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        if !table.notifies_idle {
            return Err(TableCode::AgeingDisabled.because(format!("{name}: it has no timeouts")));
        }
        self.stored(table, handle)?;
        let store = self.forwarding.tables.get_mut(&table.id);
        let stored = store.and_then(|store| store.by_sequence_mut(u64::from(handle)));
        if let Some(stored) = stored {
            stored.entry.idle_timeout_ns = i64::from(timeout_ms.max(0)) * NANOS_PER_MILLI;
        }
        Ok(())
    }

    /// All entries, in the order of insertion.
    pub fn entries(&self, name: &str) -> Result<Vec<EntryRow>, Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        let rows = self.store(table).into_iter().flat_map(|store| store.numbered());
        rows.map(|(handle, stored)| self.row(&index, table, handle as u32, stored))
            .collect()
    }

    pub fn entry(&self, name: &str, handle: u32) -> Result<EntryRow, Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        self.row(&index, table, handle, self.stored(table, handle)?)
    }

    /// The entry with this key and priority.
    pub fn entry_of_key(&self, name: &str, key: &[KeyParam], priority: i32) -> Result<EntryRow, Refusal> {
        let index = self.forwarding.index.clone();
        let table = table(&index, name)?;
        let wanted = key_of(table, &entry_of(table, key, priority)?).map_err(bad_key)?;
        let found = self
            .store(table)
            .and_then(|store| store.find(self.pipeline, table, &wanted));
        let stored = found.ok_or_else(|| TableCode::BadMatchKey.because(format!("{name}: no entry with this key")))?;
        self.row(&index, table, stored.handle.number() as u32, stored)
    }

    fn row(&self, index: &Index, table: &Table, handle: u32, stored: &StoredEntry) -> Result<EntryRow, Refusal> {
        let (keys, priority) = key_of(table, &stored.entry).map_err(bad_key)?;
        let key = table.fields.iter().zip(keys).map(|(field, key)| param_of(field, key));
        let action = match stored.entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            Some(ActionKind::Action(action)) => {
                let (name, data) = named_action(index, action);
                RowAction::Action(name, data)
            }
            Some(ActionKind::ActionProfileMemberId(member)) => RowAction::Member(member.wrapping_sub(1)),
            Some(ActionKind::ActionProfileGroupId(group)) => RowAction::Group(group.wrapping_sub(1)),
            // Like BMv2, shows the group behind a one-shot entry too.
            _ => match &stored.one_shot {
                Some(one_shot) => RowAction::Group(one_shot.group.wrapping_sub(1)),
                None => RowAction::None,
            },
        };
        let millis = |nanos: i64| i32::try_from(nanos / NANOS_PER_MILLI).unwrap_or(i32::MAX);
        let timeout = stored.entry.idle_timeout_ns;
        let hit = self.pipeline.last_hit(table.table, stored.handle).unwrap_or(self.now);
        Ok(EntryRow {
            handle,
            key: key.collect(),
            priority: if table.needs_priority {
                LAST_PRIORITY - priority
            } else {
                -1
            },
            action,
            life: (timeout > 0).then(|| IdleTimeout {
                timeout_ms: millis(timeout),
                since_hit_ms: millis(self.now.saturating_sub(hit).cast_signed()),
            }),
        })
    }

    fn counted<'i>(&self, index: &'i Index, name: &str) -> Result<&'i Table, Refusal> {
        let table = table(index, name)?;
        match self.pipeline.has_direct_counter(table.table) {
            true => Ok(table),
            false => Err(TableCode::CountersDisabled.because(format!("{name}: it has no direct counter"))),
        }
    }

    pub fn direct_counter(&self, name: &str, handle: u32) -> Result<Count, Refusal> {
        let index = self.forwarding.index.clone();
        let table = self.counted(&index, name)?;
        let place = self.stored(table, handle)?.handle;
        Ok(self.pipeline.direct_counter(table.table, place).map_err(Fault::from)?)
    }

    pub fn set_direct_counter(&mut self, name: &str, handle: u32, count: Count) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let table = self.counted(&index, name)?;
        let place = self.stored(table, handle)?.handle;
        Ok(self
            .pipeline
            .set_direct_counter(table.table, place, count)
            .map_err(Fault::from)?)
    }

    /// Sets the direct counters of all entries to 0.
    pub fn reset_direct_counters(&mut self, name: &str) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let table = self.counted(&index, name)?;
        for view in self.pipeline.table_entries(table.table) {
            let reset = self
                .pipeline
                .set_direct_counter(table.table, view.handle, Count::default());
            reset.map_err(Fault::from)?;
        }
        Ok(())
    }

    fn metered<'i>(&self, index: &'i Index, name: &str) -> Result<&'i Table, Refusal> {
        let table = table(index, name)?;
        match self.pipeline.has_direct_meter(table.table) {
            true => Ok(table),
            false => Err(TableCode::MetersDisabled.because(format!("{name}: it has no direct meter"))),
        }
    }

    /// An entry's direct meter; `None` while it is not configured.
    pub fn direct_meter(&self, name: &str, handle: u32) -> Result<Option<MeterConfig>, Refusal> {
        let index = self.forwarding.index.clone();
        let table = self.metered(&index, name)?;
        let place = self.stored(table, handle)?.handle;
        Ok(self.pipeline.direct_meter(table.table, place).map_err(Fault::from)?)
    }

    pub fn set_direct_meter(&mut self, name: &str, handle: u32, config: MeterConfig) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let table = self.metered(&index, name)?;
        let place = self.stored(table, handle)?.handle;
        let set = self.pipeline.set_direct_meter(table.table, place, Some(config));
        set.map_err(|error| TableCode::InvalidMeterOperation.because(error.to_string()))
    }
}
