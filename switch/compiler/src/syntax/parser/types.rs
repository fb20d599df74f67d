//! Types.

use super::{Failed, NameKind, Parsed, Parser};
use crate::syntax::{
    ast::{Expr, Ident, TypeExpr, TypeKind},
    token::Tok,
};

/// Words that start a type.
const BASE_TYPES: &[&str] = &[
    "bool",
    "error",
    "match_kind",
    "string",
    "void",
    "int",
    "bit",
    "varbit",
    "tuple",
    "list",
    "_",
];

impl Parser<'_> {
    /// True if a type that begins with a keyword starts here. `error` and `list` may also start something else.
    pub(super) fn at_base_type(&self) -> bool {
        match self.peek() {
            Tok::Word(w) if &**w == "list" => self.peek_at(1) == &Tok::Punct("<"),
            Tok::Word(w) => BASE_TYPES.contains(&&**w),
            _ => false,
        }
    }

    pub(super) fn at_type_name(&self) -> bool {
        matches!(self.peek(), Tok::Word(w) if self.is_type_name(w))
    }

    /// Reads a type, with any number of `[n]` after it.
    pub(super) fn type_expr(&mut self) -> Parsed<TypeExpr> {
        self.nested(|p| {
            let mut ty = p.type_without_size()?;
            let mut sizes = 0;
            while p.is("[") {
                sizes += 1;
                if sizes > 8 {
                    return p.error_at(p.span(), "a type has at most 8 sizes");
                }
                p.advance();
                let size = p.expr()?;
                let end = p.expect("]")?;
                let span = ty.span.to(end);
                ty = TypeExpr::new(TypeKind::Stack(Box::new(ty), Box::new(size)), span);
            }
            Ok(ty)
        })
    }

    fn type_without_size(&mut self) -> Parsed<TypeExpr> {
        let start = self.span();
        let Tok::Word(word) = self.peek().clone() else {
            return self.expected("a type");
        };
        if !self.at_base_type() {
            let _ = self.eat(".");
            let name = self.ident("a type")?;
            let args = if self.is("<") { self.type_args()? } else { Vec::new() };
            return Ok(TypeExpr::new(
                TypeKind::Named(name, args),
                start.to(self.previous_span()),
            ));
        }
        self.advance();
        let kind = match &*word {
            "bool" => TypeKind::Bool,
            "error" => TypeKind::Error,
            "match_kind" => TypeKind::MatchKind,
            "string" => TypeKind::String,
            "void" => TypeKind::Void,
            "_" => TypeKind::DontCare,
            "int" if !self.is("<") => TypeKind::Integer,
            "bit" if !self.is("<") => TypeKind::Bit(None),
            "bit" => TypeKind::Bit(Some(Box::new(self.type_width()?))),
            "int" => TypeKind::Int(Box::new(self.type_width()?)),
            "varbit" => TypeKind::Varbit(Box::new(self.type_width()?)),
            "tuple" => TypeKind::Tuple(self.type_args()?),
            _ => {
                let mut args = self.type_args()?;
                match (args.pop(), args.is_empty()) {
                    (Some(element), true) => TypeKind::List(Box::new(element)),
                    _ => return self.error_at(start, "list takes one type, as in list<bit<8>>"),
                }
            }
        };
        Ok(TypeExpr::new(kind, start.to(self.previous_span())))
    }

    /// Reads `<8>` or `<(W + 1)>`.
    fn type_width(&mut self) -> Parsed<Expr> {
        self.expect("<")?;
        let width = self.type_width_expr()?;
        self.expect(">")?;
        Ok(width)
    }

    /// Reads `<A, B>`.
    pub(super) fn type_args(&mut self) -> Parsed<Vec<TypeExpr>> {
        self.expect("<")?;
        self.separated(">", Self::type_expr)
    }

    /// Reads type arguments of a call, if there are any. `<` may also mean "less than": it starts type arguments if
    /// only types are between the angle brackets and `(` follows.
    pub(super) fn call_type_args(&mut self) -> Option<Vec<TypeExpr>> {
        if self.quiet {
            // A trial within a trial would take exponential time.
            return None;
        }
        self.attempt(|p| {
            p.advance();
            let args = p.separated(">", |p| {
                if p.at_base_type() || p.at_type_name() {
                    p.type_expr()
                } else {
                    Err(Failed)
                }
            })?;
            if p.is("(") { Ok(args) } else { Err(Failed) }
        })
    }

    /// Reads `<T, U>` of a declaration, and declares the names as types in the current scope.
    pub(super) fn type_params(&mut self) -> Parsed<Vec<Ident>> {
        if !self.eat("<") {
            return Ok(Vec::new());
        }
        self.separated(">", |p| {
            let name = p.ident("a type parameter")?;
            p.declare(&name.name, NameKind::Type);
            Ok(name)
        })
    }
}
