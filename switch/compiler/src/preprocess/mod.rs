//! The preprocessor (specification section 6.1). It works like `cpp -C -undef -nostdinc -x assembler-with-cpp`, which
//! is how p4c calls the C preprocessor, and keeps the place of every token.

mod condition;
mod define;
mod directive;
mod expand;
mod expression;
mod include;
mod output;
mod piece;
mod read;
mod replace;

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use crate::{
    arch::Arch,
    diagnostics::Reporter,
    include::IncludeResolver,
    source::{FileId, SourceMap, Span},
    syntax::token::{Symbol, Tok, Token},
};
use define::Definition;
use expand::Context;
use output::Output;
use piece::{Kind, Piece};
use read::{Line, Open, Seeking};

/// A macro given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// Name of the macro, with its parameters if it has any: `NAME(x)`.
    pub name: String,
    /// Text of its expansion.
    pub text: String,
}

/// Deepest nesting of `#include`, as in GCC.
const MAX_INCLUDE_DEPTH: usize = 200;
/// Most tokens that are read and made.
const MAX_TOKENS: usize = 4_000_000;
/// Deepest nesting of macro calls in arguments of macro calls.
const MAX_CALL_DEPTH: usize = 1_000;

pub(crate) struct Preprocessor<'a> {
    map: &'a mut SourceMap,
    reporter: &'a mut Reporter,
    resolver: &'a dyn IncludeResolver,
    arch: Arch,
    macros: HashMap<Symbol, Definition>,
    /// Definitions saved by `#pragma push_macro`.
    pushed: HashMap<Symbol, Vec<Option<Definition>>>,
    poisoned: HashSet<Symbol>,
    /// Macros that are being expanded.
    disabled: HashSet<Symbol>,
    contexts: Vec<Context>,
    files: Vec<Open>,
    /// Files that were read, by name.
    known: HashMap<String, (FileId, Rc<[Piece]>)>,
    /// Texts of files that are included only once.
    once: HashSet<String>,
    /// Directive that is being read.
    line: Option<Line>,
    seeking: Seeking,
    /// While greater than 0, macros are not expanded.
    quiet: usize,
    /// Number of macro calls around the current one.
    calls: usize,
    /// Next value of `__COUNTER__`.
    counter: u64,
    /// Tokens read and made so far.
    work: usize,
    stopped: bool,
    out: Output,
}

pub(crate) struct Preprocessed {
    pub text: String,
    /// The same program as tokens; the last one is [`Tok::End`].
    pub tokens: Vec<Token>,
}

/// Text of the main file and its included files, with macros expanded.
pub(crate) fn preprocess(
    main: FileId,
    arch: Arch,
    defines: &[Define],
    resolver: &dyn IncludeResolver,
    map: &mut SourceMap,
    reporter: &mut Reporter,
) -> Preprocessed {
    let mut p = Preprocessor {
        map,
        reporter,
        resolver,
        arch,
        macros: define::builtins(),
        pushed: HashMap::new(),
        poisoned: HashSet::new(),
        disabled: HashSet::new(),
        contexts: Vec::new(),
        files: Vec::new(),
        known: HashMap::new(),
        once: HashSet::new(),
        line: None,
        seeking: Seeking::Nothing,
        quiet: 0,
        calls: 0,
        counter: 0,
        work: 0,
        stopped: false,
        out: Output::default(),
    };
    match arch.tofino() {
        Some(generation) => p.define_from_command_line("__TARGET_TOFINO__", &generation.to_string()),
        None => p.define_from_command_line("__TARGET_BMV2__", "1"),
    }
    for define in defines {
        p.define_from_command_line(&define.name, &define.text);
    }
    p.open(main);
    loop {
        let piece = p.next();
        if piece.kind == Kind::End {
            break;
        }
        p.out.piece(&piece);
    }
    let (text, mut tokens) = p.out.finish(p.map);
    tokens.push(Token {
        tok: Tok::End,
        span: p.map.end_of_program(),
        starts_line: true,
        joined: false,
    });
    Preprocessed { text, tokens }
}

impl Preprocessor<'_> {
    fn define_from_command_line(&mut self, name: &str, text: &str) {
        let text = format!("{name} {text}");
        let Some(file) = self.map.add("<command line>", text) else {
            return;
        };
        let (pieces, _) = piece::pieces(self.map.text(file), self.map.base(file));
        self.define(&pieces, Span::default());
    }

    /// Counts tokens; reports once if there are too many.
    fn works(&mut self, tokens: usize, at: Span) {
        self.work = self.work.saturating_add(tokens);
        if self.work > MAX_TOKENS && !self.stopped {
            self.stopped = true;
            self.reporter.error(
                at,
                format!("macros and included files make more than {MAX_TOKENS} tokens"),
            );
        }
    }
}

#[cfg(test)]
mod tests;
