//! Statements.

use super::{Checker, Def, Place};
use crate::{
    source::Span,
    syntax::ast::{self, DeclKind},
    typed::{
        tree::{Block, Expr, ExprKind, Stmt, StmtKind, VarKind},
        types::{ActionId, TableId, Type},
    },
};

impl Checker<'_> {
    pub(super) fn block(&mut self, block: &ast::Block) -> Block {
        self.scoped(|c| c.statements(&block.stmts))
    }

    /// Checks statements in the current scope.
    pub(super) fn statements(&mut self, stmts: &[ast::Stmt]) -> Block {
        let mut list = Vec::new();
        for stmt in stmts {
            self.statement(stmt, &mut list);
        }
        Block { stmts: list }
    }

    fn single(&mut self, stmt: &ast::Stmt) -> Block {
        self.scoped(|c| c.statements(std::slice::from_ref(stmt)))
    }

    fn statement(&mut self, stmt: &ast::Stmt, out: &mut Vec<Stmt>) {
        use ast::StmtKind as S;
        let span = stmt.span;
        let kind = match &stmt.kind {
            S::Empty => return,
            S::Assign(target, op, value) => self.assignment(target, *op, value, span),
            S::Call(call) => self.call_statement(call),
            S::If(condition, yes, no) => {
                let condition = self.expr_as(condition, &Type::Bool, "the condition");
                let yes = self.single(yes);
                let no = no.as_ref().map(|s| self.single(s)).unwrap_or_default();
                StmtKind::If(condition, yes, no)
            }
            S::Block(block) => StmtKind::Block(self.block(block)),
            S::Exit => {
                if matches!(self.place, Place::Parser | Place::Function) {
                    self.error(span, "'exit' stands in controls and actions only");
                }
                StmtKind::Exit
            }
            S::Return(value) => self.return_statement(value.as_ref(), span),
            S::Break | S::Continue => {
                if self.loops == 0 {
                    self.error(span, "'break' and 'continue' stand in loops only");
                }
                if matches!(stmt.kind, S::Break) {
                    StmtKind::Break
                } else {
                    StmtKind::Continue
                }
            }
            S::Switch(selector, cases) => self.switch(selector, cases, span),
            S::Decl(decl) => match self.local_in_block(decl) {
                Some(kind) => kind,
                None => return,
            },
            S::For(init, condition, update, body) => return self.for_loop(init, condition, update, body, span, out),
            S::ForIn(ty, name, set, body) => self.for_in(ty, name, set, body),
        };
        out.push(Stmt { kind, span });
    }

    fn assignment(&mut self, target: &ast::Expr, op: Option<ast::BinaryOp>, value: &ast::Expr, span: Span) -> StmtKind {
        let target = self.expr(target, None);
        self.assignable(&target);
        let wanted = target.ty.clone();
        let value = match op {
            None => self.expr(value, Some(&wanted)),
            Some(op) => {
                let value = self.expr(value, None);
                // The target has effects, so it is evaluated only once.
                let old = match target.has_effects() {
                    true => Expr::new(ExprKind::Old, wanted.clone(), target.span),
                    false => target.clone(),
                };
                self.binary_checked(op, old, value, span)
            }
        };
        let value = self.convert(value, &wanted, "the assigned value");
        if matches!(wanted, Type::Extern(..) | Type::Control(_) | Type::Parser(_)) {
            self.error(span, "instances cannot be assigned");
        }
        StmtKind::Assign(target, value)
    }

    fn call_statement(&mut self, call: &ast::Expr) -> StmtKind {
        let call = self.expr(call, None);
        if let ExprKind::Instance(_) = call.kind {
            self.error(call.span, "an instance alone does nothing; give it a name");
        }
        StmtKind::Call(call)
    }

    fn return_statement(&mut self, value: Option<&ast::Expr>, span: Span) -> StmtKind {
        let wanted = self.result.clone();
        let value = match (value, wanted) {
            (Some(value), Some(wanted)) if wanted != Type::Void => {
                Some(self.expr_as(value, &wanted, "the returned value"))
            }
            (None, Some(wanted)) if wanted != Type::Void => {
                let shown = self.show(&wanted);
                self.error(span, format!("a value of type {shown} must be returned"));
                None
            }
            (Some(_), _) => {
                self.error(span, "nothing can be returned here");
                None
            }
            (None, _) => None,
        };
        if self.place == Place::Parser {
            self.error(span, "'return' does not stand in parsers");
        }
        StmtKind::Return(value)
    }

    pub(super) fn variable(&mut self, decl: &ast::Decl) -> Option<(crate::typed::types::VarId, Option<Expr>)> {
        let DeclKind::Variable(ty, value) = &decl.kind else {
            return None;
        };
        let ty = self.resolve_type(ty);
        if matches!(
            ty,
            Type::Extern(..) | Type::Void | Type::Text | Type::Integer | Type::MatchKind
        ) {
            let shown = self.show(&ty);
            self.error(decl.span, format!("a variable cannot have the type {shown}"));
        }
        let value = value.as_ref().map(|v| self.expr_as(v, &ty, "the first value"));
        Some((self.new_var(&decl.name, ty, VarKind::Local, &decl.annotations), value))
    }

    fn local_in_block(&mut self, decl: &ast::Decl) -> Option<StmtKind> {
        match &decl.kind {
            DeclKind::Variable(..) => {
                let (var, value) = self.variable(decl)?;
                Some(StmtKind::Declare(var, value))
            }
            DeclKind::Const(ty, value) => {
                self.constant(decl, ty, value);
                None
            }
            DeclKind::Instance(ty, args, methods) => self.instance(decl, ty, args, methods).map(StmtKind::Instance),
            _ => None,
        }
    }

    fn switch(&mut self, selector: &ast::Expr, cases: &[ast::SwitchCase], span: Span) -> StmtKind {
        let selector = self.expr(selector, None);
        if selector.ty == Type::Unknown {
            return StmtKind::Block(Block::default());
        }
        if let Some(table) = Self::applied_table(&selector) {
            return self.switch_action(table, cases);
        }
        if !matches!(
            self.program.types.base(&selector.ty),
            Type::Bits { .. } | Type::Enum(_) | Type::Error | Type::Bool
        ) {
            let shown = self.show(&selector.ty);
            let message = format!("'switch' takes table.apply().action_run, a number or an enum, not {shown}");
            self.error(span, message);
        }
        let (blocks, default) = self.cases(cases, |c, label| {
            let label = c.expr_as(label, &selector.ty, "the label");
            let known = matches!(
                label.kind,
                ExprKind::Int(_) | ExprKind::Member(_) | ExprKind::Error(_) | ExprKind::Bool(_) | ExprKind::Unknown
            );
            if !known {
                c.error(label.span, "a label must be known when compiling");
            }
            Some(label)
        });
        StmtKind::SwitchValue(selector, blocks, default)
    }

    fn switch_action(&mut self, table: TableId, cases: &[ast::SwitchCase]) -> StmtKind {
        let actions: Vec<ActionId> = self.program.tables[table.index()]
            .actions
            .iter()
            .map(|a| a.action)
            .collect();
        let mut seen = Vec::new();
        let (blocks, default) = self.cases(cases, |c, label| {
            let id = c.action_label(label, &actions, table)?;
            if seen.contains(&id) {
                c.error(label.span, "this action has a case already");
            }
            seen.push(id);
            Some(id)
        });
        StmtKind::SwitchAction(table, blocks, default)
    }

    /// Blocks, with the labels of each, and the default block. A case is left out if `checked` returns nothing for its
    /// label.
    fn cases<L>(
        &mut self,
        cases: &[ast::SwitchCase],
        mut checked: impl FnMut(&mut Self, &ast::Expr) -> Option<L>,
    ) -> (Vec<(Vec<L>, Block)>, Option<Block>) {
        let mut blocks = Vec::new();
        let mut default = None;
        let mut labels = Vec::new();
        let mut pending_default = false;
        for case in cases {
            match &case.label {
                Some(label) => {
                    let Some(label) = checked(self, label) else { continue };
                    labels.push(label);
                }
                None => pending_default = true,
            }
            let Some(block) = &case.block else { continue };
            let block = self.block(block);
            let taken = std::mem::take(&mut labels);
            if !std::mem::take(&mut pending_default) {
                blocks.push((taken, block));
            } else if default.replace(block).is_some() {
                self.error(case.span, "a second 'default'");
            }
        }
        (blocks, default)
    }

    fn action_label(&mut self, label: &ast::Expr, actions: &[ActionId], table: TableId) -> Option<ActionId> {
        let ast::ExprKind::Name(name, _) = &label.kind else {
            self.error(label.span, "the label must be the name of an action of the table");
            return None;
        };
        match self.lookup(name) {
            Some(Def::Action(id)) if actions.contains(&id) => Some(id),
            _ => {
                let names = actions.iter().map(|a| &*self.program.actions[a.index()].name);
                let hint = crate::diagnostics::suggestion(&name.name, names, "it has");
                let shown = self.program.tables[table.index()].name.clone();
                self.error(label.span, format!("no action '{}' in table {shown}{hint}", name.name));
                None
            }
        }
    }

    fn loop_body(&mut self, body: &ast::Stmt) -> Block {
        self.loops += 1;
        let body = self.single(body);
        self.loops -= 1;
        body
    }

    fn for_loop(
        &mut self,
        init: &[ast::Stmt],
        condition: &ast::Expr,
        update: &[ast::Stmt],
        body: &ast::Stmt,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let block = self.scoped(|c| {
            let mut stmts = c.statements(init).stmts;
            let condition = c.expr_as(condition, &Type::Bool, "the condition");
            let body = c.loop_body(body);
            let update = c.statements(update);
            stmts.push(Stmt {
                kind: StmtKind::Loop(condition, body, update),
                span,
            });
            Block { stmts }
        });
        out.push(Stmt {
            kind: StmtKind::Block(block),
            span,
        });
    }

    fn for_in(&mut self, ty: &ast::TypeExpr, name: &ast::Ident, set: &ast::Expr, body: &ast::Stmt) -> StmtKind {
        let ty = self.resolve_type(ty);
        let set = match &set.kind {
            ast::ExprKind::Range(low, high) => {
                let low = self.expr_as(low, &ty, "the first value");
                let high = self.expr_as(high, &ty, "the last value");
                Err((low, high))
            }
            _ => match self.expr(set, None) {
                Expr {
                    kind: ExprKind::Aggregate(values),
                    ..
                } => Ok(values
                    .into_iter()
                    .map(|v| self.convert(v, &ty, "the element"))
                    .collect::<Vec<_>>()),
                other => {
                    if other.ty != Type::Unknown {
                        self.error(other.span, "'for' runs over a range or a list in braces");
                    }
                    Ok(Vec::new())
                }
            },
        };
        self.scoped(|c| {
            let var = c.new_var(name, ty.clone(), VarKind::Local, &[]);
            let body = c.loop_body(body);
            match set {
                Ok(values) => StmtKind::ForList(var, values, body),
                Err((low, high)) => StmtKind::ForRange(var, low, high, body),
            }
        })
    }

    /// True if every path through the block ends in `return` or `exit`.
    pub(super) fn always_returns(block: &Block) -> bool {
        block.stmts.iter().any(|s| match &s.kind {
            StmtKind::Return(_) | StmtKind::Exit => true,
            StmtKind::Block(b) => Self::always_returns(b),
            StmtKind::If(_, yes, no) => Self::always_returns(yes) && Self::always_returns(no),
            StmtKind::SwitchValue(_, blocks, Some(default)) => {
                Self::always_returns(default) && blocks.iter().all(|(_, b)| Self::always_returns(b))
            }
            _ => false,
        })
    }
}
