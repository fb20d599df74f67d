//! The traffic manager of a switch: per port a scheduling discipline, queues with limited room, one shaped link and a
//! propagation delay.
//!
//! It is pure: it reads no clock and does no I/O. The caller passes the time in, and takes packets out with
//! [`TrafficManager::dequeue`] in the order in which an ideal link would send them, each with the ideal instant at which
//! its transmission starts and at which the far end has it. However late the caller asks, these instants are the same, so
//! no rate is lost to a slow caller. One rule makes that so: **before a packet is enqueued at `now`, everything that is due
//! before `now` is dequeued**.
//!
//! A port works at its rate whenever it has a packet that may leave. A transmission starts at the later of the end of the
//! one before and the instant at which a packet may leave (its enqueueing, or later behind a packet-rate limiter). On a
//! port that is not shaped a packet leaves when it is enqueued. Ends of transmissions keep their fractions of a nanosecond,
//! so the rate is exact over any busy period.
//!
//! [`DISCIPLINES`] lists what a port can do with its packets. Each is one file and one line in the list below. The models of
//! the schedulers that are ideals are these disciplines, with packets of their own ([`Element`]).
//!
//! ```
//! use p4sched_traffic_manager::{Offered, PortConfig, TrafficManager};
//!
//! let mut tm = TrafficManager::new();
//! tm.set_port(0, 1, PortConfig { rate_bps: 8_000_000, delay_ns: 500, ..Default::default() })?;
//! for (priority, item) in [(0, "bulk"), (7, "urgent")] {
//!     tm.enqueue(0, Offered { port: 1, priority, len: 1000, user: 0, rank: 0, levels: None, item });
//! }
//! let first = tm.dequeue(0).unwrap();
//! assert_eq!((first.item, first.start_ns, first.arrival_ns), ("urgent", 0, 1_000_500));
//! assert_eq!(tm.dequeue(0), None);
//! assert_eq!(tm.next_departure(), Some(1_000_000));
//! # Ok::<(), p4sched_traffic_manager::ConfigError>(())
//! ```

mod config;
mod discipline;
mod pace;
mod packet;
mod port;
mod rounds;
mod slab;
mod sorted;
mod stats;
mod traffic_manager;
mod user_clocks;
mod user_queues;

pub use config::{
    CalendarConfig, CalendarPlace, ConfigError, DEFAULT_CALENDAR_QUEUES, DEFAULT_QUANTUM_BYTES, DEFAULT_SIZE_PACKETS,
    Discipline, LARGEST_FRAME_BYTES, MAX_CALENDAR_QUEUES, MAX_DELAY_NS, MAX_TREE_NODES, MIN_QUANTUM_BYTES,
    MIN_RATE_BPS, NodeConfig, PortConfig, QUEUES, QueueConfig, SCALES, TreeConfig, name,
};
pub use discipline::{Reads, Scheduling};
pub use pace::Pace;
pub use packet::{
    Departure, DropReason, Element, Enqueued, LEVELS, Levels, Marks, Nanos, Offered, Port, Removed, SCALE_OF_WEIGHT_1,
    Verdict,
};
pub use stats::{Count, PortStats, QueueStats};
pub use traffic_manager::TrafficManager;

use discipline::{Described, disciplines};

disciplines! {
    strict: Strict;
    fifo: Fifo;
    drr: Drr;
    afq: Afq;
    stfq: Stfq;
    pifo: Pifo;
    calendar: Calendar;
    tree: Tree;
}
