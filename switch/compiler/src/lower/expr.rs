//! Expressions.

use num_bigint::BigInt;

use super::{
    Lowerer, Object,
    value::{Loc, Value},
};
use crate::{
    ir::{self, Expr, ExprKind as K, HeaderRef, Stmt, Ty},
    source::Span,
    syntax::ast::{BinaryOp, Composite},
    typed::{
        tree::{self, Builtin, Callee, ExprKind, StackProperty},
        types::{InstanceId, Type, VarId},
    },
};

/// Deepest nesting of an expression in the JSON. JSON readers accept 128 levels; the operation around an expression
/// needs some of them.
const MAX_NESTING: usize = 96;

impl Lowerer<'_> {
    /// A number or bool.
    pub(super) fn scalar_of(&mut self, e: &tree::Expr, out: &mut Vec<Stmt>) -> Expr {
        self.value(e, out).scalar()
    }

    /// An integer known at compile time, perhaps through a constructor's parameter.
    pub(super) fn known(&mut self, e: &tree::Expr, what: &str) -> Option<BigInt> {
        let mut out = Vec::new();
        let value = self.value(e, &mut out);
        match value {
            Value::Scalar(e) if out.is_empty() && e.is_known() => e.as_int(),
            Value::Nothing => None,
            _ => {
                self.error(e.span, format!("{what} must be known when compiling"));
                None
            }
        }
    }

    /// Value of an expression. Its statements are added to `out`. An expression that would nest too deeply is stored in
    /// variables there.
    pub(super) fn value(&mut self, e: &tree::Expr, out: &mut Vec<Stmt>) -> Value {
        if !self.spend(e.span, 1) {
            return Value::Nothing;
        }
        match self.value_here(e, out) {
            Value::Scalar(deep) if deep.nesting() > MAX_NESTING => self.saved(Value::Scalar(deep), e.span, out),
            value => value,
        }
    }

    fn value_here(&mut self, e: &tree::Expr, out: &mut Vec<Stmt>) -> Value {
        match &e.kind {
            ExprKind::Unknown | ExprKind::Any | ExprKind::Mask(..) | ExprKind::Range(..) | ExprKind::ValueSet(_) => {
                Value::Nothing
            }
            ExprKind::Int(value) => Value::Scalar(Expr::int(value, self.scalar_type(&e.ty).unwrap_or(Ty::bit(32)))),
            ExprKind::Bool(value) => Value::Scalar(Expr::bool(*value)),
            ExprKind::Text(text) => Value::Text(text.clone()),
            ExprKind::Error(index) | ExprKind::Member(index) => Value::Scalar(Expr::number(*index as u64, 32)),
            ExprKind::Var(id) => self.variable(*id),
            ExprKind::Old => self.updated.as_ref().map_or(Value::Nothing, Loc::read),
            ExprKind::Instance(id) => Value::Object(self.object(*id)),
            ExprKind::Default => match &e.ty {
                Type::Invalid => Value::Invalid,
                ty => self.default_value(ty),
            },
            ExprKind::Field(base, index) => self.field_value(base, *index, out),
            ExprKind::Index(..) | ExprKind::Stack(..) => self.element_value(e, out),
            ExprKind::Slice(base, high, low) => {
                let base = self.scalar_of(base, out);
                Value::Scalar(base.slice(*high, *low))
            }
            ExprKind::Unary(op, operand) => {
                let operand = self.scalar_of(operand, out);
                Value::Scalar(Expr::unary(*op, operand))
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, e, out),
            ExprKind::Conditional(condition, yes, no) => self.conditional(condition, yes, no, e, out),
            ExprKind::Cast(operand) => {
                let operand = self.scalar_of(operand, out);
                let ty = self.scalar_type(&e.ty).unwrap_or(operand.ty);
                Value::Scalar(operand.cast(ty))
            }
            ExprKind::Aggregate(parts) => self.aggregate(parts, &e.ty, out),
            ExprKind::Call(callee, types, args) => self.call(callee, types, args, e, out),
            ExprKind::Hit(table, hit) => self.hit_value(*table, *hit, e.span, out),
        }
    }

    fn aggregate(&mut self, parts: &[tree::Expr], ty: &Type, out: &mut Vec<Stmt>) -> Value {
        let later_effects = |i: usize| parts[i + 1..].iter().any(tree::Expr::has_effects);
        let mut values = Vec::with_capacity(parts.len());
        for (i, part) in parts.iter().enumerate() {
            let value = self.value(part, out);
            let value = if later_effects(i) {
                self.saved(value, part.span, out)
            } else {
                value
            };
            values.push(value);
        }
        match self.program.types.composite(ty) {
            Some(Composite::Header) => Value::Header(values),
            _ => Value::List(values),
        }
    }

    pub(super) fn variable(&mut self, id: VarId) -> Value {
        let bound = self.frame.borrow().vars.get(&id).cloned();
        bound.map_or_else(|| self.variable_loc(id).read(), Value::read)
    }

    /// Place of a variable, created at its first use.
    pub(super) fn variable_loc(&mut self, id: VarId) -> Loc {
        let bound = self.frame.borrow().vars.get(&id).cloned();
        if let Some(Value::Place(loc)) = bound {
            return loc;
        }
        let var = &self.program.vars[id.index()];
        let path = self.path();
        let name = if path.is_empty() {
            var.name.to_string()
        } else {
            format!("{path}.{}", var.name)
        };
        let loc = self.storage(&name, &var.ty, var.span);
        self.frame.borrow_mut().vars.insert(id, Value::Place(loc.clone()));
        loc
    }

    fn object(&mut self, id: InstanceId) -> Object {
        let known = self
            .frame
            .borrow()
            .objects
            .get(&id)
            .cloned()
            .or_else(|| self.globals.get(&id).cloned());
        if let Some(object) = known {
            return object;
        }
        // An anonymous instance is created where it is used.
        let path = self.path();
        let object = self.instantiate(id, &path);
        self.frame.borrow_mut().objects.insert(id, object.clone());
        object
    }

    fn field_value(&mut self, base: &tree::Expr, index: usize, out: &mut Vec<Stmt>) -> Value {
        match self.value(base, out) {
            Value::Place(loc) => self.field_loc(&loc, index).read(),
            Value::List(parts) | Value::Header(parts) => parts.into_iter().nth(index).unwrap_or(Value::Nothing),
            Value::Invalid => {
                let ty = match &base.ty {
                    Type::Struct(id) => self.program.types.get(*id).fields[index].ty.clone(),
                    _ => return Value::Nothing,
                };
                self.default_value(&ty)
            }
            _ => Value::Nothing,
        }
    }

    fn element_value(&mut self, e: &tree::Expr, out: &mut Vec<Stmt>) -> Value {
        if let ExprKind::Stack(base, StackProperty::LastIndex) = &e.kind {
            return match self.value(base, out) {
                Value::Place(Loc::Stack(stack, _)) => Value::Scalar(Expr::new(K::LastIndex(stack), Ty::bit(32))),
                _ => self.unsupported(e.span, "lastIndex of this stack"),
            };
        }
        if let ExprKind::Index(base, index) = &e.kind
            && let Value::List(parts) = self.value(base, out)
        {
            let index = self
                .scalar_of(index, out)
                .as_int()
                .and_then(|i| usize::try_from(i).ok());
            return index.and_then(|i| parts.into_iter().nth(i)).unwrap_or(Value::Nothing);
        }
        self.place(e, out).read()
    }

    pub(super) fn unsupported(&mut self, span: Span, what: &str) -> Value {
        self.error(span, format!("{what} is not supported by BMv2"));
        Value::Nothing
    }

    /// Place of an expression that can be written.
    pub(super) fn place(&mut self, e: &tree::Expr, out: &mut Vec<Stmt>) -> Loc {
        match &e.kind {
            ExprKind::Var(id) => {
                let bound = self.frame.borrow().vars.get(id).cloned();
                match bound {
                    Some(Value::Place(loc)) => loc,
                    Some(_) => Loc::Nowhere,
                    None => self.variable_loc(*id),
                }
            }
            ExprKind::Field(base, index) => {
                let base = self.place(base, out);
                if matches!(base, Loc::Nowhere) {
                    // A part of an 'in' parameter that is bound to several places.
                    return match self.value(e, out) {
                        Value::Place(loc) => loc,
                        _ => Loc::Nowhere,
                    };
                }
                self.field_loc(&base, *index)
            }
            ExprKind::Index(base, index) => {
                let base = self.place(base, out);
                let index = self.scalar_of(index, out);
                let simple = match &index.kind {
                    K::Int(_) | K::Param(_) => true,
                    _ if self.save_indexes => false,
                    K::Field(field) => matches!(field.header, HeaderRef::Static(_)),
                    _ => false,
                };
                // The index is compared with several numbers.
                let index = if simple {
                    index
                } else {
                    self.saved(Value::Scalar(index), e.span, out).scalar()
                };
                self.element(&base, index, e.span)
            }
            ExprKind::Slice(base, high, low) => match self.place(base, out) {
                Loc::Field(field, ty) => Loc::Slice(field, ty, *high, *low),
                Loc::Slice(field, ty, _, first) => Loc::Slice(field, ty, first + high, first + low),
                _ => Loc::Nowhere,
            },
            ExprKind::Stack(_, StackProperty::Next) if !self.extracting => {
                let message = "BMv2 extracts to the next element of a stack, and can do nothing else with it";
                self.error(e.span, message);
                Loc::Nowhere
            }
            ExprKind::Stack(base, property) => match (self.place(base, out), property) {
                (Loc::Stack(stack, id), StackProperty::Next) => Loc::Header(HeaderRef::Next(stack), id),
                (Loc::Stack(stack, id), StackProperty::Last) => Loc::Header(HeaderRef::Last(stack), id),
                (Loc::UnionStack(stack, id), StackProperty::Next) => Loc::NextUnion(stack, id),
                _ => {
                    self.unsupported(e.span, "this use of a header stack");
                    Loc::Nowhere
                }
            },
            _ => match self.value(e, out) {
                Value::Place(loc) => loc,
                _ => Loc::Nowhere,
            },
        }
    }

    fn element(&mut self, base: &Loc, index: Expr, span: Span) -> Loc {
        let known = index.as_int().and_then(|i| usize::try_from(i).ok());
        match (base, known) {
            (Loc::Stack(stack, id), Some(i)) => match self.ir.stacks[*stack].elements.get(i) {
                Some(header) => Loc::Header(HeaderRef::Static(*header), *id),
                None => {
                    self.error(span, format!("the index {i} is beyond the end of the stack"));
                    Loc::Nowhere
                }
            },
            (Loc::Stack(stack, id), None) if self.spend(span, self.ir.stacks[*stack].elements.len()) => {
                Loc::Header(HeaderRef::Element(*stack, Box::new(index)), *id)
            }
            (Loc::UnionStack(stack, id), Some(i)) => match self.ir.union_stacks[*stack].elements.get(i) {
                Some(union) => Loc::Union(*union, *id),
                None => Loc::Nowhere,
            },
            (Loc::Struct(parts), Some(i)) => parts.get(i).cloned().unwrap_or(Loc::Nowhere),
            (Loc::Nowhere, _) => Loc::Nowhere,
            _ => {
                self.unsupported(span, "this index");
                Loc::Nowhere
            }
        }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &tree::Expr,
        right: &tree::Expr,
        e: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Value {
        use BinaryOp as B;
        if matches!(op, B::And | B::Or) && right.has_effects() {
            return self.short_circuit(op, left, right, e.span, out);
        }
        let mut a = self.value(left, out);
        let zero = left.as_int() == Some(&BigInt::ZERO);
        if matches!(op, B::Div | B::Mod) && zero {
            self.value(right, out);
            return a;
        }
        if right.has_effects() {
            a = self.saved(a, left.span, out);
        }
        let b = self.value(right, out);
        if matches!(op, B::Eq | B::NotEq) && !matches!((&a, &b), (Value::Scalar(_), Value::Scalar(_))) {
            let equal = self.equal(&a, &b, e.span);
            return Value::Scalar(match op {
                B::Eq => equal,
                _ => Expr::unary(crate::syntax::ast::UnaryOp::Not, equal),
            });
        }
        let (a, b) = (a.scalar(), b.scalar());
        let ty = self.scalar_type(&e.ty).unwrap_or(a.ty);
        Value::Scalar(match op {
            B::Concat => concatenate(a, b, ty),
            B::Div | B::Mod => divide(op, a, b, ty),
            _ => Expr::binary(op, a, b, ty),
        })
    }

    /// `a && b` if evaluating `b` has effects: `b` is evaluated only if `a` is true.
    fn short_circuit(
        &mut self,
        op: BinaryOp,
        left: &tree::Expr,
        right: &tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let result = self.temporary(Ty::Bool, span);
        let first = self.scalar_of(left, out);
        self.assign(&result, Value::Scalar(first), span, out);
        let mut inner = Vec::new();
        let second = self.scalar_of(right, &mut inner);
        self.assign(&result, Value::Scalar(second), span, &mut inner);
        let condition = result.read().scalar();
        out.push(match op {
            BinaryOp::And => Stmt::If(condition, inner, Vec::new(), span),
            _ => Stmt::If(condition, Vec::new(), inner, span),
        });
        result.read()
    }

    fn conditional(
        &mut self,
        condition: &tree::Expr,
        yes: &tree::Expr,
        no: &tree::Expr,
        e: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let condition = self.scalar_of(condition, out);
        if let K::Bool(value) = condition.kind {
            return self.value(if value { yes } else { no }, out);
        }
        if self.scalar_type(&e.ty).is_some() && !yes.has_effects() && !no.has_effects() {
            let (yes, no) = (self.scalar_of(yes, out), self.scalar_of(no, out));
            return Value::Scalar(Expr::conditional(condition, yes, no));
        }
        let result = self.storage("tmp", &e.ty, e.span);
        let branch = |l: &mut Self, e: &tree::Expr| {
            let mut inner = Vec::new();
            let value = l.value(e, &mut inner);
            l.assign(&result, value, e.span, &mut inner);
            inner
        };
        let (yes, no) = (branch(self, yes), branch(self, no));
        out.push(Stmt::If(condition, yes, no, e.span));
        result.read()
    }

    fn hit_value(&mut self, table: crate::typed::types::TableId, hit: bool, span: Span, out: &mut Vec<Stmt>) -> Value {
        let result = self.temporary(Ty::Bool, span);
        let set = |l: &mut Self, value: bool| {
            let mut inner = Vec::new();
            l.assign(&result, Value::Scalar(Expr::bool(value)), span, &mut inner);
            inner
        };
        let (on_hit, on_miss) = (set(self, hit), set(self, !hit));
        self.apply_table(table, ir::Outcome::HitMiss(on_hit, on_miss), span, out);
        result.read()
    }

    /// A call in an expression or as a statement.
    pub(super) fn call(
        &mut self,
        callee: &Callee,
        types: &[Type],
        args: &[Option<tree::Expr>],
        e: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Value {
        match callee {
            Callee::Builtin(builtin, object) => self.builtin(*builtin, object, args, e.span, out),
            Callee::Table(id) => {
                self.apply_table(*id, ir::Outcome::Any, e.span, out);
                Value::Nothing
            }
            Callee::Function(id) => self.call_function(*id, args, e.span, out),
            Callee::Action(id) => {
                self.call_action(*id, args, e.span, out);
                Value::Nothing
            }
            Callee::Apply(object) => {
                self.call_apply(object, args, e.span, out);
                Value::Nothing
            }
            Callee::Extern(id) => self.call_extern(*id, types, args, e.span, out),
            Callee::Method(object, method) => self.call_method(object, *method, types, args, e.span, out),
        }
    }

    fn builtin(
        &mut self,
        builtin: Builtin,
        object: &tree::Expr,
        args: &[Option<tree::Expr>],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let place = self.place(object, out);
        if matches!(place, Loc::Nowhere) {
            // A field of a value that was never stored.
            return if builtin == Builtin::IsValid {
                Value::Scalar(Expr::bool(false))
            } else {
                Value::Nothing
            };
        }
        match (builtin, &place) {
            (Builtin::IsValid, _) => return Value::Scalar(self.validity(&place, span)),
            (Builtin::SetValid, Loc::Header(header, _)) => {
                self.on_header("add_header", header, span, out);
            }
            (Builtin::SetInvalid, Loc::Header(header, _)) => {
                self.on_header("remove_header", header, span, out);
            }
            (Builtin::PushFront | Builtin::PopFront, Loc::Stack(..) | Loc::UnionStack(..)) => {
                let count = args
                    .first()
                    .and_then(Option::as_ref)
                    .and_then(|a| self.known(a, "the count"));
                let op = if builtin == Builtin::PushFront { "push" } else { "pop" };
                let stack = match &place {
                    Loc::Stack(stack, _) => ir::Arg::Stack(*stack),
                    Loc::UnionStack(stack, _) => ir::Arg::UnionStack(*stack),
                    _ => return Value::Nothing,
                };
                Self::push(out, op, vec![stack, ir::Arg::Number(count.unwrap_or_default())], span);
            }
            _ => return self.unsupported(span, "this method"),
        }
        Value::Nothing
    }
}

/// `left ++ right`
pub(super) fn concatenate(left: Expr, right: Expr, ty: Ty) -> Expr {
    let whole = Ty::bit(ty.width());
    let low = right.ty.width();
    if left.is_known() && right.is_known() {
        return Expr::binary(BinaryOp::Concat, left, right, ty);
    }
    let unsigned = |e: Expr| {
        let own = Ty::bit(e.ty.width());
        e.cast(own).cast(whole)
    };
    let high = Expr::binary(BinaryOp::Shl, unsigned(left), Expr::number(u64::from(low), 32), whole);
    Expr::binary(BinaryOp::BitOr, high, unsigned(right), whole).cast(ty)
}

/// Division by a known number: a power of two becomes a shift or a mask.
fn divide(op: BinaryOp, left: Expr, right: Expr, ty: Ty) -> Expr {
    let power = right
        .as_int()
        .filter(|d| *d > BigInt::ZERO && d.trailing_zeros() == Some(d.bits() - 1));
    match power {
        Some(divisor) if op == BinaryOp::Div => {
            Expr::binary(BinaryOp::Shr, left, Expr::number(divisor.bits() - 1, 32), ty)
        }
        Some(divisor) => Expr::binary(BinaryOp::BitAnd, left, Expr::int(&(divisor - 1), ty), ty),
        None => Expr::binary(op, left, right, ty),
    }
}
