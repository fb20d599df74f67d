//! Where the ranks of a flow's packets come from.

use rand::Rng;
use rand_distr::{Distribution as _, Exp, Poisson};
use serde::{Deserialize, Serialize};

use crate::error::TrafficError;

/// Ranks of a flow's packets; the smaller, the more urgent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ranks {
    /// Every packet has this rank.
    Fixed(u32),
    /// Uniform over 0 to below the bound (PACKS 6.1).
    Uniform(u32),
    /// Poisson with this mean, cut to the range.
    Poisson {
        /// Mean rank.
        mean: f64,
        /// Ranks lie below it.
        below: u32,
    },
    /// Exponential: small ranks are frequent.
    Exponential {
        /// Mean rank.
        mean: f64,
        /// Ranks lie below it.
        below: u32,
    },
    /// Mirrored exponential: large ranks are frequent.
    InverseExponential {
        /// Mean distance from the largest rank.
        mean: f64,
        /// Ranks lie below it.
        below: u32,
    },
    /// Small and large ranks are frequent, those between are rare.
    Convex {
        /// Mean distance from the nearer end.
        mean: f64,
        /// Ranks lie below it.
        below: u32,
    },
}

impl Ranks {
    /// # Errors
    /// If a range is empty or a mean is not a positive number.
    pub fn check(&self) -> Result<(), TrafficError> {
        let (mean, below) = match *self {
            Ranks::Fixed(_) => return Ok(()),
            Ranks::Uniform(below) => (1.0, below),
            Ranks::Poisson { mean, below }
            | Ranks::Exponential { mean, below }
            | Ranks::InverseExponential { mean, below }
            | Ranks::Convex { mean, below } => (mean, below),
        };
        if below == 0 {
            return Err(TrafficError::Flow(
                "ranks lie below 0: the bound must be at least 1".into(),
            ));
        }
        if !(mean.is_finite() && mean > 0.0) {
            return Err(TrafficError::Flow(format!("mean rank {mean} is not a positive number")));
        }
        Ok(())
    }

    /// The rank of the next packet. The configuration must have passed [`Ranks::check`].
    pub fn sample(&self, random: &mut impl Rng) -> u32 {
        match *self {
            Ranks::Fixed(rank) => rank,
            Ranks::Uniform(below) => random.random_range(0..below),
            Ranks::Poisson { mean, below } => {
                let poisson = Poisson::new(mean).expect("the mean was checked");
                within(below, || poisson.sample(random))
            }
            Ranks::Exponential { mean, below } => within(below, || exponential(mean, random)),
            Ranks::InverseExponential { mean, below } => below - 1 - within(below, || exponential(mean, random)),
            Ranks::Convex { mean, below } => {
                let distance = within(below, || exponential(mean, random));
                if random.random_bool(0.5) {
                    distance
                } else {
                    below - 1 - distance
                }
            }
        }
    }
}

fn exponential(mean: f64, random: &mut impl Rng) -> f64 {
    Exp::new(1.0 / mean).expect("the mean was checked").sample(random)
}

/// Draws until a value falls below the bound; a distribution that hardly ever does is cut at the bound.
fn within(below: u32, mut draw: impl FnMut() -> f64) -> u32 {
    for _ in 0..64 {
        let value = draw();
        if value < f64::from(below) {
            return value as u32;
        }
    }
    below - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn every_distribution_stays_below_its_bound_and_leans_the_right_way() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut mean = |ranks: Ranks| {
            ranks.check().unwrap();
            let drawn: Vec<u32> = (0..20_000).map(|_| ranks.sample(&mut random)).collect();
            assert!(drawn.iter().all(|&rank| rank < 100), "{ranks:?}");
            drawn.iter().map(|&rank| f64::from(rank)).sum::<f64>() / drawn.len() as f64
        };
        // Standard errors of these means are below 0.3.
        assert!((mean(Ranks::Uniform(100)) - 49.5).abs() < 1.5);
        assert!((mean(Ranks::Poisson { mean: 50.0, below: 100 }) - 50.0).abs() < 1.0);
        assert!(mean(Ranks::Exponential { mean: 25.0, below: 100 }) < 30.0);
        assert!(mean(Ranks::InverseExponential { mean: 25.0, below: 100 }) > 70.0);
        assert!((mean(Ranks::Convex { mean: 10.0, below: 100 }) - 49.5).abs() < 2.0);
    }

    #[test]
    fn an_empty_range_is_refused() {
        assert!(Ranks::Uniform(0).check().is_err());
        assert!(Ranks::Poisson { mean: -1.0, below: 10 }.check().is_err());
        assert!(
            Ranks::Convex {
                mean: f64::NAN,
                below: 10
            }
            .check()
            .is_err()
        );
    }
}
