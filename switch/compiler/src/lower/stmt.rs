//! Statements.

use num_bigint::BigInt;

use super::{
    Lowerer,
    value::{Loc, Value},
};
use crate::{
    ir::{self, Expr, Label, Stmt, Ty},
    source::Span,
    syntax::ast::{BinaryOp, UnaryOp},
    typed::{
        tree::{self, ExprKind, StmtKind},
        types::VarId,
    },
};

/// Limit on unrolled repetitions of a loop over known values.
const MAX_UNROLL: usize = 1024;

impl Lowerer<'_> {
    pub(super) fn block(&mut self, block: &tree::Block, out: &mut Vec<Stmt>) {
        for stmt in &block.stmts {
            if !self.spend(stmt.span, 1) {
                return;
            }
            self.statement(stmt, out);
        }
    }

    fn nested(&mut self, block: &tree::Block) -> Vec<Stmt> {
        let mut out = Vec::new();
        self.block(block, &mut out);
        out
    }

    /// Lowers statements that run only if `condition` holds.
    fn under(&mut self, condition: Expr, block: &tree::Block) -> Vec<Stmt> {
        self.conditions.push(condition);
        let out = self.nested(block);
        self.conditions.pop();
        out
    }

    /// Declares a variable: it gets its first value, and its headers are invalid.
    pub(super) fn declare(&mut self, var: VarId, value: Option<&tree::Expr>, out: &mut Vec<Stmt>) {
        let span = self.program.vars[var.index()].span;
        match value {
            Some(value) => {
                let value = self.value(value, out);
                let loc = self.variable_loc(var);
                self.assign(&loc, value, span, out);
            }
            None => {
                let loc = self.variable_loc(var);
                self.invalidate(&loc, span, out);
            }
        }
    }

    fn statement(&mut self, stmt: &tree::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        if let Some(message) = self.calls_only.filter(|_| !is_plain(&stmt.kind)) {
            return self.error(span, message);
        }
        match &stmt.kind {
            StmtKind::Assign(target, value) => {
                self.save_indexes = value.has_effects();
                let to = self.place(target, out);
                self.save_indexes = false;
                self.updated = Some(to.clone());
                let value = self.value(value, out);
                self.assign(&to, value, span, out);
            }
            StmtKind::Call(e) => {
                let value = self.value(e, out);
                Self::drop_result(&value, out);
            }
            StmtKind::If(condition, yes, no) => self.if_statement(condition, yes, no, span, out),
            StmtKind::Block(block) => self.block(block, out),
            StmtKind::Declare(var, value) => self.declare(*var, value.as_ref(), out),
            StmtKind::Instance(id) => {
                let path = self.path();
                let object = self.instantiate(*id, &path);
                self.frame.borrow_mut().objects.insert(*id, object);
            }
            StmtKind::Exit => {
                let pending: Vec<(Loc, Loc)> = self.copy_outs.iter().rev().flatten().cloned().collect();
                for (to, from) in pending {
                    self.assign(&to, from.read(), span, out);
                }
                out.push(Stmt::Exit(span));
            }
            StmtKind::Return(value) => self.return_statement(value.as_ref(), span, out),
            StmtKind::Break => {
                if let Some((label, _)) = self.loops.last() {
                    out.push(Stmt::Break(*label));
                }
            }
            StmtKind::Continue => {
                if let Some((_, label)) = self.loops.last() {
                    out.push(Stmt::Break(*label));
                }
            }
            StmtKind::SwitchAction(table, blocks, default) => {
                let blocks = blocks
                    .iter()
                    .map(|(actions, b)| (actions.clone(), self.nested(b)))
                    .collect();
                let default = default.as_ref().map(|b| self.nested(b)).unwrap_or_default();
                self.apply_table(*table, ir::Outcome::Action(blocks, default), span, out);
            }
            StmtKind::SwitchValue(selector, blocks, default) => {
                self.switch_value(selector, blocks, default.as_ref(), span, out);
            }
            StmtKind::Loop(condition, body, update) => self.loop_statement(condition, body, update, span, out),
            StmtKind::ForRange(var, low, high, body) => self.for_range(*var, low, high, body, span, out),
            StmtKind::ForList(var, values, body) => {
                let values: Vec<Value> = values.iter().map(|v| self.value(v, out)).collect();
                self.unrolled(*var, values, body, span, out);
            }
        }
    }

    fn if_statement(
        &mut self,
        condition: &tree::Expr,
        yes: &tree::Block,
        no: &tree::Block,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        // `if (t.apply().hit)` is a decision of the table.
        let (mut inner, mut swapped) = (condition, false);
        while let ExprKind::Unary(UnaryOp::Not, operand) = &inner.kind {
            (inner, swapped) = (operand, !swapped);
        }
        if let ExprKind::Hit(table, hit) = &inner.kind {
            let (yes, no) = (self.nested(yes), self.nested(no));
            let on_hit = *hit != swapped;
            let (hit, miss) = if on_hit { (yes, no) } else { (no, yes) };
            return self.apply_table(*table, ir::Outcome::HitMiss(hit, miss), span, out);
        }
        let condition_span = condition.span;
        let condition = self.scalar_of(condition, out);
        match condition.kind {
            ir::ExprKind::Bool(true) => self.block(yes, out),
            ir::ExprKind::Bool(false) => self.block(no, out),
            _ => {
                let yes = self.under(condition.clone(), yes);
                let no = self.under(Expr::unary(UnaryOp::Not, condition.clone()), no);
                out.push(Stmt::If(condition, yes, no, condition_span));
            }
        }
    }

    fn return_statement(&mut self, value: Option<&tree::Expr>, span: Span, out: &mut Vec<Stmt>) {
        let Some(place) = self.returns.last().map(|r| (r.label, r.result.clone())) else {
            return;
        };
        if let (Some(value), Some(to)) = (value, place.1) {
            let value = self.value(value, out);
            self.assign(&to, value, span, out);
        }
        out.push(Stmt::Break(place.0));
    }

    fn switch_value(
        &mut self,
        selector: &tree::Expr,
        blocks: &[(Vec<tree::Expr>, tree::Block)],
        default: Option<&tree::Block>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let value = self.value(selector, out);
        // A case may change the selected value, but only one case runs.
        let selector = match &value {
            Value::Scalar(e) if matches!(e.kind, ir::ExprKind::Field(_)) => value.scalar(),
            _ => self.saved(value, span, out).scalar(),
        };
        let mut rest = default.map(|b| self.nested(b)).unwrap_or_default();
        for (labels, block) in blocks.iter().rev() {
            let mut equal = Vec::new();
            for label in labels {
                let label = self.scalar_of(label, out);
                equal.push(Expr::binary(BinaryOp::Eq, selector.clone(), label, Ty::Bool));
            }
            let condition = Expr::joined(BinaryOp::Or, equal, false);
            let body = self.nested(block);
            rest = vec![Stmt::If(condition, body, rest, span)];
        }
        out.extend(rest);
    }

    fn loop_statement(
        &mut self,
        condition: &tree::Expr,
        body: &tree::Block,
        update: &tree::Block,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let (end, next) = (self.label(), self.label());
        let mut inner = Vec::new();
        let condition = self.scalar_of(condition, &mut inner);
        inner.push(Stmt::If(condition, Vec::new(), vec![Stmt::Break(end)], span));
        inner.push(self.loop_body(body, end, next));
        self.block(update, &mut inner);
        out.push(Stmt::Block(end, vec![Stmt::Loop(inner, span)]));
    }

    /// The body of a loop, in which `break` goes to `end` and `continue` to `next`.
    fn loop_body(&mut self, body: &tree::Block, end: Label, next: Label) -> Stmt {
        self.loops.push((end, next));
        let body = self.nested(body);
        self.loops.pop();
        Stmt::Block(next, body)
    }

    fn for_range(
        &mut self,
        var: VarId,
        low: &tree::Expr,
        high: &tree::Expr,
        body: &tree::Block,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let ty = self
            .scalar_type(&self.program.vars[var.index()].ty.clone())
            .unwrap_or(Ty::bit(32));
        let (low, high) = (self.scalar_of(low, out), self.scalar_of(high, out));
        if let (Some(first), Some(last)) = (low.as_int(), high.as_int()) {
            let count = usize::try_from(&last - &first + 1).unwrap_or(0);
            if count > MAX_UNROLL {
                let message = format!("the loop runs {count} times; at most {MAX_UNROLL} are allowed");
                self.error(span, message);
                return;
            }
            let values = (0..count).map(|i| Value::Scalar(Expr::int(&(&first + BigInt::from(i)), ty)));
            return self.unrolled(var, values.collect(), body, span, out);
        }
        let high = self.saved(Value::Scalar(high), span, out).scalar();
        let counter = self.variable_loc(var);
        self.assign(&counter, Value::Scalar(low), span, out);
        let (end, next) = (self.label(), self.label());
        let now = counter.read().scalar();
        let over = Expr::binary(BinaryOp::Greater, now.clone(), high.clone(), Ty::Bool);
        let mut inner = vec![Stmt::If(over, vec![Stmt::Break(end)], Vec::new(), span)];
        inner.push(self.loop_body(body, end, next));
        // The last value may be the largest of its type, so the loop ends before it adds 1.
        let last = Expr::binary(BinaryOp::Eq, now.clone(), high, Ty::Bool);
        inner.push(Stmt::If(last, vec![Stmt::Break(end)], Vec::new(), span));
        let more = Expr::binary(BinaryOp::Add, now, Expr::int(&BigInt::from(1), ty), ty);
        self.assign(&counter, Value::Scalar(more), span, &mut inner);
        out.push(Stmt::Block(end, vec![Stmt::Loop(inner, span)]));
    }

    fn unrolled(&mut self, var: VarId, values: Vec<Value>, body: &tree::Block, span: Span, out: &mut Vec<Stmt>) {
        let end = self.label();
        let mut all = Vec::new();
        for value in values {
            let next = self.label();
            let mut inner = Vec::new();
            let loc = self.variable_loc(var);
            self.assign(&loc, value, span, &mut inner);
            self.loops.push((end, next));
            self.block(body, &mut inner);
            self.loops.pop();
            all.push(Stmt::Block(next, inner));
        }
        out.push(Stmt::Block(end, all));
    }
}

/// True if the calls in and after a statement depend on no condition except the `if`s around it.
fn is_plain(kind: &StmtKind) -> bool {
    !matches!(
        kind,
        StmtKind::SwitchAction(..)
            | StmtKind::SwitchValue(..)
            | StmtKind::Loop(..)
            | StmtKind::ForRange(..)
            | StmtKind::ForList(..)
            | StmtKind::Return(_)
            | StmtKind::Exit
            | StmtKind::Break
            | StmtKind::Continue
    )
}
