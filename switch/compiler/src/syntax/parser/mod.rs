//! Turns tokens into syntax trees, by recursive descent.
//!
//! P4's grammar depends on whether a name is a type. For each name in scope, the parser knows only whether it is a type
//! or a value.

mod annotation;
mod block;
mod decl;
mod expr;
mod stmt;
mod types;

use std::collections::HashMap;

use super::{
    ast::{Decl, Ident},
    token::{KEYWORDS, SOFT_KEYWORDS, Symbol, Tok, Token},
};
use crate::{diagnostics::Reporter, source::Span};

/// A failed rule has reported its error.
type Parsed<T> = Result<T, Failed>;

/// A rule failed to parse; its error has been reported.
#[derive(Debug)]
pub struct Failed;

/// Deepest nesting of types, expressions, statements.
const MAX_DEPTH: usize = 200;

/// Declarations of a program. Errors go to `reporter`; the declarations without errors are returned anyway.
pub(crate) fn parse(tokens: &[Token], reporter: &mut Reporter) -> Vec<Decl> {
    let mut parser = Parser {
        tokens,
        at: 0,
        reporter,
        scopes: vec![HashMap::new()],
        depth: 0,
        quiet: false,
        in_expr: 0,
        operators: 0,
    };
    parser.program()
}

/// The parser's knowledge of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameKind {
    Type,
    Value,
}

/// Types from the headers of the language and of the architecture.
const CORE_TYPES: [&str; 2] = ["packet_in", "packet_out"];
const V1MODEL_TYPES: [&str; 9] = [
    "standard_metadata_t",
    "counter",
    "direct_counter",
    "meter",
    "direct_meter",
    "register",
    "action_profile",
    "action_selector",
    "V1Switch",
];

const TOFINO_TYPES: [&str; 31] = [
    "ingress_intrinsic_metadata_t",
    "ingress_intrinsic_metadata_for_tm_t",
    "ingress_intrinsic_metadata_from_parser_t",
    "ingress_intrinsic_metadata_for_deparser_t",
    "egress_intrinsic_metadata_t",
    "egress_intrinsic_metadata_from_parser_t",
    "egress_intrinsic_metadata_for_deparser_t",
    "egress_intrinsic_metadata_for_output_port_t",
    "PortId_t",
    "QueueId_t",
    "MulticastGroupId_t",
    "MirrorId_t",
    "Register",
    "RegisterAction",
    "DirectRegister",
    "DirectRegisterAction",
    "Counter",
    "DirectCounter",
    "Meter",
    "DirectMeter",
    "Hash",
    "CRCPolynomial",
    "Random",
    "Checksum",
    "Mirror",
    "Resubmit",
    "Digest",
    "ActionProfile",
    "ActionSelector",
    "Pipeline",
    "Switch",
];

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    reporter: &'a mut Reporter,
    scopes: Vec<HashMap<Symbol, NameKind>>,
    depth: usize,
    /// True while the parser tries a rule: errors are not reported.
    quiet: bool,
    /// Number of expressions around this place, and number of operators in the outermost one.
    in_expr: usize,
    operators: usize,
}

