//! Containers, with which the stages compute. A field of the packet stays in its containers from the parser to the
//! deparser. A field of metadata stays from the first stage that uses it to the last; afterwards others may use the
//! space.

use super::{cells::Cells, parser::width, place::Stage, unit::Unit};
use crate::ir::Ir;

/// Bits of used containers in the fullest stage, and bits of parsed fields that no stage uses.
#[must_use]
pub fn bits(ir: &Ir, units: &[Unit], stages: &[Stage], parsed: &Cells) -> (u64, u64) {
    let touched = |unit: &Unit| -> Cells {
        let all = unit.inputs.iter().chain(unit.reads.iter()).chain(unit.writes.iter());
        all.collect()
    };
    let by_stage: Vec<Cells> = stages
        .iter()
        .map(|s| s.parts.iter().flat_map(|p| touched(&units[p.unit])).collect())
        .collect();
    let all: Cells = by_stage.iter().flat_map(Cells::iter).collect();
    let (mut kept, mut live) = (0, vec![0; stages.len()]);
    for cell in all.iter() {
        if parsed.contains(&cell) {
            kept += width(ir, cell);
            continue;
        }
        let first = by_stage.iter().position(|s| s.contains(&cell)).unwrap_or(0);
        let last = by_stage.iter().rposition(|s| s.contains(&cell)).unwrap_or(0);
        for bits in &mut live[first..=last] {
            *bits += width(ir, cell);
        }
    }
    let carried = parsed.without(&all).iter().map(|c| width(ir, c)).sum();
    (kept + live.into_iter().max().unwrap_or(0), carried)
}
