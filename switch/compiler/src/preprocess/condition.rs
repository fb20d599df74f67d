//! `#if` and its relatives.

use num_bigint::BigInt;

use super::Preprocessor;
use crate::{
    source::Span,
    syntax::token::{Tok, Token},
};

/// One `#if` that is not closed yet.
struct Open {
    span: Span,
    /// Whether the text around it is kept.
    outer: bool,
    /// Whether the current branch is kept.
    kept: bool,
    /// Whether some branch was kept before.
    taken: bool,
    seen_else: bool,
}

/// The `#if`s around the current line of a file.
#[derive(Default)]
pub(super) struct Conditions {
    open: Vec<Open>,
}

impl Conditions {
    pub fn active(&self) -> bool {
        self.open.last().is_none_or(|c| c.outer && c.kept)
    }

    pub fn open(&mut self, span: Span, value: bool) {
        let outer = self.active();
        self.open.push(Open {
            span,
            outer,
            kept: value,
            taken: value,
            seen_else: false,
        });
    }

    /// Whether an `#elif` here has to be evaluated.
    pub fn wants_elif(&self) -> bool {
        self.open.last().is_some_and(|c| c.outer && !c.taken)
    }

    pub fn elif(&mut self, value: bool) -> Result<(), &'static str> {
        let open = self.open.last_mut().ok_or("#elif without #if")?;
        if open.seen_else {
            return Err("#elif after #else");
        }
        open.kept = !open.taken && value;
        open.taken |= open.kept;
        Ok(())
    }

    pub fn otherwise(&mut self) -> Result<(), &'static str> {
        let open = self.open.last_mut().ok_or("#else without #if")?;
        if open.seen_else {
            return Err("a second #else");
        }
        open.seen_else = true;
        open.kept = !open.taken;
        open.taken = true;
        Ok(())
    }

    pub fn close(&mut self) -> Result<(), &'static str> {
        self.open.pop().map(|_| ()).ok_or("#endif without #if")
    }

    pub fn unclosed(&self) -> Option<Span> {
        self.open.last().map(|c| c.span)
    }
}

impl Preprocessor<'_> {
    /// Evaluates the expression of `#if` or `#elif`.
    pub(super) fn condition(&mut self, rest: &[Token], span: Span) -> bool {
        let resolved = self.resolve_defined(rest);
        let expanded = self.expand(&resolved, &mut Vec::new());
        let mut expression = Expression {
            tokens: &expanded,
            at: 0,
            depth: 0,
        };
        match expression.ternary() {
            Ok(value) if expression.at == expanded.len() => value != 0,
            Ok(_) => {
                let extra = &expanded[expression.at];
                self.reporter
                    .error(extra.span, format!("{} after the end of the condition", extra.tok));
                false
            }
            Err(message) => {
                self.reporter
                    .error(span, format!("not a condition that can be evaluated here: {message}"));
                false
            }
        }
    }

    /// Replaces `defined X` and `defined(X)` by 1 or 0, before macros are expanded.
    fn resolve_defined(&self, rest: &[Token]) -> Vec<Token> {
        let mut out = Vec::new();
        let mut i = 0;
        while i < rest.len() {
            let word = |k: usize| match rest.get(k).map(|t| &t.tok) {
                Some(Tok::Word(w)) => Some(w.clone()),
                _ => None,
            };
            let punct = |k: usize, p| rest.get(k).is_some_and(|t| t.tok == Tok::Punct(p));
            let (name, used) = match (word(i).as_deref(), word(i + 1)) {
                (Some("defined"), Some(name)) => (Some(name), 2),
                (Some("defined"), None) if punct(i + 1, "(") && punct(i + 3, ")") => (word(i + 2), 4),
                _ => (None, 1),
            };
            match name {
                Some(name) => {
                    let value = BigInt::from(i32::from(self.macros.contains_key(&name)));
                    let tok = Tok::Int(crate::syntax::token::IntLiteral { value, width: None });
                    out.push(Token { tok, ..rest[i].clone() });
                }
                None => out.push(rest[i].clone()),
            }
            i += used;
        }
        out
    }
}

/// Deepest nesting of parentheses and operators.
const MAX_NESTING: usize = 200;

/// Precedence of the binary operators of C, `None` for anything else.
fn binary(op: &str) -> Option<u8> {
    Some(match op {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

struct Expression<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Expression<'_> {
    fn punct(&self) -> Option<&'static str> {
        let next = self.tokens.get(self.at + 1);
        match self.tokens.get(self.at).map(|t| &t.tok) {
            Some(Tok::Punct(">")) if next.is_some_and(|t| t.joined && t.tok == Tok::Punct(">")) => Some(">>"),
            Some(Tok::Punct(p)) => Some(p),
            _ => None,
        }
    }

    fn ternary(&mut self) -> Result<i128, String> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err("it is nested too deeply".to_owned());
        }
        let value = self.ternary_inner();
        self.depth -= 1;
        value
    }

    fn ternary_inner(&mut self) -> Result<i128, String> {
        let condition = self.binary(1)?;
        if self.punct() != Some("?") {
            return Ok(condition);
        }
        self.at += 1;
        let yes = self.ternary()?;
        if self.punct() != Some(":") {
            return Err("':' is missing".to_owned());
        }
        self.at += 1;
        let no = self.ternary()?;
        Ok(if condition != 0 { yes } else { no })
    }

    fn binary(&mut self, minimum: u8) -> Result<i128, String> {
        let mut left = self.unary()?;
        while let Some((op, precedence)) = self.punct().and_then(|p| Some((p, binary(p)?))) {
            if precedence < minimum {
                break;
            }
            self.at += op.len().min(if op == ">>" { 2 } else { 1 });
            let right = self.binary(precedence + 1)?;
            left = apply(op, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i128, String> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err("it is nested too deeply".to_owned());
        }
        let token = self.tokens.get(self.at).ok_or("a value is missing at its end")?;
        self.at += 1;
        let value = match &token.tok {
            Tok::Int(literal) => i128::try_from(&literal.value).map_err(|_| "a number is too large".to_owned())?,
            Tok::Word(_) => 0,
            Tok::Punct("(") => {
                let value = self.ternary()?;
                if self.punct() != Some(")") {
                    return Err("')' is missing".to_owned());
                }
                self.at += 1;
                value
            }
            Tok::Punct("!") => i128::from(self.unary()? == 0),
            Tok::Punct("~") => !self.unary()?,
            Tok::Punct("-") => self.unary()?.wrapping_neg(),
            Tok::Punct("+") => self.unary()?,
            other => return Err(format!("{other} is not a value")),
        };
        self.depth -= 1;
        Ok(value)
    }
}

fn apply(op: &str, a: i128, b: i128) -> Result<i128, String> {
    let shift = u32::try_from(b).ok().filter(|s| *s < 127);
    Ok(match op {
        "||" => i128::from(a != 0 || b != 0),
        "&&" => i128::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i128::from(a == b),
        "!=" => i128::from(a != b),
        "<" => i128::from(a < b),
        ">" => i128::from(a > b),
        "<=" => i128::from(a <= b),
        ">=" => i128::from(a >= b),
        "<<" => a.wrapping_shl(shift.ok_or("a shift is too large")?),
        ">>" => a >> shift.ok_or("a shift is too large")?,
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b).ok_or("division by zero")?,
        _ => a.checked_rem(b).ok_or("division by zero")?,
    })
}
