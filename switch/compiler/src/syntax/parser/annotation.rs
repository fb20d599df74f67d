//! Annotations (specification section 20).

use super::{Parsed, Parser};
use crate::syntax::{
    ast::{Annotation, AnnotationBody},
    token::Tok,
};

impl Parser<'_> {
    pub(super) fn annotations(&mut self) -> Parsed<Vec<Annotation>> {
        let mut list = Vec::new();
        while self.is("@") {
            list.push(self.annotation()?);
        }
        Ok(list)
    }

    fn annotation(&mut self) -> Parsed<Annotation> {
        self.expect("@")?;
        let first = self.any_word("the name of an annotation")?;
        let mut name = first.name.to_string();
        while self.is(".") && matches!(self.peek_at(1), Tok::Word(_)) {
            self.advance();
            name = format!("{name}.{}", self.any_word("a name")?.name);
        }
        if &*first.name == "pragma" {
            return Ok(self.pragma());
        }
        let body = if &*name == "field_list" && self.eat("(") {
            // Numbers of lists in v1model may be names of constants.
            AnnotationBody::List(self.separated(")", Self::expr)?)
        } else if self.is("(") {
            AnnotationBody::Unstructured(self.balanced()?)
        } else if self.eat("[") {
            self.structured()?
        } else {
            AnnotationBody::None
        };
        Ok(Annotation {
            name: name.into(),
            body,
        })
    }

    /// Reads `@pragma name tokens`, up to the end of the line.
    fn pragma(&mut self) -> Annotation {
        let mut tokens = Vec::new();
        while self.peek() != &Tok::End && !self.tokens[self.at].starts_line {
            tokens.push(self.tokens[self.at].clone());
            self.advance();
        }
        let name = match tokens.first().map(|t| t.tok.clone()) {
            Some(Tok::Word(name)) => {
                tokens.remove(0);
                name
            }
            _ => "pragma".into(),
        };
        Annotation {
            name,
            body: AnnotationBody::Unstructured(tokens),
        }
    }

    /// Reads the tokens from `(` to its `)`.
    fn balanced(&mut self) -> Parsed<Vec<crate::syntax::token::Token>> {
        let open = self.expect("(")?;
        let mut depth = 1;
        let mut tokens = Vec::new();
        loop {
            match self.peek() {
                Tok::End => return self.error_at(open, "'(' of an annotation without ')'"),
                // Any character is allowed (section 20.1: the text is not interpreted).
                Tok::Bad(text, _) if text.chars().count() > 1 => return self.expected("a token"),
                Tok::Punct("(") => depth += 1,
                Tok::Punct(")") => {
                    depth -= 1;
                    if depth == 0 {
                        self.advance();
                        return Ok(tokens);
                    }
                }
                _ => {}
            }
            tokens.push(self.tokens[self.at].clone());
            self.advance();
        }
    }

    fn structured(&mut self) -> Parsed<AnnotationBody> {
        if matches!(self.peek(), Tok::Word(_)) && self.peek_at(1) == &Tok::Punct("=") {
            let pairs = self.separated("]", |p| {
                let key = p.any_word("a key")?;
                p.expect("=")?;
                Ok((key, p.expr()?))
            })?;
            return Ok(AnnotationBody::Pairs(pairs));
        }
        Ok(AnnotationBody::List(self.separated("]", Self::expr)?))
    }
}
