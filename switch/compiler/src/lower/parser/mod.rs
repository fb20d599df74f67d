//! Parsers: states with their operations. Sub-parsers, decisions and function calls become additional states.

mod packet;
mod select;

use std::collections::HashMap;

use num_bigint::BigInt;

use super::{FrameRef, Lowerer, Named, flow::flattened, value::Value};
use crate::{
    arch::Arch,
    ir::{Arg, Case, Expr, HeaderRef, Label, Parser, ParserOp, ParserState, Primitive, Stmt, Ty},
    source::Span,
    typed::{
        tree::{self, Target, Transition},
        types::ParserId,
    },
};

/// The state in which a parser ends with an error. No state of a program has this name.
const REJECT: &str = "$reject";

/// A parser whose states are lowered, but not connected to other states yet.
pub(super) struct Call {
    states: Vec<Lowered>,
    start: usize,
    /// Name of the instance, for the names of its states; empty in the main parser.
    prefix: String,
    /// Code after the parser has accepted.
    after: Vec<Stmt>,
}

struct Lowered {
    name: String,
    stmts: Vec<Stmt>,
    key: Vec<Expr>,
    cases: Vec<(Case, Target)>,
    span: Span,
}

/// A state under construction.
struct Cursor {
    state: usize,
    /// True if its transition is set, so nothing may follow.
    closed: bool,
}

impl Cursor {
    fn at(state: usize) -> Cursor {
        Cursor { state, closed: false }
    }
}

