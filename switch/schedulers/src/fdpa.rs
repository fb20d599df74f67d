//! FDPA: fair dynamic priority assignment (Cascone et al., "Towards Approximate Fair Bandwidth Sharing via Dynamic
//! Priority Queuing", sections III and V).
//!
//! The arrival rate of a user selects a band, and the band selects a strict-priority queue. Band 1 is about the fair
//! share.
//!
//!   charge = length / weight
//!   rate   = (charges since the interval began) / (time e since then, in intervals, rounded down to a power of 2);
//!            updated at the first packet with e >= 1, and 0 if e >= 16
//!   band   = the first q with rate <= edge_q; the last band has no edge
//!   or: one token bucket for each edge, filled at the rate of the edge; band = the first q whose bucket holds the
//!       charge; the charge is taken from that bucket and from every bucket with a higher rate
//!   with flowlets: a flow keeps its band until it pauses for a gap
//!   user 0 (unclassified traffic): band 1
//!   against users who cheat: the rate is at least the charges of the current interval ([`Variant::CurrentInterval`];
//!   `schedulers/fdpa_current` has the program); a user returns to a more urgent band only after a hold time without a
//!   packet that would stay in its band (in no program)
//!   enqueue: into the queue of the band; tail drop per queue
//!
//! A Tofino cannot multiply, and cannot shift by a variable (`tofino-port/include/fdpa_bands.p4`). So there
//!
//!   charge = length, shifted by the power of two nearest to 1 / weight
//!   rate   = charges in the interval before this one; 0 if there were none. All intervals begin at multiples of their
//!            length, which is the power of two of nanoseconds nearest to the configured length
//!   flowlet gaps are multiples of 2^16 ns; there are no token buckets
//!
//! Edges are bytes per interval, so there is no division. Time is in microseconds and wraps at 32 bits, as in a P4
//! program. Token levels are in sixteenths of a byte.

use hashbrown::HashMap;
use rand::{Rng, RngCore};

use crate::config::{self, ConfigError, Sizes, in_range};
use crate::priority_queues::PriorityQueues;
use crate::scheduler::{Nanos, Packet, Scheduler, Verdict};
use crate::scheme::{self, Discipline, P4, Reference, TailDrop};
use crate::target::Target;
use crate::variants::{Variant, Variants};

/// Largest number of bands: one for each priority.
pub const MAX_BANDS: usize = 8;
/// Scale of a user of weight 1. A user of weight w has scale 256 / w.
pub const UNIT_SCALE: u32 = 256;
/// The edge of a band that no user reaches.
const UNREACHABLE: u32 = u32::MAX;
/// The user number of unclassified traffic, such as the ACKs on their way back to the users.
pub const UNCLASSIFIED: u32 = 0;

/// The estimator of a user's rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// Compares the bytes of an interval with the band edges.
    Average {
        /// Length of the interval, in microseconds. It should be a few RTTs.
        interval_us: u32,
        /// Upper edges of all bands but the last, in weighted bytes per interval.
        edges: Vec<u32>,
    },
    /// Uses one token bucket for each band edge.
    TokenBuckets {
        /// Rates of the edges, in weighted bytes per 65536 microseconds.
        rates: Vec<u32>,
        /// Capacity of every bucket, in bytes.
        burst: u32,
    },
}

impl Estimator {
    /// A random estimator, with edges around the rates of the users.
    fn draw(random: &mut dyn RngCore, bands: usize) -> Estimator {
        let mut edges: Vec<u32> = (1..bands).map(|_| 1 << random.random_range(8..24)).collect();
        let few_frames = random.random_range(0..4) == 0;
        for edge in &mut edges {
            *edge = if few_frames {
                // Some rates must equal an edge.
                [64, 1514][random.random_range(0..2)] * random.random_range(1..=8)
            } else {
                *edge + random.random_range(0..*edge)
            };
        }
        edges.sort_unstable();
        edges.dedup();
        while edges.len() + 1 < bands {
            edges.push(edges.last().map_or(1000, |edge| edge + 1000));
        }
        if random.random() {
            let interval_us = [2, 3][random.random_range(0..2)] << random.random_range(3..15);
            return Estimator::Average { interval_us, edges };
        }
        let bits = random.random_range(8..=28);
        let burst = random.random_range(1 << 7..1 << bits);
        Estimator::TokenBuckets { rates: edges, burst }
    }

