//! The control plane's view of tables and action profiles.

use crate::bits::{from_bytes, to_bytes, words};
use crate::errors::TableError;
use crate::ids::{ActionId, EntryHandle, Nanos, ProfileId, TableId};
use crate::run::entries::{Call, Params};
use crate::run::meter::Meter;
use crate::run::pipeline::Pipeline;
use crate::run::table::{TableProgram, TableState};
use crate::values::{ActionCall, Count, EntryView, KeyField, MatchKey, MeterConfig, Row};

/// Tables and their entries.
impl Pipeline {
    fn tables(&self, table: TableId) -> (&TableProgram, &TableState) {
        (
            &self.core.program.code.tables[table.index()],
            &self.core.state.tables[table.index()],
        )
    }

    /// Finds a table by its P4 name.
    pub fn table(&self, name: &str) -> Option<TableId> {
        self.core
            .program
            .code
            .tables
            .iter()
            .position(|table| table.name == name)
            .map(|index| TableId(index as u32))
    }

    /// All tables, in the order of the JSON.
    pub fn table_ids(&self) -> impl Iterator<Item = TableId> + use<> {
        (0..self.core.program.code.tables.len() as u32).map(TableId)
    }

    /// The P4 name of a table.
    pub fn table_name(&self, table: TableId) -> &str {
        &self.core.program.code.tables[table.index()].name
    }

    /// The key fields of a table.
    pub fn table_key(&self, table: TableId) -> &[KeyField] {
        &self.core.program.code.tables[table.index()].key
    }

    /// Largest number of entries of a table.
    pub fn table_size(&self, table: TableId) -> usize {
        self.core.state.tables[table.index()].entries.size
    }

    /// Current number of entries of a table.
    pub fn table_len(&self, table: TableId) -> usize {
        self.core.state.tables[table.index()].entries.len()
    }

    /// True if the entries of a table are ordered by priority.
    pub fn table_has_priority(&self, table: TableId) -> bool {
        self.core.state.tables[table.index()].entries.has_priority()
    }

    /// The actions a table may use.
    pub fn table_actions(&self, table: TableId) -> impl Iterator<Item = ActionId> {
        let actions = self.core.program.code.tables[table.index()].actions.iter();
        actions.map(|(action, _)| ActionId(*action))
    }

    /// True if the program declares the entries of a table const.
    pub fn table_is_const(&self, table: TableId) -> bool {
        self.core.program.code.tables[table.index()].const_entries
    }

    /// True if the program declares the default action of a table const.
    pub fn table_default_is_const(&self, table: TableId) -> bool {
        self.core.program.code.tables[table.index()].const_default_entry
    }

    /// Finds an action by its P4 name, among those that a table may use.
    pub fn table_action(&self, table: TableId, name: &str) -> Option<ActionId> {
        let actions = &self.core.program.code.tables[table.index()].actions;
        let found = actions
            .iter()
            .find(|(action, _)| self.core.program.code.actions[*action as usize].name == name);
        found.map(|(action, _)| ActionId(*action))
    }

    /// The P4 name of an action.
    pub fn action_name(&self, action: ActionId) -> &str {
        &self.core.program.code.actions[action.index()].name
    }

    /// The parameters of an action: name and width in bits.
    pub fn action_params(&self, action: ActionId) -> &[(String, u32)] {
        &self.core.program.code.actions[action.index()].params
    }

    /// Adds an entry. `priority`: the largest one wins, as in P4Runtime (ignored by exact and LPM tables).
    pub fn table_insert(
        &mut self,
        table: TableId,
        key: &[MatchKey],
        priority: i32,
        action: &ActionCall,
    ) -> Result<EntryHandle, TableError> {
        self.check_mutable(table)?;
        let call = self.pack_call(table, action)?;
        let now = self.core.state.now;
        let entries = &mut self.core.state.tables[table.index()].entries;
        let packed = entries.pack(key)?;
        let slot = entries.insert(&packed, priority, call, now)?;
        let handle = entries.handle(slot);
        if let Some(direct) = &self.core.program.code.tables[table.index()].direct {
            for &register in &direct.registers {
                self.core.state.registers.0[register as usize].reset(slot as usize);
            }
            for &filter in &direct.filters {
                self.core.state.filters[filter as usize].reset(slot as usize, now);
            }
        }
        Ok(handle)
    }

    /// Finds the entry with exactly this key (and priority).
    pub fn table_find(&self, table: TableId, key: &[MatchKey], priority: i32) -> Option<EntryHandle> {
        let entries = &self.core.state.tables[table.index()].entries;
        let packed = entries.pack(key).ok()?;
        entries.position(&packed, priority).map(|slot| entries.handle(slot))
    }

