//! The time that a queue spent at each length.

use p4sched_schedulers::Nanos;

/// Largest length with a time of its own, in packets; longer lengths count as this one.
const LONGEST: usize = 1 << 16;

#[derive(Clone, Debug, Default)]
pub struct Lengths {
    /// End of the recorded time.
    until: Nanos,
    /// Times in ns, by length in packets.
    times: Vec<Nanos>,
}

impl Lengths {
    /// Records that the queue had this length until `now`.
    pub fn note(&mut self, now: Nanos, length: u32) {
        if now == self.until {
            return;
        }
        let length = (length as usize).min(LONGEST);
        if length >= self.times.len() {
            self.times.resize(length + 1, 0);
        }
        self.times[length] += now - self.until;
        self.until = now;
    }

    /// Mean length over the recorded time.
    pub fn mean(&self) -> f64 {
        let weighted = (0_u128..)
            .zip(&self.times)
            .map(|(length, &time)| length * u128::from(time));
        weighted.sum::<u128>() as f64 / self.until.max(1) as f64
    }

    /// Length that the queue did not exceed for this share of the time.
    pub fn quantile(&self, share: f64) -> usize {
        let wanted = share * self.until as f64;
        let mut passed = 0;
        let reached = self.times.iter().position(|&time| {
            passed += time;
            passed as f64 >= wanted
        });
        reached.unwrap_or_else(|| self.longest())
    }

    pub fn longest(&self) -> usize {
        self.times.len().saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_by_their_time() {
        let mut lengths = Lengths::default();
        lengths.note(60, 0);
        lengths.note(90, 2);
        lengths.note(100, 10);
        assert_eq!(lengths.mean(), 1.6);
        let quantiles = [0.5, 0.6, 0.61, 0.9, 0.91, 1.0].map(|share| lengths.quantile(share));
        assert_eq!(quantiles, [0, 0, 2, 2, 10, 10]);
    }
}
