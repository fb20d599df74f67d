//! The compiler's messages on wrong programs: all messages of each program, with line and column.

mod chip;
mod language;
mod limits;
mod target;
mod text;
mod tofino;

use crate::common::{messages, messages_for, switch::Parts};

/// Checks the messages on a whole program.
#[track_caller]
fn says(text: &str, expected: &[&str]) {
    let said = messages(text);
    assert_eq!(said.lines().collect::<Vec<_>>(), expected, "to\n{text}");
}

/// Checks the messages on parts of a program, without their places.
#[track_caller]
fn parts_say(parts: Parts, expected: &[&str]) {
    let said = messages(&parts.source());
    let without_place = |line: &str| line.split_once(": ").map_or(line, |(_, message)| message).to_owned();
    let said: Vec<String> = said.lines().map(without_place).collect();
    assert_eq!(said, expected, "to\n{}", parts.source());
}

/// Checks the messages on the body of ingress.
#[track_caller]
fn apply_says(apply: &str, expected: &[&str]) {
    let parts = Parts {
        ingress_apply: apply,
        ..Parts::small()
    };
    parts_say(parts, expected);
}

/// Checks the messages on declarations of ingress. The body applies a table `t` if there is one.
#[track_caller]
fn ingress_says(ingress: &str, expected: &[&str]) {
    let uses_table = ingress.contains("table t ");
    let parts = Parts {
        ingress,
        ingress_apply: if uses_table { "t.apply();" } else { "" },
        ..Parts::small()
    };
    parts_say(parts, expected);
}

/// Checks the messages on the body of the parser.
#[track_caller]
fn parser_says(parser: &str, expected: &[&str]) {
    let parts = Parts {
        parser,
        ..Parts::small()
    };
    parts_say(parts, expected);
}

/// Checks the messages on top-level declarations, after `h_t`, `headers_t` and `meta_t`.
#[track_caller]
fn top_level_says(declarations: &str, expected: &[&str]) {
    let types = format!("{}{declarations}", crate::common::switch::SMALL);
    let parts = Parts {
        types: &types,
        ..Parts::small()
    };
    parts_say(parts, expected);
}
