//! The statements of a control in the form in which p4c makes tables of them: copies are replaced by their originals,
//! conditions are expressions, and statements with unread results are removed (`midend/local_copyprop`).

use std::collections::BTreeMap;

use num_bigint::BigInt;

use super::{
    alu,
    cells::{Cell, Cells, address, deposited, effect, headers, read_by},
    chip::Chip,
    gateway::show,
    live::{is_seen, prune},
    nodes::{Application, Node, computes, computes_value, each, field_cell, is_operand, leaves_by},
};
use crate::{
    ir::{Arg, EXECUTE_REGISTER_ACTION, Expr, ExprKind, Ir, Outcome, Parser, ParserOp, Primitive, Stmt},
    source::Span,
    syntax::ast::BinaryOp as B,
};

/// Statements of one control, and their errors. `roots`: cells that are read outside of it.
pub fn nodes(ir: &Ir, chip: &Chip, stmts: &[Stmt], roots: &Cells) -> (Vec<Node>, Vec<(Span, String)>) {
    let mut known = Known::new(ir, chip);
    let mut list = known.sequence(stmts);
    prune(ir, &mut list, roots);
    (list, known.wrong)
}

/// Known values of fields at one place.
struct Known<'a> {
    ir: &'a Ir,
    chip: &'a Chip,
    /// Values from statements of `apply` that have not changed since.
    values: BTreeMap<Cell, Expr>,
    wrong: Vec<(Span, String)>,
    /// Cells that may have been written.
    written: Cells,
}

