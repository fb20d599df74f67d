//! Flow arrivals and sizes in the manner of the papers' simulations: Poisson arrivals at a given load, sizes from the
//! web-search or data-mining distribution, scaled to the link.
//!
//! Between the points of a distribution sizes are interpolated. The simulations behind the RIFO paper take the lower
//! point instead, so their flows are smaller at the same load, and there are more of them.

use std::net::Ipv4Addr;

use clap::ValueEnum;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::TrafficError;
use crate::flow::{SEGMENT_BYTES, Scale, TcpFlow, Tos};

/// Distribution of flow sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sizes {
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

/// Bytes that the link carries for a byte of payload: Ethernet frames of full segments, with timestamps.
const FRAME_SHARE: f64 = 1514.0 / SEGMENT_BYTES as f64;

impl Sizes {
    fn points(self) -> Cumulative {
        match self {
            Sizes::WebSearch => WEB_SEARCH,
            Sizes::DataMining => DATA_MINING,
        }
    }

    /// Size in bytes at a cumulative probability, with linear interpolation between the points.
    fn quantile(self, probability: f64) -> f64 {
        let points = self.points();
        let upper = points.partition_point(|&(_, cumulative)| cumulative < probability);
        if upper == 0 {
            return points[0].0 * SEGMENT;
        }
        let (low, high) = (points[upper - 1], points[upper.min(points.len() - 1)]);
        let share = if high.1 > low.1 {
            (probability - low.1) / (high.1 - low.1)
        } else {
            1.0
        };
        (low.0 + share * (high.0 - low.0)) * SEGMENT
    }

    /// Mean size in bytes.
    pub fn mean(self) -> f64 {
        let points = self.points();
        let first = points[0].0 * points[0].1;
        let rest: f64 = points
            .windows(2)
            .map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0)
            .sum();
        (first + rest) * SEGMENT
    }

    /// Largest size in bytes.
    pub fn largest(self) -> f64 {
        self.points()[self.points().len() - 1].0 * SEGMENT
    }
}

/// Most flows of one plan.
const MAX_FLOWS: f64 = 1e6;

/// What to plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Distribution of sizes.
    pub sizes: Sizes,
    /// Sizes are multiplied by this, so that a slow link sees as many flows as a fast one.
    pub scale: f64,
    /// Load of the bottleneck in Ethernet frames, above 0 and at most 1.
    pub load: f64,
    /// Rate of the bottleneck in bit/s.
    pub link_bps: f64,
    /// Time in which flows start, in seconds.
    pub duration_s: f64,
    /// Sources; each flow has one of them at random.
    pub sources: Vec<Ipv4Addr>,
    /// Destinations; each flow has one of them at random.
    pub destinations: Vec<Ipv4Addr>,
    /// Destination port.
    pub port: u16,
    /// How bytes that remain become ranks.
    pub rank_scale: Scale,
    /// Seed of everything random.
    pub seed: u64,
}

impl Plan {
    /// # Errors
    /// If the load is not in (0, 1], a rate, time, scale or list is empty, or there would be more than a million flows.
    pub fn check(&self) -> Result<(), TrafficError> {
        let wrong = |what: &str| Err(TrafficError::Flow(what.into()));
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if !(positive(self.load) && self.load <= 1.0) {
            return wrong("the load must be above 0 and at most 1: a queue under a higher one grows without end");
        }
        if !(positive(self.link_bps) && positive(self.duration_s) && positive(self.scale)) {
            return wrong("link rate, duration and scale must be positive");
        }
        if self.sources.is_empty() || self.destinations.is_empty() {
            return wrong("at least one source and one destination are needed");
        }
        let expected = self.starts_per_s() * self.duration_s;
        if expected.is_nan() || expected > MAX_FLOWS {
            return Err(TrafficError::Flow(format!(
                "these sizes, load, rate and duration make {expected:.3e} flows; at most {MAX_FLOWS:.0} are planned"
            )));
        }
        Ok(())
    }

    fn starts_per_s(&self) -> f64 {
        self.load * self.link_bps / 8.0 / (self.sizes.mean() * self.scale * FRAME_SHARE)
    }

