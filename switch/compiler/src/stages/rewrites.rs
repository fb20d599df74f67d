//! Fields that a parser writes twice. The parser of Tofino 1 ORs a value into the field, so the second value would be
//! wrong (p4c `parde/check_parser_multi_write.cpp`, which refuses some of these fields and warns about the others).

use std::collections::BTreeMap;

use num_bigint::BigInt;

use super::{
    cells::{Cells, deposited},
    gateway::field,
};
use crate::{
    ir::{Case, Expr, ExprKind, FieldRef, HeaderRef, Ir, Parser, ParserOp},
    source::Span,
};

/// A write of a whole field.
struct Write {
    /// Index of the parser's state.
    state: usize,
    /// First state of its chain: the compiler makes one state of a chain.
    chain: usize,
    /// Position in the chain: number of states before, and number of operations before.
    at: (usize, usize),
    /// The written value, if it is a constant.
    constant: Option<BigInt>,
}

impl Write {
    /// True if a packet can reach this write before the other.
    fn before(&self, other: &Write, reached: &[Vec<bool>]) -> bool {
        reached[self.chain][other.chain] || (self.chain == other.chain && self.at < other.at)
    }

    /// True if the field has the right value after this write is ORed with the value of `first`.
    fn absorbs(&self, first: &Write, width: u32) -> bool {
        match (&first.constant, &self.constant) {
            (Some(first), Some(own)) => &(first | own) == own,
            (None, Some(own)) => *own == (BigInt::from(1) << width) - 1,
            (Some(first), None) => *first == BigInt::ZERO,
            (None, None) => false,
        }
    }
}

/// Errors of a parser on a chip that ORs. `read`: cells that are read after it.
pub fn check(ir: &Ir, chip: &str, parser: &Parser, read: &Cells) -> Vec<(Span, String)> {
    let reached = reached(parser);
    let mut wrong: BTreeMap<usize, String> = BTreeMap::new();
    for (cell, writes) in writes(ir, parser, read) {
        let width = ir.header_types[ir.headers[cell.0].ty].fields[cell.1].width;
        let Some((first, second)) = rewritten(&writes, &reached, width) else {
            continue;
        };
        let again = if first.state == second.state {
            "which it wrote when the packet came by before".to_owned()
        } else {
            format!("which the state '{}' wrote before", parser.states[first.state].name)
        };
        wrong.entry(second.state).or_insert_with(|| {
            format!(
                "the state '{}' writes '{}', {again}, but the parser of {chip} ORs the second value into the first. Write the \
                 field in one state of each path, or in the control",
                parser.states[second.state].name,
                field(ir, &FieldRef::new(HeaderRef::Static(cell.0), cell.1)),
            )
        });
    }
    let place = |(state, message): (usize, String)| (parser.states[state].span, message);
    wrong.into_iter().map(place).collect()
}

/// A write, and a later one that makes the field wrong.
fn rewritten<'w>(writes: &'w [Write], reached: &[Vec<bool>], width: u32) -> Option<(&'w Write, &'w Write)> {
    let is_first = |write: &Write| !writes.iter().any(|other| other.before(write, reached));
    let is_zero = |write: &Write| write.constant == Some(BigInt::ZERO);
    // Fields are zero at the start. Of several writes in one state, the last one counts.
    let is_last = |write: &Write| !writes.iter().any(|w| w.chain == write.chain && w.at > write.at);
    let counts = |write: &&Write| is_last(write) && !(is_zero(write) && is_first(write));
    let counted: Vec<&Write> = writes.iter().filter(counts).collect();
    counted.iter().find_map(|second| {
        let same = |first: &Write| first.constant.is_some() && first.constant == second.constant;
        let spoils = |first: &Write| first.before(second, reached) && !same(first) && !second.absorbs(first, width);
        counted
            .iter()
            .find(|first| spoils(first))
            .map(|first| (*first, *second))
    })
}

/// Writes of fields that are read after the parser, by header and field.
fn writes(ir: &Ir, parser: &Parser, read: &Cells) -> BTreeMap<(usize, usize), Vec<Write>> {
    let mut all: BTreeMap<(usize, usize), Vec<Write>> = BTreeMap::new();
    let chains = chains(parser);
    let mut write = |(header, index): (usize, usize), state: usize, op, constant| {
        if read.contains(&(header, Some(index))) {
            let (chain, before) = chains[state];
            let at = (before, op);
            let writes = all.entry((header, index)).or_default();
            writes.push(Write {
                state,
                chain,
                at,
                constant,
            });
        }
    };
    for (state, code) in parser.states.iter().enumerate() {
        for (at, op) in code.ops.iter().enumerate() {
            match op {
                ParserOp::Extract(HeaderRef::Static(header), _) => {
                    for index in 0..ir.header_types[ir.headers[*header].ty].fields.len() {
                        write((*header, index), state, at, None);
                    }
                }
                ParserOp::Set(to, value) if deposited(to, value).is_none() => {
                    if let HeaderRef::Static(header) = to.header {
                        write((header, to.field), state, at, constant(value));
                    }
                }
                _ => {}
            }
        }
    }
    all
}

/// The written value, if it is a constant.
fn constant(value: &Expr) -> Option<BigInt> {
    match value.kind {
        ExprKind::Bool(bit) => Some(BigInt::from(u8::from(bit))),
        _ => value.as_int(),
    }
}

/// First state of each state's chain, and number of states between. In a chain, each state leads only to the next, and
/// the next is reached only from it. The compiler makes one state of a chain (p4c `frontends/p4/simplifyParsers.cpp`).
fn chains(parser: &Parser) -> Vec<(usize, usize)> {
    let states = &parser.states;
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); states.len()];
    for (from, state) in states.iter().enumerate() {
        for to in state.transitions.iter().filter_map(|(_, to)| *to) {
            into[to].push(from);
        }
    }
    let before = |state: usize| match into[state][..] {
        [only] if matches!(states[only].transitions[..], [(Case::Default, _)]) && state != parser.start => Some(only),
        _ => None,
    };
    let first = |state: usize| {
        let mut at = state;
        for steps in 0..states.len() {
            match before(at) {
                Some(previous) => at = previous,
                None => return (at, steps),
            }
        }
        // A cycle that no other state leads into.
        (state, 0)
    };
    (0..states.len()).map(first).collect()
}

/// True if a packet can get from one state to another, by their indexes.
fn reached(parser: &Parser) -> Vec<Vec<bool>> {
    let states = &parser.states;
    let from = |start: usize| {
        let mut seen = vec![false; states.len()];
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            for next in states[at].transitions.iter().filter_map(|(_, to)| *to) {
                if !std::mem::replace(&mut seen[next], true) {
                    open.push(next);
                }
            }
        }
        seen
    };
    (0..states.len()).map(from).collect()
}
