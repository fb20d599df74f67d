//! Values. BMv2 computes with numbers of any size, so results are cut to their width here.

use num_bigint::{BigInt, Sign};
use serde_json::{Value, json};

use super::Emitter;
use crate::{
    ir::{Arg, Expr, ExprKind, FieldRef, HeaderRef, Primitive, Ty, VALIDITY},
    syntax::ast::{BinaryOp, UnaryOp},
};

/// A number in BMv2's form, with as many bytes as `width` bits need.
pub(super) fn hex(value: &BigInt, width: u32) -> String {
    let digits = (width.div_ceil(8) * 2) as usize;
    let sign = if value.sign() == Sign::Minus { "-" } else { "" };
    format!("{sign}0x{:0>digits$}", value.magnitude().to_str_radix(16))
}

fn number(value: &BigInt, width: u32) -> Value {
    json!({"type": "hexstr", "value": hex(value, width)})
}

fn expression(op: &str, left: Value, right: Value) -> Value {
    json!({"type": "expression", "value": {"op": op, "left": left, "right": right}})
}

fn decision(yes: Value, no: Value, condition: Value) -> Value {
    json!({"type": "expression", "value": {"op": "?", "left": yes, "right": no, "cond": condition}})
}

/// A value as an argument. An expression is wrapped in another one.
fn whole(value: Value) -> Value {
    match value.get("type") == Some(&json!("expression")) {
        true => json!({"type": "expression", "value": value}),
        false => value,
    }
}

