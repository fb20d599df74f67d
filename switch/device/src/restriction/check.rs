//! Checks of the names and types of a restriction. Numbers have any size; values of the program have a width. A number
//! that is compared with such a value takes its width. A number that is compared with a whole key field becomes an
//! exact match of it.

use num_bigint::BigInt;
use p4sched_dataplane::MatchKind;

use super::evaluate::{Term, Value};
use super::syntax::{Comparison, Kind, Node};
use crate::field::{Field, Param};

/// The names that a restriction can use.
pub enum Names<'a> {
    /// Those of an action restriction.
    Params(&'a [Param]),
    /// Those of an entry restriction.
    Key(&'a [Field]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Bool,
    Int,
    Bits(u32),
    Field(MatchKind, u32),
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Type::Bool => write!(f, "bool"),
            Type::Int => write!(f, "int"),
            Type::Bits(width) => write!(f, "bit<{width}>"),
            Type::Field(kind, width) => write!(f, "{} of bit<{width}>", format!("{kind:?}").to_lowercase()),
        }
    }
}

/// A clause whose names and types were checked.
#[derive(Debug)]
pub struct CheckedClause {
    term: Term,
    text: String,
    /// The names in the clause, with their positions in the list of values.
    mentioned: Vec<(usize, String)>,
    mentions_priority: bool,
}

impl CheckedClause {
    /// Whether these values meet the clause.
    pub fn holds(&self, values: &[Value], priority: i32) -> bool {
        self.term.evaluate(values, priority) == Value::Bool(true)
    }

    /// The values that the clause uses, and its text.
    pub fn report(&self, values: &[Value], priority: i32) -> String {
        let named = self.mentioned.iter().filter_map(|(slot, name)| {
            let value = values.get(*slot)?;
            Some(format!("{name} = {value}"))
        });
        let mut named: Vec<String> = named.collect();
        if self.mentions_priority {
            named.push(format!("priority = {priority}"));
        }
        match named.len() {
            0 => format!("the restriction '{}' never holds", self.text),
            1 => format!("{} breaks the restriction '{}'", named.join(", "), self.text),
            _ => format!("{} break the restriction '{}'", named.join(", "), self.text),
        }
    }
}

/// Checks a clause of the restriction `text`.
pub fn clause(text: &str, node: &Node, names: &Names) -> Result<CheckedClause, String> {
    let mut checker = Checker {
        text,
        names,
        mentioned: Vec::new(),
        mentions_priority: false,
    };
    let term = checker.boolean(node)?;
    Ok(CheckedClause {
        term,
        text: checker.quote(node),
        mentioned: checker.mentioned,
        mentions_priority: checker.mentions_priority,
    })
}

struct Checker<'a> {
    text: &'a str,
    names: &'a Names<'a>,
    mentioned: Vec<(usize, String)>,
    mentions_priority: bool,
}

