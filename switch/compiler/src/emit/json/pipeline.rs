//! Actions, tables, conditions.

use serde_json::{Map, Value, json};

use super::{Emitter, expr::hex, object};
use crate::ir::{ActionCall, Entry, HeaderRef, Key, Match, Next, Node, Pipeline, Profile, Table};

impl Emitter<'_> {
    pub(super) fn actions(&self) -> Vec<Value> {
        let mut list = Vec::new();
        for (id, action) in self.ir.actions.iter().enumerate() {
            let param = |p: &crate::ir::ActionParam| json!({"name": &*p.name, "bitwidth": p.width});
            let params: Vec<Value> = action.params.iter().map(param).collect();
            let code: Vec<Value> = self.expanded(&action.code).iter().map(|p| self.primitive(p)).collect();
            list.push(json!({"name": action.name, "id": id, "runtime_data": params, "primitives": code}));
        }
        list
    }

    pub(super) fn pipelines(&self) -> Vec<Value> {
        let mut first_condition = 0;
        let mut first_table = 0;
        let mut list = Vec::new();
        for (id, pipeline) in self.ir.pipelines.iter().enumerate() {
            list.push(self.pipeline(pipeline, id, first_table, first_condition));
            first_condition += pipeline.conditions.len();
            first_table += pipeline.tables.len();
        }
        list
    }

    fn pipeline(&self, pipeline: &Pipeline, id: usize, tables: usize, conditions: usize) -> Value {
        let first = [("init_table", self.node(pipeline.first, conditions))];
        let mut out = self.named(pipeline.name, id, pipeline.span, first);
        let table = |(i, (table, next)): (usize, &(usize, Next))| {
            Value::Object(self.table(&self.ir.tables[*table], next, tables + i, conditions))
        };
        let list: Vec<Value> = pipeline.tables.iter().enumerate().map(table).collect();
        out.insert("tables".to_owned(), json!(list));
        let profiles = self.ir.profiles.iter().enumerate();
        let own = profiles.filter(|(_, p)| p.tables.iter().any(|t| pipeline.tables.iter().any(|(u, _)| u == t)));
        let list: Vec<Value> = own.map(|(id, p)| self.profile(p, id)).collect();
        out.insert("action_profiles".to_owned(), json!(list));
        let mut list = Vec::new();
        for (i, condition) in pipeline.conditions.iter().enumerate() {
            let more = [
                ("expression", self.value(&condition.expr)),
                ("true_next", self.node(condition.yes, conditions)),
                ("false_next", self.node(condition.no, conditions)),
            ];
            let id = conditions + i;
            list.push(Value::Object(self.named(&node_name(id), id, condition.span, more)));
        }
        out.insert("conditionals".to_owned(), json!(list));
        Value::Object(out)
    }

    /// Name of a node; conditions are numbered from `first`.
    fn node(&self, node: Option<Node>, first: usize) -> Value {
        match node {
            None => Value::Null,
            Some(Node::Table(t)) => json!(self.ir.tables[t].name),
            Some(Node::Condition(c)) => json!(node_name(first + c)),
        }
    }

    fn key(&self, key: &Key) -> Value {
        let kind = match &*key.kind {
            "optional" => "ternary",
            "atcam_partition_index" | "dleft_hash" => "exact",
            kind => kind,
        };
        let mask = key.mask.as_ref().map(|m| hex(m, key.width));
        let target = match &key.target.header {
            HeaderRef::Static(_) => self.field_name(&key.target),
            _ => Value::Null,
        };
        json!({"match_type": kind, "name": key.name, "target": target, "mask": mask})
    }

    fn table(&self, table: &Table, next: &Next, id: usize, conditions: usize) -> Map<String, Value> {
        let keys: Vec<&Key> = table.keys.iter().filter(|k| &*k.kind != "selector").collect();
        let has = |kinds: &[&str]| keys.iter().any(|k| kinds.contains(&&*k.kind));
        let match_type = if has(&["range"]) {
            "range"
        } else if has(&["ternary", "optional"]) {
            "ternary"
        } else if has(&["lpm"]) {
            "lpm"
        } else {
            "exact"
        };
        let kind = match table.profile.map(|p| &self.ir.profiles[p]) {
            None => "simple",
            Some(Profile { selector: None, .. }) => "indirect",
            Some(_) => "indirect_ws",
        };
        let list: Vec<Value> = keys.iter().map(|k| self.key(k)).collect();
        let more = [
            ("key", json!(list)),
            ("match_type", json!(match_type)),
            ("type", json!(kind)),
        ];
        let mut out = self.named(&table.name, id, table.span, more);
        if let Some(profile) = table.profile {
            out.insert("action_profile".to_owned(), json!(self.ir.profiles[profile].name));
        }
        out.insert("max_size".to_owned(), json!(table.size));
        out.insert("with_counters".to_owned(), json!(table.counter.is_some()));
        out.insert("support_timeout".to_owned(), json!(table.timeout));
        let meter = table.meter.map(|m| self.ir.meters[m].name.as_str());
        out.insert("direct_meters".to_owned(), json!(meter));
        if let Some(cell) = &table.cell {
            let names: Vec<&str> = table
                .registers
                .iter()
                .map(|r| self.ir.registers[*r].name.as_str())
                .collect();
            let mut registers = object([("cell", self.field_name(cell)), ("registers", json!(names))]);
            if !table.filters.is_empty() {
                let names = table.filters.iter().map(|f| self.ir.filters[*f].name.as_str());
                registers.insert("filters".to_owned(), names.collect());
            }
            out.insert("direct_registers".to_owned(), Value::Object(registers));
        }
        self.outcomes(&mut out, table, next, conditions);
        if table.profile.is_none() {
            let (id, data) = self.call(&table.default);
            let entry = json!({
                "action_id": id,
                "action_const": table.const_default,
                "action_data": data,
                "action_entry_const": table.const_default,
            });
            out.insert("default_entry".to_owned(), entry);
        }
        if let Some(entries) = &table.entries {
            let list: Vec<Value> = entries.iter().map(|e| self.entry(e, &keys)).collect();
            out.insert("entries".to_owned(), json!(list));
        }
        out
    }

    /// The table's actions and the node after each.
    fn outcomes(&self, out: &mut Map<String, Value>, table: &Table, next: &Next, conditions: usize) {
        let mut ids: Vec<usize> = table.actions.iter().map(|(a, _)| *a).collect();
        if table.profile.is_none() && !ids.contains(&table.default.action) {
            ids.push(table.default.action);
        }
        let names: Vec<&str> = ids.iter().map(|a| self.ir.actions[*a].name.as_str()).collect();
        out.insert("action_ids".to_owned(), json!(ids));
        out.insert("actions".to_owned(), json!(names));
        let node = |n: Option<Node>| self.node(n, conditions);
        let (miss, targets) = match next {
            Next::Any(n) => (
                node(*n),
                names.iter().map(|a| ((*a).to_owned(), node(*n))).collect::<Map<_, _>>(),
            ),
            Next::HitMiss(hit, miss) => {
                let both = [("__HIT__".to_owned(), node(*hit)), ("__MISS__".to_owned(), node(*miss))];
                (node(*miss), both.into_iter().collect())
            }
            Next::Action(list) => {
                // An action that is not listed (the default NoAction) continues at `rest`.
                let rest = list.last().copied().flatten();
                let at = |i: usize| node(list.get(i).copied().unwrap_or(rest));
                let default = ids
                    .iter()
                    .position(|a| *a == table.default.action)
                    .map_or(node(rest), at);
                (
                    default,
                    names
                        .iter()
                        .enumerate()
                        .map(|(i, a)| ((*a).to_owned(), at(i)))
                        .collect(),
                )
            }
        };
        out.insert("base_default_next".to_owned(), miss);
        out.insert("next_tables".to_owned(), Value::Object(targets));
    }

    fn call(&self, call: &ActionCall) -> (usize, Vec<String>) {
        let params = &self.ir.actions[call.action].params;
        let data = call.values.iter().zip(params).map(|(v, p)| hex(v, p.width)).collect();
        (call.action, data)
    }

    fn entry(&self, entry: &Entry, keys: &[&Key]) -> Value {
        let matched = |(m, key): (&Match, &&Key)| {
            let hex = |v| hex(v, key.width);
            match m {
                Match::Exact(v) => json!({"match_type": "exact", "key": hex(v)}),
                Match::Ternary(v, mask) => json!({"match_type": "ternary", "key": hex(v), "mask": hex(mask)}),
                Match::Lpm(v, length) => json!({"match_type": "lpm", "key": hex(v), "prefix_length": length}),
                Match::Range(a, b) => json!({"match_type": "range", "start": hex(a), "end": hex(b)}),
            }
        };
        let matches: Vec<Value> = entry.matches.iter().zip(keys).map(matched).collect();
        let (id, data) = self.call(&entry.call);
        let mut out = Map::new();
        self.source(&mut out, entry.span);
        out.insert("match_key".to_owned(), json!(matches));
        out.insert("action_entry".to_owned(), json!({"action_id": id, "action_data": data}));
        out.insert("priority".to_owned(), json!(entry.order));
        Value::Object(out)
    }

    fn profile(&self, profile: &Profile, id: usize) -> Value {
        let mut out = self.named(&profile.name, id, profile.span, [("max_size", json!(profile.size))]);
        if let Some((algorithm, fields)) = &profile.selector {
            let input = |f| json!({"type": "field", "value": self.field_name(f)});
            let inputs: Vec<Value> = fields.iter().map(input).collect();
            out.insert("selector".to_owned(), json!({"algo": algorithm, "input": inputs}));
        }
        Value::Object(out)
    }
}

fn node_name(n: usize) -> String {
    format!("node_{n}")
}
