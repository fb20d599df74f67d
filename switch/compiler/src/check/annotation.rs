//! Annotations (specification section 20): expressions in `[...]` are evaluated here.

use super::Checker;
use crate::{
    syntax::{
        ast::{self, Annotation, AnnotationBody},
        token::IntLiteral,
    },
    typed::tree::{Annotations, ExprKind},
};

impl Checker<'_> {
    /// Replaces expressions in annotations by literals.
    pub(super) fn annotations(&mut self, annotations: &[Annotation]) -> Annotations {
        let mut annotations = annotations.to_vec();
        for annotation in &mut annotations {
            match &mut annotation.body {
                AnnotationBody::List(list) => list.iter_mut().for_each(|e| self.literal(e)),
                AnnotationBody::Pairs(pairs) => pairs.iter_mut().for_each(|(_, e)| self.literal(e)),
                AnnotationBody::None | AnnotationBody::Unstructured(_) => {}
            }
        }
        annotations.into()
    }

    fn literal(&mut self, e: &mut ast::Expr) {
        match self.expr(e, None).kind {
            ExprKind::Int(value) => e.kind = ast::ExprKind::Int(IntLiteral { value, width: None }),
            ExprKind::Bool(value) => e.kind = ast::ExprKind::Bool(value),
            ExprKind::Text(text) => e.kind = ast::ExprKind::Str(text),
            ExprKind::Unknown => {}
            _ => self.error(
                e.span,
                "a value in an annotation must be a number, bool or string known when compiling",
            ),
        }
    }
}
