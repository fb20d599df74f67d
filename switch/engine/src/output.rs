//! Output of the engine.

use p4sched_dataplane::{DigestMessage, Frame, Nanos, Port};

/// Takes the frames that the switch sends.
pub trait FrameSink {
    /// A frame that the far end of `port` has at `due`, the ideal instant: never later than the time passed to the engine,
    /// so how much earlier it is says how late the caller was.
    ///
    /// The buffer goes back to the switch afterwards. Who keeps the frame leaves another one in its place: one that is done
    /// with, or none.
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos);
}

/// Takes all that the switch sends: frames, and what is for the controller. Calls come in the order of virtual time for
/// each kind.
pub trait Output: FrameSink {
    /// A frame for the controller: one that left by the CPU port.
    fn packet_in(&mut self, frame: &[u8]);

    /// A digest for the controller.
    fn digest(&mut self, digest: DigestMessage);
}