    fn edges(&self) -> &[u32] {
        match self {
            Estimator::Average { edges, .. } => edges,
            Estimator::TokenBuckets { rates, .. } => rates,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FdpaConfig {
    /// The estimator of the users' rates.
    pub estimator: Estimator,
    /// Pause after which a flow may change its band, in microseconds; 0: at every packet.
    pub flowlet_gap_us: u32,
    /// L_q, in packets: one for each band, the most urgent first.
    pub queue_sizes: Vec<usize>,
    /// The target whose arithmetic the estimators use.
    pub on: Target,
}

impl FdpaConfig {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If edges do not rise strictly, the number of queues is not the number of edges + 1, or the interval, a queue
    /// size or the burst is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let edges = self.estimator.edges();
        in_range("number of bands", edges.len() + 1, 1, MAX_BANDS, "bands")?;
        if self.queue_sizes.len() != edges.len() + 1 {
            return Err(ConfigError::Count {
                parameter: "queue sizes L_q",
                found: self.queue_sizes.len(),
                expected: edges.len() + 1,
                reason: "one queue for each band, and one band more than edges",
            });
        }
        for (index, pair) in edges.windows(2).enumerate() {
            if pair[1] <= pair[0] {
                let (value, before) = (u64::from(pair[1]), u64::from(pair[0]));
                return Err(ConfigError::NotRising {
                    parameter: "band edges",
                    index: index + 2,
                    value,
                    before,
                });
            }
        }
        match self.estimator {
            Estimator::Average { interval_us, .. } => {
                in_range("estimator interval", interval_us as usize, 1, 1 << 30, "microseconds")?;
            }
            Estimator::TokenBuckets { burst, .. } => in_range("burst", burst as usize, 1, (1 << 28) - 1, "bytes")?,
        }
        config::queue_sizes(&self.queue_sizes)
    }
}

/// Band edges for the paper's notation F(first + n * size): one band up to `first`, then n bands of width `size`; the
/// last one has no edge. Both arguments are in thousandths of the fair share. The fair share and the result are in
/// bytes per interval.
///
/// F(1 + 4 * 0.5) with a fair share of 1000 bytes: `band_edges(1000, 1000, 4, 500)` is 1000, 1500, 2000, 2500.
pub fn band_edges(fair_share: u32, first: u32, n: usize, size: u32) -> Vec<u32> {
    let shares = |band: u64| u64::from(first).saturating_add(band.saturating_mul(u64::from(size)));
    let edge = |band: u64| u64::from(fair_share).saturating_mul(shares(band)) / 1000;
    (0..n as u64)
        .map(|band| u32::try_from(edge(band)).unwrap_or(u32::MAX))
        .collect()
}

/// L_q = max(20, BDP / q^q) for q = 1 ..= bands, with the bandwidth-delay product in packets (section IV-C, whose
/// formula prints min for max).
pub fn queue_sizes(bandwidth_delay_packets: usize, bands: u32) -> Vec<usize> {
    (1..=bands)
        .map(|q| (bandwidth_delay_packets / (q as usize).saturating_pow(q)).max(20))
        .collect()
}

/// The exponent n of the power of two nearest to `value`: 3/4 2^n <= value < 3/2 2^n.
fn nearest_exponent(value: u32) -> u32 {
    let exponent = value.max(1).ilog2();
    exponent + u32::from(exponent > 0 && value >> (exponent - 1) & 1 == 1)
}

/// The state of the estimators for one user.
#[derive(Clone, Debug, Default)]
struct User {
    /// On a Tofino, the number of the interval.
    interval_start: u32,
    interval_bytes: u32,
    last_rate: u32,
    last_arrival: u32,
    tokens: [u32; MAX_BANDS - 1],
    held: Held,
}

impl User {
    /// Updates the rate and returns it, in bytes per interval. It is at least the mean since the last update, and less
    /// than twice that mean. A user that was silent for 16 intervals starts again at zero.
    fn average(&mut self, now_us: u32, interval: u32, charge: u32) -> u32 {
        let elapsed = now_us.wrapping_sub(self.interval_start);
        if elapsed < interval {
            self.interval_bytes = self.interval_bytes.saturating_add(charge);
            return self.last_rate;
        }
        // Tests elapsed / 2^n < interval in this form, because interval * 2^n could overflow.
        let halvings = (0..4).find(|halvings| elapsed >> (halvings + 1) < interval);
        self.last_rate = halvings.map_or(0, |halvings| self.interval_bytes >> halvings);
        self.interval_start = match halvings {
            Some(0) => self.interval_start.wrapping_add(interval),
            _ => now_us,
        };
        self.interval_bytes = charge;
        self.last_rate
    }

    /// The charges in the interval before this one, as a Tofino counts them. `now` is in units of 2^16 ns.
    fn average_on_chip(&mut self, now: u32, interval_us: u32, charge: u32) -> u32 {
        // One unit is about 64 microseconds.
        let number = now >> nearest_exponent(interval_us >> 5).saturating_sub(1).min(16);
        let age = number.wrapping_sub(self.interval_start);
        self.interval_start = number;
        if age == 0 {
            self.interval_bytes = self.interval_bytes.saturating_add(charge);
        } else {
            self.last_rate = if age == 1 { self.interval_bytes } else { 0 };
            self.interval_bytes = charge;
        }
        self.last_rate
    }

    /// Takes the charge from the buckets. Returns the index of the first bucket that holds it, or the number of
    /// buckets.
    fn pay(&mut self, now_us: u32, rates: &[u32], burst: u32, charge: u32) -> usize {
        let elapsed = now_us.wrapping_sub(self.last_arrival);
        self.last_arrival = now_us;
        let room = burst << 4;
        let charge = charge << 4;
        let mut band = rates.len();
        for (bucket, &rate) in rates.iter().enumerate() {
            let gained = (u64::from(elapsed) * u64::from(rate)) >> 12;
            let level = &mut self.tokens[bucket];
            let gained = u32::try_from(gained).unwrap_or(u32::MAX);
            *level = level.saturating_add(gained).min(room);
            if band < rates.len() || *level >= charge {
                band = band.min(bucket);
                *level = level.saturating_sub(charge);
            }
        }
        band
    }
}

/// The band that a user is held in, and the last time at which a packet would stay there, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    band: usize,
    last: u32,
}

impl Held {
    /// The band of a packet whose estimated band is this one. A less urgent one holds at once.
    fn band(&mut self, now_us: u32, hold_us: u32, estimated: usize) -> usize {
        if estimated >= self.band || now_us.wrapping_sub(self.last) >= hold_us {
            *self = Held {
                band: estimated,
                last: now_us,
            };
        }
        self.band
    }
}

#[derive(Clone, Copy, Debug)]
struct Flowlet {
    last_seen: u32,
    band: usize,
}

/// Rate bands over strict-priority queues.
#[derive(Clone, Debug)]
pub struct Fdpa {
    queues: PriorityQueues,
    config: FdpaConfig,
    users: HashMap<u32, User>,
    flowlets: HashMap<u32, Flowlet>,
    scales: HashMap<u32, u32>,
    variants: Variants,
    hold_us: u32,
}

impl Fdpa {
    /// Empty queues, without any state of users.
    ///
    /// # Errors
    /// See [`FdpaConfig::check`].
    pub fn new(config: FdpaConfig) -> Result<Fdpa, ConfigError> {
        config.check()?;
        Ok(Fdpa {
            queues: PriorityQueues::new(&config.queue_sizes)?,
            config,
            users: HashMap::new(),
            flowlets: HashMap::new(),
            scales: HashMap::new(),
            variants: Variants::NONE,
            hold_us: 0,
        })
    }

