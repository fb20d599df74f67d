//! Three-colour, colour-blind meters. With two rates (RFC 2698), packets above the peak rate are red, above the
//! committed rate yellow. With one rate and two bursts (RFC 2697), packets beyond the excess burst are red, beyond the
//! committed burst yellow.

use crate::ids::Nanos;
use crate::values::{Count, MeterConfig};

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// A token bucket that never drifts: fractions of a token are carried over.
#[derive(Clone, Debug)]
struct Bucket {
    rate: u64,
    burst: u64,
    tokens: u64,
    /// Fraction of the next token, in 1/10^9.
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

    /// Adds the tokens of `elapsed`. Returns the tokens that did not fit.
    fn fill(&mut self, elapsed: Nanos) -> u64 {
        let gained = u128::from(self.rate) * u128::from(elapsed) + u128::from(self.fraction);
        let tokens = u128::from(self.tokens) + gained / NANOS_PER_SECOND;
        let over = tokens.checked_sub(u128::from(self.burst));
        (self.tokens, self.fraction) = match over {
            Some(_) => (self.burst, 0),
            None => (tokens as u64, (gained % NANOS_PER_SECOND) as u64),
        };
        over.map_or(0, |over| u64::try_from(over).unwrap_or(u64::MAX))
    }

    fn take(&mut self, cost: u64) -> bool {
        let enough = self.tokens >= cost;
        if enough {
            self.tokens -= cost;
        }
        enough
    }
}

/// Buckets from which packets take tokens.
#[derive(Clone, Debug)]
struct Rates {
    committed: Bucket,
    second: Second,
    last: Option<Nanos>,
}

/// The bucket next to the committed one.
#[derive(Clone, Debug)]
enum Second {
    /// RFC 2698: it has its own rate, and all packets except red ones take from it.
    Peak(Bucket),
    /// RFC 2697: it gets the overflow of the committed bucket, and yellow packets take from it.
    Excess(Bucket),
}

impl Rates {
    fn new(config: MeterConfig) -> Self {
        let second = match config.eburst {
            0 => Second::Peak(Bucket::full(config.pir, config.pburst)),
            burst => Second::Excess(Bucket::full(config.cir, burst)),
        };
        Rates {
            committed: Bucket::full(config.cir, config.cburst),
            second,
            last: None,
        }
    }

    fn config(&self) -> MeterConfig {
        let (cir, cburst) = (self.committed.rate, self.committed.burst);
        let (pir, pburst, eburst) = match &self.second {
            Second::Peak(peak) => (peak.rate, peak.burst, 0),
            Second::Excess(excess) => (cir, cburst, excess.burst),
        };
        MeterConfig {
            cir,
            cburst,
            pir,
            pburst,
            eburst,
        }
    }

    fn execute(&mut self, cost: u64, now: Nanos) -> Colour {
        let elapsed = now.saturating_sub(self.last.unwrap_or(now));
        self.last = Some(now);
        match &mut self.second {
            Second::Peak(peak) => {
                self.committed.fill(elapsed);
                peak.fill(elapsed);
                if !peak.take(cost) {
                    return Colour::Red;
                }
                if self.committed.take(cost) {
                    Colour::Green
                } else {
                    Colour::Yellow
                }
            }
            Second::Excess(excess) => {
                let over = self.committed.fill(elapsed);
                excess.tokens = excess.tokens.saturating_add(over).min(excess.burst);
                if self.committed.take(cost) {
                    Colour::Green
                } else if excess.take(cost) {
                    Colour::Yellow
                } else {
                    Colour::Red
                }
            }
        }
    }
}

/// A meter, and its counts by colour. Without rates all packets are green.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    rates: Option<Rates>,
    /// Counts of green, yellow and red packets.
    pub counts: [Count; 3],
}

impl Meter {
    pub fn config(&self) -> Option<MeterConfig> {
        self.rates.as_ref().map(Rates::config)
    }

    /// Sets the rates with full buckets; the counts stay.
    pub fn configure(&mut self, config: Option<MeterConfig>) {
        self.rates = config.map(Rates::new);
    }

