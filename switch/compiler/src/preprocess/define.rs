//! `#define`, and the predefined macros.

use std::{collections::HashMap, rc::Rc};

use super::{
    Preprocessor,
    piece::{Kind, Piece},
};
use crate::{source::Span, syntax::token::Symbol};

/// Definition of a name.
#[derive(Clone)]
pub(super) enum Definition {
    Macro(Rc<Macro>),
    Builtin(Builtin),
}

/// A macro of the program.
pub(super) struct Macro {
    /// Names of the parameters; `None` for a macro without parentheses.
    pub parameters: Option<Vec<Symbol>>,
    /// True if the last parameter takes all further arguments.
    pub variadic: bool,
    pub body: Vec<Piece>,
}

/// Macros whose value depends on their place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    Line,
    File,
    BaseFile,
    IncludeLevel,
    Counter,
    HasInclude,
    HasIncludeNext,
    Pragma,
}

const BUILTINS: [(&str, Builtin); 8] = [
    ("__LINE__", Builtin::Line),
    ("__FILE__", Builtin::File),
    ("__BASE_FILE__", Builtin::BaseFile),
    ("__INCLUDE_LEVEL__", Builtin::IncludeLevel),
    ("__COUNTER__", Builtin::Counter),
    ("__has_include", Builtin::HasInclude),
    ("__has_include_next", Builtin::HasIncludeNext),
    ("_Pragma", Builtin::Pragma),
];

/// Macros of the C preprocessor with the value 1.
const ONES: [&str; 3] = ["__STDC__", "__STDC_HOSTED__", "__ASSEMBLER__"];

const REST: &str = "__VA_ARGS__";
const OPTIONAL: &str = "__VA_OPT__";

/// Predefined macros.
pub(super) fn builtins() -> HashMap<Symbol, Definition> {
    let one = Rc::new(Macro {
        parameters: None,
        variadic: false,
        body: vec![Piece::new(Kind::Number, "1", Span::default())],
    });
    let ones = ONES
        .iter()
        .map(|name| ((*name).into(), Definition::Macro(Rc::clone(&one))));
    let placed = BUILTINS
        .iter()
        .map(|(name, builtin)| ((*name).into(), Definition::Builtin(*builtin)));
    ones.chain(placed).collect()
}

impl Preprocessor<'_> {
    /// Name after `#define` or `#undef`.
    pub(super) fn macro_name(&mut self, rest: &[Piece], span: Span) -> Option<Symbol> {
        let message = match rest.first() {
            Some(name) if name.kind != Kind::Name => format!("{} is not a name of a macro", shown(name)),
            Some(name) if *name.text == *"defined" => "'defined' cannot be a macro".to_owned(),
            Some(name) if self.poisoned.contains(&name.text) => {
                format!("'{}' is poisoned, so it cannot be used", name.text)
            }
            Some(name) => return Some(Rc::clone(&name.text)),
            None => "the name of a macro is missing".to_owned(),
        };
        self.reporter.error(rest.first().map_or(span, |p| p.span), message);
        None
    }

    pub(super) fn define(&mut self, rest: &[Piece], span: Span) {
        let Some(name) = self.macro_name(rest, span) else {
            return;
        };
        let rest = &rest[1..];
        // The parenthesis of a parameter list follows the name directly; otherwise it belongs to the body.
        let function_like = rest.first().is_some_and(|p| p.is("(") && !p.white);
        let mut parameters = Parameters::default();
        let mut body = rest;
        if function_like {
            match parameters.read(&rest[1..]) {
                Some(used) => body = &rest[1 + used..],
                None => {
                    let message = format!("the parameters of macro '{name}' must be names between commas");
                    return self.reporter.error(span, message);
                }
            }
        }
        let made = Body {
            parameters: function_like.then_some(&parameters),
        };
        match made.read(body) {
            Ok(body) => {
                let definition = Macro {
                    parameters: function_like.then_some(parameters.names),
                    variadic: parameters.variadic,
                    body,
                };
                self.warn_of_another(&name, &definition, span);
                self.macros.insert(name, Definition::Macro(Rc::new(definition)));
            }
            Err((at, message)) => self.reporter.error(at, format!("in macro '{name}': {message}")),
        }
    }

    fn warn_of_another(&mut self, name: &Symbol, definition: &Macro, span: Span) {
        let same = match self.macros.get(name) {
            None => true,
            Some(Definition::Builtin(_)) => false,
            Some(Definition::Macro(known)) => known.same(definition),
        };
        if !same {
            let message = format!("macro '{name}' is defined again, with another meaning");
            self.reporter.warning("preprocessor", span, message);
        }
    }
}

