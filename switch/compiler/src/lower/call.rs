//! Inlining of functions, actions and sub-controls. A parameter is bound to the place of its argument if that has the
//! same result as copying in and out (specification section 6.8), and otherwise to a new variable.

use super::{
    FrameRef, Lowerer, Object, ReturnTo,
    value::{Loc, Value, overlap},
};
use crate::{
    ir::{ExprKind, Label, Stmt},
    source::Span,
    syntax::ast::Direction,
    typed::{
        tree::{self, Block, StmtKind, VarKind},
        types::{ActionId, FunctionId, Type, VarId},
    },
};

/// An argument after its evaluation in the caller.
struct Bound {
    var: VarId,
    value: Value,
    /// Result and its destination, copied after the call.
    copy_out: Option<(Loc, Loc)>,
    /// Headers to make invalid before the call.
    clear: Option<Loc>,
}

impl Bound {
    fn new(var: VarId, value: Value) -> Bound {
        Bound {
            var,
            value,
            copy_out: None,
            clear: None,
        }
    }
}

impl Lowerer<'_> {
    fn direction(&self, var: VarId) -> Direction {
        match self.program.vars[var.index()].kind {
            VarKind::Parameter(direction) => direction,
            _ => Direction::None,
        }
    }

    /// Evaluates arguments in order. An action sees the variables of the control around it, so its body may change an
    /// argument while its parameter is in use. With `copy`, every argument is copied.
    fn bind(
        &mut self,
        params: &[VarId],
        args: &[Option<tree::Expr>],
        copy: bool,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Vec<Bound> {
        let mut places: Vec<Option<Loc>> = Vec::new();
        for (var, arg) in params.iter().zip(args) {
            let written = self.direction(*var).is_written();
            places.push(match arg {
                Some(arg) if written => Some(self.place(arg, out)),
                _ => None,
            });
        }
        let written: Vec<Vec<(usize, Option<usize>)>> = places
            .iter()
            .map(|p| p.as_ref().map(|l| l.cells(&self.ir)).unwrap_or_default())
            .collect();
        let mut bound = Vec::new();
        for (i, (var, arg)) in params.iter().zip(args).enumerate() {
            let later = args[i + 1..].iter().flatten().any(tree::Expr::has_effects);
            let clashes =
                |cells: &[(usize, Option<usize>)]| written.iter().enumerate().any(|(k, w)| k != i && overlap(w, cells));
            let one = match (&places[i], arg) {
                (Some(place), _) => {
                    let clash = copy || place.is_dynamic() || matches!(place, Loc::Slice(..)) || clashes(&written[i]);
                    self.bind_written(*var, place.clone(), clash, span, out)
                }
                (None, Some(arg)) => {
                    let value = self.value(arg, out);
                    let cells = value.cells(&self.ir);
                    let clash = later || (copy && !cells.is_empty()) || clashes(&cells);
                    self.bind_read(*var, value, clash, span, out)
                }
                // `_` for an out parameter.
                (None, None) => {
                    let loc = self.parameter_storage(*var, span);
                    let value = Value::Place(loc.clone());
                    Bound {
                        clear: Some(loc),
                        ..Bound::new(*var, value)
                    }
                }
            };
            bound.push(one);
        }
        bound
    }

    fn parameter_storage(&mut self, var: VarId, span: Span) -> Loc {
        let def = &self.program.vars[var.index()];
        let path = self.path();
        self.storage(&format!("{path}.{}", def.name), &def.ty, span)
    }

    fn bind_written(&mut self, var: VarId, place: Loc, clash: bool, span: Span, out: &mut Vec<Stmt>) -> Bound {
        let is_out = self.direction(var) == Direction::Out;
        if !clash {
            let clear = is_out.then(|| place.clone());
            let value = Value::Place(place);
            return Bound {
                clear,
                ..Bound::new(var, value)
            };
        }
        let copy = self.parameter_storage(var, span);
        if !is_out {
            self.assign(&copy, place.read(), span, out);
        }
        let clear = is_out.then(|| copy.clone());
        Bound {
            var,
            value: Value::Place(copy.clone()),
            copy_out: Some((place, copy)),
            clear,
        }
    }

    fn bind_read(&mut self, var: VarId, value: Value, clash: bool, span: Span, out: &mut Vec<Stmt>) -> Bound {
        let is_simple = match &value {
            Value::Scalar(e) => matches!(
                e.kind,
                ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Field(_) | ExprKind::Param(_)
            ),
            Value::Place(loc) => !loc.is_dynamic(),
            Value::List(parts) => parts.iter().all(|p| match p {
                Value::Scalar(e) => !matches!(e.kind, ExprKind::Binary(..) | ExprKind::Conditional(..)),
                Value::Place(_) | Value::List(_) => true,
                _ => false,
            }),
            _ => true,
        };
        let is_header = matches!(value, Value::Header(_) | Value::Invalid);
        if (is_simple && !clash && !is_header) || matches!(value, Value::Object(_) | Value::Text(_) | Value::Nothing) {
            return Bound::new(var, value);
        }
        let copy = self.parameter_storage(var, span);
        self.assign(&copy, value, span, out);
        Bound::new(var, Value::Place(copy))
    }

    /// Stores the arguments in the parameters of a frame. Returns the copies to make at the end.
    fn set_parameters(
        &mut self,
        bound: Vec<Bound>,
        frame: &FrameRef,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Vec<(Loc, Loc)> {
        let mut copy_outs = Vec::new();
        for b in bound {
            if let Some(loc) = &b.clear {
                self.invalidate(loc, span, out);
            }
            frame.borrow_mut().vars.insert(b.var, b.value);
            copy_outs.extend(b.copy_out);
        }
        copy_outs
    }

    /// Stores the arguments, runs `body`, and copies the results out.
    fn with_bound(
        &mut self,
        bound: Vec<Bound>,
        frame: &FrameRef,
        span: Span,
        out: &mut Vec<Stmt>,
        body: impl FnOnce(&mut Self, &mut Vec<Stmt>),
    ) {
        let copy_outs = self.set_parameters(bound, frame, span, out);
        self.copy_outs.push(copy_outs);
        body(self, out);
        for (to, from) in self.copy_outs.pop().unwrap_or_default() {
            self.assign(&to, from.read(), span, out);
        }
    }

    /// Lowers a body that may return. Returns the label of the block that `return` leaves.
    pub(super) fn returning(
        &mut self,
        result: Option<Loc>,
        out: &mut Vec<Stmt>,
        body: impl FnOnce(&mut Self, &mut Vec<Stmt>),
    ) -> Label {
        let label = self.label();
        self.returns.push(ReturnTo { label, result });
        let loops = std::mem::take(&mut self.loops);
        let mut inner = Vec::new();
        body(self, &mut inner);
        self.loops = loops;
        self.returns.pop();
        out.push(Stmt::Block(label, inner));
        label
    }

    pub(super) fn call_function(
        &mut self,
        id: FunctionId,
        args: &[Option<tree::Expr>],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let function = &self.program.functions[id.index()];
        let frame = self.frame.clone();
        let bound = self.bind(&function.params, args, false, span, out);
        // A single `return e;` needs no variable for the result.
        if let [
            tree::Stmt {
                kind: StmtKind::Return(Some(e)),
                ..
            },
        ] = function.body.stmts.as_slice()
            && bound.iter().all(|b| b.copy_out.is_none())
        {
            let mut value = Value::Nothing;
            self.deeper(span, |l| {
                l.with_bound(bound, &frame, span, out, |l, out| value = l.value(e, out))
            });
            return value;
        }
        let result = match &function.result {
            Type::Void => None,
            ty => Some(self.storage("tmp", ty, span)),
        };
        let body = function.body.clone();
        let place = result.clone();
        self.deeper(span, |l| {
            l.with_bound(bound, &frame, span, out, |l, out| {
                l.returning(place, out, |l, out| l.block(&body, out));
            });
        });
        result.map_or(Value::Nothing, |r| r.read())
    }

    pub(super) fn call_action(&mut self, id: ActionId, args: &[Option<tree::Expr>], span: Span, out: &mut Vec<Stmt>) {
        let action = &self.program.actions[id.index()];
        let frame = self.frame.clone();
        let path = if action.top_level { String::new() } else { self.path() };
        if self.in_action == 0 {
            self.called
                .insert((self.full_name(&path, &action.name, &action.annotations), id));
        }
        let bound = self.bind(&action.params, args, true, span, out);
        let body = action.body.clone();
        self.in_action += 1;
        self.deeper(span, |l| {
            l.with_bound(bound, &frame, span, out, |l, out| {
                let label = l.returning(None, out, |l, out| l.block(&body, out));
                if l.in_action == 1 {
                    l.ir.calls.insert(label);
                }
            });
        });
        self.in_action -= 1;
    }

    pub(super) fn call_apply(
        &mut self,
        object: &tree::Expr,
        args: &[Option<tree::Expr>],
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        match self.value(object, out) {
            Value::Object(Object::Control(id, frame)) => {
                let params = &self.program.controls[id.index()].params;
                let bound = self.bind(params, args, false, span, out);
                self.deeper(span, |l| {
                    let caller = std::mem::replace(&mut l.frame, frame.clone());
                    l.with_bound(bound, &frame, span, out, |l, out| l.control_body(id, out));
                    l.frame = caller;
                });
            }
            Value::Object(Object::Parser(id, frame)) => self.call_parser(id, &frame, args, span, out),
            _ => {}
        }
    }

    /// Lowers locals and body of a control with bound parameters.
    pub(super) fn control_body(&mut self, id: crate::typed::types::ControlId, out: &mut Vec<Stmt>) {
        let control = &self.program.controls[id.index()];
        for local in &control.locals {
            if let tree::Local::Variable(var, value) = local {
                self.declare(*var, value.as_ref(), out);
            }
        }
        let body: &Block = &control.body;
        self.returning(None, out, |l, out| l.block(body, out));
    }

    /// Binds the parameters of a sub-parser; its states are added later.
    pub(super) fn bind_parser(
        &mut self,
        params: &[VarId],
        frame: &FrameRef,
        args: &[Option<tree::Expr>],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Vec<(Loc, Loc)> {
        let bound = self.bind(params, args, false, span, out);
        self.set_parameters(bound, frame, span, out)
    }
}
