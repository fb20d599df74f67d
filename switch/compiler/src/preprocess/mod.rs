//! The preprocessor (specification section 6.1): a subset of C's, over tokens, so that every token keeps its place.

mod condition;
mod directive;
mod macros;
mod string;

use std::collections::HashMap;

use crate::{
    arch::Arch,
    diagnostics::Reporter,
    source::{FileId, SourceMap, Span},
    syntax::{
        lexer,
        token::{Symbol, Tok, Token},
    },
};

/// Where included files come from.
pub trait IncludeResolver: Sync {
    /// The name and text of the file that `#include` of `path` means in the file `from`; `None` if there is none.
    /// `angled` is true for `<path>`, false for `"path"`.
    fn include(&self, path: &str, from: &str, angled: bool) -> Option<(String, String)>;
}

/// A macro given on the command line: its name, and its text (`1` if none is given).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// Name of the macro.
    pub name: String,
    /// What it expands to.
    pub text: String,
}

/// Deepest nesting of `#include`, of macro expansion, and most tokens that expansion may make.
const MAX_INCLUDE_DEPTH: usize = 64;
const MAX_TOKENS: usize = 4_000_000;

/// A `#define`.
#[derive(Clone)]
pub(crate) struct Macro {
    /// Names of the parameters; `None` for an object-like macro.
    pub parameters: Option<Vec<Symbol>>,
    pub body: Vec<Token>,
}

pub(crate) struct Preprocessor<'a> {
    map: &'a mut SourceMap,
    reporter: &'a mut Reporter,
    resolver: &'a dyn IncludeResolver,
    arch: Arch,
    macros: HashMap<Symbol, Macro>,
    out: Vec<Token>,
    produced: usize,
}

/// The tokens of the main file and of all it includes, macros expanded; the last one is [`Tok::End`].
pub(crate) fn preprocess(
    main: FileId,
    arch: Arch,
    defines: &[Define],
    resolver: &dyn IncludeResolver,
    map: &mut SourceMap,
    reporter: &mut Reporter,
) -> Vec<Token> {
    let mut p = Preprocessor {
        map,
        reporter,
        resolver,
        arch,
        macros: HashMap::new(),
        out: Vec::new(),
        produced: 0,
    };
    if let Some(generation) = arch.tofino() {
        p.define_from_command_line("__TARGET_TOFINO__", &generation.to_string());
    }
    for define in defines {
        p.define_from_command_line(&define.name, &define.text);
    }
    p.file(main, 0);
    p.out.push(Token {
        tok: Tok::End,
        span: p.map.end_of_program(),
        starts_line: true,
        joined: false,
    });
    p.out
}

impl Preprocessor<'_> {
    fn define_from_command_line(&mut self, name: &str, text: &str) {
        let text = if text.is_empty() { "1" } else { text };
        let Some(file) = self.map.add("<command line>", text.to_owned()) else {
            return;
        };
        let body = lexer::tokens(text, self.map.base(file));
        self.macros.insert(name.into(), Macro { parameters: None, body });
    }

    fn file(&mut self, file: FileId, depth: usize) {
        let tokens = lexer::tokens(self.map.text(file), self.map.base(file));
        let mut conditions = condition::Conditions::default();
        let mut text: Vec<Token> = Vec::new();
        for line in tokens.chunk_by(|_, next| !next.starts_line) {
            let directive = line[0].tok == Tok::Punct("#") && line[0].starts_line && is_directive(line);
            if directive {
                self.emit(std::mem::take(&mut text));
                self.directive(file, line, &mut conditions, depth);
            } else if conditions.active() {
                text.extend(line.iter().map(|token| self.chosen_lines(file, token, depth)));
            }
            if self.too_long(line[0].span) {
                return;
            }
        }
        let last = text.last().map(|t| t.span);
        self.emit(text);
        if last.is_some_and(|span| self.too_long(span)) {
            return;
        }
        if let Some(open) = conditions.unclosed() {
            self.reporter.error(open, "#if without #endif");
        }
    }

    fn too_long(&mut self, at: Span) -> bool {
        let over = self.produced + self.out.len() > MAX_TOKENS;
        if over {
            self.reporter.error(
                at,
                format!("macros and included files make more than {MAX_TOKENS} tokens"),
            );
        }
        over
    }

    fn emit(&mut self, text: Vec<Token>) {
        let expanded = self.expand(&text, &mut Vec::new());
        self.out.extend(expanded);
    }
}

/// `#` starts a directive only before a word: `{#}` may be broken over lines.
fn is_directive(line: &[Token]) -> bool {
    !matches!(line.get(1).map(|t| &t.tok), Some(Tok::Punct("}")))
}

#[cfg(test)]
mod tests;
