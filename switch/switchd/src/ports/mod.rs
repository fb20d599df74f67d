//! Switch ports on network interfaces.

mod capture;
mod frame;
mod interfaces;
mod netlink;
mod priority;
mod qdisc;
mod queued;
mod receive;
mod socket;
mod transmit;
mod window;

pub use capture::{Capture, Direction};
pub use interfaces::KernelInterfaces;
pub use priority::make_real_time;
pub use qdisc::Qdiscs;
pub use receive::{PortSpec, Receiver};
pub use socket::interface_index;
pub use transmit::Transmitter;