    /// Replaces the action of an entry; its counter and meter stay.
    pub fn table_modify(&mut self, table: TableId, entry: EntryHandle, action: &ActionCall) -> Result<(), TableError> {
        self.check_mutable(table)?;
        let call = self.pack_call(table, action)?;
        self.core.state.tables[table.index()].entries.get_mut(entry)?.call = call;
        Ok(())
    }

    pub fn table_delete(&mut self, table: TableId, entry: EntryHandle) -> Result<(), TableError> {
        self.check_mutable(table)?;
        let entries = &mut self.core.state.tables[table.index()].entries;
        let slot = entries.resolve(entry)?;
        entries.remove(slot);
        Ok(())
    }

    fn check_mutable(&self, table: TableId) -> Result<(), TableError> {
        let table = &self.core.program.code.tables[table.index()];
        if table.const_entries {
            Err(TableError::Const(table.name.clone()))
        } else {
            Ok(())
        }
    }

    /// Replaces the default action and all its parameters; `None` restores the program's own.
    pub fn table_set_default(&mut self, table: TableId, action: Option<&ActionCall>) -> Result<(), TableError> {
        let program = &self.core.program.code.tables[table.index()];
        let call = match action {
            Some(action) => Some(self.pack_call(table, action)?),
            None => program.initial_default.clone(),
        };
        if call != self.core.state.tables[table.index()].default {
            let same_action = match (&call, &self.core.state.tables[table.index()].default) {
                (Some(Call::Action { action: a, .. }), Some(Call::Action { action: b, .. })) => a == b,
                _ => false,
            };
            if program.const_default_entry || program.const_default_action && !same_action {
                return Err(TableError::Const(format!("{} (default action)", program.name)));
            }
        }
        self.core.state.tables[table.index()].default = call;
        Ok(())
    }

    /// The current default action; `None` if neither the program nor the controller has set one.
    pub fn table_default(&self, table: TableId) -> Option<ActionCall> {
        let (_, state) = self.tables(table);
        state.default.as_ref().map(|call| self.unpack_call(call))
    }

    /// All entries in the order of their slots. This is the order of insertion, unless slots were reused.
    pub fn table_entries(&self, table: TableId) -> Vec<EntryView> {
        let (_, state) = self.tables(table);
        state.entries.used().map(|slot| self.view(state, slot)).collect()
    }

    pub fn table_entry(&self, table: TableId, entry: EntryHandle) -> Result<EntryView, TableError> {
        let (_, state) = self.tables(table);
        Ok(self.view(state, state.entries.resolve(entry)?))
    }

    fn view(&self, state: &TableState, slot: u32) -> EntryView {
        let (entry, origin) = (state.entries.entry(slot), state.entries.origin(slot));
        EntryView {
            handle: state.entries.handle(slot),
            key: state.entries.unpack(slot),
            priority: origin.priority,
            action: entry.map_or(ActionCall::Member(0), |entry| self.unpack_call(&entry.call)),
            is_const: origin.is_const,
        }
    }

    /// Time of the last match of an entry, or of its insertion.
    pub fn last_hit(&self, table: TableId, entry: EntryHandle) -> Result<Nanos, TableError> {
        Ok(self.core.state.tables[table.index()].entries.get(entry)?.last_hit)
    }

    pub fn has_direct_counter(&self, table: TableId) -> bool {
        self.core.program.code.tables[table.index()].with_counters
    }

    fn check_counters(&self, table: TableId) -> Result<(), TableError> {
        let without = || TableError::Without(self.table_name(table).to_string(), "direct counter");
        self.has_direct_counter(table).then_some(()).ok_or_else(without)
    }

    /// Reads the direct counter of an entry or of the default action.
    pub fn direct_counter(&self, table: TableId, row: impl Into<Row>) -> Result<Count, TableError> {
        self.check_counters(table)?;
        let state = &self.core.state.tables[table.index()];
        match row.into() {
            Row::Entry(entry) => Ok(state.entries.get(entry)?.count),
            Row::Default => Ok(state.missed),
        }
    }

    /// Sets the direct counter of an entry or of the default action.
    pub fn set_direct_counter(&mut self, table: TableId, row: impl Into<Row>, count: Count) -> Result<(), TableError> {
        self.check_counters(table)?;
        let state = &mut self.core.state.tables[table.index()];
        match row.into() {
            Row::Entry(entry) => state.entries.get_mut(entry)?.count = count,
            Row::Default => state.missed = count,
        }
        Ok(())
    }

    pub fn has_direct_meter(&self, table: TableId) -> bool {
        self.core.program.code.tables[table.index()].meter.is_some()
    }

    fn check_meters(&self, table: TableId) -> Result<(), TableError> {
        let without = || TableError::Without(self.table_name(table).to_string(), "direct meter");
        self.has_direct_meter(table).then_some(()).ok_or_else(without)
    }

