//! `a.b`: fields, members of enums, properties of stacks, results of tables.

use num_bigint::BigInt;

use super::{Checker, Def};
use crate::{
    diagnostics::suggestion,
    names::PLACEHOLDER,
    source::Span,
    syntax::ast::{self, Ident},
    typed::{
        tree::{Callee, Expr, ExprKind, StackProperty},
        types::{EnumId, Type},
    },
};

impl Checker<'_> {
    pub(super) fn member(&mut self, base: &ast::Expr, name: &Ident, span: Span) -> Expr {
        if let ast::ExprKind::Name(owner, _) = &base.kind {
            match self.lookup(owner) {
                Some(Def::Type(Type::Enum(id))) => return self.enum_member(id, name, span),
                Some(Def::Table(_)) => {
                    let message = format!("a table has only apply(), not '{}'", name.name);
                    return self.refused(name.span, message, span);
                }
                _ => {}
            }
        }
        let base = self.expr(base, None);
        match base.ty.clone() {
            Type::Unknown => Self::unknown(span),
            Type::Struct(id) => match self.field_of(id, name) {
                Some((index, ty)) => self.field_value(base, index, ty, span),
                None => Self::unknown(span),
            },
            Type::Stack(element, n) => self.stack_property(base, &element, n, name, span),
            Type::ApplyResult(table) => {
                let (kind, ty) = match &*name.name {
                    "hit" => (ExprKind::Hit(table, true), Type::Bool),
                    "miss" => (ExprKind::Hit(table, false), Type::Bool),
                    "action_run" => (base.kind, Type::ActionRun(table)),
                    other => {
                        let hint = suggestion(other, ["hit", "miss", "action_run"], "it has");
                        return self.refused(name.span, format!("the result of apply() has no '{other}'{hint}"), span);
                    }
                };
                Expr::new(kind, ty, span)
            }
            other => {
                let shown = self.show(&other);
                let hint = match other {
                    Type::Bits { .. } => "; only structs and headers have fields",
                    _ => "",
                };
                self.refused(name.span, format!("no field '{}' in {shown}{hint}", name.name), span)
            }
        }
    }

    fn field_value(&mut self, base: Expr, index: usize, ty: Type, span: Span) -> Expr {
        if let ExprKind::Aggregate(values) = &base.kind
            && let Some(value) = values.get(index)
        {
            return Expr { span, ..value.clone() };
        }
        Expr::new(ExprKind::Field(Box::new(base), index), ty, span)
    }

    fn enum_member(&mut self, id: EnumId, name: &Ident, span: Span) -> Expr {
        let def = &self.program.types.enums[id.index()];
        if let Some(index) = def.members.iter().position(|(n, _)| *n == name.name) {
            let kind = match (&def.members[index].1, &def.underlying) {
                (Some(value), Some(_)) => ExprKind::Int(value.clone()),
                (None, Some(_)) => ExprKind::Unknown,
                _ => ExprKind::Member(index),
            };
            self.found.refer(name.span, def.places[index]);
            return Expr::new(kind, Type::Enum(id), span);
        }
        if &*name.name == PLACEHOLDER {
            def.members
                .iter()
                .for_each(|(member, _)| self.found.fits(member, "a member", None));
        }
        let hint = suggestion(&name.name, def.members.iter().map(|(n, _)| &**n), "it has");
        let message = format!("no member '{}' in {}{hint}", name.name, def.name);
        self.refused(name.span, message, span)
    }

    fn stack_property(&mut self, base: Expr, element: &Type, n: u32, name: &Ident, span: Span) -> Expr {
        let property = match &*name.name {
            "next" => StackProperty::Next,
            "last" => StackProperty::Last,
            "lastIndex" => StackProperty::LastIndex,
            "size" => return Expr::new(ExprKind::Int(BigInt::from(n)), Type::bit(32), span),
            other => {
                let hint = suggestion(other, ["next", "last", "lastIndex", "size"], "it has");
                return self.refused(name.span, format!("a header stack has no '{other}'{hint}"), span);
            }
        };
        if self.place != super::Place::Parser {
            let message = format!("'{}' of a header stack can be used in parsers only", name.name);
            self.error(name.span, message);
        }
        let ty = if property == StackProperty::LastIndex {
            Type::bit(32)
        } else {
            element.clone()
        };
        Expr::new(ExprKind::Stack(Box::new(base), property), ty, span)
    }

    /// Checks `x.minSizeInBits()` and similar methods, whose values are known at compile time.
    pub(super) fn size_method(&mut self, base: &ast::Expr, name: &str, span: Span) -> Option<Expr> {
        let (largest, bytes) = match name {
            "minSizeInBits" => (false, false),
            "minSizeInBytes" => (false, true),
            "maxSizeInBits" => (true, false),
            "maxSizeInBytes" => (true, true),
            _ => return None,
        };
        let named = match &base.kind {
            ast::ExprKind::Name(owner, _) => match self.lookup(owner) {
                Some(Def::Type(ty)) => Some(ty),
                _ => None,
            },
            _ => None,
        };
        let ty = named.unwrap_or_else(|| self.expr(base, None).ty);
        if ty == Type::Unknown {
            return Some(Self::unknown(span));
        }
        let Some(bits) = self.program.types.width(&ty, largest) else {
            let shown = self.show(&ty);
            self.error(span, format!("{shown} has no size in bits"));
            return Some(Self::unknown(span));
        };
        let size = if bytes { bits.div_ceil(8) } else { bits };
        Some(Expr::new(ExprKind::Int(BigInt::from(size)), Type::Integer, span))
    }

    /// The table of `t.apply().action_run`.
    pub(super) fn applied_table(e: &Expr) -> Option<crate::typed::types::TableId> {
        match (&e.kind, &e.ty) {
            (ExprKind::Call(callee, ..), Type::ActionRun(id)) if matches!(**callee, Callee::Table(_)) => Some(*id),
            _ => None,
        }
    }
}
