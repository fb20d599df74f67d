//! Registers that ingress and the ghost control both use. Each side has a copy, and they take turns by `ping_pong`, so
//! that neither waits for the other (p4c `midend/ping_pong_generation.h`).

use std::collections::BTreeSet;

use super::unit::Unit;
use crate::ir::{Gress, Ir};

/// Registers with two copies.
#[must_use]
pub fn doubled(ir: &Ir, units: &[Unit]) -> BTreeSet<usize> {
    let is_doubled = |register: &usize| {
        let of = |gress: Gress| -> Vec<&Unit> {
            let accesses = |u: &&Unit| u.gress == gress && u.registers.iter().any(|(r, _)| r == register);
            units.iter().filter(accesses).collect()
        };
        // Other patterns stay unchanged: the program takes the turns itself, or there are none.
        let [ingress, ghost] = [Gress::Ingress, Gress::Ghost].map(of);
        let is_plain = |list: &[&Unit]| matches!(list, [only] if only.registers.len() == 1);
        let chosen = |u: &&Unit| u.path.iter().any(|(decision, _)| asks_turn(ir, &units[*decision]));
        is_plain(&ingress)
            && is_plain(&ghost)
            && of(Gress::Egress).is_empty()
            && !ingress.iter().chain(&ghost).any(chosen)
    };
    (0..ir.registers.len()).filter(is_doubled).collect()
}

/// True if the decision of a unit depends on `ping_pong`.
fn asks_turn(ir: &Ir, unit: &Unit) -> bool {
    unit.inputs.iter().any(|(header, field)| {
        let fields = &ir.header_types[ir.headers[header].ty].fields;
        field.is_some_and(|f| fields[f].name == "ping_pong")
    })
}
