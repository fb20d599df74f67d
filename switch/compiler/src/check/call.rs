//! Calls of functions, actions, methods, tables, parsers and controls.

use super::{
    Checker, Def, FunctionRef, Place,
    convert::{Substitution, substitute},
};
use crate::{
    diagnostics::suggestion,
    names::PLACEHOLDER,
    source::Span,
    syntax::ast::{self, Arg, Composite, Ident, TypeExpr},
    typed::{
        tree::{Builtin, Callee, Expr, ExprKind, ParamDef},
        types::{FunctionId, Type, TypeVarId},
    },
};

impl Checker<'_> {
    pub(super) fn call(&mut self, callee: &ast::Expr, type_args: &[TypeExpr], args: &[Arg], span: Span) -> Expr {
        match &callee.kind {
            ast::ExprKind::Name(name, global) => self.call_name(name, *global, type_args, args, span),
            ast::ExprKind::Member(base, name) => self.call_member(base, name, type_args, args, span),
            _ => self.refused(callee.span, "this cannot be called", span),
        }
    }

    fn call_name(&mut self, name: &Ident, global: bool, type_args: &[TypeExpr], args: &[Arg], span: Span) -> Expr {
        let Some(def) = self.lookup_name(name, global) else {
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
                Expr::new(
                    ExprKind::Call(Box::new(Callee::Action(id)), Vec::new(), args),
                    Type::Void,
                    span,
                )
            }
            Def::Type(ty) => {
                let ty = self.with_type_args(ty, type_args, span);
                self.construct(&ty, args, &name.name, span)
            }
            Def::Table(_) => self.refused(span, format!("a table is applied: {}.apply()", name.name), span),
            other => self.refused(
                name.span,
                format!("'{}' is {}; it cannot be called", name.name, other.kind()),
                span,
            ),
        }
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
                FunctionRef::Generic(index) => {
                    let generic = &self.generics[*index];
                    (
                        *f,
                        generic.type_params.clone(),
                        generic.params.clone(),
                        generic.result.clone(),
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
        let types: Vec<Type> = type_params
            .iter()
            .map(|v| map.get(v).cloned().unwrap_or(Type::Unknown))
            .collect();
        let callee = match function {
            FunctionRef::Extern(id) => Callee::Extern(id),
            FunctionRef::User(id) => Callee::Function(id),
            FunctionRef::Generic(index) => match self.known_function(index, &type_params, types, &args, span) {
                Some(id) => {
                    return Expr::new(
                        ExprKind::Call(Box::new(Callee::Function(id)), Vec::new(), args),
                        ty,
                        span,
                    );
                }
                None => return Self::unknown(span),
            },
        };
        Expr::new(ExprKind::Call(Box::new(callee), types, args), ty, span)
    }

    /// Specialises a generic function, if the call gives all type arguments.
    fn known_function(
        &mut self,
        index: usize,
        type_params: &[TypeVarId],
        types: Vec<Type>,
        args: &[Option<Expr>],
        span: Span,
    ) -> Option<FunctionId> {
        if let Some(place) = types.iter().position(|ty| *ty == Type::Unknown) {
            if args.iter().flatten().all(|arg| arg.ty != Type::Unknown) {
                let name = self.program.types.vars[type_params[place].index()].clone();
                self.error(
                    span,
                    format!("the arguments do not say the type {name}; write it in <>"),
                );
            }
            return None;
        }
        self.specialised_function(index, types, span)
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
        Expr::new(ExprKind::Bool(true), Type::Bool, span)
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
            match self.lookup(owner) {
                Some(Def::Table(id)) => return self.apply_table(id, name, args, span),
                Some(Def::Type(ty @ (Type::Control(_) | Type::Parser(_)))) if &*name.name == "apply" => {
                    let object = self.construct(&ty, &[], &owner.name, span);
                    return self.apply(object, args, span);
                }
                _ => {}
            }
        }
        let object = self.expr(base, None);
        if &*name.name == PLACEHOLDER {
            self.members_fit(&object.ty);
        }
        match object.ty.clone() {
            Type::Unknown => Self::unknown(span),
            Type::Control(_) | Type::Parser(_) | Type::Block(..) if &*name.name == "apply" => {
                self.apply(object, args, span)
            }
            Type::Extern(id, types) => self.call_method(object, id, &types, name, type_args, args, span),
            Type::Struct(_) | Type::Stack(..) => self.call_builtin(object, name, args, span),
            other => {
                let shown = self.show(&other);
                self.refused(name.span, format!("no method '{}' of {shown}", name.name), span)
            }
        }
    }

    /// Notes the fields and the built-in methods of a type as fitting.
    pub(super) fn members_fit(&mut self, ty: &Type) {
        if let Type::Struct(id) = ty {
            for field in &self.program.types.get(*id).fields {
                let shown = self.program.types.show(&field.ty);
                self.found.fits(&field.name, "a field", Some(shown));
            }
        }
        let methods: &[&str] = match ty {
            Type::Struct(id) if self.program.types.get(*id).kind != Composite::Struct => {
                &["isValid", "setValid", "setInvalid"]
            }
            Type::Stack(..) => &["push_front", "pop_front"],
            Type::Control(_) | Type::Parser(_) | Type::Block(..) => &["apply"],
            _ => &[],
        };
        for method in methods {
            self.found.fits(method, "a method", None);
        }
    }

    fn apply_table(&mut self, id: crate::typed::types::TableId, name: &Ident, args: &[Arg], span: Span) -> Expr {
        if &*name.name == PLACEHOLDER {
            self.found.fits("apply", "a method", None);
        }
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
        Expr::new(kind, Type::ApplyResult(id), span)
    }

    /// Checks `object.apply(args)` of a parser or control.
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
        Expr::new(kind, Type::Void, span)
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
            if &*name.name == PLACEHOLDER {
                let methods = def.methods.iter();
                methods.for_each(|m| self.found.fits(&m.name, "a method", None));
            }
            let mut names: Vec<&str> = def.methods.iter().map(|m| &*m.name).collect();
            names.dedup();
            let hint = suggestion(&name.name, names, "it has");
            let message = format!("no method '{}' in extern {}{hint}", name.name, def.name);
            return self.refused(name.span, message, span);
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
        Expr::new(ExprKind::Call(Box::new(callee), types, args), ty, span)
    }

    fn call_builtin(&mut self, object: Expr, name: &Ident, args: &[Arg], span: Span) -> Expr {
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
                return self.refused(name.span, format!("no method '{other}' of {shown}{hint}"), span);
            }
        };
        if builtin != Builtin::IsValid {
            self.assignable(&object);
        }
        if args.len() != params {
            let message = format!("{} takes {params} argument(s), not {}", name.name, args.len());
            return self.refused(span, message, span);
        }
        let mut values = Vec::new();
        for value in args.iter().filter_map(|a| a.value.as_ref()) {
            let count = self.expr(value, None);
            if count.as_int().is_none() && count.ty != Type::Unknown {
                let message = format!("the count of {} must be known when compiling", name.name);
                self.error(value.span, message);
            }
            values.push(Some(count));
        }
        let callee = Callee::Builtin(builtin, Box::new(object));
        Expr::new(ExprKind::Call(Box::new(callee), Vec::new(), values), ty, span)
    }
}
