//! RegisterActions: the work of a stateful ALU on one cell.
//!
//! A stateful ALU compares (two times on Tofino 1, four times on Tofino 2). It computes each half of the cell in at
//! most two ways, between which the comparisons choose. It returns a value. A comparison and a computation take at most
//! one number from memory, one from outside and one constant (p4c `mau/stateful_alu.cpp`, `bf-asm/salu_inst.cpp`:
//! `CmpOP`, `AluOP`).

mod compare;
mod register;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use num_bigint::BigInt;

use super::{
    cells::{Cell, effect, headers, is_temporary, read_by, visit},
    chip::Chip,
    gateway::show,
    nodes::{is_min_or_max, is_operand},
};
use crate::{
    ir::{Arg, Expr, ExprKind, HeaderRef, Ir, Label, Primitive, RegisterAction, Stmt},
    source::Span,
    syntax::ast::{BinaryOp as B, UnaryOp},
};
use compare::Comparison;
pub use register::check_registers;

/// A set of outcomes of four comparisons: one bit for each of the 16 outcomes.
type When = u16;

const ALWAYS: When = !0;

/// A written or returned value, its outcomes, and its place in the source.
struct ValueOnPath {
    when: When,
    value: Expr,
    span: Span,
}

/// Resources of one RegisterAction.
struct Body<'a> {
    ir: &'a Ir,
    chip: &'a Chip,
    action: &'a RegisterAction,
    wrong: Vec<(Span, String)>,
    comparisons: Vec<Comparison>,
    /// Values written to each half of the cell.
    updates: BTreeMap<usize, Vec<ValueOnPath>>,
    /// Values returned as each result.
    outputs: BTreeMap<usize, Vec<ValueOnPath>>,
    /// Values of the body's own variables.
    locals: BTreeMap<Cell, Vec<(When, Expr)>>,
    left: HashMap<Label, When>,
    /// Variables with the value of a RegisterParam; the ALU treats it as a constant.
    params: BTreeSet<Cell>,
    /// Fields from outside, in text form.
    outside: BTreeSet<String>,
    /// Constants that do not fit into an instruction.
    large: BTreeSet<BigInt>,
    /// True if the current statement returns a value directly; then it returns the new value.
    returning: bool,
    span: Span,
}

/// Errors in a RegisterAction, and its constants that need a register.
pub fn check(ir: &Ir, chip: &Chip, action: &RegisterAction) -> (Vec<(Span, String)>, BTreeSet<BigInt>) {
    let mut body = Body {
        ir,
        chip,
        action,
        wrong: Vec::new(),
        comparisons: Vec::new(),
        updates: BTreeMap::new(),
        outputs: BTreeMap::new(),
        locals: BTreeMap::new(),
        left: HashMap::new(),
        params: BTreeSet::new(),
        outside: BTreeSet::new(),
        large: BTreeSet::new(),
        returning: false,
        span: action.span,
    };
    body.run(&action.body, ALWAYS);
    body.totals();
    (body.wrong, body.large)
}

/// Source of a number in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Memory(usize),
    Outside,
    Constant,
}

