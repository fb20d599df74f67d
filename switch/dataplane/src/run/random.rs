//! Random numbers of a program: small, seedable, reproducible.

/// Default seed of `random()`.
const DEFAULT_SEED: u64 = 1;

/// A SplitMix64 generator (Steele, Lea, Flood 2014).
#[derive(Debug)]
pub(crate) struct Random(pub u64);

impl Default for Random {
    fn default() -> Self {
        Random(DEFAULT_SEED)
    }
}

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        z ^ z >> 31
    }

    /// Uniform from low to high, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        match (high - low).checked_add(1) {
            Some(span) => low + ((u128::from(self.next()) * u128::from(span)) >> 64) as u64,
            None => self.next(),
        }
    }
}