impl Checker<'_> {
    /// An expression as it was written, on one line.
    fn quote(&self, node: &Node) -> String {
        let words = self.text[node.span.clone()].split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    }

    fn boolean(&mut self, node: &Node) -> Result<Term, String> {
        match self.term(node)? {
            (term, Type::Bool) => Ok(term),
            (_, other) => Err(format!("'{}' is {other}, not a condition", self.quote(node))),
        }
    }

    fn booleans(&mut self, nodes: &[Node]) -> Result<Vec<Term>, String> {
        nodes.iter().map(|node| self.boolean(node)).collect()
    }

    fn term(&mut self, node: &Node) -> Result<(Term, Type), String> {
        Ok(match &node.kind {
            Kind::Bool(value) => (Term::Constant(Value::Bool(*value)), Type::Bool),
            Kind::Number(value) => (Term::Constant(Value::Number(value.clone())), Type::Int),
            Kind::Name(name) => self.named(name)?,
            Kind::Attribute(name) => self.attribute(name)?,
            Kind::Part(whole, part) => self.part(whole, part)?,
            Kind::Not(inner) => (Term::Not(Box::new(self.boolean(inner)?)), Type::Bool),
            Kind::Negate(inner) => match self.term(inner)? {
                (Term::Constant(Value::Number(value)), Type::Int) => (Term::Constant(Value::Number(-value)), Type::Int),
                (term, Type::Int) => (Term::Negate(Box::new(term)), Type::Int),
                (_, other) => return Err(format!("'-' before '{}', which is {other}, not int", self.quote(inner))),
            },
            Kind::All(parts) => (Term::All(self.booleans(parts)?), Type::Bool),
            Kind::Any(parts) => (Term::Any(self.booleans(parts)?), Type::Bool),
            Kind::Implies(left, right) => {
                let left = Term::Not(Box::new(self.boolean(left)?));
                (Term::Any(vec![left, self.boolean(right)?]), Type::Bool)
            }
            Kind::Compare(comparison, left, right) => (self.comparison(node, *comparison, left, right)?, Type::Bool),
        })
    }

    fn named(&mut self, name: &str) -> Result<(Term, Type), String> {
        let (what, known): (_, Vec<(&str, Type)>) = match self.names {
            Names::Params(params) => (
                "parameter",
                params
                    .iter()
                    .map(|param| (&*param.name, Type::Bits(param.width)))
                    .collect(),
            ),
            Names::Key(fields) => (
                "key field",
                fields
                    .iter()
                    .map(|field| (&*field.name, Type::Field(field.kind, field.width)))
                    .collect(),
            ),
        };
        let slot = known.iter().position(|(known, _)| *known == name).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            match names.len() {
                0 => format!("no {what} '{name}'; there are none"),
                _ => format!("no {what} '{name}'; there are {}", names.join(", ")),
            }
        })?;
        if !self.mentioned.iter().any(|(mentioned, _)| *mentioned == slot) {
            self.mentioned.push((slot, name.to_owned()));
        }
        Ok((Term::Slot(slot), known[slot].1))
    }

    fn attribute(&mut self, name: &str) -> Result<(Term, Type), String> {
        match (name, self.names) {
            ("priority", Names::Key(_)) => {
                self.mentions_priority = true;
                Ok((Term::Priority, Type::Int))
            }
            ("priority", Names::Params(_)) => Err("'::priority' is of entries; an action has none".to_owned()),
            _ => Err(format!("no attribute '::{name}'; there is ::priority")),
        }
    }

    fn part(&mut self, whole: &Node, part: &str) -> Result<(Term, Type), String> {
        let (term, of) = self.term(whole)?;
        let quote = self.quote(whole);
        let Type::Field(kind, width) = of else {
            return Err(format!("'{quote}::{part}': '{quote}' is {of}, not a key field"));
        };
        let parts: &[(&str, Type)] = match kind {
            MatchKind::Exact | MatchKind::Valid => &[("value", Type::Bits(width))],
            MatchKind::Ternary | MatchKind::Optional => &[("value", Type::Bits(width)), ("mask", Type::Bits(width))],
            MatchKind::Lpm => &[("value", Type::Bits(width)), ("prefix_length", Type::Int)],
            MatchKind::Range => &[("low", Type::Bits(width)), ("high", Type::Bits(width))],
        };
        let place = parts.iter().position(|(known, _)| *known == part).ok_or_else(|| {
            let known: Vec<&str> = parts.iter().map(|(part, _)| *part).collect();
            format!("'{quote}::{part}': {of} has {}", known.join(" and "))
        })?;
        Ok((Term::Part(Box::new(term), place), parts[place].1))
    }

    fn comparison(&mut self, node: &Node, comparison: Comparison, left: &Node, right: &Node) -> Result<Term, String> {
        let (first, second) = (self.term(left)?, self.term(right)?);
        let common = match (first.1, second.1) {
            (a, b) if a == b => Some(a),
            (Type::Bool, _) | (_, Type::Bool) => None,
            (Type::Int, b) => Some(b),
            (a, Type::Int) => Some(a),
            (Type::Field(kind, width), Type::Bits(bits)) | (Type::Bits(bits), Type::Field(kind, width))
                if bits == width =>
            {
                Some(Type::Field(kind, width))
            }
            _ => None,
        };
        let quote = self.quote(node);
        let common = common.ok_or_else(|| {
            format!(
                "'{quote}' compares {} with {}; they must be of one type",
                first.1, second.1
            )
        })?;
        let ordered = match common {
            Type::Int | Type::Bits(_) => true,
            Type::Field(kind, _) => matches!(kind, MatchKind::Exact | MatchKind::Valid),
            Type::Bool => false,
        };
        if !ordered && !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return Err(format!(
                "'{quote}': {common} has no order; compare with == or !=, or compare its parts"
            ));
        }
        let left = converted(first, common).map_err(|problem| format!("'{quote}': {problem}"))?;
        let right = converted(second, common).map_err(|problem| format!("'{quote}': {problem}"))?;
        Ok(Term::Compare(comparison, Box::new(left), Box::new(right)))
    }
}

/// Converts a term to the type of the other operand.
fn converted((term, from): (Term, Type), to: Type) -> Result<Term, String> {
    let width = match to {
        Type::Bits(width) | Type::Field(_, width) => width,
        Type::Bool | Type::Int => return Ok(term),
    };
    let term = match (from, term) {
        (Type::Int, Term::Constant(Value::Number(value))) => {
            // No value of this width is equal to such a number, so it is a mistake.
            let least = -(BigInt::from(1) << width.saturating_sub(1));
            if value < least || value >= BigInt::from(1) << width {
                return Err(format!("{value} does not fit bit<{width}>"));
            }
            Term::Bits(Box::new(Term::Constant(Value::Number(value))), width)
        }
        (Type::Int, term) => Term::Bits(Box::new(term), width),
        (_, term) => term,
    };
    Ok(match (from, to) {
        (Type::Int | Type::Bits(_), Type::Field(kind, width)) => Term::Exactly(Box::new(term), kind, width),
        _ => term,
    })
}
