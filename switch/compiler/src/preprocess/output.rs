//! The output text of the preprocessor, and its tokens. P4 and C have different tokens (`&&&` is one in P4, `1..2` are
//! three), so the text is split again. Each token gets its place in the source.

use super::piece::{Kind, Piece};
use crate::{
    source::{SourceMap, Span},
    syntax::{lexer, token::Token},
};

/// Most consecutive empty lines, as in GCC's output.
const MAX_EMPTY_LINES: u32 = 8;

#[derive(Default)]
pub(super) struct Output {
    text: String,
    /// Start of each token in the text, and its place in the source.
    places: Vec<(usize, Span)>,
    /// Previous token on the same line.
    before: Option<Piece>,
    /// True if padding is before the next token. `source` is true if this padding stands for a blank.
    padded: bool,
    source: Option<bool>,
    /// Line of the source at the current end of the text.
    line: Option<u32>,
}

impl Output {
    /// Starts another file.
    pub fn new_file(&mut self) {
        self.line = None;
    }

    /// Starts a new line.
    fn break_line(&mut self) {
        self.text.push('\n');
        self.before = None;
        self.source = None;
    }

    /// Starts a line of the source.
    pub fn new_line(&mut self, piece: &Piece, map: &SourceMap) {
        let (line, column) = map.line_and_column(piece.span);
        let skipped = self.line.and_then(|before| line.checked_sub(before));
        let skipped = skipped.filter(|n| (1..=MAX_EMPTY_LINES).contains(n)).unwrap_or(1);
        if !self.text.is_empty() {
            for _ in 0..skipped {
                self.break_line();
            }
        }
        self.before = None;
        self.source = None;
        self.line = Some(line);
        // The token brings the last blank itself.
        self.text.extend((1..column).map(|_| ' '));
    }

    pub fn piece(&mut self, piece: &Piece) {
        if let Kind::Padding(white) = piece.kind {
            self.padded = true;
            if self.source.is_none() || self.source == Some(false) && white.is_none() {
                self.source = white;
            }
            return;
        }
        if piece.kind == Kind::Break {
            return self.break_line();
        }
        let white = match self.source {
            Some(white) if self.padded => white,
            _ => piece.white,
        };
        let close = self.padded
            && match &self.before {
                Some(before) => would_join(before, piece),
                None => piece.is("#"),
            };
        if white || close {
            self.text.push(' ');
        }
        self.places.push((self.text.len(), piece.span));
        self.text.push_str(&piece.text);
        if piece.kind == Kind::Comment {
            let newlines = piece.text.bytes().filter(|b| *b == b'\n').count() as u32;
            self.line = self.line.map(|line| line + newlines);
        }
        self.padded = false;
        self.source = None;
        self.before = Some(piece.clone());
    }

    /// The text, and its tokens with places in the source.
    pub fn finish(mut self, map: &SourceMap) -> (String, Vec<Token>) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let mut tokens = lexer::tokens(&self.text, 0);
        for token in &mut tokens {
            let (start, _) = self.place(token.span.start as usize, map);
            let (_, end) = self.place((token.span.end as usize).saturating_sub(1), map);
            token.span = Span {
                end: end.end.max(start.start),
                ..start
            };
        }
        (self.text, tokens)
    }

    /// Place of the character at `at`: the first span begins with it, the second one ends with it.
    fn place(&self, at: usize, map: &SourceMap) -> (Span, Span) {
        let after = self.places.partition_point(|(start, _)| *start <= at);
        let Some((start, span)) = after.checked_sub(1).map(|i| self.places[i]) else {
            return (Span::default(), Span::default());
        };
        let next = self.places.get(after).map_or(self.text.len(), |next| next.0);
        let within = (at - start) as u32;
        let written = map.snippet(span);
        let verbatim = self.text[start..next].starts_with(written) && within < span.end - span.start;
        if !verbatim {
            return (span, span);
        }
        let from = Span {
            start: span.start + within,
            ..span
        };
        let upto = Span {
            end: span.start + within + 1,
            ..span
        };
        (from, upto)
    }
}

/// True if C would read both tokens differently without a blank between them.
fn would_join(left: &Piece, right: &Piece) -> bool {
    let starts = |c: char| right.kind == Kind::Punct && right.text.starts_with(c);
    let with_equals = ["=", "!", ">", "<", "+", "-", "*", "/", "%", "&", "|", "^", ">>", "<<"];
    match left.kind {
        Kind::Punct if starts('=') && with_equals.contains(&&*left.text) => true,
        Kind::Punct => match &*left.text {
            ">" => starts('>'),
            "<" => starts('<') || starts('%') || starts(':'),
            "+" => starts('+'),
            "-" => starts('-') || starts('>'),
            "/" => starts('/') || starts('*') || right.kind == Kind::Comment,
            "%" => starts(':') || starts('%'),
            "&" => starts('&'),
            "|" => starts('|'),
            ":" => starts(':') || starts('>'),
            "->" => starts('*'),
            "." => starts('.') || starts('%') || right.kind == Kind::Number,
            "#" => starts('#') || starts('%'),
            _ => false,
        },
        Kind::Name => matches!(right.kind, Kind::Name | Kind::Number | Kind::Char | Kind::Text),
        Kind::Number => {
            matches!(right.kind, Kind::Number | Kind::Name | Kind::Char) || starts('.') || starts('+') || starts('-')
        }
        Kind::Other => left.text.starts_with('\\') && right.kind == Kind::Name,
        _ => false,
    }
}
