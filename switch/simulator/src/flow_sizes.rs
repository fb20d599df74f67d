//! Sizes and starts of flows, as in the papers' simulations.
//!
//! Sizes are interpolated between the points of a distribution. The simulations behind the RIFO paper take the lower
//! point instead. Their flows are smaller, so the same load needs more flows.

use clap::ValueEnum;
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

/// Distribution of flow sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum FlowSizes {
    /// Web search (DCTCP, SIGCOMM 2010), as the pFabric paper uses it.
    WebSearch,
    /// Data mining (VL2, SIGCOMM 2009), as the pFabric paper uses it.
    DataMining,
}

/// Points of a cumulative distribution: (size in segments of 1460 bytes, probability of at most that size).
type Cumulative = &'static [(f64, f64)];

const WEB_SEARCH: Cumulative = &[
    (1.0, 0.0),
    (6.0, 0.15),
    (13.0, 0.2),
    (19.0, 0.3),
    (33.0, 0.4),
    (53.0, 0.53),
    (133.0, 0.6),
    (667.0, 0.7),
    (1333.0, 0.8),
    (3333.0, 0.9),
    (6667.0, 0.97),
    (20000.0, 1.0),
];

const DATA_MINING: Cumulative = &[
    (1.0, 0.5),
    (2.0, 0.6),
    (3.0, 0.7),
    (7.0, 0.8),
    (267.0, 0.9),
    (2107.0, 0.95),
    (66667.0, 0.99),
    (666667.0, 1.0),
];

const SEGMENT: f64 = 1460.0;

impl FlowSizes {
    /// The distribution of the sizes.
    pub fn distribution(self) -> Distribution<'static> {
        let points = match self {
            FlowSizes::WebSearch => WEB_SEARCH,
            FlowSizes::DataMining => DATA_MINING,
        };
        Distribution { points, unit: SEGMENT }
    }

    /// Size in bytes at a cumulative probability.
    pub fn quantile(self, probability: f64) -> f64 {
        self.distribution().quantile(probability)
    }

    /// Mean size in bytes.
    pub fn mean(self) -> f64 {
        self.distribution().mean()
    }

    /// Largest size in bytes.
    pub fn largest(self) -> f64 {
        self.distribution().largest()
    }

    /// Draws sizes; see [`Distribution::sample`].
    pub fn sample(self, count: usize, scale: f64, random: &mut ChaCha8Rng) -> Vec<u64> {
        self.distribution().sample(count, scale, random)
    }
}

/// A cumulative distribution of sizes.
#[derive(Clone, Copy, Debug)]
pub struct Distribution<'a> {
    /// Size, and probability of at most that size.
    points: &'a [(f64, f64)],
    /// Bytes of a size of 1.
    unit: f64,
}

impl<'a> Distribution<'a> {
    /// A distribution of sizes in bytes. The first probability is that of the smallest size.
    ///
    /// # Errors
    /// A sentence, if the points are not a distribution.
    pub fn new(points: &'a [(f64, f64)]) -> Result<Distribution<'a>, String> {
        let Some(&(_, last)) = points.last() else {
            return Err("there are no points".to_owned());
        };
        let possible = |&(size, probability): &(f64, f64)| size >= 1.0 && (0.0..=1.0).contains(&probability);
        if !points.iter().all(possible) {
            return Err("a size is at least 1 byte, and a probability 0 to 1".to_owned());
        }
        let falls = |pair: &[(f64, f64)]| pair[1].0 < pair[0].0 || pair[1].1 < pair[0].1;
        if let Some(place) = points.windows(2).position(falls) {
            return Err(format!("point {} is below the one before it", place + 1));
        }
        if last < 1.0 {
            return Err(format!("the last probability is {last}, not 1"));
        }
        Ok(Distribution { points, unit: 1.0 })
    }

    /// Size in bytes at a cumulative probability, with linear interpolation between the points.
    pub fn quantile(self, probability: f64) -> f64 {
        let points = self.points;
        let upper = points.partition_point(|&(_, cumulative)| cumulative < probability);
        if upper == 0 {
            return points[0].0 * self.unit;
        }
        let (low, high) = (points[upper - 1], points[upper.min(points.len() - 1)]);
        let share = if high.1 > low.1 {
            (probability - low.1) / (high.1 - low.1)
        } else {
            1.0
        };
        (low.0 + share * (high.0 - low.0)) * self.unit
    }

    /// Mean size in bytes.
    pub fn mean(self) -> f64 {
        let points = self.points;
        let first = points[0].0 * points[0].1;
        let rest: f64 = points
            .windows(2)
            .map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0)
            .sum();
        (first + rest) * self.unit
    }

    /// Largest size in bytes.
    pub fn largest(self) -> f64 {
        self.points[self.points.len() - 1].0 * self.unit
    }

    /// Draws `count` sizes in bytes, each multiplied by `scale`. It is a stratified sample: of n sizes, one comes from
    /// each n-th part of the distribution, in random order. A few large flows make most of the load, so independent
    /// sizes would often miss the load in a short run.
    pub fn sample(self, count: usize, scale: f64, random: &mut ChaCha8Rng) -> Vec<u64> {
        let mut sizes: Vec<f64> = (0..count)
            .map(|stratum| self.quantile((stratum as f64 + random.random::<f64>()) / count as f64) * scale)
            .collect();
        sizes.shuffle(random);
        sizes.iter().map(|size| (size.round() as u64).max(1)).collect()
    }
}

/// Times in seconds of a Poisson process, up to `duration_s`.
pub fn poisson_starts(per_s: f64, duration_s: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut starts_s = Vec::new();
    let mut start_s = 0.0;
    loop {
        start_s -= (1.0 - random.random::<f64>()).ln() / per_s;
        if start_s >= duration_s {
            return starts_s;
        }
        starts_s.push(start_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_data_mining_flows_are_one_segment() {
        assert_eq!(FlowSizes::DataMining.quantile(0.3), 1460.0);
        assert_eq!(FlowSizes::DataMining.quantile(1.0), FlowSizes::DataMining.largest());
        assert!((FlowSizes::WebSearch.quantile(0.3) - 19.0 * 1460.0).abs() < 1e-6);
    }
}