impl Parser<'_> {
    fn program(&mut self) -> Vec<Decl> {
        let mut list = Vec::new();
        while self.peek() != &Tok::End {
            if self.eat(";") {
                continue;
            }
            let before = self.at;
            match self.declaration() {
                Ok(decl) => list.push(decl),
                Err(Failed) => self.skip_declaration(before),
            }
            if self.reporter.is_full() {
                break;
            }
        }
        list
    }

    /// After an error, skips to the likely start of the next top-level declaration.
    fn skip_declaration(&mut self, before: usize) {
        self.scopes.truncate(1);
        if self.at == before {
            self.advance();
        }
        const STARTS: &[&str] = &[
            "header",
            "struct",
            "control",
            "parser",
            "extern",
            "typedef",
            "const",
            "enum",
            "package",
            "action",
            "header_union",
            "error",
            "match_kind",
        ];
        while self.peek() != &Tok::End {
            let token = &self.tokens[self.at];
            // Declarations nested in the broken one are indented; top-level ones are not.
            let starts = matches!(&token.tok, Tok::Word(w) if STARTS.contains(&&**w));
            if starts && token.starts_line && !self.is_nested_start() {
                return;
            }
            self.advance();
        }
    }

    /// True if the word here is inside braces that were opened after the last top-level start, judging by the text
    /// before it.
    fn is_nested_start(&self) -> bool {
        let previous = self.at.checked_sub(1).map(|i| &self.tokens[i].tok);
        let nested_kind = matches!(self.peek(), Tok::Word(w) if matches!(&**w, "action" | "const" | "error"));
        nested_kind || !matches!(previous, Some(Tok::Punct("}" | ";" | ")" | "]")))
    }

    fn peek(&self) -> &Tok {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Tok {
        self.tokens.get(self.at + ahead).map_or(&Tok::End, |t| &t.tok)
    }

    fn span(&self) -> Span {
        self.tokens
            .get(self.at)
            .or(self.tokens.last())
            .map_or(Span::default(), |t| t.span)
    }

    fn previous_span(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::default(), |i| self.tokens[i].span)
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is(&self, punct: &str) -> bool {
        matches!(self.peek(), Tok::Punct(p) if *p == punct)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Word(w) if &**w == word)
    }

    fn eat(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn error_at<T>(&mut self, span: Span, message: impl Into<String>) -> Parsed<T> {
        if !self.quiet {
            self.reporter.error(span, message);
        }
        Err(Failed)
    }

    /// Reports that `wanted` was expected here.
    fn expected<T>(&mut self, wanted: &str) -> Parsed<T> {
        let found = self.peek().clone();
        match found {
            Tok::Bad(_, message) => self.error_at(self.span(), message.to_string()),
            // A missing separator is an error in the line before, not in the word found.
            found if self.tokens[self.at].starts_line && self.at > 0 && matches!(wanted, "';'" | "','") => {
                let end = self.previous_span().end;
                let span = Span {
                    start: end.saturating_sub(1),
                    end,
                };
                self.error_at(span, format!("{wanted} expected after this, not {found}"))
            }
            found => {
                let hint = self.missing_include(&found);
                self.error_at(self.span(), format!("{wanted} expected, not {found}{hint}"))
            }
        }
    }

    /// Hint about a missing include, if the word is an undeclared type of the architecture.
    fn missing_include(&self, found: &Tok) -> String {
        let Tok::Word(name) = found else {
            return String::new();
        };
        let declared = self.scopes.iter().any(|scope| scope.contains_key(name));
        let files = [
            ("core.p4", &CORE_TYPES[..]),
            ("v1model.p4", &V1MODEL_TYPES[..]),
            ("tna.p4", &TOFINO_TYPES[..]),
        ];
        let file = files.into_iter().find(|(_, types)| types.contains(&&**name));
        match file {
            Some((file, _)) if !declared => format!("; is #include <{file}> missing?"),
            _ => String::new(),
        }
    }

    fn expect(&mut self, punct: &str) -> Parsed<Span> {
        let span = self.span();
        if self.eat(punct) {
            Ok(span)
        } else {
            self.expected(&format!("'{punct}'"))
        }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            self.expected(&format!("'{word}'"))
        }
    }

    /// Reads a name: any word that is not a keyword.
    fn ident(&mut self, what: &str) -> Parsed<Ident> {
        let span = self.span();
        match self.peek().clone() {
            Tok::Word(name) if !KEYWORDS.contains(&&*name) || SOFT_KEYWORDS.contains(&&*name) => {
                self.advance();
                Ok(Ident { name, span })
            }
            Tok::Word(name) => self.error_at(span, format!("{what} expected, but '{name}' is a keyword")),
            _ => self.expected(what),
        }
    }

    /// Reads a name after a dot or of an annotation, which may be a keyword.
    fn any_word(&mut self, what: &str) -> Parsed<Ident> {
        let span = self.span();
        let Tok::Word(name) = self.peek().clone() else {
            return self.expected(what);
        };
        self.advance();
        Ok(Ident { name, span })
    }

    /// Runs `rule` one level deeper. The limit prevents a stack overflow.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.error_at(self.span(), format!("nested more than {MAX_DEPTH} levels deep"));
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Runs `rule` in a new scope of names.
    fn scoped<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.scopes.push(HashMap::new());
        let depth = self.scopes.len();
        let result = rule(self);
        self.scopes.truncate(depth - 1);
        result
    }

    fn declare(&mut self, name: &Symbol, kind: NameKind) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.clone(), kind);
        }
    }

    fn is_type_name(&self, name: &Symbol) -> bool {
        self.scopes.iter().rev().find_map(|s| s.get(name)) == Some(&NameKind::Type)
    }

    /// Result of `rule` if it succeeds. Otherwise restores the position and reports nothing.
    fn attempt<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Option<T> {
        let (at, quiet) = (self.at, self.quiet);
        self.quiet = true;
        let result = rule(self);
        self.quiet = quiet;
        if result.is_err() {
            self.at = at;
        }
        result.ok()
    }

    /// Reads `{`, then items up to `}`.
    fn braced<T>(&mut self, mut rule: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let open = self.expect("{")?;
        let mut list = Vec::new();
        while !self.eat("}") {
            if self.peek() == &Tok::End {
                return self.error_at(open, "'{' without '}'");
            }
            list.push(rule(self)?);
        }
        Ok(list)
    }

    /// Reads items separated by commas, up to `close`, which is consumed. A comma may follow the last item.
    fn separated<T>(&mut self, close: &str, mut rule: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        while !self.eat(close) {
            list.push(rule(self)?);
            if !self.eat(",") {
                if !self.is(close) {
                    return self.expected(&format!("',' or '{close}'"));
                }
                self.advance();
                break;
            }
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests;
