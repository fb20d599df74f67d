//! The sliding window of recent ranks that AIFO and PACKS take quantiles from (AIFO 4.2 and 4.4, PACKS 5).
//!
//! |W| registers form a circular array. An arriving packet's rank replaces the oldest entry *before* the packet is
//! compared (AIFO algorithm 1, line 2; PACKS algorithm 1, line 2). With sampling S, only arrivals S, 2S, ... are
//! written; every arrival is compared.
//!
//! The quantile counts the entries *strictly smaller* than the rank, so the smallest rank always has quantile 0. (The
//! hardware sections of both papers print the comparison the other way round, which would drop urgent packets first.)
//!
//! An empty cell must not count as smaller than any rank: in an empty window nothing is more urgent than the arriving
//! packet. So cells start at the largest rank here. The registers of a switch start at 0. There a cell holds the
//! complement of a rank, and the cells *larger* than the complement of the arriving rank are counted.

use rand::{Rng, RngCore};

use crate::config::{ConfigError, MAX_WINDOW, in_range};
use crate::scheduler::Rank;
use crate::scheme::{StatePart, whole};
use crate::target::{MAX_P4_WINDOW, Target};
use crate::variants::{Variant, Variants};

/// Content of an empty cell.
pub const EMPTY: Rank = Rank::MAX;

/// Size and sampling of a [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// |W|, in ranks.
    pub size: usize,
    /// S: every S-th arrival is written into the window. 1 writes every arrival.
    pub sample_every: usize,
}

impl WindowConfig {
    /// A window of this many ranks that is written at every arrival.
    pub fn unsampled(size: usize) -> WindowConfig {
        WindowConfig { size, sample_every: 1 }
    }

    /// A random window that a program has registers for.
    pub(crate) fn draw(random: &mut dyn RngCore) -> WindowConfig {
        let sample_every = if random.random() {
            1
        } else {
            random.random_range(1..=20)
        };
        WindowConfig {
            size: random.random_range(1..=MAX_P4_WINDOW),
            sample_every,
        }
    }

    /// The same window, on a Tofino cut to the longest one that its programs have registers for.
    pub(crate) fn on(self, target: Target) -> WindowConfig {
        let size = match target {
            Target::V1model => self.size,
            Target::Tna | Target::T2na => self.size.min(target.max_window()),
        };
        WindowConfig { size, ..self }
    }

    /// |W| and S as the arguments of a program's action.
    pub(crate) fn arguments(self) -> [u64; 2] {
        [self.size as u64, self.sample_every as u64]
    }

