//! Turns statements into the code of an action: decisions become jumps.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::{Lowerer, flow::flattened};
use crate::{
    ir::{Arg, Label, Primitive, Stmt},
    source::Span,
};

/// Code with jumps to labels that have no place yet.
#[derive(Default)]
struct Code {
    list: Vec<Primitive>,
    /// Jumps to labels.
    pending: Vec<(usize, Label)>,
    placed: HashMap<Label, usize>,
}

impl Lowerer<'_> {
    /// Code of an action. It cannot apply tables.
    pub(super) fn action_code(&mut self, stmts: &[Stmt], span: Span) -> Vec<Primitive> {
        let mut code = Code::default();
        let end = self.label();
        self.code(&flattened(stmts.to_vec()), end, &mut code, span);
        code.placed.insert(end, code.list.len());
        for (at, label) in std::mem::take(&mut code.pending) {
            let target = code.placed.get(&label).copied().unwrap_or(code.list.len());
            code.list[at].args.push(Arg::Number(BigInt::from(target)));
        }
        code.list
    }

    fn code(&mut self, stmts: &[Stmt], end: Label, code: &mut Code, span: Span) {
        for stmt in stmts {
            match stmt {
                Stmt::Primitive(p) => code.list.push(p.clone()),
                Stmt::If(condition, yes, no, span) => {
                    let (otherwise, after) = (self.label(), self.label());
                    let test = Arg::Value(condition.clone());
                    code.jump("_jump_if_zero", vec![test], otherwise, *span);
                    self.code(yes, end, code, *span);
                    if !no.is_empty() && !matches!(yes.last(), Some(Stmt::Break(_) | Stmt::Exit(_))) {
                        code.jump("_jump", Vec::new(), after, *span);
                    }
                    code.placed.insert(otherwise, code.list.len());
                    self.code(no, end, code, *span);
                    code.placed.insert(after, code.list.len());
                }
                Stmt::Block(label, inner) => {
                    self.code(inner, end, code, span);
                    code.placed.insert(*label, code.list.len());
                }
                Stmt::Loop(inner, span) => {
                    let start = self.label();
                    code.placed.insert(start, code.list.len());
                    self.code(inner, end, code, *span);
                    code.jump("_jump", Vec::new(), start, *span);
                }
                Stmt::Break(label) => {
                    code.jump("_jump", Vec::new(), *label, span);
                    return;
                }
                Stmt::Exit(span) => {
                    code.list.push(Primitive {
                        op: "exit",
                        args: Vec::new(),
                        span: *span,
                    });
                    code.jump("_jump", Vec::new(), end, *span);
                    return;
                }
                Stmt::Apply(_, _, span) => self.error(*span, "tables cannot be applied in actions"),
            }
        }
    }
}

impl Code {
    fn jump(&mut self, op: &'static str, args: Vec<Arg>, to: Label, span: Span) {
        self.pending.push((self.list.len(), to));
        self.list.push(Primitive { op, args, span });
    }
}
