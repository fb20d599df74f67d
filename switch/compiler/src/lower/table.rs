//! Tables: keys, actions with their values, entries, and the objects attached to them.

use std::rc::Rc;

use num_bigint::BigInt;

use super::{
    Lowerer, Object,
    storage::SCALARS,
    value::{Loc, Value},
};
use crate::{
    arch::Arch,
    check::wrap,
    ir::{self, Action, ActionCall, ActionParam, Entry, Key, Outcome, Stmt, Table, Ty},
    source::Span,
    syntax::ast::{BinaryOp, Direction},
    typed::{
        tree::{self, ActionRef, ExprKind, VarKind},
        types::TableId,
    },
};

/// Default size of a table, as in p4c and in its back end for Tofino.
const DEFAULT_SIZE: u64 = 1024;
const DEFAULT_SIZE_TOFINO: u64 = 512;
/// Name of variables for keys; others have the path of their control in front.
const KEY: &str = "key";

impl Lowerer<'_> {
    pub(super) fn apply_table(&mut self, id: TableId, outcome: Outcome, span: Span, out: &mut Vec<Stmt>) {
        let source = &self.program.tables[id.index()];
        if let (Some(action), Outcome::Any) = (only_action(source), &outcome) {
            return self.call_action(action.action, &action.args, span, out);
        }
        let known = self.frame.borrow().tables.get(&id).copied();
        let mut keys = Vec::new();
        for (i, field) in source.key.iter().enumerate() {
            let before = known
                .and_then(|t| self.ir.tables[t].keys.get(i))
                .map(|k| k.target.clone());
            keys.extend(self.key(field, before, out));
        }
        let table = match known {
            Some(table) => {
                let same = self.ir.tables[table]
                    .keys
                    .iter()
                    .zip(&keys)
                    .all(|(a, b)| a.target == b.target);
                if !same {
                    let message = format!("the table '{}' is applied twice with different keys", source.name);
                    self.error(span, message);
                }
                table
            }
            None => self.make_table(id, keys),
        };
        out.push(Stmt::Apply(table, outcome, span));
    }

    /// A field of the key. Other values are stored in a variable: the one in `before`, if the table has been applied
    /// before.
    fn key(&mut self, field: &tree::KeyField, before: Option<ir::FieldRef>, out: &mut Vec<Stmt>) -> Option<Key> {
        let span = field.expr.span;
        let (expr, mask) = match &field.expr.kind {
            ExprKind::Binary(BinaryOp::BitAnd, a, b) if b.as_int().is_some() => (&**a, b.as_int().cloned()),
            _ => (&field.expr, None),
        };
        let mut value = self.scalar_of(expr, out);
        let mut mask = mask;
        // A mask is possible only on a plain field.
        if mask.is_some() && !matches!(value.kind, ir::ExprKind::Field(_)) {
            value = self.scalar_of(&field.expr, out);
            mask = None;
        }
        let width = value.ty.width();
        let target = match value.kind {
            ir::ExprKind::Field(f) if matches!(f.header, ir::HeaderRef::Static(_)) => f,
            ir::ExprKind::Valid(header @ ir::HeaderRef::Static(_)) => ir::FieldRef::new(header, ir::VALIDITY),
            kind => {
                let ty = value.ty;
                let variable = match before {
                    Some(field) if self.is_key_variable(&field) => Loc::Field(field, ty),
                    _ => self.scalar(KEY, ty, span),
                };
                self.assign(&variable, Value::Scalar(ir::Expr::new(kind, ty)), span, out);
                super::assign::target(&variable)?
            }
        };
        let name = crate::typed::annotations::name_of(&field.annotations).unwrap_or_else(|| field.text.clone());
        if name.is_empty() {
            let message = "a key that is an expression needs a name for the control plane: @name(\"...\")";
            self.error(span, message);
        }
        let (ty, annotations) = (field.expr.ty.clone(), field.annotations.clone());
        Some(Key {
            name,
            target,
            width,
            kind: field.match_kind.clone(),
            mask,
            ty,
            annotations,
        })
    }

    fn is_key_variable(&self, field: &ir::FieldRef) -> bool {
        let name = &self.ir.field(field).name;
        let number = name
            .strip_prefix(KEY)
            .map(|rest| rest.trim_start_matches(|c: char| c == '_' || c.is_ascii_digit()));
        field.header == ir::HeaderRef::Static(SCALARS) && number == Some("")
    }

    fn make_table(&mut self, id: TableId, keys: Vec<Key>) -> usize {
        let source = &self.program.tables[id.index()];
        let path = self.path();
        let name = self.plane_name(&self.full_name(&path, &source.name, &source.annotations));
        let mut actions = Vec::new();
        for action in &source.actions {
            actions.push((self.table_action(action), action.annotations.clone()));
        }
        let default = match &source.default_action {
            Some(chosen) => self.action_call(chosen, &actions),
            None => self.no_action(),
        };
        if !actions.iter().any(|(a, _)| *a == default.action) {
            actions.push((default.action, Rc::new([default_only()])));
        }
        let size = source.size.as_ref().and_then(|s| self.known(s, "the size of a table"));
        let default_size = match self.ir.arch {
            Arch::V1model => DEFAULT_SIZE,
            Arch::Tna | Arch::T2na => DEFAULT_SIZE_TOFINO,
        };
        let table = Table {
            name,
            keys,
            actions,
            default,
            const_default: source.const_default,
            entries: None,
            const_entries: source.const_entries,
            // For p4c, 0 means the default size.
            size: size
                .and_then(|s| u64::try_from(s).ok())
                .filter(|s| *s != 0)
                .unwrap_or(default_size),
            counter: None,
            meter: None,
            registers: Vec::new(),
            filters: Vec::new(),
            cell: None,
            profile: None,
            timeout: false,
            annotations: source.annotations.clone(),
            hidden: crate::typed::annotations::has(&source.annotations, "hidden"),
            span: source.span,
        };
        if self.ir.tables.iter().any(|other| other.name == table.name) {
            let message = format!(
                "two tables have the name '{}' for the control plane; a control that is applied directly has one name at each place: declare an instance for each",
                table.name
            );
            self.error(source.span, message);
        }
        self.ir.tables.push(table);
        let index = self.ir.tables.len() - 1;
        self.frame.borrow_mut().tables.insert(id, index);
        self.entries(source, index);
        self.properties(source, index);
        if self.ir.tables[index].profile.is_some()
            && source.default_action.is_some()
            && self.ir.tables[index].default.action != self.no_action().action
        {
            let message = "a table with an action profile has no default action on this target; this one is dropped";
            self.reporter.warning("ignore", source.span, message);
        }
        self.check_kinds(index);
        index
    }

    fn check_kinds(&mut self, index: usize) {
        let table = &self.ir.tables[index];
        let span = table.span;
        let lpm = table.keys.iter().filter(|k| &*k.kind == "lpm").count();
        let selector_without = table.keys.iter().any(|k| &*k.kind == "selector") && table.profile.is_none();
        if lpm > 1 {
            let message = "BMv2 takes at most one key field of kind lpm in a table; use ternary for the others";
            self.error(span, message);
        }
        if selector_without {
            let message = "key fields of kind selector need an action_selector as implementation";
            self.reporter.warning("ignore", span, message);
        }
    }

    fn entries(&mut self, source: &tree::Table, index: usize) {
        let Some(entries) = &source.entries else { return };
        self.check_priorities(entries, index);
        let mut list: Vec<(BigInt, Entry)> = Vec::new();
        // In BMv2 with p4c, an annotation can give the rank: @priority(1) is tried first.
        let ranked = entries.iter().any(|e| e.rank.is_some());
        let largest_wins = !ranked && !self.is_false(source, "largest_priority_wins");
        let step = self
            .number_property(source, "priority_delta")
            .unwrap_or(BigInt::from(1));
        for (i, entry) in entries.iter().enumerate() {
            // An entry without a priority comes after the entry before it.
            let rank = ranked.then(|| BigInt::from(entry.rank.unwrap_or(i as u64 + 1)));
            let given = entry
                .priority
                .as_ref()
                .and_then(|p| self.known(p, "a priority"))
                .or(rank);
            let previous = list.last().map(|(p, _)| p.clone());
            let priority = match (given, previous) {
                (Some(p), _) => p,
                (None, Some(p)) if largest_wins => p - &step,
                (None, Some(p)) => p + &step,
                (None, None) if largest_wins => BigInt::from(entries.len()) * &step,
                (None, None) => BigInt::from(1),
            };
            if !source.const_entries && !(BigInt::ZERO..=BigInt::from(i32::MAX)).contains(&priority) {
                let message = format!(
                    "the priority of this entry would be {priority}; it must be from 0 to {}",
                    i32::MAX
                );
                self.error(entry.span, message);
            }
            list.extend(self.entry(entry, index).map(|e| (priority, e)));
        }
        list.sort_by(|(a, _), (b, _)| if largest_wins { b.cmp(a) } else { a.cmp(b) });
        let ranked = list.into_iter().enumerate().map(|(i, (_, e))| Entry {
            order: i as u32 + 1,
            ..e
        });
        self.ir.tables[index].entries = Some(ranked.collect());
    }

    /// Checks priorities: they are allowed only if the key needs them, and then the first entry has one (specification
    /// section 14.2.1.4).
    fn check_priorities(&mut self, entries: &[tree::TableEntry], index: usize) {
        let Some(given) = entries.iter().find(|e| e.priority.is_some()) else {
            return;
        };
        let needs = |k: &Key| !matches!(&*k.kind, "exact" | "lpm");
        if !self.ir.tables[index].keys.iter().any(needs) {
            self.error(
                given.span,
                "entries have no priority in a table whose keys are all exact or lpm",
            );
        } else if entries[0].priority.is_none() {
            self.error(entries[0].span, "the first entry needs a priority, as others have one");
        }
    }

    fn is_false(&mut self, source: &tree::Table, name: &str) -> bool {
        let property = source.properties.iter().find(|(n, _)| &**n == name);
        property.is_some_and(|(_, e)| matches!(e.kind, ExprKind::Bool(false)))
    }

    fn number_property(&mut self, source: &tree::Table, name: &str) -> Option<BigInt> {
        let property = source.properties.iter().find(|(n, _)| &**n == name)?;
        self.known(&property.1, name)
    }

    fn properties(&mut self, source: &tree::Table, index: usize) {
        for (name, value) in &source.properties {
            let mut out = Vec::new();
            let object = self.value(value, &mut out);
            match (&**name, object) {
                ("counters", Value::Object(Object::Counter(c))) if self.ir.counters[c].direct => {
                    self.bind_direct(index, true, c, value.span);
                }
                ("meters", Value::Object(Object::Meter(m))) if self.ir.meters[m].direct => {
                    self.bind_direct(index, false, m, value.span);
                }
                ("registers", Value::Object(Object::Register(r))) if self.ir.registers[r].direct => {
                    self.bind_register(index, r, value.span);
                }
                ("filters", Value::Object(Object::Tna(f))) => self.bind_filter(index, f, value.span),
                ("implementation", Value::Object(Object::Profile(p))) => self.use_profile(index, p, value.span),
                ("support_timeout" | "idle_timeout", Value::Scalar(e)) => {
                    self.ir.tables[index].timeout = e.kind == ir::ExprKind::Bool(true);
                }
                ("largest_priority_wins" | "priority_delta", _) | (_, Value::Nothing) => {}
                // Storage of the table on the chip.
                ("implementation" | "alpm" | "atcam" | "proxy_hash", Value::Object(Object::Tna(_))) => {}
                (_, Value::Object(Object::Unsupported)) => {}
                (name, _) => {
                    let wanted = match (name, self.ir.arch) {
                        ("counters", Arch::V1model) => "a direct_counter",
                        ("counters", _) => "a DirectCounter",
                        ("meters", Arch::V1model) => "a direct_meter",
                        ("meters", _) => "a DirectMeter",
                        ("implementation", Arch::V1model) => "an action_profile or action_selector",
                        ("implementation", _) => "an ActionProfile or ActionSelector",
                        ("registers", _) => "a DirectRegister",
                        ("filters", _) => "an Lpf or a Wred",
                        _ => "a bool",
                    };
                    self.error(value.span, format!("the property '{name}' must be {wanted}"));
                }
            }
        }
    }

    fn bind_direct(&mut self, table: usize, is_counter: bool, index: usize, span: Span) {
        let list = if is_counter {
            &mut self.ir.counters
        } else {
            &mut self.ir.meters
        };
        if list[index].table.replace(table).is_some_and(|t| t != table) {
            self.error(span, "a direct counter or meter belongs to one table only");
            return;
        }
        let table = &mut self.ir.tables[table];
        if is_counter {
            table.counter = Some(index)
        } else {
            table.meter = Some(index)
        }
    }

    fn use_profile(&mut self, table: usize, profile: usize, span: Span) {
        let fields: Vec<ir::FieldRef> = {
            let keys = self.ir.tables[table].keys.iter();
            keys.filter(|k| &*k.kind == "selector")
                .map(|k| k.target.clone())
                .collect()
        };
        self.ir.tables[table].profile = Some(profile);
        let known = &mut self.ir.profiles[profile];
        let first = known.tables.is_empty();
        known.tables.push(table);
        let mut differs = false;
        if let Some((_, inputs)) = &mut known.selector {
            if first {
                *inputs = fields;
            } else {
                differs = *inputs != fields;
            }
        }
        if differs {
            let message = "the tables that share an action_selector must have the same selector fields";
            self.error(span, message);
        }
    }

    fn no_action(&mut self) -> ActionCall {
        let found = self
            .ir
            .actions
            .iter()
            .position(|a| a.name == "NoAction" && a.params.is_empty());
        let action = found.unwrap_or_else(|| {
            let source = self
                .program
                .actions
                .iter()
                .position(|a| &*a.name == "NoAction" && a.top_level);
            let annotations = source.map_or(ir::no_annotations(), |i| self.program.actions[i].annotations.clone());
            let source = source.map(|i| crate::typed::types::ActionId(i as u32));
            self.ir.actions.push(Action {
                name: "NoAction".to_owned(),
                params: Vec::new(),
                code: Vec::new(),
                annotations,
                source,
                span: Span::default(),
            });
            if let Some(source) = source {
                self.actions
                    .insert(("NoAction".to_owned(), source), self.ir.actions.len() - 1);
            }
            self.ir.actions.len() - 1
        });
        ActionCall {
            action,
            values: Vec::new(),
        }
    }

    /// The action in a table's list, created at its first use.
    fn table_action(&mut self, reference: &ActionRef) -> usize {
        let source = &self.program.actions[reference.action.index()];
        let path = if source.top_level { String::new() } else { self.path() };
        let name = self.full_name(&path, &source.name, &source.annotations);
        let directional = reference.args.iter().any(Option::is_some);
        let key = (name.clone(), reference.action);
        if let (Some(index), false) = (self.actions.get(&key), directional) {
            return *index;
        }
        let mut params: Vec<ActionParam> = Vec::new();
        let mut copies: Vec<(Loc, Loc)> = Vec::new();
        let mut out = Vec::new();
        for (var, arg) in source.params.iter().zip(&reference.args) {
            let def = &self.program.vars[var.index()];
            let is_data = def.kind == VarKind::Parameter(Direction::None);
            let value = match (is_data, arg) {
                (true, _) => self.action_param(def, &mut params),
                (false, Some(arg)) => {
                    // Saved, because the action also sees the variables of the control.
                    let value = self.value(arg, &mut out);
                    let copy = self.storage(&format!("{path}.{}", def.name), &def.ty, arg.span);
                    if def.kind == VarKind::Parameter(Direction::Out) {
                        self.invalidate(&copy, arg.span, &mut out);
                    } else {
                        self.assign(&copy, value, arg.span, &mut out);
                    }
                    if matches!(def.kind, VarKind::Parameter(d) if d.is_written()) {
                        copies.push((self.place(arg, &mut out), copy.clone()));
                    }
                    Value::Place(copy)
                }
                (false, None) => Value::Nothing,
            };
            self.frame.borrow_mut().vars.insert(*var, value);
        }
        let body = source.body.clone();
        self.in_action += 1;
        self.copy_outs.push(copies);
        self.returning(None, &mut out, |l, out| l.block(&body, out));
        self.in_action -= 1;
        for (to, from) in self.copy_outs.pop().unwrap_or_default() {
            self.assign(&to, from.read(), source.span, &mut out);
        }
        let code = self.action_code(&out, source.span);
        let (annotations, span) = (source.annotations.clone(), source.span);
        self.ir.actions.push(Action {
            name,
            params,
            code,
            annotations,
            source: Some(reference.action),
            span,
        });
        self.actions.insert(key, self.ir.actions.len() - 1);
        self.ir.actions.len() - 1
    }

    pub(super) fn action_param(&mut self, def: &tree::Var, params: &mut Vec<ActionParam>) -> Value {
        let Some(ty) = self.scalar_type(&def.ty) else {
            let shown = self.show(&def.ty);
            self.error(def.span, format!("an action's data are numbers and bools, not {shown}"));
            return Value::Nothing;
        };
        let index = params.len();
        params.push(ActionParam {
            name: def.name.clone(),
            ty: def.ty.clone(),
            width: ty.width(),
            annotations: def.annotations.clone(),
        });
        // Data in entries has no sign; for a signed parameter it is converted.
        let raw = if ty == Ty::Bool { Ty::Bool } else { Ty::bit(ty.width()) };
        Value::Scalar(ir::Expr::new(ir::ExprKind::Param(index), raw).cast(ty))
    }

    /// A listed action with its data.
    pub(super) fn action_call(&mut self, chosen: &ActionRef, listed: &[(usize, tree::Annotations)]) -> ActionCall {
        let of_source = |(a, _): &&(usize, tree::Annotations)| self.ir.actions[*a].source == Some(chosen.action);
        let action = listed.iter().find(of_source).map_or(0, |(a, _)| *a);
        let source = &self.program.actions[chosen.action.index()];
        let mut values = Vec::new();
        for (var, arg) in source.params.iter().zip(&chosen.args) {
            let def = &self.program.vars[var.index()];
            if def.kind != VarKind::Parameter(Direction::None) {
                continue;
            }
            let width = self.scalar_type(&def.ty).map_or(1, Ty::width);
            let value = arg
                .as_ref()
                .and_then(|a| self.known(a, "the value of an action's parameter"));
            values.push(wrap(&value.unwrap_or_default(), false, width));
        }
        ActionCall { action, values }
    }
}

/// Annotation of an action that is not in the table's list.
fn default_only() -> crate::syntax::ast::Annotation {
    crate::syntax::ast::Annotation {
        name: "defaultonly".into(),
        body: crate::syntax::ast::AnnotationBody::None,
    }
}

/// Action of a hidden table with only one action: p4c makes such tables from statements.
fn only_action(table: &tree::Table) -> Option<&ActionRef> {
    let plain = table.key.is_empty() && table.properties.is_empty() && table.const_default;
    let hidden = crate::typed::annotations::has(&table.annotations, "hidden");
    table.default_action.as_ref().filter(|_| plain && hidden)
}
