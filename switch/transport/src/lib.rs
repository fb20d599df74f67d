//! The transport protocols of the simulator: end hosts as pure state machines.
//!
//! There is no event loop, no input or output, no clock and no payload. A [`Sender`] and a [`Receiver`] get segments
//! and the time as arguments, and return segments: see [`Endpoint`]. So a test can lose exactly the third segment, and
//! a simulation needs only a few hundred bytes per flow.
//!
//! ```
//! use p4sched_transport::{Config, Control, Endpoint, Receiver, Sender};
//! use std::sync::Arc;
//!
//! let config = Arc::new(Config { handshake: false, delayed_ack: None, ..Config::kernel(Control::NewReno) });
//! let mut sender = Sender::new(0, 2000, config.clone());
//! let mut receiver = Receiver::new(0, 2000, config);
//! let (mut data, mut acks) = (Vec::new(), Vec::new());
//! sender.start(0, &mut data);
//! assert_eq!(data.iter().map(|segment| segment.len).collect::<Vec<_>>(), [1448, 552]);
//! for segment in &data {
//!     receiver.receive(1_000_000, segment, &mut acks);
//! }
//! assert!(receiver.finished());
//! for ack in &acks {
//!     sender.receive(2_000_000, ack, &mut data);
//! }
//! assert!(sender.finished());
//! ```

mod again;
pub mod config;
mod control;
pub mod endpoint;
mod netbench;
mod random;
mod ranges;
mod receiver;
mod rtt;
pub mod segment;
mod sender;
mod statistics;
mod tcp;
mod tcp_receiver;
mod udp;

pub use again::{Retransmissions, Sent};
pub use config::{Config, ConfigError, Control, Recovery};
pub use endpoint::Endpoint;
pub use receiver::Receiver;
pub use segment::{Bytes, Ecn, Kind, Segment};
pub use sender::Sender;
pub use statistics::Statistics;
