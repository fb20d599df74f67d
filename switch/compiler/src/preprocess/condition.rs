//! The `#if`s around a line.

use crate::source::Span;

/// An open `#if`.
struct Open {
    span: Span,
    /// True if the text around the `#if` is kept.
    outer: bool,
    /// True if the current branch is kept.
    kept: bool,
    /// True if an earlier branch was kept.
    taken: bool,
    seen_else: bool,
}

/// The `#if`s around the current line of a file.
#[derive(Default)]
pub(super) struct Conditions {
    open: Vec<Open>,
}

impl Conditions {
    pub fn active(&self) -> bool {
        self.open.last().is_none_or(|c| c.outer && c.kept)
    }

    pub fn open(&mut self, span: Span, value: bool) -> Result<(), &'static str> {
        let outer = self.active();
        self.open.push(Open {
            span,
            outer,
            kept: value,
            taken: value,
            seen_else: false,
        });
        Ok(())
    }

    /// True if an `#elif` here must be evaluated.
    pub fn wants_elif(&self) -> bool {
        self.open.last().is_some_and(|c| c.outer && !c.taken)
    }

    pub fn elif(&mut self, value: bool) -> Result<(), &'static str> {
        let open = self.open.last_mut().ok_or("#elif without #if")?;
        if open.seen_else {
            return Err("#elif after #else");
        }
        open.kept = !open.taken && value;
        open.taken |= open.kept;
        Ok(())
    }

    pub fn otherwise(&mut self) -> Result<(), &'static str> {
        let open = self.open.last_mut().ok_or("#else without #if")?;
        if open.seen_else {
            return Err("a second #else");
        }
        open.seen_else = true;
        open.kept = !open.taken;
        open.taken = true;
        Ok(())
    }

    pub fn close(&mut self) -> Result<(), &'static str> {
        self.open.pop().map(|_| ()).ok_or("#endif without #if")
    }

    pub fn unclosed(&self) -> Option<Span> {
        self.open.last().map(|c| c.span)
    }
}
