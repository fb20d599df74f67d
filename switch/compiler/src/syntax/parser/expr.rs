//! Expressions (specification section 8).

use super::{Parsed, Parser};
use crate::syntax::{
    ast::{Arg, BinaryOp, Expr, ExprKind, Ident, TypeExpr, TypeKind, UnaryOp},
    token::{KEYWORDS, SOFT_KEYWORDS, Tok},
};

/// Most operators and members in one whole expression: its tree may be as deep as their number.
const MAX_OPERATORS: usize = 4000;

/// Precedence of an operator (specification section 8). It is as in C, but the bitwise operators bind tighter than
/// comparisons, and `++` binds like `+`.
fn precedence(op: BinaryOp) -> u8 {
    use BinaryOp as B;
    match op {
        B::Mul | B::Div | B::Mod => 10,
        B::Add | B::Sub | B::SatAdd | B::SatSub | B::Concat => 9,
        B::Shl | B::Shr => 8,
        B::BitAnd => 7,
        B::BitXor => 6,
        B::BitOr => 5,
        B::Less | B::LessEq | B::Greater | B::GreaterEq => 4,
        B::Eq | B::NotEq => 3,
        B::And => 2,
        B::Or => 1,
    }
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.whole_expr(|p| {
            let condition = p.binary(1, false)?;
            if !p.eat("?") {
                return Ok(condition);
            }
            let yes = p.expr()?;
            p.expect(":")?;
            let no = p.expr()?;
            let span = condition.span.to(no.span);
            let kind = ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no));
            Ok(Expr::new(kind, span))
        })
    }

    /// Runs `rule`. Counts operators from zero, unless it is inside another expression.
    pub(super) fn whole_expr(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        if self.in_expr == 0 {
            self.operators = 0;
        }
        self.in_expr += 1;
        let result = self.nested(rule);
        self.in_expr -= 1;
        result
    }

    fn count_operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            let message = format!("more than {MAX_OPERATORS} operators in one expression");
            return self.error_at(self.span(), message);
        }
        Ok(())
    }

    /// Reads the width in `bit<...>`, which `>` closes.
    pub(super) fn type_width_expr(&mut self) -> Parsed<Expr> {
        self.whole_expr(|p| p.binary(1, true))
    }

    /// The binary operator at this place, and its number of tokens.
    fn operator(&self) -> Option<(BinaryOp, usize)> {
        use BinaryOp as B;
        let Tok::Punct(text) = self.peek() else { return None };
        let op = match *text {
            "*" => B::Mul,
            "/" => B::Div,
            "%" => B::Mod,
            "+" => B::Add,
            "-" => B::Sub,
            "|+|" => B::SatAdd,
            "|-|" => B::SatSub,
            "<<" => B::Shl,
            "<" => B::Less,
            "<=" => B::LessEq,
            ">=" => B::GreaterEq,
            "==" => B::Eq,
            "!=" => B::NotEq,
            "&" => B::BitAnd,
            "^" => B::BitXor,
            "|" => B::BitOr,
            "++" => B::Concat,
            "&&" => B::And,
            "||" => B::Or,
            ">" => {
                let next = self.tokens.get(self.at + 1).filter(|t| t.joined);
                return match next.map(|t| &t.tok) {
                    Some(Tok::Punct(">")) => Some((B::Shr, 2)),
                    // `>>=` is an assignment.
                    Some(Tok::Punct(">=")) => None,
                    _ => Some((B::Greater, 1)),
                };
            }
            _ => return None,
        };
        Some((op, 1))
    }

    fn binary(&mut self, minimum: u8, no_greater: bool) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Some((op, tokens)) = self.operator() {
            let level = precedence(op);
            if level < minimum || (no_greater && matches!(op, BinaryOp::Greater | BinaryOp::Shr)) {
                break;
            }
            self.count_operator()?;
            for _ in 0..tokens {
                self.advance();
            }
            let right = self.nested(|p| p.binary(level + 1, no_greater))?;
            let span = left.span.to(right.span);
            left = Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), span);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let op = match self.peek() {
            Tok::Punct("!") => UnaryOp::Not,
            Tok::Punct("~") => UnaryOp::Complement,
            Tok::Punct("-") => UnaryOp::Minus,
            Tok::Punct("+") => UnaryOp::Plus,
            Tok::Punct("(") if self.at_cast() => return self.cast(),
            _ => return self.postfix_expr(),
        };
        self.advance();
        let operand = self.nested(Self::unary)?;
        let span = start.to(operand.span);
        Ok(Expr::new(ExprKind::Unary(op, Box::new(operand)), span))
    }

    /// True if the `(` here starts a cast: it is followed by a type and `)`.
    fn at_cast(&self) -> bool {
        match self.peek_at(1) {
            Tok::Word(w) if matches!(&**w, "bit" | "int" | "bool" | "varbit" | "tuple") => true,
            Tok::Word(w) if matches!(&**w, "error" | "list") => self.peek_at(2) != &Tok::Punct("."),
            Tok::Word(w) if self.is_type_name(w) => matches!(self.peek_at(2), Tok::Punct(")" | "<" | "[")),
            _ => false,
        }
    }

    fn cast(&mut self) -> Parsed<Expr> {
        let start = self.expect("(")?;
        let ty = self.type_expr()?;
        self.expect(")")?;
        let operand = self.nested(Self::unary)?;
        let span = start.to(operand.span);
        Ok(Expr::new(ExprKind::Cast(ty, Box::new(operand)), span))
    }

    pub(super) fn postfix_expr(&mut self) -> Parsed<Expr> {
        let mut e = self.primary()?;
        loop {
            if matches!(self.peek(), Tok::Punct("." | "[" | "(")) {
                self.count_operator()?;
            }
            if self.eat(".") {
                let name = self.any_word("the name of a member")?;
                let span = e.span.to(name.span);
                e = Expr::new(ExprKind::Member(Box::new(e), name), span);
            } else if self.is("[") {
                e = self.index(e)?;
            } else if self.is("(") {
                e = self.call(e, Vec::new())?;
            } else if self.is("<") && matches!(e.kind, ExprKind::Name(..) | ExprKind::Member(..)) {
                let Some(type_args) = self.call_type_args() else {
                    return Ok(e);
                };
                e = self.call(e, type_args)?;
            } else {
                return Ok(e);
            }
        }
    }

    fn index(&mut self, base: Expr) -> Parsed<Expr> {
        self.expect("[")?;
        let first = self.expr()?;
        let second = if self.eat(":") { Some(self.expr()?) } else { None };
        let end = self.expect("]")?;
        let span = base.span.to(end);
        let kind = match second {
            Some(low) => ExprKind::Slice(Box::new(base), Box::new(first), Box::new(low)),
            None => ExprKind::Index(Box::new(base), Box::new(first)),
        };
        Ok(Expr::new(kind, span))
    }

    fn call(&mut self, callee: Expr, type_args: Vec<TypeExpr>) -> Parsed<Expr> {
        let args = self.arguments()?;
        let span = callee.span.to(self.previous_span());
        Ok(Expr::new(ExprKind::Call(Box::new(callee), type_args, args), span))
    }

    /// Reads `(a, b = c, _)`.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Arg>> {
        self.expect("(")?;
        self.separated(")", |p| {
            let start = p.span();
            let named = matches!(p.peek(), Tok::Word(_)) && p.peek_at(1) == &Tok::Punct("=");
            let name = if named {
                let name = p.any_word("the name of a parameter")?;
                p.advance();
                Some(name)
            } else {
                None
            };
            let skipped = p.is_word("_") && matches!(p.peek_at(1), Tok::Punct("," | ")"));
            let value = if skipped {
                p.advance();
                None
            } else {
                Some(p.expr()?)
            };
            Ok(Arg {
                name,
                value,
                span: start.to(p.previous_span()),
            })
        })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let simple = |p: &mut Self, kind| {
            p.advance();
            Ok(Expr::new(kind, span))
        };
        match self.peek().clone() {
            Tok::Int(literal) => simple(self, ExprKind::Int(literal)),
            Tok::Str(text) => simple(self, ExprKind::Str(text)),
            Tok::Punct("...") => simple(self, ExprKind::Dots),
            Tok::Punct("(") => {
                self.advance();
                let mut inner = self.expr()?;
                inner.span = span.to(self.expect(")")?);
                Ok(inner)
            }
            Tok::Punct("{") => self.braces(),
            Tok::Punct(".") => {
                self.advance();
                let name = self.ident("a name")?;
                Ok(Expr {
                    span: span.to(name.span),
                    kind: ExprKind::Name(name, true),
                })
            }
            Tok::Word(word) => match &*word {
                "true" | "false" => simple(self, ExprKind::Bool(&*word == "true")),
                "this" => simple(self, ExprKind::This),
                "error" | "match_kind" => self.type_member(),
                _ if !KEYWORDS.contains(&&*word) || SOFT_KEYWORDS.contains(&&*word) => {
                    simple(self, ExprKind::Name(Ident { name: word, span }, false))
                }
                _ => self.expected("an expression"),
            },
            _ => self.expected("an expression"),
        }
    }

    /// Reads `error.X`.
    fn type_member(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = if self.is_word("error") {
            TypeKind::Error
        } else {
            TypeKind::MatchKind
        };
        self.advance();
        self.expect(".")?;
        let name = self.any_word("the name of a member")?;
        let span = start.to(name.span);
        Ok(Expr::new(ExprKind::TypeMember(TypeExpr::new(kind, start), name), span))
    }

    /// Reads `{a, b}`, `{x = 1, y = 2}` or `{#}`; each may have `...` at its end.
    fn braces(&mut self) -> Parsed<Expr> {
        let start = self.expect("{")?;
        if self.eat("#") {
            let end = self.expect("}")?;
            return Ok(Expr::new(ExprKind::Invalid, start.to(end)));
        }
        let named = matches!(self.peek(), Tok::Word(_)) && self.peek_at(1) == &Tok::Punct("=");
        let mut fields = Vec::new();
        let mut values = Vec::new();
        let mut dots = false;
        while !self.eat("}") {
            if dots {
                return self.expected("'}' after '...'");
            }
            if self.is("...") {
                self.advance();
                dots = true;
            } else if named {
                let name = self.any_word("the name of a field")?;
                self.expect("=")?;
                fields.push((name, self.expr()?));
            } else {
                values.push(self.expr()?);
            }
            if !self.eat(",") && !self.is("}") {
                return self.expected("',' or '}'");
            }
        }
        let span = start.to(self.previous_span());
        let kind = if named {
            ExprKind::Record(fields, dots)
        } else {
            ExprKind::List(values, dots)
        };
        Ok(Expr::new(kind, span))
    }

    /// Reads one element of a key set: a value, `a &&& b`, `a .. b`, `default`, `_`.
    fn key_element(&mut self) -> Parsed<Expr> {
        let span = self.span();
        if self.is_word("default") || self.is_word("_") {
            self.advance();
            return Ok(Expr::new(ExprKind::Default, span));
        }
        let low = self.expr()?;
        let form = if self.eat("&&&") {
            ExprKind::Mask
        } else if self.eat("..") {
            ExprKind::Range
        } else {
            return Ok(low);
        };
        let high = self.expr()?;
        let span = span.to(high.span);
        Ok(Expr::new(form(Box::new(low), Box::new(high)), span))
    }

    /// Reads a key set: one element, or several in parentheses.
    pub(super) fn key_set(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if self.is("(") && !self.at_cast() {
            let tuple = self.attempt(|p| {
                p.advance();
                let list = p.separated(")", Self::key_element)?;
                // `(a + 1) * 2` only looks like a tuple at its start.
                if p.is(":") { Ok(list) } else { Err(super::Failed) }
            });
            if let Some(mut list) = tuple {
                if list.len() == 1 {
                    return Ok(list.remove(0));
                }
                return Ok(Expr::new(ExprKind::Tuple(list), start.to(self.previous_span())));
            }
        }
        self.key_element()
    }
}
