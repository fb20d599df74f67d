//! The traffic manager of a switch. Each port has a scheduling discipline, queues of limited size, one shaped link and
//! a propagation delay.
//!
//! It is pure: it reads no clock and does no I/O. The caller passes the time in and takes packets out with
//! [`TrafficManager::dequeue`], in the order in which an ideal link would send them. Each packet comes with two ideal
//! instants: the start of its transmission and its arrival at the far end. They do not depend on how late the caller
//! asks, so a slow caller does not reduce the rate. This needs one rule: **before a packet is enqueued at `now`,
//! everything that is due before `now` is dequeued**.
//!
//! A port sends at its rate whenever it has a packet that may leave. A transmission starts when the transmission before
//! it has ended and the packet may leave. A packet may leave from its enqueueing on, or later behind a packet-rate
//! limiter. On a port that is not shaped, a packet leaves when it is enqueued. The end of a transmission keeps its
//! fraction of a nanosecond, so the rate is exact over any busy period.
//!
//! [`DISCIPLINES`] lists the disciplines. Each is one file and one line in the list below. The models of the ideal
//! schedulers use these disciplines too, with their own kind of packet ([`Element`]).
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
mod memory;
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
    CalendarConfig, CalendarPlace, ConfigError, DEFAULT_CALENDAR_QUEUES, DEFAULT_LEVELS, DEFAULT_QUANTUM_BYTES,
    DEFAULT_SIZE_PACKETS, Discipline, LARGEST_FRAME_BYTES, MAX_CALENDAR_QUEUES, MAX_DELAY_NS, MAX_LEVELS, MAX_ROUNDS,
    MAX_TREE_NODES, MIN_QUANTUM_BYTES, MIN_RATE_BPS, NodeConfig, PortConfig, QUEUES, QueueConfig, SCALES,
    SCRR_VERSIONS, ScrrConfig, TreeConfig, name,
};
pub use discipline::{Reads, Scheduling};
pub use memory::{ALPHA_1, MemoryConfig, MemorySharing, Share};
pub use pace::Pace;
pub use packet::{
    Departure, DropReason, Element, Enqueued, LEVELS, Levels, Marks, Nanos, Offered, Port, Removed, SCALE_OF_WEIGHT_1,
    Verdict,
};
pub use stats::{Count, PortStats, QueueStats};
pub use traffic_manager::TrafficManager;

use discipline::{Properties, disciplines};

disciplines! {
    strict: Strict;
    fifo: Fifo;
    drr: Drr;
    afq: Afq;
    stfq: Stfq;
    pifo: Pifo;
    calendar: Calendar;
    gearbox: Gearbox;
    scrr: Scrr;
    tree: Tree;
}
