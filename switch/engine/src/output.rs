//! Output of the engine.

use p4sched_dataplane::{DigestMessage, Frame, Nanos, Port};

/// Takes the frames that the switch sends.
pub trait FrameSink {
    /// Takes a frame that reaches the far end of `port` at `due`, an ideal instant. `due` is never later than the time
    /// passed to the engine; the difference is how late the caller was.
    ///
    /// The switch uses the buffer again afterwards. To keep the frame, swap it with another frame, used or empty.
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos);
}

/// Takes everything that the switch sends: frames, and messages for the controller. Calls of each kind come in the
/// order of virtual time.
pub trait Output: FrameSink {
    /// Takes a frame for the controller, which left through the CPU port.
    fn packet_in(&mut self, frame: &[u8]);

    /// Takes a digest for the controller.
    fn digest(&mut self, digest: DigestMessage);
}
