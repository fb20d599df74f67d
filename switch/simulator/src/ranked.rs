//! A model with ranks from its packets, or with those of start-time fair queueing.

use p4sched_schedulers::stfq::Stfq;
use p4sched_schedulers::{Config, ConfigError, Model, Nanos, Packet, Rank, Scheduler, Verdict};

/// log2 of 256 bytes: the programs count start times in this unit.
pub const START_TIME_SHIFT: u32 = 8;

#[derive(Clone, Debug)]
pub enum Ranked {
    /// Ranks come from the packets.
    ByPacket(Model),
    /// Ranks are virtual start times, and the ranks of the packets are ignored.
    StartTime(Box<Stfq<Model>>),
}

impl Ranked {
    /// A model with empty queues. `start_time`: log2 of the bytes in a unit of rank, if ranks are virtual start times.
    ///
    /// # Errors
    /// If the model refuses the configuration, or the unit exceeds 2^31 bytes.
    pub fn new(config: &Config, start_time: Option<u32>) -> Result<Ranked, ConfigError> {
        let model = config.model()?;
        Ok(match start_time {
            Some(shift) => Ranked::StartTime(Box::new(Stfq::new(model, shift)?)),
            None => Ranked::ByPacket(model),
        })
    }

    pub fn model(&self) -> &Model {
        match self {
            Ranked::ByPacket(model) => model,
            Ranked::StartTime(stfq) => stfq.scheduler(),
        }
    }

    /// The scheduler, to change its parameters.
    pub fn model_mut(&mut self) -> &mut Model {
        match self {
            Ranked::ByPacket(model) => model,
            Ranked::StartTime(stfq) => stfq.scheduler_mut(),
        }
    }

    /// Enqueues an arriving packet. `scale`: 256 / weight of its user, or of its flow if ranks are start times.
    pub fn enqueue(&mut self, now: Nanos, packet: Packet, scale: u32) -> Verdict {
        match self {
            Ranked::ByPacket(model) => {
                model.set_user_scale(packet.user, scale);
                model.enqueue(now, packet)
            }
            Ranked::StartTime(stfq) => {
                stfq.set_scale(packet.flow, scale);
                stfq.enqueue(now, packet)
            }
        }
    }

    /// The rank by which a packet that arrives now is scheduled.
    pub fn rank(&self, packet: &Packet) -> Rank {
        match self {
            Ranked::ByPacket(_) => packet.rank,
            Ranked::StartTime(stfq) => stfq.rank_of(packet.flow),
        }
    }

    /// The packet to send next.
    pub fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        match self {
            Ranked::ByPacket(model) => model.dequeue(now),
            Ranked::StartTime(stfq) => stfq.dequeue(now),
        }
    }
}
