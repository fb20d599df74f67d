//! The math unit of a stateful ALU: powers of a number by a table of 16 values over its four highest bits.

use num_bigint::BigInt;

use crate::{
    ir::{Expr, Stmt, Ty},
    lower::{Lowerer, externs::Args, value::Value},
    source::Span,
    syntax::ast::BinaryOp,
    typed::{
        tree::{ExprKind, Instance},
        types::Type,
    },
};

/// Parameters of a math unit.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Unit {
    /// True if the exponent is inverted, as for `1 / x`.
    invert: bool,
    /// 1 doubles the exponent (a square), -1 halves it (a square root), 0 keeps it.
    shift: i32,
    /// Added to the exponent of the result.
    scale: i32,
    /// The result for each value of the highest four bits.
    table: [u64; 16],
    ty: Ty,
}

/// Inversion and shift of each `MathOp_t`.
const OPERATIONS: [(bool, i32); 6] = [(false, 0), (false, 1), (false, -1), (true, 0), (true, 1), (true, -1)];

impl Lowerer<'_> {
    pub(super) fn math_unit(&mut self, types: &[Type], instance: &Instance) -> Option<Unit> {
        let ty = types.first().and_then(|t| self.scalar_type(t));
        let Some(ty @ Ty::Bits { .. }) = ty.filter(|t| t.width() <= 32) else {
            self.error(instance.span, "a MathUnit computes with numbers of at most 32 bits");
            return None;
        };
        let args: Vec<&crate::typed::tree::Expr> = instance.args.iter().flatten().collect();
        let number = |l: &mut Self, i: usize| -> Option<i64> {
            let value = l.known(args.get(i)?, "an argument of a MathUnit")?;
            i64::try_from(value).ok()
        };
        if let ExprKind::Member(operation) = args.first()?.kind {
            let (invert, shift) = *OPERATIONS.get(operation)?;
            let factor = number(self, 1)? as f64;
            let factor = if args.len() > 2 {
                factor / number(self, 2)? as f64
            } else {
                factor
            };
            let (scale, table) = computed(invert, shift, factor);
            return Some(Unit {
                invert,
                shift,
                scale,
                table,
                ty,
            });
        }
        let invert = number(self, 0)? != 0;
        let (shift, scale) = (number(self, 1)? as i32, number(self, 2)? as i32);
        let mut values = Vec::new();
        let list = self.value(args.get(3)?, &mut Vec::new()).read();
        super::super::flatten(list, &mut values);
        // The program lists the values from the highest to the lowest index.
        let mut table = [0; 16];
        for (entry, value) in table.iter_mut().rev().zip(values) {
            *entry = value.as_int().and_then(|v| u64::try_from(v).ok()).unwrap_or(0);
        }
        Some(Unit {
            invert,
            shift,
            scale,
            table,
            ty,
        })
    }

    pub(super) fn math(&mut self, unit: &Unit, args: Args, span: Span, out: &mut Vec<Stmt>) -> Value {
        let wide = Ty::bit(64);
        let number = |n: u64| Expr::number(n, 64);
        let x = self.number_arg(args, 0, out).cast(Ty::bit(unit.ty.width())).cast(wide);
        let zero = Expr::binary(BinaryOp::Eq, x.clone(), number(0), Ty::Bool);
        // The highest one bit is moved to bit 31; `exponent` is its old position.
        let (mantissa, exponent) = (self.temporary(wide, span), self.temporary(wide, span));
        self.assign(&mantissa, Value::Scalar(x), span, out);
        self.assign(&exponent, Value::Scalar(number(31)), span, out);
        for step in [16, 8, 4, 2, 1] {
            let (m, e) = (mantissa.read().scalar(), exponent.read().scalar());
            let small = Expr::binary(BinaryOp::Less, m.clone(), number(1 << (32 - step)), Ty::Bool);
            let mut inner = Vec::new();
            let moved = Expr::binary(BinaryOp::Shl, m, number(step), wide);
            self.assign(&mantissa, Value::Scalar(moved), span, &mut inner);
            let less = Expr::binary(BinaryOp::Sub, e, number(step), wide);
            self.assign(&exponent, Value::Scalar(less), span, &mut inner);
            out.push(Stmt::If(small, inner, Vec::new(), span));
        }
        let (m, e) = (mantissa.read().scalar(), exponent.read().scalar());
        let top = Expr::binary(BinaryOp::Shr, m, number(28), wide);
        let odd = Expr::binary(BinaryOp::BitAnd, e.clone(), number(1), wide);
        // If the exponent is odd, the square root uses half of the number, and an exponent one higher.
        let (top, e) = match unit.shift {
            -1 => {
                let up = Expr::binary(BinaryOp::Add, e, odd.clone(), wide);
                let top = Expr::binary(BinaryOp::Shr, top, odd, wide);
                (top, Expr::binary(BinaryOp::Shr, up, number(1), wide))
            }
            1 => (top, Expr::binary(BinaryOp::Shl, e, number(1), wide)),
            _ => (top, e),
        };
        let entry = looked_up(&unit.table, 0, &top);
        // Both shifts are at most 64 + 32; the unused one is zero.
        let by = |left: bool| {
            let scale = number(unit.scale.unsigned_abs().into());
            let positive = unit.scale >= 0;
            match (unit.invert, left) {
                (false, true) if positive => Expr::binary(BinaryOp::Add, e.clone(), scale, wide),
                (false, true) => Expr::binary(BinaryOp::SatSub, e.clone(), scale, wide),
                (false, false) if positive => number(0),
                (false, false) => Expr::binary(BinaryOp::SatSub, scale, e.clone(), wide),
                (true, true) if positive => Expr::binary(BinaryOp::SatSub, scale, e.clone(), wide),
                (true, true) => number(0),
                (true, false) if positive => Expr::binary(BinaryOp::SatSub, e.clone(), scale, wide),
                (true, false) => Expr::binary(BinaryOp::Add, e.clone(), scale, wide),
            }
        };
        let left = Expr::binary(BinaryOp::Shl, entry, by(true), wide);
        let result = Expr::binary(BinaryOp::Shr, left, by(false), wide);
        let result = Expr::conditional(zero, number(unit.table[0]), result);
        let variable = self.temporary(unit.ty, span);
        self.assign(&variable, Value::Scalar(result.cast(unit.ty)), span, out);
        variable.read()
    }
}

