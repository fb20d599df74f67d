//! Interface of an end host: timed events go in, segments come out.

use crate::segment::Segment;
use p4sched_schedulers::Nanos;

/// One side of a flow. It has no clock: each call has the time, and times never go back.
///
/// ```text
/// start ----+
/// receive --+--> endpoint --> segments to send now, in this order
/// timer ----+       |
///                   +--> next_timer: when to call `timer`
/// ```
pub trait Endpoint {
    /// The flow begins. Called once, before anything else.
    fn start(&mut self, now: Nanos, out: &mut Vec<Segment>);
    /// A segment of the other side has arrived.
    fn receive(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>);
    /// The time of [`Endpoint::next_timer`] has come. A call that comes too early does nothing.
    fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>);
    /// Time of the next call of `timer`. Every other call may change it.
    fn next_timer(&self) -> Option<Nanos>;
    /// True if this side has nothing left to do: a sender knows that all bytes have arrived, a receiver has them all.
    ///
    /// A receiver that is finished still answers what is sent again, because its last acknowledgement may be lost.
    fn finished(&self) -> bool;
}
