//! Restrictions on table entries and action parameters, in the p4-constraints language (p4lang/p4-constraints,
//! docs/language-specification.md). A program states them in annotations, and the device enforces them.
//!
//! `@entry_restriction("...")` of a table is a condition on the key and the priority of its entries.
//! `@action_restriction("...")` of an action is a condition on its parameters. P4Info carries both as text.

mod check;
mod evaluate;
mod syntax;

use p4sched_dataplane::{MatchKey, MatchKind};
use p4sched_proto::p4::config::v1 as p4info;

use crate::annotation::{body, unquoted};
use crate::fault::Fault;
use crate::field::{Field, Param};
use check::{CheckedClause, Names};
use evaluate::Value;

/// A condition that all entries of a table, or all uses of an action, must meet.
#[derive(Debug)]
pub struct Restriction {
    clauses: Vec<CheckedClause>,
}

/// The restriction of an action.
///
/// # Errors
/// `INVALID_ARGUMENT` if it is malformed, uses an unknown name, or compares values of different types.
pub fn of_action(preamble: &p4info::Preamble, params: &[Param]) -> Result<Option<Restriction>, Fault> {
    misplaced(
        preamble,
        "action",
        "entry_restriction",
        "a table; an action has @action_restriction",
    )?;
    of(preamble, "action", "action_restriction", &Names::Params(params))
}

/// The restriction of a table.
///
/// # Errors
/// Those of [`of_action`].
pub fn of_table(preamble: &p4info::Preamble, fields: &[Field]) -> Result<Option<Restriction>, Fault> {
    misplaced(
        preamble,
        "table",
        "action_restriction",
        "an action; a table has @entry_restriction",
    )?;
    of(preamble, "table", "entry_restriction", &Names::Key(fields))
}

fn misplaced(preamble: &p4info::Preamble, kind: &str, name: &str, right: &str) -> Result<(), Fault> {
    if preamble.annotations.iter().any(|text| body(text, name).is_some()) {
        return Err(malformed(preamble, kind, &format!("@{name} belongs to {right}")));
    }
    Ok(())
}

fn malformed(preamble: &p4info::Preamble, kind: &str, problem: &str) -> Fault {
    Fault::invalid(format!("P4Info: {kind} '{}': {problem}", preamble.name))
}

fn of(preamble: &p4info::Preamble, kind: &str, name: &str, names: &Names) -> Result<Option<Restriction>, Fault> {
    let wrong = |problem: &str| malformed(preamble, kind, &format!("@{name}: {problem}"));
    if preamble.structured_annotations.iter().any(|given| given.name == name) {
        return Err(wrong("its text stands in parentheses, (\"...\"), not in brackets"));
    }
    let mut bodies = preamble.annotations.iter().filter_map(|text| body(text, name));
    let Some(first) = bodies.next() else { return Ok(None) };
    if bodies.next().is_some() {
        return Err(wrong("given twice; ';' joins two restrictions"));
    }
    let text = unquoted(first).ok_or_else(|| wrong("its text stands in parentheses and quotation marks, (\"...\")"))?;
    let clauses = syntax::parse(&text).and_then(|clauses| {
        let checked = clauses.iter().map(|clause| check::clause(&text, clause, names));
        checked.collect::<Result<Vec<_>, _>>()
    });
    let clauses = clauses.map_err(|problem| wrong(&problem))?;
    Ok(Some(Restriction { clauses }))
}

impl Restriction {
    /// The values that break the restriction, and the clauses that they break; `None` if they meet it.
    fn violations(&self, values: &[Value], priority: i32) -> Option<String> {
        let broken = self.clauses.iter().filter(|clause| !clause.holds(values, priority));
        let broken: Vec<String> = broken.map(|clause| clause.report(values, priority)).collect();
        (!broken.is_empty()).then(|| broken.join("; "))
    }

    /// Checks the parameters of an action, at full width and in order. Messages name `owner` and `action`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for values that break the restriction.
    pub fn check_action(&self, owner: &str, action: &str, params: &[Vec<u8>]) -> Result<(), Fault> {
        let values: Vec<Value> = params.iter().map(|param| Value::unsigned(param)).collect();
        match self.violations(&values, 0) {
            None => Ok(()),
            Some(broken) => Err(Fault::invalid(format!("{owner}: action '{action}': {broken}"))),
        }
    }

    /// Checks the key and the priority of an entry. Messages name `owner`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a key or priority that breaks the restriction.
    pub fn check_entry(&self, owner: &str, fields: &[Field], key: &[MatchKey], priority: i32) -> Result<(), Fault> {
        let values = fields.iter().zip(key).map(|(field, key)| key_value(field, key));
        match self.violations(&values.collect::<Vec<_>>(), priority) {
            None => Ok(()),
            Some(broken) => Err(Fault::invalid(format!("{owner}: its entries: {broken}"))),
        }
    }
}

/// The value of a match in the language: an exact field is one number, every other field is two.
fn key_value(field: &Field, key: &MatchKey) -> Value {
    match key {
        MatchKey::Exact(value) => Value::unsigned(value),
        MatchKey::Valid(valid) => Value::unsigned(&[u8::from(*valid)]),
        MatchKey::Lpm(value, length) => Value::pair(MatchKind::Lpm, value, &length.to_be_bytes()),
        MatchKey::Ternary(value, mask) => Value::pair(MatchKind::Ternary, value, mask),
        MatchKey::Range(low, high) => Value::pair(MatchKind::Range, low, high),
        MatchKey::Optional(None) => Value::pair(MatchKind::Ternary, &[], &[]),
        MatchKey::Optional(Some(value)) => Value::exactly(MatchKind::Optional, field.width, value),
    }
}

#[cfg(test)]
mod tests;
