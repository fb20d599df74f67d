//! Expands register actions in place: primitives read the cell, change the value, and write the cell.

use std::borrow::Cow;

use num_bigint::BigInt;

use super::Emitter;
use crate::ir::{Arg, EXECUTE_REGISTER_ACTION, Expr, ExprKind, FieldRef, Primitive, Ty};

impl Emitter<'_> {
    /// Code of an action, with register actions expanded.
    pub(super) fn expanded<'c>(&self, code: &'c [Primitive]) -> Cow<'c, [Primitive]> {
        if !code.iter().any(|p| p.op == EXECUTE_REGISTER_ACTION) {
            return Cow::Borrowed(code);
        }
        let parts: Vec<Vec<Primitive>> = code.iter().map(|p| self.expansion(p)).collect();
        let mut starts = vec![0];
        for part in &parts {
            starts.push(starts[starts.len() - 1] + part.len());
        }
        let mut out = Vec::new();
        for (i, (part, original)) in parts.into_iter().zip(code).enumerate() {
            let own = original.op == EXECUTE_REGISTER_ACTION;
            for mut primitive in part {
                match jump_target(&mut primitive) {
                    // In a register action, jumps count from its first primitive after the index.
                    Some(to) if own => *to = BigInt::from(starts[i] + 1) + &*to,
                    Some(to) => {
                        let target = usize::try_from(&*to).unwrap_or(code.len()).min(code.len());
                        *to = BigInt::from(starts[target]);
                    }
                    None => {}
                }
                out.push(primitive);
            }
        }
        Cow::Owned(out)
    }

    fn expansion(&self, primitive: &Primitive) -> Vec<Primitive> {
        let action = match (primitive.op, primitive.args.first()) {
            (EXECUTE_REGISTER_ACTION, Some(Arg::Named(_, name))) => {
                self.ir.register_actions.iter().find(|a| a.name == *name)
            }
            _ => None,
        };
        let Some(action) = action else {
            return vec![primitive.clone()];
        };
        let assign = |target: &FieldRef, value: Arg| Primitive {
            op: "assign",
            args: vec![Arg::Target(target.clone()), value],
            span: primitive.span,
        };
        let mut out = Vec::new();
        out.extend(primitive.args.get(1).map(|index| assign(&action.index, index.clone())));
        out.extend(action.code.iter().cloned());
        for (target, result) in primitive.args[2..].iter().zip(&action.results) {
            if let Arg::Target(target) = target {
                out.push(assign(target, Arg::Value(self.stored(result))));
            }
        }
        out
    }

    fn stored(&self, field: &FieldRef) -> Expr {
        let of = self.ir.field(field);
        let ty = Ty::Bits {
            signed: of.signed,
            width: of.width,
        };
        Expr::new(ExprKind::Field(field.clone()), ty)
    }
}

fn jump_target(primitive: &mut Primitive) -> Option<&mut BigInt> {
    match (primitive.op, primitive.args.last_mut()) {
        ("_jump" | "_jump_if_zero", Some(Arg::Number(to))) => Some(to),
        _ => None,
    }
}
