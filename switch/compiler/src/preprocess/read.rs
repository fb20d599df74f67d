//! Reads files line by line.

use std::rc::Rc;

use super::{
    Preprocessor,
    condition::Conditions,
    piece::{self, Kind, Piece},
};
use crate::source::{FileId, Span};

pub(super) struct Open {
    pub file: FileId,
    pub pieces: Rc<[Piece]>,
    pub at: usize,
    pub conditions: Conditions,
}

/// A directive, without its comments.
pub(super) struct Line {
    pub pieces: Vec<Piece>,
    pub at: usize,
    pub end: Span,
}

/// Part of a macro call that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Seeking {
    Nothing,
    /// The parenthesis after the name.
    Parenthesis,
    Arguments,
}

impl Preprocessor<'_> {
    /// Starts to read a file.
    pub(super) fn open(&mut self, file: FileId) {
        let name = self.map.name(file).to_owned();
        let known = self.known.get(&name).filter(|(known, _)| *known == file);
        let pieces = known.map(|(_, pieces)| Rc::clone(pieces)).unwrap_or_else(|| {
            let (pieces, unclosed) = piece::pieces(self.map.text(file), self.map.base(file));
            if let Some(span) = unclosed {
                self.reporter.error(span, "comment without an end; '*/' is missing");
            }
            pieces.into()
        });
        self.known.insert(name, (file, Rc::clone(&pieces)));
        self.works(16 + pieces.len() / 64, Span::default());
        self.files.push(Open {
            file,
            pieces,
            at: 0,
            conditions: Conditions::default(),
        });
        self.out.new_file();
    }

    fn close(&mut self) {
        let unclosed = self.files.pop().and_then(|open| open.conditions.unclosed());
        if let Some(span) = unclosed {
            self.reporter.error(span, "#if without #endif");
        }
        self.out.new_file();
    }

    /// The next token of the current directive, or of the files.
    pub(super) fn read(&mut self) -> Piece {
        if let Some(line) = &mut self.line {
            let piece = line.pieces.get(line.at).cloned();
            line.at += usize::from(piece.is_some());
            return piece.unwrap_or_else(|| Piece::end(line.end));
        }
        loop {
            let Some(open) = self.files.last_mut().filter(|_| !self.stopped) else {
                return Piece::end(Span::default());
            };
            let Some(piece) = open.pieces.get(open.at) else {
                if self.seeking != Seeking::Nothing {
                    return Piece::end(Span::default());
                }
                self.close();
                continue;
            };
            let mut piece = piece.clone();
            // While a parenthesis is expected, a directive ends the search; it is executed when it is read again.
            let directive = piece.first && piece.is("#") && self.seeking != Seeking::Parenthesis;
            if directive && self.directive() {
                continue;
            }
            let Some(open) = self.files.last_mut() else { continue };
            if !open.conditions.active() {
                open.at += line_length(&open.pieces[open.at..]);
                continue;
            }
            open.at += 1;
            if piece.first && self.seeking == Seeking::Nothing {
                self.out.new_line(&piece, self.map);
            }
            if self.seeking == Seeking::Arguments {
                piece.white |= piece.first;
                piece = if piece.kind == Kind::Comment {
                    in_brackets(piece)
                } else {
                    piece
                };
            }
            if !self.poisoned.is_empty() && piece.kind == Kind::Name && self.poisoned.contains(&piece.text) {
                let message = format!("'{}' is poisoned, so it cannot be used", piece.text);
                self.reporter.error(piece.span, message);
            }
            return piece;
        }
    }

    /// Moves back by one token.
    pub(super) fn back(&mut self) {
        if let Some(context) = self.contexts.last_mut() {
            context.at -= 1;
        } else if let Some(line) = &mut self.line {
            line.at -= 1;
        } else if let Some(open) = self.files.last_mut() {
            open.at -= 1;
        }
    }

    /// Takes the current line of the file, without `#` and comments.
    pub(super) fn take_line(&mut self) -> Option<Vec<Piece>> {
        let open = self.files.last_mut()?;
        let length = line_length(&open.pieces[open.at..]);
        let mut line: Vec<Piece> = Vec::with_capacity(length);
        let mut white = false;
        for piece in &open.pieces[open.at + 1..open.at + length] {
            if piece.kind == Kind::Comment {
                white = true;
            } else {
                let mut piece = piece.clone();
                piece.white |= white;
                white = false;
                line.push(piece);
            }
        }
        open.at += length;
        Some(line)
    }
}

/// Number of tokens up to the next line; a comment may span several lines.
fn line_length(pieces: &[Piece]) -> usize {
    let next = pieces.iter().skip(1).position(|p| p.first);
    next.map_or(pieces.len(), |n| n + 1)
}

/// A comment in arguments as a block comment, because the whole call becomes one line.
fn in_brackets(comment: Piece) -> Piece {
    match comment.text.strip_prefix("//") {
        Some(text) => {
            let text = text.replace("*/", "|/").replace("/*", "|*");
            Piece {
                text: format!("/*{text}*/").into(),
                ..comment
            }
        }
        None => comment,
    }
}
