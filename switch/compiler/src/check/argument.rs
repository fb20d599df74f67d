//! Arguments of calls: overloads, order of parameters, type arguments, conversions.

use super::{
    Checker,
    convert::{Substitution, is_open, substitute},
};
use crate::{
    diagnostics::suggestion,
    source::Span,
    syntax::ast::{Arg, Direction, TypeExpr},
    typed::{
        annotations,
        tree::{Expr, ParamDef, VarKind},
        types::{Type, TypeVarId, VarId},
    },
};

/// Arguments in the order of the parameters; `None` for a missing argument.
type Ordered<'a> = Vec<Option<&'a Arg>>;

impl Checker<'_> {
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
                optional: annotations::has(&var.annotations, "optional"),
            }
        };
        vars.iter().map(param).collect()
    }

    /// Finds the candidate that takes these arguments, by their number and names.
    pub(super) fn overload<'p>(
        &mut self,
        name: &str,
        candidates: impl Iterator<Item = &'p Vec<ParamDef>>,
        args: &[Arg],
        span: Span,
    ) -> Option<usize> {
        let candidates: Vec<&Vec<ParamDef>> = candidates.collect();
        let fits = |params: &&Vec<ParamDef>| {
            let needed = params.iter().filter(|p| p.is_needed()).count();
            let named = args.iter().filter_map(|a| a.name.as_ref());
            (needed..=params.len()).contains(&args.len())
                && named.clone().all(|n| params.iter().any(|p| p.name == n.name))
        };
        if let Some(at) = candidates.iter().position(fits) {
            return Some(at);
        }
        if candidates.len() == 1 {
            // Matching the arguments gives the precise error.
            return Some(0);
        }
        let counts: Vec<String> = candidates.iter().map(|p| p.len().to_string()).collect();
        let message = format!("'{name}' takes {} arguments, not {}", counts.join(" or "), args.len());
        self.error(span, message);
        None
    }

    pub(super) fn given_type_args(&mut self, params: &[TypeVarId], given: &[TypeExpr], span: Span) -> Substitution {
        if !given.is_empty() && given.len() != params.len() {
            let message = format!("{} type argument(s) are expected, not {}", params.len(), given.len());
            self.error(span, message);
        }
        let types: Vec<Type> = given.iter().map(|t| self.resolve_type(t)).collect();
        params
            .iter()
            .copied()
            .zip(types)
            .filter(|(_, t)| *t != Type::DontCare)
            .collect()
    }

    /// Matches arguments with parameters, infers type arguments and converts the values.
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
        if (ty, &value.ty) == (&Type::DontCare, &Type::Integer) {
            return self.convert(value, &Type::bit(32), what);
        }
        if let (Type::Block(..) | Type::Package(..), true) = (ty, value.ty != Type::Unknown) {
            if !self.unify(ty, &value.ty, &mut Substitution::new()) {
                self.block_mismatch(&value, ty, what);
            }
            return value;
        }
        self.convert(value, ty, what)
    }

    /// Reports how a parser or control differs from the type of the package's parameter.
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
            let one = |p: &ParamDef| {
                let optional = if p.optional { "@optional " } else { "" };
                format!("{optional}{}{}", p.direction.text(), c.show(&substitute(&p.ty, &own)))
            };
            list.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let (wanted, found) = (show(self, &block.params), show(self, &actual));
        let shown = self.show(&value.ty);
        let message = format!("{what} must have the parameters ({wanted}), but {shown} has ({found})");
        self.error(value.span, message);
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
        let missing = params.iter().zip(&ordered).find(|(p, a)| a.is_none() && p.is_needed());
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
                let message = format!("'_' stands only for 'out' parameters, not for '{}'", param.name);
                self.error(*span, message);
            }
        }
        Some(ordered)
    }
}
