//! Computations of parsers: checksums (in deparsers too), the counter, and the metadata of a port.

use crate::{
    arch::Arch,
    ir::{Arg, Expr, Stmt, Ty},
    lower::{
        Lowerer,
        arch::Block,
        externs::Args,
        value::{Loc, Value},
    },
    source::Span,
    syntax::ast::{BinaryOp, UnaryOp},
    typed::types::Type,
};

const BYTE: Ty = Ty::Bits {
    signed: false,
    width: 8,
};

impl Lowerer<'_> {
    /// The complement of the ones' complement sum of values.
    fn internet_checksum(&mut self, input: Vec<Expr>, span: Span, out: &mut Vec<Stmt>) -> Expr {
        self.hashed("csum16", None, input, 16, span, out)
    }

    pub(super) fn checksum_method(
        &mut self,
        sum: &Loc,
        method: &str,
        args: Args,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let (block, place) = match method {
            "update" => (Block::Deparser, "deparsers"),
            _ => (Block::Parser, "parsers"),
        };
        if self.block != block {
            self.error(span, format!("'{method}' of a Checksum can be called in {place} only"));
            return Value::Nothing;
        }
        let before = sum.read().scalar();
        match method {
            "update" => {
                let data = self.value_arg(args, 0, out);
                let input = self.inputs(data, span, out);
                let result = self.internet_checksum(input, span, out);
                let Some(Some(ones)) = args.get(1) else {
                    return Value::Scalar(result);
                };
                let ones = self.scalar_of(ones, out);
                let zero = Expr::binary(BinaryOp::Eq, result.clone(), Expr::number(0, 16), Ty::Bool);
                Value::Scalar(Expr::conditional(zero.and(ones), Expr::number(0xffff, 16), result))
            }
            "add" | "subtract" => {
                let data = self.value_arg(args, 0, out);
                let mut input = self.inputs(data, span, out);
                if method == "subtract" {
                    // In ones' complement, the complement of a sum is its negative.
                    input = vec![self.internet_checksum(input, span, out)];
                }
                input.insert(0, before);
                let complement = self.internet_checksum(input, span, out);
                let after = Expr::unary(UnaryOp::Complement, complement);
                self.assign(sum, Value::Scalar(after), span, out);
                Value::Nothing
            }
            "subtract_all_and_deposit" => {
                let place = self.place_arg(args, 0, out);
                if let Loc::Field(_, ty) = &place {
                    self.assign(&place, Value::Scalar(before.cast(*ty)), span, out);
                }
                Value::Nothing
            }
            "get" => Value::Scalar(before),
            // True if there is an error: data with its correct checksum adds up to all ones.
            "verify" => Value::Scalar(Expr::binary(
                BinaryOp::NotEq,
                before,
                Expr::number(0xffff, 16),
                Ty::Bool,
            )),
            _ => self.no_method(method, span),
        }
    }

    pub(super) fn counter_method(
        &mut self,
        counter: &Loc,
        method: &str,
        args: Args,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let now = counter.read().scalar();
        let after = match method {
            "is_zero" => {
                return Value::Scalar(Expr::binary(BinaryOp::Eq, now, Expr::number(0, 8), Ty::Bool));
            }
            "is_negative" => {
                return Value::Scalar(Expr::binary(BinaryOp::GreaterEq, now, Expr::number(0x80, 8), Ty::Bool));
            }
            "increment" => Expr::binary(BinaryOp::Add, now, self.number_arg(args, 0, out).cast(BYTE), BYTE),
            "decrement" => Expr::binary(BinaryOp::Sub, now, self.number_arg(args, 0, out).cast(BYTE), BYTE),
            "set" if args.len() > 1 => self.loaded_counter(args, out),
            "set" => self.number_arg(args, 0, out).cast(BYTE),
            _ => return self.no_method(method, span),
        };
        self.assign(counter, Value::Scalar(after), span, out);
        Value::Nothing
    }

    /// `set(field, max, rotate, mask, add)`: the field, at most `max`, rotated right, its low `mask + 1` bits, plus
    /// `add`.
    fn loaded_counter(&mut self, args: Args, out: &mut Vec<Stmt>) -> Expr {
        let [field, most, rotate, mask, add] = [0, 1, 2, 3, 4].map(|i| self.number_arg(args, i, out).cast(BYTE));
        let less = Expr::binary(BinaryOp::Less, field.clone(), most.clone(), Ty::Bool);
        let capped = Expr::conditional(less, field, most);
        let number = |e: &Expr| e.as_int().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        let (rotate, bits) = (number(&rotate) % 8, (number(&mask) + 1).min(8));
        let right = Expr::binary(BinaryOp::Shr, capped.clone(), Expr::number(rotate, 8), BYTE);
        let left = Expr::binary(BinaryOp::Shl, capped, Expr::number(8 - rotate, 8), BYTE);
        let rotated = Expr::binary(BinaryOp::BitOr, left, right, BYTE);
        let kept = Expr::binary(BinaryOp::BitAnd, rotated, Expr::number((1 << bits) - 1, 8), BYTE);
        Expr::binary(BinaryOp::Add, kept, add, BYTE)
    }

    /// Reads the port metadata, and moves past it.
    pub(super) fn port_metadata(&mut self, ty: &Type, span: Span, out: &mut Vec<Stmt>) -> Value {
        if self.block != Block::Parser {
            self.error(span, "port_metadata_unpack can be called in parsers only");
            return Value::Nothing;
        }
        let value = self.lookahead(ty, &mut 0, span, out);
        let bits = if self.ir.arch == Arch::T2na { 192 } else { 64 };
        Self::push(out, "advance", vec![Arg::Value(Expr::number(bits, 32))], span);
        value
    }
}
