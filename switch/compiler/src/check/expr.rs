//! Expressions.

use num_bigint::BigInt;

use super::{Checker, Def, fits, wrap};
use crate::{
    syntax::{
        ast::{self, Composite, Ident, TypeExpr, TypeKind},
        token::{IntLiteral, Symbol},
    },
    typed::{
        tree::{Expr, ExprKind, VarKind},
        types::Type,
    },
};

impl Checker<'_> {
    /// Checks an expression. `wanted` is the type expected here, if it is known; lists in braces get their type from
    /// it. The result may have another type; see [`Checker::convert`].
    pub(super) fn expr(&mut self, e: &ast::Expr, wanted: Option<&Type>) -> Expr {
        let value = self.value(e, wanted);
        if let ast::ExprKind::Name(name, _) | ast::ExprKind::Member(_, name) = &e.kind {
            self.found.value(name.span, &value.ty);
        }
        value
    }

    fn value(&mut self, e: &ast::Expr, wanted: Option<&Type>) -> Expr {
        use ast::ExprKind as A;
        let span = e.span;
        let made = |kind, ty| Expr::new(kind, ty, span);
        match &e.kind {
            A::Int(literal) => self.integer(literal, span),
            A::Bool(value) => made(ExprKind::Bool(*value), Type::Bool),
            A::Str(text) => made(ExprKind::Text(text.clone()), Type::Text),
            A::Name(name, global) => self.name(name, *global),
            A::This => match self.this {
                Some(id) => made(ExprKind::Instance(id), self.instance_type(id)),
                None => self.refused(span, "'this' stands only in the abstract methods of an extern", span),
            },
            A::Member(base, name) => self.member(base, name, span),
            A::TypeMember(ty, name) => self.type_member(ty, name, span),
            A::Index(base, index) => self.index(base, index, span),
            A::Slice(base, high, low) => self.slice(base, high, low, span),
            A::Unary(op, operand) => self.unary(*op, operand, span),
            A::Binary(op, left, right) => self.binary(*op, left, right, span),
            A::Conditional(condition, yes, no) => self.conditional(condition, yes, no, wanted, span),
            A::Cast(ty, operand) => self.cast(ty, operand, span),
            A::List(values, dots) => self.list(values, *dots, wanted, span),
            A::Record(fields, dots) => self.record(fields, *dots, wanted, span),
            A::Invalid => made(ExprKind::Default, Type::Invalid),
            A::Dots => made(ExprKind::Default, Type::Invalid),
            A::Call(callee, type_args, args) => self.call(callee, type_args, args, span),
            A::Mask(value, mask) => self.mask_or_range(value, mask, wanted, true, span),
            A::Range(low, high) => self.mask_or_range(low, high, wanted, false, span),
            A::Default => made(ExprKind::Any, Type::DontCare),
            A::Tuple(_) => self.refused(
                span,
                "a set of several values stands only where as many keys are matched",
                span,
            ),
        }
    }

    /// Checks an expression and converts it to `wanted`.
    pub(super) fn expr_as(&mut self, e: &ast::Expr, wanted: &Type, what: &str) -> Expr {
        let value = self.expr(e, Some(wanted));
        self.convert(value, wanted, what)
    }

    fn integer(&mut self, literal: &IntLiteral, span: crate::source::Span) -> Expr {
        let Some((width, signed)) = literal.width else {
            return Expr::new(ExprKind::Int(literal.value.clone()), Type::Integer, span);
        };
        let value = wrap(&literal.value, signed, width);
        let ty = Type::Bits { signed, width };
        if !fits(&literal.value, signed, width) {
            let message = format!(
                "{} does not fit in {}; it becomes {value}",
                literal.value,
                self.show(&ty)
            );
            self.reporter.warning("overflow", span, message);
        }
        Expr::new(ExprKind::Int(value), ty, span)
    }

    fn name(&mut self, name: &Ident, global: bool) -> Expr {
        let span = name.span;
        let Some(def) = self.lookup_name(name, global) else {
            self.unknown_name(name, "name", |d| !matches!(d, Def::Type(_) | Def::Template(_)));
            return Self::unknown(span);
        };
        match def {
            Def::Var(id) => Expr::new(ExprKind::Var(id), self.program.vars[id.index()].ty.clone(), span),
            Def::Const(value) => Expr {
                span,
                ..(*value).clone()
            },
            Def::Instance(id) => Expr::new(ExprKind::Instance(id), self.instance_type(id), span),
            Def::ValueSet(id) => {
                let ty = Type::Set(self.program.value_sets[id.index()].element.clone().into());
                Expr::new(ExprKind::ValueSet(id), ty, span)
            }
            Def::Table(_) => self.refused(
                span,
                format!("a table is not a value; it is used as {}.apply()", name.name),
                span,
            ),
            other => self.refused(span, format!("'{}' is {}, not a value", name.name, other.kind()), span),
        }
    }

    fn type_member(&mut self, ty: &TypeExpr, name: &Ident, span: crate::source::Span) -> Expr {
        let (list, ty, what) = match ty.kind {
            TypeKind::Error => (&self.program.errors, Type::Error, "error"),
            _ => (&self.program.match_kinds, Type::MatchKind, "match_kind"),
        };
        if let Some(index) = list.iter().position(|e| *e == name.name) {
            return Expr::new(ExprKind::Error(index), ty, span);
        }
        let hint = crate::diagnostics::suggestion(&name.name, list.iter().map(|e| &**e), "there are");
        self.refused(name.span, format!("no {what} '{}' is declared{hint}", name.name), span)
    }

    fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: crate::source::Span) -> Expr {
        let base = self.expr(base, None);
        let index = self.expr(index, None);
        self.known_integer(&index, "an index", index.span);
        let ty = match &base.ty {
            Type::Stack(element, n) => {
                self.index_within(&index, *n as usize);
                (**element).clone()
            }
            Type::Tuple(types) => {
                self.index_within(&index, types.len());
                match index
                    .as_int()
                    .and_then(|i| usize::try_from(i).ok())
                    .and_then(|i| types.get(i))
                {
                    Some(ty) => ty.clone(),
                    None => {
                        self.error(index.span, "the index of a tuple must be known when compiling");
                        Type::Unknown
                    }
                }
            }
            Type::Unknown => Type::Unknown,
            other => {
                let shown = self.show(other);
                let message = format!("only header stacks and tuples have elements, not {shown}");
                self.error(base.span, message);
                Type::Unknown
            }
        };
        Expr::new(ExprKind::Index(Box::new(base), Box::new(index)), ty, span)
    }

    fn index_within(&mut self, index: &Expr, n: usize) {
        if let Some(i) = index.as_int().filter(|i| **i < BigInt::ZERO || **i >= BigInt::from(n)) {
            let message = format!("the index {i} is not between 0 and {}", n as i64 - 1);
            self.error(index.span, message);
        }
    }

    fn slice(&mut self, base: &ast::Expr, high: &ast::Expr, low: &ast::Expr, span: crate::source::Span) -> Expr {
        let base = self.expr(base, None);
        let (high, low) = (self.expr(high, None), self.expr(low, None));
        let width = match self.program.types.base(&base.ty) {
            Type::Bits { width, .. } => width,
            Type::Integer => u32::MAX,
            Type::Unknown => return Self::unknown(span),
            _ => {
                let shown = self.show(&base.ty);
                let message = format!("only bit<N> and int<N> have slices, not {shown}");
                return self.refused(base.span, message, span);
            }
        };
        let bound = |e: &Expr| e.as_int().and_then(|i| u32::try_from(i).ok());
        let (Some(h), Some(l)) = (bound(&high), bound(&low)) else {
            if high.ty != Type::Unknown && low.ty != Type::Unknown {
                let message = "the bounds of a slice must be integers known when compiling";
                self.error(high.span.to(low.span), message);
            }
            return Self::unknown(span);
        };
        if h >= width.min(65_536) || l > h {
            let shown = self.show(&base.ty);
            let message = format!("the slice [{h}:{l}] does not lie in {shown}; it is written [high:low]");
            return self.refused(high.span.to(low.span), message, span);
        }
        let ty = Type::bit(h - l + 1);
        if let Some(value) = base.as_int() {
            let value = wrap(&(value >> l), false, h - l + 1);
            return Expr::new(ExprKind::Int(value), ty, span);
        }
        Expr::new(ExprKind::Slice(Box::new(base), h, l), ty, span)
    }

    fn conditional(
        &mut self,
        condition: &ast::Expr,
        yes: &ast::Expr,
        no: &ast::Expr,
        wanted: Option<&Type>,
        span: crate::source::Span,
    ) -> Expr {
        let condition = self.expr_as(condition, &Type::Bool, "the condition");
        let (yes, no) = (self.expr(yes, wanted), self.expr(no, wanted));
        let ty = match (&yes.ty, &no.ty, wanted) {
            (Type::Integer, Type::Integer, Some(w @ Type::Bits { .. })) => w.clone(),
            (Type::Integer | Type::Invalid | Type::Unknown, other, _) => other.clone(),
            (Type::Tuple(_) | Type::Record(_), Type::Struct(_), _) => no.ty.clone(),
            (ty, _, _) => ty.clone(),
        };
        if ty == Type::Integer && !matches!(condition.kind, ExprKind::Bool(_)) {
            let message = "the width of the result is not known; give the values a width, as in 8w1";
            self.error(span, message);
        }
        let yes = self.convert(yes, &ty, "the first value");
        let no = self.convert(no, &ty, "the second value");
        if let ExprKind::Bool(value) = condition.kind {
            return Expr {
                span,
                ..if value { yes } else { no }
            };
        }
        Expr::new(
            ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no)),
            ty,
            span,
        )
    }

    fn list(&mut self, values: &[ast::Expr], dots: bool, wanted: Option<&Type>, span: crate::source::Span) -> Expr {
        let wanted_types = wanted.map(|w| self.element_types(w, values.len())).unwrap_or_default();
        let mut list = Vec::new();
        for (i, value) in values.iter().enumerate() {
            let element = wanted_types.get(i).map(|(_, t)| t);
            list.push(self.expr(value, element));
        }
        if dots {
            match wanted {
                Some(_) if !wanted_types.is_empty() && values.len() <= wanted_types.len() => {
                    for (_, ty) in &wanted_types[values.len()..] {
                        list.push(Expr::new(ExprKind::Default, ty.clone(), span));
                    }
                }
                _ => self.error(span, "'...' stands only where the type of the list is known"),
            }
        }
        let ty = Type::Tuple(list.iter().map(|e| e.ty.clone()).collect());
        let made = Expr::new(ExprKind::Aggregate(list), ty, span);
        match wanted {
            Some(w)
                if matches!(
                    self.program.types.composite(w),
                    Some(Composite::Struct | Composite::Header)
                ) =>
            {
                self.convert(made, w, "the list")
            }
            _ => made,
        }
    }

    /// Names and types of the elements of a list in braces, if the list becomes a value of type `ty`.
    fn element_types(&self, ty: &Type, count: usize) -> Vec<(Option<Symbol>, Type)> {
        match ty {
            Type::Struct(id) => {
                let fields = &self.program.types.get(*id).fields;
                fields.iter().map(|f| (Some(f.name.clone()), f.ty.clone())).collect()
            }
            Type::Tuple(types) => types.iter().map(|t| (None, t.clone())).collect(),
            Type::Stack(element, n) => vec![(None, (**element).clone()); *n as usize],
            Type::List(element) => vec![(None, (**element).clone()); count],
            _ => Vec::new(),
        }
    }

    fn record(
        &mut self,
        fields: &[(Ident, ast::Expr)],
        dots: bool,
        wanted: Option<&Type>,
        span: crate::source::Span,
    ) -> Expr {
        let composite = wanted.and_then(|w| self.program.types.composite(w));
        let Some((Type::Struct(id), true)) = wanted.map(|w| (w.clone(), composite != Some(Composite::Union))) else {
            let list: Vec<Expr> = fields.iter().map(|(_, value)| self.expr(value, None)).collect();
            let names = fields
                .iter()
                .zip(&list)
                .map(|((n, _), e)| (n.name.clone(), e.ty.clone()));
            let ty = Type::Record(names.collect());
            return Expr::new(ExprKind::Aggregate(list), ty, span);
        };
        let defs = self.program.types.get(id).fields.clone();
        let mut values: Vec<Option<Expr>> = vec![None; defs.len()];
        for (name, value) in fields {
            let Some((index, ty)) = self.field_of(id, name) else {
                return Self::unknown(span);
            };
            let value = self.expr_as(value, &ty, &format!("the field '{}'", name.name));
            if values[index].replace(value).is_some() {
                self.error(name.span, format!("the field '{}' is given twice", name.name));
            }
        }
        let missing = defs
            .iter()
            .zip(&values)
            .find(|(_, v)| v.is_none())
            .map(|(d, _)| d.name.clone());
        if let (Some(name), false) = (missing, dots) {
            let shown = self.show(&Type::Struct(id));
            let message = format!("the field '{name}' of {shown} is missing; '...' gives the rest their defaults");
            return self.refused(span, message, span);
        }
        let filled = values
            .into_iter()
            .zip(&defs)
            .map(|(v, d)| v.unwrap_or(Expr::new(ExprKind::Default, d.ty.clone(), span)));
        Expr::new(ExprKind::Aggregate(filled.collect()), Type::Struct(id), span)
    }

    fn mask_or_range(
        &mut self,
        a: &ast::Expr,
        b: &ast::Expr,
        wanted: Option<&Type>,
        mask: bool,
        span: crate::source::Span,
    ) -> Expr {
        let (mut a, mut b) = (self.expr(a, wanted), self.expr(b, wanted));
        let ty = match (&a.ty, &b.ty, wanted) {
            (_, _, Some(w @ (Type::Bits { .. } | Type::Enum(_) | Type::New(_)))) => self.program.types.base(w),
            (Type::Integer, other, _) => other.clone(),
            (ty, _, _) => ty.clone(),
        };
        a = self.convert(a, &ty, "the value");
        b = self.convert(b, &ty, if mask { "the mask" } else { "the end of the range" });
        let kind = if mask {
            ExprKind::Mask(Box::new(a), Box::new(b))
        } else {
            ExprKind::Range(Box::new(a), Box::new(b))
        };
        Expr::new(kind, Type::Set(ty.into()), span)
    }

    /// Checks that `e` can be written; reports an error if not.
    pub(super) fn assignable(&mut self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Unknown => true,
            ExprKind::Var(id) => {
                let var = &self.program.vars[id.index()];
                let reason = match var.kind {
                    VarKind::Local => return true,
                    VarKind::Parameter(d) if d.is_written() => return true,
                    VarKind::Parameter(ast::Direction::In) => "an 'in' parameter; declare it 'inout' to change it",
                    VarKind::Parameter(_) => "a parameter without direction",
                    VarKind::Constructor => "a parameter of the constructor",
                };
                let message = format!("'{}' cannot be written: it is {reason}", var.name);
                self.error(e.span, message);
                false
            }
            ExprKind::Field(base, _) | ExprKind::Index(base, _) | ExprKind::Slice(base, ..) => self.assignable(base),
            ExprKind::Stack(base, property) => {
                let element = !matches!(property, crate::typed::tree::StackProperty::LastIndex);
                if !element {
                    self.error(e.span, "lastIndex cannot be written");
                }
                element && self.assignable(base)
            }
            _ => {
                self.error(e.span, "this cannot be written: it is a value, not a variable or field");
                false
            }
        }
    }
}
