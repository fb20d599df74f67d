//! One port of the reference: the model of a scheduler, and a link that takes its packets.

use std::collections::{HashMap, VecDeque};

use p4sched_schedulers::worker::Worker;
use p4sched_schedulers::{Config, ConfigError, Model, Nanos, P4, Packet, Verdict};
use p4sched_world::link::Link;

use crate::ranked::{Ranked, StartTime};

/// Decision on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It waits in the queue of this BMv2 priority.
    Queued {
        /// The most urgent priority is 7.
        priority: usize,
    },
    /// It waits, and it pushed out another packet.
    PushedOut,
    /// The admission rule refused it.
    Refused,
    Full,
}

/// A packet that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departed {
    pub id: u64,
    /// Time at which the last bit reaches the far end of the link.
    pub arrival: Nanos,
}

/// One port of the reference.
#[derive(Clone, Debug)]
pub struct ModelPort {
    p4: P4,
    ranked: Ranked,
    link: Link,
    /// Last time at which the queues became non-empty.
    backlogged_since: Nanos,
    /// BMv2 priority of each waiting packet.
    priorities: HashMap<u64, usize>,
    lengths: [u64; 8],
    departed: VecDeque<Departed>,
}

impl ModelPort {
    /// A port with empty queues. With `start_time`, ranks are virtual start times, and the ranks of the packets are
    /// ignored.
    ///
    /// # Errors
    /// If the model refuses the configuration.
    pub fn new(config: &Config, rate_bps: u64, start_time: bool) -> Result<ModelPort, ConfigError> {
        Ok(ModelPort {
            p4: config.scheme().p4(),
            ranked: Ranked::new(config, start_time.then(StartTime::default))?,
            link: Link::new(rate_bps),
            backlogged_since: 0,
            priorities: HashMap::new(),
            lengths: [0; 8],
            departed: VecDeque::new(),
        })
    }

    pub fn model(&self) -> &Model {
        self.ranked.model()
    }

    /// Waiting packets by BMv2 priority.
    pub fn lengths(&self) -> [u64; 8] {
        self.lengths
    }

    /// Virtual time in bytes; 0 if ranks are not start times.
    pub fn virtual_time(&self) -> u64 {
        match &self.ranked {
            Ranked::ByPacket(_) => 0,
            Ranked::StartTime(stfq) => stfq.virtual_time(),
        }
    }

    /// The virtual start time that a packet of this flow would get now, if ranks are start times.
    pub fn start_time(&self, flow: u32) -> Option<u64> {
        match &self.ranked {
            Ranked::ByPacket(_) => None,
            Ranked::StartTime(stfq) => Some(stfq.start(flow)),
        }
    }

    /// Changes the configuration while packets wait.
    ///
    /// # Errors
    /// If the model refuses it.
    pub fn reconfigure(&mut self, config: &Config) -> Result<(), ConfigError> {
        self.ranked.model_mut().reconfigure(config)
    }

    /// Starts a worker packet. It reports the length of the queue, which is empty, to ingress.
    pub fn start_worker(&mut self, worker: Worker) {
        self.ranked.model_mut().start_worker(worker);
    }

    /// Changes the rate of the link. The packet on the wire ends at its old rate.
    pub fn set_rate(&mut self, rate_bps: u64) {
        self.link.set_rate(rate_bps);
    }

    /// Makes every departure that starts at or before `now`.
    pub fn advance(&mut self, now: Nanos) {
        loop {
            let start = self.link.free().max(self.backlogged_since);
            if start > now {
                return;
            }
            let Some(packet) = self.ranked.dequeue(start) else {
                return;
            };
            self.transmit(start, packet);
        }
    }

    fn transmit(&mut self, start: Nanos, packet: Packet) {
        let arrival = self.link.send(start, packet.len);
        self.leave(packet.id);
        self.departed.push_back(Departed { id: packet.id, arrival });
    }

    fn leave(&mut self, id: u64) {
        if let Some(priority) = self.priorities.remove(&id) {
            self.lengths[priority] -= 1;
        }
    }

    /// Enqueues an arriving packet, after every departure that starts at or before `now`. `scale`: 256 / weight of its
    /// user.
    pub fn enqueue(&mut self, now: Nanos, packet: Packet, scale: u32) -> Decision {
        let empty = self.priorities.is_empty();
        let verdict = self.ranked.enqueue(now, packet, scale);
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

    /// Returns the next packet that left. Each packet is returned once.
    pub fn next_departed(&mut self) -> Option<Departed> {
        self.departed.pop_front()
    }
}
