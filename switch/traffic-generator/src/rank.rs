//! The ranks of a flow's packets.

use p4sched_simulator::workload::{RankDistribution, RankSampler, UnknownDistribution};
use rand::RngCore;
use serde::{Deserialize, Serialize};

use crate::error::TrafficError;

/// Largest range of ranks. Each flow keeps a table of it.
const LARGEST_RANGE: u32 = 1 << 20;

/// The ranks of a flow's packets. A smaller rank is more urgent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ranks {
    /// Every packet has this rank.
    Fixed(u32),
    /// The rank of each packet is drawn from a distribution.
    Drawn {
        /// `uniform`, `poisson`, `exponential`, `inverse-exponential` or `convex` (PACKS 6.1).
        distribution: String,
        /// Upper limit of the ranks, which is not included.
        below: u32,
    },
}

impl Ranks {
    /// The source of the ranks.
    ///
    /// # Errors
    /// If the range is empty or too wide, or the distribution is unknown.
    pub fn source(&self) -> Result<RankSource, TrafficError> {
        let wrong = |what: String| TrafficError::Flow(what);
        match self {
            Ranks::Fixed(rank) => Ok(RankSource::Fixed(*rank)),
            Ranks::Drawn { below, .. } if !(1..=LARGEST_RANGE).contains(below) => Err(wrong(format!(
                "ranks lie below {below}: the bound must be 1 to {LARGEST_RANGE}"
            ))),
            Ranks::Drawn { distribution, below } => {
                let distribution: RankDistribution = distribution
                    .parse()
                    .map_err(|error: UnknownDistribution| wrong(error.to_string()))?;
                let sampler =
                    RankSampler::new(distribution, *below as usize).map_err(|error| wrong(error.to_string()))?;
                Ok(RankSource::Drawn(sampler))
            }
        }
    }
}

/// A source of ranks, one for each packet.
pub enum RankSource {
    /// The same rank for all packets.
    Fixed(u32),
    /// Random ranks.
    Drawn(RankSampler),
}

impl RankSource {
    /// The rank of the next packet.
    pub fn next(&self, random: &mut impl RngCore) -> u32 {
        match self {
            RankSource::Fixed(rank) => *rank,
            RankSource::Drawn(sampler) => sampler.draw(random),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn drawn(distribution: &str, below: u32) -> Ranks {
        Ranks::Drawn {
            distribution: distribution.into(),
            below,
        }
    }

    #[test]
    fn every_distribution_stays_below_its_bound_and_leans_the_right_way() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut mean = |distribution: &str| {
            let source = drawn(distribution, 100).source().unwrap();
            let ranks: Vec<u32> = (0..20_000).map(|_| source.next(&mut random)).collect();
            assert!(ranks.iter().all(|&rank| rank < 100), "{distribution}");
            ranks.iter().map(|&rank| f64::from(rank)).sum::<f64>() / ranks.len() as f64
        };
        // The standard errors of these means are below 0.4.
        assert!((mean("uniform") - 49.5).abs() < 1.5);
        assert!((mean("poisson") - 50.0).abs() < 1.5);
        assert!(mean("exponential") < 30.0);
        assert!(mean("inverse-exponential") > 70.0);
        assert!((mean("convex") - 49.5).abs() < 2.5);
    }

    #[test]
    fn an_empty_range_and_an_unknown_distribution_are_refused() {
        assert!(drawn("uniform", 0).source().is_err());
        let error = drawn("gauss", 10).source().err().unwrap().to_string();
        assert!(error.contains("gauss") && error.contains("poisson"), "{error}");
    }
}