impl Emitter<'_> {
    /// `[header, field]`
    pub(super) fn field_name(&self, field: &FieldRef) -> Value {
        let name = if field.field == VALIDITY {
            "$valid$".to_owned()
        } else {
            self.ir.field(field).name.clone()
        };
        match &field.header {
            HeaderRef::Static(h) => json!([self.ir.headers[*h].name, name]),
            HeaderRef::Last(s) | HeaderRef::Next(s) | HeaderRef::Element(s, _) => {
                json!([self.ir.stacks[*s].name, name])
            }
        }
    }

    /// A field; a bool stays a number.
    fn field(&self, field: &FieldRef) -> Value {
        match &field.header {
            HeaderRef::Static(_) => json!({"type": "field", "value": self.field_name(field)}),
            HeaderRef::Last(_) | HeaderRef::Next(_) => json!({"type": "stack_field", "value": self.field_name(field)}),
            HeaderRef::Element(stack, index) => self.chosen(*stack, index, &|h| {
                self.field(&FieldRef::new(HeaderRef::Static(h), field.field))
            }),
        }
    }

    pub(super) fn header(&self, header: &HeaderRef) -> Value {
        match header {
            HeaderRef::Static(h) => json!({"type": "header", "value": self.ir.headers[*h].name}),
            HeaderRef::Element(s, index) => {
                let stack = json!({"type": "header_stack", "value": self.ir.stacks[*s].name});
                expression("dereference_header_stack", stack, self.value(index))
            }
            HeaderRef::Last(s) | HeaderRef::Next(s) => {
                let stack = json!({"type": "header_stack", "value": self.ir.stacks[*s].name});
                let last = expression("last_stack_index", Value::Null, stack.clone());
                let index = match header {
                    HeaderRef::Next(_) => expression("+", last, number(&BigInt::from(1), 32)),
                    _ => last,
                };
                expression("dereference_header_stack", stack, index)
            }
        }
    }

    /// A value of the element of a stack at an index known only at run time; beyond the end, that of the last element.
    fn chosen(&self, stack: usize, index: &Expr, value: &dyn Fn(usize) -> Value) -> Value {
        self.search(&self.ir.stacks[stack].elements, 0, index, value)
    }

    fn search(&self, elements: &[usize], first: usize, index: &Expr, value: &dyn Fn(usize) -> Value) -> Value {
        match elements {
            [] => Value::Null,
            [only] => value(*only),
            _ => {
                let (low, high) = elements.split_at(elements.len() / 2);
                let limit = BigInt::from(first + low.len());
                let yes = self.search(low, first, index, value);
                if limit > (BigInt::from(1) << index.ty.width()) - 1 {
                    return yes;
                }
                let no = self.search(high, first + low.len(), index, value);
                let test = expression("<", self.data(index), number(&limit, index.ty.width()));
                decision(yes, no, test)
            }
        }
    }

    /// Validity of a header as a number.
    fn valid(&self, header: &HeaderRef) -> Value {
        match header {
            HeaderRef::Element(stack, index) => self.chosen(*stack, index, &|h| self.valid(&HeaderRef::Static(h))),
            HeaderRef::Static(h) => json!({"type": "field", "value": [self.ir.headers[*h].name, "$valid$"]}),
            other => expression("b2d", Value::Null, expression("valid", Value::Null, self.header(other))),
        }
    }

    /// A value as a number; a bool is 0 or 1.
    pub(super) fn data(&self, e: &Expr) -> Value {
        match (&e.kind, e.ty) {
            (ExprKind::Field(f), _) => self.field(f),
            (ExprKind::Param(i), _) => json!({"type": "local", "value": i}),
            (ExprKind::Bool(value), _) => number(&BigInt::from(u8::from(*value)), 1),
            (ExprKind::Valid(h), _) => self.valid(h),
            // A bool from one bit is that bit.
            (ExprKind::Cast(inner), Ty::Bool) if inner.ty == Ty::bit(1) => self.data(inner),
            (_, Ty::Bool) => expression("b2d", Value::Null, self.value(e)),
            _ => self.value(e),
        }
    }

    /// A value; a bool has BMv2's type bool.
    pub(super) fn value(&self, e: &Expr) -> Value {
        let d2b = |data| expression("d2b", Value::Null, data);
        match &e.kind {
            ExprKind::Int(value) => number(value, e.ty.width()),
            ExprKind::Bool(value) => json!({"type": "bool", "value": value}),
            ExprKind::Field(_) | ExprKind::Param(_) if e.ty == Ty::Bool => d2b(self.data(e)),
            ExprKind::Field(_) | ExprKind::Param(_) => self.data(e),
            ExprKind::Valid(h @ (HeaderRef::Static(_) | HeaderRef::Element(..))) => d2b(self.valid(h)),
            ExprKind::Valid(h) => expression("valid", Value::Null, self.header(h)),
            ExprKind::ValidUnion(u) => {
                let union = json!({"type": "header_union", "value": self.ir.unions[*u].name});
                expression("valid_union", Value::Null, union)
            }
            ExprKind::LastIndex(s) => {
                let stack = json!({"type": "header_stack", "value": self.ir.stacks[*s].name});
                expression("last_stack_index", Value::Null, stack)
            }
            ExprKind::Lookahead(offset, width) => json!({"type": "lookahead", "value": [offset, width]}),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, e.ty),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, e.ty),
            ExprKind::Conditional(condition, yes, no) => self.conditional(condition, yes, no, e.ty),
            ExprKind::Cast(inner) => self.cast(inner, e.ty),
        }
    }

    /// Cuts a number to a type.
    fn cut(value: Value, ty: Ty) -> Value {
        match ty {
            Ty::Bits { signed: true, width } => expression("two_comp_mod", value, number(&BigInt::from(width), 32)),
            Ty::Bits { width, .. } => {
                let mask = (BigInt::from(1) << width) - 1;
                expression("&", value, number(&mask, width))
            }
            _ => value,
        }
    }

    fn unary(&self, op: UnaryOp, operand: &Expr, ty: Ty) -> Value {
        match op {
            UnaryOp::Not => expression("not", Value::Null, self.value(operand)),
            UnaryOp::Complement => Self::cut(expression("~", Value::Null, self.value(operand)), ty),
            UnaryOp::Minus => {
                let zero = number(&BigInt::ZERO, ty.width());
                Self::cut(expression("-", zero, self.value(operand)), ty)
            }
            UnaryOp::Plus => self.value(operand),
        }
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr, ty: Ty) -> Value {
        use BinaryOp as B;
        match op {
            B::And => expression("and", self.value(left), self.value(right)),
            B::Or => expression("or", self.value(left), self.value(right)),
            B::Eq | B::NotEq => expression(op.text(), self.data(left), self.data(right)),
            B::SatAdd | B::SatSub => {
                let op = if op == B::SatAdd { "+" } else { "-" };
                let exact = expression(op, self.data(left), self.data(right));
                let cast = match ty {
                    Ty::Bits { signed: true, .. } => "sat_cast",
                    _ => "usat_cast",
                };
                expression(cast, exact, number(&BigInt::from(ty.width()), 32))
            }
            // Instead of subtracting a constant, add its complement: the result is never negative.
            B::Sub if matches!((ty, &right.kind), (Ty::Bits { signed: false, .. }, ExprKind::Int(_))) => {
                let constant = right.as_int().unwrap_or_default();
                let complement = ((BigInt::from(1) << ty.width()) - constant) % (BigInt::from(1) << ty.width());
                let sum = expression("+", self.data(left), number(&complement, ty.width()));
                Self::cut(sum, ty)
            }
            B::Add | B::Sub | B::Mul | B::Shl => {
                Self::cut(expression(op.text(), self.data(left), self.data(right)), ty)
            }
            _ => expression(op.text(), self.data(left), self.data(right)),
        }
    }

    fn conditional(&self, condition: &Expr, yes: &Expr, no: &Expr, ty: Ty) -> Value {
        let choice = decision(self.data(yes), self.data(no), self.value(condition));
        match ty {
            Ty::Bool => expression("d2b", Value::Null, choice),
            _ => choice,
        }
    }

    fn cast(&self, inner: &Expr, ty: Ty) -> Value {
        match (inner.ty, ty) {
            (_, Ty::Bool) => expression("d2b", Value::Null, self.data(inner)),
            (Ty::Bool, _) => self.data(inner),
            (Ty::Bits { signed: a, width: v }, Ty::Bits { signed: b, width: w }) if a == b && v <= w => {
                self.data(inner)
            }
            _ => Self::cut(self.data(inner), ty),
        }
    }

    /// A value as the argument of a primitive or of a parser's operation.
    pub(super) fn argument(&self, e: &Expr) -> Value {
        match self.data(e) {
            Value::Object(o) if o.get("type") == Some(&json!("local")) => {
                json!({"type": "runtime_data", "value": o.get("value")})
            }
            value => whole(value),
        }
    }

    /// An input of a calculation, or an element of a list.
    pub(super) fn input(&self, e: &Expr) -> Value {
        match &e.kind {
            ExprKind::Int(value) => {
                json!({"type": "hexstr", "value": hex(value, e.ty.width()), "bitwidth": e.ty.width()})
            }
            _ => self.data(e),
        }
    }

    pub(super) fn arg(&self, arg: &Arg) -> Value {
        match arg {
            Arg::Value(e) => self.argument(e),
            Arg::Target(field) => whole(self.field(field)),
            Arg::Header(h) => whole(self.header(h)),
            Arg::Stack(s) => json!({"type": "header_stack", "value": self.ir.stacks[*s].name}),
            Arg::Union(u) => json!({"type": "header_union", "value": self.ir.unions[*u].name}),
            Arg::UnionStack(s) => json!({"type": "header_union_stack", "value": self.ir.union_stacks[*s].name}),
            Arg::Named(kind, name) => json!({"type": kind, "value": name}),
            Arg::Number(value) => {
                let sign = if value.sign() == Sign::Minus { "-" } else { "" };
                json!({"type": "hexstr", "value": format!("{sign}0x{:x}", value.magnitude())})
            }
            Arg::Text(text) => json!({"type": "string", "value": &**text}),
            Arg::Values(values) => {
                let list: Vec<Value> = values.iter().map(|v| self.argument(v)).collect();
                json!({"type": "parameters_vector", "value": list})
            }
        }
    }

    pub(super) fn primitive(&self, p: &Primitive) -> Value {
        let args: Vec<Value> = p.args.iter().map(|a| self.arg(a)).collect();
        let mut out = super::object([("op", json!(p.op)), ("parameters", json!(args))]);
        self.source(&mut out, p.span);
        Value::Object(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ir::Ir, source::SourceMap};

    fn written(e: &Expr) -> Value {
        let (ir, map) = (Ir::default(), SourceMap::default());
        let emitter = Emitter {
            ir: &ir,
            map: &map,
            errors: &[],
        };
        emitter.value(e)
    }

    fn param(ty: Ty) -> Expr {
        Expr::new(ExprKind::Param(0), ty)
    }

    const BYTE: Ty = Ty::Bits {
        signed: false,
        width: 8,
    };
    const SIGNED: Ty = Ty::Bits { signed: true, width: 8 };

    #[test]
    fn numbers_have_as_many_digits_as_their_width_needs_bytes() {
        assert_eq!(hex(&BigInt::from(5), 1), "0x05");
        assert_eq!(hex(&BigInt::from(5), 9), "0x0005");
        assert_eq!(hex(&BigInt::from(-5), 16), "-0x0005");
        assert_eq!(hex(&BigInt::ZERO, 48), "0x000000000000");
    }

    #[test]
    fn results_are_cut_to_their_width() {
        let sum = |ty| written(&Expr::binary(BinaryOp::Add, param(ty), param(ty), ty));
        assert_eq!(sum(BYTE)["value"]["op"], "&");
        assert_eq!(sum(BYTE)["value"]["right"]["value"], "0xff");
        assert_eq!(sum(SIGNED)["value"]["op"], "two_comp_mod");
        let saturated = |ty| written(&Expr::binary(BinaryOp::SatSub, param(ty), param(ty), ty));
        assert_eq!(saturated(BYTE)["value"]["op"], "usat_cast");
        assert_eq!(saturated(SIGNED)["value"]["op"], "sat_cast");
        // An expression that cannot grow is not cut.
        let shifted = written(&Expr::binary(BinaryOp::Shr, param(BYTE), param(BYTE), BYTE));
        assert_eq!(shifted["value"]["op"], ">>");
        assert_eq!(
            written(&param(BYTE).cast(Ty::bit(16))),
            json!({"type": "local", "value": 0})
        );
        assert_eq!(
            written(&param(BYTE).cast(Ty::bit(4)))["value"]["right"]["value"],
            "0x0f"
        );
    }

    #[test]
    fn subtracting_a_constant_adds_its_complement() {
        let difference = written(&Expr::binary(BinaryOp::Sub, param(BYTE), Expr::number(3, 8), BYTE));
        let sum = &difference["value"]["left"]["value"];
        assert_eq!((&sum["op"], &sum["right"]["value"]), (&json!("+"), &json!("0xfd")));
    }

    fn depth(value: &Value) -> usize {
        match value {
            Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
            Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
            _ => 1,
        }
    }

    #[test]
    fn the_computed_nesting_is_never_less_than_that_of_the_json() {
        use BinaryOp as B;
        let leaf = || param(BYTE);
        let mut list = vec![leaf(), param(Ty::Bool), param(SIGNED).cast(BYTE)];
        for op in [B::Add, B::Sub, B::Mul, B::Shl, B::Shr, B::SatAdd, B::BitAnd, B::BitXor] {
            list.push(Expr::binary(op, leaf(), leaf(), BYTE));
        }
        for op in [B::Eq, B::Less] {
            list.push(Expr::binary(op, leaf(), leaf(), Ty::Bool));
        }
        for _ in 0..3 {
            for e in list.clone() {
                let wrapped = match e.ty {
                    Ty::Bool => vec![
                        Expr::conditional(e.clone(), leaf(), leaf()),
                        Expr::conditional(e.clone(), e.clone(), param(Ty::Bool)),
                        e.clone().and(param(Ty::Bool)),
                        Expr::unary(UnaryOp::Not, e.clone()),
                        Expr::binary(B::Eq, e.clone(), param(Ty::Bool), Ty::Bool),
                        e.cast(Ty::bit(1)),
                    ],
                    _ => vec![
                        Expr::unary(UnaryOp::Minus, e.clone()),
                        Expr::unary(UnaryOp::Complement, e.clone()),
                        e.clone().cast(Ty::bit(1)).cast(Ty::Bool),
                        e.clone().cast(SIGNED).cast(Ty::Bits { signed: true, width: 4 }),
                        Expr::binary(B::Less, e.clone(), leaf(), Ty::Bool),
                    ],
                };
                list.extend(wrapped);
            }
            list.truncate(2000);
        }
        for e in &list {
            assert!(e.nesting() >= depth(&written(e)), "{e:?}");
        }
    }
}
