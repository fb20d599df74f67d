//! Lexical tokens of P4_16 (specification section 6).

use std::{fmt, rc::Rc};

use num_bigint::BigInt;

use crate::source::Span;

/// A name or other short text, cheap to copy.
pub type Symbol = Rc<str>;

/// An integer literal, such as `10`, `8w0xFF` or `4s7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntLiteral {
    /// Value before it is truncated to the width.
    pub value: BigInt,
    /// Width in bits, and true if signed; `None` if the literal has no width.
    pub width: Option<(u32, bool)>,
}

/// Kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tok {
    /// An identifier or keyword.
    Word(Symbol),
    /// An integer literal.
    Int(IntLiteral),
    /// A string literal, without its quotes, escapes resolved.
    Str(Symbol),
    /// Punctuation or an operator. `>>` is two `>` (it also closes nested type arguments).
    Punct(&'static str),
    /// An invalid token: its characters, and the reason. It is reported only if no `#if` skips it.
    Bad(Symbol, Symbol),
    /// The end of the input.
    End,
}

impl fmt::Display for Tok {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tok::Word(w) => write!(f, "'{w}'"),
            Tok::Int(i) => write!(f, "{}", IntText(i)),
            Tok::Str(s) => write!(f, "\"{s}\""),
            Tok::Punct(p) => write!(f, "'{p}'"),
            Tok::Bad(_, message) => write!(f, "{message}"),
            Tok::End => write!(f, "the end of the file"),
        }
    }
}

/// Displays an integer literal as P4 source.
pub struct IntText<'a>(pub &'a IntLiteral);

impl fmt::Display for IntText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.width {
            Some((width, signed)) => write!(f, "{width}{}{}", if signed { 's' } else { 'w' }, self.0.value),
            None => write!(f, "{}", self.0.value),
        }
    }
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub tok: Tok,
    /// Place; for a token from a macro, the use of the macro.
    pub span: Span,
    /// True for the first token of a logical line.
    pub starts_line: bool,
    /// True if it directly follows the previous token.
    pub joined: bool,
}

/// Operators and separators, longest first.
pub const PUNCTUATION: &[&str] = &[
    "<<=", "|+|=", "|-|=", "|+|", "|-|", "&&&", "...", "&&", "||", "==", "!=", "<=", ">=", "<<", "++", "..", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "(", ")", "{", "}", "[", "]", "<", ">", ",", ";", ":", ".", "=", "+",
    "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", "@", "#",
];

/// Words that cannot be names (specification section 6.3.2).
pub const KEYWORDS: &[&str] = &[
    "abstract",
    "action",
    "apply",
    "bit",
    "bool",
    "const",
    "control",
    "default",
    "else",
    "enum",
    "error",
    "exit",
    "extern",
    "false",
    "header",
    "header_union",
    "if",
    "in",
    "inout",
    "int",
    "list",
    "match_kind",
    "out",
    "package",
    "parser",
    "return",
    "select",
    "state",
    "string",
    "struct",
    "switch",
    "table",
    "this",
    "transition",
    "true",
    "tuple",
    "type",
    "typedef",
    "value_set",
    "varbit",
    "void",
    "for",
    "break",
    "continue",
];

/// Keywords that may still name a field, parameter or variable.
pub const SOFT_KEYWORDS: &[&str] = &[
    "apply",
    "state",
    "type",
    "list",
    "key",
    "actions",
    "entries",
    "priority",
    "abstract",
    "value_set",
    "this",
    "break",
    "continue",
    "for",
];

/// The tokens as text, with one output line for each source line (for the option `-E`).
#[must_use]
pub(crate) fn render(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens.iter().filter(|t| t.tok != Tok::End) {
        if token.starts_line && !text.is_empty() {
            text.push('\n');
        } else if !token.joined && !text.is_empty() {
            text.push(' ');
        }
        match &token.tok {
            Tok::Word(w) => text.push_str(w),
            Tok::Int(i) => text.push_str(&IntText(i).to_string()),
            Tok::Str(s) => text.push_str(&format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\""))),
            Tok::Punct(p) => text.push_str(p),
            Tok::Bad(characters, _) => text.push_str(characters),
            Tok::End => {}
        }
    }
    text
}
