//! Control flow as a graph: tables, conditions and action calls, and the nodes that follow each.

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
pub(crate) struct NextNodes {
    pub actions: Vec<Option<u32>>,
    /// The nodes after a hit and after a miss, if the program distinguishes them.
    pub hit_miss: Option<(Option<u32>, Option<u32>)>,
    /// The node after a packet that matches no entry, if there is no default action.
    pub otherwise: Option<u32>,
}

impl NextNodes {
    /// All nodes that may follow.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        let asked = self.hit_miss.iter().flat_map(|(hit, miss)| [*hit, *miss]);
        asked
            .chain(self.actions.iter().copied())
            .chain([self.otherwise])
            .flatten()
    }
}
