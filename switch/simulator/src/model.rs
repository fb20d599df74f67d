//! One port of the reference: a scheduler's model, and a link that takes its packets.

use std::collections::{HashMap, VecDeque};

use p4sched_schedulers::aifo::Aifo;
use p4sched_schedulers::fdpa::Fdpa;
use p4sched_schedulers::fifo::Fifo;
use p4sched_schedulers::packs::Packs;
use p4sched_schedulers::pifo::Pifo;
use p4sched_schedulers::rifo::Rifo;
use p4sched_schedulers::sp_pifo::SpPifo;
use p4sched_schedulers::stfq::Stfq;
use p4sched_schedulers::{ConfigError, Nanos, Packet, Scheduler, Verdict};

use crate::parameters::{Parameters, Scheme};

/// The programs' ranks count start times in steps of 256 bytes.
const START_TIME_SHIFT: u32 = 8;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// The model of a scheduler.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is the model of its name")]
pub enum Model {
    Fifo(Fifo),
    Pifo(Pifo),
    Fdpa(Box<Fdpa>),
    Aifo(Aifo),
    Rifo(Rifo),
    Packs(Packs),
    SpPifo(SpPifo),
}

impl Model {
    /// The model with these parameters.
    ///
    /// # Errors
    /// If the model does not take them.
    pub fn new(parameters: &Parameters) -> Result<Model, ConfigError> {
        Ok(match parameters {
            Parameters::Fifo { capacity, .. } => Model::Fifo(Fifo::new(*capacity)?),
            Parameters::Pifo { capacity } => Model::Pifo(Pifo::new(*capacity)?),
            Parameters::Fdpa { config, .. } => Model::Fdpa(Box::new(Fdpa::new(config.clone())?)),
            Parameters::Aifo(config) => Model::Aifo(Aifo::new(*config)?),
            Parameters::Rifo(config) => Model::Rifo(Rifo::new(*config)?),
            Parameters::Packs(config) => Model::Packs(Packs::new(config.clone())?),
            Parameters::SpPifo(sizes) => Model::SpPifo(SpPifo::new(sizes)?),
        })
    }

    /// Changes the parameters while packets wait. Parameters of another scheduler change nothing.
    ///
    /// # Errors
    /// If the model does not take them.
    pub fn reconfigure(&mut self, parameters: &Parameters) -> Result<(), ConfigError> {
        match (self, parameters) {
            (Model::Fifo(fifo), Parameters::Fifo { capacity, .. }) => fifo.resize(*capacity),
            (Model::Fdpa(fdpa), Parameters::Fdpa { config, .. }) => fdpa.reconfigure(config.clone()),
            (Model::Aifo(aifo), Parameters::Aifo(config)) => aifo.reconfigure(*config),
            (Model::Rifo(rifo), Parameters::Rifo(config)) => rifo.reconfigure(*config),
            (Model::Packs(packs), Parameters::Packs(config)) => packs.reconfigure(config.clone()),
            (Model::SpPifo(sp_pifo), Parameters::SpPifo(sizes)) => sp_pifo.reconfigure(sizes),
            _ => Ok(()),
        }
    }

    fn scheduler_mut(&mut self) -> &mut dyn Scheduler {
        match self {
            Model::Fifo(model) => model,
            Model::Pifo(model) => model,
            Model::Fdpa(model) => &mut **model,
            Model::Aifo(model) => model,
            Model::Rifo(model) => model,
            Model::Packs(model) => model,
            Model::SpPifo(model) => model,
        }
    }
}

impl Scheduler for Model {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        self.scheduler_mut().enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        self.scheduler_mut().dequeue(now)
    }

    fn len(&self) -> usize {
        match self {
            Model::Fifo(model) => model.len(),
            Model::Pifo(model) => model.len(),
            Model::Fdpa(model) => model.len(),
            Model::Aifo(model) => model.len(),
            Model::Rifo(model) => model.len(),
            Model::Packs(model) => model.len(),
            Model::SpPifo(model) => model.len(),
        }
    }
}

/// A model, with the ranks that packets bring or with those of start-time fair queueing.
#[derive(Clone, Debug)]
enum Ranked {
    Given(Model),
    StartTime(Stfq<Model>),
}

/// What became of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It waits, with this BMv2 priority.
    Queued {
        /// 7 is the most urgent.
        priority: usize,
    },
    /// It waits, and another packet was pushed out.
    PushedOut,
    /// The admission rule refused it.
    Refused,
    /// Its queue was full.
    Full,
}

/// A packet that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departed {
    /// Its number.
    pub id: u64,
    /// When the far end of the link has all of it.
    pub arrival: Nanos,
}

/// One port of the reference.
#[derive(Clone, Debug)]
pub struct ModelPort {
    scheme: Scheme,
    ranked: Ranked,
    rate_bps: u64,
    /// The link is free from here on, and a fraction of a nanosecond later: `rest` / `rate_bps`.
    link_free: Nanos,
    rest: u64,
    /// When the queues last became non-empty.
    backlogged_since: Nanos,
    /// BMv2 priority of each packet that waits.
    priorities: HashMap<u64, usize>,
    depths: [u64; 8],
    departed: VecDeque<Departed>,
}

