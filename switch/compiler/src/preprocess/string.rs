//! String literals over several lines: `#if` and its relatives choose among their lines too, as with the C preprocessor, which
//! takes such a literal for lines of text.

use super::{Preprocessor, condition::Conditions};
use crate::{
    source::FileId,
    syntax::{
        lexer,
        token::{Tok, Token},
    },
};

const CONDITIONALS: [&str; 6] = ["if", "ifdef", "ifndef", "elif", "else", "endif"];

fn is_conditional(line: &str) -> bool {
    let word = line.trim_start().strip_prefix('#').map(str::trim_start);
    let word = word.map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next());
    word.flatten().is_some_and(|word| CONDITIONALS.contains(&word))
}

impl Preprocessor<'_> {
    /// The token; of a string without the lines that conditions in it skip. Their places, and the conditions, are empty lines.
    pub(super) fn chosen_lines(&mut self, file: FileId, token: &Token, depth: usize) -> Token {
        let text = self.map.snippet(token.span).to_owned();
        if !matches!(token.tok, Tok::Str(_)) || !text.lines().skip(1).any(is_conditional) {
            return token.clone();
        }
        let mut conditions = Conditions::default();
        let mut kept = Vec::new();
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 && is_conditional(line) {
                let line = lexer::tokens(line, token.span.start);
                self.directive(file, &line, &mut conditions, depth);
                kept.push("");
            } else {
                kept.push(if conditions.active() { line } else { "" });
            }
        }
        if conditions.unclosed().is_some() {
            self.reporter.error(token.span, "#if without #endif in a string");
        }
        let again = lexer::tokens(&kept.join("\n"), token.span.start);
        let tok = again.into_iter().next().map_or(token.tok.clone(), |first| first.tok);
        Token { tok, ..token.clone() }
    }
}
