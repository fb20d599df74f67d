//! What an editor asks about one program.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lsp_types::{DiagnosticSeverity, Position, Range};
use p4sched_compiler::names::{Fitting, Names, PLACEHOLDER, Place, names, units};
use p4sched_compiler::{Arch, Compiled, Diagnostic, Diagnostics, Input, Options, Severity, compile};

use crate::files::Files;

/// Texts behind the name that stands for the cursor. With one of them, half a statement is a whole one.
const ENDS: [&str; 6] = ["", ";", " = 0;", "();", ") {}", ");"];
/// Name of the instance that makes a file a whole program.
const MAIN: &str = "main";
/// Name of this server in messages.
const SOURCE: &str = "p4sched";

/// Names and messages of a document; `None` after a fault of the compiler.
pub fn analysed(files: &Files, name: &str, text: &str) -> Option<Names> {
    let options = Options {
        arch: architecture(text),
        ..Options::default()
    };
    catch_unwind(AssertUnwindSafe(|| names(&Input { name, text }, files, &options))).ok()
}

/// All messages of the compiler on a document: for a whole program also those of its target.
///
/// A program that compiles is read once. Else its names decide: they have the errors of a file that programs include.
pub fn compiled(files: &Files, name: &str, text: &str) -> Option<Diagnostics> {
    let options = Options {
        arch: architecture(text),
        ..Options::default()
    };
    let compiled = text
        .contains(MAIN)
        .then(|| catch_unwind(AssertUnwindSafe(|| compile(&Input { name, text }, files, &options))));
    if let Some(Ok(Ok(Compiled { warnings, .. }))) = compiled {
        return Some(warnings);
    }
    let names = analysed(files, name, text)?;
    let is_main = |(_, _, declared): &(Place, &str, String)| declared == MAIN;
    if names.messages.has_errors() || !names.declared_in(name).iter().any(is_main) {
        return Some(names.messages);
    }
    compiled?.ok()?.err()
}

/// The architecture whose include file a program names.
pub fn architecture(text: &str) -> Arch {
    let includes = |file: &str| {
        text.lines()
            .any(|line| line.trim_start().starts_with('#') && line.contains(file))
    };
    if includes("t2na.p4") {
        Arch::T2na
    } else if includes("tna.p4") || includes("tofino") {
        Arch::Tna
    } else {
        Arch::V1model
    }
}

/// Messages by file. Those on the include files of the compiler, and on no place, are at the start of the document.
pub fn messages(diagnostics: &Diagnostics, document: &str) -> BTreeMap<String, Vec<lsp_types::Diagnostic>> {
    let mut found = BTreeMap::from([(document.to_owned(), Vec::new())]);
    for message in diagnostics.iter() {
        let position = message.position.as_ref();
        let (file, range) = match position {
            Some(at) if crate::files::uri_of(&at.file).is_some() => (at.file.as_str(), range_of(message)),
            _ => (document, Range::default()),
        };
        found.entry(file.to_owned()).or_default().push(lsp_types::Diagnostic {
            range,
            severity: Some(match message.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
            }),
            code: message
                .class
                .map(|class| lsp_types::NumberOrString::String(class.to_owned())),
            source: Some(SOURCE.to_owned()),
            message: message.message.clone(),
            ..lsp_types::Diagnostic::default()
        });
    }
    found
}

fn range_of(message: &Diagnostic) -> Range {
    let Some(at) = &message.position else {
        return Range::default();
    };
    let line = message.line.as_deref().unwrap_or("");
    let before: String = line.chars().take(at.column as usize - 1).collect();
    let marked: String = line.chars().skip(at.column as usize - 1).take(message.width).collect();
    let start = units(&before);
    let end = start + units(&marked);
    Range::new(Position::new(at.line - 1, start), Position::new(at.line - 1, end))
}

/// Range of a place.
pub fn range(place: &Place) -> Range {
    Range::new(
        Position::new(place.line, place.start),
        Position::new(place.line, place.end),
    )
}

/// Names that fit at a position of a document, and the range of the word before it that they replace.
pub fn fitting(files: &Files, name: &str, text: &str, at: Position) -> (Range, Vec<Fitting>) {
    let Some((word, cursor)) = word_before(text, at) else {
        return (Range::new(at, at), Vec::new());
    };
    let range = Range::new(Position::new(at.line, at.character - units(&text[word..cursor])), at);
    let mut found: Vec<Fitting> = Vec::new();
    for end in ENDS {
        let asked = format!("{}{PLACEHOLDER}{end}{}", &text[..word], rest(&text[cursor..]));
        let names = analysed(files, name, &asked);
        found.extend(names.iter().flat_map(|names| names.fitting().iter().cloned()));
        if !found.is_empty() {
            break;
        }
    }
    found.retain(|each| each.name != PLACEHOLDER && !each.name.is_empty());
    found.sort();
    found.dedup_by(|a, b| a.name == b.name);
    (range, found)
}

/// The text behind the cursor, without the rest of the word there.
fn rest(text: &str) -> &str {
    text.trim_start_matches(is_of_name)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Offsets of the start of the word before a position, and of the position. `None` if there is no such position.
fn word_before(text: &str, at: Position) -> Option<(usize, usize)> {
    let start = if at.line == 0 {
        0
    } else {
        text.match_indices('\n').nth(at.line as usize - 1)?.0 + 1
    };
    let line = text[start..].split('\n').next().unwrap_or("");
    let mut left = at.character;
    let mut cursor = start;
    for c in line.chars() {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(c.len_utf16() as u32);
        cursor += c.len_utf8();
    }
    let word = text[start..cursor].trim_end_matches(is_of_name).len() + start;
    Some((word, cursor))
}
