//! Errors and warnings, each with its place in the source and, where possible, a hint.

use std::fmt;

use crate::source::{Position, SourceMap, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Stops the compilation: no output is written.
    Error,
    /// Does not stop the compilation.
    Warning,
}

/// A message about the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Place; `None` if it concerns the whole program.
    pub position: Option<Position>,
    /// The problem, and the right form.
    pub message: String,
    /// The source line at `position`.
    pub line: Option<String>,
    /// Class of a warning, for `--Wdisable` and `--Werror`.
    pub class: Option<&'static str>,
    /// Number of characters to underline.
    pub width: usize,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "{position}: ")?;
        }
        match (self.severity, self.class) {
            (Severity::Error, _) => write!(f, "{}", self.message)?,
            (Severity::Warning, None) => write!(f, "warning: {}", self.message)?,
            (Severity::Warning, Some(class)) => write!(f, "warning: {} [{class}]", self.message)?,
        }
        if let (Some(line), Some(position)) = (&self.line, &self.position) {
            let (line, before) = excerpt(line, position.column as usize - 1);
            // The padding keeps tabs, so that the mark is below the right characters.
            let pad: String = line
                .chars()
                .take(before)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            let room = line.chars().count().saturating_sub(before).max(1);
            write!(f, "\n    {line}\n    {pad}{}", "^".repeat(self.width.clamp(1, room)))?;
        }
        Ok(())
    }
}

/// Largest length of a printed source line or message, in characters. Generated programs have lines of any length.
const LONGEST_LINE: usize = 200;
const LONGEST_MESSAGE: usize = 2000;
const CUT: &str = "...";

/// A line, or the part of a long line around `column`, and the column in it. Columns count from 0.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    let length = line.chars().count();
    if length <= LONGEST_LINE {
        return (line.to_owned(), column);
    }
    let first = column.saturating_sub(LONGEST_LINE / 2).min(length - LONGEST_LINE);
    let part: String = line.chars().skip(first).take(LONGEST_LINE).collect();
    let before = if first > 0 { CUT } else { "" };
    let after = if first + LONGEST_LINE < length { CUT } else { "" };
    (format!("{before}{part}{after}"), before.len() + column - first)
}

/// Cuts a long message.
fn shortened(message: String) -> String {
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}{CUT}", &message[..end]),
        None => message,
    }
}

/// Messages of one compilation, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// True if any of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// True if there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.list.retain(keep);
    }

    pub(crate) fn make_errors(&mut self, of_class: impl Fn(Option<&str>) -> bool) {
        for d in self.list.iter_mut().filter(|d| of_class(d.class)) {
            d.severity = Severity::Error;
        }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for d in &self.list {
            writeln!(f, "{d}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Collects the messages of all stages.
pub(crate) struct Reporter {
    reported: Vec<(Severity, Span, String, Option<&'static str>)>,
    errors: usize,
}

/// Most errors that are reported.
const ERROR_LIMIT: usize = 50;

impl Reporter {
    pub fn new() -> Reporter {
        Reporter {
            reported: Vec::new(),
            errors: 0,
        }
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        let message = message.into();
        let duplicate = |(_, s, m, _): &(Severity, Span, String, _)| *s == span && *m == message;
        if self.errors >= ERROR_LIMIT || self.reported.iter().any(duplicate) {
            return;
        }
        self.errors += 1;
        self.reported.push((Severity::Error, span, message, None));
    }

    pub fn warning(&mut self, class: &'static str, span: Span, message: impl Into<String>) {
        if self.reported.len() < 4 * ERROR_LIMIT {
            self.reported
                .push((Severity::Warning, span, message.into(), Some(class)));
        }
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// True if the limit of errors is reached: a stage may stop.
    pub fn is_full(&self) -> bool {
        self.errors >= ERROR_LIMIT
    }

    pub fn finish(self, map: &SourceMap) -> Diagnostics {
        let mut all = Diagnostics::default();
        for (severity, span, message, class) in self.reported {
            let width = map.snippet(span).lines().next().unwrap_or("").chars().count();
            let line = map.line(span).map(str::to_owned);
            all.push(Diagnostic {
                severity,
                position: map.position(span),
                message: shortened(message),
                line,
                class,
                width,
            });
        }
        all
    }
}

/// The candidate most similar to `written`, if one is similar enough.
pub(crate) fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (written.chars().count() / 3).max(1);
    let scored = candidates
        .into_iter()
        .filter(|c| *c != written)
        .map(|c| (distance(written, c), c));
    scored.filter(|(d, _)| *d <= limit).min().map(|(_, c)| c)
}

/// End of a message about an unknown name: `; did you mean 'x'?`, `; it has a, b, c`, or nothing.
pub(crate) fn suggestion<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>, list: &str) -> String {
    let all: Vec<&str> = candidates.into_iter().collect();
    match nearest(written, all.iter().copied()) {
        Some(name) => format!("; did you mean '{name}'?"),
        None if all.is_empty() || list.is_empty() || all.len() > 24 => String::new(),
        None => format!("; {list} {}", all.join(", ")),
    }
}

/// Edit distance of two words: insertions, deletions, replacements and swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(!a[i - 1].eq_ignore_ascii_case(&b[j - 1]));
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_place_line_and_mark() {
        let mut map = SourceMap::default();
        let file = map.add("a.p4", "bit<8> x;\n\thdr.dscp = 1;\n".to_owned()).unwrap();
        let start = map.base(file) + 15;
        let mut reporter = Reporter::new();
        reporter.error(Span { start, end: start + 4 }, "no field 'dscp'");
        let shown = reporter.finish(&map).to_string();
        assert_eq!(
            shown,
            "a.p4:2:6: no field 'dscp'\n    \thdr.dscp = 1;\n    \t    ^^^^\n"
        );
    }

    #[test]
    fn of_a_long_line_and_of_a_long_message_a_part_is_shown() {
        let mut map = SourceMap::default();
        let line = format!("{}name;{}", "(".repeat(500_000), ")".repeat(500_000));
        let file = map.add("a.p4", line).unwrap();
        let start = map.base(file) + 500_000;
        let mut reporter = Reporter::new();
        reporter.error(Span { start, end: start + 4 }, "x".repeat(500_000));
        let shown = reporter.finish(&map).to_string();
        let (message, rest) = shown.split_once('\n').unwrap();
        assert_eq!(message, format!("a.p4:1:500001: {}...", "x".repeat(2000)));
        let part = format!("...{}name;{}...", "(".repeat(100), ")".repeat(95));
        let marks = format!("{}^^^^", " ".repeat(103));
        assert_eq!(rest, format!("    {part}\n    {marks}\n"));
    }

    #[test]
    fn the_nearest_name_is_suggested_when_it_is_near() {
        assert_eq!(nearest("diffsrev", ["ttl", "diffserv", "version"]), Some("diffserv"));
        assert_eq!(nearest("dscp", ["ttl", "diffserv"]), None);
        assert_eq!(suggestion("dscp", ["ttl", "tos"], "it has"), "; it has ttl, tos");
    }
}
