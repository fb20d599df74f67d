//! Control flow as a graph: tables, conditions and action calls, and what follows each.

use std::sync::Arc;

use crate::events::Source;
use crate::run::expr::Bool;

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Table(u32),
    Condition {
        name: String,
        source: Option<Arc<Source>>,
        truth: Bool,
        yes: Option<u32>,
        no: Option<u32>,
    },
    Action {
        action: u32,
        next: Option<u32>,
    },
}

/// The nodes that follow a table.
#[derive(Debug)]
pub(crate) struct Following {
    pub actions: Vec<Option<u32>>,
    /// After a hit and after a miss, if the program tells them apart.
    pub hit_miss: Option<(Option<u32>, Option<u32>)>,
    /// After no match without a default action.
    pub otherwise: Option<u32>,
}

impl Following {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        let asked = self.hit_miss.iter().flat_map(|(hit, miss)| [*hit, *miss]);
        asked
            .chain(self.actions.iter().copied())
            .chain([self.otherwise])
            .flatten()
    }
}