impl Known<'_> {
    fn new<'a>(ir: &'a Ir, chip: &'a Chip) -> Known<'a> {
        Known {
            ir,
            chip,
            values: BTreeMap::new(),
            wrong: Vec::new(),
            written: ir.parsers.iter().flat_map(|p| written_by_parser(ir, p)).collect(),
        }
    }

    /// True if an operation sets metadata to zero, which the chip does before the parser (p4c `RemoveMetadataInits`).
    fn is_zero_already(&self, p: &Primitive) -> bool {
        let ("assign", [Arg::Target(to), Arg::Value(value)]) = (p.op, p.args.as_slice()) else {
            return false;
        };
        let value = deposited(to, value).map_or(value, |d| d.value);
        let cells = effect(self.ir, p).writes;
        let is_metadata = cells.iter().all(|c| !is_seen(self.ir, c));
        let is_zero = value.as_int() == Some(BigInt::ZERO) || value.kind == ExprKind::Bool(false);
        self.chip.zeroed && is_zero && is_metadata && self.written.is_disjoint(&cells)
    }

    fn forget(&mut self, written: &Cells) {
        self.written.extend(written.clone());
        let ir = self.ir;
        self.values
            .retain(|cell, value| !written.contains(cell) && read_by(ir, value).is_disjoint(written));
    }

    /// Replaces copies in an expression by their originals; in a condition also fields by their computation.
    fn follow(&self, e: &Expr, in_condition: bool) -> Expr {
        let inner = |e: &Expr| self.follow(e, in_condition);
        match &e.kind {
            ExprKind::Field(f) => {
                let known = field_cell(f).and_then(|cell| self.values.get(&cell));
                let known = known.filter(|v| in_condition || is_operand(v));
                known.map_or_else(|| e.clone(), |v| v.clone().cast(e.ty))
            }
            ExprKind::Unary(op, a) => Expr::unary(*op, inner(a)),
            ExprKind::Binary(op, a, b) => Expr::binary(*op, inner(a), inner(b), e.ty),
            ExprKind::Conditional(a, b, c) => Expr::conditional(inner(a), inner(b), inner(c)),
            ExprKind::Cast(a) => inner(a).cast(e.ty),
            _ => e.clone(),
        }
    }

    fn sequence(&mut self, stmts: &[Stmt]) -> Vec<Node> {
        let mut out = Vec::new();
        for stmt in stmts {
            match stmt {
                Stmt::Primitive(p) => self.operation(p, &mut out),
                Stmt::If(condition, yes, no, span) => {
                    let condition = self.follow(condition, true);
                    match condition.kind {
                        ExprKind::Bool(true) => out.extend(self.sequence(yes)),
                        ExprKind::Bool(false) => out.extend(self.sequence(no)),
                        _ => {
                            let mut branches = self.branches(&[yes, no]).into_iter();
                            let (yes, no) = (branches.next(), branches.next());
                            out.push(Node::If(
                                condition,
                                yes.unwrap_or_default(),
                                no.unwrap_or_default(),
                                *span,
                            ));
                        }
                    }
                }
                Stmt::Block(label, inner) if self.ir.calls.contains(label) => self.call(inner, &mut out),
                Stmt::Block(label, inner) => {
                    let inner = self.sequence(inner);
                    let left_early = leaves_by(&inner, *label);
                    if left_early {
                        // Values known at the end may be wrong where the block was left early.
                        self.forget(&written_by(self.ir, &inner));
                    }
                    out.push(Node::Block(*label, inner));
                }
                Stmt::Loop(_, span) => out.push(Node::Loop(*span)),
                Stmt::Break(label) => out.push(Node::Break(*label)),
                Stmt::Exit(_) => out.push(Node::Exit),
                Stmt::Apply(table, outcome, span) => {
                    let keys = self.ir.tables[*table].keys.iter();
                    let keys = keys.map(|k| self.follow(&k.looked_up(), false));
                    let keys = keys.collect();
                    self.forget(&table_writes(self.ir, *table));
                    let branches = match outcome {
                        Outcome::Any => Vec::new(),
                        Outcome::HitMiss(hit, miss) => self.branches(&[hit, miss]),
                        Outcome::Action(cases, rest) => {
                            let lists: Vec<&Vec<Stmt>> = cases.iter().map(|(_, s)| s).chain([rest]).collect();
                            self.branches(&lists)
                        }
                    };
                    out.push(Node::Apply(Application {
                        table: *table,
                        keys,
                        branches,
                        span: *span,
                    }));
                }
            }
        }
        out
    }

    /// An action that the control calls becomes a table of its own; it knows no values from around it. An action with
    /// branches stays as it is: the chip cannot run it.
    fn call(&mut self, code: &[Stmt], out: &mut Vec<Node>) {
        let mut inner = Vec::new();
        for stmt in code {
            match stmt {
                Stmt::Primitive(p) => inner.push(Node::Do(p.clone())),
                other => inner.extend(self.sequence(std::slice::from_ref(other))),
            }
        }
        self.forget(&written_by(self.ir, &inner));
        out.push(Node::Call(inner));
    }

    /// Branches, of which one runs. Afterwards, the values are known on which all continuing branches agree.
    fn branches(&mut self, lists: &[&Vec<Stmt>]) -> Vec<Vec<Node>> {
        let before = self.values.clone();
        let (written_before, mut written) = (self.written.clone(), self.written.clone());
        let mut after: Option<BTreeMap<Cell, Expr>> = None;
        let mut out = Vec::new();
        for list in lists {
            self.values = before.clone();
            self.written = written_before.clone();
            let nodes = self.sequence(list);
            written.extend(std::mem::take(&mut self.written));
            if !matches!(nodes.last(), Some(Node::Break(_) | Node::Exit)) {
                match &mut after {
                    None => after = Some(self.values.clone()),
                    Some(all) => all.retain(|cell, value| self.values.get(cell) == Some(value)),
                }
            }
            out.push(nodes);
        }
        self.values = after.unwrap_or(before);
        self.written = written;
        out
    }

    /// Replaces the fields of an operation by their computation in earlier statements, and checks the result (p4c
    /// `LocalCopyPropagation`): it must be one operation without a computed index.
    fn joined(&mut self, p: &Primitive) {
        let wrong = match (p.op, p.args.as_slice()) {
            ("assign", [Arg::Target(to), Arg::Value(value)]) if computes_value(p) => {
                let all = self.follow(value, true);
                let was_one = alu::one_operation(self.ir, self.chip, to, value).is_ok();
                let is_one = add_constants(&all) || alu::one_operation(self.ir, self.chip, to, &all).is_ok();
                (was_one && !is_one).then(|| {
                    format!(
                        "'{}' is computed by statements of 'apply', which the open compiler joins in one action, and an ALU does \
                         one operation in a stage. Make an action of its own of what is computed first",
                        show(self.ir, &all)
                    )
                })
            }
            (EXECUTE_REGISTER_ACTION | "count", args) => {
                let index = args.iter().find_map(|a| match a {
                    Arg::Value(e) => Some(address(&self.follow(e, true))),
                    _ => None,
                });
                let index = index.filter(|e| computes(e) && !alu::is_joined(e));
                index.map(|e| {
                    format!(
                        "'{}' is computed in an index, but the address of a cell is made of fields or a hash. Compute it in an \
                         action of its own before",
                        show(self.ir, &e)
                    )
                })
            }
            _ => None,
        };
        self.wrong.extend(wrong.map(|message| (p.span, message)));
    }

    fn operation(&mut self, p: &Primitive, out: &mut Vec<Node>) {
        let mut p = p.clone();
        for arg in &mut p.args {
            match arg {
                Arg::Value(e) => *e = self.follow(e, false),
                Arg::Values(list) => list.iter_mut().for_each(|e| *e = self.follow(e, false)),
                _ => {}
            }
        }
        self.joined(&p);
        let is_needed = !self.is_zero_already(&p);
        self.forget(&effect(self.ir, &p).writes);
        if let ("assign", [Arg::Target(to), Arg::Value(value)]) = (p.op, p.args.as_slice())
            && let Some(cell) = field_cell(to)
            && !read_by(self.ir, value).contains(&cell)
        {
            self.values.insert(cell, value.clone());
        }
        if is_needed {
            out.push(Node::Do(p));
        }
    }
}

