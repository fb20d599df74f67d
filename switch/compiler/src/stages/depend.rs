//! Dependencies between units: their order and their distance in stages.
//!
//! *Match* and *action*: the next stage can match, use or overwrite what a stage writes. *Anti*: a field is read before
//! it is written; one stage does this in the right order. *Control*: a decision comes no later than the unit it decides
//! about (p4c `mau/table_dependency_graph.h`; Jose et al., Compiling Packet Programs to Reconfigurable Switches, NSDI
//! 2015).

use super::unit::Unit;

/// Reason why a unit waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Match,
    Action,
    Anti,
    Control,
}

impl Reason {
    /// Stages between both.
    #[must_use]
    pub fn stages(self) -> usize {
        match self {
            Reason::Match | Reason::Action => 1,
            Reason::Anti | Reason::Control => 0,
        }
    }
}

/// A dependency on another unit.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub on: usize,
    pub reason: Reason,
}

/// For each unit, the units for which it waits.
#[must_use]
pub fn waits(units: &[Unit]) -> Vec<Vec<Wait>> {
    let mut all = Vec::with_capacity(units.len());
    for (later, unit) in units.iter().enumerate() {
        let before = units[..later].iter().enumerate();
        let mut list: Vec<Wait> = before
            .filter_map(|(on, earlier)| reason(earlier, unit).map(|reason| Wait { on, reason }))
            .collect();
        // A table that is applied again may wait for a decision that comes after its first application.
        for decision in &unit.after {
            if !list.iter().any(|w| w.on == *decision) && *decision != later {
                list.push(Wait {
                    on: *decision,
                    reason: Reason::Control,
                });
            }
        }
        all.push(list);
    }
    all
}

fn reason(earlier: &Unit, later: &Unit) -> Option<Reason> {
    if earlier.excludes(later) {
        return None;
    }
    // A field is in one container, so a write to some of its bits is a write to the whole field.
    let (made, makes) = (earlier.writes.whole(), later.writes.whole());
    if !made.is_disjoint(&later.inputs) {
        Some(Reason::Match)
    } else if !made.is_disjoint(&later.reads) || !made.is_disjoint(&makes) {
        Some(Reason::Action)
    } else if !makes.is_disjoint(&earlier.inputs) || !makes.is_disjoint(&earlier.reads) {
        Some(Reason::Anti)
    } else {
        None
    }
}

/// The longest chain of dependent units, first to last.
#[must_use]
pub fn longest_chain(waits: &[Vec<Wait>]) -> Vec<usize> {
    let mut best: Vec<(usize, Option<usize>)> = vec![(0, None); waits.len()];
    for later in 0..waits.len() {
        for wait in waits[later].iter().filter(|w| w.on < later) {
            let through = best[wait.on].0 + wait.reason.stages();
            if through > best[later].0 {
                best[later] = (through, Some(wait.on));
            }
        }
    }
    let mut chain = Vec::new();
    let mut at = (0..best.len()).max_by_key(|i| (best[*i].0, std::cmp::Reverse(*i)));
    while let Some(unit) = at {
        chain.push(unit);
        at = best[unit].1;
    }
    chain.reverse();
    chain
}
