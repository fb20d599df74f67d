//! Rank sequences: the distributions of PACKS 6.1, and a few sequences that are hard for schedulers. All have a seed.
//!
//! The paper names its distributions but not their parameters. The means here are those of SP-PIFO's simulator
//! (`LstfTcpSocket.java` of nsg-ethz/sp-pifo): half the range for Poisson, a quarter for the exponential ones. With them the
//! lowest dropped ranks and the ratios of inversions are those of the paper. Its convex ranks are Poisson of mean 100
//! modulo 100, with wider peaks than here: see [`RankDistribution`].

use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use p4sched_schedulers::config::{ConfigError, in_range};
use p4sched_schedulers::scheduler::Rank;

/// Random numbers of a run. The same seed gives the same numbers on every machine.
pub fn seeded(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Distribution of ranks over 0 .. n, n exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RankDistribution {
    /// Every rank is equally likely.
    Uniform,
    /// Poisson of mean n/2: most ranks near the middle.
    Poisson,
    /// Falling, with mean n/4: mostly urgent packets.
    Exponential,
    /// The mirror image of the exponential one: mostly packets that are not urgent.
    InverseExponential,
    /// Poisson with its two halves swapped: most ranks at the two ends, few in the middle.
    Convex,
}

impl RankDistribution {
    /// All distributions. The paper has figures for uniform, Poisson and inverse-exponential ranks (3 and 9).
    pub const ALL: [RankDistribution; 5] = [
        RankDistribution::Uniform,
        RankDistribution::Poisson,
        RankDistribution::Exponential,
        RankDistribution::InverseExponential,
        RankDistribution::Convex,
    ];

    /// Name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            RankDistribution::Uniform => "uniform",
            RankDistribution::Poisson => "poisson",
            RankDistribution::Exponential => "exponential",
            RankDistribution::InverseExponential => "inverse-exponential",
            RankDistribution::Convex => "convex",
        }
    }

    /// Probability of each rank 0 .. `ranks`, up to a common factor.
    fn weights(self, ranks: usize) -> Vec<f64> {
        let n = ranks as f64;
        let all = 0..ranks;
        match self {
            RankDistribution::Uniform => vec![1.0; ranks],
            RankDistribution::Exponential => all.map(|rank| (-(rank as f64) / (n / 4.0)).exp()).collect(),
            RankDistribution::InverseExponential => {
                let mut weights = RankDistribution::Exponential.weights(ranks);
                weights.reverse();
                weights
            }
            RankDistribution::Poisson => {
                let mean = n / 2.0;
                let mut log_weight = -mean;
                all.map(|rank| {
                    log_weight += if rank == 0 { 0.0 } else { (mean / rank as f64).ln() };
                    log_weight.exp()
                })
                .collect()
            }
            RankDistribution::Convex => {
                let mut weights = RankDistribution::Poisson.weights(ranks);
                weights.rotate_left(ranks / 2);
                weights
            }
        }
    }
}

impl std::str::FromStr for RankDistribution {
    type Err = UnknownDistribution;

    fn from_str(name: &str) -> Result<RankDistribution, UnknownDistribution> {
        let found = RankDistribution::ALL
            .into_iter()
            .find(|distribution| distribution.name() == name);
        found.ok_or_else(|| UnknownDistribution(name.to_owned()))
    }
}

/// The name of an unknown distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown rank distribution '{0}': use uniform, poisson, exponential, inverse-exponential or convex")]
pub struct UnknownDistribution(String);

/// Draws ranks from a distribution.
#[derive(Clone, Debug)]
pub struct RankSampler {
    /// For each rank, the probability of this or a smaller rank, in units of 2^-32.
    cumulative: Vec<u64>,
}

impl RankSampler {
    /// A sampler of the ranks 0 .. `ranks`.
    ///
    /// # Errors
    /// If `ranks` is 0 or above 2^20.
    pub fn new(distribution: RankDistribution, ranks: usize) -> Result<RankSampler, ConfigError> {
        in_range("number of ranks", ranks, 1, 1 << 20, "ranks")?;
        Ok(RankSampler::from_weights(&distribution.weights(ranks)))
    }

    /// A sampler that draws rank i in proportion to `weights[i]`. At least one weight must not be 0.
    pub fn from_weights(weights: &[f64]) -> RankSampler {
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let mut cumulative: Vec<u64> = weights
            .iter()
            .map(|weight| {
                sum += weight;
                (sum / total * 4_294_967_296.0) as u64
            })
            .collect();
        // Rounding could leave a gap above the last rank.
        if let Some(last) = cumulative.last_mut() {
            *last = 1 << 32;
        }
        RankSampler { cumulative }
    }

