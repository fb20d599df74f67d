//! The flows that are under way: both ends of each, and the timers that are planned for them.

use std::sync::Arc;

use p4sched_schedulers::Nanos;
use p4sched_transport::{Config, Endpoint, Receiver, Segment, Sender, Statistics};
use p4sched_world::planned::Planned;

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It sends the flow's bytes.
    Sender,
    /// It gets them.
    Receiver,
}

/// A flow that is under way.
#[derive(Clone, Debug)]
struct Connection {
    sender: Sender,
    receiver: Receiver,
    /// When the calendar calls the timer of the sender, and of the receiver.
    planned: [Planned; 2],
}

/// What is known of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// When the receiver had all bytes.
    pub received_ns: Option<Nanos>,
    /// When the sender knew that.
    pub acknowledged_ns: Option<Nanos>,
    /// Bytes of payload that arrived for the first time.
    pub received_bytes: u64,
    /// What the sender counted.
    pub statistics: Statistics,
}

/// All flows of a run, by number.
#[derive(Clone, Debug)]
pub struct Connections {
    under_way: Vec<Option<Box<Connection>>>,
    records: Vec<Record>,
}

/// What an end of a flow is told.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// The flow starts.
    Start,
    /// A segment arrived.
    Segment(&'a Segment),
    /// It is time.
    Timer,
}

impl Connections {
    /// So many flows, none of which has started.
    pub fn new(flows: usize) -> Connections {
        Connections {
            under_way: vec![None; flows],
            records: vec![Record::default(); flows],
        }
    }

    /// Makes the ends of a flow.
    pub fn open(&mut self, flow: u32, bytes: u64, config: &Arc<Config>) {
        self.under_way[flow as usize] = Some(Box::new(Connection {
            sender: Sender::new(flow, bytes, Arc::clone(config)),
            receiver: Receiver::new(flow, bytes, Arc::clone(config)),
            planned: [Planned::default(); 2],
        }));
    }

    /// Tells an end of a flow something. What it sends goes to `out`. Returns when its timer is to be called, if that is to
    /// be planned.
    pub fn tell(
        &mut self,
        now: Nanos,
        flow: u32,
        side: Side,
        input: Input<'_>,
        out: &mut Vec<Segment>,
    ) -> Option<Nanos> {
        // Copies of segments may come when both ends have all they want.
        let Connection {
            sender,
            receiver,
            planned,
        } = self.under_way[flow as usize].as_deref_mut()?;
        let planned = &mut planned[side as usize];
        let (timer, finished) = match side {
            Side::Sender => told(sender, planned, now, input, out),
            Side::Receiver => told(receiver, planned, now, input, out),
        };
        if finished {
            self.finish(now, flow, side);
        }
        timer
    }

    /// Notes that a side has nothing left to do; forgets the flow when both sides have not.
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

    /// What is known of a flow by now.
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

/// Tells an end something. Returns when its timer is to be called, if that is to be planned, and whether the end has nothing
/// left to do.
#[inline]
fn told(
    end: &mut impl Endpoint,
    planned: &mut Planned,
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
