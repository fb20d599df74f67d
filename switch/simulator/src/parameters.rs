//! What a scheduler is told: drawn at random, as its model takes it, and as the action data of its P4 program.

use p4sched_schedulers::Headroom;
use p4sched_schedulers::aifo::AifoConfig;
use p4sched_schedulers::fdpa::{Estimator, FdpaConfig};
use p4sched_schedulers::packs::PacksConfig;
use p4sched_schedulers::rifo::{Products, RifoConfig};
use p4sched_schedulers::window::WindowConfig;
use rand::Rng;

/// Longest window that the P4 programs are compiled for, in ranks.
pub const MAX_P4_WINDOW: usize = 32;
/// A band edge or rate that is not used.
const UNUSED: u32 = u32::MAX;

/// A P4 program and the model that it must equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `fifo.p4`.
    Fifo,
    /// `fifo.p4` on a port that sorts by its `meta.rank`.
    Pifo,
    /// `fdpa.p4`.
    Fdpa,
    /// `aifo.p4`.
    Aifo,
    /// `rifo.p4`.
    Rifo,
    /// `packs.p4`.
    Packs,
    /// `sp_pifo.p4`.
    SpPifo,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Scheme; 7] = [
        Scheme::Fifo,
        Scheme::Pifo,
        Scheme::Fdpa,
        Scheme::Aifo,
        Scheme::Rifo,
        Scheme::Packs,
        Scheme::SpPifo,
    ];

    /// The P4 program, without `.p4`.
    pub fn program(self) -> &'static str {
        match self {
            Scheme::Fifo | Scheme::Pifo => "fifo",
            Scheme::Fdpa => "fdpa",
            Scheme::Aifo => "aifo",
            Scheme::Rifo => "rifo",
            Scheme::Packs => "packs",
            Scheme::SpPifo => "sp_pifo",
        }
    }

    /// The program's ingress control, which is in front of the names of its tables and counters.
    pub fn ingress(self) -> &'static str {
        match self {
            Scheme::Fifo | Scheme::Pifo => "FifoIngress",
            Scheme::Fdpa => "FdpaIngress",
            Scheme::Aifo => "AifoIngress",
            Scheme::Rifo => "RifoIngress",
            Scheme::Packs => "PacksIngress",
            Scheme::SpPifo => "SpPifoIngress",
        }
    }

    /// Whether the program knows ranks and counts refused packets apart from those that found no room.
    pub fn is_ranked(self) -> bool {
        matches!(self, Scheme::Aifo | Scheme::Rifo | Scheme::Packs | Scheme::SpPifo)
    }

    /// The priority of the model's queue number `queue`.
    pub fn priority(self, queue: usize) -> usize {
        match self {
            Scheme::Packs | Scheme::SpPifo | Scheme::Fdpa => 7 - queue,
            Scheme::Fifo | Scheme::Pifo | Scheme::Aifo | Scheme::Rifo => 0,
        }
    }
}

/// Parameters of one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameters {
    /// C, in packets, and whether the program or the queue itself keeps to it.
    Fifo {
        /// C.
        capacity: usize,
        /// True if ingress drops, false if the traffic manager does.
        at_ingress: bool,
    },
    /// C, in packets, kept to by the traffic manager.
    Pifo {
        /// C.
        capacity: usize,
    },
    /// Bands, and whether the program or the queues themselves keep to their sizes.
    Fdpa {
        /// As the model takes it.
        config: FdpaConfig,
        /// True if ingress drops, false if the traffic manager does.
        at_ingress: bool,
    },
    /// AIFO.
    Aifo(AifoConfig),
    /// RIFO.
    Rifo(RifoConfig),
    /// PACKS.
    Packs(PacksConfig),
    /// Queue sizes of SP-PIFO, in packets, the most urgent first.
    SpPifo(Vec<usize>),
}

/// How many queues of a scheme stay when its parameters change.
fn queue_count(random: &mut impl Rng, before: Option<usize>) -> usize {
    before.unwrap_or_else(|| random.random_range(1..=8))
}

fn sizes(random: &mut impl Rng, count: usize) -> Vec<usize> {
    (0..count).map(|_| random.random_range(1..=16)).collect()
}

fn headroom(random: &mut impl Rng) -> Headroom {
    let numerator = [0, 26, random.random_range(0..256)][random.random_range(0..3)];
    Headroom::new(numerator, 8).expect("less than 256/256")
}

fn window(random: &mut impl Rng) -> WindowConfig {
    let sample_every = if random.random() {
        1
    } else {
        random.random_range(1..=20)
    };
    WindowConfig {
        size: random.random_range(1..=MAX_P4_WINDOW),
        sample_every,
    }
}

/// Band edges around the rate of a user, and queue sizes.
fn fdpa(random: &mut impl Rng, bands: usize) -> FdpaConfig {
    let mut edges: Vec<u32> = (1..bands).map(|_| 1 << random.random_range(8..24)).collect();
    for edge in &mut edges {
        *edge += random.random_range(0..*edge);
    }
    edges.sort_unstable();
    edges.dedup();
    while edges.len() + 1 < bands {
        edges.push(edges.last().map_or(1000, |edge| edge + 1000));
    }
    let estimator = if random.random() {
        let interval_us = 1 << random.random_range(4..16);
        Estimator::Average { interval_us, edges }
    } else {
        let bits = random.random_range(8..=28);
        let burst = random.random_range(1 << 7..1 << bits);
        Estimator::TokenBuckets { rates: edges, burst }
    };
    let flowlet_gap_us = if random.random() {
        0
    } else {
        1 << random.random_range(2..14)
    };
    FdpaConfig {
        estimator,
        flowlet_gap_us,
        queue_sizes: sizes(random, bands),
    }
}

