//! Switch ports on network interfaces.

mod frame;
mod priority;
mod receive;
mod socket;
mod transmit;

pub use priority::make_real_time;
pub use receive::{PortSpec, Receiver};
pub use socket::interface_index;
pub use transmit::Transmitter;
