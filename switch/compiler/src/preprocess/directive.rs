//! Lines that start with `#`.

use super::{MAX_INCLUDE_DEPTH, Macro, Preprocessor, condition::Conditions};
use crate::{
    diagnostics::suggestion,
    include::declared_by,
    source::{FileId, Span},
    syntax::token::{Symbol, Tok, Token},
};

const DIRECTIVES: &[&str] = &[
    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning", "line",
    "pragma",
];

impl Preprocessor<'_> {
    pub(super) fn directive(&mut self, file: FileId, line: &[Token], conditions: &mut Conditions, depth: usize) {
        let Some(Token {
            tok: Tok::Word(name),
            span,
            ..
        }) = line.get(1)
        else {
            // A lone '#' is an empty directive; '# 12 "file"' is a line mark of another preprocessor.
            return;
        };
        let rest = &line[2..];
        match &**name {
            "if" => {
                let value = conditions.active() && self.condition(rest, *span);
                conditions.open(line[0].span.to(*span), value);
            }
            "ifdef" | "ifndef" => {
                let defined = self
                    .macro_name(rest, *span)
                    .is_some_and(|n| self.macros.contains_key(&n));
                conditions.open(line[0].span.to(*span), defined == (&**name == "ifdef"));
            }
            "elif" => {
                let value = conditions.wants_elif() && self.condition(rest, *span);
                if let Err(message) = conditions.elif(value) {
                    self.reporter.error(*span, message);
                }
            }
            "else" | "endif" => {
                let result = if &**name == "else" {
                    conditions.otherwise()
                } else {
                    conditions.close()
                };
                if let Err(message) = result {
                    self.reporter.error(*span, message);
                }
            }
            _ if !conditions.active() => {}
            "include" => self.include(file, rest, *span, depth),
            "define" => self.define(rest, *span),
            "undef" => {
                if let Some(name) = self.macro_name(rest, *span) {
                    self.macros.remove(&name);
                }
            }
            "error" | "warning" => {
                let text = self.raw(file, rest);
                let text = text.trim().trim_matches('"').to_owned();
                if &**name == "error" {
                    self.reporter.error(*span, format!("#error {text}"));
                } else {
                    self.reporter.warning("preprocessor", *span, format!("#warning {text}"));
                }
            }
            "line" | "pragma" => {}
            other => {
                let hint = suggestion(other, DIRECTIVES.iter().copied(), "there are");
                self.reporter.error(*span, format!("no directive '#{other}'{hint}"));
            }
        }
    }

    /// The source text that the tokens cover.
    fn raw(&self, file: FileId, tokens: &[Token]) -> String {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return String::new();
        };
        let base = self.map.base(file);
        let range = (first.span.start - base) as usize..(last.span.end - base) as usize;
        self.map.text(file).get(range).unwrap_or("").to_owned()
    }

    fn macro_name(&mut self, rest: &[Token], span: Span) -> Option<Symbol> {
        match rest.first() {
            Some(Token {
                tok: Tok::Word(name), ..
            }) => Some(name.clone()),
            _ => {
                self.reporter.error(span, "the name of a macro is missing");
                None
            }
        }
    }

    fn define(&mut self, rest: &[Token], span: Span) {
        let Some(name) = self.macro_name(rest, span) else {
            return;
        };
        let rest = &rest[1..];
        // A parameter list follows the name without a space; otherwise the parenthesis belongs to the body.
        let function_like = rest.first().is_some_and(|t| t.tok == Tok::Punct("(") && t.joined);
        let (parameters, body) = if function_like {
            let Some((parameters, used)) = parameters(rest) else {
                self.reporter.error(
                    span,
                    format!("the parameters of macro '{name}' must be names between commas"),
                );
                return;
            };
            (Some(parameters), &rest[used..])
        } else {
            (None, rest)
        };
        self.macros.insert(
            name,
            Macro {
                parameters,
                body: body.to_vec(),
            },
        );
    }

    fn include(&mut self, file: FileId, rest: &[Token], span: Span, depth: usize) {
        let (path, angled) = match rest.first().map(|t| &t.tok) {
            Some(Tok::Str(path)) => (path.to_string(), false),
            Some(Tok::Punct("<")) => {
                let raw = self.raw(file, rest);
                let Some(end) = raw.find('>') else {
                    self.reporter.error(span, "#include <file without '>'");
                    return;
                };
                (raw[1..end].to_owned(), true)
            }
            _ => {
                self.reporter.error(span, "#include takes \"file\" or <file>");
                return;
            }
        };
        let place = rest[0].span;
        if depth >= MAX_INCLUDE_DEPTH {
            self.reporter.error(
                place,
                format!("files include each other more than {MAX_INCLUDE_DEPTH} deep"),
            );
            return;
        }
        if let Some(other) = declared_by(&path).filter(|other| *other != self.arch) {
            let message = format!(
                "this program is written for {0}; it is compiled with --arch {0}, not {1}",
                other.name(),
                self.arch.name()
            );
            self.reporter.error(place, message);
            return;
        }
        let Some((name, text)) = self.resolver.include(&path, self.map.name(file), angled) else {
            let places = if angled {
                "the -I directories"
            } else {
                "the folder of this file or in the -I directories"
            };
            self.reporter.error(place, format!("no file '{path}' in {places}"));
            return;
        };
        match self.map.add(&name, text) {
            Some(included) => self.file(included, depth + 1),
            None => self
                .reporter
                .error(place, "the program and its included files are too large"),
        }
    }
}

/// The parameters between `(` at the start of `rest` and its `)`, and the number of tokens used.
fn parameters(rest: &[Token]) -> Option<(Vec<Symbol>, usize)> {
    let close = rest.iter().position(|t| t.tok == Tok::Punct(")"))?;
    let mut names = Vec::new();
    if close > 1 {
        for piece in rest[1..close].split(|t| t.tok == Tok::Punct(",")) {
            let [
                Token {
                    tok: Tok::Word(name), ..
                },
            ] = piece
            else {
                return None;
            };
            names.push(name.clone());
        }
    }
    Some((names, close + 1))
}
