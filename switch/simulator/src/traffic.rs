//! Random packets: their flow, rank, length and time.

use crate::workload::{RankDistribution, RankSampler};
use p4sched_schedulers::Nanos;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::frames::{Datagram, MIN_FRAME, RANKED_PORT, UNRANKED_PORT};

/// Number of flows at a port.
pub const FLOWS: usize = 8;
/// Number of users at a port; flow f belongs to user f mod `USERS`.
pub const USERS: usize = 5;
/// Largest frame, in bytes.
const MAX_FRAME: u32 = 1514;

/// Pattern of the ranks of a port's packets.
#[derive(Clone, Debug)]
pub enum RankPattern {
    /// Drawn from a distribution.
    Drawn(RankDistribution, RankSampler),
    /// Runs of packets of one rank.
    Bursts(RankSampler),
    /// Each packet less urgent than the one before, for this many packets; then from the start.
    Rising(u32),
    /// Each packet more urgent than the one before, for this many packets; then from the start.
    Falling(u32),
    /// Any value of 32 bits, often the smallest or the largest.
    Anything,
    /// Nearly always the same rank.
    Equal,
}

impl RankPattern {
    pub fn draw(random: &mut ChaCha8Rng) -> RankPattern {
        let ranks = [2, 10, 100, 1000][random.random_range(0..4)];
        let distribution = RankDistribution::ALL[random.random_range(0..RankDistribution::ALL.len())];
        let sampler = RankSampler::new(distribution, ranks).expect("few ranks");
        let period = random.random_range(2..500);
        match random.random_range(0..10) {
            0..5 => RankPattern::Drawn(distribution, sampler),
            5 => RankPattern::Bursts(sampler),
            6 => RankPattern::Rising(period),
            7 => RankPattern::Falling(period),
            8 => RankPattern::Anything,
            _ => RankPattern::Equal,
        }
    }

    /// Name in reports.
    pub fn name(&self) -> String {
        match self {
            RankPattern::Drawn(distribution, _) => distribution.name().to_owned(),
            RankPattern::Bursts(_) => "bursts".to_owned(),
            RankPattern::Rising(period) => format!("rising over {period}"),
            RankPattern::Falling(period) => format!("falling over {period}"),
            RankPattern::Anything => "anything".to_owned(),
            RankPattern::Equal => "equal".to_owned(),
        }
    }
}

/// Pattern of the lengths of a port's packets.
#[derive(Clone, Copy, Debug)]
enum SizePattern {
    Fixed(u32),
    Uniform,
    ShortAndLong,
}

impl SizePattern {
    fn draw(random: &mut ChaCha8Rng) -> SizePattern {
        match random.random_range(0..4) {
            0 => SizePattern::Fixed(random.random_range(MIN_FRAME..=MAX_FRAME)),
            1 => SizePattern::ShortAndLong,
            _ => SizePattern::Uniform,
        }
    }

    fn len(self, random: &mut ChaCha8Rng) -> u32 {
        match self {
            SizePattern::Fixed(len) => len,
            SizePattern::Uniform => random.random_range(MIN_FRAME..=MAX_FRAME),
            SizePattern::ShortAndLong => [64, MAX_FRAME][usize::from(random.random::<bool>())],
        }
    }
}

/// The packets of one port.
#[derive(Clone, Debug)]
pub struct PortTraffic {
    number: u8,
    ranks: RankPattern,
    sizes: SizePattern,
    source_ports: [u16; FLOWS],
    /// First flow without a rank header; all later flows have none either.
    first_unranked: usize,
    count: u32,
    burst_left: u32,
    last_rank: u32,
}

impl PortTraffic {
    /// Traffic to the port with this number in the trial.
    pub fn new(number: u8, random: &mut ChaCha8Rng) -> PortTraffic {
        PortTraffic {
            number,
            ranks: RankPattern::draw(random),
            sizes: SizePattern::draw(random),
            source_ports: std::array::from_fn(|_| random.random_range(1024..=u16::MAX)),
            first_unranked: if random.random_range(0..4) == 0 {
                FLOWS - 2
            } else {
                FLOWS
            },
            count: 0,
            burst_left: 0,
            last_rank: 0,
        }
    }