    pub fn draw(&self, random: &mut impl RngCore) -> Rank {
        let point = u64::from(random.next_u32());
        self.cumulative.partition_point(|&upper| upper <= point) as Rank
    }
}

/// Draws `count` independent ranks.
pub fn independent(sampler: &RankSampler, count: usize, random: &mut impl RngCore) -> Vec<Rank> {
    (0..count).map(|_| sampler.draw(random)).collect()
}

/// Draws `count` ranks in bursts: runs of 1 to `longest` packets with one rank from the sampler.
pub fn bursts(sampler: &RankSampler, count: usize, longest: usize, random: &mut impl RngCore) -> Vec<Rank> {
    let mut ranks = Vec::with_capacity(count);
    while ranks.len() < count {
        let rank = sampler.draw(random);
        let length = random.random_range(1..=longest.max(1));
        ranks.extend(std::iter::repeat_n(rank, length.min(count - ranks.len())));
    }
    ranks
}

/// `count` ranks that rise from 0 through all `ranks` values: each less urgent than the one before.
pub fn rising(count: usize, ranks: usize) -> Vec<Rank> {
    (0..count).map(|index| (index * ranks / count.max(1)) as Rank).collect()
}

/// `count` ranks that fall to 0: the worst order for PACKS against PIFO (PACKS B.3).
pub fn falling(count: usize, ranks: usize) -> Vec<Rank> {
    let mut sequence = rising(count, ranks);
    sequence.reverse();
    sequence
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and share of ranks below 50 of a million draws from 0 .. 100.
    fn summary(distribution: RankDistribution) -> (f64, f64) {
        let sampler = RankSampler::new(distribution, 100).unwrap();
        let ranks = independent(&sampler, 1_000_000, &mut seeded(1));
        assert!(ranks.iter().all(|&rank| rank < 100));
        let mean = ranks.iter().map(|&rank| f64::from(rank)).sum::<f64>() / 1e6;
        let urgent = ranks.iter().filter(|&&rank| rank < 50).count() as f64 / 1e6;
        (mean, urgent)
    }

    #[test]
    fn means_are_those_of_the_distributions() {
        // A mean of 10^6 draws deviates by more than 5 standard errors, 5 * 41 / 1000, once in a million seeds.
        let expect = |distribution, mean: f64| {
            let (found, _) = summary(distribution);
            assert!((found - mean).abs() < 0.21, "{distribution:?}: {found}");
        };
        expect(RankDistribution::Uniform, 49.5);
        expect(RankDistribution::Poisson, 50.0);
        // Exponential of mean 25 cut off at 100, over whole ranks.
        expect(RankDistribution::Exponential, 22.64);
        expect(RankDistribution::InverseExponential, 99.0 - 22.64);
    }

    #[test]
    fn convex_ranks_keep_to_the_ends() {
        let sampler = RankSampler::new(RankDistribution::Convex, 100).unwrap();
        let ranks = independent(&sampler, 10_000, &mut seeded(2));
        let middle = ranks.iter().filter(|&&rank| (30..70).contains(&rank)).count();
        assert!(middle < 100, "{middle} of 10000 in the middle");
        let (_, urgent) = summary(RankDistribution::Convex);
        assert!((urgent - 0.5).abs() < 0.05);
    }

    #[test]
    fn a_seed_fixes_the_sequence() {
        let sampler = RankSampler::new(RankDistribution::Poisson, 100).unwrap();
        assert_eq!(
            independent(&sampler, 100, &mut seeded(7)),
            independent(&sampler, 100, &mut seeded(7))
        );
        assert_ne!(
            independent(&sampler, 100, &mut seeded(7)),
            independent(&sampler, 100, &mut seeded(8))
        );
    }

    #[test]
    fn sequences_have_the_asked_shape_and_length() {
        assert_eq!(rising(6, 3), [0, 0, 1, 1, 2, 2]);
        assert_eq!(falling(3, 3), [2, 1, 0]);
        let sampler = RankSampler::new(RankDistribution::Uniform, 1000).unwrap();
        let ranks = bursts(&sampler, 1000, 20, &mut seeded(3));
        let changes = ranks.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(ranks.len(), 1000);
        assert!((60..140).contains(&changes), "runs of 10.5 on average: {changes}");
    }

    #[test]
    fn names_are_parsed_and_unknown_ones_answered_with_the_choices() {
        for distribution in RankDistribution::ALL {
            assert_eq!(distribution.name().parse(), Ok(distribution));
        }
        let error = "pareto".parse::<RankDistribution>().unwrap_err();
        assert!(error.to_string().contains("inverse-exponential"));
    }
}
