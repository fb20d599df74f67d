//! Ranked UDP flows, and TCP flows of given sizes, for the experiments of the lab. The program is `p4sched-traffic`.
//!
//! Flow lists, schedules and reports do not use sockets, so hosts in virtual time use them too.

mod clock;
mod error;
pub mod flow;
pub mod observe;
pub mod plan;
pub mod rank;
mod retransmissions;
pub mod tcp;
pub mod udp;

pub use clock::until;
pub use error::{TrafficError, file_error, socket};