/// An entry of a table, found by binary search.
fn looked_up(table: &[u64], first: usize, index: &Expr) -> Expr {
    if let [only] = table {
        return Expr::int(&BigInt::from(*only), Ty::bit(64));
    }
    let (low, high) = table.split_at(table.len() / 2);
    let middle = first + low.len();
    let below = Expr::binary(BinaryOp::Less, index.clone(), Expr::number(middle as u64, 64), Ty::Bool);
    Expr::conditional(below, looked_up(low, first, index), looked_up(high, middle, index))
}

/// Scale and table for `factor * f(x)`; the scale is the largest for which all entries are below 256.
fn computed(invert: bool, shift: i32, factor: f64) -> (i32, [u64; 16]) {
    let f = |x: f64| {
        let power = match shift {
            1 => x * x,
            -1 => x.sqrt(),
            _ => x,
        };
        if invert { 1.0 / power } else { power }
    };
    let first: u32 = if shift < 0 { 4 } else { 8 };
    // The function is monotonic, so its largest value is that of the first or of the last entry.
    let largest = factor * f(f64::from(first) / 8.0).max(f(15.0 / 8.0));
    let scale = if largest > 0.0 {
        (largest.log2().floor() as i32 - 7).clamp(-32, 31)
    } else {
        0
    };
    let mut table = [0; 16];
    for i in first..16 {
        let value = f(f64::from(i) / 8.0) * factor * 2f64.powi(-scale);
        table[i as usize] = value.round_ties_even().clamp(0.0, 255.0) as u64;
    }
    (scale, table)
}
