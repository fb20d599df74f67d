//! RIFO: range-in first-out ("RIFO: Pushing the Efficiency of Programmable Packet Schedulers", section III,
//! algorithm 1).
//!
//! One FIFO queue of size B; three cells: Min, Max and a count of arrivals; tracking range T; headroom k.
//!
//!   enqueue: if count = 0: Min = Max = r; else Min = min(Min, r), Max = max(Max, r)
//!            count = count + 1, back to 0 at T
//!            L = queue length
//!            admit iff  L <= k B  or  Max = Min  or  (Max - r) / (Max - Min) >= (B - L) / B
//!   tail drop at B
//!   dequeue: the oldest packet
//!
//! Without division: (Max - r) B >= (Max - Min) (B - L).
//!
//! Arrivals 1, T + 1, 2T + 1, ... reset the range. The paper initialises it at arrival 1 and resets it when its counter
//! reaches T (section IV), which are arrivals T, 2T, ...: only its first range differs, T - 1 arrivals and not T.
//!
//! The threshold is the *free* share of the queue. Equation 2 of the paper is introduced as the occupancy, but its
//! worked example, its figure 6 and its program use the free share. So a nearly full queue admits almost anything and
//! tail drop decides, while a queue just above k B is strict. With Max = Min the score is 0/0, and the packet goes in.

use crate::config::{ConfigError, Headroom, MAX_PACKETS, in_range};
use crate::fifo::Fifo;
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};

/// How the two products of the admission rule are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// Multiplications.
    #[default]
    Exact,
    /// Shifts by the next power of two of B and of B - L, as on Tofino, which cannot multiply. Section IV only says that
    /// both are rounded to a power of two: up is a reading. It also multiplies the score by the capacity "of the
    /// guaranteed admission buffer", where its inequality needs B.
    PowersOfTwo,
}

/// Parameters of [`Rifo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RifoConfig {
    /// B, in packets.
    pub capacity: usize,
    /// T: arrivals between two resets of Min and Max.
    pub tracking_range: usize,
    /// k.
    pub headroom: Headroom,
    /// Exact, or as Tofino approximates it.
    pub products: Products,
}

impl RifoConfig {
    /// The paper's defaults: B = 20, T = 50, k = 0.1.
    pub fn paper() -> RifoConfig {
        RifoConfig {
            capacity: 20,
            tracking_range: 50,
            headroom: Headroom::at_least(1, 10).expect("0.1 is a headroom"),
            products: Products::Exact,
        }
    }

    /// # Errors
    /// If B or T is 0 or too large.
    pub fn check(&self) -> Result<(), ConfigError> {
        in_range("queue size B", self.capacity, 1, MAX_PACKETS, "packets")?;
        in_range("tracking range T", self.tracking_range, 1, u32::MAX as usize, "packets")
    }
}

/// One FIFO queue behind a min-max admission.
#[derive(Clone, Debug)]
pub struct Rifo {
    queue: Fifo,
    config: RifoConfig,
    min: Rank,
    max: Rank,
    /// Arrivals since the last reset, that one included; 0 makes the next arrival a reset.
    count: usize,
}

impl Rifo {
    /// An empty queue; the first arrival sets the range.
    ///
    /// # Errors
    /// As [`RifoConfig::check`].
    pub fn new(config: RifoConfig) -> Result<Rifo, ConfigError> {
        config.check()?;
        Ok(Rifo {
            queue: Fifo::new(config.capacity)?,
            config,
            min: 0,
            max: 0,
            count: 0,
        })
    }

    /// Changes the parameters while running. Queue, range and count keep their content.
    ///
    /// # Errors
    /// As [`RifoConfig::check`]; nothing has changed then.
    pub fn reconfigure(&mut self, config: RifoConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.queue.resize(config.capacity)?;
        self.config = config;
        Ok(())
    }

    /// (Min, Max) of the tracking range.
    pub fn range(&self) -> (Rank, Rank) {
        (self.min, self.max)
    }

    fn track(&mut self, rank: Rank) {
        if self.count == 0 {
            self.min = rank;
            self.max = rank;
        } else {
            self.min = self.min.min(rank);
            self.max = self.max.max(rank);
        }
        self.count += 1;
        if self.count >= self.config.tracking_range {
            self.count = 0;
        }
    }

    /// Whether the admission rule lets this rank, which lies in the range, in now.
    fn admits(&self, rank: Rank) -> bool {
        let length = self.queue.len() as u64;
        let capacity = self.config.capacity as u64;
        let headroom = self.config.headroom;
        if length * headroom.unit() <= headroom.numerator() * capacity || self.max == self.min {
            return true;
        }
        let free = capacity.saturating_sub(length);
        if free == 0 {
            // Any score will do, and 0 cannot be rounded to a power of two: tail drop decides.
            return true;
        }
        let score = u64::from(self.max - rank);
        let range = u64::from(self.max - self.min);
        match self.config.products {
            Products::Exact => score * capacity >= range * free,
            Products::PowersOfTwo => score * capacity.next_power_of_two() >= range * free.next_power_of_two(),
        }
    }
}

impl Scheduler for Rifo {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        self.track(packet.rank);
        if !self.admits(packet.rank) {
            return Verdict::DroppedByAdmission;
        }
        self.queue.enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        self.queue.dequeue(now)
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
