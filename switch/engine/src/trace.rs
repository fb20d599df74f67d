//! Receivers of the events of packets.

use std::fmt;

use p4sched_dataplane::{Event, Nanos, PacketId, Pipeline, What};

/// Takes what happens to packets, in the order in which it happens.
pub type EventSink = Box<dyn FnMut(Event) + Send>;

/// The sink, and the state that survives another program.
pub(crate) struct Trace {
    sink: EventSink,
    /// Frames numbered by the programs before.
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

    /// A program is loaded.
    pub fn begin(&self, pipeline: &mut Pipeline) {
        pipeline.trace(self.frames);
    }

    /// A program goes.
    pub fn end(&mut self, pipeline: &Pipeline) {
        self.frames = pipeline.frames_traced();
    }

    /// Tells what happened in the pipeline.
    #[cold]
    #[inline(never)]
    pub fn pass_on(&mut self, pipeline: &mut Pipeline) {
        pipeline.events().for_each(&mut self.sink);
    }

    /// Tells what happened elsewhere.
    #[cold]
    #[inline(never)]
    pub fn tell(&mut self, time_ns: Nanos, id: PacketId, what: impl FnOnce() -> What) {
        let what = what();
        (self.sink)(Event { time_ns, id, what });
    }
}
