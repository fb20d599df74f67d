//! The interface of an end host: timed events go in, segments come out.

use crate::segment::Segment;
use p4sched_schedulers::Nanos;

/// One side of a flow. It has no clock: each call passes the time, and times never go back.
///
/// ```text
/// start ----+
/// receive --+--> endpoint --> segments to send now, in this order
/// timer ----+       |
///                   +--> next_timer: when to call `timer`
/// ```
pub trait Endpoint {
    /// Begins the flow. It is called once, before anything else.
    fn start(&mut self, now: Nanos, out: &mut Vec<Segment>);
    /// Takes a segment of the other side.
    fn receive(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>);
    /// Does the work that is due at [`Endpoint::next_timer`]. A call that is too early does nothing.
    fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>);
    /// The time of the next call of `timer`. Every other call may change it.
    fn next_timer(&self) -> Option<Nanos>;
    /// Whether this side has finished: a sender knows that all bytes have arrived; a receiver has them all.
    ///
    /// A finished receiver still answers retransmissions, because its last acknowledgement may be lost.
    fn finished(&self) -> bool;
}

/// Calls the same method of any transport.
macro_rules! each {
    ($side:expr, $transport:ident => $call:expr) => {
        match $side {
            Transport::Tcp($transport) => $call,
            Transport::Netbench($transport) => $call,
            Transport::Udp($transport) => $call,
        }
    };
}

/// A side of a flow that is one of the transports.
macro_rules! endpoint {
    ($side:ty) => {
        impl Endpoint for $side {
            fn start(&mut self, now: Nanos, out: &mut Vec<Segment>) {
                each!(&mut self.0, transport => transport.start(now, out));
            }

            #[inline]
            fn receive(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
                each!(&mut self.0, transport => transport.receive(now, segment, out));
            }

            fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>) {
                each!(&mut self.0, transport => transport.timer(now, out));
            }

            #[inline]
            fn next_timer(&self) -> Option<Nanos> {
                each!(&self.0, transport => transport.next_timer())
            }

            #[inline]
            fn finished(&self) -> bool {
                each!(&self.0, transport => transport.finished())
            }
        }
    };
}

pub(crate) use {each, endpoint};
