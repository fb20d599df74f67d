//! `#include` and similar directives.

use super::{
    MAX_INCLUDE_DEPTH, Preprocessor,
    directive::spelled,
    piece::{Kind, Piece},
};
use crate::{include::declared_by, source::Span};

impl Preprocessor<'_> {
    /// `#include`, `#include_next` or `#import`.
    pub(super) fn include(&mut self, kind: &str, rest: &[Piece], span: Span) {
        let written = rest.first().and_then(Piece::file_name);
        let found = match written {
            Some((path, angled)) => Some((path.to_owned(), angled)),
            // A macro may expand to the name of the file.
            None if rest.first().is_some_and(|p| p.kind == Kind::Name || p.is("<")) => {
                let line = self.expanded_line(rest, span);
                named_file(&line)
            }
            None => None,
        };
        let Some((path, angled)) = found else {
            let message = if rest.first().is_some_and(|p| p.is("<")) {
                format!("#{kind} <file without '>'")
            } else {
                format!("#{kind} takes \"file\" or <file>")
            };
            return self.reporter.error(span, message);
        };
        let place = rest[0].span;
        if path.is_empty() {
            return self
                .reporter
                .error(place, format!("#{kind} with an empty name of a file"));
        }
        if self.files.len() > MAX_INCLUDE_DEPTH {
            let message = format!("files include each other more than {MAX_INCLUDE_DEPTH} deep");
            self.reporter.error(place, message);
            self.stopped = true;
            return;
        }
        if let Some(other) = declared_by(&path).filter(|other| *other != self.arch) {
            let message = format!(
                "this program is written for {0}; it is compiled with --arch {0}, not {1}",
                other.name(),
                self.arch.name()
            );
            return self.reporter.error(place, message);
        }
        let Some((name, text)) = self.resolve(&path, angled, kind == "include_next") else {
            let places = if angled {
                "the -I directories"
            } else {
                "the folder of this file or in the -I directories"
            };
            return self.reporter.error(place, format!("no file '{path}' in {places}"));
        };
        let known = self.known.get(&name).map(|(file, _)| *file);
        let known = known.filter(|file| self.map.text(*file) == text);
        if self.once.contains(&text) {
            return;
        }
        if kind == "import" {
            self.once.insert(text.clone());
            if known.is_some() {
                return;
            }
        }
        match known.or_else(|| self.map.add(&name, text)) {
            Some(file) => self.open(file),
            None => self
                .reporter
                .error(place, "the program and its included files are too large"),
        }
    }

    fn resolve(&self, path: &str, angled: bool, next: bool) -> Option<(String, String)> {
        let from = self.map.name(self.files.last()?.file);
        if next && self.files.len() > 1 {
            self.resolver.include_next(path, from)
        } else {
            self.resolver.include(path, from, angled)
        }
    }

    /// `__has_include("file")` in a condition.
    pub(super) fn has_include(&mut self, name: &Piece, next: bool) -> bool {
        if self.line.is_none() {
            let message = format!("'{}' stands outside of a condition", name.text);
            self.reporter.error(name.span, message);
            return false;
        }
        let open = self.next();
        let mut operand = Vec::new();
        if open.is("(") {
            operand.push(self.next());
            // A computed name in angle brackets.
            while operand[0].is("<") && !operand.last().is_some_and(|p| p.is(">") || p.kind == Kind::End) {
                operand.push(self.next());
            }
        }
        let close = self.next();
        match named_file(&operand) {
            Some((path, angled)) if close.is(")") => self.resolve(&path, angled, next).is_some(),
            _ => {
                let message = format!("{} takes (\"file\") or (<file>)", name.text);
                self.reporter.error(name.span, message);
                false
            }
        }
    }
}

/// Name of the file in tokens; true if in angle brackets.
fn named_file(line: &[Piece]) -> Option<(String, bool)> {
    let first = line.first()?;
    if let Some((path, angled)) = first.file_name() {
        return Some((path.to_owned(), angled));
    }
    let close = line.iter().position(|p| p.is(">")).filter(|_| first.is("<"))?;
    Some((spelled(&line[1..close]), true))
}
