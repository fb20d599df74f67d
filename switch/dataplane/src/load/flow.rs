//! Control flow: tables, conditions and action calls as nodes of a graph without cycles, read from the JSON.

use std::collections::{HashMap, HashSet};

use super::builder::Builder;
use super::calculation::Calculations;
use super::expr::Scope;
use super::graph::{NextNodes, Node};
use super::json::{Json, Load};
use super::linear::Linear;
use super::table_key::{const_key, key_spec};
use crate::bits::from_bytes;
use crate::run::entries::{Call, Entries};
use crate::run::layout::FieldOrValidity;
use crate::run::ops::Address;
use crate::run::profile::Profile;
use crate::run::table::{Action, DirectMeter, DirectRegisters, TableProgram, TableState};
use crate::values::{Count, KeyField, MatchKind};

const MAX_ENTRIES: u64 = 1 << 30;

/// Builds the control flow.
pub(crate) struct Loader<'a, 'l> {
    pub builder: &'a mut Builder<'l>,
    pub registers: &'a HashMap<String, u32>,
    pub filters: &'a HashMap<String, u32>,
    pub calculations: &'a mut Calculations,
    pub actions: &'a [Action],
    pub action_ids: &'a HashMap<i64, u32>,
    /// Direct meters by name.
    pub meters: &'a HashMap<String, DirectMeter>,
    pub nodes: Vec<Node>,
    pub following: Vec<NextNodes>,
    pub tables: Vec<TableProgram>,
    pub states: Vec<TableState>,
    pub profiles: Vec<Profile>,
}

impl Loader<'_, '_> {
    /// Loads a pipeline; returns the address of its code.
    pub fn pipeline(&mut self, json: &Json) -> Load<Address> {
        let first_profile = self.profiles.len();
        for profile in json.list("action_profiles")? {
            self.action_profile(&profile)?;
        }
        let tables = json.list("tables")?;
        let conditions = json.list("conditionals")?;
        let calls = json.list("action_calls")?;
        let first_node = self.nodes.len();
        let mut names = HashMap::new();
        for (index, node) in tables.iter().chain(&conditions).chain(&calls).enumerate() {
            let name = node.get("name")?;
            if names
                .insert(name.str()?.to_string(), (first_node + index) as u32)
                .is_some()
            {
                return name.error("another table or condition has this name");
            }
        }
        let find = |json: Option<Json>| match json {
            None => Ok(None),
            Some(json) => match names.get(json.str()?) {
                Some(&node) => Ok(Some(node)),
                None => json.error(format!("no table or condition '{}'", json.str()?)),
            },
        };
        for table in &tables {
            self.nodes.push(Node::Table(self.tables.len() as u32));
            self.table(table, first_profile, &find)?;
        }
        for condition in &conditions {
            let node = self.condition(condition, &find)?;
            self.nodes.push(node);
        }
        for call in &calls {
            let action = self.action(&call.get("action_id")?)?;
            if !self.actions[action as usize].params.is_empty() {
                return call.error("the action takes parameters, so only a table can call it");
            }
            self.nodes.push(Node::Action {
                action,
                next: find(call.opt("next_node"))?,
            });
        }
        self.check_cycles(json, first_node)?;
        let first = find(json.opt("init_table"))?;
        Ok(Linear::new(
            self.builder,
            &self.nodes,
            &self.following,
            &mut self.tables,
            self.actions,
        )
        .emit(first))
    }

    fn successors(&self, node: u32) -> Vec<u32> {
        match &self.nodes[node as usize] {
            Node::Condition { yes, no, .. } => yes.iter().chain(no).copied().collect(),
            Node::Action { next, .. } => next.iter().copied().collect(),
            Node::Table(table) => self.following[*table as usize].all().collect(),
        }
    }

    /// Refuses cycles, which would keep a packet forever.
    fn check_cycles(&self, json: &Json, first: usize) -> Load<()> {
        let count = self.nodes.len() - first;
        let mut incoming = vec![0usize; count];
        for node in first..self.nodes.len() {
            for next in self.successors(node as u32) {
                incoming[next as usize - first] += 1;
            }
        }
        let mut ready: Vec<usize> = (0..count).filter(|&node| incoming[node] == 0).collect();
        let mut sorted = 0;
        while let Some(node) = ready.pop() {
            sorted += 1;
            for next in self.successors((first + node) as u32) {
                let left = &mut incoming[next as usize - first];
                *left -= 1;
                if *left == 0 {
                    ready.push(next as usize - first);
                }
            }
        }
        if sorted < count {
            return json.error("its tables and conditions form a cycle");
        }
        Ok(())
    }

