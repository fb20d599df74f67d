//! Two-rate three-colour meters, colour-blind (RFC 2698): red above the peak rate, yellow above the committed rate.

use crate::ids::Nanos;
use crate::values::MeterConfig;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// A token bucket that never drifts: what is less than a token is carried over.
#[derive(Clone, Debug)]
struct Bucket {
    rate: u64,
    burst: u64,
    tokens: u64,
    /// Part of the next token, in 1/10^9.
    fraction: u64,
}

impl Bucket {
    fn full(rate: u64, burst: u64) -> Self {
        Bucket {
            rate,
            burst,
            tokens: burst,
            fraction: 0,
        }
    }

    fn fill(&mut self, elapsed: Nanos) {
        let gained = u128::from(self.rate) * u128::from(elapsed) + u128::from(self.fraction);
        let tokens = u128::from(self.tokens) + gained / NANOS_PER_SECOND;
        if tokens >= u128::from(self.burst) {
            (self.tokens, self.fraction) = (self.burst, 0);
        } else {
            (self.tokens, self.fraction) = (tokens as u64, (gained % NANOS_PER_SECOND) as u64);
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Meter {
    committed: Bucket,
    peak: Bucket,
    last: Option<Nanos>,
}

impl Meter {
    pub fn new(config: MeterConfig) -> Self {
        Meter {
            committed: Bucket::full(config.cir, config.cburst),
            peak: Bucket::full(config.pir, config.pburst),
            last: None,
        }
    }

    pub fn config(&self) -> MeterConfig {
        MeterConfig {
            cir: self.committed.rate,
            cburst: self.committed.burst,
            pir: self.peak.rate,
            pburst: self.peak.burst,
        }
    }

    /// The colour of a packet that costs this many tokens.
    pub fn execute(&mut self, cost: u64, now: Nanos) -> Colour {
        let elapsed = now.saturating_sub(self.last.unwrap_or(now));
        self.last = Some(now);
        self.committed.fill(elapsed);
        self.peak.fill(elapsed);
        if self.peak.tokens < cost {
            return Colour::Red;
        }
        self.peak.tokens -= cost;
        if self.committed.tokens < cost {
            return Colour::Yellow;
        }
        self.committed.tokens -= cost;
        Colour::Green
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Green,
    Yellow,
    Red,
}

#[derive(Debug)]
pub(crate) struct MeterArray {
    pub name: String,
    pub kind: MeterKind,
    pub cells: Vec<Option<Box<Meter>>>,
}

/// What a meter charges for a packet, and how it tells the colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeterKind {
    /// By the packet's bytes, or 1.
    pub by_bytes: bool,
    /// The numbers of green, yellow and red.
    pub colours: [u64; 3],
}

impl MeterKind {
    /// The number of a packet's colour. A cell without rates has only green packets.
    pub fn execute(&self, cell: Option<&mut Meter>, length: u64, now: Nanos) -> u64 {
        let cost = if self.by_bytes { length } else { 1 };
        let colour = cell.map_or(Colour::Green, |meter| meter.execute(cost, now));
        self.colours[colour as usize]
    }
}

impl MeterArray {
    pub fn new(name: String, kind: MeterKind, size: usize) -> Self {
        MeterArray {
            name,
            kind,
            cells: (0..size).map(|_| None).collect(),
        }
    }

    /// All buckets are full again.
    pub fn refill(&mut self) {
        for meter in self.cells.iter_mut().flatten() {
            **meter = Meter::new(meter.config());
        }
    }

    /// The number of a packet's colour; `None` if there is no such cell.
    pub fn execute(&mut self, cell: u64, length: u64, now: Nanos) -> Option<u64> {
        let meter = self.cells.get_mut(usize::try_from(cell).ok()?)?;
        Some(self.kind.execute(meter.as_deref_mut(), length, now))
    }

    pub fn config(&self, cell: usize) -> Option<Option<MeterConfig>> {
        Some(self.cells.get(cell)?.as_ref().map(|meter| meter.config()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Colour::*, *};

    #[test]
    fn a_burst_turns_yellow_then_red_and_recovers_at_the_configured_rates() {
        let mut meter = Meter::new(MeterConfig {
            cir: 1000,
            cburst: 2,
            pir: 2000,
            pburst: 4,
        });
        let burst: Vec<Colour> = (0..6).map(|_| meter.execute(1, 0)).collect();
        assert_eq!(burst, [Green, Green, Yellow, Yellow, Red, Red]);
        // After 1 ms: one committed token, two peak tokens.
        let later: Vec<Colour> = (0..3).map(|_| meter.execute(1, 1_000_000)).collect();
        assert_eq!(later, [Green, Yellow, Red]);
    }

    #[test]
    fn the_long_run_rate_is_exact_however_odd_the_intervals() {
        let mut meter = Meter::new(MeterConfig {
            cir: 333_333,
            cburst: 10,
            pir: 1_000_000,
            pburst: 100,
        });
        let mut now = 0;
        let mut green = 0;
        while now < 1_000_000_000 {
            green += u64::from(meter.execute(1, now) == Green);
            now += 1_237;
        }
        assert!((333_333..=333_343).contains(&green), "{green} packets");
    }
}