    fn meter_of(&self, table: TableId, row: Row) -> Result<Option<&Meter>, TableError> {
        self.check_meters(table)?;
        let state = &self.core.state.tables[table.index()];
        match row {
            Row::Entry(entry) => Ok(state.entries.get(entry)?.meter.as_deref()),
            Row::Default => Ok(state.default_meter.as_deref()),
        }
    }

    fn meter_of_mut(&mut self, table: TableId, row: Row) -> Result<&mut Option<Box<Meter>>, TableError> {
        self.check_meters(table)?;
        let state = &mut self.core.state.tables[table.index()];
        match row {
            Row::Entry(entry) => Ok(&mut state.entries.get_mut(entry)?.meter),
            Row::Default => Ok(&mut state.default_meter),
        }
    }

    /// Reads the direct meter of an entry or of the default action; `None` if it is not configured (all packets are
    /// green).
    pub fn direct_meter(&self, table: TableId, row: impl Into<Row>) -> Result<Option<MeterConfig>, TableError> {
        Ok(self.meter_of(table, row.into())?.and_then(Meter::config))
    }

    /// Configures the direct meter of an entry or of the default action, with full buckets; `None` makes all packets
    /// green again.
    pub fn set_direct_meter(
        &mut self,
        table: TableId,
        row: impl Into<Row>,
        config: Option<MeterConfig>,
    ) -> Result<(), TableError> {
        let name = &self.core.program.code.tables[table.index()].name;
        let config = config.map(|config| config.check(name)).transpose()?;
        let row = row.into();
        let meter = self.meter_of_mut(table, row)?;
        match config {
            // Without rates, the meter does not change the colour of a packet.
            None if row == Row::Default => *meter = None,
            config => meter.get_or_insert_default().configure(config),
        }
        Ok(())
    }

    /// Green, yellow and red packets of the direct meter of an entry or of the default action.
    pub fn direct_meter_counts(&self, table: TableId, row: impl Into<Row>) -> Result<[Count; 3], TableError> {
        Ok(self
            .meter_of(table, row.into())?
            .map_or_else(Default::default, |meter| meter.counts))
    }

    /// Sets the counts of green, yellow and red packets. The default action has no counts while its meter is not
    /// configured.
    pub fn set_direct_meter_counts(
        &mut self,
        table: TableId,
        row: impl Into<Row>,
        counts: [Count; 3],
    ) -> Result<(), TableError> {
        if let Some(meter) = self.meter_of_mut(table, row.into())? {
            meter.counts = counts;
        }
        Ok(())
    }

    fn pack_call(&self, table: TableId, call: &ActionCall) -> Result<Call, TableError> {
        let program = &self.core.program.code.tables[table.index()];
        let bad = |problem: &str| TableError::BadAction {
            table: program.name.clone(),
            problem: problem.to_string(),
        };
        match (call, program.profile) {
            (ActionCall::Action { action, params }, None) => {
                let Some(choice) = program.actions.iter().position(|(a, _)| *a == action.0) else {
                    return Err(bad("the action is not one of this table's"));
                };
                let params = self.pack_params(&program.name, *action, params)?;
                Ok(Call::Action {
                    action: action.0,
                    choice: choice as u32,
                    params,
                })
            }
            (ActionCall::Action { .. }, Some(_)) => Err(bad("takes a member or group of its action profile")),
            (ActionCall::Member(_) | ActionCall::Group(_), None) => Err(bad("has no action profile")),
            (ActionCall::Member(member), Some(profile)) => self.core.state.profiles[profile as usize].member(*member),
            (ActionCall::Group(group), Some(profile)) => self.core.state.profiles[profile as usize].group(*group),
        }
    }

    fn pack_params(&self, owner: &str, action: ActionId, params: &[Vec<u8>]) -> Result<Params, TableError> {
        let bad = |problem: String| TableError::BadAction {
            table: owner.to_string(),
            problem,
        };
        let action = &self.core.program.code.actions[action.index()];
        if params.len() != action.params.len() {
            let (expected, given) = (action.params.len(), params.len());
            return Err(bad(format!(
                "action {} takes {expected} parameters, not {given}",
                action.name
            )));
        }
        let mut packed = Vec::new();
        for (value, (name, width)) in params.iter().zip(&action.params) {
            match from_bytes(value, *width) {
                Some(words) => packed.extend(words),
                None => {
                    return Err(bad(format!(
                        "'{name}' of {} does not fit into {width} bits",
                        action.name
                    )));
                }
            }
        }
        Ok(packed.into())
    }

    fn unpack_call(&self, call: &Call) -> ActionCall {
        match call {
            Call::Member(member) => ActionCall::Member(*member),
            Call::Group(group) => ActionCall::Group(*group),
            Call::Action { action, params, .. } => {
                let mut at = 0;
                let mut values = Vec::new();
                for (_, width) in &self.core.program.code.actions[*action as usize].params {
                    values.push(to_bytes(&params[at..at + words(*width)], *width));
                    at += words(*width);
                }
                ActionCall::Action {
                    action: ActionId(*action),
                    params: values,
                }
            }
        }
    }
}

