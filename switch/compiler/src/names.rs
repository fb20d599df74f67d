//! Names of a program for editors: where each is declared, what each use refers to, types of expressions, and the names
//! that fit at a place.

use crate::{
    Input, Options,
    diagnostics::Diagnostics,
    include::IncludeResolver,
    source::{Position, SourceMap, Span},
    typed::types::Type,
};

/// A name that stands where the names are wanted that fit there.
pub const PLACEHOLDER: &str = "__p4sched_here__";

/// A declared name.
#[derive(Clone, Debug)]
struct Declaration {
    /// Place of the name.
    at: Span,
    /// For example "an action".
    kind: &'static str,
}

/// What the checker finds out about names.
#[derive(Debug, Default)]
pub(crate) struct Found {
    declarations: Vec<Declaration>,
    /// Each use, and the place of the declared name.
    uses: Vec<(Span, Span)>,
    /// Types of names that are values.
    types: Vec<(Span, Type)>,
    /// Names that fit at [`PLACEHOLDER`].
    fitting: Vec<Fitting>,
}

/// A name that fits at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fitting {
    pub name: String,
    /// For example "a field" or "an action".
    pub kind: &'static str,
    /// Its type, if it is a value.
    pub ty: Option<String>,
}

impl Found {
    pub(crate) fn declare(&mut self, at: Span, kind: &'static str) {
        self.declarations.push(Declaration { at, kind });
    }

    pub(crate) fn refer(&mut self, at: Span, declared: Span) {
        self.uses.push((at, declared));
    }

    pub(crate) fn value(&mut self, at: Span, ty: &Type) {
        self.types.push((at, ty.clone()));
    }

    pub(crate) fn fits(&mut self, name: &str, kind: &'static str, ty: Option<String>) {
        self.fitting.push(Fitting {
            name: name.to_owned(),
            kind,
            ty,
        });
    }
}

/// A range within one line of a file. Lines and columns count from 0, columns in UTF-16 units, as editors count.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub start: u32,
    pub end: u32,
}

/// A name under the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    /// Place of its declaration.
    pub declared: Place,
    /// For example "an action".
    pub kind: &'static str,
    /// Text of the declaration, without its body, and the comment before it.
    pub head: String,
    /// All places of the name, with its declaration.
    pub places: Vec<Place>,
    /// True if the program writes the name at each of them; a macro may write another text there.
    pub plain: bool,
}

/// Names and messages of a program, also of one with errors.
pub struct Names {
    pub messages: Diagnostics,
    map: SourceMap,
    declarations: Vec<Declaration>,
    uses: Vec<(Span, Span)>,
    types: Vec<(Span, String)>,
    fitting: Vec<Fitting>,
}

/// Analyses a program as far as its errors allow.
pub fn names(input: &Input, includes: &dyn IncludeResolver, options: &Options) -> Names {
    crate::on_large_stack(|| {
        let mut front = crate::Front::default();
        let (found, types) = crate::checked_names(&mut front, input, includes, options);
        let (messages, map) = front.finish_with_map(options);
        let mut fitting = found.fitting;
        fitting.sort();
        fitting.dedup_by(|a, b| a.name == b.name);
        Names {
            messages,
            map,
            declarations: found.declarations,
            uses: found.uses,
            types: found.types.iter().map(|(at, ty)| (*at, types.show(ty))).collect(),
            fitting,
        }
    })
}

impl Names {
    /// The name at a line and column of a file, both from 0.
    #[must_use]
    pub fn at(&self, file: &str, line: u32, column: u32) -> Option<Name> {
        let declared = self.declared_at(file, line, column)?;
        let declaration = self.declarations.iter().find(|d| d.at == declared)?;
        let text = self.map.snippet(declared);
        let uses = self.uses.iter().filter(|(_, of)| *of == declared);
        let spans: Vec<Span> = uses.map(|(at, _)| *at).chain([declared]).collect();
        let mut places: Vec<Place> = spans.iter().filter_map(|at| self.place(*at)).collect();
        places.sort();
        places.dedup();
        Some(Name {
            text: text.to_owned(),
            plain: spans.iter().all(|at| self.map.snippet(*at) == text),
            declared: self.place(declared)?,
            kind: declaration.kind,
            head: self.head(declared),
            places,
        })
    }

    /// Type of the value named at a line and column of a file, both from 0.
    #[must_use]
    pub fn type_at(&self, file: &str, line: u32, column: u32) -> Option<&str> {
        let mut found = self.types.iter().rev();
        found
            .find(|(at, _)| self.covers(*at, file, line, column))
            .map(|(_, ty)| ty.as_str())
    }

    /// Names that fit at [`PLACEHOLDER`].
    #[must_use]
    pub fn fitting(&self) -> &[Fitting] {
        &self.fitting
    }

    /// Names declared in a file, in order: place, kind and name.
    #[must_use]
    pub fn declared_in(&self, file: &str) -> Vec<(Place, &'static str, String)> {
        let listed = self.declarations.iter();
        let mut all: Vec<_> = listed
            .filter_map(|d| {
                Some((
                    self.place(d.at).filter(|p| p.file == file)?,
                    d.kind,
                    self.map.snippet(d.at).to_owned(),
                ))
            })
            .collect();
        all.sort();
        all.dedup();
        all
    }

    fn declared_at(&self, file: &str, line: u32, column: u32) -> Option<Span> {
        let uses = self.uses.iter().copied();
        let own = self.declarations.iter().map(|d| (d.at, d.at));
        uses.chain(own)
            .find(|(at, _)| self.covers(*at, file, line, column))
            .map(|(_, declared)| declared)
    }

    fn covers(&self, at: Span, file: &str, line: u32, column: u32) -> bool {
        // the cursor may stand after the last character
        self.place(at).is_some_and(|place| {
            place.file == file && place.line == line && (place.start..=place.end).contains(&column)
        })
    }

    fn place(&self, at: Span) -> Option<Place> {
        let Position { file, .. } = self.map.position(at)?;
        let (line, first) = self.map.line_and_column(at);
        let text = self.map.line(at)?;
        let start = units(text.get(..first as usize)?);
        let end = start + units(self.map.snippet(at));
        Some(Place { file, line, start, end })
    }

    /// Comment lines before a declaration, and its text up to its body.
    fn head(&self, declared: Span) -> String {
        let (comment, text) = self.map.around(declared);
        let end = text.find(['{', ';']).unwrap_or(text.len());
        let head = text[..end].split_whitespace().collect::<Vec<_>>().join(" ");
        if comment.is_empty() {
            head
        } else {
            format!("{comment}\n{head}")
        }
    }
}

/// Length of a text in UTF-16 units.
#[must_use]
pub fn units(text: &str) -> u32 {
    text.encode_utf16().count() as u32
}