impl Lowerer<'_> {
    /// Lowers a parser of the architecture with bound parameters.
    pub(super) fn main_parser(&mut self, name: &'static str, id: ParserId, frame: &FrameRef) {
        self.ir.parsers.push(Parser {
            name,
            states: Vec::new(),
            start: 0,
            errors_read: false,
        });
        let call = self.lower_parser(id, frame, Vec::new(), String::new());
        let start = self.join(call, None);
        self.parser().start = start;
    }

    /// The parser that is being lowered.
    fn parser(&mut self) -> &mut Parser {
        let last = self.ir.parsers.len() - 1;
        &mut self.ir.parsers[last]
    }

    pub(super) fn call_parser(
        &mut self,
        id: ParserId,
        frame: &FrameRef,
        args: &[Option<tree::Expr>],
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let params = self.program.parsers[id.index()].params.clone();
        let copy_outs = self.bind_parser(&params, frame, args, span, out);
        let mut after = Vec::new();
        let prefix = frame.borrow().path.rsplit('.').next().unwrap_or("").to_owned();
        let call = self.deeper(span, |l| l.lower_parser(id, frame, Vec::new(), prefix));
        for (to, from) in copy_outs {
            self.assign(&to, from.read(), span, &mut after);
        }
        let Some(mut call) = call else { return };
        call.after = after;
        self.states.push(call);
        let index = Arg::Number(BigInt::from(self.states.len() - 1));
        Self::push(out, "subparser", vec![index], span);
    }

    fn lower_parser(&mut self, id: ParserId, frame: &FrameRef, after: Vec<Stmt>, prefix: String) -> Call {
        let parser = &self.program.parsers[id.index()];
        let caller = std::mem::replace(&mut self.frame, frame.clone());
        let mut first = Vec::new();
        for local in &parser.locals {
            if let tree::Local::Variable(var, value) = local {
                self.declare(*var, value.as_ref(), &mut first);
            }
        }
        let start = parser.states.iter().position(|s| &*s.name == "start").unwrap_or(0);
        let reachable = reachable(parser, start);
        let loops_to_start = parser
            .states
            .iter()
            .enumerate()
            .any(|(i, s)| reachable[i] && targets(&s.transition).contains(&Target::State(start)));
        let mut states = Vec::new();
        for (i, state) in parser.states.iter().enumerate() {
            let mut stmts = Vec::new();
            if i == start && !loops_to_start {
                stmts.append(&mut first);
            }
            if !reachable[i] {
                let name = state.name.to_string();
                states.push(Lowered {
                    name,
                    stmts,
                    key: Vec::new(),
                    cases: Vec::new(),
                    span: state.span,
                });
                continue;
            }
            self.block(&state.body, &mut stmts);
            let (key, cases) = self.transition(&state.transition, &mut stmts);
            let name = crate::typed::annotations::name_of(&state.annotations).unwrap_or_else(|| state.name.to_string());
            let name = name.trim_start_matches('.').to_owned();
            states.push(Lowered {
                name,
                stmts: flattened(stmts),
                key,
                cases,
                span: state.span,
            });
        }
        let mut start = start;
        if loops_to_start && !first.is_empty() {
            // Variables are initialised once, not each time the start state is entered.
            let cases = vec![(Case::Default, Target::State(start))];
            let span = parser.span;
            let name = "initialise".to_owned();
            states.push(Lowered {
                name,
                stmts: flattened(first),
                key: Vec::new(),
                cases,
                span,
            });
            start = states.len() - 1;
        }
        self.frame = caller;
        Call {
            states,
            start,
            prefix,
            after,
        }
    }

    /// Adds the states of a parser to the program, and returns its start. `accept` is the state after accepting.
    fn join(&mut self, call: Call, accept: Option<usize>) -> usize {
        let accept = if call.after.is_empty() {
            accept
        } else {
            Some(self.after_state(call.after, accept))
        };
        let base = self.parser().states.len();
        for state in &call.states {
            let wanted = if call.prefix.is_empty() {
                state.name.clone()
            } else {
                format!("{}_{}", call.prefix, state.name)
            };
            let index = self.new_state(&wanted, state.span);
            debug_assert!(index >= base);
        }
        for (i, state) in call.states.into_iter().enumerate() {
            let mut cursor = Cursor {
                state: base + i,
                closed: false,
            };
            self.fill(&state.stmts, &mut cursor, &mut HashMap::new());
            if cursor.closed {
                continue;
            }
            let rejects = state.cases.iter().any(|(_, t)| *t == Target::Reject);
            let reject = if rejects { self.reject_state(accept) } else { accept };
            let to = |t: Target| match t {
                Target::State(s) => Some(base + s),
                Target::Accept => accept,
                Target::Reject => reject,
            };
            let transitions = state.cases.into_iter().map(|(case, t)| (case, to(t))).collect();
            let end = &mut self.parser().states[cursor.state];
            end.key = state.key;
            end.transitions = transitions;
        }
        base + call.start
    }

    /// Target of `reject`: BMv2 accepts such packets; on the chip they have a parser error.
    fn reject_state(&mut self, accept: Option<usize>) -> Option<usize> {
        if self.ir.arch == Arch::V1model {
            return accept;
        }
        let known = self.parser().states.iter().position(|s| s.name == REJECT);
        if known.is_some() {
            return known;
        }
        let number = self.program.errors.iter().position(|e| &**e == "NoMatch").unwrap_or(0);
        let state = self.new_state(REJECT, Span::default());
        let error = Expr::number(number as u64, 32);
        self.parser().states[state]
            .ops
            .push(ParserOp::Verify(Expr::bool(false), error));
        self.go(&Cursor::at(state), None);
        Some(state)
    }

    fn after_state(&mut self, stmts: Vec<Stmt>, accept: Option<usize>) -> usize {
        let index = self.new_state("return", Span::default());
        let mut cursor = Cursor::at(index);
        self.fill(&flattened(stmts), &mut cursor, &mut HashMap::new());
        self.go(&cursor, accept);
        index
    }

    fn new_state(&mut self, wanted: &str, span: Span) -> usize {
        let parser = self.ir.parsers.len() - 1;
        let states = &self.ir.parsers[parser].states;
        let taken = |name: &str| states.iter().any(|s| s.name == name);
        let name = self.numbers.fresh(Named::State(parser), wanted, taken);
        self.spend(span, 1);
        let states = &mut self.parser().states;
        states.push(ParserState {
            name,
            ops: Vec::new(),
            key: Vec::new(),
            transitions: Vec::new(),
            span,
        });
        states.len() - 1
    }

    fn go(&mut self, cursor: &Cursor, to: Option<usize>) {
        self.parser().states[cursor.state].transitions = vec![(Case::Default, to)];
    }

    /// Puts statements into states, from the state of the cursor on.
    fn fill(&mut self, stmts: &[Stmt], cursor: &mut Cursor, labels: &mut HashMap<Label, usize>) {
        for stmt in stmts {
            match stmt {
                Stmt::Primitive(p) if p.op == "subparser" => {
                    let index = match p.args.first() {
                        Some(Arg::Number(n)) => usize::try_from(n).unwrap_or(0),
                        _ => 0,
                    };
                    self.enter(index, cursor, p.span);
                }
                Stmt::Primitive(p) => {
                    let op = parser_op(p);
                    self.parser().states[cursor.state].ops.push(op);
                }
                Stmt::If(condition, yes, no, span) => {
                    let join = self.new_state("join", *span);
                    let branches = [self.new_state("then", *span), self.new_state("else", *span)];
                    let key = self.branch_key(condition, cursor, *span);
                    let state = &mut self.parser().states[cursor.state];
                    state.key = key;
                    let one = Case::Value(BigInt::from(1), None);
                    state.transitions = vec![(one, Some(branches[0])), (Case::Default, Some(branches[1]))];
                    for (start, stmts) in branches.into_iter().zip([yes, no]) {
                        let mut inner = Cursor::at(start);
                        self.fill(stmts, &mut inner, labels);
                        if !inner.closed {
                            self.go(&inner, Some(join));
                        }
                    }
                    cursor.state = join;
                }
                Stmt::Block(label, inner) => {
                    let end = self.new_state("end", Span::default());
                    labels.insert(*label, end);
                    self.fill(inner, cursor, labels);
                    if !cursor.closed {
                        self.go(cursor, Some(end));
                    }
                    *cursor = Cursor::at(end);
                }
                Stmt::Loop(inner, span) => {
                    let start = self.new_state("loop", *span);
                    self.go(cursor, Some(start));
                    let mut body = Cursor::at(start);
                    self.fill(inner, &mut body, labels);
                    if !body.closed {
                        self.go(&body, Some(start));
                    }
                    cursor.closed = true;
                }
                Stmt::Break(label) => {
                    let to = labels.get(label).copied();
                    self.go(cursor, to);
                    cursor.closed = true;
                }
                Stmt::Apply(_, _, span) | Stmt::Exit(span) => {
                    self.error(*span, "this cannot stand in a parser");
                }
            }
            if cursor.closed {
                return;
            }
        }
    }

    /// The condition of a decision, as a field for the key of a transition.
    fn branch_key(&mut self, condition: &Expr, cursor: &Cursor, span: Span) -> Vec<Expr> {
        let variable = self.temporary(Ty::Bool, span);
        let mut out = Vec::new();
        self.assign(&variable, Value::Scalar(condition.clone()), span, &mut out);
        for stmt in &out {
            if let Stmt::Primitive(p) = stmt {
                self.parser().states[cursor.state].ops.push(parser_op(p));
            }
        }
        vec![variable.read().scalar()]
    }

    /// Goes through the states of a sub-parser, and continues in a new state.
    fn enter(&mut self, index: usize, cursor: &mut Cursor, span: Span) {
        let empty = Call {
            states: Vec::new(),
            start: 0,
            prefix: String::new(),
            after: Vec::new(),
        };
        let Some(slot) = self.states.get_mut(index) else { return };
        let call = std::mem::replace(slot, empty);
        if call.states.is_empty() {
            return;
        }
        let rest = self.new_state("continue", span);
        let start = self.join(call, Some(rest));
        self.go(cursor, Some(start));
        cursor.state = rest;
    }
}