    fn action(&self, json: &Json) -> Load<u32> {
        match self.action_ids.get(&json.int()?) {
            Some(&action) => Ok(action),
            None => json.error("no action with this id"),
        }
    }

    fn condition(&mut self, json: &Json, find: &dyn Fn(Option<Json>) -> Load<Option<u32>>) -> Load<Node> {
        let scope = Scope::new(self.builder.layout, self.registers, &[]);
        let truth = scope.bool(&json.get("expression")?)?;
        Ok(Node::Condition {
            name: json.get("name")?.str()?.to_string(),
            source: json.source(),
            truth,
            yes: find(json.opt("true_next"))?,
            no: find(json.opt("false_next"))?,
        })
    }

    fn action_profile(&mut self, json: &Json) -> Load<()> {
        let name = json.get("name")?.str()?.to_string();
        let size = json.opt("max_size").map_or(Ok(0), |size| size.count(MAX_ENTRIES))?;
        let selector = match json.opt("selector") {
            Some(selector) => Some(self.calculations.add_selector(&selector, self.builder.layout)?),
            None => None,
        };
        self.add_profile(name, size, selector);
        Ok(())
    }

    fn add_profile(&mut self, name: String, size: usize, selector: Option<u32>) -> u32 {
        self.profiles.push(Profile {
            name,
            size,
            actions: Vec::new(),
            selector,
            members: HashMap::new(),
            groups: HashMap::new(),
            at_random: HashSet::new(),
            tables: Vec::new(),
        });
        self.profiles.len() as u32 - 1
    }

    fn table(
        &mut self,
        json: &Json,
        first_profile: usize,
        find: &dyn Fn(Option<Json>) -> Load<Option<u32>>,
    ) -> Load<()> {
        let name = json.get("name")?.str()?.to_string();
        let key = json.list("key")?;
        let specs = key
            .iter()
            .map(|field| key_spec(field, self.builder.layout))
            .collect::<Load<Vec<_>>>()?;
        if specs.iter().filter(|spec| spec.kind == MatchKind::Lpm).count() > 1 {
            return json.error("a table with two lpm fields is not supported");
        }
        let scanned = match json.get("match_type")?.str()? {
            "exact" | "lpm" => false,
            "ternary" | "range" | "optional" => true,
            other => return json.error(format!("match type '{other}' is not supported")),
        };
        let size = match json.opt("max_size") {
            Some(size) => size.count(MAX_ENTRIES)?,
            None => json.list("entries")?.len(),
        };
        let profile = self.implementation(json, first_profile)?;
        let meter = match json.opt("direct_meters") {
            Some(meter) => match self.meters.get(meter.str()?) {
                Some(&meter) => Some(meter),
                None => return meter.error(format!("no direct meter '{}'", meter.str()?)),
            },
            None => None,
        };
        let direct = match json.opt("direct_registers") {
            Some(direct) => Some(self.direct_registers(&direct)?),
            None => None,
        };
        let next = json.get("next_tables")?;
        let asks = next.value().get("__HIT__").is_some() || next.value().get("__MISS__").is_some();
        let hit_miss = if asks {
            Some((find(next.opt("__HIT__"))?, find(next.opt("__MISS__"))?))
        } else {
            None
        };
        let otherwise = find(json.opt("base_default_next"))?;
        let mut following = NextNodes {
            actions: Vec::new(),
            hit_miss,
            otherwise,
        };
        let mut actions = Vec::new();
        for action in self.table_actions(json)? {
            // Addresses are filled in after the control flow is laid out.
            actions.push((action, 0));
            following
                .actions
                .push(find(next.opt(&self.actions[action as usize].name))?);
        }
        self.following.push(following);
        if let Some(profile) = profile {
            let profile = &mut self.profiles[profile as usize];
            profile.tables.push(self.tables.len() as u32);
            profile.actions.extend(actions.iter().map(|(action, _)| action));
        }
        let key = specs
            .iter()
            .map(|s| KeyField {
                name: s.name.clone(),
                kind: s.kind,
                width: s.width,
            })
            .collect();
        let mut table = TableProgram {
            name: name.clone(),
            key,
            actions,
            hit_miss: None,
            otherwise: 0,
            with_counters: json.flag("with_counters")?,
            meter,
            profile,
            direct,
            initial_default: None,
            const_default_action: false,
            const_default_entry: false,
            const_entries: false,
        };
        let entries = Entries::new(name, specs, size, scanned);
        let mut state = TableState {
            entries,
            default: None,
            missed: Count::default(),
            default_meter: None,
        };
        if let Some(entry) = json.opt("default_entry") {
            table.const_default_action = entry.flag("action_const")?;
            table.const_default_entry = entry.flag("action_entry_const")?;
            let call = self.call(&table, &entry)?;
            table.initial_default = Some(call.clone());
            state.default = Some(call);
        }
        if let Some(entries) = json.opt("entries") {
            table.const_entries = true;
            state.entries.size = entries.items()?.len();
            for entry in entries.items()? {
                self.const_entry(&table, &mut state.entries, &entry)?;
            }
        }
        self.tables.push(table);
        self.states.push(state);
        Ok(())
    }

