//! One port of the reference: a scheduler's model, and a link that takes its packets.

use std::collections::{HashMap, VecDeque};

use p4sched_schedulers::stfq::Stfq;
use p4sched_schedulers::{Config, ConfigError, Model, Nanos, P4, Packet, Scheduler, Verdict};

/// log2 of 256 bytes, the unit of start times in the ranks of the programs.
const START_TIME_SHIFT: u32 = 8;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

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
    p4: P4,
    ranked: Ranked,
    rate_bps: u64,
    /// When the link becomes free, in ns. `rest` / `rate_bps` is the fraction of a nanosecond that is missing.
    link_free: Nanos,
    rest: u64,
    /// When the queues last became non-empty.
    backlogged_since: Nanos,
    /// BMv2 priority of each packet that waits.
    priorities: HashMap<u64, usize>,
    lengths: [u64; 8],
    departed: VecDeque<Departed>,
}

impl ModelPort {
    /// A port with empty queues. `start_time`: ranks are virtual start times, whatever the packets say.
    ///
    /// # Errors
    /// If the model refuses the configuration.
    pub fn new(config: &Config, rate_bps: u64, start_time: bool) -> Result<ModelPort, ConfigError> {
        let model = config.model()?;
        Ok(ModelPort {
            p4: config.scheme().p4(),
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
            lengths: [0; 8],
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
    pub fn lengths(&self) -> [u64; 8] {
        self.lengths
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

    /// Changes the configuration while packets wait.
    ///
    /// # Errors
    /// If the model refuses it.
    pub fn reconfigure(&mut self, config: &Config) -> Result<(), ConfigError> {
        match &mut self.ranked {
            Ranked::Given(model) => model.reconfigure(config),
            Ranked::StartTime(stfq) => stfq.scheduler_mut().reconfigure(config),
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
            self.lengths[priority] -= 1;
        }
    }

    /// A packet arrives, after every departure that starts by `now`. `scale`: 256 / weight of its user.
    pub fn enqueue(&mut self, now: Nanos, packet: Packet, scale: u32) -> Decision {
        let empty = self.priorities.is_empty();
        let verdict = match &mut self.ranked {
            Ranked::Given(model) => {
                model.set_user_scale(packet.user, scale);
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
        let priority = self.p4.priority(queue);
        self.priorities.insert(id, priority);
        self.lengths[priority] += 1;
        priority
    }

    /// The next packet that left. Each is returned once.
    pub fn next_departed(&mut self) -> Option<Departed> {
        self.departed.pop_front()
    }
}
