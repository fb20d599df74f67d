//! Lines that start with `#`.

use super::{
    Preprocessor,
    define::shown,
    piece::{Kind, Piece},
    read::{Line, Seeking},
};
use crate::{diagnostics::nearest, source::Span, syntax::token::Symbol};

const DIRECTIVES: [&str; 21] = [
    "include",
    "include_next",
    "import",
    "define",
    "undef",
    "if",
    "ifdef",
    "ifndef",
    "elif",
    "elifdef",
    "elifndef",
    "else",
    "endif",
    "error",
    "warning",
    "line",
    "pragma",
    "ident",
    "sccs",
    "assert",
    "unassert",
];

impl Preprocessor<'_> {
    /// Executes the directive at the current position of the file. False if the line stays in the text.
    pub(super) fn directive(&mut self) -> bool {
        let Some(open) = self.files.last() else { return false };
        let hash = open.pieces[open.at].span;
        let name = open.pieces[open.at + 1..]
            .iter()
            .take_while(|p| !p.first)
            .find(|p| p.kind != Kind::Comment)
            .cloned();
        let active = open.conditions.active();
        let Some(name) = name else {
            // A single '#' is an empty directive.
            self.take_line();
            return true;
        };
        let known = name.kind == Kind::Name && DIRECTIVES.contains(&&*name.text);
        if !known {
            if active {
                self.unknown(&name);
            }
            return false;
        }
        let Some(line) = self.take_line() else { return false };
        // In the arguments of a macro call, a directive works as everywhere else.
        let (seeking, quiet) = (self.seeking, self.quiet);
        (self.seeking, self.quiet) = (Seeking::Nothing, 0);
        self.execute(hash, &line[0], &line[1..]);
        (self.seeking, self.quiet) = (seeking, quiet);
        true
    }

    /// Skips a line with an unknown directive, as p4c does. The C preprocessor keeps it, because it may be a comment of
    /// an assembler.
    fn unknown(&mut self, name: &Piece) {
        if name.kind != Kind::Name {
            return self.line_mark(name);
        }
        if let Some(meant) = nearest(&name.text, DIRECTIVES) {
            let message = format!(
                "'#{}' is not a directive, and its line is skipped; did you mean '{meant}'?",
                name.text
            );
            self.reporter.warning("preprocessor", name.span, message);
        }
    }

    /// `# 12 "file"` from another preprocessor: the origin of the next line.
    fn line_mark(&mut self, number: &Piece) {
        let Some(open) = self.files.last().filter(|_| number.white) else {
            return;
        };
        let Ok(line) = number.text.parse::<u32>() else { return };
        let after = open.pieces[open.at + 1..].iter().take_while(|p| !p.first);
        let name = after.skip_while(|p| p.span != number.span).nth(1);
        let name = name.filter(|p| p.kind == Kind::Text).and_then(|p| p.file_name());
        let name = name.map(|(name, _)| name.to_owned());
        self.map.mark(number.span, line, name, false);
    }

    fn conditions(
        &mut self,
        change: impl FnOnce(&mut super::condition::Conditions) -> Result<(), &'static str>,
        at: Span,
    ) {
        if let Some(open) = self.files.last_mut()
            && let Err(message) = change(&mut open.conditions)
        {
            self.reporter.error(at, message);
        }
    }

    fn execute(&mut self, hash: Span, name: &Piece, rest: &[Piece]) {
        let span = name.span;
        let (active, wants_elif) = self.files.last().map_or((false, false), |open| {
            (open.conditions.active(), open.conditions.wants_elif())
        });
        match &*name.text {
            kind @ ("if" | "ifdef" | "ifndef") => {
                let value = active && self.decide(kind, rest, span);
                self.conditions(|c| c.open(hash.to(span), value), span);
            }
            kind @ ("elif" | "elifdef" | "elifndef") => {
                let value = wants_elif && self.decide(&kind[2..], rest, span);
                self.conditions(|c| c.elif(value), span);
            }
            "else" => self.conditions(super::condition::Conditions::otherwise, span),
            "endif" => self.conditions(super::condition::Conditions::close, span),
            _ if !active => {}
            kind @ ("include" | "include_next" | "import") => self.include(kind, rest, span),
            "define" => self.define(rest, span),
            "undef" => {
                if let Some(name) = self.macro_name(rest, span) {
                    self.macros.remove(&name);
                }
            }
            kind @ ("error" | "warning") => {
                let text = spelled(rest);
                let text = text.trim_matches('"');
                if kind == "error" {
                    self.reporter.error(span, format!("#error {text}"));
                } else {
                    self.reporter.warning("preprocessor", span, format!("#warning {text}"));
                }
            }
            "line" => self.line_directive(rest, span),
            "pragma" => self.pragma(rest, span),
            "ident" | "sccs" if !matches!(rest, [text] if text.kind == Kind::Text) => {
                self.reporter.error(span, format!("#{} takes a string", name.text));
            }
            _ => {}
        }
    }

    /// Evaluates an `#if` or a similar directive.
    fn decide(&mut self, kind: &str, rest: &[Piece], span: Span) -> bool {
        match kind {
            "if" => self.condition(rest, span),
            _ => {
                let name = match rest.first() {
                    Some(name) if name.kind == Kind::Name => name,
                    Some(other) => {
                        let message = format!("{} is no name of a macro", shown(other));
                        self.reporter.error(other.span, message);
                        return false;
                    }
                    None => {
                        self.reporter.error(span, "the name of a macro is missing");
                        return false;
                    }
                };
                self.macros.contains_key(&name.text) == (kind == "ifdef")
            }
        }
    }

    /// Tokens of a directive with macros expanded.
    pub(super) fn expanded_line(&mut self, rest: &[Piece], span: Span) -> Vec<Piece> {
        self.on_line(rest, span, |p| {
            let mut pieces = Vec::new();
            loop {
                let piece = p.next();
                if piece.kind == Kind::End {
                    return pieces;
                }
                if !piece.is_padding() {
                    pieces.push(piece);
                }
            }
        })
    }

    /// Reads the tokens of a directive instead of those of files.
    pub(super) fn on_line<T>(&mut self, rest: &[Piece], span: Span, work: impl FnOnce(&mut Self) -> T) -> T {
        // The directive may be between the arguments of a macro call.
        let contexts = std::mem::take(&mut self.contexts);
        self.line = Some(Line {
            pieces: rest.to_vec(),
            at: 0,
            end: rest.last().map_or(span, |last| last.span),
        });
        let result = work(self);
        self.line = None;
        self.contexts = contexts;
        result
    }

    fn line_directive(&mut self, rest: &[Piece], span: Span) {
        let line = self.expanded_line(rest, span);
        let number = line.first().filter(|p| p.text.bytes().all(|b| b.is_ascii_digit()));
        let Some(number) = number.and_then(|p| p.text.parse::<u64>().ok()) else {
            let got = line.first().map_or("nothing".to_owned(), shown);
            return self.reporter.error(span, format!("#line takes a number, not {got}"));
        };
        let name = match line.get(1) {
            None => None,
            Some(text) if text.kind == Kind::Text => Some(text.text[1..text.text.len() - 1].to_owned()),
            Some(other) => {
                let message = format!("#line takes the name of a file behind the number, not {}", shown(other));
                return self.reporter.error(other.span, message);
            }
        };
        self.map.mark(span, number as u32, name, true);
    }

    /// Executes the `#pragma`s of the preprocessor; ignores all others.
    pub(super) fn pragma(&mut self, line: &[Piece], span: Span) {
        let word = |i: usize| line.get(i).filter(|p| p.kind == Kind::Name).map(|p| &*p.text);
        let text = |i: usize| line.get(i).filter(|p| p.kind == Kind::Text);
        let inner = |p: &Piece| p.text[1..p.text.len() - 1].to_owned();
        match (word(0), word(1)) {
            (Some("once"), _) if self.files.len() > 1 => {
                if let Some(open) = self.files.last() {
                    self.once.insert(self.map.text(open.file).to_owned());
                }
            }
            (Some(kind @ ("push_macro" | "pop_macro")), _) => {
                let name: Option<Symbol> = text(2).map(|p| inner(p).into());
                match name {
                    Some(name) if kind == "push_macro" => {
                        let definition = self.macros.get(&name).cloned();
                        self.pushed.entry(name).or_default().push(definition);
                    }
                    Some(name) => match self.pushed.get_mut(&name).and_then(Vec::pop) {
                        Some(Some(definition)) => drop(self.macros.insert(name, definition)),
                        Some(None) => drop(self.macros.remove(&name)),
                        None => {}
                    },
                    None => {
                        let message = format!("#pragma {kind} takes a name in quotation marks, in parentheses");
                        self.reporter.warning("preprocessor", span, message);
                    }
                }
            }
            (Some("GCC"), Some("poison")) => {
                for name in line[2..].iter().take_while(|p| p.kind == Kind::Name) {
                    self.macros.remove(&name.text);
                    self.poisoned.insert(name.text.clone());
                }
            }
            (Some("GCC"), Some(kind @ ("error" | "warning"))) => {
                let message: String = line[2..].iter().filter(|p| p.kind == Kind::Text).map(inner).collect();
                if kind == "error" {
                    self.reporter.error(span, format!("#pragma GCC error: {message}"));
                } else {
                    self.reporter
                        .warning("preprocessor", span, format!("#pragma GCC warning: {message}"));
                }
            }
            _ => {}
        }
    }
}

/// Tokens in their written form, with single blanks.
pub(super) fn spelled(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        if piece.white && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&piece.text);
    }
    text
}
