//! The receiving side of a flow, for any transport.

use crate::config::{Config, Control};
use crate::endpoint::{Endpoint, each, endpoint};
use crate::netbench::NetbenchReceiver;
use crate::segment::Segment;
use crate::tcp_receiver::TcpReceiver;
use crate::udp::UdpReceiver;
use p4sched_schedulers::Nanos;
use std::sync::Arc;

/// The receiver of one flow.
#[derive(Clone, Debug)]
pub struct Receiver(Transport);

#[derive(Clone, Debug)]
enum Transport {
    Tcp(TcpReceiver),
    Netbench(NetbenchReceiver),
    Udp(UdpReceiver),
}

impl Receiver {
    /// The receiver of a flow of `bytes` bytes; `u64::MAX` for a flow that does not end.
    pub fn new(flow: u32, bytes: u64, config: Arc<Config>) -> Self {
        Receiver(match config.control {
            Control::Netbench => Transport::Netbench(NetbenchReceiver::new(flow, bytes, config)),
            Control::Udp { .. } => Transport::Udp(UdpReceiver::new(bytes)),
            _ => Transport::Tcp(TcpReceiver::new(flow, bytes, config)),
        })
    }

    /// Sets the size of the flow, which its first bytes contain. It has no effect if nothing depends on the last
    /// byte.
    pub fn set_bytes(&mut self, bytes: u64) {
        if let Transport::Tcp(tcp) = &mut self.0 {
            tcp.set_bytes(bytes);
        }
    }

    /// Number of different bytes that have arrived.
    pub fn received(&self) -> u64 {
        each!(&self.0, transport => transport.received())
    }

    /// Number of bytes that the application has received in order.
    pub fn delivered(&self) -> u64 {
        each!(&self.0, transport => transport.delivered())
    }
}

endpoint!(Receiver);
