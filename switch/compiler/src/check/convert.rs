//! Implicit conversions (specification section 8.11) and inference of type arguments.

use std::{collections::HashMap, rc::Rc};

use super::{Checker, fits, wrap};
use crate::{
    source::Span,
    syntax::ast::Composite,
    typed::{
        tree::{Expr, ExprKind},
        types::{Type, TypeVarId},
    },
};

/// The types that replace type parameters.
pub(super) type Substitution = HashMap<TypeVarId, Type>;

/// Replaces the type parameters in `ty`.
pub(super) fn substitute(ty: &Type, map: &Substitution) -> Type {
    let all = |types: &[Type]| types.iter().map(|t| substitute(t, map)).collect::<Rc<[Type]>>();
    match ty {
        Type::Var(id) => map.get(id).cloned().unwrap_or_else(|| ty.clone()),
        Type::Tuple(types) => Type::Tuple(all(types)),
        Type::Stack(element, n) => Type::Stack(Rc::new(substitute(element, map)), *n),
        Type::List(element) => Type::List(Rc::new(substitute(element, map))),
        Type::Set(element) => Type::Set(Rc::new(substitute(element, map))),
        Type::Extern(id, types) => Type::Extern(*id, all(types)),
        Type::Block(id, types) => Type::Block(*id, all(types)),
        Type::Package(id, types) => Type::Package(*id, all(types)),
        _ => ty.clone(),
    }
}

/// True if `ty` still has type parameters.
pub(super) fn is_open(ty: &Type) -> bool {
    match ty {
        Type::Var(_) => true,
        Type::Tuple(types) | Type::Extern(_, types) | Type::Block(_, types) | Type::Package(_, types) => {
            types.iter().any(is_open)
        }
        Type::Stack(element, _) | Type::List(element) | Type::Set(element) => is_open(element),
        _ => false,
    }
}