impl ModelPort {
    /// A port with empty queues. `start_time`: ranks are virtual start times, whatever the packets say.
    ///
    /// # Errors
    /// If the model does not take the parameters.
    pub fn new(
        scheme: Scheme,
        parameters: &Parameters,
        rate_bps: u64,
        start_time: bool,
    ) -> Result<ModelPort, ConfigError> {
        let model = Model::new(parameters)?;
        Ok(ModelPort {
            scheme,
            ranked: if start_time {
                Ranked::StartTime(Stfq::new(model, START_TIME_SHIFT)?)
            } else {
                Ranked::Given(model)
            },
            rate_bps,
            link_free: 0,
            rest: 0,
            backlogged_since: 0,
            priorities: HashMap::new(),
            depths: [0; 8],
            departed: VecDeque::new(),
        })
    }

    /// The scheduler.
    pub fn model(&self) -> &Model {
        match &self.ranked {
            Ranked::Given(model) => model,
            Ranked::StartTime(stfq) => stfq.scheduler(),
        }
    }

    /// Packets that wait, by BMv2 priority.
    pub fn depths(&self) -> [u64; 8] {
        self.depths
    }

    /// Virtual time in bytes, 0 where ranks are no start times.
    pub fn virtual_time(&self) -> u64 {
        match &self.ranked {
            Ranked::Given(_) => 0,
            Ranked::StartTime(stfq) => stfq.virtual_time(),
        }
    }

    /// The virtual start time that a packet of this flow would get now, if ranks are start times.
    pub fn start_time(&self, flow: u32) -> Option<u64> {
        match &self.ranked {
            Ranked::Given(_) => None,
            Ranked::StartTime(stfq) => Some(stfq.start(flow)),
        }
    }

    /// Changes the parameters while packets wait.
    ///
    /// # Errors
    /// If the model does not take them.
    pub fn reconfigure(&mut self, parameters: &Parameters) -> Result<(), ConfigError> {
        match &mut self.ranked {
            Ranked::Given(model) => model.reconfigure(parameters),
            Ranked::StartTime(stfq) => stfq.scheduler_mut().reconfigure(parameters),
        }
    }

    /// Changes the rate of the link; the packet being sent ends at the rate it began with.
    pub fn set_rate(&mut self, rate_bps: u64) {
        if rate_bps != self.rate_bps {
            self.rate_bps = rate_bps;
            self.rest = 0;
        }
    }

    /// Every departure that starts by `now`.
    pub fn advance(&mut self, now: Nanos) {
        loop {
            let start = self.link_free.max(self.backlogged_since);
            if start > now {
                return;
            }
            let left = match &mut self.ranked {
                Ranked::Given(model) => model.dequeue(start),
                Ranked::StartTime(stfq) => stfq.dequeue(start),
            };
            let Some(packet) = left else { return };
            self.transmit(start, packet);
        }
    }

    fn transmit(&mut self, start: Nanos, packet: Packet) {
        if start > self.link_free {
            self.link_free = start;
            self.rest = 0;
        }
        let work = u64::from(packet.len) * 8 * NANOS_PER_SECOND + self.rest;
        self.link_free += work / self.rate_bps;
        self.rest = work % self.rate_bps;
        self.leave(packet.id);
        self.departed.push_back(Departed {
            id: packet.id,
            arrival: self.link_free,
        });
    }

    fn leave(&mut self, id: u64) {
        if let Some(priority) = self.priorities.remove(&id) {
            self.depths[priority] -= 1;
        }
    }

    /// A packet arrives, after every departure that starts by `now`. `scale`: 256 / weight of its user.
    pub fn enqueue(&mut self, now: Nanos, packet: Packet, scale: u32) -> Decision {
        let empty = self.priorities.is_empty();
        let verdict = match &mut self.ranked {
            Ranked::Given(model) => {
                if let Model::Fdpa(fdpa) = model {
                    fdpa.set_scale(packet.user, scale);
                }
                model.enqueue(now, packet)
            }
            Ranked::StartTime(stfq) => {
                stfq.set_scale(packet.flow, scale);
                stfq.enqueue(now, packet)
            }
        };
        if empty && verdict.is_queued() {
            self.backlogged_since = now;
        }
        match verdict {
            Verdict::DroppedByAdmission => Decision::Refused,
            Verdict::DroppedFull => Decision::Full,
            Verdict::Queued { queue } => {
                let priority = self.enter(packet.id, queue);
                Decision::Queued { priority }
            }
            Verdict::PushedOut { queue, victim } => {
                self.enter(packet.id, queue);
                self.leave(victim.id);
                Decision::PushedOut
            }
        }
    }

    fn enter(&mut self, id: u64, queue: usize) -> usize {
        let priority = self.scheme.priority(queue);
        self.priorities.insert(id, priority);
        self.depths[priority] += 1;
        priority
    }

    /// The next packet that left and that nobody asked about yet.
    pub fn next_departed(&mut self) -> Option<Departed> {
        self.departed.pop_front()
    }
}