impl Body<'_> {
    fn error(&mut self, message: String) {
        self.wrong.push((self.span, message));
    }

    fn cell(e: &Expr) -> Option<Cell> {
        match &e.kind {
            ExprKind::Field(f) => match f.header {
                HeaderRef::Static(h) => Some((h, Some(f.field))),
                _ => None,
            },
            _ => None,
        }
    }

    /// Half of the cell for a field.
    fn half(&self, cell: Cell) -> Option<usize> {
        self.action
            .value
            .iter()
            .position(|f| headers(self.ir, &f.header).first().map(|h| (*h, Some(f.field))) == Some(cell))
    }

    fn result(&self, cell: Cell) -> Option<usize> {
        self.action
            .results
            .iter()
            .position(|f| headers(self.ir, &f.header).first().map(|h| (*h, Some(f.field))) == Some(cell))
    }

    /// Runs statements in some outcomes. Returns the outcomes in which the next statements run.
    fn run(&mut self, stmts: &[Stmt], when: When) -> When {
        let mut when = when;
        for stmt in stmts {
            if when == 0 {
                return 0;
            }
            match stmt {
                Stmt::Primitive(p) => {
                    self.span = p.span;
                    self.operation(p, when);
                }
                Stmt::If(condition, ..) if self.is_of_the_math_unit(condition) => {}
                Stmt::If(condition, yes, no, span) => {
                    self.span = *span;
                    let condition = self.condition(condition, when);
                    let yes = self.run(yes, when & condition);
                    let no = self.run(no, when & !condition);
                    when = yes | no;
                }
                Stmt::Block(label, inner) => {
                    when = self.run(inner, when);
                    when |= self.left.remove(label).unwrap_or(0);
                }
                Stmt::Break(label) => {
                    *self.left.entry(*label).or_default() |= when;
                    return 0;
                }
                Stmt::Loop(_, span) | Stmt::Apply(_, _, span) | Stmt::Exit(span) => {
                    self.span = *span;
                    self.error(
                        "a RegisterAction has assignments and 'if' only. Move the statement to the control's apply"
                            .into(),
                    );
                }
            }
        }
        when
    }

    fn operation(&mut self, p: &Primitive, when: When) {
        if p.op == "register_read" {
            self.params.extend(effect(self.ir, p).writes.iter());
        }
        let ("assign", [Arg::Target(to), Arg::Value(value)]) = (p.op, p.args.as_slice()) else {
            return;
        };
        let Some(cell) = headers(self.ir, &to.header).first().map(|h| (*h, Some(to.field))) else {
            return;
        };
        if self.is_math(cell) || self.is_of_the_math_unit(value) {
            // The unit works on one number, and its result counts as a number from outside.
            return;
        }
        self.returning = self.half(cell).is_none() && is_operand(value);
        let value = self.known(value, when);
        self.returning = false;
        self.give(cell, value, when);
    }

    /// True for variables of a math unit (`lower/externs/tna/math.rs`): temporaries wider than those of any ALU.
    fn is_math(&self, cell: Cell) -> bool {
        let fields = &self.ir.header_types[self.ir.headers[cell.0].ty].fields;
        let is_wide = cell.1.is_some_and(|f| fields[f].width == 64);
        is_wide && is_temporary(self.ir, cell) && self.action.value.iter().all(|v| self.ir.field(v).width <= 32)
    }

    fn is_of_the_math_unit(&self, e: &Expr) -> bool {
        read_by(self.ir, e).iter().any(|c| self.is_math(c))
    }

    fn give(&mut self, cell: Cell, value: Expr, when: When) {
        // A choice between two values is treated as two assignments.
        if let ExprKind::Conditional(condition, yes, no) = &value.kind
            && !is_min_or_max(&value)
        {
            let condition = self.condition(condition, when);
            self.give(cell, (**yes).clone(), when & condition);
            self.give(cell, (**no).clone(), when & !condition);
            return;
        }
        let given = ValueOnPath {
            when,
            value: value.clone(),
            span: self.span,
        };
        if let Some(half) = self.half(cell) {
            self.once(half, true, &given);
            self.updates.entry(half).or_default().push(given);
        } else if let Some(result) = self.result(cell) {
            self.once(result, false, &given);
            self.outputs.entry(result).or_default().push(given);
        } else {
            self.locals.entry(cell).or_default().push((when, value));
        }
    }

    /// Refuses a second assignment on a path, except after an initial zero.
    fn once(&mut self, index: usize, is_update: bool, given: &ValueOnPath) {
        let list = if is_update { &self.updates } else { &self.outputs };
        let is_zero = |e: &Expr| e.as_int().is_some_and(|v| v == BigInt::ZERO);
        let mut earlier = list.get(&index).into_iter().flatten();
        if earlier.any(|g| g.when & given.when != 0 && !(g.when == ALWAYS && is_zero(&g.value))) {
            let what = if is_update {
                "the register's value"
            } else {
                "the result"
            };
            self.error(format!(
                "{what} is assigned twice on one path of the RegisterAction, but the ALUs compute it once. Assign it in \
                 exclusive branches"
            ));
        }
    }

    /// Replaces the body's own variables in an expression by their values.
    fn known(&mut self, e: &Expr, when: When) -> Expr {
        if let Some(list) = Self::cell(e).and_then(|c| self.locals.get(&c)) {
            let last = list.iter().rev().find(|(w, _)| w & when != 0);
            return match last {
                Some((w, value)) if when & !w == 0 => value.clone().cast(e.ty),
                _ => {
                    self.error(
                        "a variable of the RegisterAction has different values on the paths to here, but the stateful ALU \
                         has no place to keep it. Assign the register's value and the result in each branch"
                            .into(),
                    );
                    e.clone()
                }
            };
        }
        match &e.kind {
            ExprKind::Unary(op, a) => {
                let a = self.known(a, when);
                Expr::unary(*op, a)
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.known(a, when), self.known(b, when));
                Expr::binary(*op, a, b, e.ty)
            }
            ExprKind::Conditional(a, b, c) => {
                let (a, b, c) = (self.known(a, when), self.known(b, when), self.known(c, when));
                Expr::conditional(a, b, c)
            }
            ExprKind::Cast(a) => self.known(a, when).cast(e.ty),
            _ => {
                if let Some(half) = Self::cell(e).and_then(|c| self.half(c)) {
                    self.not_yet_written(half, when);
                }
                e.clone()
            }
        }
    }

    /// Refuses a computation with a changed cell: it sees the old cell; only the result may be the new value.
    fn not_yet_written(&mut self, half: usize, when: When) {
        let written = self.updates.get(&half);
        let changed = written.is_some_and(|l| l.iter().any(|g| g.when & when != 0));
        if changed && !self.returning {
            self.error(
                "the register's value is used after it is changed, but all ALUs see the old value. Compute from the old \
                 value, and return the new one as it is"
                    .into(),
            );
        }
    }

    /// Source of a number, if an ALU accepts it.
    fn source(&mut self, e: &Expr) -> Option<Source> {
        match &e.kind {
            ExprKind::Int(value) => {
                self.constant(value.clone());
                Some(Source::Constant)
            }
            ExprKind::Bool(_) => Some(Source::Constant),
            ExprKind::Cast(inner) => match self.source(inner)? {
                Source::Memory(_) if e.ty.width() < inner.ty.width() => None,
                source => Some(source),
            },
            ExprKind::Field(_) => match Self::cell(e).and_then(|c| self.half(c)) {
                Some(half) => Some(Source::Memory(half)),
                None if Self::cell(e).is_some_and(|c| self.params.contains(&c)) => Some(Source::Constant),
                None => {
                    self.take_from_outside(e);
                    Some(Source::Outside)
                }
            },
            // The hash computes masks, shifts by constants, joins and exclusive ors of fields before the ALU.
            _ if self.is_outside(e) => {
                self.take_from_outside(e);
                Some(Source::Outside)
            }
            _ => None,
        }
    }

    fn constant(&mut self, value: BigInt) {
        if value < BigInt::from(-8) || value > BigInt::from(7) {
            self.large.insert(value);
        }
    }

    /// True if an expression does not read the cell, and has no carry from bit to bit.
    fn is_outside(&self, e: &Expr) -> bool {
        let mut fits = true;
        visit(e, &mut |e| {
            fits &= match &e.kind {
                ExprKind::Field(_) => Self::cell(e).and_then(|c| self.half(c)).is_none(),
                ExprKind::Binary(B::Concat | B::BitXor, ..) => true,
                ExprKind::Binary(B::BitAnd | B::Shr | B::Shl, _, by) => by.is_known(),
                ExprKind::Cast(_) | ExprKind::Int(_) | ExprKind::Valid(_) => true,
                _ => false,
            };
        });
        fits
    }

    fn take_from_outside(&mut self, e: &Expr) {
        let (text, width) = (show(self.ir, e), e.ty.width());
        let lane = self
            .action
            .value
            .first()
            .map_or(width, |f| self.ir.field(f).width)
            .max(8);
        if width > lane {
            self.error(format!(
                "'{text}' has {width} bits, but the stateful ALU of this register works with {lane}. Declare the register \
                 with a wider type, or copy a part to a field that narrow in an earlier table"
            ));
        }
        self.outside.insert(text);
    }

    /// Checks the new value of one half of the cell: it must be one operation.
    fn compute(&mut self, e: &Expr) {
        if self.source(e).is_some() {
            return;
        }
        match &e.kind {
            ExprKind::Cast(inner) => self.compute(inner),
            ExprKind::Unary(UnaryOp::Complement | UnaryOp::Minus, a) => self.compute(a),
            ExprKind::Binary(op, a, b) if self.is_operation(*op) => self.pair(e, a, b),
            ExprKind::Conditional(_, a, b) if is_min_or_max(e) => self.pair(e, a, b),
            _ => self.too_much(e),
        }
    }

    fn is_operation(&self, op: B) -> bool {
        match op {
            B::Add | B::Sub | B::SatAdd | B::SatSub | B::BitAnd | B::BitOr | B::BitXor => true,
            B::Div | B::Mod => self.chip.divides,
            _ => false,
        }
    }

    fn too_much(&mut self, e: &Expr) {
        let text = show(self.ir, e);
        self.error(format!(
            "the stateful ALU has no room for '{text}': it does one sum, difference, minimum, maximum or logical operation \
             of a number of the register and one from outside. Compute the rest in an earlier table"
        ));
    }

    fn pair(&mut self, e: &Expr, a: &Expr, b: &Expr) {
        let complement = |e: &Expr| match &e.kind {
            ExprKind::Unary(UnaryOp::Complement, inner) => (**inner).clone(),
            _ => e.clone(),
        };
        let (Some(left), Some(right)) = (self.source(&complement(a)), self.source(&complement(b))) else {
            return self.too_much(e);
        };
        let text = show(self.ir, e);
        match (left, right) {
            (Source::Memory(_), Source::Memory(_)) => self.error(format!(
                "'{text}' takes both numbers from the register, but an ALU takes one from there. Keep them in two \
                 registers, and pass one to the other's RegisterAction as a field"
            )),
            (Source::Outside, Source::Outside) if a != b => self.error(format!(
                "'{text}' takes both numbers from outside of the register, but an ALU takes one from there. Compute it in \
                 an earlier table"
            )),
            _ => {}
        }
    }

    /// Checks the limits of the whole body.
    fn totals(&mut self) {
        self.span = self.action.span;
        let (needs, most) = (self.comparisons.len(), self.chip.comparisons);
        if needs > most {
            let chip = self.chip.name;
            self.error(format!(
                "the RegisterAction has {needs} conditions, but a stateful ALU of {chip} makes {most} comparisons. Test the \
                 others before with 'if', or give their outcome as a field"
            ));
        }
        self.computed();
        self.returned();
        self.span = self.action.span;
        if self.outside.len() > 2 {
            let names: Vec<String> = self.outside.iter().map(|n| format!("'{n}'")).collect();
            self.error(format!(
                "the RegisterAction uses {}, but a stateful ALU takes two fields from outside. Combine some in an earlier \
                 table",
                names.join(", ")
            ));
        }
    }

    /// Checks the written values.
    fn computed(&mut self) {
        for (_, list) in std::mem::take(&mut self.updates) {
            let mut ways: Vec<&ValueOnPath> = Vec::new();
            for given in &list {
                if given.when != 0 && !ways.iter().any(|w| w.value == given.value) {
                    ways.push(given);
                }
            }
            for given in &ways {
                self.span = given.span;
                self.compute(&given.value);
            }
            if ways.len() > 2 {
                let count = ways.len();
                self.error(format!(
                    "the register's value becomes one of {count}, but the stateful ALU computes it in two ways. Choose \
                     among the others before, and pass what is chosen as a field"
                ));
            }
        }
    }

    /// Checks the returned values.
    fn returned(&mut self) {
        let outputs = std::mem::take(&mut self.outputs);
        let most = self.chip.outputs;
        if outputs.len() > most {
            let (count, chip) = (outputs.len(), self.chip.name);
            self.error(format!(
                "the RegisterAction returns {count} values, but a stateful ALU of {chip} returns {most}. Return one, or \
                 keep the others in a register of their own"
            ));
        }
        for (_, list) in outputs {
            let zero = |e: &Expr| e.as_int().is_some_and(|v| v == BigInt::ZERO);
            let mut values: Vec<&ValueOnPath> = Vec::new();
            for given in list.iter().filter(|g| g.when != 0 && !zero(&g.value)) {
                if !values.iter().any(|v| v.value == given.value) {
                    values.push(given);
                }
            }
            self.one_output(&values);
        }
    }

    fn one_output(&mut self, values: &[&ValueOnPath]) {
        let Some(first) = values.first() else { return };
        self.span = first.span;
        if let ([only], Some(comparisons)) = (values, predicate(&first.value)) {
            self.span = only.span;
            for comparison in comparisons {
                self.condition(&comparison, ALWAYS);
            }
            return;
        }
        let is_pair = self.action.value.len() > 1;
        let power = |e: &Expr| {
            e.as_int()
                .is_some_and(|v| v > BigInt::ZERO && (&v & (&v - 1)) == BigInt::ZERO)
        };
        let is_condition = |e: &Expr| e.ty == crate::ir::Ty::Bool;
        if let [only] = values
            && (is_operand(&only.value) && (!only.value.is_known() || power(&only.value)) || is_condition(&only.value))
        {
            if is_condition(&only.value) && !only.value.is_known() && !is_operand(&only.value) {
                let value = only.value.clone();
                self.condition(&value, ALWAYS);
            } else {
                self.source(&only.value);
            }
            return;
        }
        if is_pair {
            self.error(
                "what is returned must be computed, or differs between branches, but both halves of the ALU keep the \
                 register's pair. Return a half of the pair as it is or 0 and a power of two, or split the pair in two \
                 registers"
                    .into(),
            );
            return;
        }
        for given in values {
            self.span = given.span;
            let value = given.value.clone();
            self.compute(&value);
        }
        if values.len() > 2 {
            let count = values.len();
            self.error(format!(
                "the RegisterAction returns one of {count} values, but the stateful ALU chooses between two. Return a code, \
                 and set the value by it in the next table"
            ));
        }
    }
}

/// Comparisons in `predicate(a, b, ...)`. It sets one bit, whose position is made of the outcomes of the comparisons.
fn predicate(e: &Expr) -> Option<Vec<Expr>> {
    match &e.kind {
        ExprKind::Cast(inner) => predicate(inner),
        ExprKind::Binary(B::Shl, one, place) if one.as_int() == Some(BigInt::from(1)) && !place.is_known() => {
            let mut list = Vec::new();
            visit(place, &mut |e| {
                if let ExprKind::Cast(inner) = &e.kind
                    && inner.ty == crate::ir::Ty::Bool
                {
                    list.push((**inner).clone());
                }
            });
            Some(list)
        }
        _ => None,
    }
}
