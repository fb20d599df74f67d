//! A table of flowlets: the queue to which the next packet of a flow goes.
//!
//! A chip does not know which packets wait. It can keep a table of cells; a hash of the flow selects one (Sinha, Kandula
//! and Katabi, "Harnessing TCP's burstiness with flowlet switching", HotNets 2004). A cell holds the queue of the
//! flowlet and the time of its last packet that was queued. A flowlet ends when its cell has seen no such packet for the
//! gap. Flows that share a cell share its flowlet.
//!
//! No packet overtakes one of its flow if the gap is above the longest time that a packet waits.

use crate::config::{ConfigError, in_range};
use crate::scheduler::Nanos;

/// Largest number of cells: more only take memory.
const MOST_CELLS: usize = 1 << 20;

/// Settings of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowletConfig {
    /// Pause after which a flowlet has ended. 0: each packet begins one, as if there were no table.
    pub gap: Nanos,
    /// Cells of the table.
    pub cells: usize,
}

impl Default for FlowletConfig {
    /// As many cells as the programs of FDPA have, and a gap of 500 us.
    fn default() -> FlowletConfig {
        FlowletConfig {
            gap: 500_000,
            cells: 4096,
        }
    }
}

impl FlowletConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// If there is no cell, or too many.
    pub fn check(&self) -> Result<(), ConfigError> {
        in_range("cells of flowlets", self.cells, 1, MOST_CELLS, "cells")
    }
}

#[derive(Clone, Copy, Debug)]
struct Flowlet {
    queue: usize,
    last_queued: Nanos,
}

/// The flowlets of a port.
#[derive(Clone, Debug, Default)]
pub struct Flowlets {
    config: FlowletConfig,
    /// Empty until the first packet is queued.
    cells: Vec<Option<Flowlet>>,
}

impl Flowlets {
    /// A table without flowlets.
    pub fn new(config: FlowletConfig) -> Flowlets {
        Flowlets {
            config,
            cells: Vec::new(),
        }
    }

    /// The queue of the flowlet that a packet of this flow continues, if it continues one.
    pub fn queue(&self, now: Nanos, flow: u32) -> Option<usize> {
        let flowlet = (*self.cells.get(self.cell(flow))?)?;
        (now - flowlet.last_queued < self.config.gap).then_some(flowlet.queue)
    }

    /// Records that a packet of this flow was queued.
    pub fn queued(&mut self, now: Nanos, flow: u32, queue: usize) {
        self.cells.resize(self.config.cells, None);
        let cell = self.cell(flow);
        self.cells[cell] = Some(Flowlet {
            queue,
            last_queued: now,
        });
    }

    /// The cell of a flow, by the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    fn cell(&self, flow: u32) -> usize {
        let mut mixed = u64::from(flow).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed % self.config.cells as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flowlet_ends_when_the_gap_has_passed_since_its_last_packet() {
        let mut flowlets = Flowlets::new(FlowletConfig { gap: 100, cells: 16 });
        assert_eq!(flowlets.queue(0, 7), None);
        flowlets.queued(10, 7, 2);
        assert_eq!(flowlets.queue(109, 7), Some(2));
        flowlets.queued(109, 7, 2);
        assert_eq!(flowlets.queue(208, 7), Some(2));
        assert_eq!(flowlets.queue(209, 7), None);
    }

    #[test]
    fn flows_that_share_a_cell_share_its_flowlet() {
        let in_cells = |cells| {
            let mut flowlets = Flowlets::new(FlowletConfig { gap: 100, cells });
            flowlets.queued(0, 7, 2);
            (0..1000).filter(|&flow| flowlets.queue(0, flow) == Some(2)).count()
        };
        assert_eq!(in_cells(1), 1000);
        assert!((5..30).contains(&in_cells(64)), "about 1000 / 64: {}", in_cells(64));
        assert!(in_cells(1 << 20) < 4);
    }

    #[test]
    fn a_table_has_one_cell_or_more() {
        let check = |cells| FlowletConfig { gap: 0, cells }.check();
        assert!(check(0).is_err() && check(1).is_ok() && check(MOST_CELLS + 1).is_err());
    }
}
