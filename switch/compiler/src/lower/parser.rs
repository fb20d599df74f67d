//! Parsers: states with their operations; sub-parsers, decisions and function calls become states of their own.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::{
    Block, FrameRef, Lowerer,
    assign::target,
    flow::flattened,
    value::{Loc, Value},
};
use crate::{
    ir::{Arg, Case, Expr, ExprKind, HeaderRef, Label, ParserOp, ParserState, Primitive, Stmt, Ty},
    source::Span,
    typed::{
        tree::{self, Target, Transition},
        types::{ParserId, Type},
    },
};

/// Most transitions of a state, which ranges may multiply.
const MAX_CASES: usize = 4096;

/// A parser with its states lowered but not joined to others yet.
pub(super) struct Call {
    states: Vec<Lowered>,
    start: usize,
    /// Name of the instance, for the names of its states; empty for the main parser.
    prefix: String,
    /// What is done when it accepts.
    after: Vec<Stmt>,
}

struct Lowered {
    name: String,
    stmts: Vec<Stmt>,
    key: Vec<Expr>,
    cases: Vec<(Case, Target)>,
    span: Span,
}

/// A state that is being filled.
struct Cursor {
    state: usize,
    /// Nothing more comes: a transition has been set.
    closed: bool,
}

impl Lowerer<'_> {
    pub(super) fn main_parser(&mut self, id: ParserId, frame: &FrameRef) {
        let call = self.lower_parser(id, frame, Vec::new(), String::new());
        let start = self.join(call, None);
        self.ir.start = start;
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
            let name = super::name_of(&state.annotations).unwrap_or_else(|| state.name.to_string());
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
            // Variables get their first values once, not each time the start state is entered again.
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

    fn transition(&mut self, transition: &Transition, out: &mut Vec<Stmt>) -> (Vec<Expr>, Vec<(Case, Target)>) {
        let (keys, cases, span) = match transition {
            Transition::Direct(to) => return (Vec::new(), vec![(Case::Default, *to)]),
            Transition::Select { keys, cases, span } => (keys, cases, *span),
        };
        let mut key = Vec::new();
        for k in keys {
            if let Some(ahead) = self.direct_lookahead(k) {
                key.push(ahead);
                continue;
            }
            let value = self.scalar_of(k, out);
            let direct = match &value.kind {
                ExprKind::Field(f) => !matches!(f.header, HeaderRef::Element(..) | HeaderRef::Next(_)),
                ExprKind::Lookahead(..) => true,
                _ => false,
            };
            if direct {
                key.push(value);
                continue;
            }
            let variable = self.temporary(value.ty, k.span);
            self.assign(&variable, Value::Scalar(value), k.span, out);
            key.push(variable.read().scalar());
        }
        let mut list = Vec::new();
        for (sets, to) in cases {
            let expanded = self.cases(sets, &key, span);
            let is_default = expanded.iter().any(|c| matches!(c, Case::Default));
            list.extend(expanded.into_iter().map(|c| (c, *to)));
            if is_default || list.len() > MAX_CASES {
                break;
            }
        }
        if list.len() > MAX_CASES {
            self.error(
                span,
                format!("the ranges of this select make more than {MAX_CASES} transitions"),
            );
        }
        (key, list)
    }

    /// `packet.lookahead<bit<N>>()` alone, which a transition can look at without a variable.
    fn direct_lookahead(&self, key: &tree::Expr) -> Option<Expr> {
        let tree::ExprKind::Call(callee, types, _) = &key.kind else {
            return None;
        };
        let tree::Callee::Method(object, method) = &**callee else {
            return None;
        };
        let Type::Extern(id, _) = &object.ty else { return None };
        if &*self.program.externs[id.index()].methods[*method].name != "lookahead" {
            return None;
        }
        match self.scalar_type(types.first()?)? {
            ty @ Ty::Bits { width, signed: false } => Some(Expr {
                kind: ExprKind::Lookahead(0, width),
                ty,
            }),
            _ => None,
        }
    }

    /// The values and masks of all keys together that a case stands for.
    fn cases(&mut self, sets: &[tree::Expr], key: &[Expr], span: Span) -> Vec<Case> {
        if sets.iter().all(|s| matches!(s.kind, tree::ExprKind::Any)) {
            return vec![Case::Default];
        }
        if let [
            tree::Expr {
                kind: tree::ExprKind::ValueSet(id),
                ..
            },
        ] = sets
        {
            let set = self.frame.borrow().value_sets.get(id).copied();
            return set.map(Case::ValueSet).into_iter().collect();
        }
        // Joined values so far, with their masks.
        let mut joined = vec![(BigInt::ZERO, BigInt::ZERO)];
        let mut full = BigInt::ZERO;
        for (set, key) in sets.iter().zip(key) {
            let width = key.ty.width();
            let padded = width.div_ceil(8) * 8;
            let all: BigInt = (BigInt::from(1) << width) - 1;
            let elements = self.elements(set, width, span);
            full = (full << padded) | &all;
            if joined.len() * elements.len() > MAX_CASES {
                self.error(
                    span,
                    format!("the ranges of this select make more than {MAX_CASES} transitions"),
                );
                return Vec::new();
            }
            let product = joined.iter().flat_map(|(v, m)| {
                elements
                    .iter()
                    .map(move |(w, n)| ((v << padded) | w, (m << padded) | n))
            });
            joined = product.collect();
        }
        // A mask of full bytes is told from that of all bits by the padding, which is zero in both.
        joined
            .into_iter()
            .map(|(v, m)| {
                if m == full {
                    Case::Value(v, None)
                } else {
                    Case::Value(v, Some(m))
                }
            })
            .collect()
    }

    /// Values and masks that a set of one key stands for.
    fn elements(&mut self, set: &tree::Expr, width: u32, span: Span) -> Vec<(BigInt, BigInt)> {
        let all: BigInt = (BigInt::from(1) << width) - 1;
        let value = |l: &mut Self, e: &tree::Expr| {
            let value = l.known(e, "the value").unwrap_or_default();
            crate::check::wrap(&value, false, width)
        };
        match &set.kind {
            tree::ExprKind::Any => vec![(BigInt::ZERO, BigInt::ZERO)],
            tree::ExprKind::Mask(v, m) => {
                let (v, m) = (value(self, v), value(self, m));
                vec![(&v & &m, m)]
            }
            tree::ExprKind::Range(low, high) => {
                let (low, high) = (value(self, low), value(self, high));
                prefixes(&low, &high, width)
            }
            tree::ExprKind::ValueSet(_) => {
                self.error(span, "BMv2 takes a value set only as the whole of a case");
                Vec::new()
            }
            _ => vec![(value(self, set), all)],
        }
    }

    /// Adds a parser's states to the program. Accepting goes to `accept`. Returns its start.
    fn join(&mut self, call: Call, accept: Option<usize>) -> usize {
        let accept = if call.after.is_empty() {
            accept
        } else {
            Some(self.after_state(call.after, accept))
        };
        let base = self.ir.states.len();
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
            let to = |t: Target| match t {
                Target::State(s) => Some(base + s),
                Target::Accept | Target::Reject => accept,
            };
            let transitions = state.cases.into_iter().map(|(case, t)| (case, to(t))).collect();
            let end = &mut self.ir.states[cursor.state];
            end.key = state.key;
            end.transitions = transitions;
        }
        base + call.start
    }

    fn after_state(&mut self, stmts: Vec<Stmt>, accept: Option<usize>) -> usize {
        let index = self.new_state("return", Span::default());
        let mut cursor = Cursor {
            state: index,
            closed: false,
        };
        self.fill(&flattened(stmts), &mut cursor, &mut HashMap::new());
        self.go(&cursor, accept);
        index
    }

    fn new_state(&mut self, wanted: &str, span: Span) -> usize {
        let mut name = wanted.to_owned();
        let mut n = 0;
        while self.ir.states.iter().any(|s| s.name == name) {
            name = format!("{wanted}_{n}");
            n += 1;
        }
        self.spend(span, 1);
        self.ir.states.push(ParserState {
            name,
            ops: Vec::new(),
            key: Vec::new(),
            transitions: Vec::new(),
            span,
        });
        self.ir.states.len() - 1
    }

    fn go(&mut self, cursor: &Cursor, to: Option<usize>) {
        self.ir.states[cursor.state].transitions = vec![(Case::Default, to)];
    }

    /// Puts statements in states, from that of the cursor on.
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
                    self.ir.states[cursor.state].ops.push(op);
                }
                Stmt::If(condition, yes, no, span) => {
                    let join = self.new_state("join", *span);
                    let branches = [self.new_state("then", *span), self.new_state("else", *span)];
                    let key = self.branch_key(condition, cursor, *span);
                    let state = &mut self.ir.states[cursor.state];
                    state.key = key;
                    let one = Case::Value(BigInt::from(1), None);
                    state.transitions = vec![(one, Some(branches[0])), (Case::Default, Some(branches[1]))];
                    for (start, stmts) in branches.into_iter().zip([yes, no]) {
                        let mut inner = Cursor {
                            state: start,
                            closed: false,
                        };
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
                    *cursor = Cursor {
                        state: end,
                        closed: false,
                    };
                }
                Stmt::Loop(inner, span) => {
                    let start = self.new_state("loop", *span);
                    self.go(cursor, Some(start));
                    let mut body = Cursor {
                        state: start,
                        closed: false,
                    };
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

    /// The condition of a decision as a field that a transition can look at.
    fn branch_key(&mut self, condition: &Expr, cursor: &Cursor, span: Span) -> Vec<Expr> {
        let variable = self.temporary(Ty::Bool, span);
        let mut out = Vec::new();
        self.assign(&variable, Value::Scalar(condition.clone()), span, &mut out);
        for stmt in &out {
            if let Stmt::Primitive(p) = stmt {
                self.ir.states[cursor.state].ops.push(parser_op(p));
            }
        }
        vec![variable.read().scalar()]
    }

    /// Goes through a sub-parser's states and on in a new one.
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

    pub(super) fn packet_in(
        &mut self,
        method: &str,
        types: &[Type],
        args: &[Option<tree::Expr>],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        if self.block != Block::Parser {
            self.error(span, "a packet can be read in parsers only");
            return Value::Nothing;
        }
        match method {
            "extract" => self.extract(types, args, span, out),
            "lookahead" => {
                let mut offset = 0;
                return self.lookahead(types.first().unwrap_or(&Type::Unknown), &mut offset, span, out);
            }
            "advance" => {
                let bits = match args.first().and_then(Option::as_ref) {
                    Some(e) => self.scalar_of(e, out),
                    None => return Value::Nothing,
                };
                Self::push(out, "advance", vec![Arg::Value(bits)], span);
            }
            _ => {
                self.error(
                    span,
                    format!("'{method}' is not supported by BMv2; standard_metadata.packet_length is"),
                );
            }
        }
        Value::Nothing
    }

    fn extract(&mut self, types: &[Type], args: &[Option<tree::Expr>], span: Span, out: &mut Vec<Stmt>) {
        let Some(Some(arg)) = args.first() else {
            // `extract<H>(_)` skips a header.
            let width = types
                .first()
                .and_then(|t| self.program.types.width(t, false))
                .unwrap_or(0);
            Self::push(out, "advance", vec![Arg::Value(Expr::number(width, 32))], span);
            return;
        };
        let varbit = match &arg.ty {
            Type::Struct(id) => self
                .program
                .types
                .get(*id)
                .fields
                .iter()
                .any(|f| matches!(f.ty, Type::Varbit(_))),
            _ => false,
        };
        let size = args.get(1).and_then(Option::as_ref);
        if varbit != size.is_some() {
            let message = if varbit {
                "a header with a varbit field is extracted with the field's size: extract(hdr, bits)"
            } else {
                "extract takes a size only for headers with a varbit field"
            };
            self.error(span, message);
            return;
        }
        let place = self.place(arg, out);
        let mut list = match &place {
            Loc::Header(header @ (HeaderRef::Static(_) | HeaderRef::Next(_)), _) => vec![Arg::Header(header.clone())],
            Loc::NextUnionMember(stack, member) => {
                vec![Arg::UnionStack(*stack), Arg::Text(member.as_str().into())]
            }
            Loc::Nowhere => return,
            _ => {
                self.error(arg.span, "BMv2 extracts to a header, or to the next element of a stack");
                return;
            }
        };
        match size {
            Some(size) => {
                let size = self.scalar_of(size, out);
                list.push(Arg::Value(size));
                Self::push(out, "extract_VL", list, span);
            }
            None => Self::push(out, "extract", list, span),
        }
    }

    /// The next bits of the packet as a value of a type.
    fn lookahead(&mut self, ty: &Type, offset: &mut u32, span: Span, out: &mut Vec<Stmt>) -> Value {
        if let Some(scalar) = self.scalar_type(ty) {
            let width = scalar.width();
            let ahead = Expr {
                kind: ExprKind::Lookahead(*offset, width),
                ty: Ty::bit(width),
            };
            *offset += width;
            // BMv2 takes a look ahead as a whole value only, not within an expression.
            let variable = self.temporary(scalar, span);
            if let Some(field) = target(&variable) {
                Self::push(out, "assign", vec![Arg::Target(field), Arg::Value(ahead)], span);
            }
            return variable.read();
        }
        match ty {
            Type::Struct(id) => {
                let def = self.program.types.get(*id);
                let (fields, kind) = (def.fields.clone(), def.kind);
                let values = fields
                    .iter()
                    .map(|f| self.lookahead(&f.ty, offset, span, out))
                    .collect();
                if kind == crate::syntax::ast::Composite::Header {
                    Value::Header(values)
                } else {
                    Value::List(values)
                }
            }
            Type::Tuple(types) => Value::List(types.iter().map(|t| self.lookahead(t, offset, span, out)).collect()),
            Type::Stack(element, n) => {
                Value::List((0..*n).map(|_| self.lookahead(element, offset, span, out)).collect())
            }
            Type::Unknown => Value::Nothing,
            other => {
                let shown = self.show(other);
                self.error(span, format!("lookahead needs a type of fixed size, not {shown}"));
                Value::Nothing
            }
        }
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

/// A primitive of a parser state in the form that states have.
fn parser_op(p: &Primitive) -> ParserOp {
    match (p.op, p.args.as_slice()) {
        ("extract", [Arg::Header(h)]) => ParserOp::Extract(h.clone(), None),
        ("extract_VL", [Arg::Header(h), Arg::Value(bits)]) => ParserOp::Extract(h.clone(), Some(bits.clone())),
        ("extract", [Arg::UnionStack(s), Arg::Text(member)]) => ParserOp::ExtractUnion(*s, member.to_string()),
        ("verify", [Arg::Value(check), Arg::Value(error)]) => ParserOp::Verify(check.clone(), error.clone()),
        ("advance", [Arg::Value(bits)]) => ParserOp::Advance(bits.clone()),
        ("assign", [Arg::Target(field), Arg::Value(value)]) if matches!(field.header, HeaderRef::Static(_)) => {
            ParserOp::Set(field.clone(), value.clone())
        }
        _ => ParserOp::Primitive(p.clone()),
    }
}

/// The fewest values with prefix masks that make up a range.
fn prefixes(low: &BigInt, high: &BigInt, width: u32) -> Vec<(BigInt, BigInt)> {
    let all: BigInt = (BigInt::from(1) << width) - 1;
    let mut list = Vec::new();
    let mut at = low.clone();
    while at <= *high && list.len() <= MAX_CASES {
        let mut size = at
            .trailing_zeros()
            .map_or(width, |z| u32::try_from(z).unwrap_or(width).min(width));
        while &at + (BigInt::from(1) << size) - 1 > *high {
            size -= 1;
        }
        let block = BigInt::from(1) << size;
        list.push((at.clone(), &all - (&block - 1)));
        at += block;
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_becomes_the_fewest_prefixes() {
        let list = prefixes(&BigInt::from(1), &BigInt::from(6), 3);
        let want = [(1, 7), (2, 6), (4, 6), (6, 7)].map(|(v, m)| (BigInt::from(v), BigInt::from(m)));
        assert_eq!(list, want);
        assert_eq!(
            prefixes(&BigInt::ZERO, &BigInt::from(255), 8),
            [(BigInt::ZERO, BigInt::ZERO)]
        );
    }

    #[test]
    fn an_empty_range_has_no_values() {
        assert!(prefixes(&BigInt::from(3), &BigInt::from(2), 8).is_empty());
    }
}