    /// Colours a packet of this length that costs `cost` tokens.
    pub fn execute(&mut self, cost: u64, length: u64, now: Nanos) -> Colour {
        let colour = self
            .rates
            .as_mut()
            .map_or(Colour::Green, |rates| rates.execute(cost, now));
        let count = &mut self.counts[colour as usize];
        count.packets = count.packets.wrapping_add(1);
        count.bytes = count.bytes.wrapping_add(length);
        colour
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

/// The cost of a packet, and the numbers of colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeterKind {
    /// True if a packet costs its bytes, false if it costs 1.
    pub by_bytes: bool,
    /// Numbers of green, yellow and red.
    pub colours: [u64; 3],
}

impl MeterKind {
    /// The number of a packet's colour. Creates the cell on its first use.
    pub fn execute(&self, cell: &mut Option<Box<Meter>>, length: u64, now: Nanos) -> u64 {
        let cost = if self.by_bytes { length } else { 1 };
        let colour = cell.get_or_insert_default().execute(cost, length, now);
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

    /// Fills all buckets and resets all counts.
    pub fn restart(&mut self) {
        for meter in self.cells.iter_mut().flatten() {
            let config = meter.config();
            **meter = Meter::default();
            meter.configure(config);
        }
    }

    /// The number of a packet's colour; `None` if the cell does not exist.
    pub fn execute(&mut self, cell: u64, length: u64, now: Nanos) -> Option<u64> {
        let meter = self.cells.get_mut(usize::try_from(cell).ok()?)?;
        Some(self.kind.execute(meter, length, now))
    }
}

#[cfg(test)]
mod tests {
    use super::{Colour::*, *};

    fn meter(config: MeterConfig) -> Meter {
        let mut meter = Meter::default();
        meter.configure(Some(config));
        meter
    }

    #[test]
    fn a_burst_turns_yellow_then_red_and_recovers_at_the_configured_rates() {
        let mut meter = meter(MeterConfig {
            cir: 1000,
            cburst: 2,
            pir: 2000,
            pburst: 4,
            eburst: 0,
        });
        let burst: Vec<Colour> = (0..6).map(|_| meter.execute(1, 100, 0)).collect();
        assert_eq!(burst, [Green, Green, Yellow, Yellow, Red, Red]);
        // After 1 ms: one committed token, two peak tokens.
        let later: Vec<Colour> = (0..3).map(|_| meter.execute(1, 100, 1_000_000)).collect();
        assert_eq!(later, [Green, Yellow, Red]);
        let seen = meter.counts.map(|count| (count.packets, count.bytes));
        assert_eq!(seen, [(3, 300), (3, 300), (3, 300)]);
    }

    /// RFC 2697, section 3: the excess bucket fills only while the committed one is full.
    #[test]
    fn with_one_rate_the_excess_burst_is_yellow_and_fills_last() {
        let mut meter = meter(MeterConfig {
            cir: 1000,
            cburst: 2,
            pir: 1000,
            pburst: 2,
            eburst: 3,
        });
        let burst: Vec<Colour> = (0..6).map(|_| meter.execute(1, 100, 0)).collect();
        assert_eq!(burst, [Green, Green, Yellow, Yellow, Yellow, Red]);
        // 3 ms bring three tokens: two fill the committed bucket, one goes to the excess bucket.
        let later: Vec<Colour> = (0..4).map(|_| meter.execute(1, 100, 3_000_000)).collect();
        assert_eq!(later, [Green, Green, Yellow, Red]);
        assert_eq!(meter.config().map(|config| config.eburst), Some(3));
    }

    #[test]
    fn the_long_run_rate_is_exact_however_odd_the_intervals() {
        let mut meter = meter(MeterConfig {
            cir: 333_333,
            cburst: 10,
            pir: 1_000_000,
            pburst: 100,
            eburst: 0,
        });
        let mut now = 0;
        let mut green = 0;
        while now < 1_000_000_000 {
            green += u64::from(meter.execute(1, 1, now) == Green);
            now += 1_237;
        }
        assert!((333_333..=333_343).contains(&green), "{green} packets");
    }
}
