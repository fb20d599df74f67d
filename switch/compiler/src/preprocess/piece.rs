//! Preprocessing tokens of C, and their lexer. They keep their spelling, because `##` and `#` use it.

use crate::{source::Span, syntax::token::Symbol};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    /// A token that begins like a number: `1`, `8w0xFF`, `1..2`.
    Number,
    /// A string that ends on its line.
    Text,
    /// Characters between `'` that end on their line.
    Char,
    Punct,
    /// `<file>` in a directive.
    Header,
    /// A character without meaning in C; or a quotation mark without its partner, with the rest of the line.
    Other,
    /// A comment. It stays in the text, as with `cpp -C`: a string over several lines may contain the text of a
    /// comment.
    Comment,
    /// Separates the result of a macro from its neighbours. It becomes a blank if the token before had one. `None`:
    /// only if both would otherwise be read as one token.
    Padding(Option<bool>),
    /// A parameter in the body of a macro, by number.
    Parameter(usize),
    /// `__VA_OPT__(...)` in the body of a macro.
    Optional(std::rc::Rc<[Piece]>),
    /// Place of a `_Pragma`: the text continues on a new line.
    Break,
    /// The end of a directive, an argument, or the program.
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub kind: Kind,
    pub text: Symbol,
    /// Place; for a token from the body of a macro, the place of the macro's name.
    pub span: Span,
    /// True if a blank precedes it.
    pub white: bool,
    /// True if it is the first token of a line.
    pub first: bool,
    /// True if it is a name that must not be expanded.
    pub fixed: bool,
    /// In the body of a macro: true if `##` follows.
    pub pastes: bool,
    /// In the body of a macro: true if it is a parameter or `__VA_OPT__` after `#`.
    pub quoted: bool,
}

impl Piece {
    pub fn new(kind: Kind, text: &str, span: Span) -> Piece {
        Piece {
            kind,
            text: text.into(),
            span,
            white: false,
            first: false,
            fixed: false,
            pastes: false,
            quoted: false,
        }
    }

    pub fn padding(white: Option<bool>) -> Piece {
        Piece::new(Kind::Padding(white), "", Span::default())
    }

    pub fn end(span: Span) -> Piece {
        Piece::new(Kind::End, "", span)
    }

    pub fn is(&self, punctuation: &str) -> bool {
        self.kind == Kind::Punct && *self.text == *punctuation
    }

    pub fn is_padding(&self) -> bool {
        matches!(self.kind, Kind::Padding(_))
    }

    /// Name of a file; true if in angle brackets.
    pub fn file_name(&self) -> Option<(&str, bool)> {
        let angled = self.kind == Kind::Header;
        (angled || self.kind == Kind::Text).then(|| (&self.text[1..self.text.len() - 1], angled))
    }
}

/// A text without line ends after a backslash, and the places of its characters in the source.
struct Unspliced {
    text: String,
    /// Offsets in `text`; from each on, the distance to the offset in the source.
    shifts: Vec<(usize, usize)>,
}

impl Unspliced {
    fn new(source: &str) -> Unspliced {
        let mut unspliced = Unspliced {
            text: String::with_capacity(source.len()),
            shifts: Vec::new(),
        };
        let mut from = 0;
        for (end, _) in source.match_indices('\n') {
            let line = &source[from..end];
            let bare = line.strip_suffix('\r').unwrap_or(line);
            let continued = bare.trim_end_matches([' ', '\t', '\u{b}', '\u{c}']).strip_suffix('\\');
            unspliced.text.push_str(continued.unwrap_or(bare));
            if continued.is_none() {
                if bare.len() != line.len() {
                    unspliced.shift(end);
                }
                unspliced.text.push('\n');
            }
            from = end + 1;
            unspliced.shift(from);
        }
        unspliced.text.push_str(&source[from..]);
        unspliced
    }

    /// Continues at an offset in the source.
    fn shift(&mut self, source: usize) {
        let at = self.text.len();
        let shift = source - at;
        if self.shifts.last().map_or(0, |s| s.1) != shift {
            self.shifts.push((at, shift));
        }
    }

    fn source(&self, at: usize) -> usize {
        let before = self.shifts.partition_point(|(from, _)| *from <= at);
        at + before.checked_sub(1).map_or(0, |i| self.shifts[i].1)
    }
}

/// Tokens of a file whose first byte has the offset `base`, and the place of an unterminated comment.
pub(super) fn pieces(source: &str, base: u32) -> (Vec<Piece>, Option<Span>) {
    let unspliced = Unspliced::new(source);
    let mut cutter = Cutter::new(&unspliced.text);
    cutter.run();
    let place = |span: Span| {
        let last = span.end.saturating_sub(1).max(span.start);
        let end = unspliced.source(last as usize) + usize::from(span.end > span.start);
        Span {
            start: base + unspliced.source(span.start as usize) as u32,
            end: base + end as u32,
        }
    };
    let (mut list, unclosed) = (cutter.list, cutter.unclosed);
    for piece in &mut list {
        piece.span = place(piece.span);
    }
    (list, unclosed.map(place))
}

