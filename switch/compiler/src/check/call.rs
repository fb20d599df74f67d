//! Calls of functions, actions, methods, tables, parsers and controls; constructions.

use std::rc::Rc;

use super::{
    Checker, Def, FunctionRef, Place,
    convert::{Substitution, is_open, substitute},
};
use crate::{
    diagnostics::suggestion,
    source::Span,
    syntax::{
        ast::{self, Arg, Direction, Ident, TypeExpr},
        token::Symbol,
    },
    typed::{
        tree::{Builtin, Callee, Expr, ExprKind, Instance, Maker, ParamDef, VarKind},
        types::{InstanceId, Type, TypeVarId, VarId},
    },
};

/// Arguments in the order of the parameters; `None` for one left out.
type Ordered<'a> = Vec<Option<&'a Arg>>;

impl Checker<'_> {
    pub(super) fn call(&mut self, callee: &ast::Expr, type_args: &[TypeExpr], args: &[Arg], span: Span) -> Expr {
        match &callee.kind {
            ast::ExprKind::Name(name, global) => self.call_name(name, *global, type_args, args, span),
            ast::ExprKind::Member(base, name) => self.call_member(base, name, type_args, args, span),
            _ => {
                self.error(callee.span, "this cannot be called");
                Self::unknown(span)
            }
        }
    }

    fn call_name(&mut self, name: &Ident, global: bool, type_args: &[TypeExpr], args: &[Arg], span: Span) -> Expr {
        let def = if global {
            self.lookup_global(&name.name)
        } else {
            self.lookup(&name.name)
        };
        let Some(def) = def.cloned() else {
            let wanted = |d: &Def| matches!(d, Def::Functions(_) | Def::Action(_) | Def::Type(_));
            self.unknown_name(name, "function or action", wanted);
            return Self::unknown(span);
        };
        match def {
            Def::Functions(list) => self.call_function(name, &list, type_args, args, span),
            Def::Action(id) => {
                let params = self.params_of(&self.program.actions[id.index()].params.clone());
                let args = self.arguments(&name.name, &params, args, &mut Substitution::new(), span);
                if self.place == Place::Parser || self.place == Place::Function {
                    self.error(span, "actions can be called in controls and actions only");
                }
                Expr {
                    kind: ExprKind::Call(Box::new(Callee::Action(id)), Vec::new(), args),
                    ty: Type::Void,
                    span,
                }
            }
            Def::Type(ty) => {
                let ty = self.with_type_args(ty, type_args, span);
                self.construct(&ty, args, &name.name, span)
            }
            Def::Table(_) => {
                self.error(span, format!("a table is applied: {}.apply()", name.name));
                Self::unknown(span)
            }
            other => {
                self.error(
                    name.span,
                    format!("'{}' is {}; it cannot be called", name.name, other.kind()),
                );
                Self::unknown(span)
            }
        }
    }

    fn with_type_args(&mut self, ty: Type, type_args: &[TypeExpr], _span: Span) -> Type {
        if type_args.is_empty() {
            return ty;
        }
        let args: Rc<[Type]> = type_args.iter().map(|t| self.resolve_type(t)).collect();
        match ty {
            Type::Extern(id, _) => Type::Extern(id, args),
            Type::Package(id, _) => Type::Package(id, args),
            other => other,
        }
    }

    pub(super) fn params_of(&self, vars: &[VarId]) -> Vec<ParamDef> {
        let param = |id: &VarId| {
            let var = &self.program.vars[id.index()];
            let direction = match var.kind {
                VarKind::Parameter(direction) => direction,
                _ => Direction::None,
            };
            ParamDef {
                name: var.name.clone(),
                direction,
                ty: var.ty.clone(),
                default: self.defaults.get(id).cloned(),
            }
        };
        vars.iter().map(param).collect()
    }

    fn call_function(
        &mut self,
        name: &Ident,
        list: &[FunctionRef],
        type_args: &[TypeExpr],
        args: &[Arg],
        span: Span,
    ) -> Expr {
        let candidates: Vec<(FunctionRef, Vec<TypeVarId>, Vec<ParamDef>, Type)> = list
            .iter()
            .map(|f| match f {
                FunctionRef::Extern(id) => {
                    let m = &self.program.extern_functions[id.index()];
                    (*f, m.type_params.clone(), m.params.clone(), m.result.clone())
                }
                FunctionRef::User(id) => {
                    let function = &self.program.functions[id.index()];
                    (
                        *f,
                        Vec::new(),
                        self.params_of(&function.params),
                        function.result.clone(),
                    )
                }
            })
            .collect();
        let Some(at) = self.overload(&name.name, candidates.iter().map(|c| &c.2), args, span) else {
            return Self::unknown(span);
        };
        let (function, type_params, params, result) = candidates.into_iter().nth(at).expect("an index of the list");
        let mut map = self.given_type_args(&type_params, type_args, span);
        let args = self.arguments(&name.name, &params, args, &mut map, span);
        let ty = substitute(&result, &map);
        if matches!(function, FunctionRef::Extern(_)) && &*name.name == "static_assert" {
            return self.static_assert(&args, span);
        }
        let callee = match function {
            FunctionRef::Extern(id) => Callee::Extern(id),
            FunctionRef::User(id) => Callee::Function(id),
        };
        let types = type_params
            .iter()
            .map(|v| map.get(v).cloned().unwrap_or(Type::Unknown))
            .collect();
        Expr {
            kind: ExprKind::Call(Box::new(callee), types, args),
            ty,
            span,
        }
    }

    fn static_assert(&mut self, args: &[Option<Expr>], span: Span) -> Expr {
        let text = match args.get(1) {
            Some(Some(Expr {
                kind: ExprKind::Text(text),
                ..
            })) => format!(": {text}"),
            _ => String::new(),
        };
        match args.first().and_then(Option::as_ref).map(|e| &e.kind) {
            Some(ExprKind::Bool(true) | ExprKind::Unknown) | None => {}
            Some(ExprKind::Bool(false)) => self.error(span, format!("static_assert failed{text}")),
            Some(_) => self.error(span, "the condition of static_assert must be known when compiling"),
        }
        Expr {
            kind: ExprKind::Bool(true),
            ty: Type::Bool,
            span,
        }
    }

    /// The candidate that takes these arguments, by their number and names.
    fn overload<'p>(
        &mut self,
        name: &str,
        candidates: impl Iterator<Item = &'p Vec<ParamDef>>,
        args: &[Arg],
        span: Span,
    ) -> Option<usize> {
        let candidates: Vec<&Vec<ParamDef>> = candidates.collect();
        let fits = |params: &&Vec<ParamDef>| {
            let needed = params.iter().filter(|p| p.default.is_none()).count();
            let named = args.iter().filter_map(|a| a.name.as_ref());
            (needed..=params.len()).contains(&args.len())
                && named.clone().all(|n| params.iter().any(|p| p.name == n.name))
        };
        if let Some(at) = candidates.iter().position(fits) {
            return Some(at);
        }
        if candidates.len() == 1 {
            // The precise error comes from matching the arguments.
            return Some(0);
        }
        let counts: Vec<String> = candidates.iter().map(|p| p.len().to_string()).collect();
        let message = format!("'{name}' takes {} arguments, not {}", counts.join(" or "), args.len());
        self.error(span, message);
        None
    }

    fn given_type_args(&mut self, params: &[TypeVarId], given: &[TypeExpr], span: Span) -> Substitution {
        if !given.is_empty() && given.len() != params.len() {
            self.error(
                span,
                format!("{} type argument(s) are expected, not {}", params.len(), given.len()),
            );
        }
        let types: Vec<Type> = given.iter().map(|t| self.resolve_type(t)).collect();
        params
            .iter()
            .copied()
            .zip(types)
            .filter(|(_, t)| *t != Type::DontCare)
            .collect()
    }

    /// Matches arguments with parameters, infers type parameters, converts the values.
    pub(super) fn arguments(
        &mut self,
        name: &str,
        params: &[ParamDef],
        args: &[Arg],
        map: &mut Substitution,
        span: Span,
    ) -> Vec<Option<Expr>> {
        let Some(ordered) = self.order(name, params, args, span) else {
            return vec![None; params.len()];
        };
        let mut values: Vec<Option<Expr>> = Vec::with_capacity(params.len());
        for (param, arg) in params.iter().zip(&ordered) {
            let value = arg.and_then(|a| a.value.as_ref()).map(|e| {
                let wanted = substitute(&param.ty, map);
                self.expr(e, if is_open(&wanted) { None } else { Some(&wanted) })
            });
            if let Some(value) = &value {
                let formal = substitute(&param.ty, map);
                if is_open(&formal) && !self.unify(&formal, &value.ty, map) {
                    let shown = substitute(&param.ty, map);
                    self.mismatch(value, &shown, &format!("the argument '{}' of {name}", param.name));
                    values.push(None);
                    continue;
                }
            }
            values.push(value);
        }
        let convert = |c: &mut Self, (param, value): (&ParamDef, Option<Expr>)| {
            let what = format!("the argument '{}' of {name}", param.name);
            match value {
                Some(value) => Some(c.argument(param, value, &substitute(&param.ty, map), &what)),
                None => param.default.clone(),
            }
        };
        params.iter().zip(values).map(|pair| convert(self, pair)).collect()
    }

    fn argument(&mut self, param: &ParamDef, value: Expr, ty: &Type, what: &str) -> Expr {
        if param.direction.is_written() {
            if !self.assignable(&value) {
                return Self::unknown(value.span);
            }
            if value.ty != *ty && value.ty != Type::Unknown && *ty != Type::Unknown {
                self.mismatch(&value, ty, what);
                return Self::unknown(value.span);
            }
            return value;
        }
        if let (Type::Block(..) | Type::Package(..), true) = (ty, value.ty != Type::Unknown) {
            if !self.unify(ty, &value.ty, &mut Substitution::new()) {
                self.block_mismatch(&value, ty, what);
            }
            return value;
        }
        self.convert(value, ty, what)
    }

    /// Says how a parser or control differs from the type that a package wants.
    fn block_mismatch(&mut self, value: &Expr, ty: &Type, what: &str) {
        let Type::Block(id, args) = ty else {
            return self.mismatch(value, ty, what);
        };
        let block = self.program.blocks[id.index()].clone();
        let actual = match &value.ty {
            Type::Control(c) if !block.is_parser => self.program.controls[c.index()].params.clone(),
            Type::Parser(p) if block.is_parser => self.program.parsers[p.index()].params.clone(),
            _ => return self.mismatch(value, ty, what),
        };
        let actual = self.params_of(&actual);
        let own: Substitution = block.type_params.iter().copied().zip(args.iter().cloned()).collect();
        let show = |c: &Self, list: &[ParamDef]| {
            let one = |p: &ParamDef| format!("{}{}", p.direction.text(), c.show(&substitute(&p.ty, &own)));
            list.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let (wanted, found) = (show(self, &block.params), show(self, &actual));
        let shown = self.show(&value.ty);
        self.error(
            value.span,
            format!("{what} must have the parameters ({wanted}), but {shown} has ({found})"),
        );
    }

    fn order<'a>(&mut self, name: &str, params: &[ParamDef], args: &'a [Arg], span: Span) -> Option<Ordered<'a>> {
        let mut ordered: Ordered = vec![None; params.len()];
        if args.len() > params.len() {
            let at = args[params.len()].span;
            let message = format!("{name} takes {} argument(s), not {}", params.len(), args.len());
            self.error(at, message);
            return None;
        }
        for (i, arg) in args.iter().enumerate() {
            let at = match &arg.name {
                None => i,
                Some(given) => match params.iter().position(|p| p.name == given.name) {
                    Some(at) => at,
                    None => {
                        let hint = suggestion(&given.name, params.iter().map(|p| &*p.name), "it has");
                        self.error(given.span, format!("{name} has no parameter '{}'{hint}", given.name));
                        return None;
                    }
                },
            };
            if ordered[at].replace(arg).is_some() {
                self.error(arg.span, format!("the parameter '{}' is given twice", params[at].name));
            }
        }
        let missing = params
            .iter()
            .zip(&ordered)
            .find(|(p, a)| a.is_none() && p.default.is_none());
        if let Some((param, _)) = missing {
            let (want, got) = (params.len(), args.len());
            let message = format!(
                "{name} takes {want} argument(s), not {got}: '{}' is missing",
                param.name
            );
            self.error(span, message);
            return None;
        }
        for (param, arg) in params.iter().zip(&ordered) {
            if let Some(Arg { value: None, span, .. }) = arg
                && param.direction != Direction::Out
            {
                self.error(
                    *span,
                    format!("'_' stands only for 'out' parameters, not for '{}'", param.name),
                );
            }
        }
        Some(ordered)
    }

    fn call_member(
        &mut self,
        base: &ast::Expr,
        name: &Ident,
        type_args: &[TypeExpr],
        args: &[Arg],
        span: Span,
    ) -> Expr {
        if let Some(size) = self.size_method(base, &name.name, span) {
            return size;
        }
        if let ast::ExprKind::Name(owner, _) = &base.kind {
            match self.lookup(&owner.name).cloned() {
                Some(Def::Table(id)) => return self.apply_table(id, name, args, span),
                Some(Def::Type(ty @ (Type::Control(_) | Type::Parser(_)))) if &*name.name == "apply" => {
                    let object = self.construct(&ty, &[], &owner.name, span);
                    return self.apply(object, args, span);
                }
                _ => {}
            }
        }
        let object = self.expr(base, None);
        match object.ty.clone() {
            Type::Unknown => Self::unknown(span),
            Type::Control(_) | Type::Parser(_) | Type::Block(..) if &*name.name == "apply" => {
                self.apply(object, args, span)
            }
            Type::Extern(id, types) => self.call_method(object, id, &types, name, type_args, args, span),
            Type::Struct(_) | Type::Stack(..) => self.call_builtin(object, name, args, span),
            other => {
                let shown = self.show(&other);
                self.error(name.span, format!("no method '{}' of {shown}", name.name));
                Self::unknown(span)
            }
        }
    }

    fn apply_table(&mut self, id: crate::typed::types::TableId, name: &Ident, args: &[Arg], span: Span) -> Expr {
        if &*name.name != "apply" {
            self.error(name.span, format!("a table has only apply(), not '{}'", name.name));
        }
        if let Some(arg) = args.first() {
            self.error(arg.span, "a table's apply() takes no arguments");
        }
        if self.place != Place::Control {
            self.error(span, "tables can be applied in the apply block of a control only");
        }
        let kind = ExprKind::Call(Box::new(Callee::Table(id)), Vec::new(), Vec::new());
        Expr {
            kind,
            ty: Type::ApplyResult(id),
            span,
        }
    }

    /// `object.apply(args)` of a parser or control.
    fn apply(&mut self, object: Expr, args: &[Arg], span: Span) -> Expr {
        let (params, is_parser) = match &object.ty {
            Type::Control(id) => (self.params_of(&self.program.controls[id.index()].params.clone()), false),
            Type::Parser(id) => (self.params_of(&self.program.parsers[id.index()].params.clone()), true),
            Type::Block(id, types) => {
                let block = &self.program.blocks[id.index()];
                let own: Substitution = block.type_params.iter().copied().zip(types.iter().cloned()).collect();
                let param = |p: &ParamDef| ParamDef {
                    ty: substitute(&p.ty, &own),
                    ..p.clone()
                };
                (block.params.iter().map(param).collect(), block.is_parser)
            }
            _ => return Self::unknown(span),
        };
        let (wanted, what) = if is_parser {
            (Place::Parser, "parser")
        } else {
            (Place::Control, "control")
        };
        if self.place != wanted {
            self.error(span, format!("a {what} can be applied in a {what} only"));
        }
        let name = format!("{}.apply", self.show(&object.ty));
        let args = self.arguments(&name, &params, args, &mut Substitution::new(), span);
        let kind = ExprKind::Call(Box::new(Callee::Apply(Box::new(object))), Vec::new(), args);
        Expr {
            kind,
            ty: Type::Void,
            span,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one call")]
    fn call_method(
        &mut self,
        object: Expr,
        id: crate::typed::types::ExternId,
        types: &[Type],
        name: &Ident,
        type_args: &[TypeExpr],
        args: &[Arg],
        span: Span,
    ) -> Expr {
        let def = self.program.externs[id.index()].clone();
        let indexes: Vec<usize> = (0..def.methods.len())
            .filter(|i| def.methods[*i].name == name.name)
            .collect();
        if indexes.is_empty() {
            let mut names: Vec<&str> = def.methods.iter().map(|m| &*m.name).collect();
            names.dedup();
            let hint = suggestion(&name.name, names, "it has");
            self.error(
                name.span,
                format!("no method '{}' in extern {}{hint}", name.name, def.name),
            );
            return Self::unknown(span);
        }
        let candidates = indexes.iter().map(|i| &def.methods[*i].params);
        let Some(at) = self.overload(&name.name, candidates, args, span) else {
            return Self::unknown(span);
        };
        let method = &def.methods[indexes[at]];
        let mut map = self.given_type_args(&method.type_params, type_args, span);
        map.extend(def.type_params.iter().copied().zip(types.iter().cloned()));
        let full = format!("{}.{}", def.name, name.name);
        let args = self.arguments(&full, &method.params, args, &mut map, span);
        let ty = substitute(&method.result, &map);
        let types = method
            .type_params
            .iter()
            .map(|v| map.get(v).cloned().unwrap_or(Type::Unknown))
            .collect();
        let callee = Callee::Method(Box::new(object), indexes[at]);
        Expr {
            kind: ExprKind::Call(Box::new(callee), types, args),
            ty,
            span,
        }
    }

    fn call_builtin(&mut self, object: Expr, name: &Ident, args: &[Arg], span: Span) -> Expr {
        use crate::syntax::ast::Composite;
        let composite = self.program.types.composite(&object.ty);
        let is_header = composite == Some(Composite::Header);
        let is_union = composite == Some(Composite::Union);
        let is_stack = matches!(object.ty, Type::Stack(..));
        let (builtin, params, ty) = match &*name.name {
            "isValid" if is_header || is_union => (Builtin::IsValid, 0, Type::Bool),
            "setValid" if is_header => (Builtin::SetValid, 0, Type::Void),
            "setInvalid" if is_header => (Builtin::SetInvalid, 0, Type::Void),
            "push_front" if is_stack => (Builtin::PushFront, 1, Type::Void),
            "pop_front" if is_stack => (Builtin::PopFront, 1, Type::Void),
            other => {
                let known: &[&str] = match () {
                    () if is_stack => &["push_front", "pop_front"],
                    () if is_header => &["isValid", "setValid", "setInvalid"],
                    () if is_union => &["isValid"],
                    () => &[],
                };
                let shown = self.show(&object.ty);
                let hint = suggestion(other, known.iter().copied(), "it has");
                self.error(name.span, format!("no method '{other}' of {shown}{hint}"));
                return Self::unknown(span);
            }
        };
        if builtin != Builtin::IsValid {
            self.assignable(&object);
        }
        if args.len() != params {
            self.error(
                span,
                format!("{} takes {params} argument(s), not {}", name.name, args.len()),
            );
            return Self::unknown(span);
        }
        let mut values = Vec::new();
        for value in args.iter().filter_map(|a| a.value.as_ref()) {
            let count = self.expr(value, None);
            if count.as_int().is_none() && count.ty != Type::Unknown {
                self.error(
                    value.span,
                    format!("the count of {} must be known when compiling", name.name),
                );
            }
            values.push(Some(count));
        }
        let callee = Callee::Builtin(builtin, Box::new(object));
        Expr {
            kind: ExprKind::Call(Box::new(callee), Vec::new(), values),
            ty,
            span,
        }
    }

    pub(super) fn instance_type(&self, id: InstanceId) -> Type {
        match &self.program.instances[id.index()].maker {
            Maker::Extern(id, args) => Type::Extern(*id, args.clone()),
            Maker::Parser(id) => Type::Parser(*id),
            Maker::Control(id) => Type::Control(*id),
            Maker::Package(id, args) => Type::Package(*id, args.clone()),
        }
    }

    /// `T(args)`: an instance without a name of its own.
    fn construct(&mut self, ty: &Type, args: &[Arg], name: &Symbol, span: Span) -> Expr {
        let Some(id) = self.new_instance(name.clone(), ty, args, &[], span) else {
            return Self::unknown(span);
        };
        Expr {
            kind: ExprKind::Instance(id),
            ty: self.instance_type(id),
            span,
        }
    }

    pub(super) fn new_instance(
        &mut self,
        name: Symbol,
        ty: &Type,
        args: &[Arg],
        annotations: &[ast::Annotation],
        span: Span,
    ) -> Option<InstanceId> {
        let shown = self.show(ty);
        let (maker, args) = match ty {
            Type::Control(id) => {
                let params = self.params_of(&self.program.controls[id.index()].constructor.clone());
                (
                    Maker::Control(*id),
                    self.arguments(&shown, &params, args, &mut Substitution::new(), span),
                )
            }
            Type::Parser(id) => {
                let params = self.params_of(&self.program.parsers[id.index()].constructor.clone());
                (
                    Maker::Parser(*id),
                    self.arguments(&shown, &params, args, &mut Substitution::new(), span),
                )
            }
            Type::Package(id, types) => {
                let def = self.program.packages[id.index()].clone();
                let mut map: Substitution = def.type_params.iter().copied().zip(types.iter().cloned()).collect();
                let args = self.arguments(&shown, &def.params, args, &mut map, span);
                let types = def
                    .type_params
                    .iter()
                    .map(|v| map.get(v).cloned().unwrap_or(Type::Unknown))
                    .collect();
                (Maker::Package(*id, types), args)
            }
            Type::Extern(id, types) => self.construct_extern(*id, types, args, span)?,
            Type::Unknown => return None,
            _ => {
                self.error(span, format!("{shown} has no constructor"));
                return None;
            }
        };
        let id = InstanceId(self.program.instances.len() as u32);
        let annotations = super::share(annotations);
        self.program.instances.push(Instance {
            name,
            maker,
            args,
            annotations,
            span,
        });
        Some(id)
    }

    fn construct_extern(
        &mut self,
        id: crate::typed::types::ExternId,
        types: &Rc<[Type]>,
        args: &[Arg],
        span: Span,
    ) -> Option<(Maker, Vec<Option<Expr>>)> {
        let def = self.program.externs[id.index()].clone();
        if def.constructors.is_empty() {
            self.error(span, format!("the extern {} has no constructor", def.name));
            return None;
        }
        let at = self.overload(&def.name, def.constructors.iter(), args, span)?;
        let mut map: Substitution = def.type_params.iter().copied().zip(types.iter().cloned()).collect();
        let args = self.arguments(&def.name, &def.constructors[at], args, &mut map, span);
        let types = def
            .type_params
            .iter()
            .map(|v| map.get(v).cloned().unwrap_or(Type::Unknown))
            .collect();
        Some((Maker::Extern(id, types), args))
    }
}