impl Macro {
    /// True if both definitions have the same text, except for the number of blanks.
    fn same(&self, other: &Macro) -> bool {
        self.parameters == other.parameters && self.variadic == other.variadic && alike(&self.body, &other.body)
    }
}

fn alike(a: &[Piece], b: &[Piece]) -> bool {
    let pair = |(a, b): (&Piece, &Piece)| {
        let kinds = match (&a.kind, &b.kind) {
            (Kind::Optional(a), Kind::Optional(b)) => alike(a, b),
            (a, b) => a == b,
        };
        kinds && a.text == b.text && (a.white, a.pastes, a.quoted) == (b.white, b.pastes, b.quoted)
    };
    a.len() == b.len() && a.iter().zip(b).all(pair)
}

/// Form of a token in messages.
pub(super) fn shown(piece: &Piece) -> String {
    match piece.kind {
        Kind::Text | Kind::Number => piece.text.to_string(),
        _ => format!("'{}'", piece.text),
    }
}

#[derive(Default)]
struct Parameters {
    names: Vec<Symbol>,
    variadic: bool,
}

impl Parameters {
    /// Reads up to `)`. Returns the number of tokens read, or `None` if they are not a list of parameters.
    fn read(&mut self, pieces: &[Piece]) -> Option<usize> {
        if pieces.first()?.is(")") {
            return Some(1);
        }
        let mut at = 0;
        loop {
            let piece = pieces.get(at)?;
            let name = if piece.is("...") {
                self.variadic = true;
                REST.into()
            } else if piece.kind == Kind::Name {
                at += 1;
                self.variadic = pieces.get(at)?.is("...");
                Rc::clone(&piece.text)
            } else {
                return None;
            };
            at += usize::from(self.variadic);
            if self.names.contains(&name) {
                return None;
            }
            self.names.push(name);
            match pieces.get(at)? {
                end if end.is(")") => return Some(at + 1),
                comma if comma.is(",") && !self.variadic => at += 1,
                _ => return None,
            }
        }
    }
}

/// Reads the body of a macro.
struct Body<'a> {
    /// `None` for a macro without parentheses.
    parameters: Option<&'a Parameters>,
}

type MacroError = (Span, &'static str);

impl Body<'_> {
    fn read(&self, pieces: &[Piece]) -> Result<Vec<Piece>, MacroError> {
        let mut body: Vec<Piece> = Vec::with_capacity(pieces.len());
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            at += 1;
            if piece.is("##") {
                let Some(left) = body.last_mut().filter(|_| at < pieces.len()) else {
                    return Err((piece.span, "'##' has nothing to join at one of its sides"));
                };
                left.pastes = true;
                continue;
            }
            let mut piece = Piece {
                first: false,
                white: piece.white && at > 1,
                ..piece.clone()
            };
            if let Some(parameters) = self.parameters {
                if piece.kind == Kind::Name && *piece.text == *OPTIONAL && parameters.variadic {
                    let length = optional(&pieces[at..]).ok_or((piece.span, "__VA_OPT__ needs text in parentheses"))?;
                    let inner = &pieces[at + 1..at + length - 1];
                    if let Some(again) = inner.iter().find(|p| *p.text == *OPTIONAL) {
                        return Err((again.span, "__VA_OPT__ within __VA_OPT__"));
                    }
                    piece.kind = Kind::Optional(self.read(inner)?.into());
                    at += length;
                } else if let Some(k) = parameters.names.iter().position(|n| *n == piece.text) {
                    piece.kind = Kind::Parameter(k);
                }
                let takes = matches!(piece.kind, Kind::Parameter(_) | Kind::Optional(_));
                if let Some(hash) = body.pop_if(|last| takes && last.is("#") && !last.pastes) {
                    piece.quoted = true;
                    piece.white = hash.white;
                }
            }
            body.push(piece);
        }
        if let Some(last) = body.last().filter(|p| p.pastes) {
            return Err((last.span, "'##' has nothing to join at one of its sides"));
        }
        Ok(body)
    }
}

/// Number of tokens from `(` to its `)`.
fn optional(pieces: &[Piece]) -> Option<usize> {
    if !pieces.first()?.is("(") {
        return None;
    }
    let mut depth = 0usize;
    for (i, piece) in pieces.iter().enumerate() {
        if piece.is("(") {
            depth += 1;
        } else if piece.is(")") {
            depth -= 1;
            if depth == 0 {
                return Some(i + 1);
            }
        }
    }
    None
}