impl Checker<'_> {
    /// Converts `e` to type `to`. `what` names the place in messages, for example "the right side".
    pub(super) fn convert(&mut self, e: Expr, to: &Type, what: &str) -> Expr {
        if e.ty == *to || matches!(to, Type::Unknown | Type::DontCare) || e.ty == Type::Unknown {
            return e;
        }
        let span = e.span;
        match self.try_convert(e, to) {
            Ok(e) => e,
            Err(e) => {
                self.mismatch(&e, to, what);
                Self::unknown(span)
            }
        }
    }

    /// The converted expression, or the unchanged expression if there is no conversion.
    fn try_convert(&mut self, e: Expr, to: &Type) -> Result<Expr, Expr> {
        if e.ty == *to || e.ty == Type::Unknown || *to == Type::Unknown || matches!(e.ty, Type::Var(_)) && is_open(to) {
            return Ok(e);
        }
        match (&e.ty, to) {
            (Type::Integer, Type::Bits { signed, width }) => Ok(self.integer_as_bits(e, *signed, *width)),
            (Type::Integer, Type::New(_)) => match self.program.types.base(to) {
                Type::Bits { signed, width } => Ok(Expr {
                    ty: to.clone(),
                    ..self.integer_as_bits(e, signed, width)
                }),
                _ => Err(e),
            },
            // A member of an enum with an underlying type converts to a number, but not the other way round.
            (Type::Enum(_), Type::Bits { .. } | Type::Integer) if self.program.types.base(&e.ty) == *to => {
                Ok(Expr { ty: to.clone(), ..e })
            }
            (Type::Invalid, _) if self.takes_default(to) => Ok(Expr { ty: to.clone(), ..e }),
            (Type::Tuple(_) | Type::Record(_), Type::Struct(_) | Type::Tuple(_) | Type::Stack(..) | Type::List(_)) => {
                self.aggregate_as(e, to)
            }
            (Type::Extern(a, x), Type::Extern(b, y)) if a == b && (x.is_empty() || y.is_empty()) => Ok(e),
            (Type::Extern(..), Type::Extern(..)) if self.unify(to, &e.ty, &mut Substitution::new()) => Ok(e),
            _ => Err(e),
        }
    }

    fn takes_default(&self, to: &Type) -> bool {
        !matches!(
            to,
            Type::Void | Type::Extern(..) | Type::Control(_) | Type::Parser(_) | Type::Package(..)
        )
    }

    fn integer_as_bits(&mut self, e: Expr, signed: bool, width: u32) -> Expr {
        let ty = Type::Bits { signed, width };
        let span = e.span;
        let Some(value) = e.as_int() else {
            return Expr::new(ExprKind::Cast(Box::new(e)), ty, span);
        };
        if !fits(value, signed, width) {
            let shown = self.show(&ty);
            let wrapped = wrap(value, signed, width);
            self.reporter.warning(
                "overflow",
                span,
                format!("{value} does not fit in {shown}; it becomes {wrapped}"),
            );
        }
        Expr::new(ExprKind::Int(wrap(value, signed, width)), ty, span)
    }

    /// Converts a list in braces to a struct, header, tuple or stack, element by element.
    fn aggregate_as(&mut self, e: Expr, to: &Type) -> Result<Expr, Expr> {
        let ExprKind::Aggregate(values) = &e.kind else {
            return Err(e);
        };
        let names: Option<Vec<_>> = match &e.ty {
            Type::Record(fields) => Some(fields.iter().map(|(n, _)| n.clone()).collect()),
            _ => None,
        };
        let wanted: Vec<(Option<crate::syntax::token::Symbol>, Type)> = match to {
            Type::Struct(id) => {
                let def = self.program.types.get(*id);
                if def.kind == Composite::Union {
                    return Err(e);
                }
                def.fields
                    .iter()
                    .map(|f| (Some(f.name.clone()), f.ty.clone()))
                    .collect()
            }
            Type::Tuple(types) => types.iter().map(|t| (None, t.clone())).collect(),
            Type::Stack(element, n) if values.len() <= *n as usize => {
                (0..values.len()).map(|_| (None, (**element).clone())).collect()
            }
            Type::List(element) => values.iter().map(|_| (None, (**element).clone())).collect(),
            _ => return Err(e),
        };
        if wanted.len() != values.len() {
            return Err(e);
        }
        let mut list = Vec::with_capacity(wanted.len());
        for (i, (name, ty)) in wanted.iter().enumerate() {
            let at = match &names {
                Some(names) => names.iter().position(|n| Some(n) == name.as_ref()),
                None => Some(i),
            };
            let Some(at) = at else { return Err(e) };
            match self.try_convert(values[at].clone(), ty) {
                Ok(value) => list.push(value),
                Err(value) => {
                    let what = name
                        .as_ref()
                        .map_or(format!("element {i}"), |n| format!("the field '{n}'"));
                    self.mismatch(&value, ty, &what);
                    return Ok(Self::unknown(e.span));
                }
            }
        }
        Ok(Expr::new(ExprKind::Aggregate(list), to.clone(), e.span))
    }

    /// Reports that `e` does not have the type `to`, with a hint.
    pub(super) fn mismatch(&mut self, e: &Expr, to: &Type, what: &str) {
        let (from, shown) = (self.show(&e.ty), self.show(to));
        let base = (self.program.types.base(&e.ty), self.program.types.base(to));
        let hint = match base {
            (Type::Bits { .. } | Type::Integer, Type::Bits { .. }) => format!("; a cast makes it fit: ({shown})"),
            (from, Type::Bool) if from == Type::bit(1) => "; compare it with 1".to_owned(),
            (Type::Bool, Type::Bits { width: 1, .. }) => format!("; a cast makes it fit: ({shown})"),
            (Type::Bits { .. } | Type::Integer, Type::Bool) => "; compare it with 0".to_owned(),
            (Type::Tuple(types), Type::Struct(id)) => {
                let fields = self.program.types.get(id).fields.len();
                format!("; {shown} has {fields} fields, the list has {}", types.len())
            }
            (Type::Record(given), Type::Struct(id)) => {
                let def = self.program.types.get(id);
                let missing = def.fields.iter().find(|f| !given.iter().any(|(n, _)| *n == f.name));
                match missing {
                    Some(field) => format!("; the field '{}' is missing", field.name),
                    None => format!(
                        "; {shown} has {} fields, the list has {}",
                        def.fields.len(),
                        given.len()
                    ),
                }
            }
            _ => String::new(),
        };
        self.error(e.span, format!("{what} must be {shown}, not {from}{hint}"));
    }

    /// Finds the type arguments that turn `formal` into `actual`. Returns false if there are none.
    pub(super) fn unify(&self, formal: &Type, actual: &Type, map: &mut Substitution) -> bool {
        match (formal, actual) {
            (_, Type::Unknown | Type::DontCare) | (Type::Unknown | Type::DontCare, _) => true,
            (Type::Var(id), _) => match map.get(id).cloned() {
                None => {
                    map.insert(*id, actual.clone());
                    true
                }
                // A width from one argument also applies to an `int` in another.
                Some(Type::Integer) if matches!(actual, Type::Bits { .. }) => {
                    map.insert(*id, actual.clone());
                    true
                }
                Some(Type::Bits { .. }) if *actual == Type::Integer => true,
                Some(Type::DontCare) => {
                    map.insert(*id, actual.clone());
                    true
                }
                Some(bound) => bound == *actual || self.unify_inner(&bound, actual, map),
            },
            _ => self.unify_inner(formal, actual, map),
        }
    }

    fn unify_inner(&self, formal: &Type, actual: &Type, map: &mut Substitution) -> bool {
        let all = |a: &[Type], b: &[Type], map: &mut Substitution| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.unify(a, b, map))
        };
        match (formal, actual) {
            (Type::Tuple(a), Type::Tuple(b)) => all(a, b, map),
            (Type::Stack(a, n), Type::Stack(b, m)) => n == m && self.unify(a, b, map),
            (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) => self.unify(a, b, map),
            (Type::Extern(a, x), Type::Extern(b, y)) => a == b && (x.is_empty() || y.is_empty() || all(x, y, map)),
            (Type::Package(a, x), Type::Package(b, y)) => a == b && (y.is_empty() || all(x, y, map)),
            (Type::Block(id, args), Type::Control(_) | Type::Parser(_)) => self.unify_block(*id, args, actual, map),
            (Type::Bits { .. }, Type::Integer) => true,
            // A list in braces fits a struct; the conversion checks its elements.
            (Type::Struct(_), Type::Tuple(_) | Type::Record(_)) => true,
            (_, Type::Invalid) => true,
            (Type::Bits { .. }, Type::Enum(_)) => self.program.types.base(actual) == *formal,
            (a, b) => a == b,
        }
    }

    /// True if a parser or control has the parameters of a parser or control type.
    fn unify_block(
        &self,
        id: crate::typed::types::BlockTypeId,
        args: &[Type],
        actual: &Type,
        map: &mut Substitution,
    ) -> bool {
        let block = &self.program.blocks[id.index()];
        let params = match actual {
            Type::Control(c) if !block.is_parser => &self.program.controls[c.index()].params,
            Type::Parser(p) if block.is_parser => &self.program.parsers[p.index()].params,
            _ => return false,
        };
        let own: Substitution = block.type_params.iter().copied().zip(args.iter().cloned()).collect();
        // Optional parameters may be left out from the end.
        let rest = block.params.get(params.len()..);
        rest.is_some_and(|rest| rest.iter().all(|p| p.optional))
            && params.iter().zip(&block.params).all(|(var, formal)| {
                let var = &self.program.vars[var.index()];
                let direction = crate::typed::tree::VarKind::Parameter(formal.direction);
                var.kind == direction && self.unify(&substitute(&formal.ty, &own), &var.ty, map)
            })
    }

    /// Checks an expression that must be an integer known at compile time.
    pub(super) fn known_integer(&mut self, e: &Expr, what: &str, span: Span) {
        if !matches!(
            self.program.types.base(&e.ty),
            Type::Integer | Type::Bits { .. } | Type::Unknown
        ) {
            let shown = self.show(&e.ty);
            self.error(span, format!("{what} must be an integer, not {shown}"));
        }
    }
}
