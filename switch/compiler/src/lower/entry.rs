//! Table entries declared in the program.

use std::rc::Rc;

use num_bigint::BigInt;

use super::Lowerer;
use crate::{
    check::wrap,
    ir::{Entry, Match},
    typed::tree::{self, ExprKind, TableEntry},
};

impl Lowerer<'_> {
    pub(super) fn entry(&mut self, entry: &TableEntry, table: usize) -> Option<Entry> {
        let kinds: Vec<(Rc<str>, u32)> = self.ir.tables[table]
            .keys
            .iter()
            .map(|k| (k.kind.clone(), k.width))
            .collect();
        let mut matches = Vec::new();
        for (key, (kind, width)) in entry.keys.iter().zip(&kinds) {
            matches.push(self.entry_match(key, kind, *width)?);
        }
        let listed = self.ir.tables[table].actions.clone();
        let call = self.action_call(&entry.action, &listed);
        Some(Entry {
            matches,
            call,
            order: 0,
            span: entry.span,
        })
    }

    fn entry_match(&mut self, key: &tree::Expr, kind: &str, width: u32) -> Option<Match> {
        let all: BigInt = (BigInt::from(1) << width) - 1;
        let value = |l: &mut Self, e: &tree::Expr| l.known(e, "the key of an entry").map(|v| wrap(&v, false, width));
        let (low, mask, high) = match &key.kind {
            ExprKind::Any => (BigInt::ZERO, BigInt::ZERO, all.clone()),
            ExprKind::Mask(v, m) => {
                let (v, m) = (value(self, v)?, value(self, m)?);
                (&v & &m, m, all.clone())
            }
            ExprKind::Range(a, b) => (value(self, a)?, all.clone(), value(self, b)?),
            _ => {
                let v = value(self, key)?;
                (v.clone(), all.clone(), v)
            }
        };
        let is_range = matches!(key.kind, ExprKind::Range(..));
        let is_mask = matches!(key.kind, ExprKind::Mask(..));
        match kind {
            "exact" | "atcam_partition_index" | "dleft_hash" if !is_range && mask == all => Some(Match::Exact(low)),
            "ternary" if !is_range => Some(Match::Ternary(low, mask)),
            "optional" if !is_range && !is_mask => Some(Match::Ternary(low, mask)),
            "range" if !is_mask && low > high => {
                let message = format!("the range ends before it begins: {low} is more than {high}");
                self.error(key.span, message);
                None
            }
            "range" if !is_mask => Some(Match::Range(low, high)),
            "lpm" if !is_range => {
                let length = (0..u64::from(width)).filter(|bit| mask.bit(*bit)).count() as u32;
                let prefix = (&all >> (width - length)) << (width - length);
                if prefix != mask {
                    self.error(key.span, format!("the mask {mask} is not a prefix"));
                    return None;
                }
                Some(Match::Lpm(low, length))
            }
            _ => {
                self.error(key.span, format!("a key field of kind {kind} does not match this"));
                None
            }
        }
    }
}