    /// `{"cell": [header, field], "registers": [names], "filters": [names]}`; filters may be left out.
    fn direct_registers(&self, json: &Json) -> Load<DirectRegisters> {
        let cell = json.get("cell")?;
        let layout = self.builder.layout;
        let cell = match layout.field(&cell)? {
            FieldOrValidity::Field(field) if layout.fields[field as usize].width <= 64 => {
                layout.fields[field as usize].slot
            }
            _ => return cell.error("should be a field of at most 64 bits"),
        };
        let mut registers = Vec::new();
        for name in json.list("registers")? {
            match self.registers.get(name.str()?) {
                Some(&register) => registers.push(register),
                None => return name.error(format!("no register '{}'", name.str()?)),
            }
        }
        let mut filters = Vec::new();
        for name in json.list("filters")? {
            match self.filters.get(name.str()?) {
                Some(&filter) => filters.push(filter),
                None => return name.error(format!("no filter '{}'", name.str()?)),
            }
        }
        Ok(DirectRegisters {
            cell,
            registers,
            filters,
        })
    }

    fn implementation(&mut self, json: &Json, first_profile: usize) -> Load<Option<u32>> {
        let kind = json.get("type")?;
        let with_selector = match kind.str()? {
            "simple" => return Ok(None),
            "indirect" => false,
            "indirect_ws" => true,
            other => return kind.error(format!("table type '{other}' is not supported")),
        };
        if let Some(name) = json.opt("action_profile") {
            let found = self.profiles[first_profile..]
                .iter()
                .position(|p| Some(p.name.as_str()) == name.value().as_str());
            return match found {
                Some(found) => Ok(Some((first_profile + found) as u32)),
                None => name.error("no such action profile"),
            };
        }
        // The older format, without a separate list of action profiles.
        let name = json.get("act_prof_name")?.str()?.to_string();
        let selector = if with_selector {
            Some(
                self.calculations
                    .add_selector(&json.get("selector")?, self.builder.layout)?,
            )
        } else {
            None
        };
        Ok(Some(self.add_profile(name, 0, selector)))
    }

    fn table_actions(&self, json: &Json) -> Load<Vec<u32>> {
        if json.opt("action_ids").is_some() {
            return json.list("action_ids")?.iter().map(|id| self.action(id)).collect();
        }
        let mut actions = Vec::new();
        for name in json.list("actions")? {
            let wanted = name.str()?;
            match self.actions.iter().position(|action| action.name == wanted) {
                Some(action) => actions.push(action as u32),
                None => return name.error(format!("no action '{wanted}'")),
            }
        }
        Ok(actions)
    }

    /// Reads `action_id` and `action_data` of a default or constant entry.
    fn call(&self, table: &TableProgram, json: &Json) -> Load<Call> {
        let id = json.get("action_id")?;
        let action = self.action(&id)?;
        let Some(choice) = table.actions.iter().position(|(a, _)| *a == action) else {
            return id.error(format!("not an action of table {}", table.name));
        };
        let values = json.list("action_data")?;
        let params = &self.actions[action as usize].params;
        if values.len() != params.len() {
            return json.error(format!(
                "the action takes {} parameters, not {}",
                params.len(),
                values.len()
            ));
        }
        let mut packed = Vec::new();
        for (value, (name, width)) in values.iter().zip(params) {
            match from_bytes(&value.bytes()?, *width) {
                Some(words) => packed.extend(words),
                None => return value.error(format!("does not fit into the {width} bits of '{name}'")),
            }
        }
        Ok(Call::Action {
            action,
            choice: choice as u32,
            params: packed.into(),
        })
    }

    fn const_entry(&self, table: &TableProgram, entries: &mut Entries, json: &Json) -> Load<()> {
        let mut key = Vec::new();
        for field in json.get("match_key")?.items()? {
            key.push(const_key(&field)?);
        }
        let call = self.call(table, &json.get("action_entry")?)?;
        // In the JSON the smallest number is the most urgent.
        let priority = json.opt("priority").map_or(Ok(0), |p| p.count(i32::MAX as u64))? as i32;
        let inserted = entries
            .pack(&key)
            .and_then(|packed| entries.insert(&packed, i32::MAX - priority, call, 0));
        match inserted {
            Ok(slot) => {
                entries.set_const(slot);
                Ok(())
            }
            Err(error) => json.error(error.to_string()),
        }
    }
}
