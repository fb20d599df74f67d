//! The lateness of frames: a histogram with logarithmic buckets. The width of a bucket is at most 1/16 of its value.

/// The base-2 logarithm of the number of buckets for each power of two.
const PRECISION_BITS: u32 = 4;
const SUB_BUCKETS: u64 = 1 << PRECISION_BITS;
const BUCKETS: usize = ((64 - PRECISION_BITS as usize) + 1) << PRECISION_BITS;

/// Distribution of durations in ns.
#[derive(Debug, Clone)]
pub struct Lateness {
    buckets: Box<[u64; BUCKETS]>,
    count: u64,
    max: u64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness {
            buckets: Box::new([0; BUCKETS]),
            count: 0,
            max: 0,
        }
    }
}

fn bucket(ns: u64) -> usize {
    if ns < SUB_BUCKETS {
        return ns as usize;
    }
    let exponent = ns.ilog2();
    let shift = exponent - PRECISION_BITS;
    (((u64::from(shift) + 1) << PRECISION_BITS) + ((ns >> shift) & (SUB_BUCKETS - 1))) as usize
}

/// The largest duration in the bucket.
fn upper_edge(bucket: usize) -> u64 {
    let (group, sub) = (bucket as u64 >> PRECISION_BITS, bucket as u64 & (SUB_BUCKETS - 1));
    if group == 0 {
        return sub;
    }
    let shift = group - 1;
    let lower = (SUB_BUCKETS + sub) << shift;
    lower + ((1 << shift) - 1)
}

impl Lateness {
    pub fn record(&mut self, ns: u64) {
        self.buckets[bucket(ns)] += 1;
        self.count += 1;
        self.max = self.max.max(ns);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn max(&self) -> u64 {
        self.max
    }

    /// The quantile `q` (0..=1) of the durations, rounded up to the edge of its bucket.
    pub fn quantile(&self, q: f64) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let wanted = ((self.count as f64 * q).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (index, &count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return upper_edge(index).min(self.max);
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_lies_in_a_bucket_at_most_a_sixteenth_wide() {
        for ns in (0..10_000).chain([u64::MAX, u64::MAX / 3, 1 << 40, (1 << 40) - 1]) {
            let edge = upper_edge(bucket(ns));
            assert!(edge >= ns && edge - ns <= ns / 16, "{ns} is reported as {edge}");
        }
    }

    #[test]
    fn quantiles_of_one_to_thousand_microseconds() {
        let mut lateness = Lateness::default();
        for us in 1..=1000 {
            lateness.record(us * 1000);
        }
        assert_eq!((lateness.count(), lateness.max()), (1000, 1_000_000));
        assert!((500_000..=531_250).contains(&lateness.quantile(0.5)));
        assert!((990_000..=1_000_000).contains(&lateness.quantile(0.99)));
        assert_eq!(lateness.quantile(1.0), 1_000_000);
    }

    #[test]
    fn nothing_recorded_is_zero() {
        assert_eq!(Lateness::default().quantile(0.99), 0);
    }
}
