//! Tables (specification section 14.2).

use super::{Checker, Def, convert::Substitution};
use crate::{
    arch::Arch,
    diagnostics::suggestion,
    source::Span,
    syntax::{
        ast::{self, Annotation, Arg, Decl, Direction, Entry, Ident, PropertyValue, TableProperty},
        token::Symbol,
    },
    typed::{
        annotations::{has, name_of},
        tree::{ActionRef, Builtin, Callee, Expr, ExprKind, KeyField, ParamDef, Table, TableEntry},
        types::{ActionId, InstanceId, TableId, Type},
    },
};

/// Properties with an expression that have a meaning in the architecture.
fn expressions(arch: Arch) -> &'static [&'static str] {
    match arch {
        Arch::V1model => &[
            "counters",
            "meters",
            "implementation",
            "support_timeout",
            "largest_priority_wins",
            "priority_delta",
        ],
        Arch::Tna | Arch::T2na => &[
            "counters",
            "meters",
            "implementation",
            "registers",
            "filters",
            "idle_timeout",
            "largest_priority_wins",
            "priority_delta",
            "alpm",
            "atcam",
            "proxy_hash",
        ],
    }
}

impl Checker<'_> {
    pub(super) fn table(&mut self, decl: &Decl, properties: &[TableProperty]) -> TableId {
        let mut table = Table {
            name: decl.name.name.clone(),
            key: Vec::new(),
            actions: Vec::new(),
            default_action: None,
            const_default: false,
            entries: None,
            const_entries: false,
            size: None,
            properties: Vec::new(),
            annotations: self.annotations(&decl.annotations),
            span: decl.name.span,
        };
        let mut seen: Vec<&Symbol> = Vec::new();
        for property in properties {
            if seen.contains(&&property.name.name) {
                let message = format!("the property '{}' is given twice", property.name.name);
                self.error(property.name.span, message);
                continue;
            }
            seen.push(&property.name.name);
            self.property(property, &mut table);
        }
        // The default and the entries name actions, which may be listed later.
        self.action_properties(properties, &mut table);
        if !seen.iter().any(|n| &***n == "actions") {
            let message = format!("the table '{}' has no property 'actions'", decl.name.name);
            self.error(decl.name.span, message);
        }
        let id = TableId(self.program.tables.len() as u32);
        self.program.types.tables.push(decl.name.name.clone());
        self.program.tables.push(table);
        self.define(&decl.name, Def::Table(id));
        id
    }

    fn property(&mut self, property: &TableProperty, table: &mut Table) {
        let name = &property.name;
        match (&*name.name, &property.value) {
            ("key", PropertyValue::Key(fields)) => {
                table.key = fields
                    .iter()
                    .map(|(e, kind, notes)| self.key_field(e, kind, notes))
                    .collect();
            }
            ("actions", PropertyValue::Actions(actions)) => {
                for (annotations, action) in actions {
                    let Some(found) = self.listed_action(annotations, action) else {
                        continue;
                    };
                    if table.actions.iter().any(|a| a.action == found.action) {
                        self.error(action.span, "this action is listed twice");
                    }
                    table.actions.push(found);
                }
            }
            ("default_action" | "entries", _) => {}
            ("size", PropertyValue::Expr(e)) => {
                let size = self.expr(e, None);
                self.known_integer(&size, "the size of a table", size.span);
                table.size = Some(size);
            }
            (known, PropertyValue::Expr(e)) if expressions(self.arch).contains(&known) => {
                let value = self.expr(e, None);
                if let (ast::ExprKind::Call(..), ExprKind::Instance(id)) = (&e.kind, &value.kind) {
                    self.name_in_place(*id, &property.annotations, &table.name);
                }
                table.properties.push((name.name.clone(), value));
            }
            (other, _) => {
                let known = ["key", "actions", "default_action", "entries", "size"]
                    .iter()
                    .chain(expressions(self.arch))
                    .copied();
                let hint = suggestion(other, known, "");
                let message = format!(
                    "the property '{other}' has no meaning in {} and is ignored{hint}",
                    self.arch.name()
                );
                self.reporter.warning("ignore-prop", name.span, message);
            }
        }
    }

    /// Names an instance that is made in a property: by the property's `@name`, otherwise after the table.
    fn name_in_place(&mut self, id: InstanceId, annotations: &[Annotation], table: &Symbol) {
        let annotations = self.annotations(annotations);
        let own = name_of(&annotations).map(|n| format!(".{}", n.trim_start_matches('.')));
        // `@name` is the whole name; the other annotations belong to the instance.
        let others = annotations.iter().filter(|a| &*a.name != "name").cloned();
        let instance = &mut self.program.instances[id.index()];
        instance.annotations = others.collect();
        instance.in_table = true;
        instance.name = own.unwrap_or_else(|| format!("{table}.{}", instance.name)).into();
    }

    fn action_properties(&mut self, properties: &[TableProperty], table: &mut Table) {
        for property in properties {
            match (&*property.name.name, &property.value) {
                ("default_action", PropertyValue::Expr(e)) => {
                    table.default_action = self.chosen_action(e, table, "tableonly");
                    table.const_default = property.is_const;
                }
                ("entries", PropertyValue::Entries(entries)) => {
                    table.const_entries = property.is_const;
                    table.entries = Some(entries.iter().filter_map(|e| self.entry(e, table)).collect());
                }
                _ => {}
            }
        }
    }

    fn key_field(&mut self, e: &ast::Expr, kind: &Ident, annotations: &[Annotation]) -> KeyField {
        if !self.program.match_kinds.contains(&kind.name) {
            let hint = suggestion(&kind.name, self.program.match_kinds.iter().map(|k| &**k), "there are");
            self.error(kind.span, format!("no match kind '{}' is declared{hint}", kind.name));
        }
        let expr = self.expr(e, None);
        let name = self.key_name(e, &expr);
        let base = self.program.types.base(&expr.ty);
        let fits = matches!(
            base,
            Type::Bits { .. } | Type::Bool | Type::Error | Type::Enum(_) | Type::Unknown
        );
        if !fits {
            let shown = self.show(&expr.ty);
            let message = format!("a key field is a number, bool, enum or error, not {shown}");
            self.error(e.span, message);
        }
        KeyField {
            expr,
            match_kind: kind.name.clone(),
            annotations: self.annotations(annotations),
            text: name,
        }
    }

    /// Name of a key field on the control plane: its `@name`, or the text in the source.
    fn key_name(&self, e: &ast::Expr, typed: &Expr) -> String {
        use ast::ExprKind as E;
        match (&e.kind, &typed.kind) {
            (E::Name(name, _), _) => name.name.to_string(),
            (E::Member(base, name), ExprKind::Field(typed_base, index)) => {
                let own = match &typed_base.ty {
                    Type::Struct(id) => name_of(&self.program.types.get(*id).fields[*index].annotations),
                    _ => None,
                };
                let own = own.unwrap_or_else(|| name.name.to_string());
                match own.strip_prefix('.') {
                    Some(absolute) => absolute.to_owned(),
                    None => format!("{}.{own}", self.key_name(base, typed_base)),
                }
            }
            (E::Index(base, index), ExprKind::Index(typed_base, _)) => {
                format!("{}[{}]", self.key_name(base, typed_base), self.written(index))
            }
            (E::Slice(base, high, low), ExprKind::Slice(typed_base, ..)) => {
                format!(
                    "{}[{}:{}]",
                    self.key_name(base, typed_base),
                    self.written(high),
                    self.written(low)
                )
            }
            (E::Int(_), _) => self.written(e),
            (E::Call(callee, ..), ExprKind::Call(called, ..)) => match (&callee.kind, &**called) {
                (E::Member(base, _), Callee::Builtin(Builtin::IsValid, object)) => {
                    format!("{}.$valid$", self.key_name(base, object))
                }
                _ => String::new(),
            },
            (E::Binary(ast::BinaryOp::BitAnd, left, right), ExprKind::Binary(_, a, b)) => {
                match (self.key_name(left, a), self.key_name(right, b)) {
                    (left, right) if !left.is_empty() && !right.is_empty() => format!("{left} & {right}"),
                    _ => String::new(),
                }
            }
            _ => String::new(),
        }
    }

    /// Source text of a value; a number keeps its base.
    fn written(&self, e: &ast::Expr) -> String {
        let text = self.map.snippet(e.span);
        let ast::ExprKind::Int(literal) = &e.kind else {
            return text.to_owned();
        };
        let digits = text.split_once(['w', 's']).map_or(text, |(_, digits)| digits);
        match digits.get(..2) {
            Some("0x" | "0X") => format!("{:#x}", literal.value),
            Some("0b" | "0B") => format!("{:#b}", literal.value),
            Some("0o" | "0O") => format!("{:#o}", literal.value),
            _ => literal.value.to_string(),
        }
    }

    /// Name and arguments of an action reference.
    fn action_call<'a>(&mut self, e: &'a ast::Expr) -> Option<(&'a Ident, bool, &'a [Arg])> {
        match &e.kind {
            ast::ExprKind::Name(name, global) => Some((name, *global, [].as_slice())),
            ast::ExprKind::Call(callee, _, args) => match &callee.kind {
                ast::ExprKind::Name(name, global) => Some((name, *global, args.as_slice())),
                _ => None,
            },
            _ => None,
        }
        .or_else(|| {
            self.error(e.span, "an action is expected: its name, perhaps with arguments");
            None
        })
    }

    fn find_action(&mut self, name: &Ident, global: bool) -> Option<ActionId> {
        match self.lookup_name(name, global) {
            Some(Def::Action(id)) => Some(id),
            Some(other) => {
                let message = format!("'{}' is {}, not an action", name.name, other.kind());
                self.error(name.span, message);
                None
            }
            None => {
                self.unknown_name(name, "action", |d| matches!(d, Def::Action(_)));
                None
            }
        }
    }

    fn action_params(&self, id: ActionId) -> Vec<ParamDef> {
        self.params_of(&self.program.actions[id.index()].params.clone())
    }

    /// Checks an action in the table's list. It has arguments for the parameters with a direction.
    fn listed_action(&mut self, annotations: &[Annotation], e: &ast::Expr) -> Option<ActionRef> {
        let (name, global, args) = self.action_call(e)?;
        let action = self.find_action(name, global)?;
        let params = self.action_params(action);
        let given: Vec<ParamDef> = params
            .iter()
            .filter(|p| p.direction != Direction::None)
            .cloned()
            .collect();
        let mut bound = self
            .arguments(&name.name, &given, args, &mut Substitution::new(), e.span)
            .into_iter();
        let args = params.iter().map(|p| match p.direction {
            Direction::None => None,
            _ => bound.next().flatten(),
        });
        Some(ActionRef {
            action,
            args: args.collect(),
            annotations: self.annotations(annotations),
        })
    }

    /// Checks a default action or the action of an entry. It has arguments for all parameters. `barred` is the
    /// annotation in the list that forbids this use.
    fn chosen_action(&mut self, e: &ast::Expr, table: &Table, barred: &str) -> Option<ActionRef> {
        let (name, global, args) = self.action_call(e)?;
        let action = self.find_action(name, global)?;
        let Some(listed) = table.actions.iter().find(|a| a.action == action).cloned() else {
            let names = table
                .actions
                .iter()
                .map(|a| self.program.actions[a.action.index()].name.clone());
            let names: Vec<Symbol> = names.collect();
            let hint = suggestion(&name.name, names.iter().map(|n| &**n), "it lists");
            let message = format!("the action '{}' is not in the table's list of actions{hint}", name.name);
            self.error(e.span, message);
            return None;
        };
        if has(&listed.annotations, barred) {
            let message = format!("the action '{}' is listed as @{barred}", name.name);
            self.error(e.span, message);
        }
        let params = self.action_params(action);
        // Arguments of the list may be repeated here or left out.
        let unbound: Vec<ParamDef> = params
            .iter()
            .filter(|p| p.direction == Direction::None)
            .cloned()
            .collect();
        let all = args.len() == params.len();
        let expected = if all { &params } else { &unbound };
        let values = self.arguments(&name.name, expected, args, &mut Substitution::new(), e.span);
        let mut values = values.into_iter();
        let merged = params.iter().zip(&listed.args).map(|(param, bound)| {
            let is_data = param.direction == Direction::None;
            let given = if all || is_data { values.next().flatten() } else { None };
            if is_data { given } else { bound.clone() }
        });
        Some(ActionRef {
            action,
            args: merged.collect(),
            annotations: listed.annotations,
        })
    }

    fn entry(&mut self, entry: &Entry, table: &Table) -> Option<TableEntry> {
        let types: Vec<Type> = table.key.iter().map(|k| k.expr.ty.clone()).collect();
        // `{a, b}` means the same as `(a, b)`.
        let keys = match &entry.keys[..] {
            [
                ast::Expr {
                    kind: ast::ExprKind::List(list, false),
                    ..
                },
            ] => list.as_slice(),
            keys => keys,
        };
        if types.is_empty() {
            self.error(entry.span, "a table without a key cannot have entries");
            return None;
        }
        if keys.len() != types.len()
            && !matches!(
                keys[..],
                [ast::Expr {
                    kind: ast::ExprKind::Default,
                    ..
                }]
            )
        {
            let message = format!(
                "the table has {} key field(s), but the entry has {}",
                types.len(),
                keys.len()
            );
            self.error(entry.span, message);
            return None;
        }
        let mut sets: Vec<Expr> = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            let e = keys.get(i).or(keys.first())?;
            let key = self.key_element(e, ty);
            self.entry_key_known(&key, entry.span);
            sets.push(key);
        }
        let action = self.chosen_action(&entry.action, table, "defaultonly")?;
        let priority = entry.priority.as_ref().map(|p| self.expr(p, None));
        let rank = crate::typed::annotations::numbers_of(&self.annotations(&entry.annotations), "priority")
            .first()
            .copied();
        Some(TableEntry {
            keys: sets,
            action,
            priority,
            rank,
            span: entry.span,
        })
    }

    fn entry_key_known(&mut self, key: &Expr, span: Span) {
        let known = |e: &Expr| {
            matches!(
                e.kind,
                ExprKind::Int(_)
                    | ExprKind::Bool(_)
                    | ExprKind::Member(_)
                    | ExprKind::Error(_)
                    | ExprKind::Unknown
                    | ExprKind::Var(_)
            )
        };
        let fits = match &key.kind {
            ExprKind::Mask(a, b) | ExprKind::Range(a, b) => known(a) && known(b),
            ExprKind::Any => true,
            _ => known(key),
        };
        if !fits {
            self.error(span, "the key of an entry must be known when compiling");
        }
    }
}
