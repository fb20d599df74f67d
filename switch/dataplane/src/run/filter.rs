//! Low-pass filters of a Tofino, and random early detection, which drops by a filtered value.
//!
//! The average y of the samples x follows  y += (x - y) (1 - exp(-dt / T)).  dt is the time since the last sample, T
//! the time constant. The chip's driver has time constants for this first-order filter (open-p4studio,
//! pipe_mgr_intf.h). The rounding of the chip is not public; here y is not rounded.

use super::random::Random;
use crate::ids::Nanos;

/// Number of equally likely values to draw from when a probability decides.
const SIDES: u64 = 1 << 32;

/// Use of the average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Use {
    /// Returns the average. The time constants are in ns: `gain` while it rises, `decay` while it falls.
    LowPass { gain: f64, decay: f64, scale_down: u32 },
    /// Decides to drop or not.
    Red(Red),
}

/// Random early detection: no packet is dropped up to `min`, every packet above `max`. In between, the probability
/// grows linearly from 0 to `probability`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Red {
    /// Time constant, in ns.
    pub time: f64,
    pub min: f64,
    pub max: f64,
    pub probability: f64,
    /// Results of the decision.
    pub drop: u64,
    pub no_drop: u64,
}

impl Red {
    fn decide(&self, average: f64, random: &mut Random) -> u64 {
        let probability = if average <= self.min {
            0.0
        } else if average > self.max {
            1.0
        } else {
            self.probability * (average - self.min) / (self.max - self.min)
        };
        let die = random.between(0, SIDES - 1) as f64 / SIDES as f64;
        if die < probability { self.drop } else { self.no_drop }
    }
}

/// A cell. At time 0 its average is 0.
#[derive(Clone, Copy, Debug, Default)]
struct Average {
    value: f64,
    at: Nanos,
}

impl Average {
    /// Adds a sample, and returns the average.
    fn with(&mut self, sample: u64, now: Nanos, gain: f64, decay: f64) -> f64 {
        let (sample, elapsed) = (sample as f64, now.saturating_sub(self.at) as f64);
        let time = if sample > self.value { gain } else { decay };
        // Without a time constant, the average is the sample itself.
        let kept = if time > 0.0 { (-elapsed / time).exp() } else { 0.0 };
        *self = Average {
            value: sample + (self.value - sample) * kept,
            at: now,
        };
        self.value
    }
}

#[derive(Debug)]
pub(crate) struct FilterArray {
    of: Use,
    cells: Vec<Average>,
    /// Mask of an index. It has all bits if the cells belong to the entries of a table.
    index: u64,
}

impl FilterArray {
    pub fn new(of: Use, size: usize, direct: bool) -> Self {
        let wraps = size.max(1).next_power_of_two() as u64 - 1;
        FilterArray {
            of,
            cells: vec![Average::default(); size],
            index: if direct { u64::MAX } else { wraps },
        }
    }

    /// The result for a sample. If the cell does not exist: 0, or no drop.
    pub fn execute(&mut self, cell: u64, sample: u64, now: Nanos, random: &mut Random) -> u64 {
        let cell = usize::try_from(cell & self.index).unwrap_or(usize::MAX);
        let cell = self.cells.get_mut(cell);
        match (self.of, cell) {
            (Use::LowPass { .. }, None) => 0,
            (Use::Red(red), None) => red.no_drop,
            (
                Use::LowPass {
                    gain,
                    decay,
                    scale_down,
                },
                Some(cell),
            ) => cell.with(sample, now, gain, decay).round() as u64 >> scale_down,
            (Use::Red(red), Some(cell)) => red.decide(cell.with(sample, now, red.time, red.time), random),
        }
    }

    /// Resets all cells to time 0.
    pub fn restart(&mut self) {
        self.cells.fill(Average::default());
    }

    /// Resets a cell, if it exists.
    pub fn reset(&mut self, cell: usize, now: Nanos) {
        if let Some(cell) = self.cells.get_mut(cell) {
            *cell = Average { value: 0.0, at: now };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROSECOND: Nanos = 1000;

    fn low_pass(gain: f64, decay: f64, scale_down: u32) -> FilterArray {
        let of = Use::LowPass {
            gain,
            decay,
            scale_down,
        };
        FilterArray::new(of, 2, false)
    }

    fn sample(filter: &mut FilterArray, value: u64, now: Nanos) -> u64 {
        filter.execute(0, value, now, &mut Random(1))
    }

    #[test]
    fn after_one_time_constant_the_average_has_gone_63_percent_of_its_way() {
        let mut filter = low_pass(1e6, 2e6, 0);
        assert_eq!(sample(&mut filter, 1000, 1000 * MICROSECOND), 632);
        assert_eq!(sample(&mut filter, 1000, 2000 * MICROSECOND), 865);
        // It falls with the other time constant: 864.66 / e.
        assert_eq!(sample(&mut filter, 0, 4000 * MICROSECOND), 318);
    }

    #[test]
    fn samples_in_the_same_instant_change_nothing_and_without_a_time_constant_the_last_one_counts() {
        let mut filter = low_pass(1e6, 1e6, 0);
        sample(&mut filter, 1000, 1000 * MICROSECOND);
        assert_eq!(sample(&mut filter, 77_777, 1000 * MICROSECOND), 632);
        let mut follows = low_pass(0.0, 0.0, 2);
        assert_eq!(sample(&mut follows, 1000, 0), 250, "scaled down by two bits");
    }

    #[test]
    fn an_index_wraps_at_a_power_of_two_and_that_of_an_entry_does_not() {
        let of = Use::LowPass {
            gain: 0.0,
            decay: 0.0,
            scale_down: 0,
        };
        let mut filter = FilterArray::new(of, 3, false);
        let found: Vec<u64> = [2, 3, 6]
            .map(|cell| filter.execute(cell, 9, 1, &mut Random(1)))
            .to_vec();
        assert_eq!(found, [9, 0, 9]);
        let mut direct = FilterArray::new(of, 3, true);
        assert_eq!(direct.execute(u64::MAX, 9, 1, &mut Random(1)), 0, "no entry matched");
    }

    #[test]
    fn red_drops_nothing_up_to_min_all_above_max_and_evenly_more_in_between() {
        let red = Red {
            time: 0.0,
            min: 100.0,
            max: 300.0,
            probability: 0.5,
            drop: 1,
            no_drop: 0,
        };
        let (mut filter, mut random) = (FilterArray::new(Use::Red(red), 1, false), Random(7));
        let mut drops = |sample| {
            (0..10_000)
                .map(|_| filter.execute(0, sample, 0, &mut random))
                .sum::<u64>()
        };
        assert_eq!([drops(0), drops(100), drops(301)], [0, 0, 10_000]);
        // A quarter at half of the range, half at its end.
        let (half, end) = (drops(200), drops(300));
        assert!(
            (2300..2700).contains(&half) && (4800..5200).contains(&end),
            "{half}, {end}"
        );
    }
}
