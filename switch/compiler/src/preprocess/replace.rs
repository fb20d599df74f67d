//! Expansion of a macro with parameters: `#`, `##`, `__VA_ARGS__`, `__VA_OPT__`.

use super::{
    Preprocessor,
    define::Macro,
    piece::{Kind, Piece, single},
};
use crate::source::Span;

/// An argument of a macro call.
pub(super) struct Argument {
    pieces: Vec<Piece>,
    /// True for the last argument of a variadic macro if even its comma is missing.
    pub omitted: bool,
    expanded: Option<Vec<Piece>>,
}

impl Argument {
    pub fn new(pieces: Vec<Piece>) -> Argument {
        Argument {
            pieces,
            omitted: false,
            expanded: None,
        }
    }
}

impl Preprocessor<'_> {
    /// The body of a macro with its parameters replaced by arguments.
    pub(super) fn replace(&mut self, definition: &Macro, mut arguments: Vec<Argument>, used: Span) -> Vec<Piece> {
        self.body(definition, &definition.body, &mut arguments, used)
    }

    fn body(&mut self, definition: &Macro, body: &[Piece], arguments: &mut [Argument], used: Span) -> Vec<Piece> {
        let mut out: Vec<Piece> = Vec::with_capacity(body.len());
        for (i, source) in body.iter().enumerate() {
            let pasted = i > 0 && body[i - 1].pastes;
            let at_use = Piece {
                span: used,
                ..source.clone()
            };
            let (pieces, omitted, last) = match &source.kind {
                Kind::Parameter(k) => {
                    let argument = &arguments[*k];
                    let last = definition.variadic && *k + 1 == arguments.len();
                    let omitted = argument.omitted;
                    let pieces = if source.quoted || source.pastes || pasted {
                        argument.pieces.clone()
                    } else {
                        self.argument_expanded(arguments, *k, used)
                    };
                    (pieces, omitted, last)
                }
                Kind::Optional(inner) => {
                    let kept = arguments.len().checked_sub(1).is_some_and(|last| {
                        let tokens = self.argument_expanded(arguments, last, used);
                        tokens.iter().any(|piece| !piece.is_padding())
                    });
                    let pieces = if kept {
                        let mut tokens = self.body(definition, inner, arguments, used);
                        while tokens.last().is_some_and(Piece::is_padding) {
                            tokens.pop();
                        }
                        tokens
                    } else {
                        Vec::new()
                    };
                    (pieces, false, false)
                }
                _ => {
                    out.push(at_use);
                    continue;
                }
            };
            self.works(pieces.len(), used);
            if source.quoted {
                let pieces = self.joined(&pieces, used);
                let quoted = self.quoted(&pieces, used);
                out.push(Piece {
                    kind: Kind::Text,
                    text: quoted.into(),
                    quoted: false,
                    ..at_use
                });
                continue;
            }
            self.insert(
                &at_use,
                pieces,
                Place {
                    pasted,
                    omitted,
                    last,
                    start: i == 0,
                },
                &mut out,
            );
        }
        out
    }

    fn argument_expanded(&mut self, arguments: &mut [Argument], k: usize, used: Span) -> Vec<Piece> {
        if let Some(expanded) = &arguments[k].expanded {
            return expanded.clone();
        }
        let expanded = self.expanded(&arguments[k].pieces, used);
        arguments[k].expanded = Some(expanded.clone());
        expanded
    }

    /// Inserts the tokens of an argument in place of its parameter.
    fn insert(&self, parameter: &Piece, pieces: Vec<Piece>, place: Place, out: &mut Vec<Piece>) {
        let empty = pieces.is_empty();
        // The previous token, if no `##` joins the two.
        let mut alone: Option<usize> = None;
        if place.pasted && !parameter.pastes {
            let comma = place.last && out.last().is_some_and(|piece| piece.is(","));
            if comma && place.omitted {
                out.pop();
            } else if comma || empty {
                alone = out.len().checked_sub(1);
            }
        }
        let separated = self.line.is_none();
        if separated && !place.pasted && !place.start {
            out.push(Piece::padding(Some(parameter.white)));
        }
        if let Some(at) = alone {
            out[at].pastes = false;
        }
        out.extend(pieces);
        if parameter.pastes
            && let Some(last) = out.last_mut().filter(|_| !empty)
        {
            last.pastes = true;
        }
        if separated && !parameter.pastes {
            out.push(Piece::padding(None));
        }
    }

    /// The string that `#` makes from an argument.
    fn quoted(&mut self, pieces: &[Piece], used: Span) -> String {
        let mut text = String::new();
        // True if a blank precedes the next token, according to paddings.
        let mut source: Option<bool> = None;
        let mut backslashes = 0;
        for piece in pieces {
            if let Kind::Padding(white) = piece.kind {
                if source.is_none() || source == Some(false) && white.is_none() {
                    source = white;
                }
                continue;
            }
            let white = source.unwrap_or(piece.white);
            source = None;
            if white && !text.is_empty() {
                text.push(' ');
            }
            if matches!(piece.kind, Kind::Text | Kind::Char) {
                text.push_str(&piece.text.replace('\\', "\\\\").replace('"', "\\\""));
            } else {
                text.push_str(&piece.text);
            }
            let backslash = piece.kind == Kind::Other && piece.text.starts_with('\\');
            backslashes = if backslash { backslashes + 1 } else { 0 };
        }
        if backslashes % 2 == 1 {
            text.pop();
            let message = "the string would end with a single '\\', which is left out";
            self.reporter.warning("preprocessor", used, message);
        }
        format!("\"{text}\"")
    }

    /// Joins a token with the next tokens of its context, as long as `##` is between them and the result is one token.
    pub(super) fn paste(&mut self, mut left: Piece) {
        left.pastes = false;
        while let Some(context) = self.contexts.last_mut() {
            let Some(right) = context.pieces.get(context.at).cloned() else {
                break;
            };
            context.at += 1;
            if !right.is_padding() {
                match pasted(&left, &right) {
                    Some(both) => left = both,
                    None => {
                        context.at -= 1;
                        break;
                    }
                }
            }
            if !right.pastes {
                break;
            }
        }
        self.push(vec![left]);
    }
}

/// Place of an argument in the body.
#[derive(Clone, Copy)]
struct Place {
    /// True after `##`.
    pasted: bool,
    omitted: bool,
    /// True for the list of all further arguments.
    last: bool,
    /// True at the start of the body.
    start: bool,
}

/// The token that two tokens make together. If the result is not one token, `cpp` keeps both: programs write
/// `[##n-1:0]`.
fn pasted(left: &Piece, right: &Piece) -> Option<Piece> {
    if left.is("/") && !right.is("=") {
        return None;
    }
    let both = single(&format!("{}{}", left.text, right.text))?;
    Some(Piece {
        span: left.span,
        white: left.white,
        first: false,
        ..both
    })
}
