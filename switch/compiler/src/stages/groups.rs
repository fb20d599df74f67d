//! Groups of statements, each of which becomes the action of a table without key.
//!
//! Statements that follow each other form one group as long as none reads or writes what one before it wrote, and at most
//! one of them uses an extern other than a hash (p4c `midend/action_synthesis_policy.h`).

use super::{
    cells::{Cells, Effect, Use, effect},
    nodes::{computes_value, results},
};
use crate::ir::{Ir, Primitive};

/// Statements without a decision between them, in groups with what each does.
pub fn groups<'p>(ir: &Ir, run: &[&'p Primitive]) -> Vec<(Vec<&'p Primitive>, Effect)> {
    let is_extern = |u: &Use| !matches!(u, Use::Hash(_));
    let mut list: Vec<(Vec<&Primitive>, Effect)> = Vec::new();
    let mut results_of_group = Cells::new();
    for p in run {
        let e = effect(ir, p);
        // A result is copied, or indexes a register, in the action that makes it; it is computed with in the next.
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

/// The effect of an action without what passes from one of its operations to the next: results of externs, and copies.
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
