//! The receiver of packet events.

use std::fmt;

use p4sched_dataplane::{Event, EventKind, Nanos, PacketId, Pipeline};

/// Takes the events of packets in the order of time.
pub type EventSink = Box<dyn FnMut(Event) + Send>;

/// The sink, and the state that a new program does not reset.
pub(crate) struct Trace {
    sink: EventSink,
    /// Number of frames that earlier programs have numbered.
    frames: u64,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("frames", &self.frames)
            .finish_non_exhaustive()
    }
}

impl Trace {
    pub fn new(sink: EventSink) -> Trace {
        Trace { sink, frames: 0 }
    }

    /// Starts the trace of a loaded program.
    pub fn begin(&self, pipeline: &mut Pipeline) {
        pipeline.trace(self.frames);
    }

    /// Ends the trace of a program.
    pub fn end(&mut self, pipeline: &Pipeline) {
        self.frames = pipeline.frames_traced();
    }

    /// Passes on the events of the pipeline.
    #[cold]
    #[inline(never)]
    pub fn pass_on(&mut self, pipeline: &mut Pipeline) {
        pipeline.events().for_each(&mut self.sink);
    }

    /// Passes on an event from outside the pipeline.
    #[cold]
    #[inline(never)]
    pub fn report(&mut self, time_ns: Nanos, id: PacketId, what: impl FnOnce() -> EventKind) {
        let what = what();
        (self.sink)(Event { time_ns, id, what });
    }
}
