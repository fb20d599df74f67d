//! Bodies of abstract methods, which a program writes where it declares an instance (specification section 11.3.1), and
//! type arguments that follow from them.

use std::rc::Rc;

use super::{
    Checker, Place,
    convert::{Substitution, is_open, substitute},
};
use crate::{
    diagnostics::suggestion,
    source::Span,
    syntax::ast::{self, Decl, DeclKind},
    typed::{
        annotations,
        tree::{Extern, ExternMethod, Function, Maker, ParamDef},
        types::{InstanceId, Type, TypeVarId, VarId},
    },
};

impl Checker<'_> {
    /// Adds the methods of an instance. Type arguments that were open must be known afterwards.
    pub(super) fn methods(&mut self, id: InstanceId, decls: &[Decl], span: Span) {
        let Maker::Extern(ext, types) = self.program.instances[id.index()].maker.clone() else {
            if let Some(first) = decls.first() {
                self.error(first.name.span, "only externs have methods that a program gives");
            }
            return;
        };
        let def = self.program.externs[ext.index()].clone();
        let known = |(v, t): (&TypeVarId, &Type)| {
            (!matches!(t, Type::Var(_) | Type::DontCare | Type::Unknown)).then(|| (*v, t.clone()))
        };
        let mut map: Substitution = def.type_params.iter().zip(types.iter()).filter_map(known).collect();
        for decl in decls {
            let DeclKind::Function(head, body) = &decl.kind else {
                continue;
            };
            let name = &head.name;
            let Some(method) = def.methods.iter().find(|m| m.is_abstract && m.name == name.name) else {
                let names = def.methods.iter().filter(|m| m.is_abstract).map(|m| &*m.name);
                let hint = suggestion(&name.name, names, "it has");
                let message = format!("no abstract method '{}' in extern {}{hint}", name.name, def.name);
                self.error(name.span, message);
                continue;
            };
            if self.program.instances[id.index()]
                .methods
                .iter()
                .any(|m| m.0 == name.name)
            {
                self.error(name.span, format!("the method '{}' is given twice", name.name));
                continue;
            }
            let function = self.method(id, method, head, body, &mut map);
            let instance = &mut self.program.instances[id.index()];
            instance.methods.push((name.name.clone(), function));
        }
        self.all_given(id, &def, &map, span);
        self.close_types(id, &def, &map, span);
    }

    fn method(
        &mut self,
        id: InstanceId,
        method: &ExternMethod,
        head: &ast::Method,
        body: &ast::Block,
        map: &mut Substitution,
    ) -> Function {
        let result = head.result.as_ref().map_or(Type::Void, |r| self.resolve_type(r));
        let place = std::mem::replace(&mut self.place, Place::Function);
        let this = self.this.replace(id);
        let outer = self.result.replace(result.clone());
        let function = self.scoped(|c| {
            let params = c.declare_params(&head.params, false);
            if head.type_params.is_empty() && c.implements(method, &result, &params, map) {
                c.update_types(id, map);
            } else {
                let wanted = c.signature(method, map);
                let message = format!("'{}' must be declared as {wanted}", method.name);
                c.error(head.name.span, message);
            }
            let body = Rc::new(c.block(body));
            if result != Type::Void && !Self::always_returns(&body) {
                let message = format!("'{}' may end without returning a value", method.name);
                c.error(head.name.span, message);
            }
            Function { params, result, body }
        });
        (self.place, self.this, self.result) = (place, this, outer);
        function
    }

    /// True if a method has the result and the parameters of the abstract method. Optional parameters at the end may be
    /// missing. Type parameters of the extern are bound.
    fn implements(&self, method: &ExternMethod, result: &Type, params: &[VarId], map: &mut Substitution) -> bool {
        let params = self.params_of(params);
        let rest = method.params.get(params.len()..);
        rest.is_some_and(|rest| rest.iter().all(|p| p.optional))
            && self.unify(&substitute(&method.result, map), result, map)
            && params.iter().zip(&method.params).all(|(own, wanted)| {
                own.direction == wanted.direction && self.unify(&substitute(&wanted.ty, map), &own.ty, map)
            })
    }

    /// Head of a method in P4 syntax.
    fn signature(&self, method: &ExternMethod, map: &Substitution) -> String {
        let show = |ty: &Type| self.show(&substitute(ty, map));
        let param = |p: &ParamDef| format!("{}{} {}", p.direction.text(), show(&p.ty), p.name);
        let (optional, needed): (Vec<&ParamDef>, Vec<&ParamDef>) = method.params.iter().partition(|p| p.optional);
        let all: Vec<String> = needed.iter().chain(&optional).map(|p| param(p)).collect();
        let last = match optional.len() {
            0 => "",
            1 => "; the last parameter may be left out",
            _ => "; parameters may be left out from the end, except the first",
        };
        format!("{} {}({}){last}", show(&method.result), method.name, all.join(", "))
    }

    fn all_given(&mut self, id: InstanceId, def: &Extern, map: &Substitution, span: Span) {
        for method in def.methods.iter().filter(|m| m.is_abstract) {
            let given = &self.program.instances[id.index()].methods;
            if annotations::has(&method.annotations, "optional") || given.iter().any(|(n, _)| *n == method.name) {
                continue;
            }
            let wanted = self.signature(method, map);
            let wanted = wanted.split(';').next().unwrap_or_default();
            let message = format!(
                "{} needs the body of '{}': = {{ {wanted} {{ ... }} }};",
                def.name, method.name
            );
            self.error(span, message);
        }
    }

    fn update_types(&mut self, id: InstanceId, map: &Substitution) {
        let Maker::Extern(ext, types) = &self.program.instances[id.index()].maker else {
            return;
        };
        let params = &self.program.externs[ext.index()].type_params;
        let found = params.iter().zip(types.iter());
        let types = found.map(|(v, t)| map.get(v).cloned().unwrap_or(t.clone())).collect();
        self.program.instances[id.index()].maker = Maker::Extern(*ext, types);
    }

    /// Closes the remaining type arguments. One that appears only in arguments of methods may be any type.
    fn close_types(&mut self, id: InstanceId, def: &Extern, map: &Substitution, span: Span) {
        let Maker::Extern(_, types) = self.program.instances[id.index()].maker.clone() else {
            return;
        };
        let mut map = map.clone();
        for (v, ty) in def.type_params.iter().zip(types.iter()) {
            if !is_open(ty) {
                continue;
            }
            let read = |p: &ParamDef| !p.direction.is_written() || p.ty != Type::Var(*v);
            let any = def.methods.iter().filter(|m| !m.is_abstract);
            let any = any
                .clone()
                .all(|m| m.result != Type::Var(*v) && m.params.iter().all(read));
            if !any {
                let name = &self.program.types.vars[v.0 as usize];
                let message = format!("the type argument {name} of {0} is not known: {0}<...>(...)", def.name);
                self.error(span, message);
            }
            map.insert(*v, if any { Type::DontCare } else { Type::Unknown });
        }
        self.update_types(id, &map);
    }
}
