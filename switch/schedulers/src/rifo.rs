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
//! Arrivals 1, T + 1, 2T + 1, ... reset the range. In the paper, arrival 1 sets it and the counter resets it when it
//! reaches T (section IV): at arrivals T, 2T, ... Only the first range differs: it has T - 1 arrivals there and T here.
//!
//! The threshold is the *free* share of the queue. The paper's text calls equation 2 the occupancy, but its worked
//! example, its figure 6 and its program use the free share. So a queue that is nearly full admits almost any rank, and
//! tail drop decides. A queue just above k B is strict. With Max = Min the score is 0/0, and the packet is admitted.
//!
//! The authors' simulations set Max alone at a reset, and refuse at Max = Min: [`Variant::MaxAlone`].
//!
//! On Tofino 1, ingress does not see the queue. L is the length after the last departure plus the arrivals since then,
//! counted up to B. Refused arrivals count too. The queue is never longer than L, so the program can drop at a full
//! queue.

use std::slice;

use rand::{Rng, RngCore};

use crate::config::{ConfigError, Headroom, MAX_PACKETS, Sizes, in_range};
use crate::fifo::Fifo;
use crate::known::Knowledge;
use crate::per_user::PerUser;
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};
use crate::scheme::{self, Discipline, P4, Reference, StatePart, TailDrop};
use crate::target::Target;
use crate::variants::{Variant, Variants};

/// Min of [`Variant::MaxAlone`] before a packet sets it.
const NO_MIN: Rank = Rank::MAX;

/// Computation of the two products of the admission rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// Multiplications.
    #[default]
    Exact,
    /// Shifts by the next power of two of B and of B - L, as in `tofino-port/rifo.p4`, because the chip cannot
    /// multiply. Section IV only says that both are rounded to a power of two; rounding up is our reading. It also
    /// multiplies the score by the capacity "of the guaranteed admission buffer", where its inequality needs B. L <= k
    /// B stays exact.
    PowersOfTwo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RifoConfig {
    /// B, in packets.
    pub capacity: usize,
    /// T: number of arrivals between two resets of Min and Max.
    pub tracking_range: usize,
    /// k.
    pub headroom: Headroom,
    /// The arithmetic of the two products.
    pub products: Products,
    /// The target, which determines how ingress knows L.
    pub on: Target,
}

impl RifoConfig {
    /// The paper's defaults: B = 20, T = 50, k = 0.1.
    pub fn paper() -> RifoConfig {
        RifoConfig {
            capacity: 20,
            tracking_range: 50,
            headroom: Headroom::at_least(1, 10).expect("0.1 is a headroom"),
            products: Products::Exact,
            on: Target::V1model,
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// If B or T is 0 or too large.
    pub fn check(&self) -> Result<(), ConfigError> {
        in_range("queue size B", self.capacity, 1, MAX_PACKETS, "packets")?;
        in_range("tracking range T", self.tracking_range, 1, u32::MAX as usize, "packets")
    }
}

/// The tracking range.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    min: Rank,
    max: Rank,
    /// Arrivals since the last reset, including the one that reset; 0: the next arrival resets.
    count: usize,
}

/// One FIFO queue behind an admission by the range of ranks.
#[derive(Clone, Debug)]
pub struct Rifo {
    queue: Fifo,
    config: RifoConfig,
    range: Range,
    /// L on Tofino 1.
    counted: usize,
    variants: Variants,
    /// The tracking ranges of the users, if each has its own.
    own: PerUser<Range>,
}

impl Rifo {
    /// An empty queue. The first arrival sets the range.
    ///
    /// # Errors
    /// See [`RifoConfig::check`].
    pub fn new(config: RifoConfig) -> Result<Rifo, ConfigError> {
        config.check()?;
        Ok(Rifo {
            queue: Fifo::new(config.capacity)?,
            config,
            range: Range::default(),
            counted: 0,
            variants: Variants::NONE,
            own: PerUser::SHARED,
        })
    }

    /// (Min, Max) of the tracking range.
    pub fn range(&self) -> (Rank, Rank) {
        (self.range.min, self.range.max)
    }

    #[inline]
    fn track(&mut self, rank: Rank) {
        let max_alone = self.variants.has(Variant::MaxAlone);
        let range = &mut self.range;
        if range.count == 0 {
            range.min = if max_alone { NO_MIN } else { rank };
            range.max = rank;
        } else if max_alone && rank > range.max {
            range.max = rank;
        } else {
            range.min = range.min.min(rank);
            range.max = range.max.max(rank);
        }
        range.count += 1;
        if range.count >= self.config.tracking_range {
            range.count = 0;
        }
    }

    /// L, as far as ingress knows it.
    #[inline]
    fn known_length(&self) -> usize {
        if let Some(length) = self.queue.known_length() {
            return length as usize;
        }
        match self.config.on {
            Target::Tna => self.counted,
            Target::V1model | Target::T2na => self.queue.len(),
        }
    }

