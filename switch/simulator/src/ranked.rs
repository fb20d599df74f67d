//! A model with ranks from its packets, or with those of start-time fair queueing.

use p4sched_schedulers::stfq::Stfq;
use p4sched_schedulers::{Config, ConfigError, Model, Nanos, Packet, Rank, Scheduler, Verdict};

/// How ports count virtual start times. The default is how the programs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartTime {
    /// Log2 of the bytes in a unit of rank.
    pub shift: u32,
    /// A flow pays for dropped packets, too.
    pub charge_drops: bool,
}

impl Default for StartTime {
    fn default() -> StartTime {
        StartTime {
            shift: 8,
            charge_drops: false,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Ranked {
    /// Ranks come from the packets.
    ByPacket(Model),
    /// Ranks are virtual start times, and the ranks of the packets are ignored.
    StartTime(Box<Stfq<Model>>),
}

impl Ranked {
    /// A model with empty queues. `start_time`: if ranks are virtual start times, how they are counted.
    ///
    /// # Errors
    /// If the model refuses the configuration, or the unit exceeds 2^31 bytes.
    pub fn new(config: &Config, start_time: Option<StartTime>) -> Result<Ranked, ConfigError> {
        let model = config.model()?;
        Ok(match start_time {
            Some(StartTime { shift, charge_drops }) => {
                let stfq = Stfq::new(model, shift)?;
                Ranked::StartTime(Box::new(if charge_drops { stfq.charging_drops() } else { stfq }))
            }
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
    #[inline(always)]
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
    #[inline(always)]
    pub fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        match self {
            Ranked::ByPacket(model) => model.dequeue(now),
            Ranked::StartTime(stfq) => stfq.dequeue(now),
        }
    }
}
