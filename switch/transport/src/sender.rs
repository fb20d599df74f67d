//! The sending side of a flow, for any transport.

use crate::config::{Config, Control};
use crate::endpoint::{Endpoint, each, endpoint};
use crate::netbench::NetbenchSender;
use crate::segment::Segment;
use crate::statistics::Statistics;
use crate::tcp::TcpSender;
use crate::udp::UdpSender;
use p4sched_schedulers::Nanos;
use std::sync::Arc;

/// The sender of one flow.
#[derive(Clone, Debug)]
pub struct Sender(Transport);

#[derive(Clone, Debug)]
enum Transport {
    Tcp(Box<TcpSender>),
    Netbench(NetbenchSender),
    Udp(UdpSender),
}

impl Sender {
    /// The sender of a flow of `bytes` bytes; `u64::MAX` for a flow that does not end.
    pub fn new(flow: u32, bytes: u64, config: Arc<Config>) -> Self {
        Sender(match config.control {
            Control::Udp {
                rate_bps,
                jitter_ns,
                seed,
            } => {
                let sender = UdpSender::new(flow, bytes, config.mss, rate_bps);
                Transport::Udp(sender.with_jitter(jitter_ns, seed))
            }
            Control::Netbench => Transport::Netbench(NetbenchSender::new(flow, bytes, config)),
            _ => Transport::Tcp(Box::new(TcpSender::new(flow, bytes, config))),
        })
    }

    pub fn statistics(&self) -> Statistics {
        each!(&self.0, transport => transport.statistics)
    }

    /// Shrinks the window after an idle time, to at least `least` segments (RFC 2861), before the next data is sent.
    pub fn restart_after_idle(&mut self, now: Nanos, idle: Nanos, least: u32) {
        if let Transport::Tcp(tcp) = &mut self.0 {
            tcp.restart_after_idle(now, idle, least);
        }
    }

    /// The congestion window in segments; `None` if the transport has no window in segments.
    pub fn cwnd(&self) -> Option<u32> {
        match &self.0 {
            Transport::Tcp(tcp) => Some(tcp.cwnd()),
            Transport::Netbench(_) | Transport::Udp(_) => None,
        }
    }

    /// Segments that may still be in the network (RFC 6675 Section 4: pipe); 0 if the transport does not count them.
    pub fn in_flight(&self) -> u32 {
        match &self.0 {
            Transport::Tcp(tcp) => tcp.in_flight(),
            Transport::Netbench(_) | Transport::Udp(_) => 0,
        }
    }
}

endpoint!(Sender);
