//! Messages that the switch sends to the controllers.

use p4sched_engine::{DigestMessage, Frame, FrameSink, Nanos, Output, Port};
use p4sched_proto::p4::v1 as p4rt;

use crate::forwarding::Forwarding;
use crate::packet_io;

/// A message to the controllers. Its timestamp, if any, is the switch's time in ns.
pub type Notification = p4rt::stream_message_response::Update;

/// Sends a message to the controllers without waiting; false if that is not possible.
pub type Notify = Box<dyn FnMut(Notification) -> bool + Send>;

/// Counts of the messages to the controllers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packet-ins, digests and idle notifications.
    pub notifications: u64,
    /// Those that were lost because a controller was too slow or none was connected.
    pub notifications_dropped: u64,
}

/// The connection to the controllers, and the digests of one call of the engine.
pub(crate) struct Upcalls {
    notify: Notify,
    pub digests: Vec<DigestMessage>,
    pub counts: Counts,
}

impl Upcalls {
    pub fn new(notify: Notify) -> Upcalls {
        Upcalls {
            notify,
            digests: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Sends a notification; one that cannot be sent is dropped and counted.
    pub fn notify(&mut self, notification: Notification) {
        self.counts.notifications += 1;
        if !(self.notify)(notification) {
            self.counts.notifications_dropped += 1;
        }
    }
}

/// The engine's output: frames go to the ports, the rest to the controllers.
pub(crate) struct Sink<'a, S: ?Sized> {
    pub frames: &'a mut S,
    pub upcalls: &'a mut Upcalls,
    /// The active program.
    pub active: Option<&'a Forwarding>,
}

impl<S: FrameSink + ?Sized> FrameSink for Sink<'_, S> {
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        self.frames.transmit(port, frame, due);
    }
}

impl<S: FrameSink + ?Sized> Output for Sink<'_, S> {
    fn packet_in(&mut self, frame: &[u8]) {
        let fields = self.active.and_then(|forwarding| forwarding.index.packet_in.as_deref());
        match packet_io::packet_in(fields, frame) {
            Some(message) => {
                let message = match self.active.map(|forwarding| &forwarding.translation) {
                    Some(translation) if !translation.is_empty() => translation.packet_in(message),
                    _ => message,
                };
                self.upcalls.notify(Notification::Packet(message));
            }
            None => {
                self.upcalls.counts.notifications += 1;
                self.upcalls.counts.notifications_dropped += 1;
            }
        }
    }

    fn digest(&mut self, digest: DigestMessage) {
        self.upcalls.digests.push(digest);
    }
}