    /// Whether the admission rule admits this rank. The rank must lie in the range.
    #[inline]
    fn admits(&self, rank: Rank) -> bool {
        let length = self.known_length() as u64;
        let capacity = self.config.capacity as u64;
        let headroom = self.config.headroom;
        if length * headroom.unit() <= headroom.numerator() * capacity {
            return true;
        }
        if self.variants.has(Variant::MaxAlone) {
            if self.range.min >= self.range.max {
                // The score is 0/0, or -0 as long as there is no Min.
                return false;
            }
        } else if self.range.max == self.range.min {
            return true;
        }
        let free = capacity.saturating_sub(length);
        if free == 0 {
            // The queue is full: 0 cannot be rounded to a power of two, any score passes, and tail drop decides.
            return true;
        }
        let score = u64::from(self.range.max - rank);
        let range = u64::from(self.range.max - self.range.min);
        match self.config.products {
            Products::Exact => score * capacity >= range * free,
            Products::PowersOfTwo => score * capacity.next_power_of_two() >= range * free.next_power_of_two(),
        }
    }

    /// Takes or drops a packet, with the range in use.
    #[inline]
    fn offer(&mut self, now: Nanos, packet: Packet) -> Verdict {
        self.queue.advance(now);
        self.track(packet.rank);
        let (length, admits) = (self.known_length(), self.admits(packet.rank));
        if self.counted < self.config.capacity {
            self.counted += 1;
        }
        if !admits {
            Verdict::DroppedByAdmission
        } else if length >= self.config.capacity {
            Verdict::DroppedFull
        } else {
            self.queue.append(now, packet)
        }
    }
}

impl Scheduler for Rifo {
    #[inline]
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        self.own.exchange(packet.user, &mut self.range);
        let verdict = self.offer(now, packet);
        self.own.exchange(packet.user, &mut self.range);
        verdict
    }

    #[inline]
    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        let packet = self.queue.dequeue(now)?;
        self.counted = self.queue.len();
        Some(packet)
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}

impl Reference for Rifo {
    type Config = RifoConfig;

    const P4: P4 = P4 {
        program: "rifo",
        table: "rifo_params",
        action: "set_rifo",
        parameters: &["capacity_packets", "headroom_256", "tracking_packets"],
        discipline: Discipline::Fifo,
        rank_field: None,
        tail_drop: TailDrop::Program,
        ranks: true,
        verdicts: true,
    };
    const TARGETS: &[Target] = &[Target::V1model, Target::Tna];
    const VARIANTS: &[Variant] = &[Variant::MaxAlone, Variant::OwnWindow];
    const READS_LENGTHS: bool = true;
    const SHARES_MEMORY: bool = true;

    fn model(config: &RifoConfig) -> Result<Rifo, ConfigError> {
        Rifo::new(*config)
    }

    fn reconfigure(&mut self, config: &RifoConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.queue.reconfigure(&config.capacity)?;
        self.config = *config;
        Ok(())
    }

    fn config(sizes: &Sizes) -> Result<RifoConfig, ConfigError> {
        Ok(RifoConfig {
            capacity: sizes.buffer(),
            tracking_range: sizes.window,
            headroom: sizes.headroom,
            products: Products::Exact,
            on: Target::V1model,
        })
    }

    fn draw(random: &mut dyn RngCore, _before: Option<&RifoConfig>) -> RifoConfig {
        RifoConfig {
            capacity: random.random_range(1..=40),
            tracking_range: random.random_range(1..=100),
            headroom: Headroom::draw(random),
            products: Products::Exact,
            on: Target::V1model,
        }
    }

    fn on(config: RifoConfig, target: Target) -> RifoConfig {
        let products = match target {
            Target::V1model => Products::Exact,
            Target::Tna | Target::T2na => Products::PowersOfTwo,
        };
        RifoConfig {
            products,
            on: target,
            ..config
        }
    }

    fn queue_sizes(config: &RifoConfig) -> &[usize] {
        slice::from_ref(&config.capacity)
    }

    fn arguments(config: &RifoConfig, _sizes: &[usize]) -> Vec<u64> {
        let (capacity, tracking_range) = (config.capacity as u64, config.tracking_range as u64);
        vec![capacity, config.headroom.numerator(), tracking_range]
    }

    fn from_arguments(arguments: &[u64]) -> Result<RifoConfig, ConfigError> {
        Ok(RifoConfig {
            capacity: scheme::whole(arguments[0]),
            tracking_range: scheme::whole(arguments[2]),
            headroom: Headroom::from_argument(arguments[1])?,
            products: Products::Exact,
            on: Target::V1model,
        })
    }

    fn know(&mut self, knowledge: Knowledge) {
        self.queue.know(knowledge);
    }

    fn set_threshold(&mut self, queue: usize, packets: usize) {
        self.queue.set_threshold(queue, packets);
    }

    /// B.
    fn set_size(&mut self, _queue: usize, packets: usize) {
        self.config.capacity = packets;
    }

    fn give_up(&mut self, queue: usize) -> Option<Packet> {
        self.queue.give_up(queue)
    }

    fn vary(&mut self, variants: Variants) {
        self.variants = variants;
        self.own = PerUser::of(variants, &self.range);
    }

    /// The program for Tofino holds the complement of Min. Before the first arrival its cells hold no range.
    fn compare(&self, register: &dyn Fn(&str) -> u64) -> Option<StatePart> {
        let (min, max) = (register("rank_range.min_rank"), register("rank_range.max_rank"));
        let min = match self.config.on {
            Target::V1model => min,
            Target::Tna | Target::T2na if (min, max) == (0, 0) => return None,
            Target::Tna | Target::T2na => u64::from(!(min as u32)),
        };
        Some(StatePart {
            name: "Min, Max",
            model: vec![u64::from(self.range.min), u64::from(self.range.max)],
            program: vec![min, max],
        })
    }
}
