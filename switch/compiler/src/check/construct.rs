//! Constructions of parsers, controls, packages and externs.

use std::rc::Rc;

use super::{Checker, convert::Substitution};
use crate::{
    source::Span,
    syntax::{
        ast::{self, Arg, TypeExpr},
        token::Symbol,
    },
    typed::{
        tree::{Expr, ExprKind, Instance, Maker},
        types::{InstanceId, Type, TypeVarId},
    },
};

impl Checker<'_> {
    pub(super) fn with_type_args(&mut self, ty: Type, type_args: &[TypeExpr], _span: Span) -> Type {
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

    pub(super) fn instance_type(&self, id: InstanceId) -> Type {
        match &self.program.instances[id.index()].maker {
            Maker::Extern(id, args) => Type::Extern(*id, args.clone()),
            Maker::Parser(id) => Type::Parser(*id),
            Maker::Control(id) => Type::Control(*id),
            Maker::Package(id, args) => Type::Package(*id, args.clone()),
        }
    }

    /// Checks `T(args)`: an anonymous instance.
    pub(super) fn construct(&mut self, ty: &Type, args: &[Arg], name: &Symbol, span: Span) -> Expr {
        let Some(id) = self.new_instance(name.clone(), ty, args, &[], span) else {
            return Self::unknown(span);
        };
        self.methods(id, &[], span);
        Expr::new(ExprKind::Instance(id), self.instance_type(id), span)
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
        let annotations = self.annotations(annotations);
        self.program.instances.push(Instance {
            name,
            maker,
            args,
            methods: Vec::new(),
            annotations,
            in_table: false,
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
        let given = def.type_params.iter().copied().zip(types.iter().cloned());
        let mut map: Substitution = given.filter(|(_, t)| *t != Type::DontCare).collect();
        let args = self.arguments(&def.name, &def.constructors[at], args, &mut map, span);
        // Open type arguments may follow from the methods of the instance.
        let open = |at: usize, v: TypeVarId| types.get(at).cloned().unwrap_or(Type::Var(v));
        let found = def.type_params.iter().enumerate();
        let types = found
            .map(|(at, v)| map.get(v).cloned().unwrap_or_else(|| open(at, *v)))
            .collect();
        Some((Maker::Extern(id, types), args))
    }
}
