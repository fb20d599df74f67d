//! Ideal schedulers without a program: disciplines of the traffic manager (`switch/traffic-manager`).

use p4sched_traffic_manager::{Element, LEVELS, Levels, PortConfig, Scheduling, scheduling};

use crate::scheduler::{Nanos, Packet, Scheduler, Verdict};

/// The configuration of a port with a shared buffer of `packets` packets.
pub(crate) fn with_room(packets: usize) -> PortConfig {
    PortConfig {
        buffer_packets: u32::try_from(packets).unwrap_or(u32::MAX),
        ..PortConfig::default()
    }
}

/// What a discipline is fair among.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FairAmong {
    #[default]
    Flows,
    /// The users of the packets.
    Users,
}

/// A packet, and the user that the discipline knows. In a tree, a user whose number is not that of a leaf uses the first
/// leaf. The rank is the same at every level.
#[derive(Debug)]
struct Charged {
    packet: Packet,
    user: u32,
    levels: Option<Box<Levels>>,
}

impl Element for Charged {
    fn priority(&self) -> u8 {
        self.packet.priority()
    }

    fn bytes(&self) -> u32 {
        self.packet.bytes()
    }

    fn user(&self) -> u64 {
        u64::from(self.user)
    }

    fn rank(&self) -> u64 {
        self.packet.rank()
    }

    fn levels(&self) -> Option<&Levels> {
        self.levels.as_deref()
    }
}

/// A discipline with one buffer, as a scheduler.
#[derive(Debug)]
pub struct Ideal {
    discipline: Box<dyn Scheduling<Charged> + Send>,
    fair_among: FairAmong,
    /// The node numbers of a tree's leaves.
    leaves: Vec<u32>,
}

impl Ideal {
    /// An empty scheduler.
    ///
    /// # Panics
    /// If [`PortConfig::check`] refuses the configuration.
    pub fn new(config: &PortConfig, fair_among: FairAmong) -> Ideal {
        Ideal {
            discipline: scheduling(config),
            fair_among,
            leaves: config.tree.leaves().collect(),
        }
    }
}

impl Scheduler for Ideal {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        let levels = self.leaves.first().map(|first| {
            let own = self.leaves.iter().find(|&&leaf| leaf == packet.user);
            Box::new(Levels {
                leaf: u64::from(*own.unwrap_or(first)),
                ranks: [u64::from(packet.rank); LEVELS - 1],
            })
        });
        let user = match self.fair_among {
            FairAmong::Flows => packet.flow,
            FairAmong::Users => packet.user,
        };
        let verdict = self.discipline.offer(now, Charged { packet, user, levels });
        Verdict::of(verdict, |charged| charged.packet)
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        self.discipline.take(now).map(|charged| charged.packet)
    }

    fn len(&self) -> usize {
        self.discipline.length(0)
    }
}
