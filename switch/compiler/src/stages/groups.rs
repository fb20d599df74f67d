//! Groups of statements. Each group becomes the action of a table without a key.
//!
//! Consecutive statements form one group if none of them reads or writes a field that an earlier one wrote, and at most
//! one of them uses an extern other than a hash (p4c `midend/action_synthesis_policy.h`).

use super::{
    cells::{Cells, Effect, Use, effect},
    nodes::{computes_value, results},
};
use crate::ir::{Ir, Primitive};

/// Groups of statements without a decision between them, with the effect of each.
pub fn groups<'p>(ir: &Ir, run: &[&'p Primitive]) -> Vec<(Vec<&'p Primitive>, Effect)> {
    let is_extern = |u: &Use| !matches!(u, Use::Hash(_));
    let mut list: Vec<(Vec<&Primitive>, Effect)> = Vec::new();
    let mut results_of_group = Cells::new();
    for p in run {
        let e = effect(ir, p);
        // The action of a result can copy it, or index a register by it; only the next action can compute with it.
        let passed = if computes_value(p) {
            Cells::new()
        } else {
            results_of_group.clone()
        };
        let joins = |all: &Effect| {
            let made = all.writes.without(&passed).whole();
            let depends = [&e.inputs, &e.reads, &e.writes].iter().any(|c| !made.is_disjoint(c));
            let two_externs = all.uses.iter().any(is_extern) && e.uses.iter().any(is_extern);
            !(depends || two_externs)
        };
        match list.last_mut() {
            Some((group, all)) if joins(all) => {
                group.push(p);
                all.add(e);
            }
            _ => {
                results_of_group = Cells::new();
                list.push((vec![p], e));
            }
        }
        results_of_group.extend(results(ir, p));
    }
    list
}

/// Effect of an action without values that pass between its own operations: results of externs, and copies.
pub fn within(mut e: Effect, code: &[Primitive], ir: &Ir) -> Effect {
    let mut made = Cells::new();
    (e.inputs, e.reads) = (Cells::new(), Cells::new());
    for p in code {
        let own = effect(ir, p);
        e.inputs.extend(own.inputs.without(&made));
        e.reads.extend(own.reads.without(&made));
        made.extend(own.writes);
    }
    e
}