    /// Changes the patterns of ranks and sizes; the flows stay.
    pub fn change(&mut self, random: &mut ChaCha8Rng) {
        self.ranks = RankPattern::draw(random);
        self.sizes = SizePattern::draw(random);
    }

    /// Number of the port in the trial.
    pub fn number(&self) -> usize {
        usize::from(self.number)
    }

    /// Current pattern of the ranks.
    pub fn rank_pattern(&self) -> &RankPattern {
        &self.ranks
    }

    /// A packet of this flow, without number, length and rank.
    pub fn flow(&self, flow: usize) -> Datagram {
        let user = flow % USERS;
        Datagram {
            id: 0,
            source: [10, self.number, user as u8, flow as u8 + 1],
            destination: [10, 200, self.number, 1],
            source_port: self.source_ports[flow],
            destination_port: if flow < self.first_unranked {
                RANKED_PORT
            } else {
                UNRANKED_PORT
            },
            tos: 0,
            rank: 0,
            len: 0,
        }
    }

    /// The next packet, and its flow.
    pub fn next(&mut self, id: u64, random: &mut ChaCha8Rng) -> (usize, Datagram) {
        // Flow 0 sends more than the others.
        let flow = if random.random_range(0..4) == 0 {
            0
        } else {
            random.random_range(0..FLOWS)
        };
        let rank = self.rank(random);
        let datagram = Datagram {
            id,
            tos: rank as u8,
            rank,
            len: self.sizes.len(random),
            ..self.flow(flow)
        };
        (flow, datagram)
    }

    fn rank(&mut self, random: &mut ChaCha8Rng) -> u32 {
        self.count = self.count.wrapping_add(1);
        self.last_rank = match &self.ranks {
            RankPattern::Drawn(_, sampler) => sampler.draw(random),
            RankPattern::Bursts(sampler) => {
                if self.burst_left == 0 {
                    self.burst_left = random.random_range(1..=40);
                    self.last_rank = sampler.draw(random);
                }
                self.burst_left -= 1;
                self.last_rank
            }
            RankPattern::Rising(period) => self.count % period,
            RankPattern::Falling(period) => period - self.count % period,
            RankPattern::Anything => match random.random_range(0..20) {
                0 => 0,
                1 => u32::MAX,
                _ => random.random(),
            },
            RankPattern::Equal => 7 + u32::from(random.random_range(0..100) == 0),
        };
        self.last_rank
    }
}

/// Random arrival times.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    /// Mean gap, in ns.
    mean_gap: f64,
    /// Packets that still arrive at the current time.
    at_once: u32,
    bursty: bool,
}

impl Arrivals {
    /// Draws arrivals that load links of this total rate between 0.3 and 3 times.
    pub fn draw(total_bps: u64, random: &mut ChaCha8Rng) -> Arrivals {
        let load = 0.3 * 10f64.powf(random.random::<f64>());
        Arrivals {
            mean_gap: 784.0 * 8e9 / (total_bps as f64 * load),
            at_once: 0,
            bursty: random.random(),
        }
    }

    /// Mean time from a packet to the next, in ns.
    pub fn mean_gap_ns(&self) -> f64 {
        self.mean_gap
    }

    /// Draws the time to the next packet, in ns.
    pub fn gap(&mut self, random: &mut ChaCha8Rng) -> Nanos {
        if self.at_once > 0 {
            self.at_once -= 1;
            return 0;
        }
        let exponential = -(1.0 - random.random::<f64>()).ln() * self.mean_gap;
        if self.bursty && random.random_range(0..10) == 0 {
            self.at_once = random.random_range(1..=20);
            return (exponential * f64::from(self.at_once)) as Nanos;
        }
        exponential as Nanos
    }
}