/// The token that is the whole text.
pub(super) fn single(text: &str) -> Option<Piece> {
    let mut cutter = Cutter::new(text);
    cutter.run();
    let mut list = cutter.list.into_iter();
    list.next().filter(|_| list.next().is_none())
}

/// C's operators and separators, longest first.
const PUNCTUATION: &[&str] = &[
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "##", "(", ")", "{", "}", "[", "]", "<", ">", ",", ";", ":", ".", "=", "+", "-", "*", "/",
    "%", "&", "|", "^", "~", "!", "?", "#",
];

struct Cutter<'a> {
    text: &'a str,
    at: usize,
    first: bool,
    list: Vec<Piece>,
    /// Index of the line's first token in the list.
    line: usize,
    unclosed: Option<Span>,
}

impl Cutter<'_> {
    fn new(text: &str) -> Cutter<'_> {
        Cutter {
            text,
            at: 0,
            first: true,
            list: Vec::new(),
            line: 0,
            unclosed: None,
        }
    }

    fn run(&mut self) {
        loop {
            let mut white = false;
            while let Some(c) = self.text[self.at..].chars().next() {
                match c {
                    '\n' => {
                        self.first = true;
                        white = false;
                    }
                    ' ' | '\t' | '\r' | '\u{b}' | '\u{c}' | '\0' => white = true,
                    _ => break,
                }
                self.at += 1;
            }
            let start = self.at;
            let Some(kind) = self.one() else { return };
            let span = Span {
                start: start as u32,
                end: self.at as u32,
            };
            if self.first {
                self.line = self.list.len();
            }
            self.list.push(Piece {
                white,
                first: self.first,
                ..Piece::new(kind, &self.text[start..self.at], span)
            });
            self.first = false;
        }
    }

    /// Moves past the next token, and returns its kind.
    fn one(&mut self) -> Option<Kind> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let (kind, length) = match *bytes.first()? {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => (Kind::Name, word(bytes)),
            b'0'..=b'9' => (Kind::Number, number(bytes)),
            b'.' if bytes.get(1).is_some_and(u8::is_ascii_digit) => (Kind::Number, number(bytes)),
            b'"' => quoted(rest, b'"', Kind::Text),
            b'\'' => quoted(rest, b'\'', Kind::Char),
            b'/' if rest.starts_with("//") => (Kind::Comment, rest.find('\n').unwrap_or(rest.len())),
            b'/' if rest.starts_with("/*") => match rest[2..].find("*/") {
                Some(end) => (Kind::Comment, end + 4),
                None => {
                    let start = self.at as u32;
                    self.unclosed = Some(Span { start, end: start + 2 });
                    (Kind::Comment, rest.len())
                }
            },
            b'<' if self.takes_header() => match rest.find(['>', '\n']) {
                Some(end) if bytes[end] == b'>' => (Kind::Header, end + 1),
                _ => (Kind::Punct, 1),
            },
            _ => match PUNCTUATION.iter().find(|p| rest.starts_with(**p)) {
                Some(p) => (Kind::Punct, p.len()),
                None => (Kind::Other, rest.chars().next()?.len_utf8()),
            },
        };
        self.at += length;
        Some(kind)
    }

    /// True if a `<` here begins the name of a file.
    fn takes_header(&self) -> bool {
        let mut line = self.list[self.line..].iter().filter(|p| p.kind != Kind::Comment);
        if self.first || !line.next().is_some_and(|p| p.first && p.is("#")) {
            return false;
        }
        let line: Vec<&Piece> = line.collect();
        match &line[..] {
            [name] => matches!(&*name.text, "include" | "include_next" | "import"),
            [.., name, open] => open.is("(") && matches!(&*name.text, "__has_include" | "__has_include_next"),
            [] => false,
        }
    }
}

fn word(bytes: &[u8]) -> usize {
    let ends = |b: &u8| !b.is_ascii_alphanumeric() && *b != b'_';
    bytes.iter().position(ends).unwrap_or(bytes.len())
}

/// Length of a number. It includes a sign after the letter of an exponent.
fn number(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(b) = bytes.get(at) {
        let sign = matches!(b, b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P');
        if !sign && !b.is_ascii_alphanumeric() && !matches!(b, b'_' | b'.') {
            break;
        }
        at += 1;
    }
    at
}

fn quoted(rest: &str, mark: u8, kind: Kind) -> (Kind, usize) {
    let mut bytes = rest.bytes().enumerate().skip(1).peekable();
    while let Some((at, b)) = bytes.next() {
        match b {
            b'\n' => return (Kind::Other, at),
            b'\\' => drop(bytes.next_if(|(_, b)| *b != b'\n')),
            _ if b == mark => return (kind, at + 1),
            _ => {}
        }
    }
    (Kind::Other, rest.len())
}