    /// The band of an arriving packet, counted from 0. Updates the estimators.
    fn band(&mut self, now: Nanos, packet: &Packet) -> usize {
        if packet.user == UNCLASSIFIED {
            return 0;
        }
        let scale = self.scales.get(&packet.user).copied().unwrap_or(UNIT_SCALE);
        let on_chip = self.config.on != Target::V1model;
        let (now, charge, gap) = if on_chip {
            let charge = (packet.len << nearest_exponent(scale)) >> 8;
            ((now >> 16) as u32, charge, self.config.flowlet_gap_us >> 6)
        } else {
            let charge = packet.len.wrapping_mul(scale) >> 8;
            ((now / 1000) as u32, charge, self.config.flowlet_gap_us)
        };
        let user = self.users.entry(packet.user).or_default();
        let estimated = match &self.config.estimator {
            Estimator::Average { interval_us, edges } => {
                let rate = if on_chip {
                    user.average_on_chip(now, *interval_us, charge)
                } else {
                    user.average(now, *interval_us, charge)
                };
                let rate = match self.variants.has(Variant::CurrentInterval) {
                    true => rate.max(user.interval_bytes),
                    false => rate,
                };
                edges.iter().position(|&edge| rate <= edge).unwrap_or(edges.len())
            }
            Estimator::TokenBuckets { rates, burst } => user.pay(now, rates, *burst, charge),
        };
        let estimated = match self.hold_us {
            0 => estimated,
            hold_us => user.held.band(now, hold_us, estimated),
        };
        if self.config.flowlet_gap_us == 0 {
            estimated
        } else {
            self.keep_band(now, gap, packet.flow, estimated)
        }
    }

