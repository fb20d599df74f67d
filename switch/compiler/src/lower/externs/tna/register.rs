//! Registers, and register actions, which read, change and write a cell in one step.

use num_bigint::BigInt;

use crate::{
    ir::{self, Arg, Expr, Register, RegisterAction, Stmt, Ty},
    lower::{
        FrameRef, Lowerer, Named, Object,
        assign::target,
        externs::Args,
        flow::flattened,
        value::{Loc, Value},
    },
    source::Span,
    syntax::ast::{BinaryOp, Composite, Direction},
    typed::{
        tree::{Instance, Local, VarKind},
        types::{InstanceId, Type, VarId},
    },
};

/// A declared register action.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Declared {
    id: InstanceId,
    name: String,
    frame: FrameRef,
    register: usize,
}

/// The primitive that executes a register action.
const EXECUTE: &str = ir::EXECUTE_REGISTER_ACTION;
/// Largest width of a cell.
const MAX_CELL: u32 = 128;
/// Type of the index of a cell.
pub(super) const INDEX: Ty = Ty::Bits {
    signed: false,
    width: 32,
};

impl Lowerer<'_> {
    /// `Register<T, I>(size [, initial value])`
    pub(super) fn tna_register(&mut self, types: &[Type], instance: &Instance, name: String) -> Object {
        let size = self.size_arg(instance, 0);
        let made = self.cells(types, size, 1, instance, name);
        made.map_or(Object::Unsupported, Object::Register)
    }

    /// `DirectRegister<T>([initial value])`
    pub(super) fn direct_register(&mut self, types: &[Type], instance: &Instance, name: String) -> Object {
        let Some(made) = self.cells(types, 0, 0, instance, name) else {
            return Object::Unsupported;
        };
        self.ir.registers[made].direct = true;
        Object::Register(made)
    }

    /// `RegisterParam<T>(value)`: one cell.
    pub(super) fn register_param(&mut self, types: &[Type], instance: &Instance, name: String) -> Option<usize> {
        self.cells(types, 1, 0, instance, name)
    }

    fn cells(&mut self, types: &[Type], size: u64, initial: usize, instance: &Instance, name: String) -> Option<usize> {
        let ty = types.first().cloned().unwrap_or(Type::Unknown);
        let width = self.leaves(&ty).map(|list| list.iter().map(|t| t.width()).sum());
        let Some(width) = width.filter(|w| (1..=MAX_CELL).contains(w)) else {
            let shown = self.show(&ty);
            let message = format!(
                "a cell of a register is a number or a struct of numbers of at most {MAX_CELL} bits, not {shown}"
            );
            self.error(instance.span, message);
            return None;
        };
        let initial = match instance.args.get(initial).and_then(Option::as_ref) {
            Some(arg) => {
                let value = self.value(arg, &mut Vec::new()).read();
                let packed = self.packed(value, &ty);
                match packed.and_then(|e| e.as_int()) {
                    Some(value) => value,
                    None => {
                        self.error(arg.span, "the first value of a register must be known when compiling");
                        return None;
                    }
                }
            }
            None => BigInt::ZERO,
        };
        self.ir.registers.push(Register {
            name,
            size,
            width,
            ty,
            initial,
            direct: false,
            annotations: instance.annotations.clone(),
            span: instance.span,
        });
        Some(self.ir.registers.len() - 1)
    }

    /// Numbers in a value of a type.
    fn leaves(&self, ty: &Type) -> Option<Vec<Ty>> {
        if let Some(scalar) = self.scalar_type(ty) {
            return (!matches!(scalar, Ty::Varbit(_))).then(|| vec![scalar]);
        }
        let parts: Vec<Type> = match self.program.types.base(ty) {
            Type::Struct(id) if self.program.types.get(id).kind == Composite::Struct => {
                self.program.types.get(id).fields.iter().map(|f| f.ty.clone()).collect()
            }
            Type::Tuple(types) => types.to_vec(),
            _ => return None,
        };
        let parts: Option<Vec<Vec<Ty>>> = parts.iter().map(|t| self.leaves(t)).collect();
        parts.map(|p| p.concat())
    }

    /// The number in a cell for a value: the first field has the high bits.
    fn packed(&self, value: Value, ty: &Type) -> Option<Expr> {
        let types = self.leaves(ty)?;
        let mut numbers = Vec::new();
        super::super::flatten(value, &mut numbers);
        let mut joined: Option<Expr> = None;
        for (number, ty) in numbers.into_iter().zip(types) {
            let number = number.cast(ty);
            joined = Some(match joined {
                None => number.cast(Ty::bit(ty.width())),
                Some(high) => {
                    let whole = Ty::bit(high.ty.width() + ty.width());
                    crate::lower::expr::concatenate(high, number, whole)
                }
            });
        }
        joined
    }

    /// Splits a cell into the fields of a place.
    fn unpack(&mut self, cell: &Expr, to: &Loc, span: Span, out: &mut Vec<Stmt>) {
        let mut high = cell.ty.width();
        for part in parts(to) {
            let Loc::Field(_, ty) = &part else { continue };
            let low = high - ty.width();
            self.assign(
                &part,
                Value::Scalar(cell.clone().slice(high - 1, low).cast(*ty)),
                span,
                out,
            );
            high = low;
        }
    }

    fn read_to(&mut self, register: usize, index: &Expr, cell: &Loc, span: Span, out: &mut Vec<Stmt>) {
        let Some(field) = target(cell) else { return };
        let name = Arg::Named("register_array", self.ir.registers[register].name.clone());
        let args = vec![Arg::Target(field), name, Arg::Value(index.clone())];
        Self::push(out, "register_read", args, span);
    }

    fn write_from(&mut self, register: usize, index: &Expr, value: Expr, span: Span, out: &mut Vec<Stmt>) {
        let name = Arg::Named("register_array", self.ir.registers[register].name.clone());
        let args = vec![name, Arg::Value(index.clone()), Arg::Value(value)];
        Self::push(out, "register_write", args, span);
    }

    /// Index of a call: its first argument; and the other arguments. For a register of a table, the index is the cell
    /// of the matching entry.
    fn cell_index<'c>(&mut self, register: usize, args: Args<'c>, out: &mut Vec<Stmt>) -> (Expr, Args<'c>) {
        if self.ir.registers[register].direct {
            return (self.entry_cell(), args);
        }
        let index = self.number_arg(args, 0, out).cast(INDEX);
        (index, args.get(1..).unwrap_or_default())
    }

    /// Variable in which tables store the cell of the matching entry, for all their registers.
    pub(super) fn entry_cell(&mut self) -> Expr {
        let known = self.tna.entry_cell.clone();
        let cell = known.unwrap_or_else(|| self.scalar("entry_cell", INDEX, Span::default()));
        self.tna.entry_cell = Some(cell.clone());
        cell.read().scalar()
    }

    /// Adds a register to a table, with one cell for each entry.
    pub(in crate::lower) fn bind_register(&mut self, table: usize, register: usize, span: Span) {
        let bound = &mut self.ir.registers[register];
        if bound.size != 0 {
            return self.error(span, "a DirectRegister belongs to one table only");
        }
        bound.size = self.ir.tables[table].size;
        self.ir.tables[table].registers.push(register);
        self.put_entry_cell(table);
    }

    /// Makes a table store the cell of the matching entry.
    pub(super) fn put_entry_cell(&mut self, table: usize) {
        self.entry_cell();
        self.ir.tables[table].cell = self.tna.entry_cell.as_ref().and_then(target);
    }

    /// Value of a cell in new variables.
    pub(super) fn read_cell(&mut self, register: usize, index: Expr, span: Span, out: &mut Vec<Stmt>) -> Value {
        let (ty, width) = (
            self.ir.registers[register].ty.clone(),
            self.ir.registers[register].width,
        );
        let cell = self.temporary(Ty::bit(width), span);
        self.read_to(register, &index, &cell, span, out);
        let value = self.storage("tmp", &ty, span);
        self.unpack(&cell.read().scalar(), &value, span, out);
        value.read()
    }

    /// `read` and `write` of a register without an action.
    pub(super) fn register_access(
        &mut self,
        register: usize,
        method: &str,
        args: Args,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let (index, args) = self.cell_index(register, args, out);
        match method {
            "read" => self.read_cell(register, index, span, out),
            "write" => {
                let value = self.value_arg(args, 0, out).read();
                let ty = self.ir.registers[register].ty.clone();
                let Some(value) = self.packed(value, &ty) else {
                    return Value::Nothing;
                };
                self.write_from(register, &index, value, span, out);
                Value::Nothing
            }
            _ => self.no_method(method, span),
        }
    }

    pub(super) fn declared(&mut self, id: InstanceId, instance: &Instance, name: String) -> Option<Declared> {
        let arg = instance.args.first()?.as_ref()?;
        let register = match self.value(arg, &mut Vec::new()) {
            Value::Object(Object::Register(register)) => register,
            Value::Object(Object::Unsupported) | Value::Nothing => return None,
            _ => {
                self.error(arg.span, "the argument of a RegisterAction must be a Register");
                return None;
            }
        };
        let frame = self.frame.clone();
        Some(Declared {
            id,
            name,
            frame,
            register,
        })
    }

    /// `execute(index [, out result]...)`
    pub(super) fn execute(&mut self, action: &Declared, args: Args, span: Span, out: &mut Vec<Stmt>) -> Value {
        if self.block != crate::lower::arch::Block::Control {
            self.error(
                span,
                "a register action is executed in ingress, egress or ghost controls",
            );
            return Value::Nothing;
        }
        if self.tna.executing.is_some() {
            self.error(span, "a register action cannot execute another");
            return Value::Nothing;
        }
        let Some(made) = self.register_action(action) else {
            return Value::Nothing;
        };
        let (index, args) = self.cell_index(action.register, args, out);
        let name = self.ir.register_actions[made].name.clone();
        let mut list = vec![Arg::Named("register_action", name), Arg::Value(index)];
        let mut first = Value::Nothing;
        let mut after = Vec::new();
        for (i, ty) in self.result_types(action).into_iter().enumerate() {
            let wanted = i == 0 || args.get(i - 1).is_some_and(Option::is_some);
            if !wanted {
                break;
            }
            let variable = self.temporary(ty, span);
            list.extend(target(&variable).map(Arg::Target));
            if i == 0 {
                first = variable.read();
            } else {
                after.push((self.place_arg(args, i - 1, out), variable.read()));
            }
        }
        Self::push(out, EXECUTE, list, span);
        for (place, value) in after {
            self.assign(&place, value, span, out);
        }
        first
    }

    /// Lowers the methods of a register action's stateful ALU: `predicate` has one of 2^n bits for the outcome of the
    /// comparisons; `address` is the index of the cell.
    pub(super) fn alu_method(
        &mut self,
        action: &Declared,
        method: &str,
        args: Args,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        if !matches!(method, "predicate" | "address") {
            return self.no_method(method, span);
        }
        let Some(index) = self.tna.executing.clone() else {
            let message = format!("'{method}' can be called in the body of a RegisterAction only");
            self.error(span, message);
            return Value::Nothing;
        };
        let result = self.result_types(action).first().copied().unwrap_or(INDEX);
        let value = match method {
            "predicate" => {
                let mut place = Expr::number(0, 32);
                for (i, arg) in args.iter().enumerate() {
                    if let Some(arg) = arg {
                        let holds = self.scalar_of(arg, out).cast(Ty::bit(1)).cast(INDEX);
                        let bit = Expr::binary(BinaryOp::Shl, holds, Expr::number(i as u64, 32), INDEX);
                        place = Expr::binary(BinaryOp::BitOr, place, bit, INDEX);
                    }
                }
                Expr::binary(BinaryOp::Shl, Expr::number(1, 32), place, INDEX)
            }
            _ => index,
        };
        Value::Scalar(value.cast(result))
    }

    /// Removes the result of an action if it is not used.
    pub(in crate::lower) fn drop_result(value: &Value, out: &mut [Stmt]) {
        if let (Value::Scalar(value), Some(Stmt::Primitive(p))) = (value, out.last_mut())
            && let (EXECUTE, [_, _, Arg::Target(result)]) = (p.op, p.args.as_slice())
            && value.kind == ir::ExprKind::Field(result.clone())
        {
            p.args.pop();
        }
    }

    /// Types of the results of an action.
    fn result_types(&self, action: &Declared) -> Vec<Ty> {
        let methods = &self.program.instances[action.id.index()].methods;
        let apply = methods.iter().find(|(name, _)| &**name == "apply");
        let params = apply.map(|(_, apply)| apply.params.as_slice()).unwrap_or_default();
        let results = params.iter().skip(1).map(|v| &self.program.vars[v.index()].ty);
        results.filter_map(|ty| self.leaves(ty)).flatten().collect()
    }

    /// The action with the values that its body sees here; created at its first execution.
    fn register_action(&mut self, action: &Declared) -> Option<usize> {
        let seen = self.seen(action);
        let key = (action.name.clone(), seen);
        if let Some(index) = self.tna.register_actions.get(&key) {
            return Some(*index);
        }
        let program = self.program;
        let instance = &program.instances[action.id.index()];
        let Some((_, apply)) = instance.methods.iter().find(|(name, _)| &**name == "apply") else {
            self.error(
                instance.span,
                "a RegisterAction needs the method 'void apply(inout T value, out U result)'",
            );
            return None;
        };
        let actions = &self.ir.register_actions;
        let taken = |name: &str| actions.iter().any(|a| a.name == name);
        let name = self.numbers.fresh(Named::Action, &action.name, taken);
        let caller = std::mem::replace(&mut self.frame, action.frame.clone());
        let made = self.action_body(&name, action.register, &apply.params, &apply.body, instance.span);
        self.frame = caller;
        self.ir.register_actions.push(made?);
        let index = self.ir.register_actions.len() - 1;
        self.tna.register_actions.insert(key, index);
        Some(index)
    }

    fn action_body(
        &mut self,
        name: &str,
        register: usize,
        params: &[VarId],
        body: &crate::typed::tree::Block,
        span: Span,
    ) -> Option<RegisterAction> {
        let ty = self.ir.registers[register].ty.clone();
        let index = self.scalar(&format!("{name}.index"), INDEX, span);
        let mut value = Loc::Nowhere;
        let mut results = Vec::new();
        for (i, var) in params.iter().enumerate() {
            let def = &self.program.vars[var.index()];
            // The cell has the type of the register, even if the action has another one.
            let wanted = if i == 0 { &ty } else { &def.ty };
            let loc = self.storage(&format!("{name}.{}", def.name), wanted, def.span);
            self.frame.borrow_mut().vars.insert(*var, Value::Place(loc.clone()));
            if i == 0 {
                value = loc;
            } else {
                results.push(loc);
            }
        }
        self.tna.executing = Some(index.read().scalar());
        let mut inner = Vec::new();
        self.returning(None, &mut inner, |l, out| l.block(body, out));
        let inner = flattened(inner);
        self.tna.executing = None;
        let mut all = Vec::new();
        for result in results.iter().flat_map(parts) {
            if let Loc::Field(_, ty) = &result {
                let zero = Expr::number(0, ty.width()).cast(*ty);
                self.assign(&result, Value::Scalar(zero), span, &mut all);
            }
        }
        all.extend(inner.iter().cloned());
        let all = self.around(name, register, &index, &value, all, span);
        let code = self.action_code(&all, span);
        let fields = |locs: &[Loc]| locs.iter().flat_map(parts).filter_map(|p| target(&p)).collect();
        Some(RegisterAction {
            name: name.to_owned(),
            register,
            body: inner,
            value: fields(&[value]),
            results: fields(&results),
            index: target(&index)?,
            code,
            span,
        })
    }

    /// Statements before and after the body: they read the cell to `value`, and write it from `value`.
    fn around(
        &mut self,
        name: &str,
        register: usize,
        index: &Loc,
        value: &Loc,
        stmts: Vec<Stmt>,
        span: Span,
    ) -> Vec<Stmt> {
        let (ty, width) = (
            self.ir.registers[register].ty.clone(),
            self.ir.registers[register].width,
        );
        let cell = match value {
            Loc::Field(_, ty) if *ty == Ty::bit(width) => value.clone(),
            _ => self.scalar(&format!("{name}.cell"), Ty::bit(width), span),
        };
        let index = index.read().scalar();
        let mut all = Vec::new();
        self.read_to(register, &index, &cell, span, &mut all);
        self.unpack(&cell.read().scalar(), value, span, &mut all);
        all.extend(stmts);
        if let Some(packed) = self.packed(value.read(), &ty) {
            self.write_from(register, &index, packed, span, &mut all);
        }
        all
    }

    /// Values of the parameters of the control around a declaration, as text. They identify a register action.
    fn seen(&self, action: &Declared) -> String {
        let program = self.program;
        let declares = |locals: &[Local]| {
            locals
                .iter()
                .any(|l| matches!(l, Local::Instance(i) if *i == action.id))
        };
        let control = program.controls.iter().find(|c| declares(&c.locals));
        let frame = action.frame.borrow();
        let params = control.map(|c| c.params.as_slice()).unwrap_or_default();
        let bound = params.iter().filter_map(|v| {
            let is_data = matches!(program.vars[v.index()].kind, VarKind::Parameter(d) if d != Direction::None);
            frame.vars.get(v).filter(|_| is_data).map(|value| format!("{value:?}"))
        });
        bound.collect::<Vec<_>>().join(" ")
    }
}

/// Fields of a place, in order.
fn parts(loc: &Loc) -> Vec<Loc> {
    match loc {
        Loc::Struct(list) => list.iter().flat_map(parts).collect(),
        other => vec![other.clone()],
    }
}