/// True for `a + 1 - 3` and the like, which are one sum.
fn add_constants(e: &Expr) -> bool {
    let sum = |e: &Expr| match &e.kind {
        ExprKind::Binary(B::Add | B::Sub, a, b) if b.is_known() => Some((**a).clone()),
        _ => None,
    };
    sum(e).and_then(|a| sum(&a)).is_some_and(|a| is_operand(&a))
}

/// Cells that a parser may set to a value other than zero.
fn written_by_parser(ir: &Ir, parser: &Parser) -> Cells {
    let ops = parser.states.iter().flat_map(|s| &s.ops);
    let written = ops.map(|op| match op {
        ParserOp::Set(_, value) if value.as_int() == Some(BigInt::ZERO) => Cells::new(),
        ParserOp::Set(to, _) => headers(ir, &to.header)
            .into_iter()
            .map(|h| (h, Some(to.field)))
            .collect(),
        ParserOp::Primitive(p) => effect(ir, p).writes,
        _ => Cells::new(),
    });
    written.flatten().collect()
}

/// Cells that the actions of a table write.
pub fn table_writes(ir: &Ir, table: usize) -> Cells {
    let actions = ir.tables[table].actions.iter().map(|(a, _)| *a);
    let code = actions.flat_map(|a| &ir.actions[a].code);
    code.flat_map(|p| effect(ir, p).writes).collect()
}

fn written_by(ir: &Ir, nodes: &[Node]) -> Cells {
    let mut cells = Cells::new();
    each(nodes, &mut |node| match node {
        Node::Do(p) => cells.extend(effect(ir, p).writes),
        Node::Apply(a) => cells.extend(table_writes(ir, a.table)),
        _ => {}
    });
    cells
}