    /// The window for these two arguments.
    pub(crate) fn from_arguments(arguments: &[u64]) -> WindowConfig {
        WindowConfig {
            size: whole(arguments[0]),
            sample_every: whole(arguments[1]),
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// If the size is not 1 to [`MAX_WINDOW`], or the sampling is 0.
    pub fn check(self) -> Result<(), ConfigError> {
        in_range("window |W|", self.size, 1, MAX_WINDOW, "ranks")?;
        in_range("sampling S", self.sample_every, 1, u32::MAX as usize, "packets")
    }
}

#[derive(Clone, Debug)]
pub struct Window {
    config: WindowConfig,
    /// The circular array. It stays longer than the window after the window was shortened.
    cells: Vec<Rank>,
    /// The cell that holds the oldest entry. It is written next.
    oldest: usize,
    /// Arrivals since the last one that was written.
    unwritten: usize,
    /// Whether the position returns to the first cell only at the write that follows the last cell.
    starts_over_late: bool,
    /// The active cells, sorted, so that a quantile needs a binary search and not a scan of 1000 cells.
    sorted: Vec<Rank>,
}

impl Window {
    /// An empty window.
    ///
    /// # Errors
    /// See [`WindowConfig::check`].
    pub fn new(config: WindowConfig) -> Result<Window, ConfigError> {
        config.check()?;
        let cells = vec![EMPTY; config.size];
        Ok(Window {
            config,
            sorted: cells.clone(),
            cells,
            oldest: 0,
            unwritten: 0,
            starts_over_late: false,
        })
    }

    /// Makes the window start over as in the programs of this target. On a Tofino, a write notices that the write
    /// before it filled the last cell. This differs only if |W| changes between the two writes.
    pub(crate) fn on(mut self, target: Target) -> Window {
        self.starts_over_late = target != Target::V1model;
        self
    }

    /// Fills the window with these ranks, the oldest first.
    ///
    /// # Errors
    /// If the number of ranks is not |W|.
    pub fn fill(&mut self, ranks: &[Rank]) -> Result<(), ConfigError> {
        if ranks.len() != self.config.size {
            return Err(ConfigError::Count {
                parameter: "starting window",
                found: ranks.len(),
                expected: self.config.size,
                reason: "one rank for each cell of the window",
            });
        }
        self.cells[..ranks.len()].copy_from_slice(ranks);
        self.oldest = 0;
        self.sort();
        Ok(())
    }

    /// Fills the window with the last of these ranks, the oldest first.
    ///
    /// # Errors
    /// If there are fewer than |W| ranks.
    pub fn remember(&mut self, past: &[Rank]) -> Result<(), ConfigError> {
        self.fill(&past[past.len().saturating_sub(self.config.size)..])
    }

    /// The cells, next to the registers of `p4/include/window.p4`, which hold complements.
    pub(crate) fn compare(&self, register: &dyn Fn(&str) -> u64) -> StatePart {
        let held = |number| !(register(&format!("window.cell_{number}.entry")) as u32);
        StatePart {
            name: "window, by register",
            model: self.cells().iter().map(|&rank| u64::from(rank)).collect(),
            program: (0..self.config.size).map(|number| u64::from(held(number))).collect(),
        }
    }

    /// Changes size and sampling at run time. The cells keep their ranks. If a window is shortened and later
    /// lengthened, it contains the old ranks of its cells again.
    ///
    /// # Errors
    /// See [`WindowConfig::check`]. Then the window is unchanged.
    pub fn reconfigure(&mut self, config: WindowConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.config = config;
        self.cells.resize(self.cells.len().max(config.size), EMPTY);
        self.sort();
        Ok(())
    }

    /// Records an arrival. Its rank replaces the oldest entry if this arrival is sampled.
    #[inline]
    pub fn observe(&mut self, rank: Rank) {
        self.unwritten += 1;
        if self.unwritten < self.config.sample_every {
            return;
        }
        self.unwritten = 0;
        // After the window is shortened, the position stays until the next write.
        if self.oldest >= self.config.size {
            self.oldest = 0;
        }
        let replaced = std::mem::replace(&mut self.cells[self.oldest], rank);
        self.oldest += 1;
        if !self.starts_over_late {
            self.oldest %= self.config.size;
        }
        self.move_in_order(replaced, rank);
    }

    /// q: the number of entries strictly smaller than `rank`.
    #[inline]
    pub fn smaller_than(&self, rank: Rank) -> u64 {
        self.sorted.partition_point(|&entry| entry < rank) as u64
    }

    /// The highest rank with a number of smaller entries that is admitted; None if no rank is. If a number is admitted,
    /// so are all smaller ones.
    pub(crate) fn highest_rank(&self, admits: impl Fn(u64) -> bool) -> Option<Rank> {
        let most = (0..=self.size())
            .take_while(|&smaller| admits(smaller))
            .count()
            .checked_sub(1)?;
        Some(self.sorted.get(most).copied().unwrap_or(Rank::MAX))
    }

    /// The number of ranks that the quantile is taken from: |W|, or with [`Variant::FillingWindow`] those in the window.
    pub(crate) fn counted(&self, variants: Variants) -> u64 {
        match variants.has(Variant::FillingWindow) {
            true => self.smaller_than(EMPTY),
            false => self.size(),
        }
    }

    /// |W|.
    pub fn size(&self) -> u64 {
        self.config.size as u64
    }

    /// The cells in use, in the order of the registers.
    fn cells(&self) -> &[Rank] {
        &self.cells[..self.config.size]
    }

    fn sort(&mut self) {
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.cells[..self.config.size]);
        self.sorted.sort_unstable();
    }

    /// Replaces one `old` by one `new` in the sorted copy. Moves only the entries between them.
    #[inline]
    fn move_in_order(&mut self, old: Rank, new: Rank) {
        let from = self.sorted.partition_point(|&entry| entry < old);
        let to = self.sorted.partition_point(|&entry| entry < new);
        if to > from {
            self.sorted.copy_within(from + 1..to, from);
            self.sorted[to - 1] = new;
        } else {
            self.sorted.copy_within(to..from, to + 1);
            self.sorted[to] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_window_holds_nothing_smaller_than_any_rank() {
        let window = Window::new(WindowConfig::unsampled(4)).unwrap();
        assert_eq!(window.smaller_than(0), 0);
        assert_eq!(window.smaller_than(Rank::MAX), 0);
    }

    #[test]
    fn the_oldest_rank_is_replaced_first() {
        let mut window = Window::new(WindowConfig::unsampled(3)).unwrap();
        for rank in [5, 1, 9, 7] {
            window.observe(rank);
        }
        assert_eq!(window.cells(), [7, 1, 9]);
        assert_eq!(window.smaller_than(9), 2);
        assert_eq!(window.smaller_than(7), 1, "an equal rank is not smaller");
    }

    #[test]
    fn sampling_writes_every_third_arrival() {
        let mut window = Window::new(WindowConfig {
            size: 2,
            sample_every: 3,
        })
        .unwrap();
        for rank in 1..=9 {
            window.observe(rank);
        }
        assert_eq!(window.cells(), [9, 6]);
    }

    #[test]
    fn a_window_made_shorter_and_longer_again_keeps_its_cells() {
        let mut window = Window::new(WindowConfig::unsampled(4)).unwrap();
        window.fill(&[1, 2, 3, 4]).unwrap();
        window.reconfigure(WindowConfig::unsampled(2)).unwrap();
        assert_eq!(window.smaller_than(10), 2);
        window.observe(20);
        window.reconfigure(WindowConfig::unsampled(4)).unwrap();
        assert_eq!(window.cells(), [20, 2, 3, 4]);
        assert_eq!(window.smaller_than(10), 3);
    }

    #[test]
    fn a_window_made_shorter_starts_over_at_its_next_write_only() {
        let mut window = Window::new(WindowConfig::unsampled(4)).unwrap();
        for rank in [1, 2, 3] {
            window.observe(rank);
        }
        window.reconfigure(WindowConfig::unsampled(2)).unwrap();
        window.reconfigure(WindowConfig::unsampled(4)).unwrap();
        window.observe(4);
        assert_eq!(window.cells(), [1, 2, 3, 4], "nothing was written while it was short");
        window.observe(5);
        window.observe(6);
        window.observe(7);
        window.reconfigure(WindowConfig::unsampled(2)).unwrap();
        window.observe(8);
        window.observe(9);
        assert_eq!(window.cells(), [8, 9]);
    }

    #[test]
    fn on_a_tofino_a_window_made_longer_goes_on_behind_its_last_cell() {
        let mut window = Window::new(WindowConfig::unsampled(2)).unwrap().on(Target::Tna);
        window.observe(1);
        window.observe(2);
        window.reconfigure(WindowConfig::unsampled(4)).unwrap();
        window.observe(3);
        assert_eq!(window.cells(), [1, 2, 3, EMPTY]);
        window.reconfigure(WindowConfig::unsampled(3)).unwrap();
        window.observe(4);
        assert_eq!(window.cells(), [4, 2, 3]);
    }

    #[test]
    fn a_window_of_no_ranks_is_refused() {
        assert!(Window::new(WindowConfig::unsampled(0)).is_err());
        assert!(
            Window::new(WindowConfig {
                size: 4,
                sample_every: 0
            })
            .is_err()
        );
        let mut window = Window::new(WindowConfig::unsampled(4)).unwrap();
        assert!(window.fill(&[1, 2]).is_err());
    }

    proptest! {
        #[test]
        fn the_count_is_that_of_a_scan_over_the_cells(
            size in 1usize..40, sample_every in 1usize..4, ranks in prop::collection::vec(0u32..30, 1..200)
        ) {
            let mut window = Window::new(WindowConfig { size, sample_every }).unwrap();
            for rank in ranks {
                window.observe(rank);
                let scanned = window.cells().iter().filter(|&&entry| entry < rank).count();
                prop_assert_eq!(window.smaller_than(rank), scanned as u64);
            }
        }
    }
}
