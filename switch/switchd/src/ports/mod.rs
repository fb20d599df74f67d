//! Switch ports on network interfaces.

mod frame;
mod priority;
mod receive;
mod socket;
mod transmit;

pub use priority::make_real_time;
pub use receive::Receiver;
pub use socket::interface_index;
pub use transmit::Transmitter;

use p4sched_dataplane::Port;

/// A port and the interface behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortSpec {
    /// Port number as the program sees it.
    pub number: Port,
    /// Name of the network interface.
    pub interface: String,
}
