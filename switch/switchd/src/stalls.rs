//! Deliberate stalls of the data plane, as a hypervisor causes them, to measure the effect of lateness on a result.

use std::str::FromStr;

use p4sched_dataplane::Nanos;

/// The times and lengths of stalls. Frames that arrive during a stall keep their times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stalls {
    /// Mean time between the starts of two stalls, in ns. The times are uniform between half and one and a half of it.
    period: Nanos,
    /// Length of a stall, in ns.
    duration: Nanos,
    next: Nanos,
    random: u64,
}

impl Stalls {
    /// The length of the stall that starts now, if any.
    pub fn due(&mut self, now: Nanos) -> Option<Nanos> {
        if now < self.next {
            return None;
        }
        // Marsaglia's xorshift64: two runs have the same stalls.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.next = now + self.period / 2 + self.random % self.period;
        Some(self.duration)
    }
}

impl FromStr for Stalls {
    type Err = String;

    fn from_str(text: &str) -> Result<Stalls, String> {
        let form = "give PERIOD,DURATION in microseconds, the period above the duration, for example 100000,4000";
        let (period, duration) = text.split_once(',').ok_or(form)?;
        let microseconds = |number: &str| number.parse::<u32>().map_err(|_| form.to_owned());
        let (period, duration) = (microseconds(period)?, microseconds(duration)?);
        if period <= duration || duration == 0 {
            return Err(form.to_owned());
        }
        Ok(Stalls {
            period: Nanos::from(period) * 1000,
            duration: Nanos::from(duration) * 1000,
            next: 0,
            random: 0x2545_f491_4f6c_dd1d,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_stalls_take_a_hundred_periods_each_half_to_one_and_a_half_long() {
        let mut stalls: Stalls = "100000,4000".parse().expect("it is well formed");
        let mut begins = Vec::new();
        for now in (0..10_000_000_000).step_by(50_000) {
            if let Some(length) = stalls.due(now) {
                assert_eq!(length, 4_000_000);
                begins.push(now);
            }
        }
        assert!((90..=110).contains(&begins.len()), "{} in 10 s", begins.len());
        let gaps = begins.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.clone().all(|gap| (50_000_000..=150_050_000).contains(&gap)));
    }

    #[test]
    fn only_a_period_above_a_duration_is_understood() {
        for text in ["", "5", "a,b", "100,100", "100,0", "-1,5", "1,2,3"] {
            text.parse::<Stalls>().expect_err(text);
        }
    }
}
