//! Bodies of parsers, controls and tables (specification sections 13 and 14).

use super::{NameKind, Parsed, Parser};
use crate::{
    diagnostics::suggestion,
    syntax::{
        ast::{
            Annotation, ControlBody, Decl, DeclKind, Entry, Ident, ParserBody, PropertyValue, State, TableProperty,
            Transition,
        },
        token::Tok,
    },
};

impl Parser<'_> {
    pub(super) fn parser_body(&mut self) -> Parsed<ParserBody> {
        let open = self.expect("{")?;
        let mut body = ParserBody {
            locals: Vec::new(),
            states: Vec::new(),
        };
        while !self.eat("}") {
            if self.peek() == &Tok::End {
                return self.error_at(open, "'{' without '}'");
            }
            let annotations = self.annotations()?;
            let is_state = self.is_word("state") && matches!(self.peek_at(1), Tok::Word(_));
            if is_state {
                body.states.push(self.state(annotations)?);
            } else if self.is_word("value_set") {
                body.locals.push(self.value_set(annotations)?);
            } else {
                body.locals
                    .push(self.local(annotations, "a state or a local declaration")?);
            }
        }
        Ok(body)
    }

    fn value_set(&mut self, annotations: Vec<Annotation>) -> Parsed<Decl> {
        self.advance();
        let mut types = self.type_args()?;
        self.expect("(")?;
        let size = self.expr()?;
        self.expect(")")?;
        let name = self.ident("the name of a value set")?;
        self.expect(";")?;
        self.declare(&name.name, NameKind::Value);
        let span = name.span;
        match (types.pop(), types.is_empty()) {
            (Some(ty), true) => Ok(Decl {
                annotations,
                name,
                kind: DeclKind::ValueSet(ty, size),
                span,
            }),
            _ => self.error_at(span, "value_set takes one type, as in value_set<bit<16>>(4)"),
        }
    }

    fn local(&mut self, annotations: Vec<Annotation>, wanted: &str) -> Parsed<Decl> {
        if !self.at_local_declaration() {
            return self.no_local_declaration(wanted);
        }
        let mut decl = self.local_declaration()?;
        decl.annotations.splice(0..0, annotations);
        Ok(decl)
    }

    /// Reports a word that starts no local declaration. If it looks like an instance, its type is unknown.
    fn no_local_declaration<T>(&mut self, wanted: &str) -> Parsed<T> {
        let Tok::Word(name) = self.peek().clone() else {
            return self.expected(wanted);
        };
        let hint = self.missing_include(self.peek());
        if !hint.is_empty() || !matches!(self.peek_at(1), Tok::Punct("<" | "(")) {
            return self.expected(wanted);
        }
        let types = self
            .scopes
            .iter()
            .flatten()
            .filter(|(_, kind)| **kind == NameKind::Type);
        let mut types: Vec<&str> = types.map(|(name, _)| &**name).collect();
        types.sort_unstable();
        let hint = suggestion(&name, types, "");
        self.error_at(self.span(), format!("no type '{name}' is declared here{hint}"))
    }

    fn state(&mut self, annotations: Vec<Annotation>) -> Parsed<State> {
        self.advance();
        let name = self.ident("the name of a state")?;
        let open = self.expect("{")?;
        self.scoped(|p| {
            let mut stmts = Vec::new();
            let mut transition = None;
            while !p.eat("}") {
                if p.peek() == &Tok::End {
                    return p.error_at(open, "'{' without '}'");
                }
                if p.is_word("transition") {
                    transition = Some(p.transition()?);
                    p.expect("}")?;
                    break;
                }
                stmts.push(p.statement()?);
            }
            Ok(State {
                annotations,
                name,
                stmts,
                transition,
            })
        })
    }

    fn transition(&mut self) -> Parsed<Transition> {
        self.advance();
        let span = self.span();
        if !self.eat_word("select") {
            let state = self.any_word("a state or 'select'")?;
            self.expect(";")?;
            return Ok(Transition::Direct(state));
        }
        self.expect("(")?;
        let keys = self.separated(")", Self::expr)?;
        self.expect("{")?;
        let mut cases = Vec::new();
        while !self.eat("}") {
            let set = self.key_set()?;
            self.expect(":")?;
            let state = self.any_word("a state")?;
            self.expect(";")?;
            cases.push((set, state));
        }
        let _ = self.eat(";");
        Ok(Transition::Select(keys, cases, span))
    }

    pub(super) fn control_body(&mut self) -> Parsed<ControlBody> {
        let open = self.expect("{")?;
        let mut locals = Vec::new();
        loop {
            if self.peek() == &Tok::End {
                return self.error_at(open, "'{' without '}'");
            }
            let annotations = self.annotations()?;
            if self.is_word("apply") && self.peek_at(1) == &Tok::Punct("{") {
                self.advance();
                let apply = self.block()?;
                if !self.is("}") {
                    return self.expected("'}' after the apply block");
                }
                self.advance();
                return Ok(ControlBody { locals, apply });
            }
            if self.is("}") {
                return self.error_at(self.span(), "a control needs an apply block: apply { ... }");
            }
            if self.is_word("action") {
                locals.push(self.action(annotations)?);
            } else if self.is_word("table") && matches!(self.peek_at(1), Tok::Word(_)) {
                locals.push(self.table(annotations)?);
            } else {
                locals.push(self.local(annotations, "an action, a table, a local declaration or 'apply'")?);
            }
        }
    }

    fn table(&mut self, annotations: Vec<Annotation>) -> Parsed<Decl> {
        self.advance();
        let name = self.ident("the name of a table")?;
        self.declare(&name.name, NameKind::Value);
        let properties = self.braced(Self::property)?;
        Ok(Decl::new(annotations, name, DeclKind::Table(properties)))
    }

    fn property(&mut self) -> Parsed<TableProperty> {
        let annotations = self.annotations()?;
        let is_const = self.eat_word("const");
        let name = self.any_word("a property of the table")?;
        if !self.is("=") {
            let known = [
                "key",
                "actions",
                "default_action",
                "entries",
                "size",
                "counters",
                "meters",
                "implementation",
            ];
            let hint = suggestion(&name.name, known, "");
            return self.expected(&format!("'=' after the property '{}'{hint}", name.name));
        }
        self.advance();
        let braced = ["key", "actions", "entries"];
        if self.is("{") && !braced.contains(&&*name.name) {
            let hint = suggestion(&name.name, braced, "");
            if !hint.is_empty() {
                return self.error_at(name.span, format!("a table has no property '{}'{hint}", name.name));
            }
        }
        let value = match &*name.name {
            "key" => PropertyValue::Key(self.listed(Self::key_element_of_table)?),
            "actions" => PropertyValue::Actions(self.listed(Self::action_of_table)?),
            "entries" => PropertyValue::Entries(self.listed(Self::entry)?),
            _ => {
                let value = self.expr()?;
                self.expect(";")?;
                PropertyValue::Expr(value)
            }
        };
        Ok(TableProperty {
            annotations,
            is_const,
            name,
            value,
        })
    }

    /// Reads the list of a table property; a `;` may follow.
    fn listed<T>(&mut self, rule: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let list = self.braced(rule)?;
        let _ = self.eat(";");
        Ok(list)
    }

    fn key_element_of_table(&mut self) -> Parsed<(crate::syntax::ast::Expr, Ident, Vec<Annotation>)> {
        let key = self.expr()?;
        self.expect(":")?;
        let kind = self.ident("a match kind")?;
        let annotations = self.annotations()?;
        self.expect(";")?;
        Ok((key, kind, annotations))
    }

    fn action_of_table(&mut self) -> Parsed<(Vec<Annotation>, crate::syntax::ast::Expr)> {
        let annotations = self.annotations()?;
        let action = self.expr()?;
        self.expect(";")?;
        Ok((annotations, action))
    }

    fn entry(&mut self) -> Parsed<Entry> {
        let start = self.span();
        let _ = self.eat_word("const");
        let priority = if self.is_word("priority") && self.peek_at(1) == &Tok::Punct("=") {
            self.advance();
            self.advance();
            // Parsed below `?:`, so that the separating colon is not consumed.
            let value = self.type_width_expr()?;
            self.expect(":")?;
            Some(value)
        } else {
            None
        };
        let set = self.key_set()?;
        let keys = match set.kind {
            crate::syntax::ast::ExprKind::Tuple(list) => list,
            _ => vec![set],
        };
        self.expect(":")?;
        let mut annotations = self.annotations()?;
        let action = self.expr()?;
        annotations.extend(self.annotations()?);
        self.expect(";")?;
        Ok(Entry {
            annotations,
            priority,
            keys,
            action,
            span: start.to(self.previous_span()),
        })
    }
}