impl Parameters {
    /// Random parameters. Those in force before, if any, decide what the models cannot change: but for SP-PIFO, the number
    /// of queues.
    pub fn draw(scheme: Scheme, random: &mut impl Rng, before: Option<&Parameters>) -> Parameters {
        let queues = before.and_then(Parameters::queues);
        match scheme {
            Scheme::Fifo => Parameters::Fifo {
                capacity: random.random_range(1..=40),
                at_ingress: random.random(),
            },
            // The model's capacity is fixed.
            Scheme::Pifo => before.cloned().unwrap_or_else(|| Parameters::Pifo {
                capacity: random.random_range(1..=40),
            }),
            Scheme::Fdpa => {
                let bands = queue_count(random, queues);
                Parameters::Fdpa {
                    config: fdpa(random, bands),
                    at_ingress: random.random(),
                }
            }
            Scheme::Aifo => Parameters::Aifo(AifoConfig {
                target: random.random_range(1..=40),
                capacity: random.random_range(1..=60),
                headroom: headroom(random),
                window: window(random),
            }),
            Scheme::Rifo => Parameters::Rifo(RifoConfig {
                capacity: random.random_range(1..=40),
                tracking_range: random.random_range(1..=100),
                headroom: headroom(random),
                products: Products::Exact,
            }),
            Scheme::Packs => {
                let count = queue_count(random, queues);
                Parameters::Packs(PacksConfig {
                    headroom: headroom(random),
                    window: window(random),
                    ..PacksConfig::new(&sizes(random, count), 1)
                })
            }
            Scheme::SpPifo => {
                let count = queue_count(random, None);
                Parameters::SpPifo(sizes(random, count))
            }
        }
    }

    fn queues(&self) -> Option<usize> {
        match self {
            Parameters::Fdpa { config, .. } => Some(config.queue_sizes.len()),
            Parameters::Packs(config) => Some(config.queue_sizes.len()),
            _ => None,
        }
    }

    /// Room of the traffic manager's queue of this priority, in packets; `None` if ingress sees to it.
    pub fn room(&self, priority: usize) -> Option<usize> {
        match self {
            Parameters::Fifo {
                capacity,
                at_ingress: false,
            }
            | Parameters::Pifo { capacity } => Some(*capacity),
            Parameters::Fdpa {
                config,
                at_ingress: false,
            } => config.queue_sizes.get(7 - priority).copied(),
            _ => None,
        }
    }

    /// Table and action of the P4 program, both below its ingress control, and the action's parameters.
    pub fn action(&self) -> (&'static str, &'static str, Vec<u64>) {
        match self {
            Parameters::Fifo { capacity, at_ingress } => (
                "fifo_params",
                "set_depth",
                vec![if *at_ingress { *capacity as u64 } else { 0 }],
            ),
            Parameters::Pifo { .. } => ("fifo_params", "set_depth", vec![0]),
            Parameters::Fdpa { config, at_ingress } => ("fdpa_params", "set_bands", fdpa_data(config, *at_ingress)),
            Parameters::Aifo(config) => {
                let (target, capacity) = (config.target as u64, config.capacity as u64);
                let mut data = vec![target, capacity, config.headroom.numerator()];
                data.extend(window_data(config.window));
                ("aifo_params", "set_aifo", data)
            }
            Parameters::Rifo(config) => {
                let data = vec![
                    config.capacity as u64,
                    config.headroom.numerator(),
                    config.tracking_range as u64,
                ];
                ("rifo_params", "set_rifo", data)
            }
            Parameters::Packs(config) => {
                let mut data = padded(&config.queue_sizes);
                data.push(config.headroom.numerator());
                data.extend(window_data(config.window));
                ("packs_params", "set_packs", data)
            }
            Parameters::SpPifo(sizes) => ("sp_pifo_params", "set_sp_pifo", padded(sizes)),
        }
    }
}

fn window_data(window: WindowConfig) -> [u64; 2] {
    [window.size as u64, window.sample_every as u64]
}

/// Sizes of eight queues, 0 for those that do not exist.
fn padded(sizes: &[usize]) -> Vec<u64> {
    (0..8)
        .map(|queue| sizes.get(queue).map_or(0, |&size| size as u64))
        .collect()
}

fn fdpa_data(config: &FdpaConfig, at_ingress: bool) -> Vec<u64> {
    let seven = |values: &[u32]| -> Vec<u64> {
        let value = |band: usize| values.get(band).copied().unwrap_or(UNUSED);
        (0..7).map(|band| u64::from(value(band))).collect()
    };
    let (interval, edges, buckets, rates, burst) = match &config.estimator {
        Estimator::Average { interval_us, edges } => (*interval_us, seven(edges), 0, vec![0; 7], 0),
        Estimator::TokenBuckets { rates, burst } => (1, vec![0; 7], 1, seven(rates), *burst),
    };
    let mut data = vec![u64::from(interval)];
    data.extend(edges);
    data.push(buckets);
    data.extend(rates);
    data.extend([u64::from(burst), u64::from(config.flowlet_gap_us)]);
    data.extend(if at_ingress {
        padded(&config.queue_sizes)
    } else {
        vec![0; 8]
    });
    data
}
