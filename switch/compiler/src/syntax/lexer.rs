//! Turns characters into tokens (specification section 6). A lexical error becomes a [`Tok::Bad`] token.

use num_bigint::BigInt;

use super::token::{IntLiteral, PUNCTUATION, Tok, Token};
use crate::source::Span;

/// Widest literal, in digits and in bits.
const MAX_DIGITS: usize = 20_000;
const MAX_WIDTH: u32 = 16_384;

/// Tokens of `text`, whose first byte has the offset `base`.
#[must_use]
pub fn tokens(text: &str, base: u32) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        at: 0,
        base,
        starts_line: true,
        untouched: true,
        list: Vec::new(),
    };
    lexer.run();
    lexer.list
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    base: u32,
    starts_line: bool,
    /// True if only blanks, and no comment, precede it on this line.
    untouched: bool,
    list: Vec<Token>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn run(&mut self) {
        loop {
            let before = self.at;
            let unclosed = self.skip_blank();
            let joined = self.at == before && !self.list.is_empty();
            let start = self.at;
            if let Some(comment) = unclosed {
                let why = "comment without an end; '*/' is missing";
                self.push(comment, Tok::Bad("/*".into(), why.into()), joined);
            }
            let Some(c) = self.rest().chars().next() else { return };
            let tok = match c {
                '0'..='9' => self.number(),
                'a'..='z' | 'A'..='Z' | '_' => self.word(),
                '"' => self.string(),
                _ => self.punctuation(c),
            };
            self.push(start, tok, joined);
        }
    }

    fn push(&mut self, start: usize, tok: Tok, joined: bool) {
        let span = Span {
            start: self.base + start as u32,
            end: self.base + self.at as u32,
        };
        self.list.push(Token {
            tok,
            span,
            starts_line: self.starts_line,
            joined,
        });
        self.starts_line = false;
        self.untouched = false;
    }

    /// Skips white space, comments, and lines that start with `#`, as p4c does. Returns the start of an unterminated
    /// comment.
    fn skip_blank(&mut self) -> Option<usize> {
        loop {
            let rest = self.rest();
            let c = rest.chars().next()?;
            if c == '\n' {
                self.starts_line = true;
                self.untouched = true;
                self.at += 1;
            } else if c.is_whitespace() {
                self.at += c.len_utf8();
            } else if rest.starts_with("//") || (c == '#' && self.untouched) {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else {
                    let start = self.at;
                    self.at = self.text.len();
                    return Some(start);
                };
                self.starts_line |= comment[..end].contains('\n');
                self.untouched = false;
                self.at += end + 4;
            } else {
                return None;
            }
        }
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &str {
        let start = self.at;
        let length = self.rest().find(|c| !keep(c)).unwrap_or(self.rest().len());
        self.at += length;
        &self.text[start..self.at]
    }

    fn word(&mut self) -> Tok {
        Tok::Word(self.take_while(|c| c.is_ascii_alphanumeric() || c == '_').into())
    }

    fn number(&mut self) -> Tok {
        let text = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
        match integer(&text) {
            Ok(literal) => Tok::Int(literal),
            Err(why) => {
                let why = format!("'{text}' is not an integer literal: {why}");
                Tok::Bad(text.into(), why.into())
            }
        }
    }

    /// Reads a string, which may span several lines.
    fn string(&mut self) -> Tok {
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Tok::Str(value.into());
                }
                '\\' => match chars.next() {
                    None => break,
                    Some((_, '\n')) => {}
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, '"')) => value.push('"'),
                    Some((_, '\\')) => value.push('\\'),
                    Some((_, other)) => value.extend(['\\', other]),
                },
                _ => value.push(c),
            }
        }
        let text = self.take_while(|c| c != '\n').to_owned();
        Tok::Bad(text.into(), "string without an end; '\"' is missing".into())
    }

    fn punctuation(&mut self, c: char) -> Tok {
        if let Some(p) = PUNCTUATION.iter().find(|p| self.rest().starts_with(**p)) {
            self.at += p.len();
            return Tok::Punct(p);
        }
        self.at += c.len_utf8();
        let why = format!("'{}' is not a character of P4", c.escape_debug());
        Tok::Bad(c.to_string().into(), why.into())
    }
}

/// Reads an integer literal: an optional `<width>w` or `<width>s`, an optional base, digits with underscores.
fn integer(text: &str) -> Result<IntLiteral, String> {
    let mut digits = text;
    let mut width = None;
    let leading = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if let Some(kind) = text[leading..].chars().next().filter(|c| matches!(c, 'w' | 's')) {
        let bits: u32 = text[..leading]
            .parse()
            .ok()
            .filter(|w| *w <= MAX_WIDTH)
            .ok_or("its width is too large")?;
        if bits == 0 && kind == 's' {
            return Err("a signed width is at least 1".to_owned());
        }
        width = Some((bits, kind == 's'));
        digits = &text[leading + 1..];
    }
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0d" | "0D") => (10, &digits[2..]),
        _ => (10, digits),
    };
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    if digits.is_empty() {
        return Err("it has no digits".to_owned());
    }
    if digits.len() > MAX_DIGITS {
        return Err("it is too long".to_owned());
    }
    let value =
        BigInt::parse_bytes(digits.as_bytes(), radix).ok_or_else(|| format!("base {radix} has no such digit"))?;
    Ok(IntLiteral { value, width })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        tokens(text, 1).iter().map(|t| t.tok.to_string()).collect()
    }

    #[test]
    fn integers_have_widths_signs_bases_and_underscores() {
        assert_eq!(
            kinds("10 0x1F 8w0b1010_1010 4s7 0o17"),
            ["10", "31", "8w170", "4s7", "15"]
        );
        assert!(matches!(&tokens("8w", 1)[0].tok, Tok::Bad(_, m) if m.contains("no digits")));
        assert!(matches!(&tokens("0b2", 1)[0].tok, Tok::Bad(_, m) if m.contains("base 2")));
    }

    #[test]
    fn a_string_may_go_over_lines() {
        let list = tokens("@a(\"one\ntwo\\\n three\") b\nc", 1);
        assert_eq!(list[3].tok, Tok::Str("one\ntwo three".into()));
        assert_eq!((&list[6].tok, list[6].starts_line), (&Tok::Word("c".into()), true));
    }

    #[test]
    fn a_line_that_starts_with_a_hash_is_skipped() {
        assert_eq!(kinds("a\n # b(c) \"d\ne {#}"), ["'a'", "'e'", "'{'", "'#'", "'}'"]);
    }

    #[test]
    fn the_longest_operator_wins_but_closing_angles_stay_single() {
        assert_eq!(
            kinds("a|+|b&&&c>>1"),
            ["'a'", "'|+|'", "'b'", "'&&&'", "'c'", "'>'", "'>'", "1"]
        );
        assert!(tokens("a >> 1", 1)[2].joined);
    }

    #[test]
    fn comments_are_blank() {
        let list = tokens("a /* x\n */ b c // d\ne", 1);
        assert_eq!(
            list.iter().map(|t| t.starts_line).collect::<Vec<_>>(),
            [true, true, false, true]
        );
    }

    #[test]
    fn errors_are_tokens_so_that_skipped_text_may_hold_them() {
        assert!(matches!(&tokens("\"abc", 1)[0].tok, Tok::Bad(_, m) if m.contains("string without an end")));
        assert!(matches!(&tokens("/* abc", 1)[0].tok, Tok::Bad(_, m) if m.contains("comment without an end")));
        assert!(matches!(&tokens("$", 1)[0].tok, Tok::Bad(_, m) if m.contains("'$'")));
    }
}
