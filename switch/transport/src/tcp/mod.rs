//! The sender of TCP, and of pFabric's minimal transport, which is TCP without fast retransmission.
//!
//! ```text
//! acknowledgement --> scoreboard: what arrived --> what is lost --> phase --> window --> segments
//!                                                                        ^
//! timers: retransmission, tail loss probe, reordering, pacing -----------+
//! ```
//!
//! The phases and their order are those of Linux (`net/ipv4/tcp_input.c`, `tcp_ack`), so that a run agrees with a
//! kernel's.

mod acknowledgement;
mod deadlines;
mod delivery;
mod offload;
mod pacing;
mod quic;
mod rack;
mod reduction;
mod scoreboard;
mod state;
mod timers;

use crate::endpoint::Endpoint;
use crate::segment::{Kind, Segment};
pub(crate) use deadlines::runs_out;
use p4sched_schedulers::Nanos;
pub(crate) use state::TcpSender;

impl Endpoint for TcpSender {
    fn start(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        if self.config.handshake {
            return self.synchronize(now, out);
        }
        self.established = true;
        self.transmit(now, out);
    }

    fn receive(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        match segment.kind {
            Kind::SynAck => self.receive_syn_ack(now, segment, out),
            Kind::Ack if self.established => self.receive_ack(now, segment, out),
            _ => {}
        }
    }

    fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        self.expire(now, out);
    }

    fn next_timer(&self) -> Option<Nanos> {
        self.next_deadline().map(|(at, _)| at)
    }

    fn finished(&self) -> bool {
        self.established && self.board.una() == self.segments()
    }
}