    /// The band of the current flowlet, or `estimated` if a new flowlet begins.
    fn keep_band(&mut self, now: u32, gap: u32, flow: u32, estimated: usize) -> usize {
        let begins = Flowlet {
            last_seen: now,
            band: estimated,
        };
        let flowlet = self.flowlets.entry(flow).or_insert(begins);
        let paused = match self.config.on {
            Target::V1model => now.wrapping_sub(flowlet.last_seen) >= gap,
            Target::Tna | Target::T2na => flowlet.last_seen <= now.saturating_sub(gap),
        };
        if paused {
            flowlet.band = estimated;
        }
        flowlet.last_seen = now;
        flowlet.band
    }
}

impl Scheduler for Fdpa {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        let band = self.band(now, &packet).min(self.queues.count() - 1);
        self.queues.enqueue(band, packet)
    }

    fn dequeue(&mut self, _now: Nanos) -> Option<Packet> {
        self.queues.dequeue()
    }

    fn len(&self) -> usize {
        self.queues.len()
    }
}

impl Reference for Fdpa {
    type Config = FdpaConfig;

    const P4: P4 = P4 {
        program: "fdpa",
        table: "fdpa_params",
        action: "set_bands",
        parameters: &[
            "interval_us",
            "edge_1",
            "edge_2",
            "edge_3",
            "edge_4",
            "edge_5",
            "edge_6",
            "edge_7",
            "token_bucket",
            "rate_1",
            "rate_2",
            "rate_3",
            "rate_4",
            "rate_5",
            "rate_6",
            "rate_7",
            "burst_bytes",
            "flowlet_gap_us",
            "depth_1",
            "depth_2",
            "depth_3",
            "depth_4",
            "depth_5",
            "depth_6",
            "depth_7",
            "depth_8",
        ],
        discipline: Discipline::Strict,
        rank_field: None,
        tail_drop: TailDrop::Either,
        ranks: false,
        verdicts: false,
    };
    const TARGETS: &[Target] = &[Target::V1model, Target::Tna];
    const VARIANTS: &[Variant] = &[Variant::CurrentInterval];

    fn model(config: &FdpaConfig) -> Result<Fdpa, ConfigError> {
        Fdpa::new(config.clone())
    }

