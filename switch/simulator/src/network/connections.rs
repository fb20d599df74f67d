//! The flows in progress: both ends of each flow, and their planned timers.

use std::sync::Arc;

use p4sched_schedulers::Nanos;
use p4sched_transport::{Config, Endpoint, Receiver, Segment, Sender, Statistics};
use p4sched_world::planned::WakeUp;

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end that sends the flow's bytes.
    Sender,
    /// The end that receives them.
    Receiver,
}

/// A flow in progress.
#[derive(Clone, Debug)]
struct Connection {
    sender: Sender,
    receiver: Receiver,
    /// Planned timer events of the sender and of the receiver.
    planned: [WakeUp; 2],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Time at which the receiver had all bytes.
    pub received_ns: Option<Nanos>,
    /// Time at which the sender knew that.
    pub acknowledged_ns: Option<Nanos>,
    /// Payload bytes that arrived for the first time.
    pub received_bytes: u64,
    /// Counters of the sender.
    pub statistics: Statistics,
}

/// All flows of a run, by number.
#[derive(Clone, Debug)]
pub struct Connections {
    under_way: Vec<Option<Box<Connection>>>,
    records: Vec<Record>,
}

/// An event at an end of a flow.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    Start,
    Segment(&'a Segment),
    Timer,
}

impl Connections {
    /// Makes the table for `flows` flows. None of them has started.
    pub fn new(flows: usize) -> Connections {
        Connections {
            under_way: vec![None; flows],
            records: vec![Record::default(); flows],
        }
    }

    /// Makes both ends of a flow.
    pub fn open(&mut self, flow: u32, bytes: u64, config: &Arc<Config>) {
        self.under_way[flow as usize] = Some(Box::new(Connection {
            sender: Sender::new(flow, bytes, Arc::clone(config)),
            receiver: Receiver::new(flow, bytes, Arc::clone(config)),
            planned: [WakeUp::default(); 2],
        }));
    }

    /// Passes an event to an end of a flow. Its segments go to `out`. Returns the time of its timer, if an event must
    /// be planned for it.
    pub fn pass_event(
        &mut self,
        now: Nanos,
        flow: u32,
        side: Side,
        input: Input<'_>,
        out: &mut Vec<Segment>,
    ) -> Option<Nanos> {
        // Copies of segments may arrive after both ends have finished.
        let Connection {
            sender,
            receiver,
            planned,
        } = self.under_way[flow as usize].as_deref_mut()?;
        let planned = &mut planned[side as usize];
        let (timer, finished) = match side {
            Side::Sender => input_to(sender, planned, now, input, out),
            Side::Receiver => input_to(receiver, planned, now, input, out),
        };
        if finished {
            self.finish(now, flow, side);
        }
        timer
    }

    /// Records that one end has finished. Drops the flow when both ends have.
    fn finish(&mut self, now: Nanos, flow: u32, side: Side) {
        let record = &mut self.records[flow as usize];
        let finished = match side {
            Side::Sender => &mut record.acknowledged_ns,
            Side::Receiver => &mut record.received_ns,
        };
        finished.get_or_insert(now);
        if record.acknowledged_ns.is_some() && record.received_ns.is_some() {
            self.records[flow as usize] = self.record(flow);
            self.under_way[flow as usize] = None;
        }
    }

    /// The record of a flow so far.
    pub fn record(&self, flow: u32) -> Record {
        let record = self.records[flow as usize];
        match &self.under_way[flow as usize] {
            None => record,
            Some(connection) => Record {
                received_bytes: connection.receiver.received(),
                statistics: connection.sender.statistics(),
                ..record
            },
        }
    }
}

/// Passes an event to an end. Returns the time of its timer, if an event must be planned for it, and whether the end
/// has finished.
#[inline]
fn input_to(
    end: &mut impl Endpoint,
    planned: &mut WakeUp,
    now: Nanos,
    input: Input<'_>,
    out: &mut Vec<Segment>,
) -> (Option<Nanos>, bool) {
    match input {
        Input::Start => end.start(now, out),
        Input::Segment(segment) => end.receive(now, segment, out),
        Input::Timer => {
            planned.woken(now);
            if end.next_timer().is_some_and(|at| at <= now) {
                end.timer(now, out);
            }
        }
    }
    (planned.wake_at(now, end.next_timer()), end.finished())
}
