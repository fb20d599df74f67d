//! Annotations.

use std::rc::Rc;

use crate::syntax::{
    ast::{Annotation, AnnotationBody, ExprKind},
    token::{IntLiteral, Tok},
};

/// Annotations, shared by all objects that have them.
pub type Annotations = Rc<[Annotation]>;

fn find<'a>(annotations: &'a Annotations, name: &str) -> Option<&'a Annotation> {
    annotations.iter().find(|a| &*a.name == name)
}

/// The string in `@name("...")`.
#[must_use]
pub fn name_of(annotations: &Annotations) -> Option<String> {
    text_of(annotations, "name").filter(|n| !n.is_empty() && n != ".")
}

/// The single string in the parentheses of an annotation.
#[must_use]
pub fn text_of(annotations: &Annotations, name: &str) -> Option<String> {
    match &find(annotations, name)?.body {
        AnnotationBody::Unstructured(tokens) => match tokens.first().map(|t| &t.tok) {
            Some(Tok::Str(text)) => Some(text.to_string()),
            _ => None,
        },
        AnnotationBody::List(list) => match list.first().map(|e| &e.kind) {
            Some(ExprKind::Str(text)) => Some(text.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// The numbers in the parentheses of an annotation.
#[must_use]
pub fn numbers_of(annotations: &Annotations, name: &str) -> Vec<u64> {
    let number = |literal: &IntLiteral| u64::try_from(&literal.value).ok();
    match find(annotations, name).map(|annotation| &annotation.body) {
        Some(AnnotationBody::Unstructured(tokens)) => {
            let literals = tokens.iter().filter_map(|token| match &token.tok {
                Tok::Int(literal) => Some(literal),
                _ => None,
            });
            literals.filter_map(number).collect()
        }
        Some(AnnotationBody::List(list)) => {
            let literals = list.iter().filter_map(|e| match &e.kind {
                ExprKind::Int(literal) => Some(literal),
                _ => None,
            });
            literals.filter_map(number).collect()
        }
        _ => Vec::new(),
    }
}

/// True if an annotation exists.
#[must_use]
pub fn has(annotations: &Annotations, name: &str) -> bool {
    find(annotations, name).is_some()
}