    /// The number of bands must not change.
    fn reconfigure(&mut self, config: &FdpaConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.queues.resize(&config.queue_sizes)?;
        self.config = config.clone();
        Ok(())
    }

    fn config(_sizes: &Sizes) -> Result<FdpaConfig, ConfigError> {
        Err(ConfigError::MoreThanSizes {
            scheme: "FDPA",
            reason: "the edges of its bands are rates",
        })
    }

    fn draw(random: &mut dyn RngCore, before: Option<&FdpaConfig>) -> FdpaConfig {
        let bands = before.map_or_else(|| config::draw_count(random), |before| before.queue_sizes.len());
        let estimator = Estimator::draw(random, bands);
        let flowlet_gap_us = if random.random() {
            0
        } else {
            1 << random.random_range(2..14)
        };
        FdpaConfig {
            estimator,
            flowlet_gap_us,
            queue_sizes: config::draw_sizes(random, bands),
            on: Target::V1model,
        }
    }

    /// The program for Tofino has no token buckets: their rates become edges.
    fn on(config: FdpaConfig, target: Target) -> FdpaConfig {
        let estimator = match config.estimator {
            Estimator::TokenBuckets { rates, .. } if target != Target::V1model => Estimator::Average {
                interval_us: 1 << 16,
                edges: rates,
            },
            other => other,
        };
        FdpaConfig {
            estimator,
            on: target,
            ..config
        }
    }

    /// On a Tofino the traffic manager drops, because ingress does not know how many packets wait.
    fn tail_drop(target: Target) -> TailDrop {
        match target {
            Target::V1model => TailDrop::Either,
            Target::Tna | Target::T2na => TailDrop::Queue,
        }
    }

    fn queue_sizes(config: &FdpaConfig) -> &[usize] {
        &config.queue_sizes
    }

    fn arguments(config: &FdpaConfig, sizes: &[usize]) -> Vec<u64> {
        let seven = |values: &[u32]| -> Vec<u64> {
            let value = |band: usize| values.get(band).copied().unwrap_or(UNREACHABLE);
            (0..MAX_BANDS - 1).map(|band| u64::from(value(band))).collect()
        };
        let none = vec![0; MAX_BANDS - 1];
        let (interval, edges, buckets, rates, burst) = match &config.estimator {
            Estimator::Average { interval_us, edges } => (*interval_us, seven(edges), 0, none, 0),
            Estimator::TokenBuckets { rates, burst } => (1, none, 1, seven(rates), *burst),
        };
        let mut arguments = vec![u64::from(interval)];
        arguments.extend(edges);
        arguments.push(buckets);
        arguments.extend(rates);
        arguments.extend([u64::from(burst), u64::from(config.flowlet_gap_us)]);
        arguments.extend(scheme::eight(sizes));
        arguments
    }

    fn from_arguments(arguments: &[u64]) -> Result<FdpaConfig, ConfigError> {
        let number = |argument: u64| u32::try_from(argument).unwrap_or(u32::MAX);
        let edges = |arguments: &[u64]| -> Vec<u32> {
            let edges = arguments.iter().map(|&edge| number(edge));
            edges.take_while(|&edge| edge != 0 && edge != UNREACHABLE).collect()
        };
        let estimator = match arguments[8] {
            0 => Estimator::Average {
                interval_us: number(arguments[0]),
                edges: edges(&arguments[1..8]),
            },
            _ => Estimator::TokenBuckets {
                rates: edges(&arguments[9..16]),
                burst: number(arguments[16]),
            },
        };
        Ok(FdpaConfig {
            estimator,
            flowlet_gap_us: number(arguments[17]),
            queue_sizes: scheme::sizes_of_eight(&arguments[18..]),
            on: Target::V1model,
        })
    }

    fn vary(&mut self, variants: Variants) {
        self.variants = variants;
    }

    fn hold(&mut self, hold_us: u32) {
        self.hold_us = hold_us;
    }

    fn set_user_scale(&mut self, user: u32, scale: u32) {
        self.scales.insert(user, scale);
    }
}
