//! Annotations, unstructured and structured.

use p4sched_proto::p4::config::v1::{
    self as pb, Documentation, Expression, ExpressionList, KeyValuePair, KeyValuePairList, StructuredAnnotation,
    expression::Value, structured_annotation::Body,
};

use crate::{
    syntax::{
        ast::{Annotation, AnnotationBody, Expr, ExprKind},
        token::{Symbol, Tok, Token, render},
    },
    typed::tree::Annotations,
};

/// Annotations with a field of their own in P4Info.
const EXPRESSED: [&str; 4] = ["name", "id", "brief", "description"];

/// The number in `@name(number)`.
pub(super) fn number(annotations: &Annotations, name: &str) -> Option<u64> {
    match &annotations.iter().find(|a| &*a.name == name)?.body {
        AnnotationBody::Unstructured(tokens) => match tokens.first().map(|t| &t.tok) {
            Some(Tok::Int(literal)) => u64::try_from(&literal.value).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// The pairs in `@name(key = value, ...)`.
pub(super) fn pairs(annotations: &Annotations, name: &str) -> Vec<(Symbol, Tok)> {
    let mut list = Vec::new();
    for annotation in annotations.iter().filter(|a| &*a.name == name) {
        let AnnotationBody::Unstructured(tokens) = &annotation.body else {
            continue;
        };
        for pair in tokens.split(|t| t.tok == Tok::Punct(",")) {
            if let [key, equals, value] = pair
                && let Tok::Word(key) = &key.tok
                && equals.tok == Tok::Punct("=")
            {
                list.push((key.clone(), value.tok.clone()));
            }
        }
    }
    list
}

/// Text of an annotation in p4c's form: one space between any two tokens.
fn text(annotation: &Annotation) -> String {
    match &annotation.body {
        AnnotationBody::Unstructured(tokens) if !tokens.is_empty() => {
            let apart = |t: &Token| Token {
                starts_line: false,
                joined: false,
                ..t.clone()
            };
            let inner: Vec<_> = tokens.iter().map(apart).collect();
            format!("@{}({})", annotation.name, render(&inner))
        }
        _ => format!("@{}", annotation.name),
    }
}

/// Unstructured annotations, except those in `except`.
pub(super) fn texts(annotations: &Annotations, except: &[&str]) -> Vec<String> {
    let plain = |a: &&Annotation| {
        matches!(a.body, AnnotationBody::None | AnnotationBody::Unstructured(_))
            && !EXPRESSED.contains(&&*a.name)
            && !except.contains(&&*a.name)
    };
    annotations.iter().filter(plain).map(text).collect()
}

fn expression(e: &Expr) -> Expression {
    let value = match &e.kind {
        ExprKind::Int(literal) => i64::try_from(&literal.value).ok().map(Value::Int64Value),
        ExprKind::Bool(value) => Some(Value::BoolValue(*value)),
        ExprKind::Str(text) => Some(Value::StringValue(text.to_string())),
        _ => None,
    };
    Expression { value }
}

pub(super) fn structured(annotations: &Annotations) -> Vec<StructuredAnnotation> {
    let mut list = Vec::new();
    for annotation in annotations.iter() {
        let body = match &annotation.body {
            AnnotationBody::List(values) => Body::ExpressionList(ExpressionList {
                expressions: values.iter().map(expression).collect(),
            }),
            AnnotationBody::Pairs(pairs) => {
                let pair = |(key, value): &(_, Expr)| {
                    let key: &crate::syntax::ast::Ident = key;
                    KeyValuePair {
                        key: key.name.to_string(),
                        value: Some(expression(value)),
                    }
                };
                Body::KvPairList(KeyValuePairList {
                    kv_pairs: pairs.iter().map(pair).collect(),
                })
            }
            _ => continue,
        };
        list.push(StructuredAnnotation {
            name: annotation.name.to_string(),
            body: Some(body),
            source_location: None,
        });
    }
    list
}

/// `@brief` and `@description`.
pub(super) fn documentation(annotations: &Annotations) -> Option<Documentation> {
    let brief = crate::typed::annotations::text_of(annotations, "brief");
    let description = crate::typed::annotations::text_of(annotations, "description");
    if brief.is_none() && description.is_none() {
        return None;
    }
    Some(Documentation {
        brief: brief.unwrap_or_default(),
        description: description.unwrap_or_default(),
    })
}

impl super::Emitter<'_> {
    pub(super) fn preamble(
        &self,
        kind: super::Kind,
        name: &str,
        annotations: &Annotations,
        except: &[&str],
    ) -> Option<pb::Preamble> {
        Some(pb::Preamble {
            id: self.symbols.id(kind, name),
            name: name.to_owned(),
            alias: self.symbols.alias(name).to_owned(),
            annotations: texts(annotations, except),
            annotation_locations: Vec::new(),
            doc: documentation(annotations),
            structured_annotations: structured(annotations),
        })
    }
}

/// Ids of the parts of an object: from the program if given, otherwise counted from 1.
pub(super) fn part_ids<'a>(parts: impl Iterator<Item = &'a Annotations> + Clone) -> Vec<u32> {
    let given: Vec<Option<u32>> = parts
        .map(|a| number(a, "id").and_then(|id| u32::try_from(id).ok()))
        .collect();
    let mut taken: Vec<u32> = given.iter().flatten().copied().collect();
    let mut next = 1;
    let mut ids = Vec::new();
    for id in given {
        match id {
            Some(id) => {
                next += 1;
                ids.push(id);
            }
            None => {
                while taken.contains(&next) {
                    next += 1;
                }
                taken.push(next);
                ids.push(next);
            }
        }
    }
    ids
}
