//! One switch without ports and clock: a loaded program, a traffic manager, and the links behind it.
//!
//! ```text
//! receive -> ingress -> queues of the egress port -> (shaper) -> egress -> link delay -> transmit
//!    ^                                                             |
//!    +----------------------- recirculation -----------------------+
//! ```
//!
//! The engine is pure: frames and times go in; frames and the instants at which they are due come out through
//! [`Output`]. It handles arrivals, departures and recirculations in the order of virtual time. Before it handles a
//! frame that arrived at `t`, it does everything that an ideal switch would have done by `t`. So a caller that wakes up
//! late only delays the delivery of frames, and the same input always gives the same output.
//!
//! Every packet is counted: see [`Balance`].

mod balance;
mod delay_line;
mod engine;
mod loading;
mod output;
mod ports;
mod recirculation;
mod trace;

pub use balance::{Balance, Traffic};
pub use engine::{Engine, NoCpuPort};
pub use loading::LoadError;
pub use output::{FrameSink, Output};
pub use p4sched_dataplane::{DigestMessage, Event, Frame, Nanos, Pipeline, Port};
pub use p4sched_traffic_manager::{
    CalendarConfig, CalendarPlace, ConfigError, Count, DEFAULT_QUANTUM_BYTES, Discipline, MemoryConfig, NodeConfig,
    PortConfig, PortStats, QUEUES, QueueConfig, QueueStats, TreeConfig,
};
pub use ports::{PortError, PortSettings};
pub use trace::EventSink;
