//! The arithmetic of `#if`, as in C: signed and unsigned numbers of 64 bits.

use super::{
    Preprocessor,
    define::shown,
    piece::{Kind, Piece},
};
use crate::source::Span;

impl Preprocessor<'_> {
    /// Evaluates the expression of `#if` or `#elif`.
    pub(super) fn condition(&mut self, rest: &[Piece], span: Span) -> bool {
        let pieces = self.on_line(rest, span, Self::operands);
        let Some(pieces) = pieces else { return false };
        let mut expression = Expression {
            pieces: &pieces,
            at: 0,
            depth: 0,
            unused: 0,
        };
        match expression.list() {
            Ok(value) if expression.at == pieces.len() => value.bits != 0,
            Ok(_) => {
                let extra = &pieces[expression.at];
                let message = format!("{} after the end of the condition", shown(extra));
                self.reporter.error(extra.span, message);
                false
            }
            Err(message) => {
                let message = format!("not a condition that can be evaluated here: {message}");
                self.reporter.error(span, message);
                false
            }
        }
    }

    /// Tokens of a condition, with `defined` evaluated and macros expanded.
    fn operands(&mut self) -> Option<Vec<Piece>> {
        let mut pieces = Vec::new();
        loop {
            let piece = self.next();
            if piece.kind == Kind::End {
                return (!self.stopped).then_some(pieces);
            }
            if piece.is_padding() {
                continue;
            }
            if piece.kind == Kind::Name && *piece.text == *"defined" {
                let defined = self.defined(piece.span)?;
                pieces.push(Piece::new(Kind::Number, if defined { "1" } else { "0" }, piece.span));
            } else {
                pieces.push(piece);
            }
        }
    }

    fn defined(&mut self, span: Span) -> Option<bool> {
        self.quiet += 1;
        let first = self.next();
        let bracketed = first.is("(");
        let name = if bracketed { self.next() } else { first };
        let closed = !bracketed || self.next().is(")");
        self.quiet -= 1;
        if name.kind != Kind::Name || !closed {
            self.reporter
                .error(span, "'defined' takes the name of a macro, with or without parentheses");
            return None;
        }
        Some(self.macros.contains_key(&name.text))
    }
}

/// A number of the C type `intmax_t` or `uintmax_t`.
#[derive(Clone, Copy)]
struct Number {
    bits: i64,
    unsigned: bool,
}

impl Number {
    fn signed(bits: i64) -> Number {
        Number { bits, unsigned: false }
    }

    fn truth(value: bool) -> Number {
        Number::signed(i64::from(value))
    }
}

/// Deepest nesting of parentheses and operators.
const MAX_NESTING: usize = 10_000;

/// Precedence of the binary operators of C; `None` for other tokens.
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
    pieces: &'a [Piece],
    at: usize,
    depth: usize,
    /// Greater than 0 if the value is not used; then a division by zero is allowed.
    unused: usize,
}