fn targets(transition: &Transition) -> Vec<Target> {
    match transition {
        Transition::Direct(t) => vec![*t],
        Transition::Select { cases, .. } => cases.iter().map(|(_, t)| *t).collect(),
    }
}

fn reachable(parser: &tree::Parser, start: usize) -> Vec<bool> {
    let mut seen = vec![false; parser.states.len()];
    let mut pending = vec![start];
    while let Some(i) = pending.pop() {
        if i >= seen.len() || std::mem::replace(&mut seen[i], true) {
            continue;
        }
        pending.extend(
            targets(&parser.states[i].transition)
                .into_iter()
                .filter_map(|t| match t {
                    Target::State(s) => Some(s),
                    _ => None,
                }),
        );
    }
    seen
}

/// A primitive as an operation of a parser state.
fn parser_op(p: &Primitive) -> ParserOp {
    match (p.op, p.args.as_slice()) {
        ("extract", [Arg::Header(h)]) => ParserOp::Extract(h.clone(), None),
        ("extract_VL", [Arg::Header(h), Arg::Value(bits)]) => ParserOp::Extract(h.clone(), Some(bits.clone())),
        ("extract", [Arg::UnionStack(s), Arg::Text(member)]) => ParserOp::ExtractUnion(*s, member.to_string(), None),
        ("extract_VL", [Arg::UnionStack(s), Arg::Text(member), Arg::Value(bits)]) => {
            ParserOp::ExtractUnion(*s, member.to_string(), Some(bits.clone()))
        }
        ("verify", [Arg::Value(check), Arg::Value(error)]) => ParserOp::Verify(check.clone(), error.clone()),
        ("advance", [Arg::Value(bits)]) => ParserOp::Advance(bits.clone()),
        ("assign", [Arg::Target(field), Arg::Value(value)]) if matches!(field.header, HeaderRef::Static(_)) => {
            ParserOp::Set(field.clone(), value.clone())
        }
        _ => ParserOp::Primitive(p.clone()),
    }
}
