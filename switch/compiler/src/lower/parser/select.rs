//! Transitions: the keys of a `select`, and the values and masks of its cases.

use num_bigint::BigInt;

use crate::{
    arch::Arch,
    ir::{Case, Expr, ExprKind, HeaderRef, Stmt, Ty},
    lower::{Lowerer, value::Value},
    source::Span,
    typed::{
        tree::{self, Target, Transition},
        types::Type,
    },
};

/// Most transitions of a state; ranges may multiply them.
const MAX_CASES: usize = 4096;

impl Lowerer<'_> {
    pub(super) fn transition(
        &mut self,
        transition: &Transition,
        out: &mut Vec<Stmt>,
    ) -> (Vec<Expr>, Vec<(Case, Target)>) {
        let (keys, cases, span) = match transition {
            Transition::Direct(to) => return (Vec::new(), vec![(Case::Default, *to)]),
            Transition::Select { keys, cases, span } => (keys, cases, *span),
        };
        let mut key = Vec::new();
        for k in keys {
            if let Some(ahead) = self.direct_lookahead(k) {
                key.push(ahead);
                continue;
            }
            let value = self.scalar_of(k, out);
            let direct = match &value.kind {
                ExprKind::Field(f) => !matches!(f.header, HeaderRef::Element(..) | HeaderRef::Next(_)),
                ExprKind::Lookahead(..) => true,
                _ => false,
            };
            if direct {
                key.push(value);
                continue;
            }
            let variable = self.temporary(value.ty, k.span);
            self.assign(&variable, Value::Scalar(value), k.span, out);
            key.push(variable.read().scalar());
        }
        let mut list = Vec::new();
        for (sets, to) in cases {
            let expanded = self.cases(sets, &key, span);
            let is_default = expanded.iter().any(|c| matches!(c, Case::Default));
            list.extend(expanded.into_iter().map(|c| (c, *to)));
            if is_default || list.len() > MAX_CASES {
                break;
            }
        }
        // A key that no case matches is an error; BMv2 accepts it.
        if self.ir.arch != Arch::V1model && !list.iter().any(|(c, _)| matches!(c, Case::Default)) {
            list.push((Case::Default, Target::Reject));
        }
        if list.len() > MAX_CASES {
            let message = format!("the ranges of this select make more than {MAX_CASES} transitions");
            self.error(span, message);
        }
        (key, list)
    }

    /// `packet.lookahead<bit<N>>()` alone: a transition can use it without a variable.
    fn direct_lookahead(&self, key: &tree::Expr) -> Option<Expr> {
        let tree::ExprKind::Call(callee, types, _) = &key.kind else {
            return None;
        };
        let tree::Callee::Method(object, method) = &**callee else {
            return None;
        };
        let Type::Extern(id, _) = &object.ty else { return None };
        if &*self.program.externs[id.index()].methods[*method].name != "lookahead" {
            return None;
        }
        match self.scalar_type(types.first()?)? {
            ty @ Ty::Bits { width, signed: false } => Some(Expr::new(ExprKind::Lookahead(0, width), ty)),
            _ => None,
        }
    }

    /// Values and masks of a case, for all keys together.
    fn cases(&mut self, sets: &[tree::Expr], key: &[Expr], span: Span) -> Vec<Case> {
        if sets.iter().all(|s| matches!(s.kind, tree::ExprKind::Any)) {
            return vec![Case::Default];
        }
        if let [
            tree::Expr {
                kind: tree::ExprKind::ValueSet(id),
                ..
            },
        ] = sets
        {
            let set = self.frame.borrow().value_sets.get(id).copied();
            return set.map(Case::ValueSet).into_iter().collect();
        }
        // Values joined so far, with their masks.
        let mut joined = vec![(BigInt::ZERO, BigInt::ZERO)];
        let mut full = BigInt::ZERO;
        for (set, key) in sets.iter().zip(key) {
            let width = key.ty.width();
            let padded = width.div_ceil(8) * 8;
            let all: BigInt = (BigInt::from(1) << width) - 1;
            let elements = self.elements(set, width, span);
            full = (full << padded) | &all;
            if joined.len() * elements.len() > MAX_CASES {
                let message = format!("the ranges of this select make more than {MAX_CASES} transitions");
                self.error(span, message);
                return Vec::new();
            }
            let product = joined.iter().flat_map(|(v, m)| {
                elements
                    .iter()
                    .map(move |(w, n)| ((v << padded) | w, (m << padded) | n))
            });
            joined = product.collect();
        }
        // The padding is zero in both, so a mask of whole bytes differs from a mask of all bits.
        joined
            .into_iter()
            .map(|(v, m)| {
                if m == full {
                    Case::Value(v, None)
                } else {
                    Case::Value(v, Some(m))
                }
            })
            .collect()
    }

    /// Values and masks of the set of one key.
    fn elements(&mut self, set: &tree::Expr, width: u32, span: Span) -> Vec<(BigInt, BigInt)> {
        let all: BigInt = (BigInt::from(1) << width) - 1;
        let value = |l: &mut Self, e: &tree::Expr| {
            let value = l.known(e, "the value").unwrap_or_default();
            crate::check::wrap(&value, false, width)
        };
        match &set.kind {
            tree::ExprKind::Any => vec![(BigInt::ZERO, BigInt::ZERO)],
            tree::ExprKind::Mask(v, m) => {
                let (v, m) = (value(self, v), value(self, m));
                vec![(&v & &m, m)]
            }
            tree::ExprKind::Range(low, high) => {
                let (low, high) = (value(self, low), value(self, high));
                prefixes(&low, &high, width)
            }
            tree::ExprKind::ValueSet(_) => {
                self.error(span, "BMv2 takes a value set only as the whole of a case");
                Vec::new()
            }
            _ => vec![(value(self, set), all)],
        }
    }
}

/// The smallest set of values with prefix masks that covers a range.
fn prefixes(low: &BigInt, high: &BigInt, width: u32) -> Vec<(BigInt, BigInt)> {
    let all: BigInt = (BigInt::from(1) << width) - 1;
    let mut list = Vec::new();
    let mut at = low.clone();
    while at <= *high && list.len() <= MAX_CASES {
        let mut size = at
            .trailing_zeros()
            .map_or(width, |z| u32::try_from(z).unwrap_or(width).min(width));
        while &at + (BigInt::from(1) << size) - 1 > *high {
            size -= 1;
        }
        let block = BigInt::from(1) << size;
        list.push((at.clone(), &all - (&block - 1)));
        at += block;
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_becomes_the_fewest_prefixes() {
        let list = prefixes(&BigInt::from(1), &BigInt::from(6), 3);
        let want = [(1, 7), (2, 6), (4, 6), (6, 7)].map(|(v, m)| (BigInt::from(v), BigInt::from(m)));
        assert_eq!(list, want);
        assert_eq!(
            prefixes(&BigInt::ZERO, &BigInt::from(255), 8),
            [(BigInt::ZERO, BigInt::ZERO)]
        );
    }

    #[test]
    fn an_empty_range_has_no_values() {
        assert!(prefixes(&BigInt::from(3), &BigInt::from(2), 8).is_empty());
    }
}