impl Expression<'_> {
    fn punct(&self) -> Option<&str> {
        let piece = self.pieces.get(self.at).filter(|p| p.kind == Kind::Punct);
        piece.map(|p| &*p.text)
    }

    fn takes(&mut self, punctuation: &str) -> bool {
        let found = self.punct() == Some(punctuation);
        self.at += usize::from(found);
        found
    }

    fn list(&mut self) -> Result<Number, String> {
        let mut value = self.ternary()?;
        while self.takes(",") {
            value = self.ternary()?;
        }
        Ok(value)
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err("it is nested too deeply".to_owned());
        }
        let value = inner(self);
        self.depth -= 1;
        value
    }

    /// Evaluates an operand that may be unused.
    fn branch<T>(&mut self, used: bool, inner: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.unused += usize::from(!used);
        let value = inner(self);
        self.unused -= usize::from(!used);
        value
    }

    fn ternary(&mut self) -> Result<Number, String> {
        self.nested(|e| {
            let condition = e.binary(1)?;
            if !e.takes("?") {
                return Ok(condition);
            }
            let holds = condition.bits != 0;
            let yes = e.branch(holds, Self::list)?;
            if !e.takes(":") {
                return Err("':' is missing".to_owned());
            }
            let no = e.branch(!holds, Self::ternary)?;
            Ok(Number {
                bits: if holds { yes.bits } else { no.bits },
                unsigned: yes.unsigned || no.unsigned,
            })
        })
    }

    fn binary(&mut self, minimum: u8) -> Result<Number, String> {
        let mut left = self.unary()?;
        while let Some((op, precedence)) = self.punct().and_then(|p| Some((p.to_owned(), binary(p)?))) {
            if precedence < minimum {
                break;
            }
            self.at += 1;
            let used = match &*op {
                "&&" => left.bits != 0,
                "||" => left.bits == 0,
                _ => true,
            };
            let right = self.branch(used, |e| e.binary(precedence + 1))?;
            left = apply(&op, left, right, self.unused > 0)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Number, String> {
        self.nested(|e| {
            let piece = e.pieces.get(e.at).ok_or("a value is missing at its end")?;
            e.at += 1;
            match (&piece.kind, &*piece.text) {
                (Kind::Number, text) => number(text),
                (Kind::Char, text) => character(text),
                (Kind::Name, _) => Ok(Number::signed(0)),
                (Kind::Punct, "(") => {
                    let value = e.list()?;
                    if !e.takes(")") {
                        return Err("')' is missing".to_owned());
                    }
                    Ok(value)
                }
                (Kind::Punct, "!") => Ok(Number::truth(e.unary()?.bits == 0)),
                (Kind::Punct, "~") => e.unary().map(|n| Number { bits: !n.bits, ..n }),
                (Kind::Punct, "-") => e.unary().map(|n| Number {
                    bits: n.bits.wrapping_neg(),
                    ..n
                }),
                (Kind::Punct, "+") => e.unary(),
                _ => Err(format!("{} is not a value", shown(piece))),
            }
        })
    }
}

fn apply(op: &str, a: Number, b: Number, unused: bool) -> Result<Number, String> {
    let unsigned = a.unsigned || b.unsigned;
    let (x, y) = (a.bits, b.bits);
    let (ux, uy) = (x as u64, y as u64);
    let less = if unsigned { ux < uy } else { x < y };
    let bits = match op {
        "||" => return Ok(Number::truth(x != 0 || y != 0)),
        "&&" => return Ok(Number::truth(x != 0 && y != 0)),
        "==" => return Ok(Number::truth(x == y)),
        "!=" => return Ok(Number::truth(x != y)),
        "<" => return Ok(Number::truth(less)),
        ">" => return Ok(Number::truth(!less && x != y)),
        "<=" => return Ok(Number::truth(less || x == y)),
        ">=" => return Ok(Number::truth(!less)),
        "<<" | ">>" => return Ok(shifted(a, b, op == "<<")),
        "|" => x | y,
        "^" => x ^ y,
        "&" => x & y,
        "+" => x.wrapping_add(y),
        "-" => x.wrapping_sub(y),
        "*" => x.wrapping_mul(y),
        _ if y == 0 && unused => 0,
        _ if y == 0 => return Err("division by zero".to_owned()),
        "/" if unsigned => (ux / uy) as i64,
        "/" => x.wrapping_div(y),
        _ if unsigned => (ux % uy) as i64,
        _ => x.wrapping_rem(y),
    };
    Ok(Number { bits, unsigned })
}

/// Shifts a number; a negative amount shifts in the other direction.
fn shifted(a: Number, by: Number, left: bool) -> Number {
    let backwards = !by.unsigned && by.bits < 0;
    let by = if backwards {
        by.bits.unsigned_abs()
    } else {
        by.bits as u64
    };
    let by = u32::try_from(by).ok().filter(|by| *by < 64);
    let bits = match (left != backwards, by, a.unsigned) {
        (true, Some(by), _) => a.bits << by,
        (true, None, _) | (false, None, true) => 0,
        (false, Some(by), true) => ((a.bits as u64) >> by) as i64,
        (false, by, false) => a.bits >> by.unwrap_or(63),
    };
    Number { bits, ..a }
}

fn number(text: &str) -> Result<Number, String> {
    let (radix, rest) = match text.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, &text[2..]),
        [b'0', b'b' | b'B', _, ..] => (2, &text[2..]),
        [b'0', b'0'..=b'9', ..] => (8, &text[1..]),
        _ => (10, text),
    };
    let digits = rest.find(|c: char| !c.is_digit(radix.max(10))).unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(digits);
    let wrong = || format!("'{text}' is not an integer of C");
    let valid = |suffix: &str| matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu");
    if digits.is_empty() || !valid(&suffix.replace("LL", "ll").replace(['U'], "u").replace("L", "l")) || mixed(suffix) {
        return Err(wrong());
    }
    let mut value: u64 = 0;
    for digit in digits.chars() {
        let digit = digit.to_digit(radix).ok_or_else(wrong)?;
        value = value.wrapping_mul(u64::from(radix)).wrapping_add(u64::from(digit));
    }
    let bits = value as i64;
    Ok(Number {
        bits,
        unsigned: bits < 0 || suffix.contains(['u', 'U']),
    })
}

/// True for a suffix with `lL` or `Ll`, which is invalid.
fn mixed(suffix: &str) -> bool {
    suffix.contains("lL") || suffix.contains("Ll")
}

/// The number of a character literal; several characters make one number, one byte each.
fn character(text: &str) -> Result<Number, String> {
    let mut bytes = text[1..text.len() - 1].bytes().peekable();
    if bytes.peek().is_none() {
        return Err("'' has no character".to_owned());
    }
    let (mut value, mut count) = (0u32, 0);
    while let Some(byte) = bytes.next() {
        let byte = if byte == b'\\' { escaped(&mut bytes)? } else { byte };
        value = value << 8 | u32::from(byte);
        count += 1;
    }
    let bits = if count == 1 {
        i64::from(value as u8 as i8)
    } else {
        i64::from(value as i32)
    };
    Ok(Number::signed(bits))
}

fn escaped(bytes: &mut std::iter::Peekable<impl Iterator<Item = u8>>) -> Result<u8, String> {
    let first = bytes.next().ok_or("a character is missing behind '\\'")?;
    Ok(match first {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        b'e' | b'E' => 27,
        b'0'..=b'7' => {
            let mut value = u32::from(first - b'0');
            for _ in 0..2 {
                let Some(digit) = bytes.next_if(|b| matches!(b, b'0'..=b'7')) else {
                    break;
                };
                value = value * 8 + u32::from(digit - b'0');
            }
            value as u8
        }
        b'x' => {
            let mut value: Option<u8> = None;
            while let Some(digit) = bytes.next_if(u8::is_ascii_hexdigit) {
                let digit = (digit as char).to_digit(16).unwrap_or(0) as u8;
                value = Some(value.unwrap_or(0).wrapping_mul(16).wrapping_add(digit));
            }
            value.ok_or("'\\x' without digits")?
        }
        other => other,
    })
}