/// Action profiles and selectors.
impl Pipeline {
    /// Finds an action profile or selector by its P4 name.
    pub fn action_profile(&self, name: &str) -> Option<ProfileId> {
        self.core
            .state
            .profiles
            .iter()
            .position(|profile| profile.name == name)
            .map(|index| ProfileId(index as u32))
    }

    /// All action profiles, in the order of the JSON.
    pub fn profile_ids(&self) -> impl Iterator<Item = ProfileId> + use<> {
        (0..self.core.state.profiles.len() as u32).map(ProfileId)
    }

    /// The P4 name of an action profile.
    pub fn profile_name(&self, profile: ProfileId) -> &str {
        &self.core.state.profiles[profile.index()].name
    }

    /// Largest number of members of an action profile.
    pub fn profile_size(&self, profile: ProfileId) -> usize {
        self.core.state.profiles[profile.index()].size
    }

    /// True if an action profile has groups.
    pub fn profile_has_selector(&self, profile: ProfileId) -> bool {
        self.core.state.profiles[profile.index()].selector.is_some()
    }

    /// The action profile that implements a table.
    pub fn table_profile(&self, table: TableId) -> Option<ProfileId> {
        self.core.program.code.tables[table.index()].profile.map(ProfileId)
    }

    /// Finds an action by its P4 name, among those that the profile's tables may use.
    pub fn profile_action(&self, profile: ProfileId, name: &str) -> Option<ActionId> {
        let actions = &self.core.state.profiles[profile.index()].actions;
        actions
            .iter()
            .find(|action| self.core.program.code.actions[**action as usize].name == name)
            .map(|action| ActionId(*action))
    }

    fn profile_call(&self, profile: ProfileId, action: ActionId, params: &[Vec<u8>]) -> Result<Call, TableError> {
        let profile = &self.core.state.profiles[profile.index()];
        if !profile.actions.contains(&action.0) {
            let problem = "the action is not one of its tables'".to_string();
            return Err(TableError::BadAction {
                table: profile.name.clone(),
                problem,
            });
        }
        Ok(Call::Action {
            action: action.0,
            choice: 0,
            params: self.pack_params(&profile.name, action, params)?,
        })
    }

    /// Adds a member with an identifier chosen by the caller.
    pub fn member_insert(
        &mut self,
        profile: ProfileId,
        member: u32,
        action: ActionId,
        params: &[Vec<u8>],
    ) -> Result<(), TableError> {
        let call = self.profile_call(profile, action, params)?;
        self.core.state.profiles[profile.index()].insert(member, call)
    }

    /// Replaces the action of a member.
    pub fn member_modify(
        &mut self,
        profile: ProfileId,
        member: u32,
        action: ActionId,
        params: &[Vec<u8>],
    ) -> Result<(), TableError> {
        let call = self.profile_call(profile, action, params)?;
        self.core.state.profiles[profile.index()].modify(member, call)
    }

    /// Removes a member that no entry and no group uses.
    pub fn member_delete(&mut self, profile: ProfileId, member: u32) -> Result<(), TableError> {
        let used = self.is_used(profile, &Call::Member(member));
        self.core.state.profiles[profile.index()].delete(member, used)
    }

    /// Adds a group of members; a member listed n times gets n shares.
    pub fn group_insert(&mut self, profile: ProfileId, group: u32, members: &[u32]) -> Result<(), TableError> {
        self.core.state.profiles[profile.index()].insert_group(group, members)
    }

    /// Replaces the members of a group.
    pub fn group_modify(&mut self, profile: ProfileId, group: u32, members: &[u32]) -> Result<(), TableError> {
        self.core.state.profiles[profile.index()].modify_group(group, members)
    }

    /// Chooses members of a group at random instead of by the selector's hash.
    pub fn group_at_random(&mut self, profile: ProfileId, group: u32, at_random: bool) -> Result<(), TableError> {
        self.core.state.profiles[profile.index()].choose_at_random(group, at_random)
    }

    /// Removes a group that no entry uses.
    pub fn group_delete(&mut self, profile: ProfileId, group: u32) -> Result<(), TableError> {
        let used = self.is_used(profile, &Call::Group(group));
        self.core.state.profiles[profile.index()].delete_group(group, used)
    }

    fn is_used(&self, profile: ProfileId, call: &Call) -> bool {
        self.core.state.profiles[profile.index()].tables.iter().any(|&table| {
            let state = &self.core.state.tables[table as usize];
            state.default.as_ref() == Some(call) || state.entries.any_call(|other| other == call)
        })
    }
}