    /// The flows, in order of their start. Their sizes are a stratified sample: of n flows, one has its size from each
    /// n-th part of the distribution, in random order. A few large flows make most of the load. Sizes drawn one by one would
    /// miss the load by far in a short run.
    ///
    /// # Errors
    /// As [`Plan::check`].
    pub fn flows(&self) -> Result<Vec<TcpFlow>, TrafficError> {
        self.check()?;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let starts_s = self.starts(&mut random);
        let strata = starts_s.len() as f64;
        let mut sizes: Vec<f64> = (0..starts_s.len())
            .map(|stratum| self.sizes.quantile((stratum as f64 + random.random::<f64>()) / strata) * self.scale)
            .collect();
        sizes.shuffle(&mut random);
        let largest_bytes = (self.sizes.largest() * self.scale).ceil() as u64;
        let flows = (1..).zip(starts_s).zip(sizes).map(|((flow, start_s), size)| TcpFlow {
            flow,
            src: Some(self.sources[random.random_range(0..self.sources.len())]),
            dst: self.destinations[random.random_range(0..self.destinations.len())],
            port: self.port,
            size_bytes: (size.round() as u64).max(1),
            start_s,
            tos: Tos::Remaining {
                largest_bytes,
                scale: self.rank_scale,
            },
        });
        Ok(flows.collect())
    }

    /// When flows start: a Poisson process.
    fn starts(&self, random: &mut ChaCha8Rng) -> Vec<f64> {
        let starts_per_s = self.starts_per_s();
        let mut starts_s = Vec::new();
        let mut start_s = 0.0;
        loop {
            start_s -= (1.0 - random.random::<f64>()).ln() / starts_per_s;
            if start_s >= self.duration_s {
                return starts_s;
            }
            starts_s.push(start_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sizes: Sizes, load: f64) -> Plan {
        Plan {
            sizes,
            scale: 0.1,
            load,
            link_bps: 1e9,
            duration_s: 400.0,
            sources: vec![Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)],
            destinations: vec![Ipv4Addr::new(10, 0, 1, 1)],
            port: 5001,
            rank_scale: Scale::Logarithmic,
            seed: 3,
        }
    }

    fn offered(plan: &Plan, flows: &[TcpFlow]) -> f64 {
        let bytes: u64 = flows.iter().map(|flow| flow.size_bytes).sum();
        // 1448 bytes of payload in a frame of 1514
        bytes as f64 * (1514.0 / 1448.0) * 8.0 / plan.duration_s / plan.link_bps
    }

    #[test]
    fn the_offered_load_is_the_one_asked_for() {
        let plan = plan(Sizes::WebSearch, 0.6);
        let flows = plan.flows().unwrap();
        let load = offered(&plan, &flows);
        // About 167,000 flows: the standard error of a Poisson number is 0.25 % of it.
        assert!(
            (load - 0.6).abs() < 4.0 * 0.0025 * 0.6,
            "{load} with {} flows",
            flows.len()
        );
        assert!(flows.is_sorted_by(|a, b| a.start_s <= b.start_s));
    }

    #[test]
    fn in_a_short_run_only_the_number_of_flows_is_left_to_chance() {
        for seed in 1..=20 {
            let plan = Plan {
                duration_s: 2.0,
                seed,
                ..plan(Sizes::WebSearch, 0.8)
            };
            let flows = plan.flows().unwrap();
            let mean = flows.iter().map(|flow| flow.size_bytes as f64).sum::<f64>() / flows.len() as f64;
            // Some 1100 flows, each within its stratum. The widest, the last, spans 0.4 means of a flow and has 1/1100 of
            // them; left to chance, a mean would have a standard error of 7 %.
            assert!((mean / (Sizes::WebSearch.mean() * 0.1) - 1.0).abs() < 0.005, "{mean}");
        }
    }

    #[test]
    fn half_of_the_data_mining_flows_are_one_segment() {
        assert_eq!(Sizes::DataMining.quantile(0.3), 1460.0);
        assert_eq!(Sizes::DataMining.quantile(1.0), Sizes::DataMining.largest());
        assert!((Sizes::WebSearch.quantile(0.3) - 19.0 * 1460.0).abs() < 1e-6);
    }

    #[test]
    fn a_plan_without_end_is_refused() {
        let endless = Plan {
            scale: 1e-12,
            ..plan(Sizes::WebSearch, 0.5)
        };
        let error = endless.flows().unwrap_err().to_string();
        assert!(error.ends_with("flows; at most 1000000 are planned"), "{error}");
        for (scale, link_bps) in [(f64::MIN_POSITIVE, 1e9), (f64::MIN_POSITIVE, f64::MAX), (1.0, f64::MAX)] {
            let plan = Plan {
                scale,
                link_bps,
                ..plan(Sizes::DataMining, 0.5)
            };
            assert!(plan.flows().is_err(), "{scale} {link_bps}");
        }
    }

    #[test]
    fn a_load_above_one_is_refused() {
        for load in [0.0, -0.5, 1.01, f64::NAN] {
            assert!(plan(Sizes::WebSearch, load).flows().is_err(), "{load}");
        }
        assert!(
            Plan {
                sources: vec![],
                ..plan(Sizes::WebSearch, 0.5)
            }
            .flows()
            .is_err()
        );
    }
}
