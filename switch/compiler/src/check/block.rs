//! Parsers and controls.

use std::rc::Rc;

use super::{Checker, Def, Place};
use crate::{
    diagnostics::suggestion,
    names::PLACEHOLDER,
    syntax::ast::{self, ControlBody, Decl, DeclKind, Ident, ParserBody, Signature},
    typed::{
        tree::{Control, Expr, ExprKind, Local, Parser, State, Target, Transition, ValueSet},
        types::{ControlId, ParserId, Type, ValueSetId, VarId},
    },
};

impl Checker<'_> {
    /// Checks the common parts of parsers and controls: the parameters of `apply` and of the constructor, and local
    /// declarations, which may shadow the parameters. `inner` checks the rest.
    fn body_of<T>(
        &mut self,
        decl: &Decl,
        signature: &Signature,
        locals: &[Decl],
        inner: impl FnOnce(&mut Self) -> T,
    ) -> (Vec<VarId>, Vec<VarId>, Vec<Local>, T) {
        if !signature.type_params.is_empty() {
            let what = "a parser or control with a body has no type parameters";
            self.error(decl.name.span, format!("'{}': {what}", decl.name.name));
        }
        self.scoped(|c| {
            c.type_params(&signature.type_params);
            let params = c.declare_params(&signature.params, false);
            let constructor = c.declare_params(&signature.constructor, true);
            c.result = Some(Type::Void);
            let (locals, inner) = c.scoped(|c| (locals.iter().filter_map(|d| c.local(d)).collect(), inner(c)));
            c.result = None;
            (params, constructor, locals, inner)
        })
    }

    pub(super) fn control(&mut self, decl: &Decl, signature: &Signature, body: &ControlBody) {
        self.place = Place::Control;
        let apply = |c: &mut Self| Rc::new(c.block(&body.apply));
        let (params, constructor, locals, body) = self.body_of(decl, signature, &body.locals, apply);
        let id = ControlId(self.program.controls.len() as u32);
        self.program.types.controls.push(decl.name.name.clone());
        self.program.controls.push(Control {
            name: decl.name.name.clone(),
            params,
            constructor,
            locals,
            body,
            span: decl.name.span,
        });
        self.define(&decl.name, Def::Type(Type::Control(id)));
    }

    fn local(&mut self, decl: &Decl) -> Option<Local> {
        match &decl.kind {
            DeclKind::Const(ty, value) => {
                self.constant(decl, ty, value);
                None
            }
            DeclKind::Variable(..) => self.variable(decl).map(|(var, value)| Local::Variable(var, value)),
            DeclKind::Instance(ty, args, methods) => self.instance(decl, ty, args, methods).map(Local::Instance),
            DeclKind::Action(params, body) => {
                let id = self.action(decl, params, body, false);
                self.result = Some(Type::Void);
                Some(Local::Action(id))
            }
            DeclKind::Table(properties) => Some(Local::Table(self.table(decl, properties))),
            DeclKind::ValueSet(ty, size) => {
                let element = self.resolve_type(ty);
                let size = self.expr(size, None);
                self.known_integer(&size, "the size of a value set", size.span);
                let annotations = self.annotations(&decl.annotations);
                let id = ValueSetId(self.program.value_sets.len() as u32);
                self.program.value_sets.push(ValueSet {
                    name: decl.name.name.clone(),
                    element,
                    size,
                    annotations,
                    span: decl.name.span,
                });
                self.define(&decl.name, Def::ValueSet(id));
                Some(Local::ValueSet(id))
            }
            _ => None,
        }
    }

    pub(super) fn parser(&mut self, decl: &Decl, signature: &Signature, body: &ParserBody) {
        self.place = Place::Parser;
        let states = |c: &mut Self| c.states(decl, body);
        let (params, constructor, locals, states) = self.body_of(decl, signature, &body.locals, states);
        if !ends(&states) {
            let message = format!("the parser '{}' never reaches accept or reject", decl.name.name);
            self.error(decl.name.span, message);
        }
        let id = ParserId(self.program.parsers.len() as u32);
        self.program.types.parsers.push(decl.name.name.clone());
        self.program.parsers.push(Parser {
            name: decl.name.name.clone(),
            params,
            constructor,
            locals,
            states,
            span: decl.name.span,
        });
        self.define(&decl.name, Def::Type(Type::Parser(id)));
    }

    fn states(&mut self, decl: &Decl, body: &ParserBody) -> Vec<State> {
        let names: Vec<Ident> = body.states.iter().map(|s| s.name.clone()).collect();
        for (i, name) in names.iter().enumerate() {
            if names[..i].iter().any(|n| n.name == name.name) {
                self.error(name.span, format!("the state '{}' is declared twice", name.name));
            }
            if matches!(&*name.name, "accept" | "reject") {
                let message = format!("the state '{}' exists in every parser already", name.name);
                self.error(name.span, message);
            }
        }
        if !names.iter().any(|n| &*n.name == "start") {
            let message = format!("the parser '{}' has no state 'start'", decl.name.name);
            self.error(decl.name.span, message);
        }
        let mut states = Vec::new();
        for state in &body.states {
            self.found.declare(state.name.span, "a state");
            let checked = self.scoped(|c| {
                let body = c.statements(&state.stmts);
                let transition = c.transition(state.transition.as_ref(), &names);
                let annotations = c.annotations(&state.annotations);
                State {
                    name: state.name.name.clone(),
                    annotations,
                    body,
                    transition,
                    span: state.name.span,
                }
            });
            states.push(checked);
        }
        states
    }

    fn target(&mut self, name: &Ident, states: &[Ident]) -> Target {
        match &*name.name {
            "accept" => return Target::Accept,
            "reject" => return Target::Reject,
            _ => {}
        }
        match states.iter().position(|s| s.name == name.name) {
            Some(at) => {
                self.found.refer(name.span, states[at].span);
                Target::State(at)
            }
            None => {
                if &*name.name == PLACEHOLDER {
                    states.iter().for_each(|s| self.found.fits(&s.name, "a state", None));
                }
                let known = states.iter().map(|s| &*s.name).chain(["accept", "reject"]);
                let hint = suggestion(&name.name, known, "there are");
                self.error(name.span, format!("no state '{}' in this parser{hint}", name.name));
                Target::Reject
            }
        }
    }

    fn transition(&mut self, transition: Option<&ast::Transition>, states: &[Ident]) -> Transition {
        match transition {
            None => Transition::Direct(Target::Reject),
            Some(ast::Transition::Direct(name)) => Transition::Direct(self.target(name, states)),
            Some(ast::Transition::Select(keys, cases, span)) => {
                let keys: Vec<_> = keys.iter().map(|k| self.expr(k, None)).collect();
                for key in &keys {
                    if key.ty == Type::Integer {
                        self.error(key.span, "a select key needs a width, as in 8w1");
                    }
                }
                let types: Vec<Type> = keys.iter().map(|k| k.ty.clone()).collect();
                let mut list = Vec::new();
                for (set, state) in cases {
                    let sets = self.key_sets(set, &types);
                    list.push((sets, self.target(state, states)));
                }
                Transition::Select {
                    keys,
                    cases: list,
                    span: *span,
                }
            }
        }
    }

    /// Checks the sets of a `select` case or of an entry: one set for each key.
    pub(super) fn key_sets(&mut self, set: &ast::Expr, types: &[Type]) -> Vec<crate::typed::tree::Expr> {
        let elements = match &set.kind {
            ast::ExprKind::Tuple(list) => list.as_slice(),
            _ => std::slice::from_ref(set),
        };
        if let [only] = elements
            && matches!(only.kind, ast::ExprKind::Name(..) | ast::ExprKind::Default)
        {
            let set = self.expr(only, None);
            let fits = match (&set.kind, &set.ty) {
                (ExprKind::Any | ExprKind::Unknown, _) => true,
                (ExprKind::ValueSet(_), Type::Set(element)) => self.value_set_fits(element, types, only.span),
                _ => false,
            };
            if fits {
                return vec![set];
            }
        }
        if elements.len() != types.len() {
            let message = format!(
                "{} key(s) are matched, but this set has {}",
                types.len(),
                elements.len()
            );
            self.error(set.span, message);
            return vec![Self::unknown(set.span)];
        }
        elements
            .iter()
            .zip(types)
            .map(|(e, ty)| self.key_element(e, ty))
            .collect()
    }

    /// True if the elements of a value set match the keys: a struct or tuple must have one field for each key.
    fn value_set_fits(&mut self, element: &Type, types: &[Type], span: crate::source::Span) -> bool {
        let parts: Vec<Type> = match element {
            Type::Struct(id) => {
                let fields = self.program.types.get(*id).fields.iter();
                fields.map(|f| f.ty.clone()).collect()
            }
            Type::Tuple(types) => types.to_vec(),
            other => vec![other.clone()],
        };
        let base = |types: &[Type]| types.iter().map(|t| self.program.types.base(t)).collect::<Vec<_>>();
        if base(&parts) != base(types) && !types.contains(&Type::Unknown) {
            let shown: Vec<String> = types.iter().map(|t| self.show(t)).collect();
            let element = self.show(element);
            let message = format!("the value set holds {element}, but the keys are {}", shown.join(", "));
            self.error(span, message);
        }
        true
    }

    pub(super) fn key_element(&mut self, e: &ast::Expr, ty: &Type) -> crate::typed::tree::Expr {
        let value = self.expr(e, Some(ty));
        if value.has_effects() {
            self.error(e.span, "a set to match calls nothing; give its value a name first");
        }
        match (&value.kind, &value.ty) {
            (ExprKind::Any | ExprKind::Unknown, _) => value,
            (_, Type::Set(element)) => {
                let same = self.program.types.base(element) == self.program.types.base(ty);
                if !same && !matches!(**element, Type::Unknown | Type::Integer) && *ty != Type::Unknown {
                    let (a, b) = (self.show(element), self.show(ty));
                    self.error(value.span, format!("the set holds {a}, but the key is {b}"));
                }
                value
            }
            _ => self.convert(value, ty, "the value"),
        }
    }
}

/// True if a parser with these states can end. A `select` in which no case may match can end in reject.
fn ends(states: &[State]) -> bool {
    let mut seen = vec![false; states.len()];
    let mut pending: Vec<usize> = states.iter().position(|s| &*s.name == "start").into_iter().collect();
    if pending.is_empty() {
        return true;
    }
    while let Some(at) = pending.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let targets: Vec<Target> = match &states[at].transition {
            Transition::Direct(target) => vec![*target],
            Transition::Select { cases, .. } => {
                let any = |sets: &[Expr]| sets.iter().all(|s| matches!(s.kind, ExprKind::Any));
                if !cases.iter().any(|(sets, _)| any(sets)) {
                    return true;
                }
                cases.iter().map(|(_, target)| *target).collect()
            }
        };
        for target in targets {
            match target {
                Target::State(next) => pending.push(next),
                Target::Accept | Target::Reject => return true,
            }
        }
    }
    false
}
