//! Macros: definition and expansion.

use num_bigint::BigInt;

use super::{MAX_TOKENS, Preprocessor};
use crate::{
    source::Span,
    syntax::{
        lexer,
        token::{IntLiteral, Symbol, Tok, Token, render},
    },
};

const MAX_NESTING: usize = 200;

impl Preprocessor<'_> {
    /// Expands every macro in `text`; those in `active` are being expanded already and stay as they are.
    pub(super) fn expand(&mut self, text: &[Token], active: &mut Vec<Symbol>) -> Vec<Token> {
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let token = &text[at];
            at += 1;
            if self.produced > MAX_TOKENS {
                return out;
            }
            let Tok::Word(name) = &token.tok else {
                out.push(token.clone());
                continue;
            };
            if let Some(tok) = self.builtin(name, token.span) {
                out.push(Token { tok, ..token.clone() });
                continue;
            }
            let usable = !active.contains(name) && active.len() < MAX_NESTING;
            let Some(definition) = self.macros.get(name).filter(|_| usable).cloned() else {
                out.push(token.clone());
                continue;
            };
            let body = match &definition.parameters {
                None => self.substitute(name, &[], &definition.body, Vec::new(), active, token.span),
                Some(parameters) => {
                    if text.get(at).map(|t| &t.tok) != Some(&Tok::Punct("(")) {
                        out.push(token.clone());
                        continue;
                    }
                    let Some((arguments, after)) = arguments(text, at) else {
                        self.reporter
                            .error(token.span, format!("call of macro '{name}' without ')'"));
                        return out;
                    };
                    at = after;
                    self.substitute(name, parameters, &definition.body, arguments, active, token.span)
                }
            };
            self.produced += body.len();
            active.push(name.clone());
            // The body is at the place of its use from here on, for `__LINE__` and for messages.
            let expanded = self.expand(&at_use(body, token), active);
            active.pop();
            out.extend(at_use(expanded, token));
        }
        out
    }

    fn builtin(&self, name: &str, span: Span) -> Option<Tok> {
        let position = || self.map.position(span);
        match name {
            "__LINE__" => Some(Tok::Int(IntLiteral {
                value: BigInt::from(position().map_or(0, |p| p.line)),
                width: None,
            })),
            "__FILE__" => Some(Tok::Str(position().map_or(String::new(), |p| p.file).into())),
            _ => None,
        }
    }

    fn substitute(
        &mut self,
        name: &str,
        parameters: &[Symbol],
        body: &[Token],
        mut arguments: Vec<Vec<Token>>,
        active: &mut Vec<Symbol>,
        span: Span,
    ) -> Vec<Token> {
        if parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if arguments.len() != parameters.len() {
            let (want, got) = (parameters.len(), arguments.len());
            self.reporter
                .error(span, format!("macro '{name}' takes {want} argument(s), not {got}"));
            return Vec::new();
        }
        let parameter = |token: &Token| match &token.tok {
            Tok::Word(w) => parameters.iter().position(|p| p == w),
            _ => None,
        };
        let mut out: Vec<Token> = Vec::new();
        // Whether what stands before `##` is empty.
        let mut nothing = true;
        let mut i = 0;
        while i < body.len() {
            let pasted = is_paste(body, i);
            if pasted {
                i += 2;
            }
            let Some(token) = body.get(i) else { break };
            i += 1;
            if token.tok == Tok::Punct("#")
                && !pasted
                && let Some(k) = body.get(i).and_then(parameter)
            {
                out.push(Token {
                    tok: Tok::Str(render(&arguments[k]).into()),
                    ..token.clone()
                });
                nothing = false;
                i += 1;
                continue;
            }
            let next_pastes = is_paste(body, i);
            let mut piece = match parameter(token) {
                Some(k) if pasted || next_pastes => arguments[k].clone(),
                Some(k) => self.expand(&arguments[k].clone(), active),
                None => vec![token.clone()],
            };
            if let Some(first) = piece.first_mut() {
                // The blank before an argument is that before the parameter.
                first.joined = token.joined;
            }
            self.produced += piece.len();
            if self.produced > MAX_TOKENS {
                return out;
            }
            let left = if pasted && !nothing { out.pop() } else { None };
            nothing = piece.is_empty() && left.is_none();
            match (left, piece.split_first()) {
                (Some(left), Some((first, rest))) => {
                    out.extend(paste(&left, first));
                    out.extend_from_slice(rest);
                }
                (left, _) => {
                    out.extend(left);
                    out.extend(piece);
                }
            }
        }
        out
    }
}

/// Whether `##` stands at `i`.
fn is_paste(body: &[Token], i: usize) -> bool {
    let hash = |k: usize| body.get(k).is_some_and(|t| t.tok == Tok::Punct("#"));
    hash(i) && hash(i + 1) && body[i + 1].joined
}

/// The one token that both make, or both as they are: programs write `##` also where it has nothing to join, as in
/// `[##n-1:0]`, and the C preprocessor lets it pass.
fn paste(left: &Token, right: &Token) -> Vec<Token> {
    let text = |token: &Token| {
        render(std::slice::from_ref(&Token {
            starts_line: false,
            ..token.clone()
        }))
    };
    let joined = lexer::tokens(&(text(left) + &text(right)), 0);
    match &joined[..] {
        [Token { tok: Tok::Bad(..), .. }] => vec![left.clone(), right.clone()],
        [Token { tok, .. }] => vec![Token {
            tok: tok.clone(),
            ..left.clone()
        }],
        _ => vec![left.clone(), right.clone()],
    }
}

/// The arguments of the call whose `(` is at `open`, and the index after its `)`.
fn arguments(text: &[Token], open: usize) -> Option<(Vec<Vec<Token>>, usize)> {
    let mut list = vec![Vec::new()];
    let mut depth = 0usize;
    for (i, token) in text.iter().enumerate().skip(open) {
        match token.tok {
            Tok::Punct("(" | "{" | "[") => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            Tok::Punct(")" | "}" | "]") => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some((list, i + 1));
                }
            }
            Tok::Punct(",") if depth == 1 => {
                list.push(Vec::new());
                continue;
            }
            _ => {}
        }
        list.last_mut()?.push(token.clone());
    }
    None
}

/// Gives an expansion the place of the macro's use, so that messages point there.
fn at_use(mut expanded: Vec<Token>, used: &Token) -> Vec<Token> {
    for (i, token) in expanded.iter_mut().enumerate() {
        token.span = used.span;
        token.starts_line = used.starts_line && i == 0;
        if i == 0 {
            token.joined = used.joined;
        }
    }
    expanded
}
