//! Expansion of macros, one token at a time. The result of a macro is read again. Until its end, it is in a context
//! above the files. A macro is not expanded within its own contexts.

use std::rc::Rc;

use super::{
    MAX_CALL_DEPTH, Preprocessor,
    define::{Builtin, Definition, Macro},
    piece::{Kind, Piece},
    read::Seeking,
    replace::Argument,
};
use crate::{source::Span, syntax::token::Symbol};

/// Tokens that are read before those of the files.
pub(super) struct Context {
    pub pieces: Vec<Piece>,
    pub at: usize,
    /// Macro that is disabled in this context.
    name: Option<Symbol>,
    /// Place where this macro is used.
    used: Span,
    /// True for an argument: reading stops at its end.
    closed: bool,
}

impl Preprocessor<'_> {
    /// The next token with macros expanded.
    pub(super) fn next(&mut self) -> Piece {
        loop {
            if self.stopped {
                return Piece::end(Span::default());
            }
            let mut piece = match self.contexts.last_mut() {
                None => self.read(),
                Some(context) => match context.pieces.get(context.at).cloned() {
                    Some(piece) => {
                        context.at += 1;
                        piece
                    }
                    None if context.closed => return Piece::end(Span::default()),
                    None => {
                        self.pop();
                        match self.line {
                            Some(_) => continue,
                            None => return Piece::padding(None),
                        }
                    }
                },
            };
            self.works(1, piece.span);
            let white = piece.white;
            if piece.pastes {
                self.paste(piece);
            } else {
                if piece.kind != Kind::Name || piece.fixed || !self.macros.contains_key(&piece.text) {
                    return piece;
                }
                if self.disabled.contains(&piece.text) {
                    piece.fixed = true;
                    return piece;
                }
                if self.quiet > 0 || !self.enter(&piece) {
                    return piece;
                }
            }
            if self.line.is_none() {
                return Piece::padding(Some(white));
            }
        }
    }

    pub(super) fn push(&mut self, pieces: Vec<Piece>) {
        self.contexts.push(Context {
            pieces,
            at: 0,
            name: None,
            used: Span::default(),
            closed: false,
        });
    }

    fn pop(&mut self) {
        if let Some(name) = self.contexts.pop().and_then(|context| context.name) {
            self.disabled.remove(&name);
        }
    }

    /// Replaces the name of a macro by its expansion. False if the name stays.
    fn enter(&mut self, name: &Piece) -> bool {
        let definition = match self.macros.get(&name.text) {
            Some(Definition::Macro(definition)) => Rc::clone(definition),
            Some(Definition::Builtin(builtin)) => return self.builtin(*builtin, name),
            None => return false,
        };
        let body = if definition.parameters.is_some() {
            let Some(arguments) = self.invocation(name, &definition) else {
                return false;
            };
            self.replace(&definition, arguments, name.span)
        } else {
            let used = |piece: &Piece| Piece {
                span: name.span,
                ..piece.clone()
            };
            definition.body.iter().map(used).collect()
        };
        self.disabled.insert(Rc::clone(&name.text));
        self.contexts.push(Context {
            pieces: body,
            at: 0,
            name: Some(Rc::clone(&name.text)),
            used: name.span,
            closed: false,
        });
        true
    }

    /// Arguments after the name of a macro, if a parenthesis follows.
    fn invocation(&mut self, name: &Piece, definition: &Macro) -> Option<Vec<Argument>> {
        self.quiet += 1;
        self.seeking = Seeking::Parenthesis;
        let mut padding: Option<Piece> = None;
        let next = loop {
            let next = self.next();
            match next.kind {
                Kind::Padding(source) if padding.is_none() || source.is_none() => padding = Some(next),
                Kind::Padding(_) => {}
                _ => break next,
            }
        };
        let arguments = if next.is("(") {
            self.seeking = Seeking::Arguments;
            self.arguments(name, definition)
        } else {
            if next.kind != Kind::End {
                self.back();
            }
            if let Some(padding) = padding.filter(|_| next.kind != Kind::End || !self.contexts.is_empty()) {
                self.push(vec![padding]);
            }
            None
        };
        self.seeking = Seeking::Nothing;
        self.quiet -= 1;
        arguments
    }

    fn arguments(&mut self, name: &Piece, definition: &Macro) -> Option<Vec<Argument>> {
        let parameters = definition.parameters.as_ref().map_or(0, Vec::len);
        let mut list: Vec<Vec<Piece>> = Vec::new();
        loop {
            let rest = definition.variadic && list.len() + 1 == parameters;
            let (argument, end) = self.argument(rest);
            list.push(argument);
            if end.kind == Kind::End {
                if !self.stopped {
                    let message = format!("call of macro '{}' without ')'", name.text);
                    self.reporter.error(name.span, message);
                }
                return None;
            }
            if end.is(")") {
                break;
            }
        }
        if parameters == 0 && matches!(&list[..], [only] if only.is_empty()) {
            list.clear();
        }
        let given = list.len();
        if given != parameters && !(definition.variadic && given + 1 == parameters) {
            let message = format!("macro '{}' takes {parameters} argument(s), not {given}", name.text);
            self.reporter.error(name.span, message);
            return None;
        }
        let nothing = given == 1 && list[0].is_empty();
        let omitted = definition.variadic && (given < parameters || nothing);
        list.resize_with(parameters, Vec::new);
        let mut arguments: Vec<Argument> = list.into_iter().map(Argument::new).collect();
        if let Some(last) = arguments.last_mut() {
            last.omitted = omitted;
        }
        Some(arguments)
    }

    /// Reads one argument and its end. With `rest`, the argument contains all further commas.
    fn argument(&mut self, rest: bool) -> (Vec<Piece>, Piece) {
        let mut argument: Vec<Piece> = Vec::new();
        let mut depth = 0usize;
        let end = loop {
            let piece = self.next();
            if piece.is_padding() && argument.is_empty() {
                continue;
            }
            if piece.is("(") {
                depth += 1;
            } else if piece.is(")") {
                match depth.checked_sub(1) {
                    Some(outer) => depth = outer,
                    None => break piece,
                }
            } else if piece.is(",") && depth == 0 && !rest || piece.kind == Kind::End || piece.first && piece.is("#") {
                break piece;
            }
            argument.push(piece);
        };
        while argument.last().is_some_and(Piece::is_padding) {
            argument.pop();
        }
        (argument, end)
    }

    /// An argument with its macros expanded.
    pub(super) fn expanded(&mut self, argument: &[Piece], at: Span) -> Vec<Piece> {
        self.through(argument, at, 0)
    }

    /// Executes `##` between tokens, without expanding macros.
    pub(super) fn joined(&mut self, pieces: &[Piece], at: Span) -> Vec<Piece> {
        self.through(pieces, at, 1)
    }

    fn through(&mut self, argument: &[Piece], at: Span, quiet: usize) -> Vec<Piece> {
        if argument.is_empty() || self.stopped {
            return Vec::new();
        }
        if self.calls == MAX_CALL_DEPTH {
            let message = format!("macro calls are nested more than {MAX_CALL_DEPTH} deep");
            self.reporter.error(at, message);
            return Vec::new();
        }
        self.calls += 1;
        let quiet = std::mem::replace(&mut self.quiet, quiet);
        let outside = self.contexts.len();
        self.contexts.push(Context {
            pieces: argument.to_vec(),
            at: 0,
            name: None,
            used: Span::default(),
            closed: true,
        });
        let mut expanded = Vec::new();
        loop {
            let piece = self.next();
            if piece.kind == Kind::End {
                break;
            }
            expanded.push(piece);
        }
        while self.contexts.len() > outside {
            self.pop();
        }
        self.quiet = quiet;
        self.calls -= 1;
        expanded
    }

    fn builtin(&mut self, builtin: Builtin, name: &Piece) -> bool {
        // In a macro, the place is that of the outermost use.
        let outermost = self.contexts.iter().find(|context| context.name.is_some());
        let position = self
            .map
            .position_in_program(outermost.map_or(name.span, |context| context.used));
        let (kind, text) = match builtin {
            Builtin::Pragma => return self.line.is_none() && self.pragma_operator(name),
            Builtin::Line => (Kind::Number, position.map_or(0, |p| p.line).to_string()),
            Builtin::File => (Kind::Text, text_of(&position.map_or(String::new(), |p| p.file))),
            Builtin::BaseFile => {
                let main = self.files.first().map_or("", |open| self.map.name(open.file));
                (Kind::Text, text_of(main))
            }
            Builtin::IncludeLevel => (Kind::Number, self.files.len().saturating_sub(1).to_string()),
            Builtin::Counter => {
                self.counter += 1;
                (Kind::Number, (self.counter - 1).to_string())
            }
            Builtin::HasInclude | Builtin::HasIncludeNext => {
                let has = self.has_include(name, builtin == Builtin::HasIncludeNext);
                (Kind::Number, u8::from(has).to_string())
            }
        };
        self.push(vec![Piece::new(kind, &text, name.span)]);
        true
    }

    /// `_Pragma("text")`
    fn pragma_operator(&mut self, name: &Piece) -> bool {
        let mut parts = Vec::new();
        for _ in 0..3 {
            let part = loop {
                let part = self.next();
                if !part.is_padding() {
                    break part;
                }
            };
            let end = part.kind == Kind::End;
            parts.push(part);
            if end {
                break;
            }
        }
        match &parts[..] {
            [open, text, close] if open.is("(") && text.kind == Kind::Text && close.is(")") => {
                let text = text.text[1..text.text.len() - 1]
                    .replace("\\\"", "\"")
                    .replace("\\\\", "\\");
                let (mut line, _) = super::piece::pieces(&text, 0);
                line.iter_mut().for_each(|piece| piece.span = name.span);
                self.pragma(&line, name.span);
                self.push(vec![Piece::new(Kind::Break, "", name.span)]);
                true
            }
            _ => {
                self.reporter.error(name.span, "_Pragma takes a string in parentheses");
                true
            }
        }
    }
}

/// A string literal in its written form.
pub(super) fn text_of(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}
