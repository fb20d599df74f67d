//! The controllers' streams: arbitration and the switch's own messages.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use p4sched_device::Notification;
use p4sched_proto::p4::v1 as p4rt;
use tokio::sync::mpsc;
use tonic::Status;

use crate::arbitration::{Answer, Arbitration, StreamId};
use crate::status;

/// A message for a controller's stream.
pub type Outgoing = Result<p4rt::StreamMessageResponse, Status>;

pub struct Streams {
    state: Mutex<State>,
    /// Held while updates are applied: a new primary must wait for the writes of the old one.
    pub writes: tokio::sync::Mutex<()>,
}

struct State {
    arbitration: Arbitration,
    open: HashMap<StreamId, Open>,
    next: StreamId,
    backlog: usize,
}

struct Open {
    sender: mpsc::Sender<Outgoing>,
    message_counts: MessageCounts,
}

/// The number of messages on a stream since it was opened, without arbitration and errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Packet-ins, digests and idle notifications.
    pub by_switch: u64,
    /// Packet-outs and acknowledgements of digests that the switch accepted.
    pub by_controller: u64,
}

impl Streams {
    /// `backlog` is the number of messages that may wait for each controller. Further messages are dropped, so that a
    /// slow controller does not delay the others.
    pub fn new(device_id: u64, backlog: usize) -> Streams {
        let state = State {
            arbitration: Arbitration::new(device_id),
            open: HashMap::new(),
            next: 0,
            backlog,
        };
        Streams {
            state: Mutex::new(state),
            writes: tokio::sync::Mutex::new(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a stream; the receiver yields the messages to send on it.
    pub fn open(&self) -> (StreamId, mpsc::Receiver<Outgoing>) {
        let mut state = self.state();
        let (sender, receiver) = mpsc::channel(state.backlog);
        state.next += 1;
        let stream = state.next;
        let message_counts = MessageCounts::default();
        state.open.insert(stream, Open { sender, message_counts });
        (stream, receiver)
    }

    /// Removes a stream that has ended.
    pub fn close(&self, stream: StreamId) {
        let mut state = self.state();
        state.open.remove(&stream);
        let answers = state.arbitration.close(stream);
        answers.into_iter().for_each(|answer| state.answer(answer));
    }

    /// Processes a `MasterArbitrationUpdate`.
    ///
    /// # Errors
    /// The status with which the stream must end.
    pub async fn arbitrate(&self, stream: StreamId, request: &p4rt::MasterArbitrationUpdate) -> Result<(), Status> {
        let last = {
            let mut state = self.state();
            let mut answers = state.arbitration.update(stream, request).map_err(status::of)?;
            let last = answers.pop();
            answers.into_iter().for_each(|answer| state.answer(answer));
            last
        };
        if let Some(answer) = last {
            drop(self.writes.lock().await);
            self.state().answer(answer);
        }
        Ok(())
    }

    /// Sends one message on a stream, unless too many messages already wait there.
    pub fn send(&self, stream: StreamId, update: Notification) {
        self.state().send(stream, update);
    }

    /// Ends a stream with a status.
    pub async fn fail(&self, stream: StreamId, status: Status) {
        let sender = self.state().open.get(&stream).map(|open| open.sender.clone());
        if let Some(sender) = sender {
            // The controller may already be gone.
            let _ = sender.send(Err(status)).await;
        }
    }

    /// See [`Arbitration::check_write`].
    pub fn check_write(&self, device_id: u64, role: &str, id: Option<&p4rt::Uint128>) -> Result<(), Status> {
        let checked = self.state().arbitration.check_write(device_id, role, id);
        checked.map_err(status::of)
    }

    /// See [`Arbitration::check_device`].
    pub fn check_device(&self, device_id: u64) -> Result<(), Status> {
        self.state().arbitration.check_device(device_id).map_err(status::of)
    }

    /// See [`Arbitration::is_primary`].
    pub fn is_primary(&self, stream: StreamId) -> bool {
        self.state().arbitration.is_primary(stream)
    }

    /// Sends a notification to the primary controllers. Returns true if none of them lost it.
    pub fn notify(&self, notification: &Notification) -> bool {
        let mut state = self.state();
        let mut taken = true;
        for stream in state.arbitration.primaries() {
            if state.send(stream, notification.clone()) {
                state.message_counts(stream, |message_counts| message_counts.by_switch += 1);
            } else {
                taken = false;
            }
        }
        taken
    }

    /// Sends notifications to the primary controllers until the device is gone.
    pub async fn pass_on(&self, mut notifications: mpsc::Receiver<Notification>) {
        while let Some(notification) = notifications.recv().await {
            self.notify(&notification);
        }
    }

    /// Counts an accepted message of this stream.
    pub fn taken(&self, stream: StreamId) {
        self.state()
            .message_counts(stream, |message_counts| message_counts.by_controller += 1);
    }

    /// The number of messages on the stream of the controller with this election identifier; `None` if there is no such
    /// controller.
    pub fn message_counts(&self, election_id: u128) -> Option<MessageCounts> {
        let state = self.state();
        let stream = state.arbitration.stream_of(election_id)?;
        state.open.get(&stream).map(|open| open.message_counts)
    }
}

impl State {
    /// Returns false if the message was lost because the stream is full. P4Runtime allows this for packets, digests and
    /// idle notifications.
    fn send(&mut self, stream: StreamId, update: Notification) -> bool {
        self.open.get(&stream).is_some_and(|open| {
            let message = p4rt::StreamMessageResponse { update: Some(update) };
            open.sender.try_send(Ok(message)).is_ok()
        })
    }

    fn message_counts(&mut self, stream: StreamId, count: impl FnOnce(&mut MessageCounts)) {
        if let Some(open) = self.open.get_mut(&stream) {
            count(&mut open.message_counts);
        }
    }

    /// Sends an arbitration answer. It must not be lost, so a controller that does not read loses its stream instead.
    fn answer(&mut self, (stream, update): Answer) {
        let response = p4rt::StreamMessageResponse {
            update: Some(Notification::Arbitration(update)),
        };
        let lost = self
            .open
            .get(&stream)
            .is_some_and(|open| open.sender.try_send(Ok(response)).is_err());
        if lost {
            self.open.remove(&stream);
        }
    }
}
